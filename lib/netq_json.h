// The topology graph of NVIDIA NetQ (Topograph's input too): devices by tier, and cables as pairs of interfaces.
//
// A device of tier 1 and above is a switch, tier 1 being the leaves; one that NetQ could not place (tier -1, found
// through LLDP only) is a node. A cable between two nodes is left out and reported.
#pragma once

#include "lib/discovery.h"

#include <expected>

namespace aegis {

std::expected<Discovery, ConfigErrors> parse_netq_graph(std::string_view text, const std::string& file);

} // namespace aegis
