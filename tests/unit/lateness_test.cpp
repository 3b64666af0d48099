#include "lib/lateness.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <rapidcheck.h>
#include <vector>

using namespace aegis;
using std::chrono::microseconds;

TEST_CASE("nothing measured is no quantile") {
    const auto summary = Lateness().summary();
    CHECK(summary.count == 0);
    CHECK(summary.window == 0);
}

TEST_CASE("one very late tick is the largest for ever, but leaves the quantiles when its window is over") {
    Lateness lateness;
    lateness.add(microseconds(90'000));
    for (std::size_t i = 0; i < Lateness::window_size - 1; ++i) lateness.add(microseconds(100));
    CHECK(lateness.summary().largest_of_window.count() == 90'000);
    CHECK(lateness.summary().p99.count() == 100);
    lateness.add(microseconds(100));
    CHECK(lateness.summary().largest_of_window.count() == 100);
    CHECK(lateness.summary().largest.count() == 90'000);
    CHECK(lateness.summary().count == Lateness::window_size + 1);
}

TEST_CASE("quantiles are those of the newest values, by nearest rank") {
    CHECK(rc::check("nearest rank", [](std::vector<std::uint32_t> values) {
        Lateness lateness;
        for (std::uint32_t value : values) lateness.add(microseconds(value));
        if (values.empty()) return;
        std::vector<std::uint32_t> newest(values.end() - static_cast<std::ptrdiff_t>(std::min(values.size(), Lateness::window_size)), values.end());
        const auto at_least = [&](double share, microseconds bound) { // the smallest value with that share at or below it
            const auto below = [&](std::int64_t limit) {
                return static_cast<double>(std::count_if(newest.begin(), newest.end(), [&](auto v) { return v <= limit; }));
            };
            const double needed = std::ceil(share * static_cast<double>(newest.size()) - 1e-9);
            return below(bound.count()) >= needed && below(bound.count() - 1) < needed;
        };
        const auto summary = lateness.summary();
        RC_ASSERT(summary.window == newest.size());
        RC_ASSERT(at_least(0.5, summary.p50));
        RC_ASSERT(at_least(0.99, summary.p99));
        RC_ASSERT(summary.largest_of_window.count() == *std::max_element(newest.begin(), newest.end()));
    }));
}
