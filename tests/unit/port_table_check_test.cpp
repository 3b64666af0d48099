#include "lib/port_table_check.h"

#include <catch2/catch.hpp>

using namespace aegis;

namespace {

std::vector<TopologyLine> tree(std::string_view text) { return parse_topology(text, "topology.conf").value(); }

PortGroup group(std::string sw, std::vector<std::string> ports, std::vector<std::string> leaves, bool trunk = true, double rate_bps = 100e9) {
    return {{"fabric.toml", 7}, std::move(sw), std::move(ports), std::move(leaves), trunk, rate_bps};
}

const Finding* find(const Findings& findings, FindingKind kind, std::string_view subject = {}) {
    for (const Finding& finding : findings)
        if (finding.kind == kind && (subject.empty() || finding.subject == subject)) return &finding;
    return nullptr;
}

constexpr std::string_view three_leaves = "SwitchName=top Switches=l[1-3]\nSwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\nSwitchName=l3 Nodes=n3\n";

} // namespace

TEST_CASE("a port table with a trunk of known rate for each leaf has nothing to find") {
    CHECK(check_port_table(tree(three_leaves), "topology.conf", {group("a", {"1"}, {"l1"}), group("b", {"1"}, {"l2", "l3"})}).empty());
}

TEST_CASE("a leaf without ports counts as calm, and one with node ports only is told") {
    const auto findings = check_port_table(tree(three_leaves), "topology.conf", {group("a", {"1"}, {"l1"}), group("b", {"1"}, {"l2"}, false)});
    REQUIRE(findings.size() == 2);
    REQUIRE(find(findings, FindingKind::leaf_without_ports, "l3"));
    CHECK(find(findings, FindingKind::leaf_without_ports)->place.line == 4);
    CHECK(find(findings, FindingKind::leaf_without_ports)->meaning.find("counts as calm") != std::string::npos);
    CHECK(find(findings, FindingKind::no_uplinks, "l2"));
}

TEST_CASE("a trunk without a rate is worth knowing, a node port without one is not") {
    const auto findings = check_port_table(tree("SwitchName=l1 Nodes=n1\n"), "t", {group("a", {"1", "2"}, {"l1"}, true, 0), group("a", {"3"}, {"l1"}, false, 0)});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == FindingKind::rate_unknown);
    CHECK(findings[0].severity == Severity::info);
    CHECK(findings[0].place.line == 7);
}

TEST_CASE("what a running aegisd misses is told by switch") {
    CHECK(check_live({}).empty());
    const auto findings = check_live({{"n10", "n9"}, {{"x", "2"}, {"x", "10"}}, {{"a", "1"}}, {{"b", "1"}}});
    REQUIRE(findings.size() == 3);
    CHECK(find(findings, FindingKind::unmapped_node, "n[9-10]"));
    REQUIRE(find(findings, FindingKind::telemetry_only, "x"));
    CHECK(find(findings, FindingKind::telemetry_only)->fact == "telemetry delivers 2 ports of it that no [[ports]] names: [2,10]");
    CHECK(find(findings, FindingKind::not_measured, "b"));
}

TEST_CASE("a table in use that says another leaf than the cables is an error, one that lacks or has more ports a warning") {
    const auto findings = compare_tables({group("a", {"1", "2"}, {"l1"}), group("old", {"1"}, {"l1"})}, {group("a", {"1"}, {"l1"}), group("a", {"2"}, {"l2"}), group("new", {"1"}, {"l1"})});
    REQUIRE(findings.size() == 3);
    CHECK(findings[0].severity == Severity::error);
    CHECK(findings[0].subject == "a/2");
    CHECK(findings[0].fact == "the table in use has it as trunk of l1, 100Gbit, the cables as trunk of l2, 100Gbit");
    CHECK(findings[1].subject == "new/1");
    CHECK(findings[2].subject == "old/1");
    CHECK(findings[2].severity == Severity::warning);
    CHECK(compare_tables({group("a", {"1"}, {"l1"})}, {group("a", {"1"}, {"l1"})}).empty());
}

TEST_CASE("switch and port are told apart by the switches that are known") {
    const std::set<std::string> known{"MF0;leaf:MQM/U1", "sw"};
    CHECK(split_port("sw/Ethernet1/1", known) == SwitchPort{"sw", "Ethernet1/1"});
    CHECK(split_port("MF0;leaf:MQM/U1/31", known) == SwitchPort{"MF0;leaf:MQM/U1", "31"});
    CHECK(split_port("other/Ethernet1/1", known) == SwitchPort{"other", "Ethernet1/1"});
    CHECK(split_port("alone", known) == SwitchPort{"alone", ""});
}
