// What a look at the fabric map found: a fact, and what it means for placement, in plain words.
#pragma once

#include "lib/config_error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aegis {

enum class Severity : std::uint8_t {
    info,    // worth knowing; nothing to do
    warning, // part of the fabric is invisible or guessed; placement works with less
    error,   // the inputs cannot both be true; placement may be wrong until it is resolved
};

enum class FindingKind : std::uint8_t {
    contradiction,        // two inputs, or two lines of one, say different things of one cable, switch or node
    unknown_host,         // a host whose description names its adapter, not the machine
    not_a_host,           // an end point that is not a node: SHARP aggregation
    silent_port,          // a switch port without a neighbour
    ignored_input,        // a part of an input that was not used, and why
    unmapped_port,        // a port that no leaf can be found for
    unmapped_switch,      // a switch that no leaf or trunk can be found for
    unmapped_node,        // a node of Slurm without any link, or on no leaf
    unknown_to_slurm,     // a node with links that Slurm's topology does not have
    two_leaves_one_rail,  // a node on two leaves in one rail
    shared_switch,        // a switch that serves nodes of several leaves
    parted_fabric,        // trunks fall into several components
    no_uplinks,           // a leaf without a link to a switch above
    uneven_rails,         // nodes of one leaf have different numbers of rails
    telemetry_only,       // telemetry delivers a switch or port that no input names
    leaf_without_ports,   // no port of a leaf is mapped, or none that leads to another switch
    rate_unknown,         // a trunk whose line rate is not known
    not_measured,         // a mapped port that telemetry never delivered
    table_differs,        // the port table in use says something else than the cables
};

struct Finding {
    Severity severity = Severity::info;
    FindingKind kind{};
    ConfigPlace place;   // line 0 where it is about the whole
    std::string subject; // the switch, switch/port or node
    std::string fact;
    std::string meaning; // for placement
    bool operator==(const Finding&) const = default;
};

using Findings = std::vector<Finding>;

std::string_view to_string(Severity severity);
std::string_view to_string(FindingKind kind);

// The gravest first, within that each kind together, otherwise in their order.
void gravest_first(Findings& findings);

// "fabric.txt:12: warning: leaf-01/7: the host behind ... : its traffic is ..."
std::string to_string(const Finding& finding);

} // namespace aegis
