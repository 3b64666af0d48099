// slurmctld's node table, laid over the fabric: which nodes of the table stand on which leaf.
#pragma once

#include "lib/fabric.h"
#include "lib/ids.h"
#include "lib/node_set.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace aegis {

class NodeTable {
public:
    // `names` in index order; an empty name is an index without a node.
    NodeTable(std::uint64_t hash, std::vector<std::string> names, const Fabric& fabric);

    std::uint64_t hash() const { return hash_; }
    std::size_t size() const { return names_.size(); }
    std::size_t leaf_count() const { return nodes_of_.size(); } // of the fabric
    const std::string& name(NodeIndex node) const { return names_[at(node)]; }
    std::optional<LeafIndex> leaf_of(NodeIndex node) const { return leaf_of_[at(node)]; }
    const NodeSet& nodes_of(LeafIndex leaf) const { return nodes_of_[at(leaf)]; }
    const NodeSet& unmapped() const { return unmapped_; } // nodes on no leaf of the fabric
    std::string hostlist(const NodeSet& nodes) const;

private:
    std::uint64_t hash_;
    std::vector<std::string> names_;
    std::vector<std::optional<LeafIndex>> leaf_of_;
    std::vector<NodeSet> nodes_of_;
    NodeSet unmapped_;
};

} // namespace aegis
