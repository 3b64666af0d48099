#include "lib/ibnetdiscover.h"

#include "lib/config_error.h"
#include "lib/infiniband_name.h"

#include <catch2/catch.hpp>

using namespace aegis;

namespace {

constexpr std::string_view two_switches = R"(#
# Topology file: generated on Wed Aug  6 16:11:23 2025
#
vendid=0x2c9
switchguid=0xa1(a1)
Switch	65 "S-00000000000000a1"		# "MF0;leaf-01:MQM9701/U1" enhanced port 0 lid 35 lmc 0
[1]	"H-00000000000000c1"[1](c101) 		# "n1 HCA-1" lid 47 4xNDR
[2]	"H-00000000000000c2"[1](c201) 		# "MT4129 ConnectX7   Mellanox Technologies" lid 229 4xNDR
[3]	"H-00000000000000c3"[1](c301) 		# "localhost HCA-2" lid 230 4xHDR
[43]	"S-00000000000000b1"[7]		# "MF0;spine-01:MQM9701/U1" lid 64 4xNDR
[65]	"H-00000000000000d1"[1](d101) 		# "Mellanox Technologies Aggregation Node" lid 183 4xNDR

switchguid=0xb1(b1)
Switch	65 "S-00000000000000b1"		# "MF0;spine-01:MQM9701/U1" enhanced port 0 lid 64 lmc 0
[7]	"S-00000000000000a1"[43]		# "MF0;leaf-01:MQM9701/U1" lid 35 4xNDR

caguid=0xc1
Ca	1 "H-00000000000000c1"		# "n1 HCA-1"
[1](c101) 	"S-00000000000000a1"[1]		# lid 47 lmc 0 "MF0;leaf-01:MQM9701/U1" lid 35 4xNDR
)";

const DiscoveredLink& at_port(const Discovery& found, std::string_view port) {
    for (const DiscoveredLink& link : found.links)
        if (link.port == port) return link;
    FAIL("no link at port " << port);
    return found.links.front();
}

std::string first_error(const ConfigErrors& errors) { return to_string(errors.front()); }

} // namespace

TEST_CASE("ibnetdiscover: each cable is one link, whichever of its ends are listed") {
    const auto found = parse_ibnetdiscover(two_switches, "ib.txt");
    REQUIRE(found.has_value());
    CHECK(found->switches.size() == 2);
    CHECK(found->switches[0].name == "MF0;leaf-01:MQM9701/U1");
    CHECK(found->switches[0].also_named == "leaf-01");
    CHECK(found->switches[0].id == "00000000000000a1");
    CHECK(found->links.size() == 5);
    const DiscoveredLink& node = at_port(*found, "1");
    CHECK(node.peer_kind == PeerKind::node);
    CHECK(node.peer == "n1");
    CHECK(node.rail == "HCA-1");
    CHECK(node.rate_bps == 400e9);
    CHECK(node.place.line == 7);
    const DiscoveredLink& trunk = at_port(*found, "43");
    CHECK(trunk.peer_kind == PeerKind::sw);
    CHECK(trunk.peer == "MF0;spine-01:MQM9701/U1");
    CHECK(trunk.peer_port == "7");
}

TEST_CASE("ibnetdiscover: an adapter's model and localhost are no host names, SHARP is no host") {
    const auto found = parse_ibnetdiscover(two_switches, "ib.txt");
    REQUIRE(found.has_value());
    CHECK(found->nodes.size() == 1);
    CHECK(at_port(*found, "2").peer_kind == PeerKind::host);
    CHECK(at_port(*found, "2").peer_id == "00000000000000c2");
    CHECK(at_port(*found, "3").peer_kind == PeerKind::host);
    CHECK(at_port(*found, "3").rail == "HCA-2");
    CHECK(at_port(*found, "65").peer_kind == PeerKind::device);
    std::size_t unknown = 0, devices = 0;
    for (const Finding& finding : found->findings) {
        unknown += finding.kind == FindingKind::unknown_host;
        devices += finding.kind == FindingKind::not_a_host;
    }
    CHECK(unknown == 2);
    CHECK(devices == 1);
}

TEST_CASE("ibnetdiscover: a GUID map names hosts, by the GUID of the adapter or of its port") {
    auto found = parse_ibnetdiscover(two_switches, "ib.txt");
    const auto names = parse_node_name_map("# map\n0xc2 \"n2 HCA-1\"\n0x000000000000c301 \"n3\"\n", "map");
    REQUIRE(names.has_value());
    name_hosts(*found, *names);
    CHECK(at_port(*found, "2").peer == "n2");
    CHECK(at_port(*found, "3").peer == "n3");
    CHECK(at_port(*found, "3").peer_kind == PeerKind::node);
    CHECK(found->nodes.size() == 3);
    for (const Finding& finding : found->findings) CHECK(finding.kind != FindingKind::unknown_host);
}

TEST_CASE("ibnetdiscover: switches that share a description go by their GUID") {
    const auto found = parse_ibnetdiscover("Switch\t8 \"S-a1\"\t# \"Infiniscale-IV Mellanox Technologies\" base port 0 lid 1 lmc 0\n"
                                           "[1]\t\"S-a2\"[2]\t# \"Infiniscale-IV Mellanox Technologies\" lid 2 4xQDR\n", "ib.txt");
    REQUIRE(found.has_value());
    REQUIRE(found->links.size() == 1);
    CHECK(found->links[0].sw == "0x00000000000000a1");
    CHECK(found->links[0].peer == "0x00000000000000a2");
    CHECK(found->links[0].rate_bps == 32e9);
}

TEST_CASE("ibnetdiscover: a description with quotes, a second adapter port and grouping are read") {
    const auto found = parse_ibnetdiscover("Switch\t8 \"S-a1\"\t# \"the \"old\" leaf\" base port 0 lid 1 lmc 0\n"
                                           "[1][ext 5]\t\"H-c1\"[2](c102)[ext 1]\t# \"n1 mlx5_0\" lid 2 4xEDR\n", "ib.txt");
    REQUIRE(found.has_value());
    CHECK(found->switches[0].name == "the \"old\" leaf");
    CHECK(found->links[0].rail == "mlx5_0/2");
    CHECK(found->links[0].rate_bps == 100e9);
}

TEST_CASE("ibnetdiscover: what cannot be read is refused with its line") {
    const auto orphan = parse_ibnetdiscover("#\n[1]\t\"H-c1\"[1](c1)\t# \"n1\" lid 2 4xEDR\n", "ib.txt");
    REQUIRE_FALSE(orphan.has_value());
    CHECK(orphan.error().front().place.line == 2);
    const auto no_guid = parse_ibnetdiscover("Switch\t8 \"S-zz\"\t# \"x\"\n", "ib.txt");
    REQUIRE_FALSE(no_guid.has_value());
    CHECK(no_guid.error().front().place.line == 1);
    const auto cut = parse_ibnetdiscover("Switch\t8 \"S-a1\"\t# \"x\" base port 0 lid 1 lmc 0\n[1]\t\"H-c1\"[\n", "ib.txt");
    REQUIRE_FALSE(cut.has_value());
    CHECK(cut.error().front().place.line == 2);
    const auto nothing = parse_ibnetdiscover("hello\n", "ib.txt");
    REQUIRE_FALSE(nothing.has_value());
    CHECK(first_error(nothing.error()).find("no output of ibnetdiscover") != std::string::npos);
}

TEST_CASE("ibnetdiscover -p: the same links, and ports without a neighbour are reported") {
    const auto found = parse_ibnetdiscover_ports("CA   134  1 0x00000000000000c1 4x EDR - SW  1719 10 0x00000000000000a1 ( 'n1 HCA-1' - 'leaf-01' )\n"
                                                 "SW  1719 10 0x00000000000000a1 4x EDR - CA   134  1 0x00000000000000c1 ( 'leaf-01' - 'n1 HCA-1' )\n"
                                                 "SW  1719  1 0x00000000000000a1 4x EDR - SW  1516  2 0x00000000000000b1 ( 'leaf-01' - 'spine-01' )\n"
                                                 "SW  1719 37 0x00000000000000a1 4x ???                                    'leaf-01'\n", "p.txt");
    REQUIRE(found.has_value());
    CHECK(found->switches.size() == 2);
    CHECK(found->links.size() == 3);
    CHECK(at_port(*found, "10").peer == "n1");
    CHECK(at_port(*found, "1").peer == "spine-01");
    CHECK(at_port(*found, "37").peer_kind == PeerKind::none);
    CHECK(at_port(*found, "37").rate_bps == 0);
    const auto wrong = parse_ibnetdiscover_ports("SW  1719 10 0xa1 4x EDR - CA 134\n", "p.txt");
    REQUIRE_FALSE(wrong.has_value());
    CHECK(wrong.error().front().place.line == 1);
    CHECK_FALSE(parse_ibnetdiscover_ports("\n", "p.txt").has_value());
}

TEST_CASE("ibnetdiscover: normal and -p output of one fabric merge to the same links") {
    auto normal = parse_ibnetdiscover("Switch\t8 \"S-a1\"\t# \"leaf-01\" base port 0 lid 1 lmc 0\n"
                                      "[1]\t\"H-c1\"[1](c101)\t# \"MT4129 ConnectX7 Mellanox Technologies\" lid 2 4xEDR\n", "ib.txt");
    auto ports = parse_ibnetdiscover_ports("SW  1  1 0x00000000000000a1 4x EDR - CA   2  1 0x000000000000c101 ( 'leaf-01' - 'n7 HCA-1' )\n", "p.txt");
    const Discovery merged = merge({*normal, *ports});
    REQUIRE(merged.links.size() == 1);
    CHECK(merged.links[0].peer == "n7");
    for (const Finding& finding : merged.findings) CHECK(finding.kind != FindingKind::contradiction);
}

TEST_CASE("InfiniBand rates are payload after encoding") {
    CHECK(infiniband_rate_bps("4xNDR") == 400e9);
    CHECK(infiniband_rate_bps("4xSDR") == 8e9);
    CHECK(infiniband_rate_bps("1xFDR10") == 10e9);
    CHECK(infiniband_rate_bps("12xEDR") == 300e9);
    CHECK(infiniband_rate_bps("4x???") == 0);
    CHECK(infiniband_rate_bps("x") == 0);
    CHECK(infiniband_rate_bps("") == 0);
}

TEST_CASE("InfiniBand node descriptions tell hosts from adapters") {
    CHECK(infiniband_end("n1 HCA-1").node == "n1");
    CHECK(infiniband_end("n1.site.org mlx5_3").adapter == "mlx5_3");
    CHECK(infiniband_end("n1").node == "n1");
    CHECK(infiniband_end("").kind == PeerKind::host);
    CHECK(infiniband_end("mlx5_0").kind == PeerKind::host);
    CHECK(infiniband_end("MT23108 InfiniHost Mellanox Technologies").kind == PeerKind::host);
    CHECK(infiniband_end("MTs-node HCA-1").node == "MTs-node");
    CHECK(short_switch_name("MF0;core:CS7500/L01/U1") == "core/L01/U1");
    CHECK(short_switch_name("SW-6IB4 Voltaire") == "SW-6IB4 Voltaire");
}

TEST_CASE("a GUID map is refused line by line") {
    const auto wrong = parse_node_name_map("0xc1 \"n1\"\nn2 0xc2\n0xc3 n3\n", "map");
    REQUIRE_FALSE(wrong.has_value());
    REQUIRE(wrong.error().size() == 2);
    CHECK(wrong.error()[0].place.line == 2);
    CHECK(wrong.error()[1].place.line == 3);
}
