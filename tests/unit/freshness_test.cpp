#include "lib/freshness.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace aegis;
using namespace std::chrono_literals;

TEST_CASE("freshness changes just behind its limits") {
    const FreshnessLimits limits;
    CHECK(freshness_of(-3s, limits) == Freshness::fresh); // the switch's clock runs ahead
    CHECK(freshness_of(5s, limits) == Freshness::fresh);
    CHECK(freshness_of(5001ms, limits) == Freshness::lagged);
    CHECK(freshness_of(60s, limits) == Freshness::lagged);
    CHECK(freshness_of(60001ms, limits) == Freshness::stale);
    CHECK(freshness_of(180s, limits) == Freshness::stale);
    CHECK(freshness_of(180001ms, limits) == Freshness::dark);
}

TEST_CASE("confidence decays with age, has a floor while lagged, and is nothing in the dark") {
    FreshnessLimits limits;
    CHECK(confidence_of(-3s, limits) == 1);
    CHECK(confidence_of(5s, limits) == 1);
    CHECK(confidence_of(45s, limits) == Approx(std::exp(-.5)));
    CHECK(confidence_of(90s, limits) == Approx(std::exp(-1)));
    CHECK(confidence_of(181s, limits) == 0);
    limits.tau = 10s;
    CHECK(confidence_of(60s, limits) == .2);
    CHECK(confidence_of(61s, limits) == Approx(std::exp(-6.1)));
}

TEST_CASE("confidence never grows with age, whatever the limits") {
    for (const auto tau : {1s, 10s, 90s, 600s}) {
        FreshnessLimits limits;
        limits.tau = tau;
        double before = 1;
        for (auto age = 0ms; age < 200s; age += 100ms) {
            const double confidence = confidence_of(age, limits);
            REQUIRE(confidence <= before);
            REQUIRE(confidence >= 0);
            before = confidence;
        }
    }
}
