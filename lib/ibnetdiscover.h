// The output of ibnetdiscover, normal and -p, as a Discovery; and the node-name-map of the same tools.
//
// A host is the first word of its node description. A description that names the adapter ("MT4129 ConnectX7 Mellanox
// Technologies") or is "localhost" is no host name: such a port leads to PeerKind::host with its GUID, and is reported.
// "Aggregation Node" adapters belong to the switch (SHARP) and are devices. The adapter ("HCA-1") is the rail.
// Switches keep their whole description, which is what exporters label them with; `also_named` is the short form without
// "MF0;" and ":MODEL/U1". Where several switches share a description, each is named by its GUID ("0x…").
#pragma once

#include "lib/discovery.h"

#include <expected>

namespace aegis {

std::expected<Discovery, ConfigErrors> parse_ibnetdiscover(std::string_view text, const std::string& file);

// ibnetdiscover -p (--ports).
std::expected<Discovery, ConfigErrors> parse_ibnetdiscover_ports(std::string_view text, const std::string& file);

// Lines of `0xGUID "name"`, # comments.
std::expected<std::vector<GuidName>, ConfigErrors> parse_node_name_map(std::string_view text, const std::string& file);

// Payload rate of "4xNDR", bits/s, after the line's encoding; 0 for a width or speed that is not known ("4x???").
double infiniband_rate_bps(std::string_view width_and_speed);

} // namespace aegis
