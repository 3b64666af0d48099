// Slurm's topology as text: topology.conf (topology/tree and topology/block) and `scontrol show topology`.
//
// Topograph writes switches as switch.1.1 and their real names into comments ("# switch.1.1=leaf-1-1"): those become the
// second names. A block counts as a leaf. Blocks that are all commented out are no topology: an error that says so.
#pragma once

#include "lib/discovery.h"

#include <expected>

namespace aegis {

std::expected<Discovery, ConfigErrors> parse_topology_conf(std::string_view text, const std::string& file);

// What slurmctld really uses. A switch above leaves lists all nodes below it too; those belong to the leaves.
std::expected<Discovery, ConfigErrors> parse_scontrol_topology(std::string_view text, const std::string& file);

} // namespace aegis
