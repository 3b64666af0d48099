// What a telemetry source delivers: readings of series, and how each series is to be understood.
//
// Missing is never zero: a source that has no value for a series delivers no reading of it.
// Kind and unit come from the site's mapping, never from what the exporter says of itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace aegis {

using EventTime = std::chrono::sys_time<std::chrono::microseconds>;

enum class Signal : std::uint8_t {
    queue_depth,        // bytes
    ecn_marked_packets, // packets
    packets,            // packets
    bytes,              // bytes
    drops,              // packets
    pfc_pause,          // frames
    transmit_wait,      // ticks of the device (InfiniBand)
};

enum class Kind : std::uint8_t {
    counter,  // only grows, but for resets and wraps
    snapshot, // the value at the moment of reading
    peak,     // the largest value since the last reading
};

// One line of the site's mapping, applied to one labelled time series.
struct Series {
    std::string source; // the [[source]] it comes from
    std::string sw;     // switch and port as telemetry names them
    std::string port;
    std::optional<unsigned> queue;
    Signal signal{};
    Kind kind{};
    std::optional<double> wraps_at; // 2^32 for a 32-bit counter; absent for 64 bits

    bool operator==(const Series&) const = default;
};

enum class SeriesIndex : std::uint32_t {}; // per source, in the order of announcement

struct Reading {
    SeriesIndex series{};
    double value{}; // finite, in the signal's unit. A double loses the low bits above 2^53: harmless for rates
    EventTime time{};
};

// What one poll of a source brought. Immutable once handed over.
struct Batch {
    std::string source;
    EventTime polled_at{};
    std::optional<std::string> failure; // why there are no readings; plain words for the operator
    std::vector<Series> announced;      // series seen for the first time; indices go on counting
    std::vector<Reading> readings;
    std::uint64_t refused = 0; // samples that matched the mapping but had an unusable value
};

} // namespace aegis
