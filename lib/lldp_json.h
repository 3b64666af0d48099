// Neighbours as lldpd sees them: `lldpcli -f json0 show neighbors`, or -f json, from a node or from a switch.
//
// The output does not say whose it is: either the text also holds `lldpcli -f json0 show chassis`, or the caller knows. The
// chassis' description tells a switch from a node where it names a switch's system.
// With -f json one neighbour is an object and several are a list; json0 is always the same. Both are read.
// A port that goes by its address (lldpd's default) is named by its description, the interface's name.
// SONiC sends a port's alias ("etp1") as the port and its name ("Ethernet0") as the description: both are kept.
// Taken on a node every neighbour is a switch. Taken on a switch a neighbour that can only be a station is a node; one that
// names a switch system is a switch; a Linux host that bridges or routes looks like both and stays unknown, for
// another input to tell.
#pragma once

#include "lib/discovery.h"

#include <expected>
#include <optional>

namespace aegis {

struct LldpOrigin {
    std::string name;       // empty: as in the text
    bool is_switch = false; // or as in the text
};

std::expected<Discovery, ConfigErrors> parse_lldp_json(std::string_view text, const std::string& file, const LldpOrigin& origin);

} // namespace aegis
