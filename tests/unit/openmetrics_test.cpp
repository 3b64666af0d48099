#include "lib/prometheus_text.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace aegis;

namespace {

struct Read {
    std::vector<std::string> samples; // name{label=value} value @ms
    std::string error;
};

Read read(std::string_view text, PrometheusFormat format = PrometheusFormat::openmetrics, std::size_t piece = 1'000'000) {
    Read out;
    PrometheusText parser(
        [&](const PrometheusSample& sample) {
            std::string shown(sample.name);
            for (const auto& label : sample.labels) shown += "{" + std::string(label.name) + "=" + std::string(label.value) + "}";
            shown += " " + std::to_string(sample.value);
            if (sample.timestamp_ms) shown += " @" + std::to_string(*sample.timestamp_ms);
            out.samples.push_back(shown);
        },
        65536, format);
    for (std::size_t at = 0; at < text.size(); at += piece)
        if (const auto fed = parser.feed(text.substr(at, piece)); !fed) out.error = to_string(fed.error());
    if (const auto finished = parser.finish(); !finished) out.error = to_string(finished.error());
    return out;
}

} // namespace

TEST_CASE("OpenMetrics is read with exemplars skipped, _created delivered and timestamps in seconds") {
    const std::string text = "# TYPE rpc histogram\n"
                             "# UNIT rpc seconds\n"
                             "rpc_bucket{le=\"0.1\"} 8 # {trace_id=\"KOO5S4vxi0o\",x=\"# y\"} 0.067\n"
                             "rpc_bucket{le=\"+Inf\"} 17 1520879607.789 # {trace_id=\"oHg5SJYRHA0\"} 9.8 1520879607.789\n"
                             "rpc_count 17\n"
                             "rpc_created 1520430000.123\n"
                             "foo:bar_total{a=\"x # y\"} 1e3 1.6e9\n"
                             "# EOF\n";
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, text.size()}) {
        const Read out = read(text, PrometheusFormat::openmetrics, piece);
        CHECK(out.error == "");
        CHECK(out.samples == std::vector<std::string>{"rpc_bucket{le=0.1} 8.000000", "rpc_bucket{le=+Inf} 17.000000 @1520879607789",
                                                      "rpc_count 17.000000", "rpc_created 1520430000.123000",
                                                      "foo:bar_total{a=x # y} 1000.000000 @1600000000000"});
    }
}

TEST_CASE("OpenMetrics that does not end with # EOF was cut short, and nothing may follow it") {
    CHECK(read("a 1\n").error == "line 2: expected # EOF as the last line, found \"\"");
    CHECK(read("a 1\n# EOF").error == "");
    CHECK(read("a 1\r\n# EOF\r\n").error == "");
    CHECK(read("a 1\n# EOF\nb 2\n").error == "line 3: expected nothing after # EOF, found \"b 2\"");
    CHECK(read("").error != "");
}

TEST_CASE("a timestamp that is no time in seconds is refused") {
    for (const char* time : {"NaN", "+Inf", "1e300", "12:00"}) {
        INFO(time);
        CHECK(read(std::string("a 1 ") + time + "\n# EOF\n").error.find("a timestamp in seconds") != std::string::npos);
    }
}

TEST_CASE("the older text format keeps its milliseconds, knows no exemplars and needs no end") {
    CHECK(read("a 1 1520879607789\n# EOF\nb 2\n", PrometheusFormat::text).samples == std::vector<std::string>{"a 1.000000 @1520879607789", "b 2.000000"});
    CHECK(read("a 1 # {} 1\n", PrometheusFormat::text).error != "");
    CHECK(read("a 1 1520879607.789\n", PrometheusFormat::text).error != "");
}

TEST_CASE("the Content-Type says which of the two it is") {
    CHECK(prometheus_format_of("application/openmetrics-text; version=1.0.0; charset=utf-8") == PrometheusFormat::openmetrics);
    CHECK(prometheus_format_of("text/plain; version=0.0.4") == PrometheusFormat::text);
    CHECK(prometheus_format_of("") == PrometheusFormat::text);
}
