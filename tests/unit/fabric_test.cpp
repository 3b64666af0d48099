#include "lib/fabric.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

using namespace aegis;

namespace {

std::vector<TopologyLine> topology(std::string_view text) {
    auto lines = parse_topology(text, "topology.conf");
    for (const ConfigError& error : lines ? ConfigErrors{} : lines.error()) UNSCOPED_INFO(error.key << ": " << error.expected);
    REQUIRE(lines.has_value());
    return *lines;
}

// "LINE KEY=VALUE: EXPECTED" of the only error.
std::string only_error(const ConfigErrors& errors) {
    REQUIRE(errors.size() == 1);
    const ConfigError& e = errors.front();
    return std::to_string(e.place.line) + " " + e.key + "=" + e.value + ": " + e.expected;
}

std::string topology_error(std::string_view text) {
    const auto lines = parse_topology(text, "topology.conf");
    REQUIRE_FALSE(lines.has_value());
    CHECK(lines.error().front().place.file == "topology.conf");
    return only_error(lines.error());
}

PortGroup ports(int line, std::string sw, std::vector<std::string> names, std::string leaf) {
    return {.place = {"aegisd.toml", line}, .sw = std::move(sw), .ports = std::move(names), .leaves = {std::move(leaf)},
            .trunk = true, .rate_bps = 100e9};
}

// A file of the shared fixtures, or nothing where they are not at hand.
std::optional<std::string> shared_fixture(const std::string& name) {
    const char* shared = std::getenv("AEGIS_SHARED");
    std::ifstream file(std::string(shared ? shared : "../shared") + "/fixtures/telemetry/topology/" + name);
    if (!file) {
        WARN("skipped, not found: " << name << " (set AEGIS_SHARED)");
        return std::nullopt;
    }
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

} // namespace

TEST_CASE("topology.conf is read as Slurm reads it") {
    const auto lines = topology("# SwitchName=no\n"
                                "switchname=top SWITCHES=leaf[1-2] LinkSpeed=100 # root\r\n"
                                "\n"
                                "  SwitchName = leaf1\tNodes = \"n[1-2]\"\n"
                                "SwitchName=leaf2 \\\n"
                                "    Nodes=,n[3-4],,login, \\ \n"
                                "\n");
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].name == "top");
    CHECK(lines[0].switches == std::vector<std::string>{"leaf1", "leaf2"});
    CHECK(lines[0].line == 2);
    CHECK(lines[1].nodes == std::vector<std::string>{"n1", "n2"});
    CHECK(lines[2].nodes == std::vector<std::string>{"n3", "n4", "login"});
    CHECK(lines[2].line == 5);
    CHECK(topology("").empty());
}

TEST_CASE("a topology file that is wrong is refused with line, key, value and what was expected") {
    const auto [text, error] = GENERATE(table<std::string, std::string>({
        {"SwitchName=a Node=n1", "1 Node=n1: SwitchName, Nodes, Switches or LinkSpeed, the keys of topology/tree"},
        {"\nBlockName=b1 Nodes=n1", "2 BlockName=b1: SwitchName, Nodes, Switches or LinkSpeed, the keys of topology/tree"},
        {"SwitchName=a Nodes=n[1-", "1 Nodes=n[1-: a list of names such as n[00-15]; character 5: expected a number"},
        {"SwitchName=a Nodes=", "1 Nodes=: a list of names such as n[00-15]; expected a name"},
        {"SwitchName=a Nodes=n1 Switches=b\n", "1 SwitchName=a: either Nodes= or Switches=, not both and not neither"},
        {"SwitchName=a", "1 SwitchName=a: either Nodes= or Switches=, not both and not neither"},
        {"Nodes=n1", "1 SwitchName=: SwitchName= on every line"},
        {"SwitchName=a[1-2] Nodes=n1", "1 SwitchName=a[1-2]: the name of one switch"},
        {"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2", "2 SwitchName=a: another name: line 1 has this one"},
        {"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n[1-2]", "2 Nodes=n1: a node on one leaf: line 1 has it too"},
        {"SwitchName=a Nodes=n1,n1", "1 Nodes=n1: a node on one leaf: line 1 has it too"},
        {"SwitchName=r Switches=a,b\nSwitchName=a Nodes=n1", "1 Switches=b: a switch that has a SwitchName= line"},
        {"SwitchName=a Nodes=\"n1", "1 Nodes=\"n1: a closing quote"},
        {"SwitchName a", "1 SwitchName=a: KEY=VALUE"},
        {"include /etc/slurm/other.conf", "1 include=/etc/slurm/other.conf: the included lines themselves: include is not "
                                          "supported, give the whole topology in one file"},
    }));
    CAPTURE(text);
    CHECK(topology_error(text) == error);
}

TEST_CASE("every error of a topology file is reported, not only the first") {
    const auto lines = parse_topology("SwitchName=a Nodes=n[\nFoo=1\nSwitchName=b", "t");
    REQUIRE_FALSE(lines.has_value());
    CHECK(lines.error().size() == 3);
}

TEST_CASE("leaves under a common switch are one component, others are not") {
    const auto fabric = Fabric::build(topology("SwitchName=root Switches=s1\nSwitchName=s1 Switches=a,b\nSwitchName=s2 Switches=c\n"
                                               "SwitchName=a Nodes=n1\nSwitchName=c Nodes=n3\nSwitchName=b Nodes=n2\nSwitchName=d Nodes=n4\n"),
                                      {});
    REQUIRE(fabric.has_value());
    REQUIRE(fabric->leaves().size() == 4);
    const auto component = [&](const char* leaf) { return fabric->leaves()[at(*fabric->leaf_named(leaf))].component; };
    CHECK(component("a") == component("b"));
    CHECK(std::set{component("a"), component("c"), component("d")} == std::set{0u, 1u, 2u});
    CHECK(fabric->leaf_of_node("n3") == fabric->leaf_named("c"));
    CHECK_FALSE(fabric->leaf_of_node("n9").has_value());
    CHECK_FALSE(fabric->leaf_named("root").has_value());
}

TEST_CASE("a flat file without upper switches is one component") {
    const auto fabric = Fabric::build(topology("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n"), {});
    REQUIRE(fabric.has_value());
    for (const Leaf& leaf : fabric->leaves()) CHECK(leaf.component == 0);
}

TEST_CASE("ports lead to links of their leaf, whatever their switch is called") {
    const auto fabric = Fabric::build(topology("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n"),
                                      {ports(3, "tor-1.site", {"Ethernet0", "Ethernet4"}, "a"), ports(9, "tor-2.site", {"Ethernet0"}, "b")});
    REQUIRE(fabric.has_value());
    REQUIRE(fabric->links().size() == 3);
    const auto link = fabric->link_of_port("tor-2.site", "Ethernet0");
    REQUIRE(link.has_value());
    CHECK(fabric->links()[at(*link)].leaves == std::vector{*fabric->leaf_named("b")});
    CHECK(fabric->links()[at(*link)].rate_bps == 100e9);
    CHECK(fabric->leaves()[0].links.size() == 2);
    CHECK_FALSE(fabric->link_of_port("tor-2.site", "Ethernet4").has_value());
}

TEST_CASE("a port table that contradicts itself or the topology is refused") {
    const auto lines = topology("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n");
    const auto error = [&](const std::vector<PortGroup>& groups) {
        const auto fabric = Fabric::build(lines, groups);
        REQUIRE_FALSE(fabric.has_value());
        CHECK(fabric.error().front().place.file == "aegisd.toml");
        return only_error(fabric.error());
    };
    CHECK(error({ports(3, "s", {"1"}, "a"), ports(8, "s", {"1"}, "b")}) == "8 ports.ports=s/1: a port mapped once: aegisd.toml:3 maps it too");
    CHECK(error({ports(3, "s", {"1", "1"}, "a")}) == "3 ports.ports=s/1: a port mapped once: aegisd.toml:3 maps it too");
    CHECK(error({ports(3, "s", {"1"}, "c")}) == "3 ports.leaf=c: one of the 2 leaves in the topology file");
    CHECK(error({ports(3, "s", {}, "a")}) == "3 ports.ports=: at least one port");
}

TEST_CASE("real topology files are read whole") {
    if (const auto text = shared_fixture("slurm-3level-10000-nodes.conf")) {
        const auto fabric = Fabric::build(topology(*text), {});
        REQUIRE(fabric.has_value());
        CHECK(fabric->leaves().size() == 500);
        std::size_t nodes = 0;
        for (const Leaf& leaf : fabric->leaves()) {
            nodes += leaf.nodes.size();
            CHECK(leaf.component == 0);
        }
        CHECK(nodes == 10'000);
        CHECK(fabric->leaf_of_node("peta10025") == fabric->leaf_named("leaf101"));
    }
    if (const auto text = shared_fixture("topograph-tree.conf")) {
        const auto fabric = Fabric::build(topology(*text), {});
        REQUIRE(fabric.has_value());
        CHECK(fabric->leaves().size() == 12);
        CHECK(fabric->leaf_of_node("srv3204") == fabric->leaf_named("switch.1.6"));
    }
    if (const auto text = shared_fixture("multi-topology.yaml")) CHECK_FALSE(parse_topology(*text, "topology.yaml").has_value());
}
