// Jobs of one node, by far the most: moved only to a leaf that is calmer than Slurm's by the margin, never to tidy up.
//
// That rule needs nothing of the job but where Slurm put it, so the answer can be known before the question: where it is
// "keep" for certain, the plugin need not ask (CALM in lib/wire.h).
// Invariant: decide() has no plans for a one-node job that this advice keeps.
#pragma once

#include "lib/node_set.h"
#include "lib/node_table.h"
#include "lib/policy.h"
#include "lib/pressure_view.h"

namespace aegis {

bool is_calmer(const LeafPressure& leaf, const LeafPressure& than, double margin);

// Sets of the node table's nodes. A one-node job is kept where its node stands in `calm`, or none of its idle candidates in
// `inviting`.
struct OneNodeAdvice {
    NodeSet calm;     // on no leaf, or on one that no other is calmer than
    NodeSet inviting; // on a leaf that is calmer than some other
};

OneNodeAdvice one_node_advice(const NodeTable& table, const PressureView& view, const Policy& policy, double margin);

} // namespace aegis
