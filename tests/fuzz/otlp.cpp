// Whatever is pushed to /v1/metrics, as JSON or as protobuf; the first byte chooses. Its points are used as aegisd uses them.
#include "lib/otlp.h"

#include <cstdlib>
#include <string_view>

using namespace aegis;

namespace {

void judge(const Histogram& histogram) {
    if (histogram.counts.size() != histogram.bounds.size() + 1) std::abort();
    const auto median = quantile(histogram, .5), tail = quantile(histogram, .99);
    if (median && tail && (median->lower > tail->lower || (tail->upper && *tail->upper < tail->lower))) std::abort();
    const Exceedances above = exceedances(histogram, 1);
    if (!(above.optimistic <= above.pessimistic)) std::abort();
    (void)merged(histogram, histogram);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
    DeltaSums sums(16);
    std::uint64_t points = 0;
    const OnOtlpPoint on_point = [&](const OtlpPoint& point) {
        ++points;
        if (point.labels.size() > 2 * otlp_attributes_max) std::abort();
        if (point.shape == OtlpPoint::Shape::sum && point.temporality == OtlpTemporality::delta) (void)sums.add(point);
        if (const auto* histogram = std::get_if<Histogram>(&point.value)) judge(*histogram);
        if (const auto* histogram = std::get_if<ExponentialHistogram>(&point.value)) {
            if (histogram->counts.size() > exponential_buckets_max) std::abort();
            judge(explicit_buckets(*histogram));
            (void)merged(*histogram, downscaled(*histogram, histogram->scale - 1));
            if (const auto none = difference(*histogram, *histogram))
                for (const double count : none->counts)
                    if (count != 0) std::abort();
        }
    };
    const auto count = data[0] % 2 ? decode_otlp_json(body, on_point) : decode_otlp_protobuf(body, on_point);
    if (count && count->points != points) std::abort();
    return 0;
}
