#include "lib/port_changes.h"

#include <catch2/catch.hpp>

using namespace aegis;

namespace {

PortGroup group(std::string sw, std::vector<std::string> ports, std::vector<std::string> leaves, bool trunk = true, double rate_bps = 100e9) {
    return {{}, std::move(sw), std::move(ports), std::move(leaves), trunk, rate_bps};
}

} // namespace

TEST_CASE("the same ports in other groups and another order are no change") {
    CHECK(port_changes({group("s", {"1", "2"}, {"l2", "l1"}), group("t", {"1"}, {"l1"})},
                       {group("t", {"1"}, {"l1"}), group("s", {"2"}, {"l1", "l2"}), group("s", {"1"}, {"l1", "l2"})})
              .empty());
    CHECK(port_changes({}, {}).empty());
}

TEST_CASE("ports that came, went, or lead elsewhere are told one by one, in natural order") {
    const PortChanges changes = port_changes({group("s", {"1", "2", "3"}, {"l1"}), group("s", {"4"}, {"l1"}), group("s", {"5"}, {"l1"})},
                                             {group("s", {"10", "9", "2"}, {"l1"}), group("s", {"3"}, {"l2"}),
                                              group("s", {"4"}, {"l1"}, false), group("s", {"5"}, {"l1"}, true, 0)});
    REQUIRE(changes.added.size() == 2);
    CHECK(changes.added[0] == PortChanges::Change{"s/9", "", "trunk of l1, 100Gbit", {}});
    CHECK(changes.added[1].port == "s/10");
    REQUIRE(changes.removed.size() == 1);
    CHECK(changes.removed[0] == PortChanges::Change{"s/1", "trunk of l1, 100Gbit", "", {}});
    REQUIRE(changes.changed.size() == 3);
    CHECK(changes.changed[0] == PortChanges::Change{"s/3", "trunk of l1, 100Gbit", "trunk of l2, 100Gbit", {}});
    CHECK(changes.changed[1].to == "node port of l1, 100Gbit");
    CHECK(changes.changed[2].to == "trunk of l1, rate unknown");
}
