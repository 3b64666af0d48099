// Any input of a fabric map, recognised by its content.
#pragma once

#include "lib/discovery.h"
#include "lib/lldp_json.h"

#include <expected>
#include <optional>

namespace aegis {

enum class FabricFormat : std::uint8_t {
    topology_conf,
    topology_yaml,
    scontrol_topology,
    lldp_json,
    netq_graph,
    ibnetdiscover,
    ibnetdiscover_ports,
};

// Nothing where the text looks like none of them.
std::optional<FabricFormat> format_of(std::string_view text);

struct FabricInput {
    std::string file;
    std::string text;
    LldpOrigin origin;                   // only for LLDP
    std::optional<std::string> topology; // only for topology.yaml: which of several
};

// An input no format fits is an error that lists what can be read.
std::expected<Discovery, ConfigErrors> read_fabric_input(const FabricInput& input);

std::string_view to_string(FabricFormat format);

} // namespace aegis
