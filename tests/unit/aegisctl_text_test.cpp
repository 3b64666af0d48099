// What aegisctl prints, from answers of aegisd written out here.
#include "aegisctl/commands.h"
#include "aegisctl/output.h"
#include "aegisctl/words.h"

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>

using namespace aegis;
namespace json = boost::json;

namespace {

// Times are shown in local time: the tests live in Greenwich.
void use_utc() {
    setenv("TZ", "UTC", 1);
    tzset();
}

constexpr std::int64_t noon_us = 1'796'126'400'000'000; // 2026-12-01 12:00:00 UTC

json::value steered() {
    return json::parse(R"({
        "decision": 7, "time_us": 1796126400123456, "job_key": "42", "job_id": 42, "job_name": "train", "user": "ada", "account": "physics",
        "partition": "gpu", "mode": "steer", "policy": "default", "policy_hash": "00ff", "reason": "better_plan", "nodes": 2, "plans": 1,
        "offered": true, "s1": "n[1-2]", "began_us": 1796126401000000, "ended_us": null,
        "outcome": {"result": "plan_1", "nodes": "n[5-6]", "inner_calls": 2, "waited_us": 180, "time_us": 1796126400123999},
        "detail": {
            "weights": {"frag": 0.3, "span": 0.4, "now": 0.3},
            "s1": {"leaves": [{"leaf": "tor1", "nodes": 2}], "features": {"frag": 0.0, "span": 0.0, "now": 0.83}, "cost": 0.249},
            "alternatives": [
                {"leaves": [{"leaf": "tor2", "nodes": 2}], "features": {"frag": 0.0, "span": 0.0, "now": 0.1}, "cost": 0.03},
                {"leaves": [{"leaf": "tor1", "nodes": 1}, {"leaf": "tor2", "nodes": 1}], "features": {"frag": 0.0, "span": 1.0, "now": 0.66},
                 "cost": 0.598}],
            "plans": 1, "margin": 0.05,
            "leaves": [
                {"leaf": "tor1", "link": "sw1/p49", "pressure": 0.83, "phi_e": 0.9, "phi_q": 0.3, "phi_u": 0.2, "age_ms": 1000,
                 "freshness": "fresh", "confidence": 1.0},
                {"leaf": "tor2", "link": null, "pressure": 0.0, "phi_e": 0.0, "phi_q": 0.0, "phi_u": 0.0, "age_ms": null,
                 "freshness": "dark", "confidence": 0.0}]}})");
}

json::value with(json::value decision, std::string_view changes) {
    const json::value parsed = json::parse(json::string_view(changes.data(), changes.size()));
    for (const auto& change : parsed.as_object()) {
        json::object& detail = decision.as_object()["detail"].as_object();
        (detail.contains(change.key()) ? detail : decision.as_object())[change.key()] = change.value();
    }
    return decision;
}

} // namespace

TEST_CASE("a steered job is explained by its dominant reason, what Slurm did, the terms and the pressures") {
    use_utc();
    CHECK(explain_text(steered()) == R"(job 42 (train) of ada, 2 nodes, decision 7, mode steer, policy default

tor1 is pressed (0.83, mostly by ECN marks on sw1/p49, age 1.0s); on tor2 the cost is 0.03 instead of 0.25.
Slurm accepted the first plan and chose n[5-6].
decided 2026-12-01 12:00:00, waited 180us in 2 inner calls, began 2026-12-01 12:00:01

PLACEMENT       FRAG x 0.30  SPAN x 0.40   NOW x 0.30  COST  LEAVES (NODES ON EACH)
Slurm's choice  0.00 = 0.00  0.00 = 0.00  0.83 = 0.25  0.25  tor1:2
plan 1          0.00 = 0.00  0.00 = 0.00  0.10 = 0.03  0.03  tor2:2
not better      0.00 = 0.00  1.00 = 0.40  0.66 = 0.20  0.60  tor1:1 tor2:1

LEAF  PRESSURE  MARKS  QUEUE  LOAD   AGE  STATE  BELIEF  WORST LINK
tor1      0.83   0.90   0.30  0.20  1.0s  fresh    1.00  sw1/p49
tor2      0.00   0.00   0.00  0.00     -  dark     0.00  -
)");
}

TEST_CASE("in mode observe the explanation says what steering would have done") {
    const std::string text = explain_text(with(steered(), R"({"mode": "observe", "offered": false,
        "outcome": {"result": "kept", "nodes": "n[1-2]", "inner_calls": 1, "waited_us": 90}})"));
    CHECK_THAT(text, Catch::Contains("tor1 is pressed (0.83"));
    CHECK_THAT(text, Catch::Contains("Mode was observe, so this was only recorded: in mode steer Slurm would have been asked to place the job "
                                     "on tor2.\nSlurm's choice stood: n[1-2].\n"));
}

TEST_CASE("each reason has its sentence") {
    const auto headline = [](std::string_view changes) {
        const std::string text = explain_text(with(steered(), changes));
        const std::size_t from = text.find("\n\n") + 2;
        return text.substr(from, text.find('\n', from) - from);
    };
    CHECK(headline(R"({"reason": "policy_keeps", "policy": "vanilla"})") == "Policy vanilla always keeps Slurm's choice.");
    CHECK_THAT(headline(R"({"reason": "unmapped_nodes"})"), Catch::StartsWith("Slurm's choice includes nodes that stand on no leaf"));
    CHECK(headline(R"({"reason": "no_alternative"})") == "No other set of leaves has room for 2 nodes.");
    CHECK(headline(R"({"reason": "no_calmer_leaf", "alternatives": [], "margin": 0.05})") ==
          "No leaf with room for the job is calmer than tor1 by the margin of 0.05.");
    CHECK(headline(R"({"reason": "s1_is_best"})") == "Slurm's own choice, tor1, has the lowest cost of all, 0.25.");
    CHECK(headline(R"({"reason": "within_margin", "margin": 0.3})") ==
          "Slurm's choice stands: on tor2 the cost is 0.03 instead of 0.25, which is not better by the margin of 0.30.");
    // stale telemetry is said to be stale
    CHECK_THAT(headline(R"({"leaves": [{"leaf": "tor1", "link": "sw1/p49", "pressure": 0.5, "phi_e": 0.0, "phi_q": 0.9, "phi_u": 0.2,
        "age_ms": 90000, "freshness": "stale", "confidence": 0.4}]})"),
               Catch::StartsWith("tor1 is pressed (0.50, mostly by queue depth on sw1/p49, age 1m 30s, stale);"));
    // the feature with the largest weighted difference speaks
    CHECK(headline(R"({"s1": {"leaves": [{"leaf": "a", "nodes": 1}, {"leaf": "b", "nodes": 1}], "cost": 0.45,
        "features": {"frag": 0.1, "span": 1.0, "now": 0.2}}})") ==
          "Slurm's choice spreads the job over 2 leaves, where 1 would do; on tor2 the cost is 0.03 instead of 0.45.");
    CHECK(headline(R"({"s1": {"leaves": [{"leaf": "a", "nodes": 2}], "cost": 0.33, "features": {"frag": 1.0, "span": 0.0, "now": 0.1}}})") ==
          "Slurm's choice leaves more of the fabric partly used (a); on tor2 the cost is 0.03 instead of 0.33.");
}

TEST_CASE("each result has its sentence") {
    const auto says = [](std::string_view outcome, std::string_view words) {
        CHECK_THAT(explain_text(with(steered(), outcome)), Catch::Contains(std::string(words)));
    };
    says(R"({"outcome": {"result": "plan_2", "nodes": "n9"}})", "Slurm accepted the second plan and chose n9.");
    says(R"({"outcome": {"result": "restored", "nodes": "n1"}})", "Slurm could not start the job on any plan, so it chose again from all nodes: n1.");
    says(R"({"outcome": {"result": "lost", "nodes": ""}})", "This must never happen: please report it.");
    says(R"({"outcome": null})", "What Slurm did has not been reported;");
}

TEST_CASE("many leaves are counted, not listed, in a sentence") {
    std::string leaves;
    for (int i = 1; i <= 16; ++i) leaves += std::string(i > 1 ? "," : "") + R"({"leaf": "t)" + std::to_string(i) + R"(", "nodes": 1})";
    CHECK_THAT(explain_text(with(steered(), R"({"reason": "s1_is_best", "s1": {"leaves": [)" + leaves + R"(], "cost": 0.5}})")),
               Catch::Contains("Slurm's own choice, t1, t2, t3 and 13 more leaves, has the lowest cost"));
}

TEST_CASE("a decision whose terms are lost is still explained as far as it goes") {
    json::value decision = steered();
    decision.as_object()["detail"] = nullptr;
    CHECK_THAT(explain_text(decision), Catch::Contains("not readable in the store") && Catch::Contains("Slurm accepted the first plan"));
    CHECK_FALSE(explain_text(json::object()).empty());
}

TEST_CASE("what a user wrote into a job name cannot steer the terminal") {
    CHECK(printable("a\x1b[2Jb\r\n\x7f") == "a?[2Jb???");
    CHECK(printable("gr\xc3\xb6\xc3\x9f" "e \xc2\x9b" "31m") == "gr\xc3\xb6\xc3\x9f" "e ?31m");
    const std::string text = explain_text(with(steered(), "{\"job_name\": \"x\\u001b]0;owned\\u0007\"}"));
    CHECK(text.find('\x1b') == text.npos);
    CHECK(text.find('\a') == text.npos);
}

TEST_CASE("status shows the plugin, its counters as quantiles, sources and store") {
    const json::value status = json::parse(R"({
        "version": "0.1.0", "pid": 9, "started_us": 1796122800000000, "mode": "steer", "policy": "default", "policy_hash": "00ff",
        "config_file": "/etc/aegis/aegisd.toml", "config_loaded_us": 1796126390000000, "last_reload_error": null,
        "plugin": {"connected": true, "slurm_version": "22.05.8", "release": "0.1.0", "node_count": 1024, "node_table_hash": "aa",
                   "unmapped_nodes": 3, "since_us": 1796126280000000, "last_ping_us": 1796126399000000,
                   "counters": {"job_tests": 1000, "asks": 900, "kept_unasked": 70, "advice_keep": 800, "advice_plans": 100, "plans_accepted": 90,
                                "plans_refused": 10, "restored": 5, "losses": 0, "timeouts": 2, "late_answers": 2, "send_failures": 0,
                                "malformed": 0, "breaker_opened": 1, "connects": 3, "events_dropped": 0, "added_us_total": 50000,
                                "added_us_max": 2100, "added_us": [0, 100, 400, 400, 80, 10, 5, 0, 3, 2, 0, 0, 0, 0, 0, 0],
                                "breaker_open": 0, "breaker_wait_ms": 5000}},
        "sources": [{"name": "leaves", "type": "prometheus", "url": "http://h/metrics", "state": "lagged", "age_ms": 12000, "polls": 1234567,
                     "failures": 2, "last_failure": "connection refused", "last_failure_us": 1, "series": 512, "unmapped_series": 0,
                     "refused_samples": 1, "events": {}}],
        "fabric": {"leaves": 16, "links": 64, "unmapped_ports": 1},
        "store": {"path": "/var/lib/aegis/decisions.db", "ok": true, "error": null, "placements": 12345},
        "tick": {"count": 3600, "window": 600, "late_p50_us": 80, "late_p99_us": 1240, "late_window_max_us": 9950, "late_max_us": 20000},
        "asks": 900, "kept_unasked": 69, "plans_offered": 100, "plans_accepted": 90, "protocol_errors": {"frames_refused": 0, "peers_refused": 0}})");
    CHECK(status_text(status, noon_us) == R"(aegisd     0.1.0, pid 9, up 1h 0m
mode       steer
policy     default (00ff)
config     /etc/aegis/aegisd.toml, read 10s ago
fabric     16 leaves, 64 links, 1 unmapped ports
store      /var/lib/aegis/decisions.db, 12,345 placements
engine     ticks late by 0.1ms (p50), 1.2ms (p99), 9.9ms at most; of the last 600 seconds
advice     900 asks, 69 jobs kept unasked, plans offered 100, accepted 90
plugin     connected for 2m 0s, Slurm 22.05.8, Aegis 0.1.0, 1,024 nodes
           3 of them on no leaf of the fabric
  breaker  closed; opened 1 times
  asked    900 of 1,000 job tests, 70 kept unasked; keep 800, plans 100
  plans    accepted 90, refused by Slurm 10, restored 5, jobs lost 0
  failed   timeouts 2, late answers 2, sends 0, malformed 0, events dropped 0; connects 3
  ADDED TO A JOB TEST  P50    P90     P99    P99.9     MAX    MEAN
                     <16us  <32us  <128us  <2048us  2100us  50.0us

SOURCE  STATE   AGE      POLLS  FAILED  SERIES  UNMAPPED  REFUSED  LAST FAILURE
leaves  lagged  12s  1,234,567       2     512         0        1  connection refused
)");
}

TEST_CASE("status puts what is wrong in plain words") {
    const std::string text = status_text(json::parse(R"json({
        "last_reload_error": "aegisd.toml:3: select.deadlin: expected a key of [select]",
        "plugin": {"connected": false, "last_ping_us": 1796126340000000,
                   "counters": {"breaker_open": 1, "breaker_wait_ms": 20000, "breaker_opened": 3, "job_tests": 0, "added_us": [0, 0]}},
        "store": {"path": "/x/decisions.db", "ok": false, "error": "/x/decisions.db: no room left: No space left on device (ENOSPC)", "events_lost": 4},
        "protocol_errors": {"frames_refused": 2, "peers_refused": 1}})json"), noon_us);
    CHECK_THAT(text, Catch::Contains("LAST RELOAD REFUSED, this is still the one before: aegisd.toml:3"));
    CHECK_THAT(text, Catch::Contains("plugin     NOT CONNECTED, last seen 1m 0s ago"));
    CHECK_THAT(text, Catch::Contains("breaker  OPEN for 20s: Slurm places without advice; opened 3 times"));
    CHECK_THAT(text, Catch::Contains("store      FAILED, Slurm places without advice: /x/decisions.db: no room left"));
    CHECK_THAT(text, Catch::Contains("4 outcomes and job events could not be recorded"));
    CHECK_THAT(text, Catch::Contains("refused    2 malformed frames, 1 peers without the right to connect"));
    CHECK_THAT(text, Catch::Contains("no telemetry sources"));
    CHECK_THAT(status_text(json::parse(R"({"plugin": null})"), noon_us), Catch::Contains("plugin     has not connected since aegisd started"));
}

TEST_CASE("a quantile in the unbounded last bucket is only bounded below") {
    const std::string text = status_text(json::parse(R"({"plugin": {"counters": {"job_tests": 2, "added_us":
        [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2]}}})"), noon_us);
    CHECK_THAT(text, Catch::Contains(">=65536us"));
}

TEST_CASE("fabric, policies, decisions, settings and modes are tables and sentences") {
    use_utc();
    const json::value fabric = json::parse(R"({"leaves": [{"leaf": "tor1", "nodes": "n[1-4]", "component": 0, "pressure": 0.5, "confidence": 0.9,
        "freshness": "fresh", "age_ms": 900, "worst_link": "sw1/p1", "links": [{"link": "sw1/p1", "trunk": true, "rate_bps": 1e11, "known": true,
        "pressure": 0.5, "mark_rate": 0.042, "load": 0.85, "depth_bytes": 210000}, {"link": "sw1/p2", "trunk": false, "rate_bps": 0,
        "known": false, "pressure": null, "mark_rate": null, "load": null, "depth_bytes": null}]}],
        "unmapped_nodes": "x1", "unmapped_ports": ["sw9/p1"]})");
    CHECK(fabric_text(fabric, false) == R"(LEAF  PRESSURE  BELIEF  STATE    AGE  WORST LINK  NODES
tor1      0.50    0.90  fresh  900ms  sw1/p1      n[1-4]

nodes on no leaf (jobs on them are left alone): x1

ports that telemetry shows and no [[ports]] names:
  sw9/p1
)");
    CHECK_THAT(fabric_text(fabric, true), Catch::StartsWith(R"(LEAF  LINK    KIND      RATE  PRESSURE  MARKS   LOAD  DEPTH
tor1  sw1/p1  trunk  100Gbit      0.50   4.2%  85.0%  210KB
tor1  sw1/p2  node         -         -      -      -      -
)"));
    CHECK(policies_text(json::parse(R"({"policies": [
        {"name": "vanilla", "hash": "b6", "weights": {"frag": 0.0, "now": 0.0}, "in_force": false, "built_in": true},
        {"name": "default", "hash": "cb", "weights": {"frag": 0.3, "now": 0.7}, "in_force": true, "built_in": true}]})")) ==
          R"(POLICY   IN FORCE  HASH  WEIGHTS
vanilla  no        b6    none: Slurm's choice always stands
default  yes       cb    frag=0.30 now=0.70
)");
    CHECK(decisions_text(json::object{{"decisions", json::array{steered()}}}) ==
          R"(DECISION  TIME                 JOB  NAME   USER  NODES  MODE   POLICY   REASON       RESULT  SLURM CHOSE  RUNS ON
       7  2026-12-01 12:00:00  42   train  ada       2  steer  default  better_plan  plan_1  n[1-2]       n[5-6]
)");
    CHECK(decisions_text(json::object{{"decisions", json::array{}}}) == "no decisions recorded\n");
    CHECK(config_text(json::parse(R"({"file": "/a.toml", "settings": [{"key": "select.deadline", "value": "2ms", "default": "2ms", "unit": "duration"}]})")) ==
          "# /a.toml\nKEY              VALUE  DEFAULT  TYPE\nselect.deadline  2ms    2ms      duration\n");
    CHECK(mode_text(json::parse(R"({"from": "off", "to": "steer", "changed": true})"), false) == "mode changed from off to steer\n");
    CHECK(mode_text(json::parse(R"({"from": "off", "to": "steer", "changed": true})"), true) == "mode would change from off to steer\n");
    CHECK(mode_text(json::parse(R"({"from": "off", "to": "off", "changed": false})"), false) == "mode is off already\n");
}

TEST_CASE("--since is a duration ago or a local time") {
    use_utc();
    CHECK(since_us("10m", noon_us) == noon_us - 600'000'000);
    CHECK(since_us("2026-12-01T12:00:30", 0) == noon_us + 30'000'000);
    CHECK(since_us("2026-12-01T12:00", 0) == noon_us);
    CHECK(since_us("2026-12-01", 0) == noon_us - 43'200'000'000);
    CHECK(since_us("1d", 5) == 0);
    for (const char* wrong : {"", "yesterday", "10", "2026-13-01", "2026-12-01T12:00:30Z", "-1h"}) CHECK_FALSE(since_us(wrong, noon_us).has_value());
}

TEST_CASE("numbers are said with the unit that leaves three digits") {
    const auto said = [](std::string (*as)(const json::value*), double number) {
        const json::value value = number;
        return as(&value);
    };
    CHECK(said(as_bytes, 0) == "0B");
    CHECK(said(as_bytes, 999.7) == "1KB");
    CHECK(said(as_bytes, 184'320) == "184KB");
    CHECK(said(as_rate, 2.5e9) == "2.5Gbit");
    CHECK(said(as_rate, 0) == "-");
    CHECK(said(as_percent, 0.042) == "4.2%");
    CHECK(said(as_count, 1234567) == "1,234,567");
    CHECK(said(as_count, 999) == "999");
    CHECK(said(as_age, 59'400) == "59s");
    CHECK(said(as_age, 3'600'000) == "1h 0m");
    CHECK(said(as_age, 90'000'000) == "1d 1h");
    CHECK(as_text(nullptr) == "-");
}

TEST_CASE("columns are as wide as their widest cell in characters, not bytes") {
    constexpr Column columns[] = {{"A", "a", as_text}, {"B", "b", as_text, Align::right}};
    CHECK(table_text(columns, json::parse(R"([{"a": "größe", "b": 1}, {"a": "x", "b": 22}, {}])").as_array(), 1) ==
          " A       B\n größe   1\n x      22\n -       -\n");
}
