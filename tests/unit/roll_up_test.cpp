#include "lib/roll_up.h"

#include <catch2/catch.hpp>
#include <map>
#include <rapidcheck.h>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

const EventTime noon{1'700'000'000s};

std::optional<std::int64_t> any_amount(std::int64_t most) {
    if (*rc::gen::inRange(0, 4) == 0) return std::nullopt;
    return *rc::gen::inRange<std::int64_t>(0, most);
}

RollUp any_roll_up() {
    RollUp any;
    any.covered_us = *rc::gen::inRange(0, 10'000'000);
    any.bytes = any_amount(1'000'000'000'000);
    any.packets = any_amount(1'000'000'000);
    any.marked_packets = any_amount(100);
    any.drops = any_amount(3);
    any.peak_bytes = any_amount(1'000'000);
    if (*rc::gen::arbitrary<bool>()) any.depth_bytes = Gauge::of(*rc::gen::inRange(0, 1000));
    if (*rc::gen::arbitrary<bool>()) any.pressure = Gauge::of(*rc::gen::inRange(0, 5) / 4.0);
    return any;
}

} // namespace

TEST_CASE("what was never read stays missing, and a zero that was read is a zero") {
    RollUp a, b;
    a.bytes = 0;
    b.packets = 7;
    merge(a, b);
    CHECK(a.bytes == 0);
    CHECK(a.packets == 7);
    CHECK_FALSE(a.marked_packets);
    CHECK_FALSE(a.peak_bytes);
    CHECK_FALSE(a.depth_bytes.mean());
}

TEST_CASE("peaks and snapshots are kept apart") {
    RollUp peak, snapshot;
    peak.peak_bytes = 300'000;
    snapshot.depth_bytes = Gauge::of(100);
    merge(peak, snapshot);
    RollUp more;
    more.peak_bytes = 200;
    more.depth_bytes = Gauge::of(300);
    merge(peak, more);
    CHECK(peak.peak_bytes == 300'000);
    CHECK(peak.depth_bytes.max() == 300);
    CHECK(peak.depth_bytes.mean() == 200);
}

TEST_CASE("merging gives the sums and largest values of all that was merged") {
    CHECK(rc::check("against a loop over each field", [] {
        std::vector<RollUp> parts;
        const int count = *rc::gen::inRange(1, 12);
        for (int i = 0; i < count; ++i) parts.push_back(any_roll_up());
        RollUp merged;
        for (const RollUp& part : parts) merge(merged, part);
        for (const auto counter : roll_up_counters) {
            std::int64_t sum = 0;
            bool any = false;
            for (const RollUp& part : parts)
                if (part.*counter) {
                    any = true;
                    sum += *(part.*counter);
                }
            RC_ASSERT((merged.*counter).has_value() == any);
            if (any) RC_ASSERT(*(merged.*counter) == sum);
        }
        std::int64_t peak = -1;
        for (const RollUp& part : parts) peak = std::max(peak, part.peak_bytes.value_or(-1));
        RC_ASSERT(merged.peak_bytes.value_or(-1) == peak);
        double largest = -1, sum = 0;
        for (const RollUp& part : parts)
            if (part.pressure.count) {
                largest = std::max(largest, part.pressure.largest);
                sum += part.pressure.sum;
            }
        RC_ASSERT(merged.pressure.max().value_or(-1) == largest);
        RC_ASSERT(merged.pressure.sum == sum); // quarters are exact
        // and in whatever order
        RollUp other_way;
        for (auto part = parts.rbegin(); part != parts.rend(); ++part) merge(other_way, *part);
        RC_ASSERT(other_way == merged);
    }));
}

TEST_CASE("ten seconds of a counter are cut into even seconds") {
    RollUp whole;
    whole.packets = 1003;
    whole.covered_us = 10'000'000;
    whole.peak_bytes = 5;
    std::vector<std::int64_t> packets;
    std::vector<std::optional<std::int64_t>> peaks;
    cut(whole, noon, noon + 10s, 1s, [&](std::int64_t start, const RollUp& part) {
        CHECK(start == 1'700'000'000 + static_cast<std::int64_t>(packets.size()));
        CHECK(part.covered_us == 1'000'000);
        packets.push_back(*part.packets);
        peaks.push_back(part.peak_bytes);
    });
    CHECK(packets == std::vector<std::int64_t>{100, 100, 100, 101, 100, 100, 101, 100, 100, 101});
    CHECK(peaks.front() == std::nullopt);
    CHECK(peaks.back() == 5);
}

TEST_CASE("what has no length is where it ended") {
    RollUp whole;
    whole.bytes = 9;
    int parts = 0;
    cut(whole, noon + 3s, noon + 3s, 10s, [&](std::int64_t start, const RollUp& part) {
        ++parts;
        CHECK(start == 1'700'000'000);
        CHECK(part == whole);
    });
    CHECK(parts == 1);
}

TEST_CASE("parts add up to the whole exactly, each within its stretch and near its share") {
    CHECK(rc::check("against the share of the overlap", [] {
        const RollUp whole = any_roll_up();
        const EventTime from = noon + std::chrono::microseconds(*rc::gen::inRange(0, 20'000'000));
        const std::chrono::microseconds length{*rc::gen::inRange(1, 25'000'000)};
        const std::chrono::seconds width{*rc::gen::element(1, 10, 300)};
        const EventTime to = from + length;
        RollUp together;
        std::int64_t next = INT64_MIN;
        cut(whole, from, to, width, [&](std::int64_t start_s, const RollUp& part) {
            RC_ASSERT(start_s % width.count() == 0);
            RC_ASSERT(start_s >= next);
            next = start_s + width.count();
            const EventTime start{std::chrono::seconds(start_s)};
            const auto overlap = std::min(to, EventTime(start + width)) - std::max(from, start);
            RC_ASSERT(overlap.count() > 0);
            for (const auto counter : roll_up_counters) {
                RC_ASSERT((part.*counter).has_value() == (whole.*counter).has_value());
                if (!(whole.*counter)) continue;
                const double share = static_cast<double>(*(whole.*counter)) * static_cast<double>(overlap.count()) / static_cast<double>(length.count());
                RC_ASSERT(*(part.*counter) >= 0);
                RC_ASSERT(std::abs(static_cast<double>(*(part.*counter)) - share) <= 1.001);
            }
            merge(together, part);
        });
        RC_ASSERT(together == whole);
    }));
}
