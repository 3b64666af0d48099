// Whatever a PromQL server answers, and OpenMetrics with its histograms; the first byte chooses, and how long the pieces are.
#include "lib/histogram.h"
#include "lib/prometheus_text.h"
#include "lib/promql_response.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

using namespace aegis;

namespace {

void answer(std::string_view text) {
    const std::size_t half = text.find('\n');
    auto values = decode_promql(text.substr(0, half));
    const auto times = half == text.npos ? values : decode_promql(text.substr(half + 1));
    if (!values || !times) return;
    const std::size_t before = values->samples.size();
    if (date_samples(*values, *times) + values->samples.size() != before) std::abort();
    for (const PromqlSample& sample : values->samples) {
        if (!sample.time) std::abort();
        (void)promql_selector("m", sample.labels);
    }
}

struct Read {
    std::string samples;
    std::map<std::string, std::vector<std::pair<double, double>>> buckets;
    bool good = true;
};

Read metrics(std::string_view text, std::size_t piece) {
    Read read;
    PrometheusText parser(
        [&](const PrometheusSample& sample) {
            read.samples += std::string(sample.name) + std::to_string(sample.value) + (sample.timestamp_ms ? std::to_string(*sample.timestamp_ms) : "") + "\n";
            for (const PrometheusLabel& label : sample.labels)
                if (label.name == "le")
                    if (const auto bound = parse_bucket_bound(label.value)) read.buckets[std::string(sample.name)].emplace_back(*bound, sample.value);
        },
        4096, PrometheusFormat::openmetrics);
    for (; read.good && !text.empty(); text.remove_prefix(std::min(piece, text.size()))) read.good = parser.feed(text.substr(0, piece)).has_value();
    read.good = parser.finish().has_value() && read.good;
    return read;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] % 2) {
        answer(text);
        return 0;
    }
    const Read whole = metrics(text, size), pieces = metrics(text, 1 + data[0] / 2);
    if (whole.good != pieces.good || whole.samples != pieces.samples) std::abort();
    for (const auto& [name, buckets] : whole.buckets)
        if (const auto histogram = from_cumulative_buckets(buckets)) {
            const auto median = quantile(*histogram, .5);
            if (median && median->upper && *median->upper < median->lower) std::abort();
        }
    return 0;
}
