// One decision: from what Slurm asks and what the fabric shows to keep, or up to two plans.
//
// decide() is pure. Everything it used is in the Decision it returns, so that `aegisctl explain` can show it
// and a test can repeat it.
#pragma once

#include "lib/features.h"
#include "lib/footprint.h"
#include "lib/mode.h"
#include "lib/node_table.h"
#include "lib/policy.h"
#include "lib/pressure_view.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace aegis {

// A job about to start, as the plugin describes it.
struct Ask {
    std::string job_key; // 7, 100_3, 9+1
    std::uint32_t job_id = 0;
    std::uint32_t min_nodes = 0, max_nodes = 0, req_nodes = 0;
    NodeSet candidates;
    NodeSet s1;
    NodeSet idle; // as large as candidates (all three as the node table); without knowledge: the candidates
    bool kept = false; // S1 stands already, by one_node_advice(): nothing is searched for
};

struct ScoredPlacement {
    Footprint footprint;
    Features features{};
    double cost = 0; // weights · features, lower is better
};

enum class Reason : std::uint8_t {
    policy_keeps,     // the policy in force is vanilla
    unmapped_nodes,   // S1 touches nodes on no leaf of the fabric, or is of another node table
    no_alternative,   // no other leaf set has room for the job
    no_calmer_leaf,   // a job of one node, and no leaf that is calmer by the margin has room for it
    s1_is_best,       // Slurm's choice has the lowest cost
    within_margin,    // something is better, but not by the margin
    better_plan,      // plans beat S1 by the margin
};

std::string_view to_string(Reason reason);

struct PlacementParameters {
    double margin = 0.05;              // by how much a plan's cost must be lower than S1's
    std::uint32_t spare_nodes = 0;     // idle nodes a plan holds beyond what the job needs
    std::uint32_t plans_kept = 8;      // scored placements kept for explanation
};

struct Decision {
    Mode mode = Mode::observe;
    std::string policy;
    std::string policy_hash;
    Reason reason = Reason::policy_keeps;
    ScoredPlacement s1;
    std::vector<ScoredPlacement> alternatives; // best first, distinct, without S1's own leaf set
    std::uint32_t plans = 0;                   // so many of the first alternatives beat S1 by the margin (0..2)
    std::vector<NodeSet> plan_nodes;           // their allowed nodes: all candidates on their leaves
    std::array<double, feature_count> weights{};
    std::vector<LeafPressure> leaves;          // of every leaf named above, by position in `leaf_ids`
    std::vector<LeafIndex> leaf_ids;

    // In mode steer the plans are offered; in observe they are only recorded.
    bool offers_plans() const { return mode == Mode::steer && plans > 0; }
};

struct DecisionInput {
    const Ask& ask;
    const NodeTable& table;
    const Fabric& fabric;
    const PressureView& view;
    const Policy& policy;
    const PlacementParameters& parameters;
    Mode mode;
};

// Room of a leaf for this job is its candidates that are idle or in S1; a plan has room for |S1| nodes and the spare.
// A plan beats S1 if its cost is lower, and by the margin at least. Ties keep.
Decision decide(const DecisionInput& input);

} // namespace aegis
