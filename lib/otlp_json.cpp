// The JSON encoding of OTLP metrics (protobuf's JSON mapping with lowerCamelCase names).
#include "lib/otlp_point.h"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace aegis {

namespace json = boost::json;

namespace {

using Raw = OtlpGatherer::Raw;
using Shape = OtlpPoint::Shape;

struct Malformed {
    std::string what;
};

// An absent member and null are the same. Of another type than wanted: the body is not OTLP.
const json::value* member(const json::object& object, std::string_view name) {
    const json::value* value = object.if_contains(name);
    return value && !value->is_null() ? value : nullptr;
}

const json::object& as_object(const json::value& value, std::string_view name) {
    if (const auto* object = value.if_object()) return *object;
    throw Malformed{fmt::format("{} is not an object", name)};
}

const json::object* object_member(const json::object& object, std::string_view name) {
    const json::value* value = member(object, name);
    return value ? &as_object(*value, name) : nullptr;
}

template <class OnElement> void each(const json::object& object, std::string_view name, OnElement&& on_element) {
    const json::value* value = member(object, name);
    if (!value) return;
    const auto* array = value->if_array();
    if (!array) throw Malformed{fmt::format("{} is not an array", name)};
    for (const json::value& element : *array) on_element(element);
}

std::string text_member(const json::object& object, std::string_view name) {
    const json::value* value = member(object, name);
    if (!value) return {};
    if (const auto* text = value->if_string()) return std::string(*text);
    throw Malformed{fmt::format("{} is not a text", name)};
}

template <class Number> std::optional<Number> parsed(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// 64-bit numbers come as texts or as numbers, and a writer may spell a whole number 1e3 or 5.0.
template <class Integer> Integer integer(const json::value& value, std::string_view name) {
    if (const auto* text = value.if_string())
        if (const auto number = parsed<Integer>(std::string_view(*text))) return *number;
    if (value.is_number()) {
        boost::system::error_code failed;
        const auto number = value.to_number<Integer>(failed);
        if (!failed) return number;
    }
    throw Malformed{fmt::format("{} is not a whole number in range", name)};
}

template <class Integer> Integer integer_member(const json::object& object, std::string_view name) {
    const json::value* value = member(object, name);
    return value ? integer<Integer>(*value, name) : Integer{};
}

double real(const json::value& value, std::string_view name) {
    if (value.is_number()) return value.to_number<double>();
    if (const auto* text = value.if_string()) {
        if (*text == "NaN") return std::numeric_limits<double>::quiet_NaN();
        if (*text == "Infinity") return std::numeric_limits<double>::infinity();
        if (*text == "-Infinity") return -std::numeric_limits<double>::infinity();
        if (const auto number = parsed<double>(std::string_view(*text))) return *number;
    }
    throw Malformed{fmt::format("{} is not a number", name)};
}

std::optional<std::string> attribute_value(const json::object& value) {
    if (const auto* text = member(value, "stringValue")) {
        if (!text->is_string()) throw Malformed{"stringValue is not a text"};
        return std::string(text->get_string());
    }
    if (const auto* truth = member(value, "boolValue"))
        if (truth->is_bool()) return truth->get_bool() ? "true" : "false";
    if (const auto* number = member(value, "intValue")) return std::to_string(integer<std::int64_t>(*number, "intValue"));
    if (const auto* number = member(value, "doubleValue")) {
        char digits[32];
        return std::string(digits, std::to_chars(digits, digits + sizeof digits, real(*number, "doubleValue")).ptr);
    }
    return std::nullopt;
}

void read_attributes(const json::object& owner, std::vector<OtlpGatherer::Attribute>& attributes) {
    each(owner, "attributes", [&](const json::value& element) {
        const auto& attribute = as_object(element, "attribute");
        const auto* value = object_member(attribute, "value");
        auto text = value ? attribute_value(*value) : std::nullopt;
        if (!text) return;
        if (attributes.size() >= otlp_attributes_max) throw Malformed{"too many attributes"};
        attributes.push_back({text_member(attribute, "key"), std::move(*text)});
    });
}

void read_numbers(const json::object& point, Raw& raw) {
    if (const auto* number = member(point, "asDouble")) raw.number = real(*number, "asDouble");
    if (const auto* number = member(point, "asInt")) raw.number = static_cast<double>(integer<std::int64_t>(*number, "asInt"));
}

void read_counts(const json::object& owner, std::vector<std::uint64_t>& counts) {
    each(owner, "bucketCounts", [&](const json::value& count) { counts.push_back(integer<std::uint64_t>(count, "bucketCounts")); });
}

void read_histogram(const json::object& point, Raw& raw) {
    read_counts(point, raw.bucket_counts);
    each(point, "explicitBounds", [&](const json::value& bound) { raw.bounds.push_back(real(bound, "explicitBounds")); });
}

void read_exponential(const json::object& point, Raw& raw) {
    raw.scale = integer_member<std::int32_t>(point, "scale");
    raw.zero_count = integer_member<std::uint64_t>(point, "zeroCount");
    if (const auto* threshold = member(point, "zeroThreshold")) raw.zero_threshold = real(*threshold, "zeroThreshold");
    if (const auto* positive = object_member(point, "positive")) {
        raw.offset = integer_member<std::int32_t>(*positive, "offset");
        read_counts(*positive, raw.bucket_counts);
    }
    if (const auto* negative = object_member(point, "negative")) {
        std::vector<std::uint64_t> counts;
        read_counts(*negative, counts);
        for (const auto count : counts) raw.negative_samples |= count != 0;
    }
}

OtlpTemporality temporality_of(const json::object& data) {
    const json::value* value = member(data, "aggregationTemporality");
    if (!value) return OtlpTemporality::unspecified;
    if (const auto* name = value->if_string()) {
        if (*name == "AGGREGATION_TEMPORALITY_DELTA") return OtlpTemporality::delta;
        if (*name == "AGGREGATION_TEMPORALITY_CUMULATIVE") return OtlpTemporality::cumulative;
        return OtlpTemporality::unspecified;
    }
    const auto number = integer<std::int32_t>(*value, "aggregationTemporality");
    return number == 1 || number == 2 ? static_cast<OtlpTemporality>(number) : OtlpTemporality::unspecified;
}

void read_data(const json::object& data, Shape shape, OtlpGatherer& gatherer) {
    const OtlpTemporality temporality = shape == Shape::gauge ? OtlpTemporality::unspecified : temporality_of(data);
    const json::value* monotonic = member(data, "isMonotonic");
    each(data, "dataPoints", [&](const json::value& element) {
        const auto& point = as_object(element, "data point");
        Raw raw;
        read_attributes(point, raw.attributes);
        raw.time_ns = integer_member<std::uint64_t>(point, "timeUnixNano");
        raw.started_ns = integer_member<std::uint64_t>(point, "startTimeUnixNano");
        raw.flags = integer_member<std::uint64_t>(point, "flags");
        raw.count = integer_member<std::uint64_t>(point, "count");
        switch (shape) {
        case Shape::gauge:
        case Shape::sum: read_numbers(point, raw); break;
        case Shape::histogram: read_histogram(point, raw); break;
        case Shape::exponential_histogram: read_exponential(point, raw); break;
        }
        gatherer.deliver(shape, temporality, shape == Shape::sum && monotonic && *monotonic == true, std::move(raw));
    });
}

void read_metric(const json::object& metric, OtlpGatherer& gatherer) {
    gatherer.metric = text_member(metric, "name");
    gatherer.unit = text_member(metric, "unit");
    for (const auto& [name, shape] : {std::pair("gauge", Shape::gauge), std::pair("sum", Shape::sum),
                                      std::pair("histogram", Shape::histogram),
                                      std::pair("exponentialHistogram", Shape::exponential_histogram)})
        if (const auto* data = object_member(metric, name)) read_data(*data, shape, gatherer);
}

void read_request(const json::object& request, OtlpGatherer& gatherer) {
    if (!request.empty() && !request.contains("resourceMetrics")) throw Malformed{"it has no resourceMetrics"};
    each(request, "resourceMetrics", [&](const json::value& element) {
        const auto& resource_metrics = as_object(element, "resourceMetrics");
        gatherer.resource.clear();
        if (const auto* resource = object_member(resource_metrics, "resource")) read_attributes(*resource, gatherer.resource);
        each(resource_metrics, "scopeMetrics", [&](const json::value& scope) {
            each(as_object(scope, "scopeMetrics"), "metrics",
                 [&](const json::value& metric) { read_metric(as_object(metric, "metric"), gatherer); });
        });
    });
}

} // namespace

std::expected<OtlpCount, std::string> decode_otlp_json(std::string_view body, const OnOtlpPoint& on_point) {
    json::monotonic_resource memory;
    boost::system::error_code failed;
    const json::value request = json::parse(body, failed, &memory);
    if (failed) return std::unexpected(fmt::format("not JSON: {}", failed.message()));
    OtlpGatherer gatherer(on_point);
    try {
        read_request(as_object(request, "the body"), gatherer);
    } catch (const Malformed& malformed) {
        return std::unexpected("not an OTLP metrics request: " + malformed.what);
    }
    return gatherer.count();
}

} // namespace aegis
