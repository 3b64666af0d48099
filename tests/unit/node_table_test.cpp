#include "lib/footprint.h"
#include "lib/node_table.h"

#include <catch2/catch.hpp>

using namespace aegis;

TEST_CASE("a node table lies over the fabric, with gaps and with nodes the fabric does not know") {
    const auto topology = parse_topology("SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=n[4-5]\n", "t");
    const auto fabric = Fabric::build(*topology, {});
    const NodeTable table(7, {"login", "n5", "", "n1", "n2", "n4"}, *fabric); // n3 is not in Slurm
    CHECK(table.size() == 6);
    CHECK(table.leaf_count() == 2);
    CHECK(table.hash() == 7);
    CHECK(table.leaf_of(NodeIndex{1}) == LeafIndex{1});
    CHECK_FALSE(table.leaf_of(NodeIndex{0}).has_value());
    CHECK(table.hostlist(table.nodes_of(LeafIndex{0})) == "n[1-2]");
    CHECK(table.hostlist(table.nodes_of(LeafIndex{1})) == "n[5,4]");
    CHECK(table.hostlist(table.unmapped()) == "login"); // the gap is no node
    CHECK(footprint_of(NodeSet(6).set(), table) == Footprint{{LeafIndex{0}, 2}, {LeafIndex{1}, 2}});
    CHECK(footprint_of(table.unmapped(), table).empty());
}
