// Cables laid over Slurm's tree: which port telemetry will report, and which leaf its traffic belongs to.
//
// A leaf is what Slurm's topology calls one. The switches that serve it need not have its name: a rule says it, or the nodes on
// the switch do. So a leaf may have several switches (one a rail), and a switch several leaves; a trunk port then counts for each of
// them. Without a topology of Slurm's the leaves come from the cables: leaf switches that share a node are one leaf.
// Only cables of the compute fabric (labelled "compute" or not at all) are mapped; others are counted.
// Of a cable between a leaf switch and one above, both ports are trunk ports of the leaf: one for each direction.
#pragma once

#include "lib/discovery.h"
#include "lib/fabric.h"
#include "lib/fabric_rules.h"

#include <map>

namespace aegis {

// Which of its names telemetry labels a switch with. A rule of kind `sw` wins over this.
enum class SwitchNaming : std::uint8_t { as_discovered, short_name, guid };

struct MappedPort {
    std::string sw, port; // as telemetry names them
    std::vector<std::string> leaves;
    bool trunk = true;
    double rate_bps = 0;
    std::string rail;
    ConfigPlace place;
    bool operator==(const MappedPort&) const = default;
};

// One end of a cable at a node.
struct NodeRail {
    std::string node;
    std::string sw, port; // as discovered
    std::string rail;     // empty: not known
    ConfigPlace place;
};

struct SwitchTrunk {
    std::string a, b; // switches, as discovered
    ConfigPlace place;
};

struct FabricMap {
    std::vector<TopologyLine> topology;
    bool topology_is_slurms = false;
    std::vector<MappedPort> ports;                             // by switch and port, naturally ordered
    std::map<std::string, std::vector<std::string>> leaves_of; // switch as discovered -> leaves
    std::map<std::string, std::string> telemetry_name;         // switch as discovered -> as telemetry names it
    std::vector<NodeRail> rails;                               // compute fabric only
    std::vector<SwitchTrunk> trunks;                           // compute fabric only
    std::size_t ports_above_leaves = 0;                        // between switches none of which is a leaf's
    Findings findings;                                         // what could not be mapped, or only with doubt
};

FabricMap map_fabric(const Discovery& discovery, const FabricRules& rules, SwitchNaming naming = SwitchNaming::as_discovered);

} // namespace aegis
