#include "lib/one_node.h"

#include <algorithm>

namespace aegis {

bool is_calmer(const LeafPressure& leaf, const LeafPressure& than, double margin) {
    return leaf.believed() < than.believed() && leaf.believed() <= than.believed() - margin;
}

OneNodeAdvice one_node_advice(const NodeTable& table, const PressureView& view, const Policy& policy, double margin) {
    OneNodeAdvice advice{table.unmapped(), NodeSet(table.size())};
    if (policy.keeps_always() || view.leaves.empty()) {
        advice.calm.set();
        return advice;
    }
    const auto [coolest, hottest] = std::ranges::minmax(view.leaves, {}, &LeafPressure::believed);
    for (std::uint32_t i = 0; i < table.leaf_count(); ++i) {
        const LeafPressure& leaf = view.leaves[i];
        if (!is_calmer(coolest, leaf, margin)) advice.calm |= table.nodes_of(LeafIndex{i});
        if (is_calmer(leaf, hottest, margin)) advice.inviting |= table.nodes_of(LeafIndex{i});
    }
    return advice;
}

} // namespace aegis
