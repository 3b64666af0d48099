// preset = "NAME" in a [[source]]: what it brings, and what a site may change of it.
#include "lib/config.h"
#include "lib/presets.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace aegis;

namespace {

const std::string exporter = "[[source]]\nname = \"a\"\ntype = \"prometheus\"\nurl = \"http://h:9100/metrics\"\n";

SourceConfig source_of(const std::string& text) {
    const auto config = parse_config(text, "a.toml");
    if (!config) FAIL(to_string(config.error().front()));
    return config->sources.at(0);
}

std::string error_of(const std::string& text) {
    const auto config = parse_config(text, "a.toml");
    return config ? "" : to_string(config.error().front());
}

const MetricMapping& metric(const SourceConfig& source, std::string_view name) {
    const auto found = std::ranges::find(source.metrics, name, &MetricMapping::name);
    REQUIRE(found != source.metrics.end());
    return *found;
}

} // namespace

TEST_CASE("every preset can be used by its name and brings its rows as they are") {
    for (const Preset& preset : presets()) {
        INFO(preset.name);
        if (preset.via == PresetVia::gnmi || preset.via == PresetVia::sonic_redis) continue;
        const std::string type(to_string(preset.via));
        const auto source = source_of("[[source]]\nname = \"a\"\ntype = \"" + type + "\"\nurl = \"http://127.0.0.1:9100/metrics\"\nswitch = \"s\"\npreset = \"" +
                                      std::string(preset.name) + "\"\n");
        REQUIRE(source.metrics.size() == preset.metrics.size());
        for (std::size_t i = 0; i < preset.metrics.size(); ++i) {
            const PresetMetric& row = preset.metrics[i];
            const MetricMapping& mapping = source.metrics[i];
            CHECK(mapping.name == row.name);
            CHECK(mapping.signal == row.signal);
            CHECK(mapping.kind == row.kind);
            CHECK(mapping.factor == row.factor);
            CHECK(mapping.sw == "s");
            CHECK(mapping.switch_label.empty());
            CHECK(mapping.port_label == row.port_label);
            CHECK(mapping.queue_label.value_or("") == row.queue_label);
            CHECK(mapping.match.size() == (row.match_label.empty() ? 0 : 1));
            CHECK(mapping.wraps_at.has_value() == (row.wraps_at || row.saturates_at));
            if (row.saturates_at) CHECK(*mapping.wraps_at == 4294967296.0);
        }
    }
}

TEST_CASE("a site changes any field of a row and keeps the others, and adds rows of its own") {
    const auto source = source_of(exporter + "preset = \"gnmic-openconfig\"\n"
                                             "[[source.metric]]\nname = \"qos_interfaces_interface_output_queues_queue_state_ecn_marked_pkts\"\nqueue_label = \"q\"\n"
                                             "[[source.metric]]\nname = \"qos_interfaces_interface_output_queues_queue_state_max_queue_len\"\nkind = \"snapshot\"\nfactor = 208\n"
                                             "switch = \"leaf7\"\n"
                                             "[[source.metric]]\nname = \"other_drops\"\nsignal = \"drops\"\nkind = \"counter\"\nswitch_label = \"source\"\n");
    CHECK(source.metrics.size() == preset_named("gnmic-openconfig")->metrics.size() + 1);
    const MetricMapping& marks = metric(source, "qos_interfaces_interface_output_queues_queue_state_ecn_marked_pkts");
    CHECK(marks.queue_label == "q");
    CHECK(marks.signal == Signal::ecn_marked_packets);
    CHECK(marks.switch_label == "source");
    CHECK(marks.port_label == "interface_interface_id");
    const MetricMapping& depth = metric(source, "qos_interfaces_interface_output_queues_queue_state_max_queue_len");
    CHECK(depth.kind == Kind::snapshot);
    CHECK(depth.factor == 208);
    CHECK(depth.sw == "leaf7");
    CHECK(depth.switch_label.empty());
    CHECK(metric(source, "other_drops").port_label == "port");
}

TEST_CASE("a preset that does not fit is refused with what would") {
    CHECK_THAT(error_of(exporter + "preset = \"gnmic\"\n"), Catch::Contains("a.toml:5: source.preset = \"gnmic\": expected one of \"gnmic-arista\""));
    CHECK(error_of(exporter + "preset = \"nvswitch-otlp\"\n") ==
          "a.toml:5: source.preset = \"nvswitch-otlp\": expected a preset for type = \"prometheus\"; this is one for \"otlp\"");
    CHECK(error_of(exporter + "preset = \"sonic-exporter\"\n") ==
          "a.toml:1: source.switch: expected the switch's name beside this preset, whose exporter does not tell it, but it is missing");
    CHECK_THAT(error_of(exporter + "preset = \"snmp-exporter\"\n[[source.metric]]\nname = \"ifHCOutOctets\"\nsignal = \"queue_depth\"\n"),
               Catch::Contains("a depth does not accumulate"));
}
