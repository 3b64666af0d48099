#include "lib/second_bins.h"

#include <catch2/catch.hpp>
#include <map>
#include <rapidcheck.h>

using namespace aegis;

namespace {

RollUp bytes(std::int64_t amount) {
    RollUp part;
    part.bytes = amount;
    return part;
}

bool near(std::int64_t value, std::int64_t truth) { return std::abs(value - truth) <= .0006 * static_cast<double>(truth) + .5; }

} // namespace

TEST_CASE("a second keeps what was added to it, zero exactly and missing as missing") {
    SecondBins bins;
    CHECK_FALSE(bins.newest());
    CHECK(bins.at(5) == RollUp{});
    RollUp part = bytes(0);
    part.packets = 123'456'789;
    part.pressure = Gauge::of(.5);
    bins.add(1000, part);
    CHECK(bins.newest() == 1000);
    CHECK(bins.at(1000).bytes == 0);
    CHECK(near(*bins.at(1000).packets, 123'456'789));
    CHECK_FALSE(bins.at(1000).marked_packets);
    CHECK(bins.at(1000).pressure.max() == .5);
    CHECK(bins.at(999) == RollUp{});
    CHECK(bins.at(1001) == RollUp{});
}

TEST_CASE("the depth of a second is a peak if one was delivered, else a snapshot, and says which") {
    SecondBins bins;
    RollUp peak, snapshot;
    peak.peak_bytes = 10'000;
    snapshot.depth_bytes = Gauge::of(90'000);
    bins.add(1, snapshot);
    CHECK(near(static_cast<std::int64_t>(*bins.at(1).depth_bytes.max()), 90'000));
    CHECK_FALSE(bins.at(1).peak_bytes);
    bins.add(1, peak);
    bins.add(1, snapshot);
    CHECK(near(*bins.at(1).peak_bytes, 10'000));
    CHECK_FALSE(bins.at(1).depth_bytes.max());
}

TEST_CASE("seconds that passed without a reading are missing, not what stood there ten minutes before") {
    SecondBins bins;
    for (int second = 0; second < 600; ++second) bins.add(second, bytes(7));
    bins.add(700, bytes(9));
    CHECK(bins.at(100) == RollUp{}); // 600 seconds before the newest
    CHECK(bins.at(101).bytes == 7);
    CHECK(bins.at(650) == RollUp{});
    CHECK(bins.at(700).bytes == 9);
    bins.add(50, bytes(1)); // too late
    CHECK(bins.at(650) == RollUp{});
    bins.add(100'000, bytes(3));
    CHECK(bins.at(100'000).bytes == 3);
    CHECK(bins.at(99'999) == RollUp{});
}

TEST_CASE("in any order, ten minutes of bins are those of a map") {
    CHECK(rc::check("against a map", [] {
        SecondBins bins;
        std::map<std::int64_t, std::int64_t> model;
        std::int64_t newest = -1;
        std::int64_t now = 1'700'000'000;
        const int steps = *rc::gen::inRange(1, 80);
        for (int i = 0; i < steps; ++i) {
            now += *rc::gen::weightedOneOf<int>({{8, rc::gen::inRange(0, 3)}, {2, rc::gen::inRange(-700, 900)}});
            const std::int64_t amount = *rc::gen::inRange<std::int64_t>(0, 50'000'000'000);
            bins.add(now, bytes(amount));
            if (now > newest - 600) model[now] += amount;
            newest = std::max(newest, now);
        }
        for (std::int64_t second = newest - 700; second <= newest + 1; ++second) {
            const auto known = second > newest - 600 ? model.find(second) : model.end();
            RC_ASSERT(bins.at(second).bytes.has_value() == (known != model.end()));
            // each part that is added rounds once
            if (known != model.end()) RC_ASSERT(std::abs(static_cast<double>(*bins.at(second).bytes - known->second)) <= .003 * static_cast<double>(known->second) + 80);
        }
    }));
}
