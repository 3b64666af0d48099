#include "lib/footprint.h"

namespace aegis {

Footprint footprint_of(const NodeSet& nodes, const NodeTable& table) {
    std::vector<std::uint32_t> count(table.leaf_count(), 0);
    for (std::size_t i = nodes.find_first(); i != NodeSet::npos; i = nodes.find_next(i))
        if (const auto leaf = table.leaf_of(NodeIndex{static_cast<std::uint32_t>(i)})) ++count[at(*leaf)];
    Footprint footprint;
    for (std::uint32_t leaf = 0; leaf < count.size(); ++leaf)
        if (count[leaf] > 0) footprint.push_back({LeafIndex{leaf}, count[leaf]});
    return footprint;
}

} // namespace aegis
