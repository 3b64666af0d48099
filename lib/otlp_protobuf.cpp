// The protobuf encoding of OTLP metrics. Field numbers: opentelemetry-proto, metrics/v1 and common/v1.
#include "lib/otlp_point.h"
#include "lib/protobuf_reader.h"

#include <charconv>

namespace aegis {

namespace {

using Raw = OtlpGatherer::Raw;
using Shape = OtlpPoint::Shape;

std::string shortest(double value) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

// Walks over the fields of a message; the first failure of any level fails the whole.
template <class OnField> bool each_field(std::string_view message, OnField&& on_field) {
    ProtobufReader reader(message);
    while (const auto field = reader.next())
        if (!on_field(*field)) return false;
    return !reader.failed();
}

bool read_value(std::string_view any_value, std::optional<std::string>& text) {
    return each_field(any_value, [&](const ProtobufField& field) {
        if (field.is(1, WireType::bytes)) text = std::string(field.bytes);
        if (field.is(2, WireType::varint)) text = field.value ? "true" : "false";
        if (field.is(3, WireType::varint)) text = std::to_string(field.as_signed());
        if (field.is(4, WireType::fixed64)) text = shortest(field.as_double());
        return true;
    });
}

bool read_attribute(std::string_view key_value, std::vector<OtlpGatherer::Attribute>& attributes) {
    std::string name;
    std::optional<std::string> value;
    if (!each_field(key_value, [&](const ProtobufField& field) {
            if (field.is(1, WireType::bytes)) name = std::string(field.bytes);
            return !field.is(2, WireType::bytes) || read_value(field.bytes, value);
        }))
        return false;
    if (!value) return true;
    if (attributes.size() >= otlp_attributes_max) return false;
    attributes.push_back({std::move(name), std::move(*value)});
    return true;
}

bool read_number_point(std::string_view message, Raw& raw) {
    return each_field(message, [&](const ProtobufField& field) {
        if (field.is(2, WireType::fixed64)) raw.started_ns = field.value;
        if (field.is(3, WireType::fixed64)) raw.time_ns = field.value;
        if (field.is(4, WireType::fixed64)) raw.number = field.as_double();
        if (field.is(6, WireType::fixed64)) raw.number = static_cast<double>(field.as_signed());
        if (field.is(8, WireType::varint)) raw.flags = field.value;
        return !field.is(7, WireType::bytes) || read_attribute(field.bytes, raw.attributes);
    });
}

bool read_histogram_point(std::string_view message, Raw& raw) {
    return each_field(message, [&](const ProtobufField& field) {
        if (field.is(2, WireType::fixed64)) raw.started_ns = field.value;
        if (field.is(3, WireType::fixed64)) raw.time_ns = field.value;
        if (field.is(4, WireType::fixed64)) raw.count = field.value;
        if (field.is(10, WireType::varint)) raw.flags = field.value;
        if (field.number == 6) return append_fixed64(field, raw.bucket_counts);
        if (field.number == 7) return append_doubles(field, raw.bounds);
        return !field.is(9, WireType::bytes) || read_attribute(field.bytes, raw.attributes);
    });
}

bool read_buckets(std::string_view message, std::int32_t& offset, std::vector<std::uint64_t>& counts) {
    return each_field(message, [&](const ProtobufField& field) {
        if (field.is(1, WireType::varint)) offset = field.as_zigzag32();
        return field.number != 2 || append_varints(field, counts);
    });
}

bool read_exponential_point(std::string_view message, Raw& raw) {
    return each_field(message, [&](const ProtobufField& field) {
        if (field.is(2, WireType::fixed64)) raw.started_ns = field.value;
        if (field.is(3, WireType::fixed64)) raw.time_ns = field.value;
        if (field.is(4, WireType::fixed64)) raw.count = field.value;
        if (field.is(6, WireType::varint)) raw.scale = field.as_zigzag32();
        if (field.is(7, WireType::fixed64)) raw.zero_count = field.value;
        if (field.is(10, WireType::varint)) raw.flags = field.value;
        if (field.is(14, WireType::fixed64)) raw.zero_threshold = field.as_double();
        if (field.is(8, WireType::bytes)) return read_buckets(field.bytes, raw.offset, raw.bucket_counts);
        if (field.is(9, WireType::bytes)) {
            std::int32_t offset = 0;
            std::vector<std::uint64_t> counts;
            if (!read_buckets(field.bytes, offset, counts)) return false;
            for (const auto count : counts) raw.negative_samples |= count != 0;
        }
        return !field.is(1, WireType::bytes) || read_attribute(field.bytes, raw.attributes);
    });
}

// Gauge, Sum, Histogram or ExponentialHistogram. Temporality follows the points, so points wait until all is read.
bool read_data(std::string_view message, Shape shape, OtlpGatherer& gatherer) {
    OtlpTemporality temporality{};
    bool monotonic = false;
    std::vector<std::string_view> points;
    if (!each_field(message, [&](const ProtobufField& field) {
            if (field.is(1, WireType::bytes)) points.push_back(field.bytes);
            if (shape != Shape::gauge && field.is(2, WireType::varint) && field.value <= 2)
                temporality = static_cast<OtlpTemporality>(field.value);
            if (shape == Shape::sum && field.is(3, WireType::varint)) monotonic = field.value != 0;
            return true;
        }))
        return false;
    for (const auto point : points) {
        Raw raw;
        const bool good = shape == Shape::histogram               ? read_histogram_point(point, raw)
                          : shape == Shape::exponential_histogram ? read_exponential_point(point, raw)
                                                                  : read_number_point(point, raw);
        if (!good) return false;
        gatherer.deliver(shape, temporality, monotonic, std::move(raw));
    }
    return true;
}

bool read_metric(std::string_view message, OtlpGatherer& gatherer) {
    gatherer.metric.clear();
    gatherer.unit.clear();
    std::vector<std::pair<Shape, std::string_view>> data; // after the name, wherever that stands
    if (!each_field(message, [&](const ProtobufField& field) {
            if (field.is(1, WireType::bytes)) gatherer.metric = std::string(field.bytes);
            if (field.is(3, WireType::bytes)) gatherer.unit = std::string(field.bytes);
            if (field.is(5, WireType::bytes)) data.emplace_back(Shape::gauge, field.bytes);
            if (field.is(7, WireType::bytes)) data.emplace_back(Shape::sum, field.bytes);
            if (field.is(9, WireType::bytes)) data.emplace_back(Shape::histogram, field.bytes);
            if (field.is(10, WireType::bytes)) data.emplace_back(Shape::exponential_histogram, field.bytes);
            return true;
        }))
        return false;
    for (const auto& [shape, bytes] : data)
        if (!read_data(bytes, shape, gatherer)) return false;
    return true;
}

bool read_resource_metrics(std::string_view message, OtlpGatherer& gatherer) {
    gatherer.resource.clear();
    std::vector<std::string_view> scopes;
    if (!each_field(message, [&](const ProtobufField& field) {
            if (field.is(2, WireType::bytes)) scopes.push_back(field.bytes);
            return !field.is(1, WireType::bytes) || each_field(field.bytes, [&](const ProtobufField& inner) {
                return !inner.is(1, WireType::bytes) || read_attribute(inner.bytes, gatherer.resource);
            });
        }))
        return false;
    for (const auto scope : scopes)
        if (!each_field(scope, [&](const ProtobufField& field) {
                return !field.is(2, WireType::bytes) || read_metric(field.bytes, gatherer);
            }))
            return false;
    return true;
}

} // namespace

std::expected<OtlpCount, std::string> decode_otlp_protobuf(std::string_view body, const OnOtlpPoint& on_point) {
    OtlpGatherer gatherer(on_point);
    if (!each_field(body, [&](const ProtobufField& field) {
            return !field.is(1, WireType::bytes) || read_resource_metrics(field.bytes, gatherer);
        }))
        return std::unexpected("not an OTLP metrics request in protobuf");
    return gatherer.count();
}

} // namespace aegis
