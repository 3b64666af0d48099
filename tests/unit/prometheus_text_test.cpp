#include "lib/prometheus_text.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <rapidcheck.h>
#include <utility>

using namespace aegis;

namespace {

// A sample that outlives its callback.
struct Kept {
    std::string name;
    std::vector<std::pair<std::string, std::string>> labels;
    std::string value; // as text: NaN equals NaN
    std::optional<std::int64_t> time;
    bool operator==(const Kept&) const = default;
};

struct Result {
    std::vector<Kept> samples;
    std::optional<PrometheusError> error;
    bool operator==(const Result&) const = default;
};

// Feeds the text in pieces of the given sizes, over and over; all at once without sizes.
Result parse(std::string_view text, const std::vector<std::size_t>& pieces = {}, std::size_t line_limit = 65536) {
    Result result;
    PrometheusText parser(
        [&](const PrometheusSample& sample) {
            Kept kept{std::string(sample.name), {}, std::to_string(sample.value), sample.timestamp_ms};
            for (const PrometheusLabel& label : sample.labels) kept.labels.emplace_back(label.name, label.value);
            result.samples.push_back(std::move(kept));
        },
        line_limit);
    for (std::size_t i = 0; !text.empty(); ++i) {
        const std::size_t size = pieces.empty() ? text.size() : std::min(text.size(), pieces[i % pieces.size()]);
        (void)parser.feed(text.substr(0, size)); // finish() returns the same error
        text.remove_prefix(size);
    }
    if (const auto done = parser.finish(); !done) result.error = done.error();
    return result;
}

double value_of(std::string_view line) {
    double value = -12345;
    PrometheusText parser([&](const PrometheusSample& sample) { value = sample.value; });
    CHECK(parser.feed(line).has_value());
    CHECK(parser.finish().has_value());
    return value;
}

// What the format's description shows, in our own words: escapes, HELP and TYPE, timestamps, le, odd numbers.
constexpr std::string_view example = R"(# HELP rpc_calls_total Calls, with a \n in the help and "quotes".
# TYPE rpc_calls_total counter
rpc_calls_total{method="post",code="200"} 1027 1395066363000
rpc_calls_total{code="400", method="post" ,}    3 1395066363000

#plain comment
 	spaced:name{ path = "C:\\DIR\\FILE" , error = "no \"such\"\nfile" } 1.458255915e9
bare 12.47
no_labels{} -4
took_seconds_bucket{le="+Inf"} 144320	-3982045
odd NaN
big +Inf
small -Inf
# EOF
last 1e-3)";

} // namespace

TEST_CASE("the text format is read with labels in any order, escapes, blanks, timestamps and odd numbers") {
    const Result result = parse(example);
    CHECK_FALSE(result.error);
    REQUIRE(result.samples.size() == 10);
    CHECK(result.samples[0] == Kept{"rpc_calls_total", {{"method", "post"}, {"code", "200"}}, "1027.000000", 1395066363000});
    CHECK(result.samples[1] == Kept{"rpc_calls_total", {{"code", "400"}, {"method", "post"}}, "3.000000", 1395066363000});
    CHECK(result.samples[2] ==
          Kept{"spaced:name", {{"path", "C:\\DIR\\FILE"}, {"error", "no \"such\"\nfile"}}, "1458255915.000000", {}});
    CHECK(result.samples[3] == Kept{"bare", {}, "12.470000", {}});
    CHECK(result.samples[4] == Kept{"no_labels", {}, "-4.000000", {}});
    CHECK(result.samples[5] == Kept{"took_seconds_bucket", {{"le", "+Inf"}}, "144320.000000", -3982045});
    CHECK(result.samples[6].value == "nan");
    CHECK(result.samples[7].value == "inf");
    CHECK(result.samples[8].value == "-inf");
    CHECK(result.samples[9] == Kept{"last", {}, "0.001000", {}});
}

TEST_CASE("numbers are read to the last bit") {
    CHECK(value_of("a 9.48637661383288e+14") == 9.48637661383288e+14);
    CHECK(value_of("a 18446744073709551615\n") == 18446744073709551615.0);
    CHECK(value_of("a +8.128902E+06\r\n") == 8128902);
    CHECK(value_of("a{b=\"\"}.5") == .5);
    CHECK(std::isinf(value_of("a Inf")));
    CHECK(std::signbit(value_of("a -0")));
}

TEST_CASE("what is not the text format is refused with line and text, after the samples before it") {
    const auto [text, line, expected, found] = GENERATE(table<std::string, int, std::string, std::string>({
        {"<!DOCTYPE html>\n<html>", 1, "a metric name", "<!DOCTYPE html>"},
        {"a 1\n\n{\"status\":1}", 3, "a metric name", "{\"status\":1}"},
        {"a 1\n1b 2\n", 2, "a metric name", "1b 2"},
        {"a", 1, "a blank or '{' after the metric name", "a"},
        {"a.b 1", 1, "a blank or '{' after the metric name", ".b 1"},
        {"a ", 1, "a value", "a "},
        {"a{b=\"c\"}", 1, "a value", "a{b=\"c\"}"},
        {"a one", 1, "a value", "one"},
        {"a 1,5", 1, "a value", "1,5"},
        {"a 0x10", 1, "a value", "0x10"},
        {"a +-1", 1, "a value", "+-1"},
        {"a nan(5)", 1, "a value", "nan(5)"},
        {"a 1 2.5", 1, "a timestamp in whole milliseconds", "2.5"},
        {"a 1 # {trace=\"x\"} 1", 1, "a timestamp in whole milliseconds", "#"},
        {"a 1 2 3", 1, "the end of the line", "3"},
        {"a{b=\"c\" d=\"e\"} 1", 1, "',' or '}' after the label", "d=\"e\"} 1"},
        {"a{b} 1", 1, "'=' after the label name", "} 1"},
        {"a{b=c} 1", 1, "a label value in double quotes", "c} 1"},
        {"a{b:c=\"d\"} 1", 1, "'=' after the label name", ":c=\"d\"} 1"},
        {"a{b=\"c} 1", 1, "a closing quote", "c} 1"},
        {"a{b=\"c\\", 1, "a closing quote", "c\\"},
        {"a{b=\"\\t\"} 1", 1, "one of the escapes \\\\ \\\" \\n", "\\t\"} 1"},
        {"a{,} 1", 1, "a label name or '}'", ",} 1"},
        {"a{", 1, "a label name or '}'", ""},
        {"\x01\xff", 1, "a metric name", "??"},
    }));
    CAPTURE(text);
    const Result result = parse(text);
    REQUIRE(result.error);
    CHECK(result.error == PrometheusError{static_cast<std::uint64_t>(line), expected, found});
}

TEST_CASE("an error says where, and the parser stays with its first one") {
    PrometheusText parser([](const PrometheusSample&) {});
    CHECK(parser.feed("a 1\n<html>\nb").has_value() == false);
    const auto again = parser.feed("c 1\n");
    REQUIRE_FALSE(again.has_value());
    CHECK(to_string(again.error()) == "line 2: expected a metric name, found \"<html>\"");
    CHECK(parser.finish().error() == again.error());
}

TEST_CASE("a line beyond the limit is refused without being kept") {
    const std::string line = "a{b=\"" + std::string(90, 'x') + "\"} 1\n"; // 99 bytes and a newline
    CHECK(parse(line, {}, 99).samples.size() == 1);
    for (const auto& pieces : {std::vector<std::size_t>{}, std::vector<std::size_t>{7}}) {
        const Result result = parse("ok 1\n" + line, pieces, 98);
        REQUIRE(result.error);
        CHECK(result.samples.size() == 1);
        CHECK(result.error->line == 2);
        CHECK(result.error->expected == "a line of at most 98 bytes");
        CHECK(result.error->found.size() <= 63);
    }
}

TEST_CASE("a text gives the same samples in whatever pieces it comes") {
    const Result whole = parse(example);
    for (std::size_t size = 1; size < 40; ++size) REQUIRE(parse(example, {size}) == whole);
    CHECK(rc::check("random pieces", [&] {
        const auto pieces = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 90)));
        RC_ASSERT(parse(example, pieces) == whole);
    }));
}

TEST_CASE("no bytes make the parser crash, and their pieces give the same samples and the same error") {
    const auto same_in_pieces = [](const std::string& text) {
        const Result whole = parse(text, {}, 40), bytewise = parse(text, {1}, 40);
        RC_ASSERT(whole.samples == bytewise.samples);
        RC_ASSERT(whole.error.has_value() == bytewise.error.has_value());
        if (whole.error) RC_ASSERT(whole.error->line == bytewise.error->line);
    };
    CHECK(rc::check("any bytes", [&] { same_in_pieces(*rc::gen::container<std::string>(rc::gen::arbitrary<char>())); }));
    CHECK(rc::check("bytes that matter", [&] {
        same_in_pieces(*rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab1 \t{}=\",\\n#\n.e+-N"))));
    }));
    CHECK(rc::check("a good text with one byte changed", [&] {
        std::string text(example);
        text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
        same_in_pieces(text);
    }));
}
