#include "lib/fabric_check.h"

#include "lib/slurm_topology.h"

#include <catch2/catch.hpp>

#include <array>

using namespace aegis;

namespace {

Discovery tree(std::string_view text) { return parse_topology_conf(text, "topology.conf").value(); }

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
        found.switches.push_back({sw, {}, {}, {}, {}});
        if (link.peer_kind == PeerKind::sw) found.switches.push_back({peer, {}, {}, {}, {}});
        found.links.push_back(std::move(link));
    }
    return merge({found});
}

Findings check(const std::vector<Discovery>& inputs, std::vector<std::string> slurm_nodes = {}, std::vector<std::pair<std::string, std::string>> ports = {}) {
    const Discovery merged = merge(inputs);
    const FabricMap map = map_fabric(merged, {});
    return check_fabric({merged, map, std::move(slurm_nodes), std::move(ports)});
}

const Finding* find(const Findings& findings, FindingKind kind, std::string_view subject = {}) {
    for (const Finding& finding : findings)
        if (finding.kind == kind && (subject.empty() || finding.subject == subject)) return &finding;
    return nullptr;
}

constexpr std::string_view two_leaves = "SwitchName=top Switches=l[1-2]\nSwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3-4]\n";

} // namespace

TEST_CASE("a whole and sound fabric has no findings") {
    const Findings findings = check({tree(two_leaves), cables({{"l1", "1", "n1", "e"}, {"l1", "2", "n2", "e"}, {"l2", "1", "n3", "e"}, {"l2", "2", "n4", "e"},
                                                               {"l1", "9", "s", "1"}, {"l2", "9", "s", "2"}})},
                                    {"n1", "n2", "n3", "n4"}, {{"l1", "1"}, {"s", "2"}});
    for (const Finding& finding : findings) UNSCOPED_INFO(to_string(finding));
    CHECK(findings.empty());
}

TEST_CASE("nodes without a cable, on no leaf, or unknown to Slurm are found") {
    const Findings findings = check({tree(two_leaves), cables({{"l1", "1", "n1", "e"}, {"l1", "7", "nfs", "e"}})}, {"n1", "n9"});
    REQUIRE(find(findings, FindingKind::unmapped_node, "n9"));
    CHECK(find(findings, FindingKind::unmapped_node, "n9")->meaning.find("never steered") != std::string::npos);
    CHECK(find(findings, FindingKind::unmapped_node, "n[2-4,9]"));
    CHECK(find(findings, FindingKind::unknown_to_slurm, "nfs"));
}

TEST_CASE("a topology without cables is said to have none, once") {
    const Findings findings = check({tree(two_leaves)});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == FindingKind::unmapped_port);
    CHECK(findings[0].meaning.find("[[ports]]") != std::string::npos);
}

TEST_CASE("a node on two leaves in one rail is an error, on two in two rails is not") {
    const auto once = check({tree("SwitchName=l1 Nodes=n1\n"), cables({{"a", "1", "n1", "r1"}, {"b", "1", "n1", "r2"}})});
    CHECK_FALSE(find(once, FindingKind::two_leaves_one_rail));
    const auto twice = check({tree("SwitchName=l1 Nodes=n1\n"), cables({{"a", "1", "n1", "r1"}, {"b", "1", "n1", "r1"}})});
    REQUIRE(find(twice, FindingKind::two_leaves_one_rail, "n1"));
    CHECK(find(twice, FindingKind::two_leaves_one_rail)->severity == Severity::error);
    CHECK(twice.front().kind == FindingKind::two_leaves_one_rail); // gravest first
}

TEST_CASE("uneven rails name the leaf and the nodes of each count") {
    const auto findings = check({tree("SwitchName=l1 Nodes=n[1-3]\n"), cables({{"a", "1", "n1", "r1"}, {"b", "1", "n1", "r2"}, {"a", "2", "n2", "r1"}, {"b", "2", "n2", "r2"}, {"a", "3", "n3", "r1"}})});
    REQUIRE(find(findings, FindingKind::uneven_rails, "l1"));
    CHECK(find(findings, FindingKind::uneven_rails)->fact == "its nodes have different numbers of rails: 1 on 1 switches: n3; 2 on 2 switches: n[1-2]");
}

TEST_CASE("trunks that do not meet under one root of Slurm's are an error, and a leaf without uplinks is found") {
    const auto findings = check({tree("SwitchName=top Switches=l[1-3]\nSwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\nSwitchName=l3 Nodes=n3\n"),
                                 cables({{"l1", "1", "n1", "e"}, {"l2", "1", "n2", "e"}, {"l3", "1", "n3", "e"}, {"l1", "9", "s1", "1"}, {"l2", "9", "s2", "1"}})});
    REQUIRE(find(findings, FindingKind::parted_fabric, "cables"));
    CHECK(find(findings, FindingKind::parted_fabric)->severity == Severity::error);
    CHECK(find(findings, FindingKind::parted_fabric)->fact == "the trunks fall into 2 parts that no cable joins: l1 | l2");
    CHECK(find(findings, FindingKind::no_uplinks, "l3"));
    CHECK_FALSE(find(findings, FindingKind::no_uplinks, "l1"));
}

TEST_CASE("a tree in parts and a leaf under no switch are found") {
    const auto findings = check({tree("SwitchName=a Switches=l[1-2]\nSwitchName=b Switches=l3\nSwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\n"
                                      "SwitchName=l3 Nodes=n3\nSwitchName=l4 Nodes=n4\n")});
    REQUIRE(find(findings, FindingKind::parted_fabric, "topology"));
    CHECK(find(findings, FindingKind::parted_fabric)->fact == "Slurm's tree has 2 parts: l[1-2] | l3");
    CHECK(find(findings, FindingKind::no_uplinks, "l4"));
    CHECK_FALSE(find(check({tree("SwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\n")}), FindingKind::no_uplinks)); // a flat file
}

TEST_CASE("switches and ports that only telemetry knows are found") {
    const auto findings = check({tree(two_leaves), cables({{"l1", "1", "n1", "e"}})}, {}, {{"l1", "1"}, {"l1", "2"}, {"x", "1"}, {"x", "2"}});
    CHECK(find(findings, FindingKind::telemetry_only, "l1/2"));
    CHECK(find(findings, FindingKind::telemetry_only, "x"));
    CHECK_FALSE(find(findings, FindingKind::telemetry_only, "x/1"));
    CHECK_FALSE(find(findings, FindingKind::telemetry_only, "l1/1"));
}

TEST_CASE("every finding says where, what and what it means") {
    const Finding finding{Severity::warning, FindingKind::no_uplinks, {"t.conf", 7}, "l1", "no switch above", "it stands alone"};
    CHECK(to_string(finding) == "t.conf:7: warning: l1: no switch above; it stands alone");
    CHECK(to_string(Finding{Severity::info, FindingKind::silent_port, {}, "l1/3", "nothing there", ""}) == "info: l1/3: nothing there");
}
