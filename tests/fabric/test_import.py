"""aegisctl fabric import and check on files: what is written, and above all what is not."""

import json
import os
import signal
import subprocess

import pytest

from aegisctl import ROOT, STAGE, checked, fabric, findings, imported, port_table
from harness import Aegisd

TOPOLOGY = """\
SwitchName=tor1 Nodes=n[0-3]
SwitchName=tor2 Nodes=n[4-7]
SwitchName=spine Switches=tor[1-2]
"""


def graph(cables, leaves=("sw1", "sw2"), spines=("sp1",)):
    """A NetQ graph. cables: (device, interface, device, interface)."""
    devices = sorted({end for cable in cables for end in (cable[0], cable[2])} - {*leaves, *spines})
    nodes = [{"id": name, "name": name, "tier": tier} for names, tier in ((leaves, 1), (spines, 2), (devices, -1)) for name in names]
    links = [{"id": f"{a}:{ai}-*-{b}:{bi}", "interfaces": [{"interface": ai, "node": a}, {"interface": bi, "node": b}]}
             for a, ai, b, bi in cables]
    return json.dumps([{"nodes": [{"compounded_nodes": nodes}], "links": [{"compounded_links": links}]}])


def cables_of_two_leaves():
    cables = [(f"sw{1 + node // 4}", f"swp{1 + node % 4}", f"n{node}", "eth0") for node in range(8)]
    return cables + [("sw1", "swp49", "sp1", "swp1"), ("sw2", "swp49", "sp1", "swp2")]


EXPECTED = {("sw1", f"swp{port}"): (frozenset({"tor1"}), "node", None) for port in range(1, 5)}
EXPECTED |= {("sw2", f"swp{port}"): (frozenset({"tor2"}), "node", None) for port in range(1, 5)}
EXPECTED |= {("sw1", "swp49"): (frozenset({"tor1"}), "trunk", None), ("sp1", "swp1"): (frozenset({"tor1"}), "trunk", None),
             ("sw2", "swp49"): (frozenset({"tor2"}), "trunk", None), ("sp1", "swp2"): (frozenset({"tor2"}), "trunk", None)}


@pytest.fixture
def site(tmp_path):
    (tmp_path / "topology.conf").write_text(TOPOLOGY)
    (tmp_path / "netq.json").write_text(graph(cables_of_two_leaves()))
    return tmp_path


def inputs(site):
    return site / "topology.conf", site / "netq.json"


def test_the_table_says_of_every_port_what_the_inputs_say(site):
    document = imported(site / "fabric.toml", *inputs(site))
    assert document["ok"] and document["written"]
    assert (document["leaves"], document["ports"], document["trunks"]) == (2, 12, 4)
    assert port_table(site / "fabric.toml") == EXPECTED
    assert oct((site / "fabric.toml").stat().st_mode & 0o777) == "0o644"


def test_a_dry_run_tells_the_change_and_writes_nothing(site):
    output = site / "fabric.toml"
    assert imported(output, *inputs(site), "--dry-run")["written"] is False
    assert not output.exists()
    imported(output, *inputs(site))
    before = output.read_bytes()
    moved = [cable for cable in cables_of_two_leaves() if cable[0] != "sw2" or cable[1] != "swp49"]
    (site / "netq.json").write_text(graph([*moved, ("sw2", "swp50", "sp1", "swp2")]))
    done = fabric("import", *inputs(site), "--output", output, "--dry-run")
    assert done.returncode == 0
    assert "1 ports added, 1 removed, 0 changed\n  + sw2/swp50: trunk of tor2, rate unknown\n  - sw2/swp49:" in done.stdout
    assert done.stdout.endswith("dry run: nothing written\n")
    assert output.read_bytes() == before


def test_the_same_inputs_again_write_the_same_bytes_and_say_so(site):
    output = site / "fabric.toml"
    imported(output, *inputs(site))
    before = output.stat()
    assert imported(output, *inputs(site))["written"] is False
    assert (output.stat().st_ino, output.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def bad_topology(site):
    (site / "topology.conf").write_text("SwitchName=tor1 Nodes=n[0-\nSwitchNam=tor2 Nodes=n4\n")
    return [f"{site}/topology.conf:1: Nodes = n[0-: expected a list of names", f"{site}/topology.conf:2: SwitchNam = tor2: expected SwitchName"]


def bad_json(site):
    (site / "netq.json").write_text("[{\n\"nodes\": [\n")
    return [f"{site}/netq.json"]


def missing_file(site):
    (site / "netq.json").unlink()
    return [f"{site}/netq.json: cannot be read: No such file or directory"]


def unknown_format(site):
    (site / "netq.json").write_text("<xml/>")
    return [f"{site}/netq.json: expected topology.conf, topology.yaml, the output of scontrol show topology"]


@pytest.mark.parametrize("spoil", [bad_topology, bad_json, missing_file, unknown_format])
def test_an_input_that_cannot_be_read_leaves_the_table_as_it_was(site, spoil):
    output = site / "fabric.toml"
    imported(output, *inputs(site))
    before = output.read_bytes()
    expected = spoil(site)
    done = fabric("import", *inputs(site), "--output", output, "--force")
    assert done.returncode == 1
    for line in expected:
        assert line in done.stderr
    assert f"nothing written to {output}" in done.stderr
    assert output.read_bytes() == before


def test_contradictions_are_refused_in_words_and_force_takes_the_first(site):
    output = site / "fabric.toml"
    imported(output, *inputs(site))
    before = output.read_bytes()
    (site / "old.json").write_text(graph([("sw1", "swp1", "n7", "eth0")]))
    done = fabric("import", *inputs(site), site / "old.json", "--output", output)
    assert done.returncode == 1
    assert "error: sw1/swp1: this cable leads to n7/eth0 here, but" in done.stderr
    assert "1 contradictions in the inputs" in done.stderr
    assert output.read_bytes() == before
    assert imported(output, *inputs(site), site / "old.json", "--force")["ok"]
    assert port_table(output) == EXPECTED


def test_inputs_that_map_nothing_do_not_empty_a_good_table(site):
    output = site / "fabric.toml"
    imported(output, *inputs(site))
    before = output.read_bytes()
    done = fabric("import", site / "topology.conf", "--output", output)
    assert (done.returncode, output.read_bytes()) == (1, before)
    assert "no port of the inputs could be mapped" in done.stderr


def test_a_file_that_is_no_port_table_is_never_replaced(site):
    output = site / "aegisd.toml"
    output.write_text('initial_mode = "steer"\n')
    done = fabric("import", *inputs(site), "--output", output, "--force")
    assert done.returncode == 1
    assert "left as it is, because it is no port table" in done.stderr
    assert output.read_text() == 'initial_mode = "steer"\n'


def test_a_directory_that_cannot_be_written_is_told(site):
    done = fabric("import", *inputs(site), "--output", site / "nowhere" / "fabric.toml")
    assert done.returncode == 1
    assert "cannot be written, and is left as it was: No such file or directory" in done.stderr
    assert list(site.glob("*.??????")) == []


def test_permissions_and_links_outlive_an_import(site):
    real = site / "real.toml"
    real.write_text("")
    real.chmod(0o640)
    (site / "fabric.toml").symlink_to(real)
    imported(site / "fabric.toml", *inputs(site))
    assert (site / "fabric.toml").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert port_table(real) == EXPECTED


def test_rules_rename_and_set_the_storage_fabric_aside(site):
    storage = [("st1", f"swp{1 + node}", f"n{node}.site", "eth9") for node in range(8)]
    (site / "netq.json").write_text(graph(cables_of_two_leaves() + storage, leaves=("sw1", "sw2", "st1")))
    (site / "rules.toml").write_text("""\
[switch]
"sw1" = "exporter-a"
[[rule]]
of = "switch"
match = 'sw(\\d)'
name = 'exporter-\\1'
[[rule]]
of = "switch"
match = 'st.*'
fabric = "storage"
[[rule]]
of = "port"
match = 'swp(\\d+)'
name = 'Ethernet\\1'
""")
    document = imported(site / "fabric.toml", *inputs(site), "--rules", site / "rules.toml")
    table = port_table(site / "fabric.toml")
    assert {switch for switch, _ in table} == {"exporter-a", "exporter-2", "sp1"}
    assert table["exporter-a", "Ethernet49"] == (frozenset({"tor1"}), "trunk", None)
    assert findings(document, "ignored-input")[0]["fact"] == "8 cables belong to the storage fabric"


def test_wrong_rules_are_told_with_file_line_key_and_what_was_expected(site):
    (site / "rules.toml").write_text('[[rule]]\nof = "switch"\nmatch = "sw(\\\\d"\nname = "x"\n[[rule]]\nof = "cable"\nmatch = "x"\n')
    done = fabric("import", *inputs(site), "--rules", site / "rules.toml", "--output", site / "fabric.toml")
    assert done.returncode == 1
    assert f"{site}/rules.toml:6: rule.of = cable: expected \"leaf\", \"switch\", \"port\", \"node\" or \"adapter\"" in done.stderr
    (site / "rules.toml").write_text('[[rule]]\nof = "switch"\nmatch = "sw(\\\\d"\nname = "x"\n')
    done = fabric("import", *inputs(site), "--rules", site / "rules.toml", "--output", site / "fabric.toml")
    assert f"{site}/rules.toml:1: match = sw(\\d: expected a regular expression (RE2): missing" in done.stderr
    assert not (site / "fabric.toml").exists()


def test_several_rails_make_one_leaf_of_several_switches(site):
    rails = [(f"rail{rail}", f"swp{1 + node}", f"n{node}", f"eth{rail}") for rail in (1, 2) for node in range(8)]
    trunks = [(f"rail{rail}", "swp49", "sp1", f"swp{rail}") for rail in (1, 2)]
    (site / "netq.json").write_text(graph(rails + trunks, leaves=("rail1", "rail2")))
    imported(site / "fabric.toml", *inputs(site))
    table = port_table(site / "fabric.toml")
    assert table["rail1", "swp49"][0] == table["rail2", "swp49"][0] == {"tor1", "tor2"}  # each serves nodes of both leaves
    assert table["rail2", "swp8"] == (frozenset({"tor2"}), "node", None)
    imported(site / "no-slurm.toml", site / "netq.json", "--topology-output", site / "made.conf")
    assert (site / "made.conf").read_text() == "SwitchName=rail1 Nodes=n[0-7]\n"
    assert {leaves for leaves, _, _ in port_table(site / "no-slurm.toml").values()} == {frozenset({"rail1"})}


def test_a_topology_yaml_becomes_the_topology_conf_that_aegisd_reads(site):
    (site / "topology.yaml").write_text("""\
- topology: tree
  cluster_default: true
  tree:
    switches:
      - switch: spine
        children: tor[1-2]
      - switch: tor1
        nodes: n[0-3]
      - switch: tor2
        nodes: n[4-7]
""")
    made = site / "made.conf"
    imported(site / "fabric.toml", site / "topology.yaml", "--topology-output", made)
    assert sorted(made.read_text().splitlines()) == ["SwitchName=spine Switches=tor[1-2]", "SwitchName=tor1 Nodes=n[0-3]",
                                                     "SwitchName=tor2 Nodes=n[4-7]"]
    assert not (site / "fabric.toml").exists()


def test_standard_input_is_an_input(site):
    document = imported(site / "fabric.toml", site / "topology.conf", "-", stdin=(site / "netq.json").read_text())
    assert [row["file"] for row in document["inputs"]] == [f"{site}/topology.conf", "standard input"]
    assert port_table(site / "fabric.toml") == EXPECTED


def test_check_finds_what_is_wrong_and_its_exit_status_says_how_bad(site):
    assert checked(*inputs(site))[0] == 0
    assert checked(*inputs(site), "--strict")[1]["findings"] == []
    cables = [cable for cable in cables_of_two_leaves() if cable[0] != "sw2" or cable[1] not in ("swp49", "swp2")]
    (site / "netq.json").write_text(graph(cables))
    status, document = checked(*inputs(site))
    assert status == 0
    assert [finding["subject"] for finding in findings(document, "unmapped-node")] == ["n5"]
    assert [finding["subject"] for finding in findings(document, "no-uplinks")] == ["sw2"]
    assert all(finding["meaning"] for finding in document["findings"])
    assert checked(*inputs(site), "--strict")[0] == 1
    twice = [*cables_of_two_leaves(), ("sw2", "swp9", "n0", "eth0")]
    (site / "netq.json").write_text(graph(twice))
    status, document = checked(*inputs(site))
    assert status == 1
    assert [(finding["subject"], finding["severity"]) for finding in findings(document, "two-leaves-one-rail")] == [("n0", "error")]


def test_check_finds_trunks_that_do_not_meet_below_one_root(site):
    cables = [cable if cable[0] != "sw2" or cable[2] != "sp1" else ("sw2", "swp49", "sp2", "swp1") for cable in cables_of_two_leaves()]
    (site / "netq.json").write_text(graph(cables, spines=("sp1", "sp2")))
    status, document = checked(*inputs(site))
    assert status == 1
    assert findings(document, "parted-fabric")[0]["fact"] == "the trunks fall into 2 parts that no cable joins: tor1 | tor2"


@pytest.fixture
def daemon(tmp_path):
    """An aegisd whose fabric.ports is DIR/fabric.toml. Its own configuration maps sw1/swp1 and sw2/swp1, so that file does not."""
    running = Aegisd(tmp_path)
    (tmp_path / "fabric.toml").write_text("")
    text = running.config_file.read_text().replace('topology.conf"\n', f'topology.conf"\nports = "{tmp_path}/fabric.toml"\n')
    running.config_file.write_text(text)
    running.start()
    yield running
    running.stop()


def links(running):
    return {link["link"] for leaf in running.control("fabric")["leaves"] for link in leaf["links"]}


def without_daemons_own(cables):
    return [cable for cable in cables if cable[1] != "swp1"]


def test_aegisd_takes_the_table_on_reload_and_keeps_it_when_the_next_is_bad(daemon, tmp_path):
    assert links(daemon) == {"sw1/swp1", "sw2/swp1"}
    (tmp_path / "netq.json").write_text(graph(without_daemons_own(cables_of_two_leaves())))
    imported(tmp_path / "fabric.toml", tmp_path / "topology.conf", tmp_path / "netq.json")
    assert daemon.reload()["last_reload_error"] is None
    mapped = {f"{switch}/{port}" for switch, port in EXPECTED}
    assert links(daemon) == mapped
    good = (tmp_path / "fabric.toml").read_text()
    for bad, message in ((good + '[[ports]]\nswitch = "sw9"\nports = "swp1"\nleaf = "tor9"\n', "expected one of the 2 leaves"),
                         (good + '[[ports]]\nswitch = "sw1"\nports = "swp1"\nleaf = "tor1"\n', "expected a port mapped once"),
                         (good + "[[ports]\n", "expected valid TOML"),
                         (good + "mode = 1\n", "ports.mode = 1: expected a key of [[ports]]")):
        (tmp_path / "fabric.toml").write_text(bad)
        error = daemon.reload()["last_reload_error"]
        assert f"{tmp_path}/fabric.toml" in error and message in error
        assert links(daemon) == mapped
    (tmp_path / "fabric.toml").unlink()
    assert "fabric.ports: " in daemon.reload()["last_reload_error"]
    (tmp_path / "fabric.toml").write_text(good)
    assert daemon.reload()["last_reload_error"] is None


def test_a_bad_table_does_not_start(daemon, tmp_path):
    daemon.stop()
    (tmp_path / "fabric.toml").write_text('[[ports]]\nswitch = "a"\n')
    daemon.start(wait=False)
    assert daemon.process.wait(20) == 1
    assert f'{tmp_path}/fabric.toml:1: ports.ports: expected' in daemon.log()


def test_check_asks_aegisd_which_ports_it_misses_and_compares_the_table_with_the_cables(daemon, tmp_path):
    control = ("--socket", daemon.control_socket)
    status, document = checked("--config", daemon.config_file, "--live", *control)
    assert status == 0
    assert {finding["subject"] for finding in findings(document, "not-measured")} == {"sw1", "sw2"}  # no source delivers anything
    (tmp_path / "netq.json").write_text(graph(cables_of_two_leaves()))
    status, document = checked(tmp_path / "topology.conf", tmp_path / "netq.json", "--config", daemon.config_file)
    differing = {finding["subject"]: finding["severity"] for finding in findings(document, "table-differs")}
    assert status == 1
    assert differing.pop("sw1/swp1") == differing.pop("sw2/swp1") == "error"  # the table in use has them as trunks
    assert set(differing) == {f"{switch}/{port}" for switch, port in EXPECTED} - {"sw1/swp1", "sw2/swp1"}
    assert set(differing.values()) == {"warning"}
    daemon.stop()
    assert fabric("check", "--config", daemon.config_file, "--live", *control).returncode == 3


def test_killed_in_the_middle_leaves_no_half_table(site):
    """The rename is the only moment of change: whoever reads meanwhile sees the old or the new table, whole."""
    output = site / "fabric.toml"
    imported(output, *inputs(site))
    old = output.read_bytes()
    (site / "other.json").write_text(graph(cables_of_two_leaves()[:-2]))
    imported(site / "new.toml", site / "topology.conf", site / "other.json")
    command = [STAGE / "bin" / "aegisctl", "fabric", "import", site / "topology.conf", site / "other.json", "--output", output]
    seen = set()
    for delay_ms in range(0, 20):
        output.write_bytes(old)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(delay_ms / 1000)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        seen.add(output.read_bytes())
    assert seen <= {old, (site / "new.toml").read_bytes().replace(b"new.toml", b"fabric.toml")}


def test_the_examples_of_the_manual_are_good(tmp_path):
    page = (ROOT / "man" / "aegis-fabric.toml.5").read_text().split(".Sh EXAMPLES", 1)[1]
    table, rules, _ = (block.split(".Ed", 1)[0].replace("\\e", "\\") for block in page.split(".Bd -literal -offset indent\n")[1:])
    (tmp_path / "topology.conf").write_text("SwitchName=tor1 Nodes=n[0-7]\n")
    (tmp_path / "fabric.toml").write_text(table)
    (tmp_path / "aegisd.toml").write_text(f'[fabric]\ntopology = "{tmp_path}/topology.conf"\nports = "{tmp_path}/fabric.toml"\n')
    assert checked("--config", tmp_path / "aegisd.toml")[1]["findings"] == []
    (tmp_path / "rules.toml").write_text(rules)
    cables = [("MF0;rail1-tor1:MQM9700/U1", f"{node + 1}", f"n{node}", "HCA-1") for node in range(8)]
    (tmp_path / "netq.json").write_text(graph([*cables, ("MF0;rail1-tor1:MQM9700/U1", "40", "n0", "HCA-5")], leaves=("MF0;rail1-tor1:MQM9700/U1",)))
    document = imported(tmp_path / "made.toml", tmp_path / "topology.conf", tmp_path / "netq.json", "--rules", tmp_path / "rules.toml")
    assert set(port_table(tmp_path / "made.toml")) == {("rail1-tor1", f"{port}") for port in range(1, 9)}
    assert findings(document, "ignored-input")[0]["fact"] == "1 cables belong to the storage fabric"



FIXTURES = [  # file, how it is given, leaves, ports, trunks: counted from the files without our code
    ("infiniband/ibnetdiscover-dgx-fabric.txt", "{}", 3, 264, 128),  # 92 + 44 adapters; 64 cables between switches, both ends
    ("lldp/netq-topologyGraph.json", "{}", 2, 126, 94),  # 32 cables to nodes, 47 between switches
    ("lldp/lldpcli-json-two-neighbours.json", "n1={}", 1, 2, 0),
    ("lldp/lldpcli-json0-two-neighbours.json", "n1={}", 1, 2, 0),
]


@pytest.mark.parametrize("name, given, leaves, ports, trunks", FIXTURES, ids=[row[0] for row in FIXTURES])
def test_captures_from_real_sites_are_mapped(fixtures, tmp_path, name, given, leaves, ports, trunks):
    document = imported(tmp_path / "fabric.toml", given.format(fixtures / name), "--topology-output", tmp_path / "made.conf")
    assert (document["leaves"], document["ports"], document["trunks"]) == (leaves, ports, trunks)
    assert len(port_table(tmp_path / "fabric.toml")) == ports
    (tmp_path / "aegisd.toml").write_text(f'[fabric]\ntopology = "{tmp_path}/made.conf"\nports = "{tmp_path}/fabric.toml"\n')
    assert checked("--config", tmp_path / "aegisd.toml")[0] == 0  # aegisd takes both


@pytest.mark.parametrize("name, leaves, nodes", [("topograph-tree.conf", 12, 96), ("slurm-3level-10000-nodes.conf", 500, 10_000),
                                                 ("multi-topology.yaml", 2, 4)])
def test_topologies_of_real_sites_are_read(fixtures, tmp_path, name, leaves, nodes):
    document = imported(tmp_path / "fabric.toml", fixtures / "topology" / name, "--topology-output", tmp_path / "made.conf")
    assert (document["leaves"], document["inputs"][0]["nodes"]) == (leaves, nodes)
    (tmp_path / "aegisd.toml").write_text(f'[fabric]\ntopology = "{tmp_path}/made.conf"\n')
    found = checked("--config", tmp_path / "aegisd.toml")[1]
    assert len(findings(found, "leaf-without-ports")) == leaves


def test_counters_of_a_port_are_refused_as_no_map(fixtures, tmp_path):
    done = fabric("import", fixtures / "infiniband" / "perfquery-x-leaf-2ports.txt", "--output", tmp_path / "fabric.toml")
    assert done.returncode == 1 and "expected topology.conf, topology.yaml" in done.stderr
