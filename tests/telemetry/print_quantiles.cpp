// Prints what lib/histogram makes of a service's latency: between which bounds a quantile lies, one JSON object a histogram.
//
//   print_quantiles prometheus|otlp-json|otlp-protobuf METRIC Q FILE [EARLIER FILE]
//
// {"labels":[[name,value]...],"n":,"lower":,"upper":|null}; upper is null above the last finite bound. With an earlier file: of the
// time between the two. A metric of Prometheus is named without _bucket. Refused: the reason on standard error, exit status 1.
#include "lib/histogram.h"
#include "lib/otlp.h"
#include "lib/prometheus_text.h"
#include "tests/telemetry/printing.h"

#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

using namespace aegis;

namespace {

using Histograms = std::map<std::string, Histogram>; // by labels, as JSON

std::string labels_of(std::span<const PrometheusLabel> labels) {
    std::map<std::string, std::string> sorted;
    for (const PrometheusLabel& label : labels)
        if (label.name != "le") sorted.emplace(label.name, label.value);
    std::string out;
    for (const auto& [name, value] : sorted) out += fmt::format("{}[\"{}\",\"{}\"]", out.empty() ? "" : ",", name, value);
    return "[" + out + "]";
}

std::expected<Histograms, std::string> of_text(const std::string& body, const std::string& metric) {
    std::map<std::string, std::vector<std::pair<double, double>>> buckets;
    PrometheusText parser([&](const PrometheusSample& sample) {
        if (sample.name != metric + "_bucket") return;
        for (const PrometheusLabel& label : sample.labels)
            if (label.name == "le")
                if (const auto bound = parse_bucket_bound(label.value)) buckets[labels_of(sample.labels)].emplace_back(*bound, sample.value);
    });
    if (const auto fed = parser.feed(body); !fed) return std::unexpected(to_string(fed.error()));
    if (const auto finished = parser.finish(); !finished) return std::unexpected(to_string(finished.error()));
    Histograms out;
    for (auto& [labels, pairs] : buckets) {
        auto histogram = from_cumulative_buckets(std::move(pairs));
        if (!histogram) return std::unexpected(histogram.error());
        out.emplace(labels, std::move(*histogram));
    }
    return out;
}

std::expected<Histograms, std::string> of_otlp(const std::string& body, const std::string& metric, bool protobuf) {
    Histograms out;
    const OnOtlpPoint on_point = [&](const OtlpPoint& point) {
        if (point.metric != metric) return;
        if (const auto* histogram = std::get_if<Histogram>(&point.value)) out.emplace(labels_of(point.labels), *histogram);
        if (const auto* histogram = std::get_if<ExponentialHistogram>(&point.value)) out.emplace(labels_of(point.labels), explicit_buckets(*histogram));
    };
    const auto count = protobuf ? decode_otlp_protobuf(body, on_point) : decode_otlp_json(body, on_point);
    if (!count) return std::unexpected(count.error());
    return out;
}

std::expected<Histograms, std::string> histograms_in(const char* path, const std::string& format, const std::string& metric) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::unexpected(fmt::format("{} cannot be read", path));
    const std::string body{std::istreambuf_iterator<char>(file), {}};
    return format == "prometheus" ? of_text(body, metric) : of_otlp(body, metric, format == "otlp-protobuf");
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5 && argc != 6) return refuse("usage: print_quantiles prometheus|otlp-json|otlp-protobuf METRIC Q FILE [EARLIER FILE]");
    const auto later = histograms_in(argv[4], argv[1], argv[2]);
    const auto earlier = argc == 6 ? histograms_in(argv[5], argv[1], argv[2]) : Histograms{};
    if (!later) return refuse(later.error());
    if (!earlier) return refuse(earlier.error());
    for (const auto& [labels, histogram] : *later) {
        Histogram counted = histogram;
        if (const auto before = earlier->find(labels); before != earlier->end()) {
            CumulativeHistogram<Histogram> reader;
            reader.read(before->second, EventTime{std::chrono::seconds(1)});
            const auto step = reader.read(histogram, EventTime{std::chrono::seconds(2)});
            if (step.event != CounterEvent::advanced) return refuse(fmt::format("{}: {}", labels, to_string(step.event)));
            counted = step.delta;
        }
        const auto interval = quantile(counted, std::stod(argv[3]));
        if (interval)
            fmt::print("{{\"labels\":{},\"n\":{},\"lower\":{},\"upper\":{}}}\n", labels, counted.total(), interval->lower,
                       interval->upper ? fmt::format("{}", *interval->upper) : "null");
    }
}
