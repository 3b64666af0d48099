#include "aegisd/history.h"
#include "aegisd/telemetry.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

const EventTime start{1'700'000'000s};

PortGroup port(std::string sw, std::string leaf, bool trunk = true, double rate_bps = 100e9) {
    PortGroup group;
    group.sw = std::move(sw);
    group.ports = {"p1"};
    group.leaves = {std::move(leaf)};
    group.trunk = trunk;
    group.rate_bps = rate_bps;
    return group;
}

SitePointer site(std::vector<PortGroup> ports) {
    const auto topology = parse_topology("SwitchName=tor1 Nodes=n[0-3]\nSwitchName=tor2 Nodes=n[4-7]\n", "topology.conf");
    Site site{"aegisd.toml", {}, *Fabric::build(*topology, ports), *find_policy("default"), {}, start};
    for (const char* name : {"a", "b"}) {
        SourceConfig source;
        source.name = name;
        site.config.sources.push_back(source);
    }
    return std::make_shared<const Site>(std::move(site));
}

SitePointer two_leaves() { return site({port("sw1", "tor1"), port("sw2", "tor2")}); }

Series series(std::string sw, Signal signal, Kind kind = Kind::counter, std::optional<unsigned> queue = {}) {
    return {"a", std::move(sw), "p1", queue, signal, kind, {}};
}

Batch batch(EventTime time, std::vector<std::pair<unsigned, double>> values, std::vector<Series> announced = {},
            std::string source = "a") {
    Batch batch;
    batch.source = std::move(source);
    batch.polled_at = time;
    batch.announced = std::move(announced);
    for (auto [index, value] : values) batch.readings.push_back({SeriesIndex{index}, value, time});
    return batch;
}

std::uint64_t events(const Telemetry& telemetry, CounterEvent event) {
    return telemetry.sources()[0].events[static_cast<std::size_t>(event)];
}

} // namespace

TEST_CASE("readings of marks and packets become the mark rate of their link") {
    Telemetry telemetry(two_leaves());
    const std::vector<Series> announced{series("sw1", Signal::ecn_marked_packets), series("sw1", Signal::packets)};
    telemetry.take(batch(start, {{0, 0}, {1, 0}}, announced));
    CHECK_FALSE(telemetry.fold()->links[0].known);
    for (int second = 1; second <= 60; ++second) {
        telemetry.take(batch(start + second * 1s, {{0, second * 5e4}, {1, second * 1e6}}));
        telemetry.fold();
    }
    const auto state = telemetry.fold();
    REQUIRE(state->links[0].known);
    // 5 % of a million packets a second, with a prior of ten thousand unmarked ones
    CHECK(state->links[0].mark_rate == Approx(5e4 / 1.01e6).epsilon(1e-6));
    CHECK(state->links[0].newest == start + 60s);
    CHECK_FALSE(state->links[1].known);
    CHECK(events(telemetry, CounterEvent::first) == 2);
    CHECK(events(telemetry, CounterEvent::advanced) == 120);
}

TEST_CASE("the queues of a port add up, and of their depths the largest counts") {
    Telemetry telemetry(two_leaves());
    const std::vector<Series> announced{series("sw1", Signal::bytes, Kind::counter, 0), series("sw1", Signal::bytes, Kind::counter, 1),
                                        series("sw1", Signal::queue_depth, Kind::peak, 0),
                                        series("sw1", Signal::queue_depth, Kind::peak, 1)};
    telemetry.take(batch(start, {{0, 0}, {1, 0}, {2, 100}, {3, 7000}}, announced));
    telemetry.fold();
    telemetry.take(batch(start + 1s, {{0, 2e9}, {1, 4e9}, {2, 9000}, {3, 50}}));
    const auto state = telemetry.fold();
    CHECK(state->links[0].load == Approx(6e9 * 8 / 100e9));
    CHECK(state->links[0].depth_bytes == 9000.0);
}

TEST_CASE("signals of one link may come from two sources, at several polls a fold") {
    Telemetry telemetry(two_leaves());
    telemetry.take(batch(start, {{0, 0}}, {series("sw1", Signal::packets)}, "a"));
    telemetry.take(batch(start, {{0, 0}}, {series("sw1", Signal::ecn_marked_packets)}, "b"));
    for (int i = 1; i <= 4; ++i) telemetry.take(batch(start + i * 250ms, {{0, i * 5e5}}, {}, "a"));
    telemetry.take(batch(start + 1s, {{0, 2e5}}, {}, "b"));
    CHECK(telemetry.fold()->links[0].mark_rate == Approx(2e5 / 2.01e6));
}

TEST_CASE("marks are set against the packets of the same time where one of the two was lost once") {
    Telemetry telemetry(two_leaves());
    telemetry.take(batch(start, {{0, 0}, {1, 0}}, {series("sw1", Signal::ecn_marked_packets), series("sw1", Signal::packets)}));
    telemetry.take(batch(start + 1s, {{1, 1e6}})); // a million packets, a thousand of them marked, whose number is lost
    CHECK_FALSE(telemetry.fold()->links[0].known);
    telemetry.take(batch(start + 2s, {{0, 1000}, {1, 1e6 + 1000}})); // as good as none in this second
    CHECK(telemetry.fold()->links[0].mark_rate == Approx(1000 / (1e6 + 1000 + 2 * 1e4)));
}

TEST_CASE("marks that come more seldom than packets are set against all packets since") {
    Telemetry telemetry(two_leaves());
    telemetry.take(batch(start, {{0, 0}}, {series("sw1", Signal::packets)}));
    telemetry.take(batch(start, {{0, 0}}, {{"b", "sw1", "p1", {}, Signal::ecn_marked_packets, Kind::counter, {}}}, "b"));
    for (int second = 1; second <= 10; ++second) {
        telemetry.take(batch(start + std::chrono::seconds(second), {{0, second == 5 ? 1e6 : second < 5 ? 0 : 1e6 + second}}));
        if (second == 10) telemetry.take(batch(start + 10s, {{0, 5e4}}, {}, "b"));
        telemetry.fold();
    }
    CHECK(telemetry.fold()->links[0].mark_rate == Approx(5e4 / (1e6 + 10 + 10 * 1e4)));
}

TEST_CASE("a monitoring server that scrapes once a minute still tells of rates, an exporter that was silent for as long does not") {
    for (const auto& [type, event] : {std::pair("promql", CounterEvent::advanced), std::pair("prometheus", CounterEvent::gap)}) {
        Site changed = *two_leaves();
        changed.config.sources[0].type = type;
        Telemetry telemetry(std::make_shared<const Site>(std::move(changed)));
        telemetry.take(batch(start, {{0, 0}}, {series("sw1", Signal::bytes)}));
        telemetry.take(batch(start + 60s, {{0, 6e10}}));
        INFO(type);
        CHECK(events(telemetry, event) == 1);
        if (event == CounterEvent::advanced) CHECK(telemetry.fold()->links[0].load == Approx(.08));
    }
}

TEST_CASE("an exporter that dates many readings over days does not make a rate of a time that ran over") {
    Site changed = *two_leaves();
    changed.config.sources[0].interval = 1h;
    Telemetry telemetry(std::make_shared<const Site>(std::move(changed)));
    telemetry.take(batch(start, {{0, 0}}, {series("sw1", Signal::bytes)}));
    for (int hour = 1; hour <= 100; ++hour) telemetry.take(batch(start + hour * 1h, {{0, hour * 3600 * 1.25e9}})); // a tenth of the line
    CHECK(telemetry.fold()->links[0].load == Approx(.1));
}

TEST_CASE("many more marks than packets are not believed and counted as implausible") {
    Telemetry telemetry(two_leaves());
    telemetry.take(batch(start, {{0, 0}, {1, 0}}, {series("sw1", Signal::ecn_marked_packets), series("sw1", Signal::packets)}));
    telemetry.take(batch(start + 1s, {{0, 2e6}, {1, 1e6}}));
    CHECK_FALSE(telemetry.fold()->links[0].known);
    CHECK(events(telemetry, CounterEvent::implausible) == 1);
    // a few more, because the two were not read at the same moment: all packets are marked
    telemetry.take(batch(start + 2s, {{0, 2e6 + 1.01e6}, {1, 2e6}}));
    CHECK(telemetry.fold()->links[0].mark_rate > .9);
    CHECK(events(telemetry, CounterEvent::implausible) == 1);
}

TEST_CASE("a depth that is read again with the same time is not a new one") {
    Telemetry telemetry(two_leaves());
    telemetry.take(batch(start, {{0, 300'000}}, {series("sw1", Signal::queue_depth, Kind::snapshot)}));
    const auto first = telemetry.fold();
    CHECK(first->links[0].known);
    telemetry.take(batch(start, {{0, 300'000}}));
    CHECK(telemetry.fold()->links[0].newest == start);
    CHECK(view_of(*telemetry.fold(), start + 30s).leaves[0].age == 30s);
}

TEST_CASE("a port that no table maps is counted and named, its readings skipped") {
    Telemetry telemetry(two_leaves());
    telemetry.take(batch(start, {{0, 1}}, {series("spine7", Signal::packets)}));
    CHECK(telemetry.sources()[0].series == 1);
    CHECK(telemetry.sources()[0].unmapped_series == 1);
    CHECK(telemetry.unmapped_ports() == std::set<std::string>{"spine7/p1"});
    CHECK(events(telemetry, CounterEvent::first) == 0);
}

TEST_CASE("the list of unmapped ports is bounded, their number is not") {
    Telemetry telemetry(two_leaves());
    std::vector<Series> announced;
    for (int i = 0; i < 5000; ++i) announced.push_back(series("x" + std::to_string(i), Signal::packets));
    telemetry.take(batch(start, {}, announced));
    CHECK(telemetry.unmapped_ports().size() == 200);
    CHECK(telemetry.sources()[0].unmapped_series == 5000);
}

TEST_CASE("a failed poll is remembered and takes nothing away") {
    Telemetry telemetry(two_leaves());
    telemetry.take(batch(start, {{0, 300'000}}, {series("sw1", Signal::queue_depth, Kind::snapshot)}));
    Batch failed = batch(start + 1s, {});
    failed.failure = "connection refused";
    telemetry.take(failed);
    const SourceState& source = telemetry.sources()[0];
    CHECK(source.polls == 2);
    CHECK(source.failures == 1);
    CHECK(source.last_failure == "connection refused");
    CHECK(source.last_failure_at == start + 1s);
    CHECK(source.newest == start);
    CHECK(telemetry.fold()->links[0].pressure > 0.5);
}

TEST_CASE("a leaf shows its worst trunk, and a port to a node only where it has no trunk") {
    const auto fabric = site({port("sw1", "tor1"), port("sw2", "tor1"), port("nic1", "tor1", false), port("nic2", "tor2", false)});
    Telemetry telemetry(fabric);
    const auto depth = [](std::string sw) { return series(std::move(sw), Signal::queue_depth, Kind::snapshot); };
    telemetry.take(batch(start, {{0, 200'000}, {1, 250'000}, {2, 300'000}, {3, 300'000}},
                         {depth("sw1"), depth("sw2"), depth("nic1"), depth("nic2")}));
    const PressureView view = view_of(*telemetry.fold(), start + 1s);
    CHECK(view.leaves[0].worst_link == LinkIndex{1});
    CHECK(view.leaves[1].worst_link == LinkIndex{3});
    CHECK(view.leaves[1].pressure == Approx(.6));
    CHECK(view.leaves[1].freshness == Freshness::fresh);
    CHECK(view.leaves[1].confidence == 1);
}

TEST_CASE("a leaf of which nothing is known is dark and has no worst link") {
    Telemetry telemetry(two_leaves());
    for (const LeafPressure& leaf : view_of(*telemetry.fold(), start).leaves) {
        CHECK_FALSE(leaf.worst_link);
        CHECK(leaf.believed() == 0);
        CHECK(leaf.freshness == Freshness::dark);
    }
}

TEST_CASE("belief in a link that is not seen any more fades to nothing") {
    Telemetry telemetry(two_leaves());
    telemetry.take(batch(start, {{0, 300'000}}, {series("sw1", Signal::queue_depth, Kind::snapshot)}));
    const auto state = telemetry.fold();
    double before = 2;
    for (auto age : {1s, 30s, 100s}) {
        const double believed = view_of(*state, start + age).leaves[0].believed();
        CHECK(believed < before);
        CHECK(believed > 0);
        before = believed;
    }
    CHECK(view_of(*state, start + 181s).leaves[0].believed() == 0);
    // a clock that went backwards does not make it older than it is
    CHECK(view_of(*state, start - 10s).leaves[0].age == 0ms);
}

TEST_CASE("after a reload a link keeps its pressure if it is still the same link") {
    Telemetry before(two_leaves());
    before.take(batch(start, {{0, 300'000}, {1, 300'000}},
                      {series("sw1", Signal::queue_depth, Kind::snapshot), series("sw2", Signal::queue_depth, Kind::snapshot)}));
    before.fold();
    Telemetry after(site({port("new", "tor2"), port("sw2", "tor2", true, 400e9), port("sw1", "tor1")}), &before);
    const auto state = after.fold();
    CHECK_FALSE(state->links[0].known);
    CHECK_FALSE(state->links[1].known); // another line rate
    CHECK(state->links[2].pressure == Approx(.6));
    CHECK(state->links[2].newest == start);
    CHECK(after.sources()[0].polls == 0);
}

TEST_CASE("what a link did since the last fold is told exactly, signal by signal, peaks and snapshots apart") {
    Telemetry telemetry(two_leaves());
    const std::vector<Series> announced{series("sw1", Signal::bytes, Kind::counter, 0),   series("sw1", Signal::bytes, Kind::counter, 1),
                                        series("sw1", Signal::drops),                     series("sw1", Signal::queue_depth, Kind::peak),
                                        series("sw1", Signal::queue_depth, Kind::snapshot)};
    telemetry.take(batch(start, {{0, 1e15}, {1, 5}, {2, 7}, {3, 100}, {4, 50}}, announced));
    telemetry.fold();
    telemetry.take(batch(start + 1s, {{0, 1e15 + 16'777'217}, {1, 8}, {2, 9}, {3, 4000}, {4, 60}}));
    telemetry.take(batch(start + 2s, {{0, 1e15 + 16'777'218}, {1, 8}, {2, 9}, {3, 3000}, {4, 70}}));
    telemetry.fold();
    REQUIRE(telemetry.activities().size() == 1);
    const LinkActivity& activity = telemetry.activities()[0];
    CHECK(activity.link == LinkIndex{0});
    CHECK(activity.from == start);
    CHECK(activity.to == start + 2s);
    CHECK(activity.amounts.bytes == 16'777'221); // not what a float would make of it
    CHECK(activity.amounts.drops == 2);
    CHECK(activity.amounts.peak_bytes == 4000);
    CHECK(activity.amounts.depth_bytes.max() == 70);
    CHECK_FALSE(activity.amounts.packets);
    CHECK(activity.amounts.covered_us == 2'000'000);
    telemetry.fold();
    CHECK(telemetry.activities().empty());
}

TEST_CASE("ports to nodes have a history only if the configuration says so") {
    const SitePointer ports = site({port("sw1", "tor1", false)});
    CHECK_FALSE(has_history(*ports, ports->fabric.links()[0]));
    Site all = *ports;
    all.config.history.ports = "all";
    CHECK(has_history(all, all.fabric.links()[0]));
    Site none = *two_leaves();
    none.config.history.ports = "none";
    CHECK_FALSE(has_history(none, none.fabric.links()[0]));
}

TEST_CASE("history has the seconds at once, the ten seconds when they are over, and a reload keeps both") {
    const SitePointer before = two_leaves();
    History history(*before);
    RollUp amounts;
    amounts.bytes = 100;
    const auto second = [&](int n) { history.take({{LinkIndex{0}, start + n * 1s, start + (n + 1) * 1s, amounts}}); };
    for (int n = 0; n < 10; ++n) second(n);
    CHECK(history.finished().empty());
    REQUIRE(history.seconds_of("sw1/p1"));
    CHECK(history.seconds_of("sw1/p1")->at(1'700'000'009).bytes == 100);
    CHECK(history.seconds_of("sw1/p2") == nullptr);
    second(10);
    const auto rows = history.finished();
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].link == "sw1/p1");
    CHECK(rows[0].start_s == 1'700'000'000);
    CHECK(rows[0].amounts.bytes == 1000);

    history.adopt(*site({port("sw0", "tor1"), port("sw1", "tor1")})); // sw1's link has another number now
    CHECK(history.finished().size() == 1);                           // what had grown
    history.take({{LinkIndex{1}, start + 11s, start + 12s, amounts}});
    CHECK(history.seconds_of("sw1/p1")->at(1'700'000'009).bytes == 100);
    CHECK(history.seconds_of("sw1/p1")->at(1'700'000'011).bytes == 100);
    CHECK(history.unfinished().at(0).amounts.bytes == 100);
    CHECK(history.unfinished().empty());
}
