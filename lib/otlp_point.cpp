#include "lib/otlp_point.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace aegis {

namespace {

constexpr std::uint64_t no_recorded_value = 1; // bit of DataPointFlags

EventTime time_of(std::uint64_t ns) { return EventTime(std::chrono::microseconds(static_cast<std::int64_t>(ns / 1000))); }

std::vector<double> as_doubles(const std::vector<std::uint64_t>& counts) { return {counts.begin(), counts.end()}; }

} // namespace

bool OtlpGatherer::make_value(OtlpPoint::Shape shape, Raw& raw, OtlpPoint& point) {
    switch (shape) {
    case OtlpPoint::Shape::gauge:
    case OtlpPoint::Shape::sum:
        if (!raw.number) return false;
        point.value = *raw.number;
        return true;
    case OtlpPoint::Shape::histogram: {
        // Without buckets a histogram still counts: all its samples are in the one bucket without a bound.
        if (raw.bucket_counts.empty() && raw.bounds.empty()) raw.bucket_counts = {raw.count};
        if (raw.bucket_counts.size() != raw.bounds.size() + 1) return false;
        if (std::accumulate(raw.bucket_counts.begin(), raw.bucket_counts.end(), std::uint64_t{0}) != raw.count) return false;
        if (!std::all_of(raw.bounds.begin(), raw.bounds.end(), [](double bound) { return std::isfinite(bound); })) return false;
        if (std::adjacent_find(raw.bounds.begin(), raw.bounds.end(), std::greater_equal<>()) != raw.bounds.end()) return false;
        point.value = Histogram{std::move(raw.bounds), as_doubles(raw.bucket_counts)};
        return true;
    }
    case OtlpPoint::Shape::exponential_histogram:
        if (raw.negative_samples || raw.bucket_counts.size() > exponential_buckets_max) return false;
        if (raw.scale > exponential_scale_max || raw.scale < -exponential_scale_max) return false;
        if (!(raw.zero_threshold >= 0) || !std::isfinite(raw.zero_threshold)) return false;
        if (std::accumulate(raw.bucket_counts.begin(), raw.bucket_counts.end(), raw.zero_count) != raw.count) return false;
        point.value = ExponentialHistogram{raw.scale, static_cast<double>(raw.zero_count), raw.zero_threshold, raw.offset,
                                           as_doubles(raw.bucket_counts)};
        return true;
    }
    return false;
}

void OtlpGatherer::deliver(OtlpPoint::Shape shape, OtlpTemporality temporality, bool monotonic, Raw raw) {
    if (raw.flags & no_recorded_value) return;
    labels_.clear();
    for (const auto* attributes : {&resource, &raw.attributes})
        for (const Attribute& attribute : *attributes) labels_.push_back({attribute.name, attribute.value});
    OtlpPoint point{metric, unit, labels_, time_of(raw.time_ns), {}, shape, temporality, monotonic, {}};
    if (raw.started_ns != 0) point.started = time_of(raw.started_ns);
    if (!make_value(shape, raw, point)) {
        ++count_.refused;
        return;
    }
    ++count_.points;
    on_point_(point);
}

std::optional<double> DeltaSums::add(const OtlpPoint& point) {
    std::string key(point.metric);
    for (const auto& label : point.labels) {
        key += '\0';
        key += label.name;
        key += '\0';
        key += label.value;
    }
    auto found = totals_.find(key);
    if (found == totals_.end()) {
        if (totals_.size() >= series_max_) return std::nullopt;
        found = totals_.emplace(std::move(key), Total{0, EventTime::min()}).first;
    }
    Total& total = found->second;
    if (point.time <= total.time) return std::nullopt;
    total.time = point.time;
    total.value += std::get<double>(point.value);
    return total.value;
}

} // namespace aegis
