#include "lib/counters.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <rapidcheck.h>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

constexpr double range32 = 4294967296.0;

// A counter with its limits.
struct Limited {
    explicit Limited(CounterLimits limits) : limits(limits) {}
    CounterStep read(double value, EventTime time) { return counter.read(limits, value, time); }
    CounterLimits limits;
    Counter counter;
};

EventTime at_ms(std::int64_t ms) { return EventTime{std::chrono::milliseconds(1'700'000'000'000 + ms)}; }

} // namespace

TEST_CASE("a counter tells of the traffic between two readings") {
    Limited counter({});
    CHECK(counter.read(1000, at_ms(0)).event == CounterEvent::first);
    const CounterStep step = counter.read(1500, at_ms(2000));
    CHECK(step.event == CounterEvent::advanced);
    CHECK(step.delta == 500);
    CHECK(step.interval == 2s);
    CHECK(counter.read(1500, at_ms(3000)).delta == 0);
}

TEST_CASE("a 64-bit counter that falls was reset: the interval is dropped and counting goes on from the new value") {
    Limited counter({});
    counter.read(1e15, at_ms(0));
    const CounterStep reset = counter.read(7, at_ms(1000));
    CHECK(reset.event == CounterEvent::reset);
    CHECK_FALSE(reset.counts());
    CHECK(reset.delta == 0);
    CHECK(counter.read(10, at_ms(2000)).delta == 3);
}

TEST_CASE("a 32-bit counter wraps only from its last quarter to its first, and only at a possible rate") {
    const CounterLimits limits{.wraps_at = range32, .saturates_at = {}, .max_per_second = 1e6};
    const auto [before, after, event, delta] = GENERATE(table<double, double, CounterEvent, double>({
        {range32 - 100, 50., CounterEvent::wrapped, 150.},
        {range32 - 1e6, 0., CounterEvent::wrapped, 1e6},
        {range32 - 1e6, 1., CounterEvent::reset, 0.},          // faster than the line
        {.74 * range32, 50., CounterEvent::reset, 0.},         // not in the last quarter
        {range32 - 100, .26 * range32, CounterEvent::reset, 0.}, // not in the first
    }));
    Limited counter(limits);
    counter.read(before, at_ms(0));
    const CounterStep step = counter.read(after, at_ms(1000));
    CHECK(step.event == event);
    CHECK(step.delta == delta);
}

TEST_CASE("without a known line rate a fall is never taken for a wrap") {
    Limited counter({.wraps_at = range32, .saturates_at = {}});
    counter.read(range32 - 1, at_ms(0));
    CHECK(counter.read(1, at_ms(1000)).event == CounterEvent::reset);
}

TEST_CASE("readings of the same time, out of order, or after a gap are no traffic") {
    Limited counter({});
    counter.read(100, at_ms(5000));
    CHECK(counter.read(120, at_ms(5000)).event == CounterEvent::duplicate);
    CHECK(counter.read(90, at_ms(4000)).event == CounterEvent::out_of_order);
    CHECK(counter.read(130, at_ms(6000)).delta == 30);
    CHECK(counter.read(140, at_ms(16000)).delta == 10);
    CHECK(counter.read(150, at_ms(26001)).event == CounterEvent::gap);
    CHECK(counter.read(155, at_ms(27001)).delta == 5);
}

TEST_CASE("growth faster than the line is dropped, and counting goes on behind it") {
    Limited counter({.wraps_at = {}, .saturates_at = {}, .max_per_second = 1000});
    counter.read(0, at_ms(0));
    CHECK(counter.read(1000, at_ms(1000)).event == CounterEvent::advanced);
    CHECK(counter.read(1e9, at_ms(2000)).event == CounterEvent::implausible);
    CHECK(counter.read(1e9 + 500, at_ms(3000)).delta == 500);
}

TEST_CASE("an exporter that repeats a value and then jumps is not implausible") {
    Limited counter({.wraps_at = {}, .saturates_at = {}, .max_per_second = 1000});
    counter.read(0, at_ms(0));
    for (int second = 1; second < 8; ++second) CHECK(counter.read(0, at_ms(1000 * second)).delta == 0);
    CHECK(counter.read(8000, at_ms(8000)).delta == 8000);
    for (int second = 9; second < 16; ++second) CHECK(counter.read(8000, at_ms(1000 * second)).delta == 0);
    CHECK(counter.read(16000, at_ms(16000)).delta == 8000);
    CHECK(counter.read(18001, at_ms(17000)).event == CounterEvent::implausible);
}

TEST_CASE("a jump that the line cannot have carried since the last reading is traffic of the time since the value last changed") {
    Limited counter({.wraps_at = {}, .saturates_at = {}, .max_per_second = 1000});
    for (int second = 0; second < 8; ++second) counter.read(0, at_ms(1000 * second));
    const CounterStep jump = counter.read(4000, at_ms(8000));
    CHECK(jump.delta == 4000);
    CHECK(jump.interval == 8s);
    CHECK(counter.read(4500, at_ms(9000)).interval == 1s);
}

TEST_CASE("what begins behind a long silence at a rate that the line can carry is told of the last interval alone") {
    Limited counter({.wraps_at = {}, .saturates_at = {}, .max_per_second = 1000});
    for (int second = 0; second < 8; ++second) counter.read(0, at_ms(1000 * second));
    CHECK(counter.read(900, at_ms(8000)).interval == 1s);
}

TEST_CASE("a snapshot or peak is new only if its time is") {
    Counter counter;
    CHECK(counter.renew(at_ms(0)));
    CHECK_FALSE(counter.renew(at_ms(0)));
    CHECK_FALSE(counter.renew(at_ms(-1)));
    CHECK(counter.renew(at_ms(1)));
}

TEST_CASE("values no counter can have are refused and change nothing") {
    Limited counter({.wraps_at = range32, .saturates_at = {}});
    counter.read(100, at_ms(0));
    for (double bad : {-1.0, range32, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        CHECK(counter.read(bad, at_ms(500)).event == CounterEvent::refused);
    CHECK(counter.read(130, at_ms(1000)).delta == 30);
}

TEST_CASE("a saturated counter is unknown, and starts anew once it has been cleared") {
    Limited counter({.wraps_at = {}, .saturates_at = range32 - 1});
    counter.read(range32 - 500, at_ms(0));
    CHECK(counter.read(range32 - 1, at_ms(1000)).event == CounterEvent::refused);
    CHECK(counter.read(5, at_ms(2000)).event == CounterEvent::first);
    CHECK(counter.read(9, at_ms(3000)).delta == 4);
}

TEST_CASE("the fastest growth follows from the line rate and the smallest frame") {
    CHECK(fastest_growth(Signal::bytes, 100e9) == Approx(13.125e9));
    CHECK(fastest_growth(Signal::packets, 100e9) == Approx(1.05 * 148.8095e6)); // the known 148.8 Mpps of 100 Gbit/s
    CHECK(fastest_growth(Signal::ecn_marked_packets, 100e9) == fastest_growth(Signal::packets, 100e9));
    CHECK(fastest_growth(Signal::queue_depth, 100e9) == 0);
    CHECK(fastest_growth(Signal::bytes, 0) == 0);
}

// A switch that counts, is reset, and is read by an exporter that repeats, swaps and loses readings. The kernel must
// report exactly the traffic of the intervals between the readings it accepted, and none across a reset.
TEST_CASE("over random resets, duplicates, reorderings and gaps the deltas are the traffic of the undropped intervals") {
    CHECK(rc::check("sum of deltas", [] {
        const bool narrow = *rc::gen::arbitrary<bool>();
        const double line = 1e6; // packets/s
        CounterLimits limits{.wraps_at = {}, .saturates_at = {}, .max_per_second = line};
        if (narrow) limits.wraps_at = range32;
        Limited counter(limits);
        double value = *rc::gen::element(0.0, 1e5, .7 * range32, range32 - 3e6, range32 - 2e5);
        std::int64_t now = 0;
        const auto shown = [&] { return narrow ? std::fmod(value, range32) : value; };
        counter.read(shown(), at_ms(0));
        double shown_before = shown();
        double dropped = 0, traffic = 0, counted = 0;
        const int steps = *rc::gen::inRange(1, 60);
        for (int i = 0; i < steps; ++i) {
            const std::int64_t dt = *rc::gen::inRange(100, 3000);
            const double packets = std::floor(line * static_cast<double>(dt) / 1000 * *rc::gen::inRange(0, 101) / 100);
            const int what = *rc::gen::inRange(0, 10);
            now += dt;
            if (what == 0) now += 20'000;
            const bool reset = what == 1 || what == 2;
            // Only a reset near the top of 32 bits looks like a wrap (header); it must stay below the line's rate.
            value = reset ? packets : value + packets;
            traffic += packets;
            const CounterStep step = counter.read(shown(), at_ms(now));
            counted += step.delta;
            RC_ASSERT(step.delta <= line * static_cast<double>(dt) / 1000);
            if (!step.counts()) dropped += packets;
            const bool like_wrap = narrow && shown_before > range32 - line * static_cast<double>(dt) / 1000;
            if (reset && shown() < shown_before && !like_wrap) RC_ASSERT(!step.counts());
            if (step.event == CounterEvent::wrapped && reset) dropped += packets - step.delta; // indistinguishable, bounded above
            if (step.event == CounterEvent::advanced && reset) dropped += packets - step.delta; // outgrew its old value
            if (step.event == CounterEvent::wrapped && !reset) RC_ASSERT(step.delta == packets);
            if (what == 3) RC_ASSERT(!counter.read(shown() + 5, at_ms(now)).counts());
            if (what == 4) RC_ASSERT(!counter.read(shown_before, at_ms(now - dt)).counts());
            shown_before = shown();
        }
        RC_ASSERT(std::abs(counted - (traffic - dropped)) < 1e-6);
    }));
}

// Whatever a broken or hostile exporter shows: any values, at any times, in any order.
TEST_CASE("no sequence of readings makes a rate above what the line can carry") {
    CHECK(rc::check("delta / interval", [] {
        CounterLimits limits{.wraps_at = {}, .saturates_at = {}, .max_per_second = 1e6};
        if (*rc::gen::arbitrary<bool>()) limits.wraps_at = range32;
        if (*rc::gen::arbitrary<bool>()) limits.saturates_at = range32 - 1;
        Counter counter;
        std::int64_t now = 0;
        double value = 0;
        const int steps = *rc::gen::inRange(1, 60);
        for (int i = 0; i < steps; ++i) {
            now += *rc::gen::weightedOneOf<int>({{8, rc::gen::inRange(0, 3000)}, {1, rc::gen::inRange(-5000, 20'000)}});
            switch (*rc::gen::inRange(0, 6)) {
            case 0: value = *rc::gen::element(0.0, 1e5, .7 * range32, range32 - 1, range32 - 2e6, range32 - 10, 1e18, -1.0); break;
            case 1: break; // repeated
            default: value += *rc::gen::inRange(0, 4'000'000);
            }
            const CounterStep step = counter.read(limits, value, at_ms(now));
            RC_ASSERT(step.delta >= 0);
            RC_ASSERT(step.counts() || step.delta == 0);
            const double seconds = std::chrono::duration<double>(step.interval).count();
            RC_ASSERT(step.delta <= limits.max_per_second * seconds * (1 + 1e-12));
        }
    }));
}
