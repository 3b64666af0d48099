// What both encodings of OTLP share: a point is gathered, checked and delivered.
#pragma once

#include "lib/otlp.h"

#include <string>
#include <utility>
#include <vector>

namespace aegis {

class OtlpGatherer {
public:
    explicit OtlpGatherer(const OnOtlpPoint& on_point) : on_point_(on_point) {}

    struct Attribute {
        std::string name, value;
    };
    std::vector<Attribute> resource;
    std::string metric, unit;

    struct Raw { // one data point as sent
        std::vector<Attribute> attributes;
        std::uint64_t time_ns = 0, started_ns = 0;
        std::uint64_t flags = 0;
        std::optional<double> number;
        std::uint64_t count = 0;
        std::vector<double> bounds;
        std::vector<std::uint64_t> bucket_counts;
        std::int32_t scale = 0, offset = 0;
        std::uint64_t zero_count = 0;
        double zero_threshold = 0;
        bool negative_samples = false;
    };

    void deliver(OtlpPoint::Shape shape, OtlpTemporality temporality, bool monotonic, Raw raw);
    const OtlpCount& count() const { return count_; }

private:
    static bool make_value(OtlpPoint::Shape shape, Raw& raw, OtlpPoint& point);

    const OnOtlpPoint& on_point_;
    std::vector<PrometheusLabel> labels_;
    OtlpCount count_;
};

} // namespace aegis
