#include "aegisd/history_json.h"

#include "aegisctl/commands.h"

#include <boost/json/array.hpp>
#include <catch2/catch.hpp>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t now_s = 1'700'000'000;
const EventTime now{std::chrono::seconds(now_s)};
constexpr auto week = std::chrono::hours(24 * 7);

} // namespace

TEST_CASE("where a history comes from follows from how far back it goes and how fine it is wanted") {
    const auto [ago, step, from_file, width, step_s] = GENERATE(table<std::int64_t, std::optional<std::int64_t>, bool, std::int64_t, std::int64_t>({
        {600, {}, false, 1, 10},
        {60, {}, false, 1, 1},
        {600, 1, false, 1, 1},
        {620, {}, true, 10, 30},
        {3600, {}, true, 10, 60},
        {3600, 10, true, 10, 10},
        {3600, 300, true, 300, 300},
        {86'400, {}, true, 300, 3600},
        {30 * 86'400, {}, true, 300, 86'400},
    }));
    CAPTURE(ago);
    const auto plan = plan_history({"a/b", now_s - ago, step}, week, now);
    REQUIRE(plan);
    CHECK(plan->resolution.has_value() == from_file);
    CHECK(plan->width_s == width);
    CHECK(plan->step_s == step_s);
    CHECK(plan->since_s <= now_s - ago);
    CHECK(plan->since_s % plan->step_s == 0);
}

TEST_CASE("steps finer than what is kept, or too many, and times to come are refused") {
    CHECK(plan_history({"a/b", now_s - 8 * 86'400, 60}, week, now).error() == "step: 60 s: that far back it must be a multiple of 300 s");
    CHECK(plan_history({"a/b", now_s - 86'400, 10}, week, now).error() == "step: 10 s: these are 8640 steps; expected at most 2000");
    CHECK(plan_history({"a/b", now_s + 5, {}}, week, now).error() == "since: expected a time that has passed");
}

TEST_CASE("a step in which nothing was read is null, one with a zero is zero") {
    Link link;
    link.sw = "a";
    link.port = "b";
    link.rate_bps = 8000;
    RollUp amounts;
    amounts.bytes = 500;
    amounts.packets = 0;
    amounts.covered_us = 1'000'000;
    HistoryPlan plan;
    plan.since_s = now_s;
    plan.until_s = now_s + 30;
    plan.step_s = 10;
    const auto topology = parse_topology("SwitchName=t Nodes=n", "t");
    const auto answer = history_json(plan, "a/b", &link, *Fabric::build(*topology, {}), {{now_s + 3, amounts}, {now_s + 4, amounts}, {now_s + 20, amounts}});
    const auto& points = answer.at("points").as_array();
    REQUIRE(points.size() == 3);
    CHECK(points[0].at("bytes") == 1000);
    CHECK(points[0].at("load") == .5);
    CHECK(points[0].at("packets") == 0);
    CHECK(points[0].at("drops").is_null());
    CHECK(points[1].at("bytes").is_null());
    CHECK(points[1].at("load").is_null());
    CHECK(points[2].at("bytes") == 500);
}

TEST_CASE("a line of bars has one character a second, and a blank where nothing was read") {
    const boost::json::array shares{0.0, .5, nullptr, 1.0, .96};
    CHECK(spark_text(shares, false) == "_= ##");
    CHECK(spark_text(shares, true) == "\u2581\u2585 \u2588\u2588");
}
