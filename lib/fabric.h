// The fabric: leaves, the switches above them, and links with the ports that telemetry knows them by.
//
// Built once from topology.conf (Slurm's own file: which nodes stand on which leaf) and the port table
// (which switch port, as telemetry names it, belongs to which leaf). Names of the two need not match:
// [[ports]] says both. Immutable after build; a reload builds a new one.
#pragma once

#include "lib/config_error.h"
#include "lib/ids.h"

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace aegis {

// One SwitchName= line of topology.conf.
struct TopologyLine {
    int line = 0;
    std::string name;
    std::vector<std::string> nodes;    // expanded; empty for a switch above leaves
    std::vector<std::string> switches; // expanded; empty for a leaf
};

// topology.conf of topology/tree: comments, continuation lines, case-insensitive keys, quotes and hostlist ranges as
// Slurm reads them; LinkSpeed is read and ignored, empty list elements are passed over.
// Errors, all that there are: unknown key, `include`, malformed hostlist, switch named twice, switch with both nodes and
// switches or with neither, node on two leaves, child that does not exist.
std::expected<std::vector<TopologyLine>, ConfigErrors> parse_topology(std::string_view text, const std::string& file);

// One [[ports]] table: ports of one telemetry switch and what they lead to.
struct PortGroup {
    ConfigPlace place;              // where it stands, for errors
    std::string sw;                 // as telemetry names it
    std::vector<std::string> ports; // as telemetry names them, expanded
    std::vector<std::string> leaves; // as topology.conf names them; several where one switch serves several (rails)
    bool trunk = true;              // a link between leaf and spine (either direction); false: to a node
    double rate_bps = 0;            // line rate, bits/s
};

struct Leaf {
    std::string name;
    std::vector<std::string> nodes;
    std::vector<LinkIndex> links;
    std::uint32_t component = 0; // leaves of different components are never joined in a plan
};

struct Link {
    std::string sw;
    std::string port;
    std::vector<LeafIndex> leaves; // whose pressure it is part of; one but for a switch that serves several
    bool trunk = true;
    double rate_bps = 0;
};

class Fabric {
public:
    // Errors: a port mapped twice, a leaf topology.conf does not have, an empty port list.
    // `topology` is as parse_topology() returns it. Leaves keep its order. Leaves under a common switch, at whatever
    // height, are one component; where no switch stands above any leaf (a flat file) all leaves are.
    static std::expected<Fabric, ConfigErrors> build(const std::vector<TopologyLine>& topology,
                                                     const std::vector<PortGroup>& ports);

    const std::vector<Leaf>& leaves() const { return leaves_; }
    const std::vector<Link>& links() const { return links_; }
    std::optional<LeafIndex> leaf_of_node(std::string_view node) const;
    std::optional<LeafIndex> leaf_named(std::string_view leaf) const;
    std::optional<LinkIndex> link_of_port(std::string_view sw, std::string_view port) const;

private:
    struct Hash { // lets string_view find a string without a copy
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    template <class Index> using Names = std::unordered_map<std::string, Index, Hash, std::equal_to<>>;

    std::vector<Leaf> leaves_;
    std::vector<Link> links_;
    Names<LeafIndex> leaf_by_name_;
    Names<LeafIndex> leaf_by_node_;
    Names<LinkIndex> link_by_port_; // "switch\0port"
};

} // namespace aegis
