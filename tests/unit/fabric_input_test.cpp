// Every input of a fabric map, recognised by its content and never trusted.
#include "lib/fabric_input.h"

#include "lib/config.h"
#include "lib/fabric_check.h"
#include "lib/fabric_text.h"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace aegis;

namespace {

struct Sample {
    FabricFormat format;
    std::string text;
};

const Sample samples[] = {
    {FabricFormat::topology_conf, "# comment\nSwitchName=top Switches=l[1-2]\nSwitchName=l1 Nodes=n[01-04],m1\nswitchname=l2 \\\n nodes=n5 LinkSpeed=9\n"},
    {FabricFormat::topology_conf, "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockSizes=4,8\n"},
    {FabricFormat::topology_yaml, "---\n- topology: t\n  cluster_default: true\n  tree:\n    switches:\n      - switch: top\n        children: l[1-2]\n"
                                  "      - switch: l1\n        nodes: n[1-4]\n      - switch: l2\n        nodes: n5\n- topology: f\n  flat: true\n"},
    {FabricFormat::scontrol_topology, "SwitchName=l1 Level=0 LinkSpeed=1 Nodes=n[1-4]\nSwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=l1\n\n"},
    {FabricFormat::lldp_json, R"({"local-chassis": {"chassis": {"n1": {}}}}
{"lldp": {"interface": [{"e1": {"chassis": {"s1": {"id": {"type": "mac", "value": "aa"}, "descr": "SONiC"}}, "port": {"id": {"type": "local", "value": "etp1"}, "descr": "Ethernet0"}}}]}})"},
    {FabricFormat::netq_graph, R"([{"nodes": [{"compounded_nodes": [{"id": "a", "name": "s1", "tier": 1}, {"id": "b", "name": "n1", "tier": -1}]}],
"links": [{"compounded_links": [{"id": "x", "interfaces": [{"node": "a", "interface": "swp1"}, {"node": "b", "interface": "e1"}]}]}]}])"},
    {FabricFormat::ibnetdiscover, "vendid=0x2c9\nswitchguid=0x2c5eabf507e3c0fc(2c5eabf507e3c0fc)\nSwitch\t65 \"S-2c5eabf507e3c0fc\"\t\t# \"MF0;l1:MQM9701/U1\" enhanced port 0 lid 35 lmc 0\n"
                                  "[1]\t\"H-e09d731fcb9b3c29\"[1](e09d731fcb9b3c29) \t\t# \"n1 HCA-1\" lid 47 4xNDR\n[43]\t\"S-2c5eab97157e784e\"[1]\t\t# \"MF0;s1:MQM9701/U1\" lid 64 4xNDR\n\n"
                                  "Ca\t1 \"H-e09d731fcb9b3c29\"\t\t# \"n1 HCA-1\"\n[1](e09d731fcb9b3c29) \t\"S-2c5eabf507e3c0fc\"[1]\t\t# lid 47 lmc 0 \"MF0;l1:MQM9701/U1\" lid 35 4xNDR\n"},
    {FabricFormat::ibnetdiscover_ports, "SW   35 43 0x2c5eabf507e3c0fc 4x NDR - SW   64  1 0x2c5eab97157e784e ( 'l1' - 's1' )\n"
                                        "CA   47  1 0xe09d731fcb9b3c29 4x NDR - SW   35  1 0x2c5eabf507e3c0fc ( 'n1 HCA-1' - 'l1' )\nSW   35 37 0x2c5eabf507e3c0fc 4x ???                    'l1'\n"},
};

// The whole way, as aegisctl goes it. What it gives is not looked at: it must end, and what it writes must read back.
void go_through(const std::string& text) {
    auto found = read_fabric_input({"f", text, {.name = "n1", .is_switch = false}, {}});
    if (!found) {
        RC_ASSERT(!found.error().empty());
        for (const ConfigError& error : found.error()) RC_ASSERT(!error.expected.empty());
        return;
    }
    const Discovery merged = merge({*found, *found});
    const FabricMap map = map_fabric(merged, {});
    for (const Finding& finding : check_fabric({merged, map, {}, {}})) RC_ASSERT(!finding.fact.empty());
    const auto table = parse_port_table(ports_toml(map), "t");
    RC_ASSERT(table.has_value());
    RC_ASSERT(Fabric::build(map.topology, *table).has_value());
}

} // namespace

TEST_CASE("every input of a fabric map is recognised by its content and read") {
    for (const Sample& sample : samples) {
        INFO(sample.text);
        REQUIRE(format_of(sample.text).has_value());
        CHECK(*format_of(sample.text) == sample.format);
        const auto found = read_fabric_input({"f", sample.text, {.name = "n1", .is_switch = false}, {}});
        if (!found) FAIL(to_string(found.error().front()));
        CHECK_FALSE(found->links.empty());
    }
    CHECK_FALSE(format_of("").has_value());
    CHECK_FALSE(format_of("\n\n# only a comment\n").has_value());
    CHECK_FALSE(format_of("<xml/>").has_value());
}

TEST_CASE("an input with any bytes changed is read or refused, and what is written of it reads back") {
    CHECK(rc::check("bytes changed, lost or doubled", [] {
        const auto kinds = static_cast<int>(std::size(samples));
        std::string text = samples[*rc::gen::inRange(0, kinds)].text;
        const int changes = *rc::gen::inRange(1, 6);
        for (int i = 0; i < changes && !text.empty(); ++i) {
            const auto at = static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(text.size())));
            switch (*rc::gen::inRange(0, 4)) {
            case 0: text[at] = *rc::gen::arbitrary<char>(); break;
            case 1: text[at] = *rc::gen::elementOf(std::string("[]{},:=\"'\n\\ #-0/")); break;
            case 2: text.erase(at, 1 + static_cast<std::size_t>(*rc::gen::inRange(0, 20))); break;
            case 3: text.insert(at, text.substr(at, static_cast<std::size_t>(*rc::gen::inRange(0, 40)))); break;
            }
        }
        go_through(text);
    }));
}

TEST_CASE("deep nesting and long names end in an answer") {
    for (const char open : {'[', '{'}) {
        const std::string deep(100'000, open);
        CHECK_FALSE(read_fabric_input({"f", "- topology: t\n  tree: " + deep, {}, {}}).has_value());
        CHECK_FALSE(read_fabric_input({"f", "{\"lldp\": " + deep, {.name = "n", .is_switch = false}, {}}).has_value());
    }
    CHECK_FALSE(read_fabric_input({"f", "SwitchName=l1 Nodes=n[0-999999999]\n", {}, {}}).has_value());
    CHECK_FALSE(read_fabric_input({"f", "SwitchName=l1 Nodes=" + std::string(1'000'000, '['), {}, {}}).has_value());
}
