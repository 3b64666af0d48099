#include "lib/otlp.h"

#include <bit>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <map>
#include <rapidcheck.h>
#include <string>
#include <vector>

using namespace aegis;

namespace {

struct Kept { // an OtlpPoint that outlives its callback
    std::string metric, unit;
    std::map<std::string, std::string> labels;
    std::int64_t time_us = 0;
    std::optional<std::int64_t> started_us;
    OtlpPoint::Shape shape{};
    OtlpTemporality temporality{};
    bool monotonic = false;
    std::variant<double, Histogram, ExponentialHistogram> value;
    bool operator==(const Kept&) const = default;
};

Kept keep(const OtlpPoint& point) {
    Kept kept{std::string(point.metric), std::string(point.unit), {}, point.time.time_since_epoch().count(), {}, point.shape,
              point.temporality, point.monotonic, point.value};
    if (point.started) kept.started_us = point.started->time_since_epoch().count();
    for (const auto& label : point.labels) kept.labels.emplace(label.name, label.value);
    return kept;
}

struct Decoded {
    std::vector<Kept> points;
    std::uint64_t refused = 0;
    std::string error;
};

template <class Decode> Decoded decoded(Decode&& decode, std::string_view body) {
    Decoded out;
    const auto count = decode(body, [&](const OtlpPoint& point) { out.points.push_back(keep(point)); });
    if (!count) out.error = count.error();
    else {
        out.refused = count->refused;
        CHECK(count->points == out.points.size());
    }
    return out;
}
Decoded from_json(std::string_view body) { return decoded(decode_otlp_json, body); }
Decoded from_protobuf(std::string_view body) { return decoded(decode_otlp_protobuf, body); }

// One metric of the resource leaf-01.
std::string request(std::string_view metric) {
    return fmt::format(R"({{"resourceMetrics":[{{"resource":{{"attributes":[{{"key":"net.host.name","value":{{"stringValue":"leaf-01"}}}}]}},
        "scopeMetrics":[{{"scope":{{"name":"x"}},"metrics":[{}]}}]}}]}})", metric);
}

// Protobuf writing, as small as the tests need it.
std::string varint(std::uint64_t value) {
    std::string out;
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    return out + static_cast<char>(value);
}
std::string bytes(unsigned field, std::string_view content) {
    return varint(field << 3 | 2) + varint(content.size()) + std::string(content);
}
std::string number(unsigned field, std::uint64_t value) { return varint(field << 3) + varint(value); }
std::string fixed(unsigned field, std::uint64_t value) {
    std::string out = varint(field << 3 | 1);
    for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
    return out;
}
std::string fixed(unsigned field, double value) { return fixed(field, std::bit_cast<std::uint64_t>(value)); }
std::string text_attribute(unsigned field, std::string_view key, std::string_view value) {
    return bytes(field, bytes(1, key) + bytes(2, bytes(1, value)));
}
std::string protobuf_request(std::string_view metric) {
    return bytes(1, bytes(1, text_attribute(1, "net.host.name", "leaf-01")) + bytes(2, bytes(2, metric)));
}

} // namespace

TEST_CASE("a counter sent as a gauge is read with its resource, attributes and time") {
    const auto out = from_json(request(R"({"name":"nvswitch_interface_tc_tx_ecn_marked_tc","gauge":{"dataPoints":[{"attributes":[
        {"key":"interface","value":{"stringValue":"swp1s1"}},{"key":"tc","value":{"intValue":"3"}}],
        "timeUnixNano":"1722458198491000000","asDouble":41229}]}})"));
    CHECK(out.error == "");
    REQUIRE(out.points.size() == 1);
    CHECK(out.points[0] == Kept{"nvswitch_interface_tc_tx_ecn_marked_tc", "",
                                {{"net.host.name", "leaf-01"}, {"interface", "swp1s1"}, {"tc", "3"}},
                                1722458198491000, {}, OtlpPoint::Shape::gauge, OtlpTemporality::unspecified, false, 41229.0});
}

TEST_CASE("64-bit numbers are read as texts and as numbers") {
    for (const char* count : {"\"9007199254740993\"", "9007199254740993"}) {
        const auto out = from_json(request(fmt::format(
            R"({{"name":"m","histogram":{{"aggregationTemporality":2,"dataPoints":[{{"timeUnixNano":{0},"count":{0},"bucketCounts":[{0},0],"explicitBounds":[1]}}]}}}})",
            count)));
        REQUIRE(out.points.size() == 1);
        CHECK(out.points[0].time_us == 9007199254740);
        CHECK(std::get<Histogram>(out.points[0].value) == Histogram{{1}, {9007199254740993.0, 0}});
    }
    const auto out = from_json(request(R"({"name":"m","gauge":{"dataPoints":[{"asInt":"-5"},{"asInt":7},{"asDouble":"NaN"},{"asDouble":1e300}]}})"));
    REQUIRE(out.points.size() == 4);
    CHECK(std::get<double>(out.points[0].value) == -5);
    CHECK(std::get<double>(out.points[1].value) == 7);
    CHECK(std::isnan(std::get<double>(out.points[2].value)));
    CHECK(std::get<double>(out.points[3].value) == 1e300);
}

TEST_CASE("sums keep their temporality, in numbers and in words") {
    const auto out = from_json(request(R"({"name":"a","sum":{"aggregationTemporality":1,"isMonotonic":true,"dataPoints":[{"asInt":"1"}]}},
        {"name":"b","sum":{"aggregationTemporality":"AGGREGATION_TEMPORALITY_CUMULATIVE","dataPoints":[{"asInt":"1"}]}},
        {"name":"c","sum":{"dataPoints":[{"asInt":"1"}]}})"));
    REQUIRE(out.points.size() == 3);
    CHECK((out.points[0].temporality == OtlpTemporality::delta && out.points[0].monotonic));
    CHECK((out.points[1].temporality == OtlpTemporality::cumulative && !out.points[1].monotonic));
    CHECK(out.points[2].temporality == OtlpTemporality::unspecified);
}

TEST_CASE("an exponential histogram is read from JSON and from protobuf alike") {
    const Kept expected{"rpc.duration", "s", {{"net.host.name", "leaf-01"}, {"rpc.method", "Infer"}}, 2'000'000, 1'000'000,
                        OtlpPoint::Shape::exponential_histogram, OtlpTemporality::delta, false,
                        ExponentialHistogram{3, 1, 1e-6, -7, {4, 0, 300}}};
    const auto json = from_json(request(R"({"name":"rpc.duration","unit":"s","exponentialHistogram":{"aggregationTemporality":1,"dataPoints":[{
        "attributes":[{"key":"rpc.method","value":{"stringValue":"Infer"}}],"startTimeUnixNano":"1000000000","timeUnixNano":"2000000000",
        "count":"305","sum":9.5,"scale":3,"zeroCount":"1","zeroThreshold":1e-6,"positive":{"offset":-7,"bucketCounts":["4","0","300"]},
        "negative":{"bucketCounts":["0"]}}]}})"));
    REQUIRE(json.points.size() == 1);
    CHECK(json.points[0] == expected);

    const auto point = text_attribute(1, "rpc.method", "Infer") + fixed(2, std::uint64_t{1'000'000'000}) + fixed(3, std::uint64_t{2'000'000'000}) +
                       fixed(4, std::uint64_t{305}) + fixed(5, 9.5) + number(6, 6 /* zigzag 3 */) + fixed(7, std::uint64_t{1}) +
                       bytes(8, number(1, 13 /* zigzag -7 */) + bytes(2, varint(4) + varint(0) + varint(300))) +
                       bytes(9, bytes(2, varint(0))) + fixed(14, 1e-6);
    const auto protobuf = from_protobuf(protobuf_request(bytes(1, "rpc.duration") + bytes(3, "s") + bytes(10, bytes(1, point) + number(2, 1))));
    CHECK(protobuf.error == "");
    REQUIRE(protobuf.points.size() == 1);
    CHECK(protobuf.points[0] == expected);
}

TEST_CASE("protobuf may send bucket counts unpacked, fields in any order, and fields we do not know") {
    const auto point = fixed(4, std::uint64_t{5}) + fixed(6, std::uint64_t{2}) + fixed(7, 0.5) + fixed(6, std::uint64_t{3}) + bytes(200, "new") + number(10, 0);
    const auto out = from_protobuf(protobuf_request(bytes(9, number(2, 2) + bytes(1, point)) + bytes(1, "late.name")));
    REQUIRE(out.points.size() == 1);
    CHECK(out.points[0].metric == "late.name");
    CHECK(out.points[0].temporality == OtlpTemporality::cumulative);
    CHECK(std::get<Histogram>(out.points[0].value) == Histogram{{0.5}, {2, 3}});
}

TEST_CASE("attributes of every simple type become label values, lists and maps are left out") {
    const auto out = from_json(request(R"({"name":"m","gauge":{"dataPoints":[{"asInt":1,"attributes":[{"key":"b","value":{"boolValue":true}},
        {"key":"d","value":{"doubleValue":2.5}},{"key":"i","value":{"intValue":8}},{"key":"l","value":{"arrayValue":{"values":[]}}},{"key":"n"}]}]}})"));
    REQUIRE(out.points.size() == 1);
    CHECK(out.points[0].labels == std::map<std::string, std::string>{{"net.host.name", "leaf-01"}, {"b", "true"}, {"d", "2.5"}, {"i", "8"}});
    const auto value = [](std::string_view any) { return bytes(7, bytes(1, "k") + bytes(2, any)); };
    const auto point = value(number(2, 1)) + value(number(3, static_cast<std::uint64_t>(-8))) + value(fixed(4, 2.5)) + value(bytes(5, "")) + fixed(6, std::uint64_t{1});
    std::vector<std::string> values;
    REQUIRE(decode_otlp_protobuf(protobuf_request(bytes(1, "m") + bytes(5, bytes(1, point))), [&](const OtlpPoint& p) {
        for (const auto& label : p.labels.subspan(1)) values.emplace_back(label.value);
    }));
    CHECK(values == std::vector<std::string>{"true", "-8", "2.5"});
}

TEST_CASE("a point without a recorded value is left out, one that contradicts itself is counted") {
    const auto out = from_json(request(R"({"name":"g","gauge":{"dataPoints":[{"flags":1},{"timeUnixNano":"5"}]}},
        {"name":"h","histogram":{"aggregationTemporality":2,"dataPoints":[
            {"count":"3","bucketCounts":["1","1"],"explicitBounds":[1]},
            {"count":"2","bucketCounts":["1","1"],"explicitBounds":[1,2]},
            {"count":"2","bucketCounts":["1","0","1"],"explicitBounds":[2,1]},
            {"count":"2","bucketCounts":["1","1"],"explicitBounds":["Infinity"]},
            {"count":"9","sum":3}]}},
        {"name":"e","exponentialHistogram":{"dataPoints":[{"count":"1","negative":{"bucketCounts":["1"]}},{"count":"0","scale":21},
            {"count":"1","zeroCount":"1","zeroThreshold":-1}]}})"));
    CHECK(out.refused == 1 + 4 + 3);
    REQUIRE(out.points.size() == 1); // a histogram without buckets still counts
    CHECK(std::get<Histogram>(out.points[0].value) == Histogram{{}, {9}});
}

TEST_CASE("a body that is no metrics request is an error in words") {
    for (const auto& [body, complaint] : {std::pair("<html>", "not JSON"), std::pair("[]", "the body is not an object"),
                                          std::pair(R"({"resourceSpans":[]})", "no resourceMetrics"),
                                          std::pair(R"({"resourceMetrics":{}})", "resourceMetrics is not an array"),
                                          std::pair(R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":5}]}]}]})", "name is not a text"),
                                          std::pair(R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"gauge":{"dataPoints":[{"asInt":"1x"}]}}]}]}]})", "asInt is not a whole number"),
                                          std::pair(R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"gauge":{"dataPoints":[{"flags":-1}]}}]}]}]})", "flags is not a whole number")}) {
        INFO(body);
        CHECK(from_json(body).error.find(complaint) != std::string::npos);
    }
    CHECK(from_protobuf("{\"resourceMetrics\":[]}").error != "");
    CHECK(from_protobuf(protobuf_request(bytes(1, "m") + bytes(5, bytes(1, "\x21\x00")))).error != "");
}

TEST_CASE("an empty request has no points and is no error") {
    CHECK(from_json("{}").error == "");
    CHECK(from_json(R"({"resourceMetrics":[]})").points.empty());
    CHECK(from_protobuf("").error == "");
}

TEST_CASE("JSON nested without end is refused, not followed") {
    CHECK(from_json(std::string(100'000, '[')).error != "");
}

TEST_CASE("no bytes, whole or damaged, lead the protobuf decoder astray") {
    const auto point = text_attribute(9, "k", "v") + fixed(3, std::uint64_t{1}) + fixed(4, std::uint64_t{5}) +
                       bytes(6, std::string(16, '\1')) + bytes(7, std::string(8, '\2'));
    const auto good = protobuf_request(bytes(1, "m") + bytes(9, bytes(1, point) + number(2, 2)));
    CHECK(rc::check("damaged", [&] {
        auto body = good;
        const auto flips = *rc::gen::inRange(1, 6);
        for (int i = 0; i < flips; ++i) body[*rc::gen::inRange<std::size_t>(0, body.size())] = static_cast<char>(*rc::gen::inRange(0, 256));
        body.resize(*rc::gen::inRange<std::size_t>(0, body.size() + 1));
        std::size_t points = 0;
        static_cast<void>(decode_otlp_protobuf(body, [&](const OtlpPoint&) { ++points; }));
        RC_ASSERT(points <= body.size());
    }));
}

TEST_CASE("delta sums add up again, series by series, and late points are left out") {
    DeltaSums sums(2);
    const auto add = [&](std::string_view port, double value, int second) {
        const PrometheusLabel label{"port", port};
        OtlpPoint point;
        point.metric = "m";
        point.labels = {&label, 1};
        point.time = EventTime(std::chrono::seconds(second));
        point.value = value;
        return sums.add(point);
    };
    CHECK(add("1", 5, 10) == 5.0);
    CHECK(add("2", 7, 10) == 7.0);
    CHECK(add("1", 3, 11) == 8.0);
    CHECK_FALSE(add("1", 3, 11)); // sent twice
    CHECK_FALSE(add("1", 9, 9));
    CHECK(add("1", 1, 12) == 9.0);
    CHECK_FALSE(add("3", 1, 12)); // beyond the bound
}
