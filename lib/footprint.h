// The leaves a placement uses, with how many nodes on each. Sorted by leaf, no zero counts.
#pragma once

#include "lib/ids.h"
#include "lib/node_table.h"

#include <cstdint>
#include <vector>

namespace aegis {

struct LeafShare {
    LeafIndex leaf{};
    std::uint32_t nodes = 0;
    bool operator==(const LeafShare&) const = default;
};

using Footprint = std::vector<LeafShare>;

// Nodes on no leaf are left out; compare the sum with the set's size to notice them.
Footprint footprint_of(const NodeSet& nodes, const NodeTable& table);

} // namespace aegis
