"""The map that lldpcli gives, from real daemons that heard each other over real (virtual) cables."""

import pytest

import lldp
from aegisctl import checked, fabric, imported, port_table

# Two nodes with two rails, a SONiC leaf for the one and a Cumulus leaf for the other, one spine.
MACHINES = {"n0": "Debian GNU/Linux 12", "n1": "Debian GNU/Linux 12", "leaf1": "SONiC Software Version: SONiC.202405",
            "leaf2": "Cumulus Linux version 5.9 running on a switch", "spine1": "Cumulus Linux version 5.9 running on a switch"}
CABLES = [("leaf1", "Ethernet0", "n0", "ens1"), ("leaf1", "Ethernet4", "n1", "ens1"), ("leaf2", "swp1", "n0", "ens2"),
          ("leaf2", "swp2", "n1", "ens2"), ("leaf1", "Ethernet48", "spine1", "swp1"), ("leaf2", "swp49", "spine1", "swp2")]
EXPECTED = {("leaf1", "Ethernet0"): "node", ("leaf1", "Ethernet4"): "node", ("leaf2", "swp1"): "node", ("leaf2", "swp2"): "node",
            ("leaf1", "Ethernet48"): "trunk", ("spine1", "swp1"): "trunk", ("leaf2", "swp49"): "trunk", ("spine1", "swp2"): "trunk"}


@pytest.fixture(scope="module")
def machines():
    reason = lldp.unusable()
    if reason:
        pytest.skip(reason)
    with lldp.Machines(MACHINES, CABLES) as running:
        for number, port in enumerate(("Ethernet0", "Ethernet4", "Ethernet48")):  # as SONiC's lldpmgrd sets it
            running.configure("leaf1", "ports", port, "lldp", "portidsubtype", "local", f"etp{number + 1}")
            running.configure("leaf1", "ports", port, "lldp", "portdescription", port)
        running.configure("spine1", "lldp", "portidsubtype", "ifname")
        # leaf2 and the nodes stay with lldpd's default: the address is the port, its description the interface

        def heard(name, text):
            peers = [(b, b_end) for a, _, b, b_end in CABLES if a == name] + [(a, a_end) for a, a_end, b, _ in CABLES if b == name]
            return all(f'"{peer}"' in text and f'"{end}"' in text for peer, end in peers) and (name[0] != "n" or '"etp' in text)
        running.wait_heard(heard)
        yield running


@pytest.mark.parametrize("form", ["json0", "json"])
@pytest.mark.parametrize("asked", [("n0", "n1", "leaf1", "leaf2"), ("leaf1", "leaf2"), ("n0", "n1", "leaf1", "leaf2", "spine1")],
                         ids=["nodes-and-leaves", "leaves", "everyone"])
def test_every_port_is_mapped_as_it_was_cabled(machines, tmp_path, form, asked):
    (tmp_path / "topology.conf").write_text("SwitchName=tor1 Nodes=n[0-1]\n")
    for name in asked:
        (tmp_path / f"{name}.json").write_text(machines.asked(name, form))
    inputs = (tmp_path / "topology.conf", *(tmp_path / f"{name}.json" for name in asked))
    document = imported(tmp_path / "fabric.toml", *inputs)
    table = port_table(tmp_path / "fabric.toml")
    assert {port: kind for port, (_, kind, _) in table.items()} == EXPECTED
    assert {leaves for leaves, _, _ in table.values()} == {frozenset({"tor1"})}
    assert [row["format"] for row in document["inputs"][1:]] == ["lldpcli"] * len(asked)
    status, document = checked(*inputs, "--strict")
    assert (status, document["findings"]) == (0, [])


def test_from_the_nodes_alone_their_own_ports_are_mapped_and_the_missing_uplinks_told(machines, tmp_path):
    for name in ("n0", "n1"):
        (tmp_path / name).write_text(machines.asked(name, "json0"))
    imported(tmp_path / "fabric.toml", tmp_path / "n0", tmp_path / "n1", "--topology-output", tmp_path / "made.conf")
    assert {port: kind for port, (_, kind, _) in port_table(tmp_path / "fabric.toml").items()} == \
        {port: kind for port, kind in EXPECTED.items() if kind == "node"}
    assert (tmp_path / "made.conf").read_text() == "SwitchName=leaf1 Nodes=n[0-1]\n"


def test_a_capture_without_its_chassis_is_refused_until_it_is_named(machines, tmp_path):
    neighbours = machines.asked("n0", "json0").split("\n}\n", 1)[1]
    (tmp_path / "n0.json").write_text(neighbours)
    done = fabric("import", tmp_path / "n0.json", "--output", tmp_path / "fabric.toml")
    assert done.returncode == 1 and "NAME=FILE" in done.stderr
    imported(tmp_path / "fabric.toml", f"n0={tmp_path}/n0.json")
    assert set(port_table(tmp_path / "fabric.toml")) == {("leaf1", "Ethernet0"), ("leaf2", "swp1")}
