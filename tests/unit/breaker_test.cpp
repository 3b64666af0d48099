#include "plugin/breaker.h"

#include <catch2/catch.hpp>
#include <vector>

namespace {

constexpr std::uint64_t s = 1000000; // the breaker counts microseconds

breaker opened(std::uint64_t now) {
    breaker b{};
    for (int i = 0; i < BREAKER_MISSES; i++) breaker_miss(&b, now);
    return b;
}

} // namespace

TEST_CASE("breaker: two misses and a hit leave it closed, three in a row open it") {
    breaker b{};
    for (int round = 0; round < 5; round++) {
        CHECK(breaker_allow(&b, 0));
        CHECK_FALSE(breaker_miss(&b, 0));
        CHECK(breaker_allow(&b, 0));
        CHECK_FALSE(breaker_miss(&b, 0));
        CHECK(breaker_allow(&b, 0));
        breaker_hit(&b);
    }
    CHECK_FALSE(breaker_miss(&b, 0));
    CHECK_FALSE(breaker_miss(&b, 0));
    CHECK(breaker_miss(&b, 0));
    CHECK(breaker_is_open(&b));
    CHECK_FALSE(breaker_allow(&b, 0));
}

TEST_CASE("breaker: it stays open for 5 s, then lets one probe through and no second one") {
    breaker b = opened(10 * s);
    CHECK_FALSE(breaker_allow(&b, 15 * s - 1));
    CHECK(breaker_would_allow(&b, 15 * s));
    CHECK(breaker_allow(&b, 15 * s));
    CHECK_FALSE(breaker_would_allow(&b, 16 * s));
    CHECK_FALSE(breaker_allow(&b, 16 * s));
    CHECK(breaker_is_open(&b));
}

TEST_CASE("breaker: a probe that hits closes it, and the next wait is short again") {
    breaker b = opened(0);
    CHECK(breaker_allow(&b, 5 * s));
    CHECK(breaker_miss(&b, 5 * s));
    CHECK(b.wait_ms == 10000);
    CHECK(breaker_allow(&b, 15 * s));
    breaker_hit(&b);
    CHECK_FALSE(breaker_is_open(&b));
    CHECK(breaker_allow(&b, 15 * s));
    b = opened(20 * s);
    CHECK(b.wait_ms == 5000);
}

TEST_CASE("breaker: each probe that misses doubles the wait, up to a minute") {
    breaker b = opened(0);
    std::vector<unsigned> waits{b.wait_ms};
    std::uint64_t now = 0;
    for (int i = 0; i < 6; i++) {
        now = b.until_us;
        REQUIRE(breaker_allow(&b, now));
        CHECK(breaker_miss(&b, now));
        waits.push_back(b.wait_ms);
        CHECK(b.until_us == now + b.wait_ms * 1000ull);
    }
    CHECK(waits == std::vector<unsigned>{5000, 10000, 20000, 40000, 60000, 60000, 60000});
}

TEST_CASE("breaker: a new aegisd gets its probe at once, but is not trusted before it hits") {
    breaker b = opened(0);
    breaker_end_wait(&b, 1 * s);
    CHECK(breaker_is_open(&b));
    CHECK(breaker_allow(&b, 1 * s));
    CHECK_FALSE(breaker_allow(&b, 1 * s));
    CHECK(breaker_miss(&b, 1 * s));
    CHECK(b.wait_ms == 10000);
}

TEST_CASE("breaker: one trip is as good as three misses, and doubles an open one's wait once") {
    breaker b{};
    breaker_trip(&b, 0);
    CHECK(b.wait_ms == 5000);
    CHECK_FALSE(breaker_allow(&b, 5 * s - 1));
    CHECK(breaker_allow(&b, 5 * s));
    breaker_trip(&b, 5 * s);
    CHECK(b.wait_ms == 10000);
}
