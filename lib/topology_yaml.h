// topology.yaml of Slurm 25.05 and newer: several topologies by name, each tree, block or flat.
#pragma once

#include "lib/discovery.h"

#include <expected>
#include <optional>

namespace aegis {

// The topology called `wanted`, or the one Slurm uses for partitions that name none: the first with cluster_default: true,
// else the first. The others are reported as not used. A flat topology has no leaves: an empty Discovery with a finding.
std::expected<Discovery, ConfigErrors> parse_topology_yaml(std::string_view text, const std::string& file,
                                                          const std::optional<std::string>& wanted = {});

} // namespace aegis
