"""What a real slurmctld says of its topology, read as the leaves of the map."""

import os

import pytest

from aegisctl import checked, expand, fabric, imported, port_table
from cluster import Cluster
from test_import import graph

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/usr/sbin/slurmctld"), reason="needs root and slurmctld")

# Three levels, a leaf of odd size, and an island with a top of its own.
TREE = {"tor1": [f"n{node:02}" for node in range(0, 4)], "tor2": [f"n{node:02}" for node in range(4, 5)],
        "tor3": [f"n{node:02}" for node in range(5, 12)], "island1": ["n12", "n14"], "island2": ["n13", "n15"]}
ABOVE = {"pod1": ["tor1", "tor2"], "pod2": ["tor3"], "core": ["pod1", "pod2"], "top": ["island1", "island2"]}


def conf_text(tree, above):
    lines = [f"SwitchName={switch} Switches={','.join(children)}" for switch, children in above.items()]
    return "\n".join(lines + [f"SwitchName={leaf} Nodes={','.join(nodes)}" for leaf, nodes in tree.items()]) + "\n"


class TreeCluster(Cluster):
    """A cluster whose topology.conf is the one above."""

    def write_files(self):
        super().write_files()
        with open(self.path("topology.conf"), "w", encoding="utf-8") as file:
            file.write(conf_text(TREE, ABOVE))


@pytest.fixture(scope="module")
def slurm():
    with TreeCluster(nodes=16, leaves=2, boot=False) as running:
        yield running


def tree_of(file):
    """(leaf -> nodes, switch -> children) of a topology.conf, as Slurm's own scontrol expands it."""
    leaves, above = {}, {}
    for line in file.read_text().splitlines():
        words = dict(word.split("=", 1) for word in line.split())
        if "Nodes" in words:
            leaves[words["SwitchName"]] = expand(words["Nodes"])
        else:
            above[words["SwitchName"]] = expand(words["Switches"])
    return leaves, above


def test_the_tree_that_slurm_uses_is_the_tree_that_aegisd_gets(slurm, tmp_path):
    said = slurm.scontrol("show", "topology")
    assert "Level=2" in said
    (tmp_path / "said.txt").write_text(said)
    document = imported(tmp_path / "fabric.toml", tmp_path / "said.txt", "--topology-output", tmp_path / "made.conf")
    assert document["inputs"][0]["format"] == "scontrol show topology"
    assert (document["leaves"], document["inputs"][0]["switches"], document["inputs"][0]["nodes"]) == (5, 9, 16)
    leaves, above = tree_of(tmp_path / "made.conf")
    assert leaves == TREE
    assert {switch: sorted(children) for switch, children in above.items()} == {switch: sorted(children) for switch, children in ABOVE.items()}


def said_by(slurm):
    """What scontrol shows, as sets: it repeats lists the way the file has them."""
    rows = [dict(word.split("=", 1) for word in line.split()) for line in slurm.scontrol("show", "topology").split("\n") if line.strip()]
    return {row["SwitchName"]: (row["Level"], *(tuple(sorted(expand(row.get(key, "")))) for key in ("Nodes", "Switches"))) for row in rows}


def test_slurm_starts_with_the_topology_that_was_made(slurm, tmp_path):
    (tmp_path / "said.txt").write_text(slurm.scontrol("show", "topology"))
    imported(tmp_path / "fabric.toml", tmp_path / "said.txt", "--topology-output", tmp_path / "made.conf")
    before = said_by(slurm)
    made = (tmp_path / "made.conf").read_text()
    with open(slurm.path("topology.conf"), "w", encoding="utf-8") as file:
        file.write(made)
    slurm.scontrol("reconfigure")
    assert said_by(slurm) == before


def test_topology_conf_and_what_slurm_says_agree_and_a_stale_file_is_told(slurm, tmp_path):
    (tmp_path / "said.txt").write_text(slurm.scontrol("show", "topology"))
    (tmp_path / "topology.conf").write_text(conf_text(TREE, ABOVE))
    assert checked(tmp_path / "said.txt", tmp_path / "topology.conf")[0] == 0
    stale = {**TREE, "tor1": TREE["tor1"][:-1], "tor2": TREE["tor2"] + TREE["tor1"][-1:]}
    (tmp_path / "topology.conf").write_text(conf_text(stale, ABOVE))
    done = fabric("check", tmp_path / "said.txt", tmp_path / "topology.conf")
    assert done.returncode == 1
    assert "error: n03: it stands below tor2 here and below tor1 at" in done.stdout
    assert "Plans treat it as part of tor1" in done.stdout


def test_cables_are_laid_over_the_leaves_that_slurm_uses(slurm, tmp_path):
    (tmp_path / "said.txt").write_text(slurm.scontrol("show", "topology"))
    cables, expected = [], {}
    for number, (leaf, nodes) in enumerate(TREE.items()):
        for position, node in enumerate(nodes):
            cables.append((f"sw{number}", f"swp{position + 1}", f"{node}.cluster.site", "eth0"))
            expected[f"sw{number}", f"swp{position + 1}"] = (frozenset({leaf}), "node", None)
        spine = "sp2" if leaf.startswith("island") else "sp1"
        cables.append((f"sw{number}", "swp40", spine, f"swp{number + 1}"))
        expected[f"sw{number}", "swp40"] = expected[spine, f"swp{number + 1}"] = (frozenset({leaf}), "trunk", None)
    (tmp_path / "netq.json").write_text(graph(cables, leaves=[f"sw{number}" for number in range(5)], spines=("sp1", "sp2")))
    imported(tmp_path / "fabric.toml", tmp_path / "said.txt", tmp_path / "netq.json", "--force")
    assert port_table(tmp_path / "fabric.toml") == expected


def test_the_topology_of_the_other_tests_is_read_too(tmp_path):
    with Cluster(nodes=8, leaves=2, boot=False) as running:
        (tmp_path / "said.txt").write_text(running.scontrol("show", "topology"))
        (tmp_path / "topology.conf").write_text(open(running.path("topology.conf"), encoding="utf-8").read())
    status, document = checked(tmp_path / "said.txt", tmp_path / "topology.conf")
    assert status == 0
    assert document["leaves"] == 2
    assert {finding["kind"] for finding in document["findings"]} == {"unmapped-port"}  # no cables: told once
