#include "lib/slurm_topology.h"

#include <catch2/catch.hpp>

using namespace aegis;

namespace {

std::size_t nodes_on(const Discovery& found, std::string_view leaf) {
    return static_cast<std::size_t>(std::ranges::count_if(found.links, [&](const DiscoveredLink& link) { return link.sw == leaf && link.peer_kind == PeerKind::node; }));
}

std::string only_error(const std::expected<Discovery, ConfigErrors>& found) {
    REQUIRE_FALSE(found.has_value());
    return to_string(found.error().front());
}

} // namespace

TEST_CASE("topology.conf: Topograph's comments give switches their second names") {
    const auto found = parse_topology_conf("# switch.2.1=spine-1\nSwitchName=switch.2.1 Switches=switch.1.[1-2]\n"
                                           "# switch.1.1=leaf-1-1\nSwitchName=switch.1.1 Nodes=n[1-2]\nSwitchName=switch.1.2 Nodes=n3\n", "t.conf");
    REQUIRE(found.has_value());
    REQUIRE(found->switches.size() == 3);
    CHECK(found->switches[0].also_named == "spine-1");
    CHECK(found->switches[1].also_named == "leaf-1-1");
    CHECK(found->switches[2].also_named.empty());
    CHECK(found->nodes.size() == 3);
    CHECK(nodes_on(*found, "switch.1.1") == 2);
}

TEST_CASE("topology.conf: an empty list element is passed over as Slurm does") {
    const auto found = parse_topology_conf("SwitchName=a Nodes=,n[019-020]\n", "t.conf");
    REQUIRE(found.has_value());
    CHECK(nodes_on(*found, "a") == 2);
}

TEST_CASE("topology.conf: blocks are leaves without a switch above") {
    const auto found = parse_topology_conf("BlockName=b1 Nodes=n[1-2]\nblockname=b2 nodes=n[3-4] # spare\nBlockSizes=2,4\n", "t.conf");
    REQUIRE(found.has_value());
    CHECK(found->switches.size() == 2);
    CHECK(nodes_on(*found, "b2") == 2);
    CHECK(only_error(parse_topology_conf("BlockName=b1 Nodes=n1\nBlockName=b2 Nodes=n1\n", "t.conf")).find("t.conf:2") == 0);
    CHECK(only_error(parse_topology_conf("BlockName=b1 Nodes=n[1\n", "t.conf")).find("t.conf:1") == 0);
    CHECK(only_error(parse_topology_conf("BlockName=b1 Knots=n1\n", "t.conf")).find("Knots") != std::string::npos);
}

TEST_CASE("topology.conf: a file whose lines are all commented out says so") {
    CHECK(only_error(parse_topology_conf("#BlockName=b1 Nodes=n1\n## BlockName=b2 Nodes=n2\n", "t.conf")).find("all 2 of them are commented out") != std::string::npos);
    CHECK(only_error(parse_topology_conf("\n", "t.conf")).find("SwitchName= or BlockName=") != std::string::npos);
    CHECK(only_error(parse_topology_conf("SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n", "t.conf")).find("either") != std::string::npos);
    CHECK(only_error(parse_topology_conf("SwitchName=a Switches=b\n", "t.conf")).find("t.conf:1") == 0);
}

TEST_CASE("scontrol: nodes of a switch above leaves belong to the leaves") {
    const auto found = parse_scontrol_topology("SwitchName=root Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[1-2]\n\n"
                                               "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-2] \nSwitchName=s2 Level=0 LinkSpeed=1 Nodes=n[3-4]\n", "show");
    REQUIRE(found.has_value());
    CHECK(found->nodes.size() == 4);
    CHECK(nodes_on(*found, "root") == 0);
    CHECK(nodes_on(*found, "s2") == 2);
    CHECK(found->switches[0].level == 1u);
}

TEST_CASE("scontrol: blocks are leaves, aggregated blocks are their sums") {
    const auto found = parse_scontrol_topology("BlockName=b0 BlockIndex=0 Nodes=n[1-2] BlockSize=2\nBlockName=b1 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n"
                                               "AggregatedBlock=b[0-1] BlockIndex=2 Nodes=n[1-4] BlockSize=4\n", "show");
    REQUIRE(found.has_value());
    CHECK(found->switches.size() == 2);
    CHECK(found->nodes.size() == 4);
}

TEST_CASE("scontrol: a line cut short or foreign is refused with its number") {
    CHECK(only_error(parse_scontrol_topology("SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-\n", "show")).find("show:1") == 0);
    CHECK(only_error(parse_scontrol_topology("SwitchName=s1 Level=0 Nodes=n1\nNo topology\n", "show")).find("show:2") == 0);
    CHECK(only_error(parse_scontrol_topology("SwitchName=s1 Level=1 Nodes=n1 Switches=s9\n", "show")).find("s9") != std::string::npos);
    CHECK_FALSE(parse_scontrol_topology("", "show").has_value());
}
