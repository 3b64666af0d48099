#include "lib/presets.h"
#include "lib/sonic_counters.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

using namespace aegis;

namespace {

template <class Rows> bool sorted_and_distinct(const Rows& rows) {
    return std::adjacent_find(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.name >= b.name; }) == rows.end();
}

} // namespace

TEST_CASE("presets are found by their names, which are in order and distinct") {
    CHECK(sorted_and_distinct(presets()));
    CHECK(sorted_and_distinct(latency_presets()));
    for (const Preset& preset : presets()) CHECK(preset_named(preset.name) == &preset);
    for (const LatencyPreset& preset : latency_presets()) CHECK(latency_preset_named(preset.name) == &preset);
    CHECK(preset_named("no-such-exporter") == nullptr);
    CHECK(latency_preset_named("") == nullptr);
}

TEST_CASE("every preset of a scraped or pushed source names a port and tells the operator something") {
    for (const Preset& preset : presets()) {
        INFO(preset.name);
        CHECK_FALSE(preset.note.empty());
        CHECK_FALSE(preset.metrics.empty());
        for (const PresetMetric& metric : preset.metrics) {
            INFO(metric.name);
            CHECK(metric.factor > 0);
            CHECK((preset.via == PresetVia::sonic_redis || !metric.port_label.empty()));
            CHECK(metric.match_label.empty() == metric.match_value.empty());
            CHECK((metric.kind == Kind::counter) == (metric.signal != Signal::queue_depth));
            CHECK((metric.kind == Kind::counter || (!metric.wraps_at && !metric.saturates_at)));
            CHECK_FALSE((metric.wraps_at && metric.saturates_at)); // a counter wraps or stops, never both
        }
    }
}

TEST_CASE("no preset tells one thing in two ways") {
    for (const Preset& preset : presets()) {
        std::set<std::pair<Signal, Kind>> meanings;
        for (const PresetMetric& metric : preset.metrics) {
            INFO(preset.name << " " << metric.name);
            CHECK(meanings.emplace(metric.signal, metric.kind).second);
        }
    }
}

TEST_CASE("InfiniBand data in words becomes bytes, except where the exporter has done so") {
    const auto factor = [](std::string_view preset) {
        for (const PresetMetric& metric : preset_named(preset)->metrics)
            if (metric.signal == Signal::bytes) return metric.factor;
        return 0.0;
    };
    CHECK(factor("infiniband-exporter-guilbaults") == 4);
    CHECK(factor("infiniband-exporter-treydock") == 1);
    CHECK(factor("infiniband-exporter-treydock-old") == 4);
    CHECK(factor("node-exporter-infiniband") == 1);
    CHECK(factor("ufm-telemetry") == 4);
}

TEST_CASE("the 32-bit wait counters of InfiniBand are unknown at 2^32-1") {
    for (const Preset& preset : presets())
        for (const PresetMetric& metric : preset.metrics)
            if (metric.signal == Signal::transmit_wait) CHECK(metric.saturates_at == 4294967295.0);
}

TEST_CASE("the sonic preset lists the fields that the decoder reads") {
    std::set<std::string> read;
    for (const SonicTable table : {SonicTable::queue, SonicTable::port})
        for (const char* field : SonicCounters::fields(table)) read.insert(field);
    for (const PresetMetric& metric : preset_named("sonic")->metrics) {
        std::string field(metric.name);
        if (const auto n = field.find("_n_"); n != std::string::npos) field[n + 1] = '3';
        INFO(field);
        CHECK(read.count(field) == 1);
    }
}

TEST_CASE("latencies are in seconds once multiplied, whatever the exporter's unit") {
    for (const LatencyPreset& preset : latency_presets()) {
        INFO(preset.name);
        const auto ends = [&](std::string_view unit) { return preset.metric.ends_with(unit); };
        if (ends("_seconds")) CHECK(preset.seconds_per_unit == 1);
        if (ends("_ms") || ends("_milliseconds")) CHECK(preset.seconds_per_unit == 1e-3);
        if (ends("_us")) CHECK(preset.seconds_per_unit == 1e-6);
    }
}
