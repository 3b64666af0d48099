#include "lib/lldp_json.h"

#include <catch2/catch.hpp>

using namespace aegis;

namespace {

constexpr std::string_view one_neighbour = R"({"lldp": {"interface": {"eth0": {"via": "LLDP",
  "chassis": {"leaf-01": {"id": {"type": "mac", "value": "aa:bb"}, "descr": "SONiC Software Version: 4"}},
  "port": {"id": {"type": "local", "value": "etp1"}, "descr": "Ethernet0", "auto-negotiation": {"current": "100GbaseCR4"}}}}}})";

constexpr std::string_view two_neighbours_json0 = R"({"local-chassis": [{"chassis": [{"name": [{"value": "n1"}], "id": [{"type": "mac", "value": "cc"}]}]}]}
{"lldp": [{"interface": [
  {"name": "eth0", "chassis": [{"id": [{"type": "mac", "value": "aa:bb"}], "name": [{"value": "leaf-01"}]}],
   "port": [{"id": [{"type": "ifname", "value": "swp1"}], "descr": [{"value": "swp1"}]}]},
  {"name": "eth1", "chassis": [{"id": [{"type": "mac", "value": "aa:cc"}]}],
   "port": [{"id": [{"type": "ifname", "value": "swp2"}]}]}]}]})";

std::string error_of(std::string_view text, const LldpOrigin& origin = {}) {
    const auto found = parse_lldp_json(text, "n1.json", origin);
    REQUIRE_FALSE(found.has_value());
    return to_string(found.error().front());
}

} // namespace

TEST_CASE("lldpcli: one neighbour is an object, and SONiC's alias and name are both kept") {
    const auto found = parse_lldp_json(one_neighbour, "n1.json", {.name = "n1", .is_switch = false});
    REQUIRE(found.has_value());
    REQUIRE(found->links.size() == 1);
    const DiscoveredLink& link = found->links[0];
    CHECK(link.sw == "leaf-01");
    CHECK(link.port == "etp1");
    CHECK(link.port_also_named == "Ethernet0");
    CHECK(link.peer_kind == PeerKind::node);
    CHECK(link.peer == "n1");
    CHECK(link.peer_port == "eth0");
    CHECK(link.rail == "eth0");
    CHECK(link.rate_bps == 100e9);
    CHECK(found->switches[0].id == "aa:bb");
}

TEST_CASE("lldpcli json0: the machine's own name may stand in the text, a nameless switch goes by its address") {
    const auto found = parse_lldp_json(two_neighbours_json0, "x.json", {});
    if (!found) FAIL(to_string(found.error().front()));
    REQUIRE(found.has_value());
    REQUIRE(found->links.size() == 2);
    CHECK(found->nodes[0].name == "n1");
    CHECK(found->links[0].sw == "leaf-01");
    CHECK(found->links[0].port == "swp1");
    CHECK(found->links[0].port_also_named.empty());
    CHECK(found->links[1].sw == "aa:cc");
}

TEST_CASE("lldpcli: a port that goes by its address is named by its description, where it has one") {
    const auto found = parse_lldp_json(R"({"lldp": [{"interface": [
        {"name": "ens1", "chassis": [{"name": [{"value": "leaf-01"}]}], "port": [{"id": [{"type": "mac", "value": "52:0c"}], "descr": [{"value": "swp7"}]}]},
        {"name": "ens2", "chassis": [{"name": [{"value": "leaf-02"}]}], "port": [{"id": [{"type": "mac", "value": "52:0d"}]}]}]}]})",
                                      "n1.json", {.name = "n1", .is_switch = false});
    REQUIRE(found.has_value());
    REQUIRE(found->links.size() == 2);
    CHECK(found->links[0].port == "swp7");
    CHECK(found->links[0].port_also_named == "52:0c");
    CHECK(found->links[1].port == "52:0d");
}

TEST_CASE("lldpcli: a chassis that describes itself as a switch's system is a switch") {
    const auto found = parse_lldp_json(R"({"local-chassis": {"chassis": {"leaf-01": {"descr": "Cumulus Linux version 5.9"}}}}
        {"lldp": {"interface": {"swp1": {"chassis": {"n1": {"capability": {"type": "Station", "enabled": true}}}, "port": {"id": {"type": "ifname", "value": "ens1"}}}}}})",
                                      "leaf.json", {});
    REQUIRE(found.has_value());
    REQUIRE(found->links.size() == 1);
    CHECK(found->links[0].sw == "leaf-01");
    CHECK(found->links[0].port == "swp1");
    CHECK(found->links[0].peer == "n1");
    CHECK(found->links[0].peer_kind == PeerKind::node);
    CHECK(found->links[0].rail == "ens1");
}

TEST_CASE("lldpcli on a switch: stations are nodes, switch systems switches, bridging Linux hosts stay open") {
    const auto found = parse_lldp_json(R"({"lldp": [{"interface": [
        {"name": "Ethernet0", "chassis": [{"name": [{"value": "n1"}], "capability": [{"type": "Station", "enabled": true}]}], "port": [{"id": [{"value": "m1"}]}]},
        {"name": "Ethernet4", "chassis": [{"name": [{"value": "n2"}], "descr": [{"value": "Debian GNU/Linux"}], "capability": [{"type": "Bridge", "enabled": true}]}], "port": [{"id": [{"value": "m2"}]}]},
        {"name": "Ethernet8", "chassis": [{"name": [{"value": "sp"}], "descr": [{"value": "Arista Networks EOS"}]}], "port": [{"id": [{"value": "Ethernet1"}]}]},
        {"name": "Ethernet12", "chassis": [{"id": [{"value": ""}]}], "port": [{"id": [{"value": "x"}]}]}]}]})",
                                      "leaf.json", {.name = "leaf-01", .is_switch = true});
    REQUIRE(found.has_value());
    REQUIRE(found->links.size() == 3);
    CHECK(found->links[0].sw == "leaf-01");
    CHECK(found->links[0].port == "Ethernet0");
    CHECK(found->links[0].peer_kind == PeerKind::node);
    CHECK(found->links[1].peer_kind == PeerKind::unknown);
    CHECK(found->links[2].peer_kind == PeerKind::sw);
    CHECK(found->links[2].peer_port == "Ethernet1");
    REQUIRE(found->findings.size() == 1);
    CHECK(found->findings[0].subject == "leaf-01/Ethernet12");
}

TEST_CASE("lldpcli: what cannot be read is refused with what was expected") {
    CHECK(error_of(one_neighbour).find("the name of the machine") != std::string::npos);
    CHECK(error_of("{\"lldp\": {\n\"interface\": [}\n", {.name = "n1", .is_switch = false}).find("n1.json:2: ") == 0);
    CHECK(error_of("{}", {.name = "n1", .is_switch = false}).find("lldpcli") != std::string::npos);
    CHECK(error_of("  ", {.name = "n1", .is_switch = false}).find("there is none") != std::string::npos);
    const auto none = parse_lldp_json(R"({"lldp": {}})", "n1.json", {.name = "n1", .is_switch = false});
    REQUIRE(none.has_value());
    CHECK(none->links.empty());
    const auto odd = parse_lldp_json(R"({"lldp": [1, {"interface": ["x", {"eth0": 3}]}]})", "n1.json", {.name = "n1", .is_switch = false});
    REQUIRE(odd.has_value());
    CHECK(odd->links.empty());
}
