#include "lib/quantity.h"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace aegis;
using namespace std::chrono_literals;

TEST_CASE("durations carry a unit and may have decimals") {
    CHECK(duration_from("2ms") == 2ms);
    CHECK(duration_from("0.5ms") == 500us);
    CHECK(duration_from("1.5s") == 1500ms);
    CHECK(duration_from("3m") == 3min);
    CHECK(duration_from("2h") == 2h);
    CHECK(duration_from("1d") == 24h);
    CHECK(duration_from("0s") == 0us);
}

TEST_CASE("sizes are decimal or binary as the unit says") {
    CHECK(size_from("184320B") == 184'320u);
    CHECK(size_from("180KiB") == 184'320u);
    CHECK(size_from("300KB") == 300'000u);
    CHECK(size_from("1.5MiB") == 1'572'864u);
    CHECK(size_from("1GB") == 1'000'000'000u);
}

TEST_CASE("rates are in bits per second, shares in parts of one") {
    CHECK(rate_from("100Gbit") == 1e11);
    CHECK(rate_from("2.5Gbit") == 2.5e9);
    CHECK(share_from("2%") == 0.02);
    CHECK(share_from("0.02") == 0.02);
}

TEST_CASE("what is not a number with a known unit is nothing") {
    for (const char* text : {"", "5", "ms", "2 ms", " 2ms", "2ms ", "-2ms", "+2ms", "2MS", "2minutes", "1e3ms", "infs", "nans", ".5s", "5.s",
                             "1m30s", "1,5s", "0x10s", "999999999999999999d"})
        CHECK_FALSE(duration_from(text).has_value());
    for (const char* text : {"5", "5K", "5kB", "5Kb", "B", "-1B", "99999999999GB"}) CHECK_FALSE(size_from(text).has_value());
    for (const char* text : {"100", "100G", "100Gb", "100GBit"}) CHECK_FALSE(rate_from(text).has_value());
    for (const char* text : {"", "%", "2 %", "2%%", "two", "-2%", "2permille"}) CHECK_FALSE(share_from(text).has_value());
}

TEST_CASE("what is written reads back as the same quantity") {
    CHECK(duration_text(90s) == "90s");
    CHECK(duration_text(180s) == "3m");
    CHECK(duration_text(0us) == "0us");
    CHECK(size_text(184'320) == "180KiB");
    CHECK(size_text(300'000) == "300KB");
    CHECK(rate_text(1e11) == "100Gbit");
    CHECK(share_text(0.07) == "7%");
    CHECK(rc::check("durations and sizes survive the round trip", [] {
        auto number = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000);
        RC_ASSERT(duration_from(duration_text(std::chrono::microseconds(number))) == std::chrono::microseconds(number));
        auto bytes = static_cast<std::uint64_t>(number);
        RC_ASSERT(size_from(size_text(bytes)) == bytes);
        RC_ASSERT(rate_from(rate_text(static_cast<double>(number))) == static_cast<double>(number));
    }));
}
