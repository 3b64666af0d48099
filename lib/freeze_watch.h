// A switch whose counters stand still although it is read: an exporter that repeats what it once knew.
//
// One idle port may stand still for hours. All ports of a switch do not: LLDP alone, sent by every port each 30 s, moves
// their counters. So counters of frames and bytes are watched per switch and source, never per port. Once none of
// them has moved for `limit`, the switch is frozen, and its readings are as old as the last movement - which is
// what freshness is then computed from (control-theory 3.5).
#pragma once

#include "lib/counters.h"

#include <optional>

namespace aegis {

class FreezeWatch {
public:
    // Three LLDP intervals.
    explicit FreezeWatch(std::chrono::microseconds limit = std::chrono::seconds(90)) : limit_(limit) {}

    // Each step of each counter of frames or bytes of the switch, in any order.
    void take(const CounterStep& step, EventTime time);

    bool frozen() const { return moved_ && newest_ - *moved_ > limit_; }
    // The time up to which the readings can be believed; nothing before the first one.
    std::optional<EventTime> event_time() const;

private:
    std::chrono::microseconds limit_;
    std::optional<EventTime> moved_; // the newest reading that differed from the one before it, at first the first one
    EventTime newest_ = EventTime::min();
};

} // namespace aegis
