#include "lib/promql_response.h"

#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <unordered_map>

namespace aegis {

namespace json = boost::json;

namespace {

const std::unexpected<std::string> malformed(std::string("not an answer of a Prometheus query"));

const json::value* member(const json::value& value, std::string_view name) {
    const auto* object = value.if_object();
    return object ? object->if_contains(name) : nullptr;
}

std::optional<std::string_view> text_member(const json::value& value, std::string_view name) {
    const auto* found = member(value, name);
    if (!found || !found->is_string()) return std::nullopt;
    return std::string_view(found->get_string());
}

// Go's spelling: "NaN", "+Inf", "-Inf", "1e+06".
std::optional<double> go_number(std::string_view text) {
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
    if (text == "-Inf") return -std::numeric_limits<double>::infinity();
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// [time, "value"]
std::optional<double> value_of(const json::value* pair) {
    const auto* array = pair ? pair->if_array() : nullptr;
    if (!array || array->size() != 2 || !(*array)[0].is_number() || !(*array)[1].is_string()) return std::nullopt;
    return go_number(std::string_view((*array)[1].get_string()));
}

std::string key_of(const PromqlSample& sample) {
    std::string key;
    for (const auto& [name, value] : sample.labels) {
        if (name == "__name__") continue;
        key += name;
        key += '\0';
        key += value;
        key += '\0';
    }
    return key;
}

std::expected<PromqlAnswer, std::string> decode_vector(const json::value& result) {
    PromqlAnswer answer;
    const auto* elements = result.if_array();
    if (!elements) return malformed;
    for (const json::value& element : *elements) {
        if (member(element, "histogram")) {
            ++answer.histograms;
            continue;
        }
        const auto value = value_of(member(element, "value"));
        const auto* metric = member(element, "metric");
        if (!value || !metric || !metric->is_object()) return malformed;
        PromqlSample sample{{}, *value, {}};
        for (const auto& [name, label] : metric->get_object()) {
            if (!label.is_string()) return malformed;
            sample.labels.emplace_back(name, std::string_view(label.get_string()));
        }
        std::sort(sample.labels.begin(), sample.labels.end());
        answer.samples.push_back(std::move(sample));
    }
    return answer;
}

} // namespace

std::expected<PromqlAnswer, std::string> decode_promql(std::string_view body) {
    json::monotonic_resource memory;
    boost::system::error_code failed;
    const json::value root = json::parse(body, failed, &memory);
    if (failed) return malformed;
    const auto status = text_member(root, "status");
    if (status == "error")
        return std::unexpected(fmt::format("{}: {}", text_member(root, "errorType").value_or("error"),
                                           text_member(root, "error").value_or("no reason given")));
    const auto* data = member(root, "data");
    const auto* result = data ? member(*data, "result") : nullptr;
    const auto type = data ? text_member(*data, "resultType") : std::nullopt;
    if (status != "success" || !result || !type) return malformed;
    if (type == "vector") return decode_vector(*result);
    if (type == "scalar") {
        const auto value = value_of(result);
        if (!value) return malformed;
        return PromqlAnswer{{PromqlSample{{}, *value, {}}}, 0};
    }
    return std::unexpected(fmt::format("the answer is a {}, expected a vector: one value of each series, not a range", *type));
}

std::uint64_t date_samples(PromqlAnswer& values, const PromqlAnswer& timestamps) {
    std::unordered_map<std::string, double> time_of;
    for (const PromqlSample& sample : timestamps.samples) time_of.emplace(key_of(sample), sample.value);
    return std::erase_if(values.samples, [&](PromqlSample& sample) {
        const auto found = time_of.find(key_of(sample));
        constexpr double year_9999 = 253'402'300'800;
        if (found == time_of.end() || !(found->second >= 0 && found->second < year_9999)) return true;
        sample.time = EventTime(std::chrono::microseconds(std::llround(found->second * 1e6)));
        return false;
    });
}

std::string promql_selector(std::string_view metric, const std::vector<std::pair<std::string, std::string>>& equal) {
    std::string selector(metric);
    if (equal.empty()) return selector;
    char separator = '{';
    for (const auto& [name, value] : equal) {
        selector += separator;
        selector += name;
        selector += "=\"";
        for (const char c : value) {
            if (c == '\\' || c == '"') selector += '\\';
            if (c == '\n') selector += "\\n";
            else selector += c;
        }
        selector += '"';
        separator = ',';
    }
    return selector + '}';
}

} // namespace aegis
