// Whatever an exporter sends: parsed in pieces, mapped, counted and folded into pressure, twice over so that lines are recognised.
//
// The first byte says how long the pieces are. What one piece gives, many must give; and a mapper that knows the lines must
// read what a new one reads.
#include "aegisd/metric_mapper.h"
#include "aegisd/telemetry.h"

#include <cstdlib>
#include <string>
#include <vector>

using namespace aegis;

namespace {

const EventTime noon{std::chrono::seconds(1'700'000'000)};

SourceConfig exporter() {
    SourceConfig source;
    source.name = "fuzz";
    for (const auto& [name, signal, kind] : {std::tuple("a", Signal::bytes, Kind::counter), std::tuple("b", Signal::packets, Kind::counter),
                                             std::tuple("b", Signal::ecn_marked_packets, Kind::counter), std::tuple("c", Signal::queue_depth, Kind::peak)}) {
        MetricMapping mapping;
        mapping.name = name;
        mapping.signal = signal;
        mapping.kind = kind;
        mapping.switch_label = "s";
        mapping.port_label = "p";
        if (kind == Kind::peak) mapping.queue_label = "q";
        source.metrics.push_back(mapping);
    }
    return source;
}

SitePointer site() {
    PortGroup ports;
    ports.sw = "x";
    ports.ports = {"1", "2"};
    ports.leaves = {"x"};
    ports.rate_bps = 1e9;
    Site site{"fuzz", {}, *Fabric::build({{1, "x", {"n"}, {}}}, {ports}), *find_policy("default"), {}, noon};
    site.config.sources.push_back(exporter());
    return std::make_shared<const Site>(std::move(site));
}

struct Read {
    Batch batch;
    bool good = false;
};

Read scrape(MetricMapper& mapper, std::string_view text, std::size_t piece, EventTime time) {
    mapper.begin(time);
    PrometheusText parser([&mapper](const PrometheusSample& sample) { mapper.take(sample); }, 4096);
    parser.recognise_with([&mapper](std::string_view line) { return mapper.recognise(line); });
    bool good = true;
    for (; good && !text.empty(); text.remove_prefix(std::min(piece, text.size()))) good = parser.feed(text.substr(0, piece)).has_value();
    good = parser.finish().has_value() && good;
    return {good ? mapper.end() : mapper.fail("not metrics"), good};
}

bool same(const Read& a, const Read& b) {
    if (a.good != b.good || a.batch.refused != b.batch.refused || a.batch.readings.size() != b.batch.readings.size()) return false;
    for (std::size_t i = 0; i < a.batch.readings.size(); ++i)
        if (a.batch.readings[i].value != b.batch.readings[i].value || a.batch.readings[i].series != b.batch.readings[i].series) return false;
    return true;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const SitePointer the_site = site();
    static const SourceConfig source = exporter();
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    MetricMapper in_pieces(source, 64), whole(source, 64);
    Telemetry telemetry(the_site);
    const Read first = scrape(in_pieces, text, 1 + data[0], noon), second = scrape(whole, text, size, noon);
    if (!same(first, second)) std::abort();
    telemetry.take(first.batch);
    const Read again = scrape(in_pieces, text, size, noon + std::chrono::seconds(1));
    if (again.good != first.good || again.batch.readings.size() != first.batch.readings.size()) std::abort();
    telemetry.take(again.batch);
    const FabricStatePointer state = telemetry.fold();
    for (const LinkState& link : state->links)
        if (!(link.pressure >= 0 && link.pressure <= .97)) std::abort();
    return 0;
}
