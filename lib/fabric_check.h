// What is wrong or missing in a fabric map, and what each thing means for placement.
#pragma once

#include "lib/fabric_map.h"

namespace aegis {

struct FabricCheckInput {
    const Discovery& discovery;
    const FabricMap& map;
    // Nodes slurmctld knows, where they were asked for; empty: those of the topology.
    std::vector<std::string> slurm_nodes;
    // Ports that telemetry delivers, where aegisd was asked; empty: not known.
    std::vector<std::pair<std::string, std::string>> telemetry_ports; // switch, port
};

// The findings of the inputs, of the map and of the checks, gravest first, each kind together.
Findings check_fabric(const FabricCheckInput& input);

} // namespace aegis
