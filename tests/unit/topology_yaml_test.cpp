#include "lib/topology_yaml.h"

#include <catch2/catch.hpp>

using namespace aegis;

namespace {

constexpr std::string_view three = R"(---
- topology: flat-one
  cluster_default: false
  flat: true
- topology: tree-one
  cluster_default: true
  tree:
    switches:
      - switch: root
        children: s[1-2]
      - switch: s1
        nodes: n[1-2]
      - switch: s2
        nodes: n[3-5]
- topology: block-one
  block:
    block_sizes: [2, 4]
    blocks:
      - block: b1
        nodes: n[1-2]
)";

std::string error_of(std::string_view text, const std::optional<std::string>& wanted = {}) {
    const auto found = parse_topology_yaml(text, "t.yaml", wanted);
    REQUIRE_FALSE(found.has_value());
    return to_string(found.error().front());
}

} // namespace

TEST_CASE("topology.yaml: the cluster's default is read, the others are reported") {
    const auto found = parse_topology_yaml(three, "t.yaml");
    REQUIRE(found.has_value());
    CHECK(found->switches.size() == 3);
    CHECK(found->nodes.size() == 5);
    CHECK(found->switches[1].place.line == 11);
    CHECK(found->findings.size() == 2);
    CHECK(found->findings[0].subject == "flat-one");
    CHECK(found->findings[0].fact == "this topology is not used: tree-one is");
}

TEST_CASE("topology.yaml: any of several topologies can be chosen by name") {
    const auto block = parse_topology_yaml(three, "t.yaml", "block-one");
    REQUIRE(block.has_value());
    CHECK(block->switches.size() == 1);
    CHECK(block->nodes.size() == 2);
    const auto flat = parse_topology_yaml(three, "t.yaml", "flat-one");
    REQUIRE(flat.has_value());
    CHECK(flat->switches.empty());
    CHECK(flat->findings.size() == 3);
    CHECK(error_of(three, "other").find("other") != std::string::npos);
}

TEST_CASE("topology.yaml: without a default the first counts") {
    const auto found = parse_topology_yaml("- topology: a\n  block:\n    blocks:\n    - {block: b1, nodes: n1}\n- topology: b\n  flat: true\n", "t.yaml");
    REQUIRE(found.has_value());
    CHECK(found->switches.size() == 1);
}

TEST_CASE("topology.yaml: what cannot be read is refused with its line") {
    CHECK(error_of("- topology: a\n  tree: [\n").find("t.yaml:3") == 0);
    CHECK(error_of("tree: x\n").find("a list of topologies") != std::string::npos);
    CHECK(error_of("- tree: x\n").find("t.yaml:1: topology") == 0);
    CHECK(error_of("- topology: a\n").find("exactly one of") != std::string::npos);
    CHECK(error_of("- topology: a\n  flat: true\n  tree:\n    switches: []\n").find("exactly one of") != std::string::npos);
    CHECK(error_of("- topology: a\n  tree:\n    switches:\n    - switch: s1\n").find("t.yaml:4") == 0);
    CHECK(error_of("- topology: a\n  tree:\n    switches:\n    - switch: s1\n      nodes: n[1\n").find("t.yaml:4: nodes") == 0);
    CHECK(error_of("- topology: a\n  tree:\n    switches:\n    - switch: s1\n      children: s7\n").find("s7") != std::string::npos);
    CHECK(error_of("- topology: a\n  tree:\n    switches: s1\n").find("a list") != std::string::npos);
    CHECK(error_of("- topology: a\n  cluster_default: maybe\n  flat: true\n").find("YAML") != std::string::npos);
    CHECK(error_of("").find("a list of topologies") != std::string::npos);
}
