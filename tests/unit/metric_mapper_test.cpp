#include "aegisd/metric_mapper.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <rapidcheck.h>

using namespace aegis;

namespace {

const EventTime noon{std::chrono::seconds{1'700'000'000}};

MetricMapping mapping(std::string name, Signal signal) {
    MetricMapping mapping;
    mapping.name = std::move(name);
    mapping.signal = signal;
    mapping.kind = Kind::counter;
    mapping.switch_label = "switch";
    return mapping;
}

SourceConfig source(std::vector<MetricMapping> metrics) {
    SourceConfig config;
    config.name = "tors";
    config.metrics = std::move(metrics);
    return config;
}

struct Labels {
    std::vector<PrometheusLabel> list;
    Labels(std::initializer_list<PrometheusLabel> labels) : list(labels) {}
};

void take(MetricMapper& mapper, std::string_view name, const Labels& labels, double value,
          std::optional<std::int64_t> timestamp_ms = {}) {
    std::string series(name);
    for (const PrometheusLabel& label : labels.list) (series += '{' + std::string(label.name) + '=') += label.value;
    mapper.take({name, labels.list, value, timestamp_ms, series});
}

const Labels sw1_p1{{"switch", "sw1"}, {"port", "p1"}};

} // namespace

TEST_CASE("a series is announced once and keeps its index over scrapes") {
    MetricMapper mapper(source({mapping("packets", Signal::packets), mapping("bytes", Signal::bytes)}));
    mapper.begin(noon);
    take(mapper, "packets", sw1_p1, 5);
    take(mapper, "bytes", sw1_p1, 700);
    take(mapper, "unrelated", sw1_p1, 1);
    const Batch first = mapper.end();
    REQUIRE(first.announced.size() == 2);
    CHECK(first.announced[1] == Series{"tors", "sw1", "p1", {}, Signal::bytes, Kind::counter, {}});
    REQUIRE(first.readings.size() == 2);
    CHECK(first.readings[1].series == SeriesIndex{1});
    CHECK(first.readings[1].value == 700);
    CHECK(first.readings[1].time == noon);
    CHECK(first.refused == 0);

    mapper.begin(noon + std::chrono::seconds(1));
    take(mapper, "bytes", sw1_p1, 800);
    const Batch second = mapper.end();
    CHECK(second.announced.empty());
    REQUIRE(second.readings.size() == 1);
    CHECK(second.readings[0].series == SeriesIndex{1});
    CHECK(second.readings[0].time == noon + std::chrono::seconds(1));
}

TEST_CASE("labels that change beside switch and port lead to the same series") {
    MetricMapper mapper(source({mapping("packets", Signal::packets)}));
    mapper.begin(noon);
    take(mapper, "packets", {{"switch", "sw1"}, {"port", "p1"}, {"version", "1"}}, 5);
    take(mapper, "packets", {{"version", "2"}, {"switch", "sw1"}, {"port", "p1"}}, 6);
    const Batch batch = mapper.end();
    CHECK(batch.announced.size() == 1);
    REQUIRE(batch.readings.size() == 2);
    CHECK(batch.readings[0].series == batch.readings[1].series);
}

TEST_CASE("only samples that match are read, and one sample may have two meanings") {
    MetricMapping transmitted = mapping("octets", Signal::bytes);
    transmitted.match = {{"direction", "tx"}};
    transmitted.factor = 4;
    MetricMapping also = mapping("octets", Signal::packets);
    also.match = {{"direction", "tx"}};
    MetricMapper mapper(source({transmitted, also}));
    mapper.begin(noon);
    take(mapper, "octets", {{"switch", "sw1"}, {"port", "p1"}, {"direction", "rx"}}, 5);
    take(mapper, "octets", {{"switch", "sw1"}, {"port", "p1"}, {"direction", "tx"}}, 6);
    const Batch batch = mapper.end();
    REQUIRE(batch.readings.size() == 2);
    CHECK(batch.readings[0].value == 24);
    CHECK(batch.readings[1].value == 6);
    CHECK(batch.refused == 0);
}

TEST_CASE("a value that no counter or depth can have is refused and counted") {
    MetricMapper mapper(source({mapping("packets", Signal::packets)}));
    mapper.begin(noon);
    for (double value : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) take(mapper, "packets", sw1_p1, value);
    take(mapper, "packets", sw1_p1, 0);
    const Batch batch = mapper.end();
    CHECK(batch.refused == 3);
    CHECK(batch.readings.size() == 1);
}

TEST_CASE("labels that name no switch, port or queue are refused at every scrape") {
    MetricMapping queued = mapping("packets", Signal::packets);
    queued.queue_label = "queue";
    MetricMapper mapper(source({queued}));
    for (int scrape = 0; scrape < 2; ++scrape) {
        mapper.begin(noon);
        take(mapper, "packets", {{"port", "p1"}, {"queue", "3"}}, 1);
        take(mapper, "packets", {{"switch", ""}, {"port", "p1"}, {"queue", "3"}}, 1);
        take(mapper, "packets", {{"switch", "sw1"}, {"queue", "3"}}, 1);
        take(mapper, "packets", {{"switch", "sw1"}, {"port", "p1"}}, 1);
        take(mapper, "packets", {{"switch", "sw1"}, {"port", "p1"}, {"queue", "all"}}, 1);
        const Batch batch = mapper.end();
        CHECK(batch.refused == 5);
        CHECK(batch.announced.empty());
    }
}

TEST_CASE("a queue is known by the number at the end of its name") {
    MetricMapping queued = mapping("packets", Signal::packets);
    queued.queue_label = "queue";
    MetricMapper mapper(source({queued}));
    mapper.begin(noon);
    for (const char* queue : {"3", "UC4", "Ethernet0:5"}) take(mapper, "packets", {{"switch", "s"}, {"port", "p"}, {"queue", queue}}, 1);
    const Batch batch = mapper.end();
    REQUIRE(batch.announced.size() == 3);
    CHECK(batch.announced[0].queue == 3u);
    CHECK(batch.announced[1].queue == 4u);
    CHECK(batch.announced[2].queue == 5u);
}

TEST_CASE("a sample's own time is its event time, unless it lies in the future") {
    MetricMapper mapper(source({mapping("packets", Signal::packets)}));
    const std::int64_t noon_ms = 1'700'000'000'000;
    mapper.begin(noon);
    take(mapper, "packets", sw1_p1, 1, noon_ms - 30'000);
    take(mapper, "packets", sw1_p1, 1, noon_ms + 1'000);
    take(mapper, "packets", sw1_p1, 1, noon_ms + 60'000);
    take(mapper, "packets", sw1_p1, 1, INT64_MAX);
    take(mapper, "packets", sw1_p1, 1, INT64_MIN);
    const Batch batch = mapper.end();
    REQUIRE(batch.readings.size() == 2);
    CHECK(batch.readings[0].time == noon - std::chrono::seconds(30));
    CHECK(batch.readings[1].time == noon + std::chrono::seconds(1));
    CHECK(batch.refused == 3);
}

TEST_CASE("a failed scrape has no readings, and what it announced stays announced") {
    MetricMapper mapper(source({mapping("packets", Signal::packets)}));
    mapper.begin(noon);
    take(mapper, "packets", sw1_p1, 1);
    const Batch failed = mapper.fail("half a body");
    CHECK(failed.failure == "half a body");
    CHECK(failed.readings.empty());
    CHECK(failed.announced.size() == 1);
    mapper.begin(noon);
    take(mapper, "packets", sw1_p1, 2);
    const Batch good = mapper.end();
    CHECK(good.announced.empty());
    CHECK(good.readings.at(0).series == SeriesIndex{0});
    CHECK_FALSE(good.failure);
}

TEST_CASE("an exporter with ever new labels is bounded") {
    MetricMapper mapper(source({mapping("packets", Signal::packets)}), 10);
    mapper.begin(noon);
    for (int i = 0; i < 100; ++i) {
        const std::string port = "p" + std::to_string(i);
        take(mapper, "packets", {{"switch", "sw1"}, {"port", port}}, 1);
    }
    const Batch batch = mapper.end();
    CHECK(batch.announced.size() == 10);
    CHECK(batch.readings.size() == 10);
    CHECK(batch.refused == 90);
}

namespace {

// As source_prometheus reads a body.
Batch scrape(MetricMapper& mapper, std::string_view text, EventTime time) {
    mapper.begin(time);
    PrometheusText parser([&mapper](const PrometheusSample& sample) { mapper.take(sample); });
    parser.recognise_with([&mapper](std::string_view line) { return mapper.recognise(line); });
    const bool good = parser.feed(text) && parser.finish();
    return good ? mapper.end() : mapper.fail("not metrics");
}

// (switch, port, signal, value, time) of each reading, whatever the indices are.
struct Told {
    std::vector<Series> series;
    std::vector<std::tuple<std::string, std::string, Signal, double, EventTime>> read(const Batch& batch) {
        series.insert(series.end(), batch.announced.begin(), batch.announced.end());
        std::vector<std::tuple<std::string, std::string, Signal, double, EventTime>> told;
        for (const Reading& reading : batch.readings) {
            const Series& of = series.at(static_cast<std::size_t>(reading.series));
            told.emplace_back(of.sw, of.port, of.signal, reading.value, reading.time);
        }
        return told;
    }
};

} // namespace

TEST_CASE("a mapper that has seen many scrapes reads the next one as a new mapper does") {
    CHECK(rc::check("old against new", [] {
        MetricMapping also = mapping("octets", Signal::packets);
        also.match = {{"direction", "tx"}};
        const SourceConfig config = source({mapping("octets", Signal::bytes), also, mapping("packets", Signal::packets)});
        MetricMapper old(config);
        Told told_by_old;
        const int scrapes = *rc::gen::inRange(1, 6);
        for (int i = 0; i < scrapes; ++i) {
            std::string text;
            for (int line : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 200))) {
                const char* name = line % 5 == 0 ? "other" : line % 2 ? "octets" : "packets";
                const char* direction = line % 3 ? "tx" : "rx";
                const char* port_label = line % 7 ? "port" : "door";
                text += std::string(name) + "{switch=\"s\\\\" + std::to_string(line % 4) + "\"," + port_label + "=\"p" +
                        std::to_string(line / 8) + "\",direction=\"" + direction + "\"} " + std::to_string(line * 10 + i) +
                        (line % 11 ? "\n" : " 1700000000123\n");
            }
            MetricMapper fresh(config);
            Told told_by_fresh;
            const Batch a = scrape(old, text, noon), b = scrape(fresh, text, noon);
            RC_ASSERT(a.refused == b.refused);
            RC_ASSERT(told_by_old.read(a) == told_by_fresh.read(b));
        }
    }));
}

TEST_CASE("labels that change at every scrape neither fill the memory nor lose their series") {
    MetricMapper mapper(source({mapping("packets", Signal::packets)}), 100);
    std::size_t announced = 0;
    for (int i = 0; i < 1000; ++i) {
        const Batch batch =
            scrape(mapper, "packets{switch=\"s\",port=\"p\",uptime=\"" + std::to_string(i) + "\"} " + std::to_string(i), noon);
        announced += batch.announced.size();
        REQUIRE(batch.readings.size() == 1);
        CHECK(batch.readings[0].value == i);
    }
    CHECK(announced == 1);
}
