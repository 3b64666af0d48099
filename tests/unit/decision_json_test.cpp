#include "aegisd/decision_json.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <catch2/catch.hpp>

using namespace aegis;
namespace json = boost::json;

TEST_CASE("a decision as JSON names leaves, links, terms and weights, with four digits") {
    const auto topology = parse_topology("SwitchName=tor1 Nodes=n[0-3]\nSwitchName=tor2 Nodes=n[4-7]\n", "topology.conf");
    PortGroup ports;
    ports.sw = "sw\"1\"\\\n";
    ports.ports = {"p1"};
    ports.leaves = {"tor1"};
    const Fabric fabric = *Fabric::build(*topology, {ports});

    Decision decision;
    decision.weights = {.3, .4, .3};
    decision.s1 = {{{LeafIndex{0}, 2}}, {0, 1, .123456789}, .98765432};
    decision.alternatives = {{{{LeafIndex{1}, 2}}, {0, 0, 0}, 1e-9}};
    decision.plans = 1;
    decision.leaf_ids = {LeafIndex{0}, LeafIndex{1}};
    LeafPressure hot;
    hot.worst_link = LinkIndex{0};
    hot.pressure = 2.0 / 3;
    hot.terms = {.5, .25, .125};
    hot.age = std::chrono::milliseconds{1234};
    hot.freshness = Freshness::lagged;
    hot.confidence = 1;
    decision.leaves = {hot, LeafPressure{}};

    const json::value read = json::parse(decision_json(decision, fabric, .05));
    CHECK(read.at("weights").at("span").as_double() == .4);
    CHECK(read.at("s1").at("leaves").at(0).at("leaf").as_string() == "tor1");
    CHECK(read.at("s1").at("leaves").at(0).at("nodes").as_int64() == 2);
    CHECK(read.at("s1").at("features").at("now").as_double() == .1235);
    CHECK(read.at("s1").at("cost").as_double() == .9877);
    CHECK(read.at("alternatives").at(0).at("cost").as_double() == 1e-9);
    CHECK(read.at("plans").as_int64() == 1);
    CHECK(read.at("margin").as_double() == .05);
    const json::value& leaf = read.at("leaves").at(0);
    CHECK(leaf.at("link").as_string() == "sw\"1\"\\\n/p1");
    CHECK(leaf.at("pressure").as_double() == .6667);
    CHECK(leaf.at("phi_u").as_double() == .125);
    CHECK(leaf.at("age_ms").as_int64() == 1234);
    CHECK(leaf.at("freshness").as_string() == "lagged");
    CHECK(read.at("leaves").at(1).at("leaf").as_string() == "tor2");
    CHECK(read.at("leaves").at(1).at("link").is_null());
    CHECK(read.at("leaves").at(1).at("age_ms").is_null());
}
