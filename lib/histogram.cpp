#include "lib/histogram.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>

namespace aegis {

double Histogram::total() const { return std::accumulate(counts.begin(), counts.end(), 0.0); }

std::optional<double> parse_bucket_bound(std::string_view le) {
    if (le == "+Inf" || le == "Inf") return std::numeric_limits<double>::infinity();
    if (le.starts_with('+')) le.remove_prefix(1);
    double bound = 0;
    const auto [end, error] = std::from_chars(le.data(), le.data() + le.size(), bound);
    if (error != std::errc() || end != le.data() + le.size() || !std::isfinite(bound)) return std::nullopt;
    return bound;
}

std::expected<Histogram, std::string> from_cumulative_buckets(std::vector<std::pair<double, double>> buckets) {
    std::sort(buckets.begin(), buckets.end());
    if (buckets.empty() || buckets.back().first != std::numeric_limits<double>::infinity())
        return std::unexpected("it has no +Inf bucket");
    Histogram histogram;
    double below = 0;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        const auto [bound, count] = buckets[i];
        if (std::isnan(bound) || (i > 0 && bound == buckets[i - 1].first)) return std::unexpected("a bound occurs twice or is no number");
        if (!std::isfinite(count) || count < below) return std::unexpected("its counts fall as bounds rise");
        if (i + 1 < buckets.size()) histogram.bounds.push_back(bound);
        histogram.counts.push_back(count - below);
        below = count;
    }
    return histogram;
}

namespace {

double lower_of(const Histogram& histogram, std::size_t bucket) {
    if (bucket > 0) return histogram.bounds[bucket - 1];
    return histogram.bounds.empty() || histogram.bounds.front() >= 0 ? 0 : -std::numeric_limits<double>::infinity();
}

} // namespace

std::optional<QuantileInterval> quantile(const Histogram& histogram, double q, double min_count) {
    const double n = histogram.total();
    if (n <= 0 || n < min_count) return std::nullopt;
    const double rank = std::max(1.0, std::ceil(q * n));
    double up_to = 0;
    for (std::size_t i = 0; i < histogram.bounds.size(); ++i) {
        up_to += histogram.counts[i];
        if (up_to >= rank) return QuantileInterval{lower_of(histogram, i), histogram.bounds[i]};
    }
    return QuantileInterval{lower_of(histogram, histogram.bounds.size()), std::nullopt};
}

Exceedances exceedances(const Histogram& histogram, double limit) {
    Exceedances result{histogram.total()};
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        const bool may_be_above = i == histogram.bounds.size() || histogram.bounds[i] > limit;
        if (may_be_above) result.pessimistic += histogram.counts[i];
        if (may_be_above && lower_of(histogram, i) >= limit) result.optimistic += histogram.counts[i];
    }
    return result;
}

Histogram merged(const Histogram& a, const Histogram& b) {
    Histogram sum;
    std::set_intersection(a.bounds.begin(), a.bounds.end(), b.bounds.begin(), b.bounds.end(), std::back_inserter(sum.bounds));
    sum.counts.assign(sum.bounds.size() + 1, 0);
    for (const Histogram* part : {&a, &b})
        for (std::size_t i = 0; i < part->counts.size(); ++i) {
            // A bucket belongs to the first shared bound at or above its own.
            const auto at = i == part->bounds.size()
                                ? sum.bounds.end()
                                : std::lower_bound(sum.bounds.begin(), sum.bounds.end(), part->bounds[i]);
            sum.counts[static_cast<std::size_t>(at - sum.bounds.begin())] += part->counts[i];
        }
    return sum;
}

ExponentialHistogram downscaled(ExponentialHistogram histogram, std::int32_t scale) {
    const auto steps = std::min(histogram.scale - scale, 31);
    if (steps <= 0) return histogram;
    ExponentialHistogram coarse{scale, histogram.zero_count, histogram.zero_threshold, histogram.offset >> steps, {}};
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        const auto index = (static_cast<std::int64_t>(histogram.offset) + static_cast<std::int64_t>(i)) >> steps;
        const auto at = static_cast<std::size_t>(index - coarse.offset);
        if (coarse.counts.size() <= at) coarse.counts.resize(at + 1, 0);
        coarse.counts[at] += histogram.counts[i];
    }
    return coarse;
}

namespace {

// later + sign * earlier, bucket by bucket on the coarser scale. Buckets that hold nothing are not kept: two offsets
// may lie far apart.
ExponentialHistogram combined(const ExponentialHistogram& a, const ExponentialHistogram& b, double sign) {
    const auto scale = std::min(a.scale, b.scale);
    const auto left = downscaled(a, scale), right = downscaled(b, scale);
    std::map<std::int64_t, double> buckets;
    for (const auto& [part, factor] : {std::pair(&left, 1.0), std::pair(&right, sign)})
        for (std::size_t i = 0; i < part->counts.size(); ++i)
            if (part->counts[i] != 0) buckets[part->offset + static_cast<std::int64_t>(i)] += factor * part->counts[i];
    ExponentialHistogram result{scale, a.zero_count + sign * b.zero_count, std::max(a.zero_threshold, b.zero_threshold), 0, {}};
    if (buckets.empty()) return result;
    // Too wide to keep at this scale: coarser until it fits, as SDKs do.
    std::int32_t steps = 0;
    const auto first = buckets.begin()->first, last = buckets.rbegin()->first;
    while ((last >> steps) - (first >> steps) >= static_cast<std::int64_t>(exponential_buckets_max)) ++steps;
    result.scale -= steps;
    result.offset = static_cast<std::int32_t>(first >> steps);
    result.counts.assign(static_cast<std::size_t>((last >> steps) - (first >> steps)) + 1, 0);
    for (const auto& [index, count] : buckets) result.counts[static_cast<std::size_t>((index >> steps) - result.offset)] += count;
    return result;
}

bool any_negative(const std::vector<double>& counts) {
    return std::any_of(counts.begin(), counts.end(), [](double count) { return count < 0; });
}

} // namespace

ExponentialHistogram merged(const ExponentialHistogram& a, const ExponentialHistogram& b) { return combined(a, b, 1); }

std::optional<ExponentialHistogram> difference(const ExponentialHistogram& later, const ExponentialHistogram& earlier) {
    auto delta = combined(later, earlier, -1);
    if (delta.zero_count < 0 || any_negative(delta.counts)) return std::nullopt;
    return delta;
}

Histogram explicit_buckets(const ExponentialHistogram& histogram) {
    Histogram result{{histogram.zero_threshold}, {histogram.zero_count}};
    const auto add = [&](double bound, double count) {
        if (bound <= result.bounds.back()) result.counts.back() += count; // below the zero threshold
        else if (std::isfinite(bound)) {
            result.bounds.push_back(bound);
            result.counts.push_back(count);
        }
    };
    const auto bound_of = [&](std::int64_t index) {
        return std::exp2(std::ldexp(static_cast<double>(index), -histogram.scale));
    };
    double beyond = 0; // buckets whose bound no double can hold
    add(bound_of(histogram.offset), 0);
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        const double bound = bound_of(histogram.offset + static_cast<std::int64_t>(i) + 1);
        if (std::isfinite(bound)) add(bound, histogram.counts[i]);
        else beyond += histogram.counts[i];
    }
    result.counts.push_back(beyond);
    return result;
}

namespace {

std::optional<Histogram> delta_of(const Histogram& later, const Histogram& earlier) {
    if (later.bounds != earlier.bounds) return std::nullopt;
    Histogram delta = later;
    for (std::size_t i = 0; i < delta.counts.size(); ++i) delta.counts[i] -= earlier.counts[i];
    if (any_negative(delta.counts)) return std::nullopt;
    return delta;
}

std::optional<Histogram> delta_of(const ExponentialHistogram& later, const ExponentialHistogram& earlier) {
    const auto delta = difference(later, earlier);
    return delta ? std::optional(explicit_buckets(*delta)) : std::nullopt;
}

} // namespace

template <class Reading>
HistogramStep CumulativeHistogram<Reading>::read(const Reading& reading, EventTime time, std::optional<EventTime> started) {
    HistogramStep step;
    if (last_) {
        if (time == last_->time) return {CounterEvent::duplicate, {}, {}};
        if (time < last_->time) return {CounterEvent::out_of_order, {}, {}};
        const auto interval = time - last_->time;
        auto delta = started == last_->started ? delta_of(reading, last_->reading) : std::nullopt;
        if (interval > longest_interval_) step.event = CounterEvent::gap;
        else if (!delta) step.event = CounterEvent::reset;
        else step = {CounterEvent::advanced, std::move(*delta), interval};
    }
    last_ = Seen{reading, time, started};
    return step;
}

template class CumulativeHistogram<Histogram>;
template class CumulativeHistogram<ExponentialHistogram>;

} // namespace aegis
