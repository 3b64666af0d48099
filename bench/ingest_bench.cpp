// What it costs to turn Prometheus text into the pressure of links: a made-up fabric of switches, each an exporter of its own, scraped
// once a round through the very code aegisd runs (PrometheusText, MetricMapper, Telemetry, fold).
//
// Texts are written between the timed parts; every value moves in every round, as counters under load do. One thread.
// The baseline reads the same text the plain way: split at the closing brace, strtod, a std::map from the text of the
// series to its last value. It counts no wraps, knows no links and makes no pressure.
//
// Prints one JSON object a line. Arguments: SWITCHES PORTS QUEUES ROUNDS.
#include "aegisd/history.h"
#include "aegisd/metric_mapper.h"
#include "aegisd/telemetry.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <malloc.h>
#include <map>
#include <numeric>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace {

using namespace aegis;
using namespace std::chrono_literals;

struct Shape {
    unsigned switches, ports, queues, rounds;
    std::size_t series() const { return std::size_t{switches} * ports * queues * 4; }
};

constexpr std::size_t chunk_bytes = 64u << 10; // as source_prometheus reads
constexpr EventTime epoch{1'800'000'000s};
constexpr double rate_bps = 400e9;

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::size_t heap_bytes() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

MetricMapping mapping(std::string name, Signal signal, Kind kind) {
    MetricMapping mapping;
    mapping.name = std::move(name);
    mapping.signal = signal;
    mapping.kind = kind;
    mapping.switch_label = "switch";
    mapping.port_label = "device";
    mapping.queue_label = "queue";
    return mapping;
}

std::string switch_name(unsigned number) { return fmt::format("leaf{:04}", number); }

SourceConfig exporter_of(unsigned number) {
    SourceConfig source;
    source.name = switch_name(number);
    source.type = "prometheus";
    source.metrics = {mapping("sonic_queue_packets_total", Signal::packets, Kind::counter),
                      mapping("sonic_queue_bytes_total", Signal::bytes, Kind::counter),
                      mapping("sonic_queue_ecn_marked_packets_total", Signal::ecn_marked_packets, Kind::counter),
                      mapping("sonic_queue_watermark_bytes", Signal::queue_depth, Kind::peak)};
    return source;
}

SitePointer site_of(const Shape& shape, bool history) {
    std::vector<TopologyLine> topology;
    std::vector<PortGroup> ports;
    std::vector<std::string> port_names;
    for (unsigned port = 0; port < shape.ports; ++port) port_names.push_back(fmt::format("Ethernet{}", 4 * port));
    for (unsigned sw = 0; sw < shape.switches; ++sw) {
        topology.push_back({static_cast<int>(sw + 1), switch_name(sw), {fmt::format("n{}", sw)}, {}});
        PortGroup group;
        group.sw = switch_name(sw);
        group.leaves = {group.sw};
        group.ports = port_names;
        group.rate_bps = rate_bps;
        ports.push_back(std::move(group));
    }
    auto fabric = Fabric::build(topology, ports);
    if (!fabric) std::abort();
    Site site{"bench", {}, std::move(*fabric), *find_policy("default"), {}, epoch};
    site.config.history.ports = history ? "all" : "none";
    for (unsigned sw = 0; sw < shape.switches; ++sw) site.config.sources.push_back(exporter_of(sw));
    return std::make_shared<const Site>(std::move(site));
}

// What one switch serves in one round: each queue at 2 % of the line, 1 in 50 packets marked.
void write_text(std::string& text, const Shape& shape, unsigned sw, unsigned round) {
    text.clear();
    const auto metric = [&](std::string_view name, double start, double step) {
        text += fmt::format("# HELP {0} Counter of a queue\n# TYPE {0} counter\n", name);
        for (unsigned port = 0; port < shape.ports; ++port)
            for (unsigned queue = 0; queue < shape.queues; ++queue) {
                const auto value = static_cast<std::uint64_t>(start + 1e6 * port + 1e3 * queue + step * round);
                fmt::format_to(std::back_inserter(text), "{}{{switch=\"leaf{:04}\",device=\"Ethernet{}\",queue=\"{}\"}} {}\n", name, sw,
                               4 * port, queue, value);
            }
    };
    metric("sonic_queue_packets_total", 9e9, 250e3);
    metric("sonic_queue_bytes_total", 9e12, 1e9);
    metric("sonic_queue_ecn_marked_packets_total", 7e7, 5e3);
    metric("sonic_queue_watermark_bytes", 100, 64);
}

void print(std::string_view name, double value, const char* unit, double baseline, unsigned n) {
    fmt::print("{{\"name\":\"{}\",\"value\":{},\"unit\":\"{}\",\"baseline\":{},\"n\":{}}}\n", name, value, unit,
               baseline > 0 ? fmt::format("{}", baseline) : "null", n);
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

// Seconds of CPU a round; the first, in which every series is new, is given apart.
struct Timing {
    double first = 0;
    std::vector<double> rounds;
};

struct Ours {
    std::vector<MetricMapper> mappers;
    Telemetry telemetry;
    History history;
    FabricStatePointer state{};

    explicit Ours(SitePointer site) : telemetry(site), history(*site) {
        for (const SourceConfig& source : site->config.sources) mappers.emplace_back(source);
    }

    bool scrape(unsigned sw, std::string_view text, EventTime now) {
        MetricMapper& mapper = mappers[sw];
        mapper.begin(now);
        PrometheusText parser([&mapper](const PrometheusSample& sample) { mapper.take(sample); });
        parser.recognise_with([&mapper](std::string_view line) { return mapper.recognise(line); });
        for (std::size_t at = 0; at < text.size(); at += chunk_bytes)
            if (!parser.feed(text.substr(at, chunk_bytes))) return false;
        if (!parser.finish()) return false;
        telemetry.take(mapper.end());
        return true;
    }
};

Timing time_ours(Ours& ours, const Shape& shape) {
    Timing timing;
    std::string text;
    for (unsigned round = 0; round <= shape.rounds; ++round) {
        const EventTime now = epoch + round * 1s;
        double spent = 0;
        for (unsigned sw = 0; sw < shape.switches; ++sw) {
            write_text(text, shape, sw, round);
            const double begin = cpu_seconds();
            if (!ours.scrape(sw, text, now)) std::abort();
            spent += cpu_seconds() - begin;
        }
        const double begin = cpu_seconds();
        ours.state = ours.telemetry.fold();
        ours.history.take(ours.telemetry.activities());
        (void)ours.history.finished();
        spent += cpu_seconds() - begin;
        if (round == 0)
            timing.first = spent;
        else
            timing.rounds.push_back(spent);
    }
    return timing;
}

Timing time_plain(std::map<std::string, double>& series, const Shape& shape) {
    Timing timing;
    std::string text;
    double rates = 0;
    for (unsigned round = 0; round <= shape.rounds; ++round) {
        double spent = 0;
        for (unsigned sw = 0; sw < shape.switches; ++sw) {
            write_text(text, shape, sw, round);
            const double begin = cpu_seconds();
            for (std::size_t at = 0; at < text.size();) {
                const std::size_t end = text.find('\n', at);
                if (text[at] != '#') {
                    const std::size_t brace = text.rfind('}', end);
                    double& last = series[text.substr(at, brace + 1 - at)];
                    const double value = std::strtod(text.c_str() + brace + 1, nullptr);
                    rates += value - last;
                    last = value;
                }
                at = end + 1;
            }
            spent += cpu_seconds() - begin;
        }
        if (round == 0)
            timing.first = spent;
        else
            timing.rounds.push_back(spent);
    }
    if (rates == 0) std::abort();
    return timing;
}

// What the switches were made to do is what must come out of it.
bool right(const Ours& ours, const Shape& shape) {
    const double load = 8 * shape.queues * 1e9 / rate_bps;
    return std::ranges::all_of(ours.state->links, [&](const LinkState& link) {
        return link.known && std::abs(link.load - load) < 1e-6 * load && std::abs(link.mark_rate - .02) < .001;
    });
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        fmt::print(stderr, "usage: ingest_bench SWITCHES PORTS QUEUES ROUNDS\n");
        return 2;
    }
    const auto number = [&](int i) { return static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)); };
    const Shape shape{number(1), number(2), number(3), std::max(1u, number(4))};
    const auto samples = static_cast<double>(shape.series());

    std::map<std::string, double> plain_series;
    const Timing plain = time_plain(plain_series, shape);
    plain_series.clear();

    for (const bool history : {false, true}) {
        const SitePointer site = site_of(shape, history); // what the administrator wrote; its size follows the ports, not the series
        const std::size_t before = heap_bytes();
        Ours ours(site);
        const Timing timing = time_ours(ours, shape);
        const std::size_t after = heap_bytes();
        if (!right(ours, shape)) {
            fmt::print(stderr, "ingest_bench: the links do not show what the switches were made to do\n");
            return 1;
        }
        const std::string_view with = history ? "_with_history" : "";
        print(fmt::format("ingest{}_samples_per_s", with), samples / median(timing.rounds), "1/s", samples / median(plain.rounds), shape.rounds);
        print(fmt::format("ingest{}_worst_round_s", with), *std::ranges::max_element(timing.rounds), "s",
              *std::ranges::max_element(plain.rounds), shape.rounds);
        print(fmt::format("ingest{}_first_round_s", with), timing.first, "s", plain.first, 1);
        print(fmt::format("ingest{}_bytes_per_series", with), static_cast<double>(after - before) / samples, "B", 0, 1);
    }
    print("ingest_series", samples, "series", 0, 1);
    return 0;
}
