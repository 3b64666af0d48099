#include "lib/plan.h"
#include "lib/score.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <rapidcheck.h>
#include <set>

using namespace aegis;

namespace {

struct Question {
    std::vector<LeafRoom> rooms;
    PressureView view;
    std::uint32_t nodes = 1;
    std::uint32_t spare = 0;
    Footprint s1;

    void add(std::uint32_t room, std::uint32_t of, double pressure, std::uint32_t component = 0) {
        rooms.push_back({LeafIndex{static_cast<std::uint32_t>(rooms.size())}, room, of, component});
        view.leaves.push_back({LinkIndex{0}, pressure, {}, {}, Freshness::fresh, 1});
    }
    double cost(const Footprint& footprint) const {
        std::vector<LeafUse> use;
        for (const LeafRoom& room : rooms) use.push_back({room.nodes, room.room});
        return cost_of(features_of(footprint, use, span_range(rooms, nodes), view), *find_policy("default"));
    }
    std::vector<CostedPlacement> answer(std::uint32_t keep = 8) const {
        return best_placements({rooms, nodes, spare, s1, view}, [this](const Footprint& f) { return cost(f); }, keep);
    }
};

std::set<std::uint32_t> leaves_of(const Footprint& footprint) {
    std::set<std::uint32_t> leaves;
    for (const LeafShare& share : footprint) leaves.insert(static_cast<std::uint32_t>(share.leaf));
    return leaves;
}

Question random_question(std::mt19937& random, std::uint32_t most_leaves) {
    const auto pick = [&](std::uint32_t from, std::uint32_t to) { return std::uniform_int_distribution<std::uint32_t>(from, to)(random); };
    Question question;
    const std::uint32_t leaves = pick(2, most_leaves), size = pick(1, 16), components = pick(0, 4) == 0 ? 2 : 1;
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
        const std::uint32_t kind = pick(0, 3);
        const std::uint32_t room = kind == 0 ? size : kind == 1 ? 0 : pick(0, size);
        question.add(room, size, pick(0, 2) == 0 ? 0 : pick(0, 960) / 1000.0, leaf % components);
    }
    question.nodes = pick(1, std::max(1u, leaves * size / 2));
    return question;
}

// The cheapest of all leaf subsets with room, each filled as the header says, written anew.
double brute_force(const Question& question) {
    double best = std::numeric_limits<double>::infinity();
    const auto count = static_cast<std::uint32_t>(question.rooms.size());
    for (std::uint32_t subset = 1; subset < 1u << count; ++subset) {
        std::vector<LeafRoom> chosen;
        std::uint32_t room = 0;
        for (std::uint32_t leaf = 0; leaf < count; ++leaf)
            if (subset >> leaf & 1) {
                chosen.push_back(question.rooms[leaf]);
                room += question.rooms[leaf].room;
            }
        const bool one_component = std::ranges::all_of(chosen, [&](const LeafRoom& l) { return l.component == chosen[0].component && l.room > 0; });
        if (!one_component || room < question.nodes + question.spare || chosen.size() > question.nodes) continue;
        std::ranges::sort(chosen, [&](const LeafRoom& x, const LeafRoom& y) {
            if (x.room != y.room) return x.room > y.room;
            const double px = question.view.leaves[at(x.leaf)].pressure, py = question.view.leaves[at(y.leaf)].pressure;
            if (px != py) return px < py;
            if ((x.room < x.nodes) != (y.room < y.nodes)) return x.room < x.nodes;
            return x.leaf < y.leaf;
        });
        Footprint footprint;
        for (const LeafRoom& leaf : chosen) footprint.push_back({leaf.leaf, 1});
        std::uint32_t left = question.nodes - static_cast<std::uint32_t>(chosen.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const std::uint32_t more = std::min(left, chosen[i].room - 1);
            footprint[i].nodes += more;
            left -= more;
        }
        best = std::min(best, question.cost(footprint));
    }
    return best;
}

} // namespace

TEST_CASE("a job goes to the coolest leaf with room") {
    Question question;
    question.add(4, 4, .5);
    question.add(2, 4, .0);
    question.add(4, 4, .1);
    question.nodes = 4;
    question.s1 = {{LeafIndex{0}, 4}};
    const auto answer = question.answer();
    REQUIRE_FALSE(answer.empty());
    CHECK(answer[0].footprint == Footprint{{LeafIndex{2}, 4}});
}

TEST_CASE("no placement joins leaves of different components") {
    Question question;
    question.add(2, 4, 0, 0);
    question.add(2, 4, 0, 1);
    question.add(3, 4, .9, 1);
    question.nodes = 4;
    for (const CostedPlacement& placement : question.answer()) CHECK(leaves_of(placement.footprint) == std::set{1u, 2u});
    question.nodes = 6;
    CHECK(question.answer().empty());
    question.nodes = 5;
    question.spare = 1;
    CHECK(question.answer().empty());
}

TEST_CASE("where only S1's own leaves have room there is no other placement") {
    Question question;
    question.add(4, 4, .9);
    question.add(3, 4, 0);
    question.nodes = 4;
    question.s1 = {{LeafIndex{0}, 4}};
    for (const CostedPlacement& placement : question.answer()) CHECK(leaves_of(placement.footprint) == std::set{0u, 1u});
    question.rooms[1].room = 0;
    CHECK(question.answer().empty());
}

TEST_CASE("spare room is kept free beside the job") {
    Question question;
    question.add(4, 4, 0);
    question.add(6, 6, .5);
    question.nodes = 4;
    CHECK(question.answer()[0].footprint == Footprint{{LeafIndex{0}, 4}});
    question.spare = 2;
    CHECK(question.answer()[0].footprint == Footprint{{LeafIndex{1}, 4}});
}

TEST_CASE("the span of possible placements runs from the fewest to the most leaves of any component") {
    Question question;
    CHECK(span_range(question.rooms, 3).most == 1);
    for (std::uint32_t room : {4u, 3u, 2u, 0u}) question.add(room, 4, 0, 0);
    question.add(6, 6, 0, 1);
    const auto range = [&](std::uint32_t nodes) {
        const SpanRange r = span_range(question.rooms, nodes);
        return std::pair{r.fewest, r.most};
    };
    CHECK(range(2) == std::pair{1u, 2u});
    CHECK(range(6) == std::pair{1u, 3u});
    CHECK(range(8) == std::pair{3u, 3u});
    CHECK(range(10) == std::pair{1u, 1u});
}

TEST_CASE("whatever the question, answers are distinct, ordered, whole, within the rooms and not S1") {
    std::mt19937 random(1);
    for (int i = 0; i < 300; ++i) {
        Question question = random_question(random, 30);
        question.spare = static_cast<std::uint32_t>(i % 3);
        if (const auto some = question.answer(); !some.empty()) question.s1 = some[0].footprint;
        const auto answer = question.answer(5);
        REQUIRE(answer.size() <= 5);
        std::set<std::set<std::uint32_t>> seen{leaves_of(question.s1)};
        for (std::size_t k = 0; k < answer.size(); ++k) {
            const Footprint& footprint = answer[k].footprint;
            REQUIRE(seen.insert(leaves_of(footprint)).second);
            REQUIRE(answer[k].cost == Approx(question.cost(footprint)));
            if (k > 0) REQUIRE(answer[k].cost >= answer[k - 1].cost);
            std::uint32_t nodes = 0, room = 0;
            for (std::size_t j = 0; j < footprint.size(); ++j) {
                const LeafShare& share = footprint[j];
                REQUIRE(share.nodes >= 1);
                REQUIRE(share.nodes <= question.rooms[at(share.leaf)].room);
                REQUIRE(question.rooms[at(share.leaf)].component == question.rooms[at(footprint[0].leaf)].component);
                if (j > 0) REQUIRE(share.leaf > footprint[j - 1].leaf);
                nodes += share.nodes;
                room += question.rooms[at(share.leaf)].room;
            }
            REQUIRE(nodes == question.nodes);
            REQUIRE(room >= question.nodes + question.spare);
        }
    }
}

TEST_CASE("on small fabrics the best placement found is that of brute force over all leaf subsets, or near it") {
    std::mt19937 random(20260);
    int asked = 0, within_2_percent = 0;
    double worst = 1;
    for (int i = 0; i < 1500; ++i) {
        const Question question = random_question(random, 8);
        const double optimum = brute_force(question);
        const auto answer = question.answer();
        REQUIRE(answer.empty() == std::isinf(optimum));
        if (answer.empty()) continue;
        REQUIRE(answer[0].cost >= optimum - 1e-12);
        REQUIRE(answer[0].cost <= 1.10 * optimum + 1e-12);
        ++asked;
        within_2_percent += answer[0].cost <= 1.02 * optimum + 1e-12;
        if (optimum > 0) worst = std::max(worst, answer[0].cost / optimum);
    }
    CAPTURE(asked, within_2_percent, worst);
    CHECK(asked > 1000);
    CHECK(within_2_percent >= .99 * asked);
    INFO("worst " << worst);
}
