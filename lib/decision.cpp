#include "lib/decision.h"

#include "lib/one_node.h"
#include "lib/plan.h"
#include "lib/score.h"

#include <algorithm>

namespace aegis {

namespace {

constexpr std::uint32_t most_plans = 2; // DESIGN 4.3

// Room of every leaf for this job, by LeafIndex: candidates that are idle, or that Slurm would give it.
std::vector<LeafRoom> rooms_of(const DecisionInput& input) {
    const auto& leaves = input.fabric.leaves();
    std::vector<LeafRoom> rooms(leaves.size());
    for (std::uint32_t leaf = 0; leaf < leaves.size(); ++leaf)
        rooms[leaf] = {LeafIndex{leaf}, 0, 0, leaves[leaf].component};
    const NodeSet& candidates = input.ask.candidates;
    for (std::size_t i = candidates.find_first(); i != NodeSet::npos; i = candidates.find_next(i))
        if (const auto leaf = input.table.leaf_of(NodeIndex{static_cast<std::uint32_t>(i)})) {
            LeafRoom& room = rooms[at(*leaf)];
            ++room.nodes;
            if (input.ask.idle.test(i) || input.ask.s1.test(i)) ++room.room;
        }
    return rooms;
}

// A job of one node is moved only to leaves that are calmer than its own (lib/one_node.h).
std::vector<LeafRoom> calmer_rooms(const std::vector<LeafRoom>& rooms, LeafIndex s1, const DecisionInput& input) {
    std::vector<LeafRoom> calmer;
    for (const LeafRoom& room : rooms)
        if (is_calmer(input.view.leaves[at(room.leaf)], input.view.leaves[at(s1)], input.parameters.margin))
            calmer.push_back(room);
    return calmer;
}

bool all_mapped(const Ask& ask, const Footprint& s1) {
    std::size_t nodes = 0;
    for (const LeafShare& share : s1) nodes += share.nodes;
    return nodes == ask.s1.count();
}

bool beats(const ScoredPlacement& plan, const ScoredPlacement& s1, double margin) {
    return plan.cost < s1.cost && plan.cost <= s1.cost - margin;
}

NodeSet nodes_on(const Footprint& footprint, const DecisionInput& input) {
    NodeSet nodes(input.table.size());
    for (const LeafShare& share : footprint) nodes |= input.table.nodes_of(share.leaf);
    return nodes &= input.ask.candidates;
}

// Keeps with the leaf rows what they were at the time of the decision.
void note_leaves(Decision& decision, const PressureView& view) {
    const auto note = [&](const Footprint& footprint) {
        for (const LeafShare& share : footprint) decision.leaf_ids.push_back(share.leaf);
    };
    note(decision.s1.footprint);
    for (const ScoredPlacement& alternative : decision.alternatives) note(alternative.footprint);
    std::ranges::sort(decision.leaf_ids);
    const auto repeated = std::ranges::unique(decision.leaf_ids);
    decision.leaf_ids.erase(repeated.begin(), repeated.end());
    for (LeafIndex leaf : decision.leaf_ids) decision.leaves.push_back(view.leaves[at(leaf)]);
}

Reason judge(Decision& decision, const DecisionInput& input) {
    if (decision.alternatives.empty()) return input.ask.s1.count() == 1 ? Reason::no_calmer_leaf : Reason::no_alternative;
    for (const ScoredPlacement& alternative : decision.alternatives) {
        if (decision.plans == most_plans || !beats(alternative, decision.s1, input.parameters.margin)) break;
        ++decision.plans;
        decision.plan_nodes.push_back(nodes_on(alternative.footprint, input));
    }
    if (decision.plans > 0) return Reason::better_plan;
    return decision.alternatives.front().cost < decision.s1.cost ? Reason::within_margin : Reason::s1_is_best;
}

} // namespace

std::string_view to_string(Reason reason) {
    switch (reason) {
    case Reason::policy_keeps: return "policy_keeps";
    case Reason::unmapped_nodes: return "unmapped_nodes";
    case Reason::no_alternative: return "no_alternative";
    case Reason::no_calmer_leaf: return "no_calmer_leaf";
    case Reason::s1_is_best: return "s1_is_best";
    case Reason::within_margin: return "within_margin";
    case Reason::better_plan: return "better_plan";
    }
    return {};
}

Decision decide(const DecisionInput& input) {
    const Ask& ask = input.ask;
    Decision decision;
    decision.mode = input.mode;
    decision.policy = input.policy.name;
    decision.policy_hash = input.policy.hash();
    decision.weights = input.policy.weights;

    const std::size_t size = input.table.size();
    if (ask.candidates.size() != size || ask.s1.size() != size || ask.idle.size() != size || ask.s1.none()) {
        decision.reason = Reason::unmapped_nodes; // sets of another node table, or no nodes at all
        return decision;
    }
    const auto nodes = static_cast<std::uint32_t>(ask.s1.count());
    const std::vector<LeafRoom> rooms = rooms_of(input);
    const SpanRange range = span_range(rooms, nodes);
    std::vector<LeafUse> use(rooms.size());
    for (std::size_t leaf = 0; leaf < rooms.size(); ++leaf) use[leaf] = {rooms[leaf].nodes, rooms[leaf].room};
    const auto scored = [&](Footprint footprint) {
        const Features features = features_of(footprint, use, range, input.view);
        return ScoredPlacement{std::move(footprint), features, cost_of(features, input.policy)};
    };

    decision.s1 = scored(footprint_of(ask.s1, input.table));
    if (input.policy.keeps_always()) {
        decision.reason = Reason::policy_keeps;
    } else if (!all_mapped(ask, decision.s1.footprint)) {
        decision.reason = Reason::unmapped_nodes;
    } else if (ask.kept) {
        decision.reason = Reason::no_calmer_leaf;
    } else {
        const auto searched = nodes == 1 ? calmer_rooms(rooms, decision.s1.footprint.front().leaf, input) : rooms;
        const PlanTask task{searched, nodes, input.parameters.spare_nodes, decision.s1.footprint, input.view};
        const PlacementCost cost = [&](const Footprint& footprint) {
            return cost_of(features_of(footprint, use, range, input.view), input.policy);
        };
        const std::uint32_t keep = std::max(input.parameters.plans_kept, most_plans);
        for (CostedPlacement& placement : best_placements(task, cost, keep))
            decision.alternatives.push_back(scored(std::move(placement.footprint)));
        decision.reason = judge(decision, input);
    }
    note_leaves(decision, input.view);
    return decision;
}

} // namespace aegis
