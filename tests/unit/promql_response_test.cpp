#include "lib/promql_response.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace aegis;

namespace {

PromqlAnswer vector_of(const std::string& elements) {
    const auto answer = decode_promql(R"({"status":"success","data":{"resultType":"vector","result":[)" + elements + "]}}");
    REQUIRE(answer);
    return *answer;
}

} // namespace

TEST_CASE("a vector gives each series with its labels in order of name") {
    const auto answer = vector_of(R"({"metric":{"__name__":"m","port":"1","device":"mlx5_0"},"value":[1796096958.782,"4294967295"]})");
    REQUIRE(answer.samples.size() == 1);
    CHECK(answer.samples[0].labels == std::vector<std::pair<std::string, std::string>>{{"__name__", "m"}, {"device", "mlx5_0"}, {"port", "1"}});
    CHECK(answer.samples[0].value == 4294967295.0);
    CHECK_FALSE(answer.samples[0].time);
}

TEST_CASE("no traffic is NaN and division by nothing is infinite, as the server says it") {
    const auto answer = vector_of(R"({"metric":{},"value":[1,"NaN"]},{"metric":{},"value":[1,"+Inf"]},{"metric":{},"value":[1,"-Inf"]},
        {"metric":{},"value":[1,"1e+06"]})");
    CHECK(std::isnan(answer.samples[0].value));
    CHECK(answer.samples[1].value == std::numeric_limits<double>::infinity());
    CHECK(answer.samples[2].value == -std::numeric_limits<double>::infinity());
    CHECK(answer.samples[3].value == 1e6);
}

TEST_CASE("native histograms are left out and counted") {
    const auto answer = vector_of(R"({"metric":{},"histogram":[1,{"count":"5","sum":"1","buckets":[]}]},{"metric":{},"value":[1,"2"]})");
    CHECK(answer.histograms == 1);
    CHECK(answer.samples.size() == 1);
}

TEST_CASE("a scalar is one sample and an empty vector is none") {
    const auto scalar = decode_promql(R"({"status":"success","data":{"resultType":"scalar","result":[1796096958.798,"1"]}})");
    REQUIRE(scalar);
    CHECK(scalar->samples.at(0).value == 1);
    CHECK(vector_of("").samples.empty());
}

TEST_CASE("a matrix, a text, an error and noise are refused in words") {
    CHECK(decode_promql(R"({"status":"success","data":{"resultType":"matrix","result":[]}})").error().find("a matrix") != std::string::npos);
    CHECK(decode_promql(R"({"status":"success","data":{"resultType":"string","result":[1,"x"]}})").error().find("a string") != std::string::npos);
    CHECK(decode_promql(R"({"status":"error","errorType":"bad_data","error":"1:6: parse error"})").error() == "bad_data: 1:6: parse error");
    for (const char* noise : {"", "<html>", "[]", "{}", R"({"status":"success"})", R"({"status":"success","data":{"resultType":"vector","result":{}}})",
                              R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,2]}]}})",
                              R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":["1","2"]}]}})",
                              R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":1},"value":[1,"2"]}]}})",
                              R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2s"]}]}})"})
        CHECK(decode_promql(noise).error() == "not an answer of a Prometheus query");
}

TEST_CASE("samples are dated by the answer to timestamp(), whatever its order") {
    auto values = vector_of(R"({"metric":{"__name__":"m","port":"1"},"value":[300,"7"]},{"metric":{"__name__":"m","port":"2"},"value":[300,"8"]},
        {"metric":{"__name__":"m","port":"3"},"value":[300,"9"]},{"metric":{"__name__":"m","port":"4"},"value":[300,"9"]})");
    const auto times = vector_of(R"({"metric":{"port":"2"},"value":[300,"290.5"]},{"metric":{"port":"1"},"value":[300,"12.25"]},
        {"metric":{"port":"3"},"value":[300,"NaN"]})");
    CHECK(date_samples(values, times) == 2); // port 3 has no time, port 4 none at all
    REQUIRE(values.samples.size() == 2);
    CHECK(values.samples[0].time == EventTime(std::chrono::milliseconds(12250))); // nearly five minutes old
    CHECK(values.samples[1].time == EventTime(std::chrono::milliseconds(290500)));
}

TEST_CASE("a selector escapes what a label value may hold") {
    CHECK(promql_selector("up", {}) == "up");
    CHECK(promql_selector("m", {{"job", "a\"b\\c\nd"}, {"port", "1"}}) == "m{job=\"a\\\"b\\\\c\\nd\",port=\"1\"}");
}
