#include "lib/fabric_map.h"

#include "lib/ibnetdiscover.h"
#include "lib/lldp_json.h"
#include "lib/slurm_topology.h"

#include <catch2/catch.hpp>

#include <array>

using namespace aegis;
using Names = std::vector<std::string>;

namespace {

Discovery tree(std::string_view text) { return parse_topology_conf(text, "topology.conf").value(); }

// A switch port to a node or a switch, by the letter its name begins with.
Discovery cables(std::vector<std::array<std::string, 4>> ends) {
    Discovery found;
    for (const auto& [sw, port, peer, peer_port] : ends) {
        DiscoveredLink link;
        link.sw = sw;
        link.port = port;
        link.peer = peer;
        link.peer_port = peer_port;
        link.peer_kind = peer[0] == 'n' ? PeerKind::node : PeerKind::sw;
        if (link.peer_kind == PeerKind::node) link.rail = peer_port;
        link.place = {"cables", static_cast<int>(found.links.size()) + 1};
        for (const std::string& name : {sw, link.peer_kind == PeerKind::sw ? peer : sw})
            if (std::ranges::find(found.switches, name, &DiscoveredSwitch::name) == found.switches.end()) found.switches.push_back({name, {}, {}, {}, link.place});
        found.links.push_back(std::move(link));
    }
    return found;
}

const MappedPort& port_of(const FabricMap& map, std::string_view sw, std::string_view port) {
    for (const MappedPort& mapped : map.ports)
        if (mapped.sw == sw && mapped.port == port) return mapped;
    FAIL("not mapped: " << sw << "/" << port);
    return map.ports.front();
}

bool has(const FabricMap& map, FindingKind kind, std::string_view subject) {
    return std::ranges::any_of(map.findings, [&](const Finding& finding) { return finding.kind == kind && finding.subject == subject; });
}

FabricRules rules(std::string_view text) { return FabricRules::compile(parse_fabric_rules(text, "rules.toml").value()).value(); }

} // namespace

TEST_CASE("names need not match: the nodes on a switch tell which leaf it is") {
    const FabricMap map = map_fabric(merge({tree("SwitchName=top Switches=l[1-2]\nSwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n3\n"),
                                            cables({{"tor-a", "1", "n1", "e"}, {"tor-a", "2", "n2", "e"}, {"tor-b", "1", "n3", "e"},
                                                    {"tor-a", "49", "spine", "1"}, {"tor-b", "49", "spine", "2"}})}), {});
    CHECK(map.topology_is_slurms);
    CHECK(port_of(map, "tor-a", "1").leaves == Names{"l1"});
    CHECK_FALSE(port_of(map, "tor-a", "1").trunk);
    CHECK(port_of(map, "tor-a", "49").leaves == Names{"l1"});
    CHECK(port_of(map, "tor-a", "49").trunk);
    CHECK(port_of(map, "spine", "2").leaves == Names{"l2"});
    CHECK(port_of(map, "spine", "2").trunk);
    CHECK(map.ports.size() == 7);
    CHECK(map.findings.empty());
}

TEST_CASE("a rail leaf that serves nodes of two leaves counts for both") {
    const FabricMap map = map_fabric(merge({tree("SwitchName=su1 Nodes=n1\nSwitchName=su2 Nodes=n2\n"),
                                            cables({{"rail1", "1", "n1", "a"}, {"rail1", "2", "n2", "a"}, {"rail2", "1", "n1", "b"}, {"rail1", "49", "spine", "1"}})}), {});
    CHECK(port_of(map, "rail1", "49").leaves == Names{"su1", "su2"});
    CHECK(port_of(map, "spine", "1").leaves == Names{"su1", "su2"});
    CHECK(port_of(map, "rail1", "2").leaves == Names{"su2"});
    CHECK(has(map, FindingKind::shared_switch, "rail1"));
}

TEST_CASE("without a topology, leaf switches that share a node are one leaf") {
    const FabricMap map = map_fabric(cables({{"r1", "1", "n1", "a"}, {"r2", "1", "n1", "b"}, {"r1", "2", "n2", "a"}, {"r3", "1", "n3", "a"}, {"r3", "9", "spine", "1"}}), {});
    CHECK_FALSE(map.topology_is_slurms);
    REQUIRE(map.topology.size() == 2);
    CHECK(map.topology[0].name == "r1");
    CHECK(map.topology[0].nodes == Names{"n1", "n2"});
    CHECK(map.topology[1].nodes == Names{"n3"});
    CHECK(port_of(map, "r2", "1").leaves == Names{"r1"});
    CHECK(port_of(map, "spine", "1").leaves == Names{"r3"});
}

TEST_CASE("cables of a storage fabric take no part, by switch or by adapter") {
    const auto found = merge({tree("SwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\n"),
                              cables({{"a", "1", "n1", "HCA-1/1"}, {"b", "1", "n2", "HCA-1/1"}, {"st", "1", "n1", "HCA-4/1"}, {"st", "2", "n2", "HCA-4/1"}})});
    const FabricMap plain = map_fabric(found, {});
    CHECK(has(plain, FindingKind::shared_switch, "st"));
    const FabricMap labelled = map_fabric(found, rules("[[rule]]\nof='adapter'\nmatch='HCA-4'\nfabric='storage'\n"));
    CHECK(labelled.ports.size() == 2);
    CHECK_FALSE(has(labelled, FindingKind::shared_switch, "st"));
    CHECK(has(labelled, FindingKind::ignored_input, "storage"));
}

TEST_CASE("rules name leaves, switches, ports and nodes; a rule that misses the topology is an error") {
    const auto found = merge({tree("SwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\n"),
                              cables({{"tor-1", "swp1", "nA.site", "e"}, {"tor-2", "swp1", "n2.site", "e"}, {"tor-2", "swp49", "spine", "p1"}, {"tor-3", "swp49", "spine", "p3"}})});
    const FabricMap map = map_fabric(found, rules("[leaf]\n\"tor-3\" = \"l9\"\n[node]\n\"nA.site\" = \"n1\"\n[switch]\n\"tor-1\" = \"10.0.0.1\"\n"
                                                  "[[rule]]\nof='port'\nmatch='swp(\\d+)'\nname='Ethernet\\1'\n"));
    CHECK(port_of(map, "10.0.0.1", "Ethernet1").leaves == Names{"l1"});
    CHECK(port_of(map, "tor-2", "Ethernet1").leaves == Names{"l2"}); // n2.site is n2
    CHECK(has(map, FindingKind::unmapped_switch, "tor-3"));
}

TEST_CASE("a switch named like one leaf whose nodes stand on another is a contradiction, and the nodes decide") {
    const FabricMap map = map_fabric(merge({tree("SwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\n"), cables({{"l1", "1", "n2", "e"}, {"l1", "9", "spine", "1"}})}), {});
    CHECK(has(map, FindingKind::contradiction, "l1"));
    CHECK(port_of(map, "l1", "9").leaves == Names{"l2"});
}

TEST_CASE("a leaf's second name finds its switch even where no node is known") {
    const FabricMap map = map_fabric(merge({tree("# switch.1.1=leaf-1\nSwitchName=switch.1.1 Nodes=n1\n"), cables({{"leaf-1", "9", "spine", "1"}})}), {});
    CHECK(port_of(map, "leaf-1", "9").leaves == Names{"switch.1.1"});
}

TEST_CASE("a port to a nameless host counts for the one leaf of its switch, else for none") {
    auto ib = parse_ibnetdiscover("Switch\t8 \"S-a1\"\t# \"tor\" base port 0 lid 1 lmc 0\n[1]\t\"H-c1\"[1](c1)\t# \"n1 HCA-1\" lid 2 4xEDR\n"
                                  "[2]\t\"H-c2\"[1](c2)\t# \"MT4129 ConnectX7\" lid 3 4xEDR\nSwitch\t8 \"S-a2\"\t# \"tor2\" base port 0 lid 1 lmc 0\n"
                                  "[2]\t\"H-c3\"[1](c3)\t# \"MT4129 ConnectX7\" lid 3 4xEDR\n", "ib.txt").value();
    const FabricMap map = map_fabric(merge({tree("SwitchName=l1 Nodes=n1\n"), ib}), {}, SwitchNaming::guid);
    CHECK(port_of(map, "0x00000000000000a1", "2").leaves == Names{"l1"});
    CHECK(has(map, FindingKind::unmapped_port, "tor2/2"));
    CHECK(map.ports.size() == 2);
}

TEST_CASE("SONiC ports go by the name telemetry counts them under, not by their alias") {
    auto lldp = parse_lldp_json(R"({"lldp": {"interface": {"eth0": {"chassis": {"tor": {"id": {"type": "mac", "value": "a"}}},
        "port": {"id": {"type": "local", "value": "etp1"}, "descr": "Ethernet0"}}}}})", "n1.json", {.name = "n1", .is_switch = false}).value();
    const FabricMap map = map_fabric(merge({tree("SwitchName=l1 Nodes=n1\n"), lldp}), {});
    CHECK(port_of(map, "tor", "Ethernet0").leaves == Names{"l1"});
}

TEST_CASE("a neighbour of a switch that is no node of Slurm's is a switch") {
    auto lldp = parse_lldp_json(R"({"lldp": [{"interface": [
        {"name": "swp1", "chassis": [{"name": [{"value": "n1"}], "capability": [{"type": "Bridge", "enabled": true}]}], "port": [{"id": [{"value": "e"}]}]},
        {"name": "swp9", "chassis": [{"name": [{"value": "sp"}], "capability": [{"type": "Bridge", "enabled": true}]}], "port": [{"id": [{"value": "swp1"}]}]}]}]})",
                                "tor.json", {.name = "tor", .is_switch = true}).value();
    const FabricMap map = map_fabric(merge({lldp, tree("SwitchName=l1 Nodes=n1\n")}), {});
    CHECK_FALSE(port_of(map, "tor", "swp1").trunk);
    CHECK(port_of(map, "tor", "swp9").trunk);
    CHECK(port_of(map, "sp", "swp1").leaves == Names{"l1"});
}
