// Latency histograms: what buckets say of a tail, and what they do not (control-theory 3.2, 3.3; telemetry.md 3).
//
// A bucket holds samples in (lower, upper]. A quantile is therefore an interval, not a number, and above the last
// finite bound it is "at least that bound". Nothing is interpolated. Latencies are not negative, so the first
// bucket begins at 0. The unit of bounds and limits is the caller's; counts are whole numbers kept as doubles.
#pragma once

#include "lib/counters.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aegis {

struct Histogram {
    std::vector<double> bounds; // upper bounds, finite, strictly ascending
    std::vector<double> counts; // of each bucket alone; one more than bounds: the last is above them all

    double total() const;
    bool operator==(const Histogram&) const = default;
};

// The bound of a Prometheus bucket: "1", "1.0", "2.5e-05", "+Inf".
std::optional<double> parse_bucket_bound(std::string_view le);

// From (le, samples at or below le) in any order, as Prometheus tells it. Errors: no +Inf bucket, a bound twice or
// not a number, counts that fall as bounds rise (a scrape that raced with the service).
std::expected<Histogram, std::string> from_cumulative_buckets(std::vector<std::pair<double, double>> buckets);

struct QuantileInterval {
    double lower = 0;
    std::optional<double> upper; // absent: above the last finite bound, "at least lower"
    bool operator==(const QuantileInterval&) const = default;
};

// Where the sample of rank ceil(q * n) lies; q in (0, 1]. Nothing below `min_count` samples, nor of an empty histogram.
std::optional<QuantileInterval> quantile(const Histogram& histogram, double q, double min_count = 1);

// How many of n samples are above a limit. Both numbers agree where the limit is a bound.
struct Exceedances {
    double n = 0;
    double optimistic = 0;  // certainly above
    double pessimistic = 0; // possibly above
    bool operator==(const Exceedances&) const = default;
};
Exceedances exceedances(const Histogram& histogram, double limit);

// The samples of both, on the bounds they share: exact, but coarser where replicas have different buckets.
Histogram merged(const Histogram& a, const Histogram& b);

// Base-2 exponential buckets (OpenTelemetry data model): bucket i holds (base^i, base^(i+1)], base = 2^(2^-scale).
struct ExponentialHistogram {
    std::int32_t scale = 0;
    double zero_count = 0;     // samples in [0, zero_threshold]
    double zero_threshold = 0;
    std::int32_t offset = 0;   // index of the first bucket
    std::vector<double> counts;

    bool operator==(const ExponentialHistogram&) const = default;
};

inline constexpr std::size_t exponential_buckets_max = 4096; // SDKs use 160
inline constexpr std::int32_t exponential_scale_max = 20;    // as in the data model; and not below its negative

// With half as many buckets for each step of the scale; exact.
ExponentialHistogram downscaled(ExponentialHistogram histogram, std::int32_t scale);
ExponentialHistogram merged(const ExponentialHistogram& a, const ExponentialHistogram& b);
// later - earlier on the coarser scale of both; nothing where any bucket shrank.
std::optional<ExponentialHistogram> difference(const ExponentialHistogram& later, const ExponentialHistogram& earlier);
Histogram explicit_buckets(const ExponentialHistogram& histogram);

// What two readings of a cumulative histogram say of the time between them; as Counter does for numbers.
// Any bucket that shrank, other bounds, or another start time: reset. The interval is dropped and reading begins anew.
struct HistogramStep {
    CounterEvent event = CounterEvent::first;
    Histogram delta;                       // only with advanced
    std::chrono::microseconds interval{0}; // only with advanced
};

template <class Reading> class CumulativeHistogram {
public:
    explicit CumulativeHistogram(std::chrono::microseconds longest_interval = std::chrono::minutes(10))
        : longest_interval_(longest_interval) {}

    // `started`: since when it has counted, where the source says so.
    HistogramStep read(const Reading& reading, EventTime time, std::optional<EventTime> started = std::nullopt);

private:
    struct Seen {
        Reading reading;
        EventTime time;
        std::optional<EventTime> started;
    };
    std::chrono::microseconds longest_interval_;
    std::optional<Seen> last_;
};

extern template class CumulativeHistogram<Histogram>;
extern template class CumulativeHistogram<ExponentialHistogram>;

} // namespace aegis
