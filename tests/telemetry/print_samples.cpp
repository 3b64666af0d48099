// Prints what the decoders of lib/ make of a file, one JSON object a sample; what test_fixtures.py compares with a reader of its own.
//
//   print_samples prometheus|openmetrics|promql|otlp-json|otlp-protobuf FILE
//
// {"metric":,"labels":[[name,value]...],"shape":,"value":,"time_us":|null} where a number is a text, so that NaN and infinities are told;
// of a histogram "value" is {"bounds":[...],"counts":[...]} or {"scale":,"zero":,"offset":,"counts":[...]}.
// A file that is refused: the reason on standard error, exit status 1.
#include "lib/otlp.h"
#include "lib/prometheus_text.h"
#include "lib/promql_response.h"
#include "tests/telemetry/printing.h"

#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <string>

using namespace aegis;

namespace {

std::string number(double value) { return fmt::format("\"{}\"", value); }

std::string numbers(const std::vector<double>& values) {
    std::vector<std::string> shown;
    for (const double value : values) shown.push_back(number(value));
    return fmt::format("[{}]", fmt::join(shown, ","));
}

template <class Labels> std::string labels_of(const Labels& labels) {
    std::vector<std::string> shown;
    for (const auto& [name, value] : labels) shown.push_back(fmt::format("[{},{}]", quoted(name), quoted(value)));
    return fmt::format("[{}]", fmt::join(shown, ","));
}

void print(std::string_view metric, const std::string& labels, std::string_view shape, const std::string& value, std::optional<std::int64_t> time_us) {
    fmt::print("{{\"metric\":{},\"labels\":{},\"shape\":\"{}\",\"value\":{},\"time_us\":{}}}\n", quoted(metric), labels, shape, value,
               time_us ? std::to_string(*time_us) : "null");
}

int print_text(const std::string& body, PrometheusFormat format) {
    PrometheusText parser(
        [](const PrometheusSample& sample) {
            std::optional<std::int64_t> time_us;
            if (sample.timestamp_ms) time_us = *sample.timestamp_ms * 1000;
            print(sample.name, labels_of(sample.labels), "sample", number(sample.value), time_us);
        },
        65536, format);
    if (const auto fed = parser.feed(body); !fed) return refuse(to_string(fed.error()));
    if (const auto finished = parser.finish(); !finished) return refuse(to_string(finished.error()));
    return 0;
}

int print_promql(const std::string& body) {
    const auto answer = decode_promql(body);
    if (!answer) return refuse(answer.error());
    for (const PromqlSample& sample : answer->samples) print("", labels_of(sample.labels), "sample", number(sample.value), std::nullopt);
    return 0;
}

std::string value_of(const OtlpPoint& point) {
    if (const auto* value = std::get_if<double>(&point.value)) return number(*value);
    if (const auto* histogram = std::get_if<Histogram>(&point.value))
        return fmt::format("{{\"bounds\":{},\"counts\":{}}}", numbers(histogram->bounds), numbers(histogram->counts));
    const auto& histogram = std::get<ExponentialHistogram>(point.value);
    return fmt::format("{{\"scale\":{},\"zero\":{},\"offset\":{},\"counts\":{}}}", histogram.scale, number(histogram.zero_count), histogram.offset,
                       numbers(histogram.counts));
}

std::string_view name_of(OtlpPoint::Shape shape) {
    switch (shape) {
    case OtlpPoint::Shape::gauge: return "gauge";
    case OtlpPoint::Shape::sum: return "sum";
    case OtlpPoint::Shape::histogram: return "histogram";
    case OtlpPoint::Shape::exponential_histogram: return "exponential_histogram";
    }
    return "";
}

int print_otlp(const std::string& body, bool protobuf) {
    const OnOtlpPoint on_point = [](const OtlpPoint& point) {
        print(point.metric, labels_of(point.labels), name_of(point.shape), value_of(point), point.time.time_since_epoch().count());
    };
    const auto count = protobuf ? decode_otlp_protobuf(body, on_point) : decode_otlp_json(body, on_point);
    if (!count) return refuse(count.error());
    if (count->refused) return refuse(fmt::format("{} points contradict themselves", count->refused));
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) return refuse("usage: print_samples prometheus|openmetrics|promql|otlp-json|otlp-protobuf FILE");
    const std::string format = argv[1];
    std::ifstream file(argv[2], std::ios::binary);
    if (!file) return refuse(fmt::format("{} cannot be read", argv[2]));
    const std::string body{std::istreambuf_iterator<char>(file), {}};
    if (format == "prometheus") return print_text(body, PrometheusFormat::text);
    if (format == "openmetrics") return print_text(body, PrometheusFormat::openmetrics);
    if (format == "promql") return print_promql(body);
    if (format == "otlp-json" || format == "otlp-protobuf") return print_otlp(body, format == "otlp-protobuf");
    return refuse(fmt::format("no format {}", format));
}
