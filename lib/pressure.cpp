#include "lib/pressure.h"

#include <algorithm>
#include <cmath>

namespace aegis {

namespace {

// Weight of the prior of the mark rate, in packets per second (control-theory 5.2). Its own single mark is left
// out: with it an idle link would look worse than a busy one without marks.
constexpr double prior_packets = 1e4;

constexpr int forgotten_after = 3; // time constants; exp(-3) = 5 % of its weight is left

double seconds(std::chrono::microseconds duration) { return std::chrono::duration<double>(duration).count(); }

double ramp(double value, double from, double to) {
    if (to <= from) return value >= to ? 1 : 0;
    return std::clamp((value - from) / (to - from), 0.0, 1.0);
}

} // namespace

double pressure_of(const PressureTerms& terms) {
    return 1 - (1 - .8 * terms.phi_e) * (1 - .6 * terms.phi_q) * (1 - .5 * terms.phi_u);
}

void LinkPressure::Average::pass(double kept) {
    sum = static_cast<float>(sum * kept);
    weight = static_cast<float>(weight * kept);
}

void LinkPressure::Average::see(double kept, double value) {
    sum = static_cast<float>(sum * kept + (1 - kept) * value);
    weight = static_cast<float>(weight * kept + (1 - kept));
}

LinkPressure::LinkPressure(PressureParameters parameters, double rate_bps)
    : parameters_(parameters), rate_bps_(rate_bps) {}

void LinkPressure::add(const LinkInterval& interval) {
    if (interval.length.count() <= 0) return;
    const bool marks = interval.marked_packets && interval.packets && *interval.marked_packets <= *interval.packets;
    const auto count = [&](std::chrono::microseconds& silence, bool seen) {
        silence = seen ? std::chrono::microseconds{0} : silence + interval.length;
    };
    count(silence_.marks, marks);
    count(silence_.bytes, interval.bytes.has_value());
    count(silence_.depth, interval.depth_bytes.has_value());
    blend(fast_, interval, marks, parameters_.fast);
    blend(slow_, interval, marks, parameters_.slow);
}

// EWMA over irregular steps, a = 1 - exp(-dt/T) (control-theory 5.2).
void LinkPressure::blend(Averages& averages, const LinkInterval& interval, bool marks,
                         std::chrono::milliseconds time_constant) const {
    const double length = seconds(interval.length);
    const double kept = std::exp(-length / seconds(time_constant));
    const auto step = [&](Average& average, bool seen, double value, std::chrono::microseconds silence) {
        if (seen)
            average.see(kept, value);
        else if (silence > forgotten_after * time_constant)
            average = {};
        else
            average.pass(kept);
    };
    step(averages.marked, marks, interval.marked_packets.value_or(0) / length, silence_.marks);
    step(averages.packets, marks, interval.packets.value_or(0) / length, silence_.marks);
    step(averages.bytes, interval.bytes.has_value(), interval.bytes.value_or(0) / length, silence_.bytes);
    step(averages.depth, interval.depth_bytes.has_value(), interval.depth_bytes.value_or(0), silence_.depth);
}

double LinkPressure::mark_rate_of(const Averages& averages) const {
    return averages.marked.value() / (averages.packets.value() + prior_packets);
}

double LinkPressure::load_of(const Averages& averages) const {
    return rate_bps_ > 0 ? 8 * averages.bytes.value() / rate_bps_ : 0;
}

PressureTerms LinkPressure::terms(const Averages& averages) const {
    return {
        .phi_e = std::min(1.0, mark_rate_of(averages) / (5 * parameters_.mark_limit)),
        .phi_q = averages.depth.any()
                     ? ramp(averages.depth.value(), parameters_.queue_min_bytes, parameters_.queue_max_bytes)
                     : 0,
        .phi_u = ramp(load_of(averages), .6, .95),
    };
}

bool LinkPressure::known() const {
    return slow_.marked.any() || slow_.depth.any() || (slow_.bytes.any() && rate_bps_ > 0);
}

double LinkPressure::pressure() const {
    const double fast = pressure_of(terms(fast_));
    const double slow = pressure_of(terms(slow_));
    return std::max(.7 * fast + .3 * slow, slow);
}

PressureTerms LinkPressure::fast() const { return terms(fast_); }
PressureTerms LinkPressure::slow() const { return terms(slow_); }
double LinkPressure::mark_rate() const { return mark_rate_of(fast_); }
double LinkPressure::load() const { return load_of(fast_); }
double LinkPressure::depth_bytes() const { return fast_.depth.value(); }

} // namespace aegis
