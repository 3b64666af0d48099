// OpenTelemetry metrics requests, JSON and protobuf: bytes in, points out (telemetry.md 2.3).
//
// Both spellings of 64-bit numbers in JSON are read (text and number). What a number means - a gauge that is really a
// counter, the unit of an occupancy - is the site's mapping to say, not the exporter's; shape and temporality are passed
// on as sent. Attributes of the resource come before those of the point; texts, whole numbers, truth values and fractions become
// label values, lists and maps are left out.
//
// A body that is not such a request is an error, and what was delivered from it before must be dropped. A point that
// says nothing (flag "no recorded value") is left out; one that contradicts itself (buckets that do not match their
// bounds, negative latencies) is left out and counted.
#pragma once

#include "lib/histogram.h"
#include "lib/prometheus_text.h"
#include "lib/sample.h"

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

namespace aegis {

enum class OtlpTemporality : std::uint8_t { unspecified = 0, delta = 1, cumulative = 2 };

// Valid during the callback only.
struct OtlpPoint {
    enum class Shape : std::uint8_t { gauge, sum, histogram, exponential_histogram };

    std::string_view metric;
    std::string_view unit;
    std::span<const PrometheusLabel> labels;
    EventTime time{};                  // zero: the sender gave none
    std::optional<EventTime> started;  // since when sums and histograms have counted
    Shape shape{};
    OtlpTemporality temporality{};     // of sums and histograms
    bool monotonic = false;            // of sums
    std::variant<double, Histogram, ExponentialHistogram> value; // by shape
};

struct OtlpCount {
    std::uint64_t points = 0;  // delivered
    std::uint64_t refused = 0; // contradict themselves
};

inline constexpr std::size_t otlp_attributes_max = 256; // of a resource, and of a point

using OnOtlpPoint = std::function<void(const OtlpPoint&)>;
std::expected<OtlpCount, std::string> decode_otlp_json(std::string_view body, const OnOtlpPoint& on_point);
std::expected<OtlpCount, std::string> decode_otlp_protobuf(std::string_view body, const OnOtlpPoint& on_point);

// Sums with delta temporality, added up again, so that they can be read like any counter. At most `series_max` sums.
class DeltaSums {
public:
    explicit DeltaSums(std::size_t series_max = 65536) : series_max_(series_max) {}
    // The sum so far of the point's series; nothing for a point that is older than the last one, or beyond the bound.
    std::optional<double> add(const OtlpPoint& point);

private:
    struct Total {
        double value = 0;
        EventTime time{};
    };
    std::size_t series_max_;
    std::unordered_map<std::string, Total> totals_;
};

} // namespace aegis
