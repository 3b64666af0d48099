#include "lib/netq_json.h"

#include <catch2/catch.hpp>

using namespace aegis;

namespace {

std::string graph(std::string_view cables) {
    return R"([{"nodes": [{"compounded_nodes": [
        {"id": "node0", "name": "leaf-1", "device_type": "switch", "tier": 1},
        {"id": "node1", "name": "spine-1", "device_type": "switch", "tier": 2},
        {"id": "node2", "name": "dgx-1", "device_type": "discovered_via_lldp", "tier": -1},
        {"id": "node3", "name": "dgx-2", "device_type": "host", "tier": 0}]}],
      "links": [{"compounded_links": [)" + std::string(cables) + "]}]}]";
}

std::string cable(std::string_view a, std::string_view pa, std::string_view b, std::string_view pb) {
    return std::string(R"({"id": "c", "interfaces": [{"node": ")") + std::string(a) + R"(", "interface": ")" + std::string(pa) + R"("}, {"node": ")" +
           std::string(b) + R"(", "interface": ")" + std::string(pb) + R"("}]})";
}

} // namespace

TEST_CASE("NetQ: tiers tell switches from nodes, and either end may come first") {
    const auto found = parse_netq_graph(graph(cable("node2", "ens1", "node0", "swp1") + "," + cable("node0", "swp50", "node1", "swp2") + "," +
                                              cable("node2", "ens9", "node3", "ens9")), "netq.json");
    REQUIRE(found.has_value());
    CHECK(found->switches.size() == 2);
    CHECK(found->switches[0].level == 0u);
    CHECK(found->nodes.size() == 2);
    REQUIRE(found->links.size() == 2);
    CHECK(found->links[0].sw == "leaf-1");
    CHECK(found->links[0].port == "swp1");
    CHECK(found->links[0].peer == "dgx-1");
    CHECK(found->links[0].rail == "ens1");
    CHECK(found->links[1].peer_kind == PeerKind::sw);
    CHECK(found->links[1].peer == "spine-1");
    REQUIRE(found->findings.size() == 1);
    CHECK(found->findings[0].fact == "this cable joins two nodes");
}

TEST_CASE("NetQ: a cable to a device that is not there and a foreign document are refused") {
    const auto missing = parse_netq_graph(graph(cable("node0", "swp1", "node9", "ens1")), "netq.json");
    REQUIRE_FALSE(missing.has_value());
    CHECK(to_string(missing.error().front()).find("node9") != std::string::npos);
    CHECK_FALSE(parse_netq_graph(graph(R"({"id": "x", "interfaces": []})"), "netq.json").has_value());
    CHECK_FALSE(parse_netq_graph("[]", "netq.json").has_value());
    CHECK_FALSE(parse_netq_graph("[{", "netq.json").has_value());
}
