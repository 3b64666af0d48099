#include "lib/counters.h"

#include <cmath>

namespace aegis {

namespace {

double seconds(std::chrono::microseconds duration) { return std::chrono::duration<double>(duration).count(); }

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

CounterStep Counter::read(double value, EventTime time) {
    if (limits_.saturates_at && value >= *limits_.saturates_at) {
        last_.reset(); // it stopped counting some time ago; whatever comes next is a fresh start
        return {CounterEvent::refused};
    }
    if (!std::isfinite(value) || value < 0 || (limits_.wraps_at && value >= *limits_.wraps_at))
        return {CounterEvent::refused};
    if (!last_) {
        last_ = Seen{value, time, time};
        return {CounterEvent::first};
    }
    const Seen before = *last_;
    if (time == before.time) return {CounterEvent::duplicate};
    if (time < before.time) return {CounterEvent::out_of_order};

    const auto interval = time - before.time;
    const auto reseed = [&](CounterEvent event) {
        last_ = Seen{value, time, time};
        return CounterStep{event};
    };
    const auto count = [&](CounterEvent event, double delta) {
        last_ = Seen{value, time, delta == 0 ? before.changed_after : before.time};
        return CounterStep{event, delta, interval};
    };

    if (interval > limits_.longest_interval) return reseed(CounterEvent::gap);
    if (value < before.value) {
        if (!limits_.wraps_at) return reseed(CounterEvent::reset);
        const double range = *limits_.wraps_at;
        const double delta = range - before.value + value;
        const bool wrapped = before.value > 0.75 * range && value < 0.25 * range &&
                             delta <= limits_.max_per_second * seconds(interval);
        return wrapped ? count(CounterEvent::wrapped, delta) : reseed(CounterEvent::reset);
    }
    const double delta = value - before.value;
    if (limits_.max_per_second > 0 && delta > limits_.max_per_second * seconds(time - before.changed_after))
        return reseed(CounterEvent::implausible);
    return count(CounterEvent::advanced, delta);
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
