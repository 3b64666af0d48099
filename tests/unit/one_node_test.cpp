#include "lib/one_node.h"

#include "tests/unit/decision_cluster.h"

#include <catch2/catch.hpp>
#include <random>

using namespace aegis;
using aegis::test::Cluster;
using aegis::test::LeafPlan;

namespace {

OneNodeAdvice advice_of(const Cluster& cluster, const char* policy = "default") {
    return one_node_advice(*cluster.table, cluster.view, *find_policy(policy), cluster.parameters.margin);
}

// What the plugin makes of it, in its own words (calm.h).
bool keeps(const OneNodeAdvice& advice, const Ask& ask) {
    return ask.s1.is_subset_of(advice.calm) || (ask.candidates & ask.idle & advice.inviting).none();
}

} // namespace

TEST_CASE("one node: calm is a leaf that no other is calmer than by the margin, inviting one that is calmer than some other") {
    const Cluster cluster({{"a", 2, 2, .10}, {"b", 2, 2, .14}, {"c", 2, 2, .16}, {"d", 2, 2, .60}});
    const OneNodeAdvice advice = advice_of(cluster);
    CHECK(cluster.table->hostlist(advice.calm) == "an[0-1],bn[0-1]");
    CHECK(cluster.table->hostlist(advice.inviting) == "an[0-1],bn[0-1],cn[0-1]");
}

TEST_CASE("one node: without knowledge of pressure, on no leaf, or by policy vanilla every node is calm") {
    CHECK(advice_of(Cluster({{"a", 2, 2, 0}, {"b", 2, 2, 0}})).calm.all());
    CHECK(advice_of(Cluster({{"a", 2, 2, 0}, {"b", 2, 2, 1}}), "vanilla").calm.all());
    Cluster stranger({{"a", 2, 2, 0}, {"b", 2, 2, 1}});
    stranger.table = std::make_unique<NodeTable>(1, std::vector<std::string>{"an0", "bn0", "login"}, stranger.fabric);
    CHECK(stranger.table->hostlist(advice_of(stranger).calm) == "an0,login");
}

TEST_CASE("one node: no job that the advice keeps would have been offered a plan") {
    std::mt19937 random(3);
    const auto pick = [&](std::uint32_t from, std::uint32_t to) { return std::uniform_int_distribution<std::uint32_t>(from, to)(random); };
    int kept = 0, moved = 0, asked_in_vain = 0;
    for (int round = 0; round < 4000; ++round) {
        std::vector<LeafPlan> plans(pick(1, 6));
        for (std::size_t i = 0; i < plans.size(); ++i) {
            const std::uint32_t size = pick(1, 5);
            plans[i] = {"l" + std::to_string(i), size, pick(0, size), pick(0, 20) / 20., pick(0, 5) == 0 ? 1u : 0u};
        }
        Cluster cluster(plans);
        cluster.parameters.margin = pick(0, 6) / 20.;
        cluster.parameters.spare_nodes = pick(0, 3) == 0 ? 1 : 0;
        for (LeafPressure& leaf : cluster.view.leaves) leaf.confidence = pick(0, 2) / 2.;
        for (std::size_t i = 0; i < cluster.ask.candidates.size(); ++i)
            if (pick(0, 3) == 0) cluster.ask.candidates.reset(i);
        const std::uint32_t node = pick(0, static_cast<std::uint32_t>(cluster.ask.s1.size()) - 1); // busy nodes too: they may have a free GPU
        cluster.ask.s1.set(node);
        cluster.ask.candidates.set(node);
        if (pick(0, 4) == 0) cluster.ask.idle = cluster.ask.candidates; // the plugin did not know

        const bool offered = cluster.decide().offers_plans();
        if (keeps(advice_of(cluster), cluster.ask)) {
            REQUIRE_FALSE(offered);
            ++kept;
        } else {
            ++(offered ? moved : asked_in_vain);
        }
    }
    CHECK(kept > 500);
    CHECK(moved > 500);
    CHECK(asked_in_vain < kept); // the rule is of use
}
