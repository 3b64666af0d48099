// Answers of /api/v1/query - Prometheus, Thanos, Mimir, VictoriaMetrics - as samples (telemetry.md 3.1).
//
// An instant query answers with values up to five minutes old under the time of the query. How old a value really is
// a second query tells: timestamp(SELECTOR), evaluated at the same time. date_samples() joins the two by labels.
// NaN and infinities are values here; whoever reads a signal refuses them.
#pragma once

#include "lib/sample.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aegis {

struct PromqlSample {
    std::vector<std::pair<std::string, std::string>> labels; // by name; with __name__ where the answer has it
    double value = 0;
    std::optional<EventTime> time; // of the sample itself, once it is dated
};

struct PromqlAnswer {
    std::vector<PromqlSample> samples; // of a vector; the one sample of a scalar
    std::uint64_t histograms = 0;      // native histograms: no number, left out
};

// Errors: no such answer, an error the server reports ("bad_data: parse error ..."), a matrix or a text.
std::expected<PromqlAnswer, std::string> decode_promql(std::string_view body);

// Gives the samples of `values` the times that `timestamps` has for the same labels, the metric's name aside.
// Those without one, or with one that is no time, are taken out; their number is returned.
std::uint64_t date_samples(PromqlAnswer& values, const PromqlAnswer& timestamps);

// name{a="b",...} with quotes, backslashes and line ends escaped.
std::string promql_selector(std::string_view metric, const std::vector<std::pair<std::string, std::string>>& equal);

} // namespace aegis
