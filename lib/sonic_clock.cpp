#include "lib/sonic_clock.h"

#include <algorithm>

namespace aegis {

namespace {

std::chrono::microseconds since_boot(std::uint64_t stamp_ns) {
    return std::chrono::microseconds(static_cast<std::int64_t>(stamp_ns / 1000));
}

} // namespace

void SonicClock::observe(EventTime polled_at, std::uint64_t stamp_ns) {
    polled_at_ = polled_at;
    if (newest_ns_ == stamp_ns) return; // nothing was read anew: says nothing of the clocks
    const auto difference = polled_at.time_since_epoch() - since_boot(stamp_ns);
    if (!newest_ns_ || stamp_ns < *newest_ns_) {
        current_ = difference;
        previous_.reset();
        window_began_ns_ = stamp_ns;
    } else if (std::chrono::nanoseconds(stamp_ns - window_began_ns_) > window) {
        previous_ = current_;
        current_ = difference;
        window_began_ns_ = stamp_ns;
    } else {
        current_ = std::min(*current_, difference);
    }
    newest_ns_ = stamp_ns;
}

EventTime SonicClock::time_of(std::uint64_t stamp_ns) const {
    if (!current_) return polled_at_;
    const auto offset = previous_ ? std::min(*current_, *previous_) : *current_;
    return std::min(EventTime(since_boot(stamp_ns) + offset), polled_at_);
}

} // namespace aegis
