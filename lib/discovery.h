// What the inputs of a fabric map say, in one form: switches, nodes and links.
//
// Two layers meet here. Slurm's files (topology.conf, topology.yaml, scontrol show topology) give a *tree*: links without
// ports, names that are Slurm's own. Discovery tools (LLDP, ibnetdiscover, NetQ) give *cables*: links with the port on
// each side, names as the devices have them. lib/fabric_map.h lays one over the other.
// A cable between two switches is one link, whichever side saw it. Names are kept as the input has them; only what an
// input says is here, nothing is guessed. Rates are bits per second of payload the line can carry.
#pragma once

#include "lib/config_error.h"
#include "lib/finding.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aegis {

enum class PeerKind : std::uint8_t {
    node,    // a machine, `peer` names it
    sw,      // another switch, `peer` names it
    host,    // a machine of which only the adapter is known: a GUID map or a rule may name it
    device,  // something that takes no jobs: SHARP aggregation, a router
    unknown, // the input does not tell a switch from a node: another input may
    none,    // nothing is plugged in
};

struct DiscoveredSwitch {
    std::string name;
    std::string id;              // GUID or chassis address; empty: not given
    std::string also_named;      // a second name from the input, such as Topograph's comment; empty: none
    std::optional<unsigned> level; // of Slurm's tree, leaf = 0; tier - 1 of NetQ
    ConfigPlace place;
};

struct DiscoveredNode {
    std::string name;
    ConfigPlace place;
};

struct DiscoveredLink {
    std::string sw;
    std::string port;             // empty: a link of Slurm's tree
    std::string port_also_named;  // SONiC's LLDP has the alias as port and the name as description; empty: none
    PeerKind peer_kind = PeerKind::unknown;
    std::string peer;             // empty for host and none
    std::string peer_port;        // empty: not given
    std::string peer_port_also_named;
    std::string peer_id;          // GUID of the adapter, or chassis address; empty: not given
    std::string peer_port_id;     // GUID of the adapter's port; empty: not given
    std::string peer_description; // what the device says of itself
    double rate_bps = 0;          // 0: not given
    std::string fabric;           // "compute", "storage"; empty: not labelled
    std::string rail;             // which of a node's ports, e.g. "HCA-1"; empty: not known
    ConfigPlace place;

    bool is_cable() const { return !port.empty(); }
};

struct Discovery {
    std::vector<DiscoveredSwitch> switches;
    std::vector<DiscoveredNode> nodes;
    std::vector<DiscoveredLink> links;
    Findings findings;
};

// One discovery from several, in their order. The same cable seen twice, from either side, is one link; what one input leaves
// open the other fills in. Where two inputs differ the first one stands and a contradiction is reported.
Discovery merge(std::vector<Discovery> inputs);

// A GUID (16 hex digits, lower case) of an adapter or of its port, and the node it belongs to.
struct GuidName {
    std::string guid;
    std::string name;
    ConfigPlace place;
};

// Turns every PeerKind::host whose GUID has a name into a node.
void name_hosts(Discovery& discovery, const std::vector<GuidName>& names);

// Lower case hex digits without "0x", 16 of them; empty where the text is no GUID.
std::string normal_guid(std::string_view text);

std::string_view to_string(PeerKind kind);

} // namespace aegis
