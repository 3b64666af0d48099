// Time stamps of a switch's monotonic clock, turned into time of day.
//
// syncd stamps each group of counters with nanoseconds of its own steady clock. What lies between that clock and
// ours is unknown, but a stamp is never younger than the poll that brought it: the smallest difference seen bounds
// it from above, and the group that is read most often (ports, each second) makes the bound tight. All groups of a
// switch share the clock, so a group that stands still for an hour is seen to be an hour old at the first poll.
// Steps of our own clock and drift are forgotten after two windows; a stamp that runs backwards is a restart.
#pragma once

#include "lib/sample.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace aegis {

class SonicClock {
public:
    static constexpr std::chrono::seconds window{60};

    // The newest stamp of a poll.
    void observe(EventTime polled_at, std::uint64_t stamp_ns);

    // When this was; never later than the last observation's poll.
    EventTime time_of(std::uint64_t stamp_ns) const;

private:
    std::optional<std::uint64_t> newest_ns_;
    EventTime polled_at_{};
    std::uint64_t window_began_ns_ = 0;
    // Smallest (poll - stamp) of this window and the one before; microseconds.
    std::optional<std::chrono::microseconds> current_, previous_;
};

} // namespace aegis
