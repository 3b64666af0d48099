// The whole path from samples to pressure, for a switch that is at peace while its telemetry is not: over random resets, wraps,
// reorderings, repeats and losses nothing may look like traffic that was not there.
#include "aegisd/telemetry.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <rapidcheck.h>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

constexpr double line_bps = 100e9;
constexpr double frame_bytes = 1000, line_frames = line_bps / 8 / frame_bytes; // per second
constexpr double range32 = 4294967296.0;
constexpr double most_load = .4, most_marks = .001; // of the line, and of the frames: no pressure at all
const EventTime start{1'700'000'000s};

SitePointer one_link() {
    PortGroup group;
    group.sw = "sw1";
    group.ports = {"p1"};
    group.leaves = {"tor1"};
    group.trunk = true;
    group.rate_bps = line_bps;
    Site site{"aegisd.toml", {}, *Fabric::build(*parse_topology("SwitchName=tor1 Nodes=n[0-3]\n", "topology.conf"), {group}), *find_policy("default"), {}, start};
    SourceConfig source;
    source.name = "a";
    site.config.sources.push_back(source);
    return std::make_shared<const Site>(std::move(site));
}

// Counts on and shows what a counter of its width shows.
struct SwitchCounter {
    double value = 0;
    bool narrow = false;
    double shown() const { return narrow ? std::fmod(value, range32) : value; }
    // Two resets do not show in the values (lib/counters.h): one from near the top of 32 bits looks like a wrap, and one that is
    // outgrown before the next reading like slower growth. `soon` is what it may grow by in 15 s.
    bool reset_shows(double soon) const { return shown() > soon && !(narrow && shown() > .75 * range32); }
};

// One exporter of one link: bytes, packets, marks, depth.
struct Exporter {
    SwitchCounter bytes, packets, marks;
    double depth = 0;

    void pass(double seconds, double load, double marked) {
        const double frames = std::floor(load * line_frames * seconds);
        bytes.value += frames * frame_bytes;
        packets.value += frames;
        marks.value += std::floor(frames * marked);
    }
    void reset() {
        const double frames = 15 * line_frames * most_load;
        if (packets.reset_shows(frames) && marks.reset_shows(frames * most_marks)) bytes.value = packets.value = marks.value = 0;
    }

    // One sample in `one_lost_in`, each by itself; none with 0.
    Batch shown(EventTime time, int one_lost_in = 0) const {
        Batch batch;
        batch.source = "a";
        batch.polled_at = time;
        const double values[] = {bytes.shown(), packets.shown(), marks.shown(), depth};
        for (std::uint32_t i = 0; i < 4; ++i)
            if (one_lost_in == 0 || *rc::gen::inRange(0, one_lost_in) != 0) batch.readings.push_back({SeriesIndex{i}, values[i], time});
        return batch;
    }

    std::vector<Series> announced() const {
        const auto series = [](Signal signal, Kind kind, bool narrow) {
            return Series{"a", "sw1", "p1", std::nullopt, signal, kind, narrow ? std::optional(range32) : std::nullopt};
        };
        return {series(Signal::bytes, Kind::counter, bytes.narrow), series(Signal::packets, Kind::counter, packets.narrow),
                series(Signal::ecn_marked_packets, Kind::counter, marks.narrow), series(Signal::queue_depth, Kind::snapshot, false)};
    }
};

double some_share() { return *rc::gen::inRange(0, 1001) / 1000.0; }

SwitchCounter some_counter(double frames_ahead) {
    const bool narrow = *rc::gen::arbitrary<bool>();
    return {narrow ? range32 - frames_ahead * some_share() - 1 : 1e12 + 1e15 * some_share(), narrow};
}

} // namespace

TEST_CASE("over random resets, wraps, reorderings, repeats and losses a calm link shows no pressure and no load above its own") {
    CHECK(rc::check("no false spike", [] {
        Exporter exporter;
        exporter.bytes = {1e14 + 1e15 * some_share(), false};
        exporter.packets = some_counter(3e8); // wraps within a minute, or not at all
        exporter.marks = some_counter(3e5);
        Telemetry telemetry(one_link());
        EventTime now = start;
        Batch first = exporter.shown(now);
        first.announced = exporter.announced();
        telemetry.take(first);
        Batch late;
        const bool cached = *rc::gen::arbitrary<bool>(); // an exporter that shows the same values for up to 8 s
        Exporter cache = exporter;
        int repeats = 0;
        for (int step = 0; step < 60; ++step) {
            const int dt_ms = *rc::gen::inRange(300, 2000);
            exporter.pass(dt_ms / 1000.0, most_load * some_share(), most_marks);
            exporter.depth = 180'000 * some_share(); // K_min is 184,320
            now += std::chrono::milliseconds(dt_ms);
            const int what = *rc::gen::inRange(0, 12);
            if (what == 0) exporter.reset();
            if (what == 1) now += 60s; // nothing was heard of it for a minute
            if (!cached || repeats <= 0) {
                cache = exporter;
                repeats = *rc::gen::inRange(0, 8);
            }
            --repeats;
            if (cached && *rc::gen::inRange(0, 5) == 0) continue; // the whole answer is lost
            const Batch batch = cached ? cache.shown(now) : exporter.shown(now, 5);
            if (what == 2) { // overtaken by the next one
                late = batch;
                continue;
            }
            telemetry.take(batch);
            if (what == 3) telemetry.take(batch); // twice
            if (!late.source.empty()) telemetry.take(std::exchange(late, {}));
            const LinkState link = telemetry.fold()->links.at(0);
            RC_LOG() << "step " << step << " load " << link.load << " marks " << link.mark_rate << " pressure " << link.pressure << " what " << what << " cached " << cached << '\n';
            // what a cache kept back for up to 8 s may be all that the line can carry in the last interval, and then is told of that
            RC_ASSERT(link.load <= (cached ? 1.05 : most_load * 1.001));
            RC_ASSERT(link.mark_rate <= 10 * most_marks);
            RC_ASSERT(link.terms.phi_e <= .1 && link.terms.phi_q == 0);
            if (!cached) RC_ASSERT(link.pressure <= .08);
        }
        // and the path is not merely dead: left in peace, it tells of the traffic that there is
        for (int step = 0; step < 40; ++step) {
            exporter.pass(1, .3, 0);
            telemetry.take(exporter.shown(now += 1s));
            telemetry.fold();
        }
        RC_ASSERT(std::abs(telemetry.fold()->links.at(0).load - .3) < .01);
    }));
}

TEST_CASE("a calm link behind an exporter that shows new values only every fifteen seconds looks calm") {
    Exporter exporter;
    exporter.bytes.value = 1e14;
    Telemetry telemetry(one_link());
    Batch first = exporter.shown(start);
    first.announced = exporter.announced();
    telemetry.take(first);
    Exporter cache = exporter;
    double most = 0;
    for (int second = 1; second <= 300; ++second) {
        exporter.pass(1, .55, 0);
        if (second % 15 == 0) cache = exporter;
        telemetry.take(cache.shown(start + std::chrono::seconds(second)));
        const LinkState link = telemetry.fold()->links.at(0);
        CHECK(link.load <= .56);
        CHECK(link.pressure < .01);
        most = std::max(most, link.load);
    }
    CHECK(most > .5);
}
