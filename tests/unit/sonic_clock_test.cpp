#include "lib/sonic_clock.h"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

constexpr EventTime start{std::chrono::microseconds{1'800'000'000'000'000}};
constexpr std::uint64_t second = 1'000'000'000;

} // namespace

TEST_CASE("before any stamp is known the time of a stamp is the time of the poll") {
    CHECK(SonicClock{}.time_of(5 * second) == EventTime{});
}

TEST_CASE("a stamp an hour older than the newest is an hour old, at the first poll already") {
    SonicClock clock;
    clock.observe(start, 9000 * second);
    CHECK(clock.time_of(9000 * second) == start);
    CHECK(clock.time_of(5400 * second) == start - 1h);
}

TEST_CASE("the poll that came soonest after its stamp tightens the times of all") {
    SonicClock clock;
    clock.observe(start, 100 * second);              // perhaps 900 ms late
    clock.observe(start + 1100ms, 102 * second);     // 900 ms less late
    CHECK(clock.time_of(102 * second) == start + 1100ms);
    CHECK(clock.time_of(100 * second) == start - 900ms);
}

TEST_CASE("a repeated stamp does not make old values young") {
    SonicClock clock;
    clock.observe(start, 100 * second);
    for (int i = 1; i <= 600; ++i) clock.observe(start + i * 1s, 100 * second);
    CHECK(clock.time_of(100 * second) == start);
}

TEST_CASE("after a restart of the switch its clock is learned anew") {
    SonicClock clock;
    clock.observe(start, 9000 * second);
    clock.observe(start + 300s, 12 * second);
    CHECK(clock.time_of(12 * second) == start + 300s);
}

TEST_CASE("a step of our own clock by ten minutes is forgotten after two windows") {
    SonicClock clock;
    for (int i = 0; i < 100; ++i) clock.observe(start + i * 1s, (1000 + i) * second);
    for (int i = 100; i < 250; ++i) clock.observe(start + 600s + i * 1s, (1000 + i) * second);
    CHECK(clock.time_of(1249 * second) == start + 600s + 249s);
    // backwards the first poll tells
    clock.observe(start + 250s, 1250 * second);
    CHECK(clock.time_of(1250 * second) == start + 250s);
}

TEST_CASE("a stamp is dated within the poll delay of the truth and never after the poll") {
    CHECK(rc::check("bounded error", [] {
        SonicClock clock;
        const auto boot = start - 5000s;
        auto now = start;
        for (int i = 0; i < 50; ++i) {
            now += std::chrono::microseconds(*rc::gen::inRange(200'000, 3'000'000));
            const auto delay = std::chrono::microseconds(*rc::gen::inRange(0, 900'000));
            const auto stamp = static_cast<std::uint64_t>((now - delay - boot).count()) * 1000;
            clock.observe(now, stamp);
            RC_ASSERT(clock.time_of(stamp) <= now);
            RC_ASSERT(clock.time_of(stamp) >= now - delay);
        }
    }));
}
