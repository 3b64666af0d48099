"""The map that ibnetdiscover gives of an InfiniBand fabric whose cables the test laid itself."""

import re

import pytest

import ibsim
from aegisctl import checked, findings, imported, port_table

pytestmark = pytest.mark.skipif(bool(ibsim.missing()), reason=f"not installed: {' '.join(ibsim.missing())}")

NODES, RAILS, SPINES = 8, 2, 2
TOPOLOGY = "SwitchName=tor1 Nodes=n[0-3]\nSwitchName=tor2 Nodes=n[4-7]\nSwitchName=top Switches=tor[1-2]\n"


def leaf_switch(rail, leaf):
    return f"MF0;rail{rail}-tor{leaf}:MQM9700/U1"


def fabric_plan():
    """8 nodes on 2 leaves, a switch for each leaf and rail, 2 spines; 2 cables from each leaf switch to each spine."""
    cables, names, expected = [], {}, {}
    for spine in range(1, SPINES + 1):
        names[f"S{spine}"] = f"MF0;spine{spine}:MQM9700/U1"
    for rail in range(1, RAILS + 1):
        for leaf in (1, 2):
            switch = f"L{rail}{leaf}"
            names[switch] = leaf_switch(rail, leaf)
            for position in range(4):
                node = 4 * (leaf - 1) + position
                names[f"A{rail}{node}"] = f"n{node} HCA-{rail}"
                cables.append((switch, position + 1, f"A{rail}{node}", 1))
                expected[names[switch], str(position + 1)] = (frozenset({f"tor{leaf}"}), "node")
            for spine in range(1, SPINES + 1):
                for cable in range(2):
                    near, far = 31 + 2 * spine + cable, 10 * rail + 2 * leaf + cable
                    cables.append((switch, near, f"S{spine}", far))
                    expected[names[switch], str(near)] = expected[names[f"S{spine}"], str(far)] = (frozenset({f"tor{leaf}"}), "trunk")
    return cables, names, expected


def without_rates(table):
    return {port: (leaves, kind) for port, (leaves, kind, _) in table.items()}


@pytest.fixture
def start(tmp_path):
    running = []

    def start(cables, names):
        (tmp_path / "net").write_text(ibsim.net(cables, names))
        fabric = ibsim.Fabric(tmp_path, tmp_path / "net")
        running.append(fabric)
        fabric.sweep()
        return fabric
    (tmp_path / "topology.conf").write_text(TOPOLOGY)
    yield start
    for fabric in running:
        fabric.__exit__()


@pytest.mark.parametrize("options", [(), ("-p",)], ids=["normal", "-p"])
def test_every_port_of_a_two_rail_fabric_is_mapped_as_it_was_cabled(tmp_path, start, options):
    cables, names, expected = fabric_plan()
    found = start(cables, names).discover(*options)
    assert options or re.findall(r" lid (\d+) 4x", found).count("0") == 0  # opensm has been there
    (tmp_path / "ib.txt").write_text(found)
    document = imported(tmp_path / "fabric.toml", tmp_path / "topology.conf", tmp_path / "ib.txt")
    table = port_table(tmp_path / "fabric.toml")
    assert without_rates(table) == expected
    assert {rate for _, _, rate in table.values()} == {"8Gbit"}  # ibsim's links are 4xSDR
    assert (document["inputs"][1]["switches"], document["inputs"][1]["nodes"], document["inputs"][1]["cables"]) == \
        (RAILS * 2 + SPINES, NODES, len(cables))
    assert checked(tmp_path / "topology.conf", tmp_path / "ib.txt", "--strict")[0] == 0


def test_without_slurm_the_leaves_come_from_the_nodes_that_switches_share(tmp_path, start):
    cables, names, expected = fabric_plan()
    (tmp_path / "ib.txt").write_text(start(cables, names).discover())
    imported(tmp_path / "fabric.toml", tmp_path / "ib.txt", "--topology-output", tmp_path / "made.conf")
    assert (tmp_path / "made.conf").read_text() == \
        "SwitchName=rail1-tor1 Nodes=n[0-3]\nSwitchName=rail1-tor2 Nodes=n[4-7]\nSwitchName=top1 Switches=rail1-tor[1-2]\n"
    renamed = {port: (frozenset(leaf.replace("tor", "rail1-tor") for leaf in leaves), kind) for port, (leaves, kind) in expected.items()}
    assert without_rates(port_table(tmp_path / "fabric.toml")) == renamed


def test_an_adapter_that_does_not_say_whose_it_is_gets_its_node_from_a_guid_map(tmp_path, start):
    cables, names, expected = fabric_plan()
    names["A15"] = "MT4129 ConnectX7   Mellanox Technologies"
    found = start(cables, names).discover()
    (tmp_path / "ib.txt").write_text(found)
    inputs = (tmp_path / "topology.conf", tmp_path / "ib.txt")
    document = imported(tmp_path / "fabric.toml", *inputs)
    unknown = findings(document, "unknown-host")
    assert [finding["subject"] for finding in unknown] == [f"{leaf_switch(1, 2)}/2"]
    line = found.splitlines()[unknown[0]["line"] - 1]
    guid = re.search(r'"H-([0-9a-f]{16})"\[1\]\([0-9a-f]+\)\s+# "MT4129', line)[1]
    assert guid in unknown[0]["fact"]
    assert without_rates(port_table(tmp_path / "fabric.toml")) == expected  # the switch serves one leaf: the port is its
    assert {finding["subject"] for finding in findings(checked(*inputs)[1], "uneven-rails")} == {"tor2"}
    (tmp_path / "guids").write_text(f'# adapters\n0x{guid} "n5"\n')
    status, document = checked(*inputs, "--guid-names", tmp_path / "guids", "--strict")
    assert (status, document["findings"]) == (0, [])


def test_a_node_on_two_leaves_in_one_rail_is_found(tmp_path, start):
    cables, names, _ = fabric_plan()
    wrong = [cable if cable[2] != "A12" else ("L12", 9, "A12", 1) for cable in cables]  # n2's first rail goes to tor2
    wrong.append(("L11", 9, "B12", 1))
    names["B12"] = "n2 HCA-1"  # and a second host claims to be n2
    (tmp_path / "ib.txt").write_text(start(wrong, names).discover())
    status, document = checked(tmp_path / "topology.conf", tmp_path / "ib.txt")
    assert status == 1
    twice = findings(document, "two-leaves-one-rail")
    assert [(finding["subject"], finding["severity"]) for finding in twice] == [("n2", "error")]
    assert leaf_switch(1, 1) in twice[0]["fact"] and leaf_switch(1, 2) in twice[0]["fact"]


def test_cables_that_die_after_the_import_are_told_by_the_table_in_use(tmp_path, start):
    cables, names, expected = fabric_plan()
    fabric = start(cables, names)
    (tmp_path / "ib.txt").write_text(fabric.discover())
    inputs = (tmp_path / "topology.conf", tmp_path / "ib.txt")
    imported(tmp_path / "fabric.toml", *inputs)
    config = tmp_path / "aegisd.toml"
    config.write_text(f'[fabric]\ntopology = "{tmp_path}/topology.conf"\nports = "{tmp_path}/fabric.toml"\n')
    status, document = checked(*inputs, "--config", config, "--strict")
    assert (status, document["findings"]) == (0, [])
    fabric.console('Unlink "L11"[33]', "sim>")  # one trunk
    fabric.console('Unlink "L22"[2]', "sim>")  # n5's second rail
    (tmp_path / "ib.txt").write_text(fabric.discover())
    _, document = checked(*inputs, "--config", config)
    gone = {f"{switch}/{port}" for switch, port in ((leaf_switch(1, 1), 33), ("MF0;spine1:MQM9700/U1", 12), (leaf_switch(2, 2), 2))}
    assert {finding["subject"] for finding in findings(document, "table-differs")} == gone
    assert [finding["subject"] for finding in findings(document, "uneven-rails")] == ["tor2"]


def test_names_of_switches_in_telemetry_are_short_or_guids_where_asked(tmp_path, start):
    cables, names, expected = fabric_plan()
    found = start(cables, names).discover()
    (tmp_path / "ib.txt").write_text(found)
    inputs = (tmp_path / "topology.conf", tmp_path / "ib.txt")
    imported(tmp_path / "short.toml", *inputs, "--switch-names", "short")
    assert without_rates(port_table(tmp_path / "short.toml")) == \
        {(switch[4:-len(":MQM9700/U1")], port): where for (switch, port), where in expected.items()}
    guids = dict(re.findall(r'^Switch\s+\d+ "S-([0-9a-f]{16})"\s+# "([^"]*)"', found, re.MULTILINE))
    imported(tmp_path / "guid.toml", *inputs, "--switch-names", "guid")
    assert {switch for switch, _ in port_table(tmp_path / "guid.toml")} == {f"0x{guid}" for guid in guids}


def test_a_slice_of_a_real_dgx_fabric_gives_the_same_map_when_it_is_discovered_again(tmp_path, fixtures):
    original = fixtures / "infiniband" / "ibnetdiscover-dgx-fabric.txt"
    with ibsim.Fabric(tmp_path, original) as fabric:
        fabric.sweep()
        (tmp_path / "again.txt").write_text(fabric.discover())
    first = imported(tmp_path / "first.toml", original)
    again = imported(tmp_path / "again.toml", tmp_path / "again.txt")
    table = without_rates(port_table(tmp_path / "again.toml"))
    assert len(table) == 264
    assert table == without_rates(port_table(tmp_path / "first.toml"))
    assert len(findings(again, "unknown-host")) == len(findings(first, "unknown-host")) == 44
