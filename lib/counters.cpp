#include "lib/counters.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace aegis {

namespace {

double seconds(std::chrono::microseconds duration) { return std::chrono::duration<double>(duration).count(); }

// Rounded up: what the line may have carried is not to be told too small.
template <class Short> Short at_most(std::chrono::microseconds duration) {
    return Short(static_cast<typename Short::rep>(
        std::min<std::int64_t>(std::chrono::ceil<std::chrono::duration<std::int64_t, typename Short::period>>(duration).count(),
                               std::numeric_limits<typename Short::rep>::max())));
}

} // namespace

double fastest_growth(Signal signal, double rate_bps) {
    constexpr double tolerance = 1.05;   // control-theory 5.1
    constexpr double frame_bytes = 84;   // 64-byte frame, preamble and gap between frames
    const double bytes = tolerance * rate_bps / 8;
    switch (signal) {
    case Signal::bytes: return bytes;
    case Signal::packets:
    case Signal::ecn_marked_packets: return bytes / frame_bytes;
    case Signal::queue_depth:
    case Signal::drops:
    case Signal::pfc_pause:
    case Signal::transmit_wait: return 0;
    }
    return 0;
}

CounterStep Counter::read(const CounterLimits& limits, double value, EventTime time) {
    using std::chrono::microseconds;
    if (limits.saturates_at && value >= *limits.saturates_at) {
        time_ = never; // it stopped counting some time ago; whatever comes next is a fresh start
        return {CounterEvent::refused};
    }
    if (!std::isfinite(value) || value < 0 || (limits.wraps_at && value >= *limits.wraps_at)) return {CounterEvent::refused};

    const auto reseed = [&](CounterEvent event) {
        value_ = value;
        time_ = time;
        unchanged_ = Unchanged{0};
        return CounterStep{event};
    };
    if (time_ == never) return reseed(CounterEvent::first);
    if (time == time_) return {CounterEvent::duplicate};
    if (time < time_) return {CounterEvent::out_of_order};
    const microseconds interval = time - time_;
    if (interval > limits.longest_interval) return reseed(CounterEvent::gap);

    const microseconds since_change = interval + unchanged_;
    const auto count = [&](CounterEvent event, double delta) {
        value_ = value;
        time_ = time;
        unchanged_ = at_most<Unchanged>(delta == 0 ? since_change : interval);
        const bool behind_repeats = limits.max_per_second > 0 && delta > limits.max_per_second * seconds(interval);
        return CounterStep{event, delta, behind_repeats ? since_change : interval};
    };
    if (value < value_) {
        if (!limits.wraps_at) return reseed(CounterEvent::reset);
        const double range = *limits.wraps_at;
        const double delta = range - value_ + value;
        const bool wrapped = value_ > 0.75 * range && value < 0.25 * range && delta <= limits.max_per_second * seconds(interval);
        return wrapped ? count(CounterEvent::wrapped, delta) : reseed(CounterEvent::reset);
    }
    const double delta = value - value_;
    if (limits.max_per_second > 0 && delta > limits.max_per_second * seconds(since_change)) return reseed(CounterEvent::implausible);
    return count(CounterEvent::advanced, delta);
}

bool Counter::renew(EventTime time) {
    if (time <= time_) return false;
    time_ = time;
    return true;
}

std::string_view to_string(CounterEvent event) {
    switch (event) {
    case CounterEvent::first: return "first";
    case CounterEvent::advanced: return "advanced";
    case CounterEvent::wrapped: return "wrapped";
    case CounterEvent::reset: return "reset";
    case CounterEvent::duplicate: return "duplicate";
    case CounterEvent::out_of_order: return "out_of_order";
    case CounterEvent::gap: return "gap";
    case CounterEvent::implausible: return "implausible";
    case CounterEvent::refused: return "refused";
    }
    return {};
}

} // namespace aegis
