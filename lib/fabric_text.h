// A fabric map as the text of configuration files: [[ports]] for aegisd.toml, SwitchName= lines for topology.conf.
//
// What is written here is read back by parse_config() and parse_topology() to the same groups. Rates are rounded down to whole
// Mbit/s. A port whose name, or whose leaf's name, a hostlist or TOML cannot hold (blank, comma, bracket, bytes that are no
// UTF-8) is written as a comment and reported by unwritable().
#pragma once

#include "lib/fabric_map.h"

namespace aegis {

// One group for all ports of a switch that share leaves, kind and rate.
std::vector<PortGroup> port_groups(const FabricMap& map);

std::string ports_toml(const FabricMap& map);

// Without a topology of Slurm's: one line a leaf, and one switch above each part of the cables that hangs together.
std::string topology_conf(const FabricMap& map);

// Ports that neither file can name.
std::vector<MappedPort> unwritable(const FabricMap& map);
Findings unwritable_findings(const FabricMap& map);

} // namespace aegis
