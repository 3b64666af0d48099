#include "lib/discovery.h"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace aegis;

namespace {

DiscoveredLink cable(std::string sw, std::string port, PeerKind kind, std::string peer, std::string peer_port = {}, std::string file = "a") {
    DiscoveredLink link;
    link.sw = std::move(sw);
    link.port = std::move(port);
    link.peer_kind = kind;
    link.peer = std::move(peer);
    link.peer_port = std::move(peer_port);
    link.place = {std::move(file), 1};
    return link;
}

Discovery of(std::vector<DiscoveredLink> links) {
    Discovery found;
    found.links = std::move(links);
    return found;
}

std::size_t contradictions(const Discovery& found) {
    return static_cast<std::size_t>(std::ranges::count(found.findings, FindingKind::contradiction, &Finding::kind));
}

} // namespace

TEST_CASE("a cable between switches seen from both sides is one link") {
    const Discovery merged = merge({of({cable("l", "1", PeerKind::sw, "s", "7")}), of({cable("s", "7", PeerKind::sw, "l", "1", "b")})});
    CHECK(merged.links.size() == 1);
    CHECK(contradictions(merged) == 0);
}

TEST_CASE("what one input leaves open another fills in") {
    DiscoveredLink rated = cable("l", "1", PeerKind::node, "n1", "eth0");
    rated.rate_bps = 1e9;
    rated.rail = "eth0";
    DiscoveredLink open = cable("l", "1", PeerKind::host, "");
    open.peer_id = "00000000000000c1";
    const Discovery merged = merge({of({open}), of({rated})});
    REQUIRE(merged.links.size() == 1);
    CHECK(merged.links[0].peer == "n1");
    CHECK(merged.links[0].peer_kind == PeerKind::node);
    CHECK(merged.links[0].rate_bps == 1e9);
    CHECK(merged.links[0].peer_id == "00000000000000c1");
    CHECK(contradictions(merged) == 0);
}

TEST_CASE("a port known by two names is one port") {
    DiscoveredLink from_node = cable("l", "etp1", PeerKind::node, "n1");
    from_node.port_also_named = "Ethernet0";
    const Discovery merged = merge({of({from_node}), of({cable("l", "Ethernet0", PeerKind::node, "n1")})});
    CHECK(merged.links.size() == 1);
    const Discovery turned = merge({of({cable("l", "Ethernet0", PeerKind::node, "n1")}), of({from_node})});
    CHECK(turned.links.size() == 1);
}

TEST_CASE("two inputs that differ on a cable are a contradiction, and the first stands") {
    const auto differ = [](DiscoveredLink a, DiscoveredLink b) {
        b.place.file = "b";
        const Discovery merged = merge({of({a}), of({b})});
        CHECK(contradictions(merged) == 1);
        REQUIRE(merged.links.size() == 1);
        CHECK(merged.links[0].peer == a.peer);
        CHECK(merged.findings[0].place.file == "b");
        CHECK(merged.findings[0].severity == Severity::error);
    };
    differ(cable("l", "1", PeerKind::node, "n1"), cable("l", "1", PeerKind::node, "n2"));
    differ(cable("l", "1", PeerKind::node, "n1"), cable("l", "1", PeerKind::none, ""));
    differ(cable("l", "1", PeerKind::sw, "s", "7"), cable("l", "1", PeerKind::sw, "s", "8"));
    differ(cable("l", "1", PeerKind::sw, "s", "7"), cable("x", "1", PeerKind::sw, "s", "7"));
    differ(cable("l", "1", PeerKind::sw, "s", "7"), cable("s", "7", PeerKind::sw, "l", "2"));
}

TEST_CASE("a switch with two addresses and a child with two parents are contradictions") {
    Discovery a, b;
    a.switches = {{"l", "aa", {}, {}, {"a", 1}}};
    b.switches = {{"l", "bb", {}, {}, {"b", 2}}};
    a.links = {cable("l", "", PeerKind::node, "n1")};
    b.links = {cable("m", "", PeerKind::node, "n1")};
    const Discovery merged = merge({a, b});
    CHECK(contradictions(merged) == 2);
    CHECK(merged.switches.size() == 1);
    CHECK(merged.links.size() == 1);
}

TEST_CASE("a neighbour of unknown kind is what another input says it is") {
    Discovery tree;
    tree.nodes = {{"n1", {}}};
    const Discovery merged = merge({of({cable("l", "1", PeerKind::unknown, "n1"), cable("l", "2", PeerKind::unknown, "x")}), tree});
    CHECK(merged.links[0].peer_kind == PeerKind::node);
    CHECK(merged.links[1].peer_kind == PeerKind::unknown);
}

TEST_CASE("a GUID map that names one adapter twice is a contradiction") {
    Discovery found = of({cable("l", "1", PeerKind::host, "")});
    found.links[0].peer_id = "00000000000000c1";
    name_hosts(found, {{"00000000000000c1", "n1", {"map", 1}}, {"00000000000000c1", "n2", {"map", 2}}});
    CHECK(found.links[0].peer == "n1");
    CHECK(contradictions(found) == 1);
}

TEST_CASE("GUIDs have one form") {
    CHECK(normal_guid("0x8F1A") == "0000000000008f1a");
    CHECK(normal_guid("00000000000000c1") == "00000000000000c1");
    CHECK(normal_guid("0x").empty());
    CHECK(normal_guid("12345678901234567").empty());
    CHECK(normal_guid("xyz").empty());
}

TEST_CASE("merging is idempotent") {
    CHECK(rc::check("a discovery merged with itself, from either side, has the same links and no new contradiction", [] {
        std::vector<DiscoveredLink> links;
        const auto count = *rc::gen::inRange(0, 12);
        for (int i = 0; i < count; ++i) {
            const bool trunk = *rc::gen::arbitrary<bool>();
            links.push_back(trunk ? cable("l" + std::to_string(i % 3), std::to_string(i), PeerKind::sw, "s" + std::to_string(i % 2), std::to_string(i))
                                  : cable("l" + std::to_string(i % 3), std::to_string(i), PeerKind::node, "n" + std::to_string(i)));
        }
        std::vector<DiscoveredLink> turned = links;
        for (DiscoveredLink& link : turned)
            if (link.peer_kind == PeerKind::sw) {
                std::swap(link.sw, link.peer);
                std::swap(link.port, link.peer_port);
            }
        const Discovery merged = merge({of(links), of(turned), of(links)});
        RC_ASSERT(merged.links.size() == links.size());
        RC_ASSERT(merged.findings.empty());
    }));
}
