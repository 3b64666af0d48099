#include "lib/fabric_text.h"

#include "lib/config.h"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace aegis;
using Names = std::vector<std::string>;

namespace {

// aegisd.toml with nothing but what must be there.
constexpr std::string_view rest = "[fabric]\ntopology = \"/etc/slurm/topology.conf\"\n";

std::vector<PortGroup> read_back(const std::string& toml) {
    const auto config = parse_config(std::string(rest) + toml, "aegisd.toml");
    if (!config) FAIL(to_string(config.error().front()) << "\n" << toml);
    return config->ports;
}

void check_same(const std::vector<PortGroup>& a, const std::vector<PortGroup>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i].sw == b[i].sw);
        CHECK(a[i].ports == b[i].ports);
        CHECK(a[i].leaves == b[i].leaves);
        CHECK(a[i].trunk == b[i].trunk);
        CHECK(a[i].rate_bps == b[i].rate_bps);
    }
}

FabricMap example() {
    FabricMap map;
    map.topology = {{1, "l1", {"n1", "n2"}, {}}, {2, "l2", {"n3"}, {}}};
    map.ports = {{"MF0;tor \"a\":MQM/U1", "1", {"l1"}, false, 400e9, "HCA-1", {}}, {"MF0;tor \"a\":MQM/U1", "2", {"l1"}, false, 400e9, "HCA-1", {}},
                 {"MF0;tor \"a\":MQM/U1", "49", {"l1", "l2"}, true, 54.56e9, "", {}}, {"spine\\x", "Ethernet1/1", {"l1"}, true, 0, "", {}}};
    return map;
}

} // namespace

TEST_CASE("[[ports]] as written reads back as the same groups and builds the same fabric") {
    const FabricMap map = example();
    const std::string toml = ports_toml(map);
    check_same(read_back(toml), port_groups(map));
    const auto topology = parse_topology(topology_conf(map), "topology.conf");
    REQUIRE(topology.has_value());
    const auto direct = Fabric::build(map.topology, port_groups(map)), read = Fabric::build(*topology, read_back(toml));
    REQUIRE(direct.has_value());
    REQUIRE(read.has_value());
    REQUIRE(read->links().size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(read->links()[i].sw == direct->links()[i].sw);
        CHECK(read->links()[i].leaves == direct->links()[i].leaves);
    }
    CHECK(read->leaves()[1].links.size() == 1); // the shared trunk
    CHECK(read->leaves()[0].links.size() == 4);
}

TEST_CASE("the text is what an administrator would have written") {
    FabricMap map;
    map.ports = {{"tor", "9", {"l1"}, false, 100e9, "", {}}, {"tor", "10", {"l1"}, false, 100e9, "", {}}};
    CHECK(ports_toml(map) == "[[ports]]\nswitch = \"tor\"\nports = \"[9-10]\"\nleaf = \"l1\"\nkind = \"node\"\nrate = \"100Gbit\"\n\n");
}

TEST_CASE("a port whose name no list can hold is left out by name") {
    FabricMap map = example();
    map.ports.push_back({"tor", "port 7,8", {"l1"}, true, 0, "", {}});
    CHECK(ports_toml(map).find("# left out") != std::string::npos);
    map.ports.push_back({"Br\xfc" "cke", "1", {"l1"}, true, 0, "", {}}); // Latin-1
    map.ports.push_back({"Br\xc3\xbc" "cke", "1", {"l1"}, true, 0, "", {}});
    CHECK(unwritable(map).size() == 2);
    CHECK(unwritable_findings(map).at(1).subject == "Br\xfc" "cke/1");
    CHECK(port_groups(map).back().sw == "Br\xc3\xbc" "cke");
    check_same(read_back(ports_toml(map)), port_groups(map));
}

TEST_CASE("topology.conf gives each part of the cables its own top switch") {
    FabricMap map;
    map.topology = {{0, "a", {"n1"}, {}}, {0, "b", {"n2"}, {}}, {0, "c", {"n3"}, {}}, {0, "d", {"n4"}, {}}, {0, "top1", {"n5"}, {}}};
    map.leaves_of = {{"a", {"a"}}, {"b", {"b"}}, {"c", {"c"}}, {"d", {"d"}}};
    map.trunks = {{"a", "s", {}}, {"b", "s", {}}, {"c", "t", {}}, {"d", "t", {}}};
    const std::string text = topology_conf(map);
    CHECK(text.find("SwitchName=top2 Switches=a,b\nSwitchName=top3 Switches=c,d\n") != std::string::npos);
    const auto lines = parse_topology(text, "topology.conf");
    REQUIRE(lines.has_value());
    const auto fabric = Fabric::build(*lines, {});
    REQUIRE(fabric.has_value());
    CHECK(fabric->leaves()[0].component == fabric->leaves()[1].component);
    CHECK(fabric->leaves()[0].component != fabric->leaves()[2].component);
}

TEST_CASE("any map reads back as its groups") {
    CHECK(rc::check("ports_toml and parse_config are inverse", [] {
        FabricMap map;
        const auto text = rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::element('a', 'E', '0', '1', '9', '/', '-', '.', ';', '"', '\\', '_')));
        const int count = *rc::gen::inRange(1, 12);
        for (int i = 0; i < count; ++i)
            map.ports.push_back({*text, *text, Names{*rc::gen::element<std::string>("l1", "l2")}, *rc::gen::arbitrary<bool>(),
                                 *rc::gen::element(0.0, 100e9, 400e9, 13.64e9), "", {}});
        const auto written = port_groups(map), read = read_back(ports_toml(map));
        RC_ASSERT(read.size() == written.size());
        for (std::size_t i = 0; i < read.size(); ++i) {
            RC_ASSERT(read[i].sw == written[i].sw);
            RC_ASSERT(read[i].ports == written[i].ports);
            RC_ASSERT(read[i].leaves == written[i].leaves);
            RC_ASSERT(read[i].trunk == written[i].trunk);
            RC_ASSERT(read[i].rate_bps == written[i].rate_bps);
        }
    }));
}
