#include "lib/decision.h"

#include "tests/unit/decision_cluster.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace aegis;
using aegis::test::Cluster;
using aegis::test::LeafPlan;

namespace {

std::vector<LeafPlan> random_leaves(std::mt19937& random) {
    const auto pick = [&](std::uint32_t from, std::uint32_t to) { return std::uniform_int_distribution<std::uint32_t>(from, to)(random); };
    std::vector<LeafPlan> plans(pick(2, 9));
    const std::uint32_t size = pick(2, 8);
    for (std::size_t i = 0; i < plans.size(); ++i)
        plans[i] = {"l" + std::to_string(i), size, pick(0, size), pick(0, 9600) / 1e4, 0};
    return plans;
}

// Slurm's choice: a few idle nodes of a few leaves. Without idle nodes: nothing.
std::vector<std::uint32_t> random_choice(std::mt19937& random, const std::vector<LeafPlan>& plans) {
    std::vector<std::uint32_t> counts;
    for (const LeafPlan& plan : plans)
        counts.push_back(random() % 3 == 0 && plan.idle > 0 ? 1 + static_cast<std::uint32_t>(random() % plan.idle) : 0);
    return counts;
}

Cluster cluster_of(const std::vector<LeafPlan>& plans, const std::vector<std::uint32_t>& s1) {
    Cluster cluster(plans);
    for (std::size_t leaf = 0; leaf < plans.size(); ++leaf) cluster.choose(leaf, s1[leaf]);
    return cluster;
}

bool same_leaves(const Footprint& a, const Footprint& b) {
    return std::ranges::equal(a, b, {}, &LeafShare::leaf, &LeafShare::leaf);
}

} // namespace

TEST_CASE("a job on a hot leaf is offered the cool one") {
    Cluster cluster({{"tor1", 4, 4, .8}, {"tor2", 4, 4, .05}});
    cluster.choose(0, 2);
    const Decision decision = cluster.decide();
    CHECK(decision.reason == Reason::better_plan);
    CHECK(decision.offers_plans());
    REQUIRE(decision.plans >= 1);
    CHECK(cluster.table->hostlist(decision.plan_nodes[0]) == "tor2n[0-3]");
    CHECK(decision.s1.features[static_cast<std::size_t>(Feature::now)] == Approx(.8));
    CHECK(decision.leaf_ids == std::vector{LeafIndex{0}, LeafIndex{1}});
    CHECK(decision.leaves[0].pressure == .8);
    CHECK(decision.policy_hash == find_policy("default")->hash());
}

TEST_CASE("a plan holds all candidates on its leaves, busy ones too, and nothing that is no candidate") {
    Cluster cluster({{"tor1", 4, 4, .8}, {"tor2", 4, 3, .0}});
    cluster.choose(0, 2);
    cluster.ask.candidates.reset(5);
    const Decision decision = cluster.decide();
    REQUIRE(decision.plans >= 1);
    CHECK(cluster.table->hostlist(decision.plan_nodes[0]) == "tor2n[0,2-3]");
}

TEST_CASE("a better plan within the margin is recorded, not offered; a tie keeps") {
    Cluster cluster({{"tor1", 4, 4, .30}, {"tor2", 4, 4, .20}});
    cluster.choose(0, 4);
    Decision decision = cluster.decide(); // .3 * .1 is below .05
    CHECK(decision.reason == Reason::within_margin);
    CHECK_FALSE(decision.offers_plans());
    CHECK(decision.alternatives.size() == 2); // tor2, and both
    cluster.parameters.margin = .03 - 1e-9;
    CHECK(cluster.decide().reason == Reason::better_plan);
    cluster.view.leaves[0].pressure = .2;
    cluster.parameters.margin = 0;
    CHECK(cluster.decide().reason == Reason::s1_is_best);
}

TEST_CASE("what cannot be judged is kept, with the reason") {
    Cluster cluster({{"tor1", 2, 2, .9}, {"tor2", 2, 1, 0}});
    cluster.choose(0, 2);
    cluster.ask.candidates &= cluster.table->nodes_of(LeafIndex{0});
    CHECK(cluster.decide().reason == Reason::no_alternative);

    Cluster stranger({{"tor1", 2, 2, .9}, {"tor2", 2, 2, 0}});
    stranger.choose(0, 2);
    stranger.table = std::make_unique<NodeTable>(1, std::vector<std::string>{"tor1n0", "login", "tor2n0", "tor2n1"}, stranger.fabric);
    CHECK(stranger.decide().reason == Reason::unmapped_nodes);
    stranger.ask.s1.resize(9);
    CHECK(stranger.decide().reason == Reason::unmapped_nodes);
}

TEST_CASE("a job of one node is moved only to a leaf that is calmer by the margin, and never to tidy up") {
    Cluster cluster({{"tor1", 4, 4, .30}, {"tor2", 4, 1, .28}, {"tor3", 4, 4, .90}});
    cluster.choose(0, 1);
    CHECK(cluster.decide().reason == Reason::no_calmer_leaf); // though tor2 would be filled up by it
    cluster.view.leaves[1].pressure = .1;
    const Decision moved = cluster.decide();
    CHECK(moved.reason == Reason::better_plan);
    REQUIRE(moved.plans == 1);
    CHECK(cluster.table->hostlist(moved.plan_nodes[0]) == "tor2n[0-3]");
    cluster.ask.idle.reset(4); // tor2's only idle node
    CHECK(cluster.decide().reason == Reason::no_calmer_leaf);
}

TEST_CASE("for a job that was kept unasked nothing is searched, and what was known is on record") {
    Cluster cluster({{"tor1", 4, 4, .8}, {"tor2", 4, 4, 0}});
    cluster.choose(0, 1);
    REQUIRE(cluster.decide().plans > 0);
    cluster.ask.kept = true;
    const Decision decision = cluster.decide();
    CHECK(decision.reason == Reason::no_calmer_leaf);
    CHECK(decision.alternatives.empty());
    CHECK(decision.s1.features[static_cast<std::size_t>(Feature::now)] == Approx(.8));
    CHECK(cluster.decide("vanilla").reason == Reason::policy_keeps);
}

TEST_CASE("only mode steer offers plans") {
    Cluster cluster({{"tor1", 4, 4, .8}, {"tor2", 4, 4, 0}});
    cluster.choose(0, 2);
    for (Mode mode : {Mode::off, Mode::observe, Mode::steer}) {
        const Decision decision =
            decide({cluster.ask, *cluster.table, cluster.fabric, cluster.view, *find_policy("default"), cluster.parameters, mode});
        CHECK(decision.plans > 0);
        CHECK(decision.offers_plans() == (mode == Mode::steer));
    }
}

TEST_CASE("vanilla keeps every job, and every decision is sound, repeatable and blind to names") {
    std::mt19937 random(7);
    int offered = 0;
    for (int i = 0; i < 400; ++i) {
        const auto plans = random_leaves(random);
        const auto s1 = random_choice(random, plans);
        Cluster cluster = cluster_of(plans, s1);
        cluster.parameters.spare_nodes = static_cast<std::uint32_t>(i % 2);
        const Decision decision = cluster.decide();

        const Decision vanilla = cluster.decide("vanilla");
        REQUIRE(vanilla.plans == 0);
        if (cluster.ask.s1.any()) REQUIRE(vanilla.reason == Reason::policy_keeps);

        const Decision again = cluster.decide();
        REQUIRE(again.plan_nodes == decision.plan_nodes);
        REQUIRE(again.s1.cost == decision.s1.cost);

        REQUIRE(decision.plans <= 2);
        REQUIRE(decision.plan_nodes.size() == decision.plans);
        for (std::uint32_t k = 0; k < decision.plans; ++k) {
            const ScoredPlacement& plan = decision.alternatives[k];
            REQUIRE(plan.cost <= decision.s1.cost - cluster.parameters.margin);
            REQUIRE_FALSE(same_leaves(plan.footprint, decision.s1.footprint));
            REQUIRE(decision.plan_nodes[k].is_subset_of(cluster.ask.candidates));
            const NodeSet free = decision.plan_nodes[k] & (cluster.ask.idle | cluster.ask.s1);
            REQUIRE(free.count() >= cluster.ask.s1.count() + cluster.parameters.spare_nodes);
        }
        if (decision.plans == 2) REQUIRE_FALSE(same_leaves(decision.alternatives[0].footprint, decision.alternatives[1].footprint));
        offered += decision.plans > 0;

        // The same leaves in another order.
        std::vector<std::size_t> order(plans.size());
        for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
        std::ranges::shuffle(order, random);
        std::vector<LeafPlan> shuffled;
        std::vector<std::uint32_t> shuffled_s1;
        for (std::size_t k : order) {
            shuffled.push_back(plans[k]);
            shuffled_s1.push_back(s1[k]);
        }
        Cluster other = cluster_of(shuffled, shuffled_s1);
        other.parameters = cluster.parameters;
        const Decision permuted = other.decide();
        REQUIRE(permuted.reason == decision.reason);
        REQUIRE(permuted.s1.cost == Approx(decision.s1.cost));
        REQUIRE(permuted.plans == decision.plans);
        for (std::uint32_t k = 0; k < decision.plans; ++k)
            REQUIRE(permuted.alternatives[k].cost == Approx(decision.alternatives[k].cost));
    }
    CHECK(offered > 50);
}

TEST_CASE("raising the pressure of all of S1's leaves alike never makes keep more attractive") {
    std::mt19937 random(11);
    for (int i = 0; i < 300; ++i) {
        auto plans = random_leaves(random);
        const auto s1 = random_choice(random, plans);
        for (LeafPlan& plan : plans) plan.pressure *= .5;
        const Decision before = cluster_of(plans, s1).decide();
        for (std::size_t leaf = 0; leaf < plans.size(); ++leaf)
            if (s1[leaf] > 0) plans[leaf].pressure += .4;
        const Decision after = cluster_of(plans, s1).decide();
        REQUIRE(after.plans >= std::min(before.plans, 1u));
        if (!before.alternatives.empty()) {
            const double gain_before = before.s1.cost - before.alternatives[0].cost;
            REQUIRE(after.s1.cost - after.alternatives[0].cost >= gain_before - 1e-12);
        }
    }
}
