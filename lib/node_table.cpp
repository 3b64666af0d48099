#include "lib/node_table.h"

#include "lib/hostlist.h"

namespace aegis {

NodeTable::NodeTable(std::uint64_t hash, std::vector<std::string> names, const Fabric& fabric)
    : hash_(hash), names_(std::move(names)), leaf_of_(names_.size()),
      nodes_of_(fabric.leaves().size(), NodeSet(names_.size())), unmapped_(names_.size()) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
        if (names_[i].empty()) continue;
        leaf_of_[i] = fabric.leaf_of_node(names_[i]);
        if (leaf_of_[i])
            nodes_of_[at(*leaf_of_[i])].set(i);
        else
            unmapped_.set(i);
    }
}

std::string NodeTable::hostlist(const NodeSet& nodes) const {
    std::vector<std::string> names;
    for (std::size_t i = nodes.find_first(); i != NodeSet::npos; i = nodes.find_next(i))
        if (!names_[i].empty()) names.push_back(names_[i]);
    return fold_hostlist(names);
}

} // namespace aegis
