// The port table that aegisd uses, against Slurm's tree and against what aegisd sees: what has no effect, and what is missing.
#pragma once

#include "lib/fabric.h"
#include "lib/finding.h"

#include <set>
#include <utility>

namespace aegis {

using SwitchPort = std::pair<std::string, std::string>;

// What a running aegisd told. Ports as telemetry names them.
struct LiveFabric {
    std::vector<std::string> nodes_on_no_leaf;
    std::vector<SwitchPort> unmapped_ports;
    std::vector<SwitchPort> measured_ports;   // mapped and delivered
    std::vector<SwitchPort> unmeasured_ports; // mapped and never delivered
};

// "switch/port", where both may have slashes: the longest of `switches` that fits, else up to the first slash.
SwitchPort split_port(std::string_view text, const std::set<std::string>& switches);

// `topology_file` is where the tree was read. Findings in the order of the checks.
Findings check_port_table(const std::vector<TopologyLine>& topology, const std::string& topology_file, const std::vector<PortGroup>& ports);
Findings check_live(const LiveFabric& live);

// The table in use against the one the cables give.
Findings compare_tables(const std::vector<PortGroup>& in_use, const std::vector<PortGroup>& discovered);

} // namespace aegis
