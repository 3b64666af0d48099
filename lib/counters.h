// The counter kernel: what two readings of a counter say of the traffic between them (control-theory 5.1).
//
// A reset drops the interval and starts anew from the new value; it never looks like traffic.
// A 32-bit counter has wrapped only if it was in the last quarter, is now in the first, and the rate
// this implies is possible; else, and where the possible rate is unknown, it was reset. Duplicates and readings
// out of order are dropped.
//
// An exporter that polls the switch slower than we poll it repeats a value and then jumps. What the line can carry is
// therefore counted from the newest reading with another value. A jump that the line cannot have carried since the last reading is
// traffic of all the time since then, evenly: told of a shorter time, a calm link behind an exporter that caches would look full.
//
// What cannot be told apart: a 32-bit counter that is reset within one interval's worth of line rate below 2^32.
// It yields at most that interval's worth of traffic.
#pragma once

#include "lib/sample.h"

#include <optional>
#include <string_view>

namespace aegis {

enum class CounterEvent : std::uint8_t {
    first,        // nothing to compare with yet
    advanced,     // `delta` over `interval` is traffic
    wrapped,      // the same, after a wrap
    reset,        // smaller than before and no wrap: interval dropped, reseeded
    duplicate,    // same time as before: dropped
    out_of_order, // older than the newest reading: dropped
    gap,          // more than the longest credible interval since the last reading: dropped, reseeded
    implausible,  // faster than the line can be: dropped, reseeded
    refused,      // negative, not finite, beyond the counter's range, or the value a saturated counter stops at
};

struct CounterStep {
    CounterEvent event = CounterEvent::first;
    double delta = 0;                                        // only with advanced and wrapped
    std::chrono::microseconds interval{0};                   // only with advanced and wrapped; the line can carry delta in it
    bool counts() const { return event == CounterEvent::advanced || event == CounterEvent::wrapped; }
};

struct CounterLimits {
    std::optional<double> wraps_at;     // 2^32, or absent
    std::optional<double> saturates_at; // a value that means "no more", e.g. 2^32-1
    double max_per_second = 0;          // fastest possible growth, 0: unknown
    std::chrono::microseconds longest_interval{10'000'000};

    bool operator==(const CounterLimits&) const = default;
};

// Fastest growth of a counter of this signal on a link of this rate, with 5 % for clocks that differ; 0 where
// the rate is 0 (unknown) or the line sets no limit. A frame takes at least 84 bytes of the wire.
double fastest_growth(Signal signal, double rate_bps);

// What is remembered of one series between its readings. There may be millions: 18 bytes, and the limits, which many share,
// come with each reading.
class Counter {
public:
    CounterStep read(const CounterLimits& limits, double value, EventTime time);
    // Of a series that is no counter: false for a reading that is no newer than the last one.
    bool renew(EventTime time);

private:
    static constexpr EventTime never = EventTime::min();

    double value_ = 0;
    EventTime time_ = never;
    // Since the newest reading with another value, counted back from time_; at most 655 s are told apart.
    using Unchanged = std::chrono::duration<std::uint16_t, std::centi>;
    Unchanged unchanged_{0};
};

std::string_view to_string(CounterEvent event);

} // namespace aegis
