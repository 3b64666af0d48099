// What one link did in a stretch of time, so that stretches can be joined and cut without losing or inventing anything.
//
// Counters are exact sums of whole packets, bytes, frames or ticks. Missing is never zero: a sum exists once one reading was part of
// it. A peak is the largest value between two readings, a snapshot the value at the moment of one; the two are kept apart.
#pragma once

#include "lib/sample.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>

namespace aegis {

// A quantity that was looked at `count` times; nothing is known of it when count is 0.
struct Gauge {
    std::int64_t count = 0;
    double sum = 0, largest = 0;

    static Gauge of(double value) { return {1, value, value}; }
    std::optional<double> mean() const { return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt; }
    std::optional<double> max() const { return count > 0 ? std::optional(largest) : std::nullopt; }
    bool operator==(const Gauge&) const = default;
};

struct RollUp {
    std::int64_t covered_us = 0; // how long its counters were watched
    std::optional<std::int64_t> bytes, packets, marked_packets, drops, pauses, waits;
    std::optional<std::int64_t> peak_bytes; // the largest peak of queue depth
    Gauge depth_bytes;                      // snapshots of queue depth, of the deepest queue
    Gauge pressure;                         // 0 to 1

    bool operator==(const RollUp&) const = default;
};

// The counters, to do something with each.
inline constexpr std::optional<std::int64_t> RollUp::*roll_up_counters[] = {&RollUp::bytes, &RollUp::packets, &RollUp::marked_packets,
                                                                          &RollUp::drops, &RollUp::pauses, &RollUp::waits};

// Adds to a sum that may not exist yet; to a maximum likewise.
void add(std::optional<std::int64_t>& sum, std::int64_t amount);
void raise(std::optional<std::int64_t>& largest, std::int64_t value);

// `into` becomes what it and `other` are together. Associative and commutative, but for the rounding of the gauges' sums.
void merge(RollUp& into, const RollUp& other);

// Cuts `whole`, which happened evenly in [from, to), at multiples of `width` and hands over each part with its start, in seconds
// since the epoch, oldest first. The parts' counters add up to the whole exactly; peak and gauges, which are as of `to`, are in
// the last part. from >= to: all of it is at `to`.
void cut(const RollUp& whole, EventTime from, EventTime to, std::chrono::seconds width,
         const std::function<void(std::int64_t start_s, const RollUp& part)>& each);

} // namespace aegis
