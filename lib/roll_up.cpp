#include "lib/roll_up.h"

#include <algorithm>
#include <cassert>

namespace aegis {

namespace {

void merge(Gauge& into, const Gauge& other) {
    if (other.count == 0) return;
    into.largest = into.count > 0 ? std::max(into.largest, other.largest) : other.largest;
    into.sum += other.sum;
    into.count += other.count;
}

} // namespace

void add(std::optional<std::int64_t>& sum, std::int64_t amount) { sum = sum.value_or(0) + amount; }

void raise(std::optional<std::int64_t>& largest, std::int64_t value) { largest = std::max(largest.value_or(value), value); }

void merge(RollUp& into, const RollUp& other) {
    into.covered_us += other.covered_us;
    for (const auto counter : roll_up_counters)
        if (other.*counter) add(into.*counter, *(other.*counter));
    if (other.peak_bytes) raise(into.peak_bytes, *other.peak_bytes);
    merge(into.depth_bytes, other.depth_bytes);
    merge(into.pressure, other.pressure);
}

void cut(const RollUp& whole, EventTime from, EventTime to, std::chrono::seconds width,
         const std::function<void(std::int64_t start_s, const RollUp& part)>& each) {
    assert(width.count() > 0);
    const auto start_of = [width](EventTime time) { return EventTime(std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()) / width * width); };
    const auto seconds_of = [](EventTime time) { return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count(); };
    const std::chrono::microseconds length = to - from;
    if (length.count() <= 0) return each(seconds_of(start_of(to)), whole);
    const EventTime last = start_of(to - std::chrono::microseconds(1));
    // What was handed over up to some moment is the whole's share of the time up to it, rounded: no part is off by one, and
    // the last one makes it whole.
    const auto share_until = [&](std::int64_t amount, EventTime time) {
        if (time >= to) return amount;
        const long double share = static_cast<long double>((time - from).count()) / static_cast<long double>(length.count());
        return static_cast<std::int64_t>(std::floor(static_cast<long double>(amount) * share));
    };
    EventTime begin = from;
    for (EventTime start = start_of(from); start <= last; start += width) {
        const EventTime end = std::min(to, EventTime(start + width));
        RollUp part;
        const auto portion = [&](std::int64_t amount) { return share_until(amount, end) - share_until(amount, begin); };
        part.covered_us = portion(whole.covered_us);
        for (const auto counter : roll_up_counters)
            if (whole.*counter) part.*counter = portion(*(whole.*counter));
        if (start == last) {
            part.peak_bytes = whole.peak_bytes;
            part.depth_bytes = whole.depth_bytes;
            part.pressure = whole.pressure;
        }
        each(seconds_of(start), part);
        begin = end;
    }
}

} // namespace aegis
