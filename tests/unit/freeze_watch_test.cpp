#include "lib/freeze_watch.h"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

constexpr EventTime noon{std::chrono::microseconds{1'800'000'000'000'000}};

// A switch of two ports, read each second.
struct Switch {
    CounterLimits limits;
    Counter a, b;
    FreezeWatch watch;
    void read(double value_a, double value_b, EventTime time) {
        watch.take(a.read(limits, value_a, time), time);
        watch.take(b.read(limits, value_b, time), time);
    }
};

} // namespace

TEST_CASE("before anything was read there is nothing to believe") { CHECK_FALSE(FreezeWatch().event_time()); }

TEST_CASE("one busy port keeps its idle neighbour believable") {
    Switch sw;
    for (int s = 0; s <= 600; ++s) sw.read(s, 5, noon + s * 1s);
    CHECK_FALSE(sw.watch.frozen());
    CHECK(sw.watch.event_time() == noon + 600s);
}

TEST_CASE("a switch that repeats all its counters is as old as their last movement") {
    Switch sw;
    for (int s = 0; s <= 10; ++s) sw.read(s, s, noon + s * 1s);
    for (int s = 11; s <= 100; ++s) sw.read(10, 10, noon + s * 1s);
    CHECK_FALSE(sw.watch.frozen()); // 90 s: perhaps only idle
    CHECK(sw.watch.event_time() == noon + 100s);
    sw.read(10, 10, noon + 101s);
    CHECK(sw.watch.frozen());
    CHECK(sw.watch.event_time() == noon + 10s);
    sw.read(10, 11, noon + 102s);
    CHECK_FALSE(sw.watch.frozen());
    CHECK(sw.watch.event_time() == noon + 102s);
}

TEST_CASE("a switch that was frozen from the first reading on is found out too") {
    Switch sw;
    for (int s = 0; s <= 91; ++s) sw.read(7, 7, noon + s * 1s);
    CHECK(sw.watch.event_time() == noon);
}

TEST_CASE("a reset is a movement, late and repeated readings are none") {
    FreezeWatch watch;
    watch.take({CounterEvent::first}, noon);
    watch.take({CounterEvent::duplicate}, noon + 200s);
    watch.take({CounterEvent::out_of_order}, noon + 200s);
    watch.take({CounterEvent::refused}, noon + 200s);
    CHECK(watch.event_time() == noon);
    watch.take({CounterEvent::reset}, noon + 300s);
    CHECK(watch.event_time() == noon + 300s);
}

TEST_CASE("whatever comes in whatever order, the time believed never lies after the newest reading") {
    CHECK(rc::check("bounded", [] {
        FreezeWatch watch;
        auto newest = noon;
        watch.take({CounterEvent::first}, noon); // as every counter begins
        for (int i = 0; i < 40; ++i) {
            const auto time = noon + std::chrono::seconds(*rc::gen::inRange(0, 500));
            CounterStep step;
            step.event = *rc::gen::element(CounterEvent::first, CounterEvent::advanced, CounterEvent::reset, CounterEvent::gap);
            step.delta = *rc::gen::element(0.0, 1.0);
            watch.take(step, time);
            newest = std::max(newest, time);
            RC_ASSERT(watch.event_time() <= newest);
            RC_ASSERT(watch.frozen() || watch.event_time() == newest);
        }
    }));
}
