// Slurm's tree by itself: leaves that no switch joins with the others.
#pragma once

#include "lib/fabric.h"
#include "lib/finding.h"

namespace aegis {

// `file` is where the tree was read; empty where it was not read from one file.
Findings check_tree(const std::vector<TopologyLine>& topology, const std::string& file);

} // namespace aegis
