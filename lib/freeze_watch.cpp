#include "lib/freeze_watch.h"

#include <algorithm>

namespace aegis {

void FreezeWatch::take(const CounterStep& step, EventTime time) {
    const auto moved = [&] { moved_ = moved_ ? std::max(*moved_, time) : time; };
    switch (step.event) {
    case CounterEvent::duplicate:
    case CounterEvent::out_of_order:
    case CounterEvent::refused: return; // says nothing new
    case CounterEvent::first:           // of one counter more: neither moves nor proves standing still
        if (!moved_) moved();
        break;
    case CounterEvent::advanced:
        if (step.delta > 0) moved();
        break;
    case CounterEvent::wrapped:
    case CounterEvent::reset:
    case CounterEvent::gap: // the values on both sides of a gap are not compared: the benefit of the doubt
    case CounterEvent::implausible: moved(); break;
    }
    newest_ = std::max(newest_, time);
}

std::optional<EventTime> FreezeWatch::event_time() const {
    if (!moved_) return std::nullopt;
    return frozen() ? *moved_ : newest_;
}

} // namespace aegis
