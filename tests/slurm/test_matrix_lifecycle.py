"""What an administrator does to a running site: reconfigure, add nodes, install a plugin that cannot load, use Slurm's clients."""
import ctypes.util
import os
import shutil
import subprocess
import sys

import pytest

from aegis import PLUGIN_DIR, STAGE
from cluster import Cluster
from fake_aegisd import FakeAegisd, avoid
from slurm_conf import STOCK_PLUGINS
from steered import steered
from waiting import wait_for

BUILD = os.path.dirname(STAGE)
OTHER_RELEASE = os.path.join(BUILD, "plugin", "other_release")


def start(slurm, *words):
    return slurm.nodes_of_job(slurm.allocate(*words))


def start_off(world, *hot):
    """Start a job on the cluster; aegisd must keep it off the hot leaves, one of which stock Slurm would take."""
    _, nodes, decision = world.advised(lambda: world.allocate("-N2", "--exclusive"))
    assert decision["outcome"]["result"] in ("plan_1", "plan_2"), decision
    assert not world.leaves(nodes) & set(hot)
    return nodes


def open_every_leaf(world):
    """A small job on each leaf: to move to a leaf that is in use already costs no fragmentation, so pressure alone decides."""
    shape = world.slurm.shape
    for leaf in shape.leaf_names():
        first = shape.nodes_of(leaf)[0]
        if first in shape.node_names():
            assert start(world.slurm, "-N1", "--exclusive", f"--nodelist={first}") == [first]


def greeted(aegis, nodes):
    plugin = aegis.status()["plugin"]
    return plugin if plugin and plugin["connected"] and plugin["node_count"] == nodes else None


# After a restart or a reconfiguration Slurm holds CLOUD nodes that were booting for lost. So these tests do not boot all nodes first,
# and the leaf that took a job is the one with the fewest nodes left: where stock Slurm goes next.

def test_reconfigure_keeps_jobs_and_steering_goes_on(installed):
    with steered(nodes=64, leaves=4, hot=("tor1",), boot=False) as world:
        slurm, aegis = world.slurm, world.aegis
        open_every_leaf(world)
        nodes = start_off(world, "tor1")
        job = max(slurm.queue(), key=int)
        for _ in range(3):
            slurm.reconfigure()
        assert slurm.nodes_of_job(job) == nodes and slurm.state(job) == "CONFIGURING"
        aegis.wait_connected()
        hot = {"tor1", *world.leaves(nodes)}
        world.heat(*hot)
        start_off(world, *hot)
        counters = aegis.fresh_counters()
        assert counters["losses"] == counters["malformed"] == 0
        assert slurm.slurmctld.running()


def test_nodes_added_and_a_restart_give_a_new_table(installed):
    """Slurm 22.05 wants a restart for a longer node list."""
    with steered(nodes=48, leaves=4, future=16, hot=("tor1",), boot=False) as world:
        slurm, aegis = world.slurm, world.aegis
        before = greeted(aegis, 48)
        open_every_leaf(world)
        nodes = start_off(world, "tor1")
        job = max(slurm.queue(), key=int)
        slurm.restart_slurmctld(nodes=64, future=0)
        after = wait_for(lambda: greeted(aegis, 64), "the new node table", 20)
        assert after["node_table_hash"] != before["node_table_hash"]
        assert after["unmapped_nodes"] == 0
        assert slurm.nodes_of_job(job) == nodes
        assert start(slurm, "-N2", "--exclusive", "--nodelist=n53,n60") == ["n53", "n60"]
        hot = {"tor1", *world.leaves(nodes)}
        world.heat(*hot)
        start_off(world, *hot)


def test_a_node_created_while_slurmctld_runs_is_in_the_next_table(installed):
    """scontrol create NodeName=…: Slurm 22.05 has it with cons_tres and MaxNodeCount. The new node is on no leaf: jobs on it are kept."""
    with steered(nodes=8, leaves=2, gres="", hot=("tor1",), topology="topology/none", extra=("MaxNodeCount=16",)) as world:
        slurm, aegis = world.slurm, world.aegis
        before = aegis.status()["plugin"]["node_table_hash"]
        slurm.scontrol("create", "NodeName=extra0", "NodeAddr=127.0.0.1", "CPUs=16", "Sockets=2", "CoresPerSocket=8",
                       "RealMemory=64000", "State=CLOUD")
        assert start(slurm, "-N1", "--nodelist=extra0") == ["extra0"]
        wait_for(lambda: aegis.status()["plugin"]["node_table_hash"] != before, "the new node table", 20)
        assert aegis.status()["plugin"]["unmapped_nodes"] == 1
        assert len(start(slurm, "-N9")) == 9
        slurm.cancel_all()
        start_off(world, "tor1")
        assert aegis.fresh_counters()["losses"] == 0


# Plugins that must not load. Each stands in a directory before the good ones; stock Slurm's plugin follows.

def damaged(directory):
    with open(os.path.join(PLUGIN_DIR, "select_cons_tres.so"), "rb") as good:
        with open(os.path.join(directory, "select_cons_tres.so"), "wb") as bad:
            bad.write(good.read().replace(b"\x7fELF", b"\x7fFLE"))


def init_fails(directory):
    """Slurm's own plugin behind an init() that says no."""
    source = os.path.join(directory, "init.c")
    with open(source, "w", encoding="ascii") as file:
        file.write("int init(void) { return -1; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", os.path.join(directory, "select_cons_tres.so"), source, f"-L{STOCK_PLUGINS}",
                    f"-Wl,-rpath,{STOCK_PLUGINS}", "-Wl,--no-as-needed", "-Wl,-soname,refuses.so", "-l:select_cons_tres.so"], check=True)


def built_for_another_release(directory):
    shutil.copy(os.path.join(OTHER_RELEASE, "select_cons_tres.so"), directory)


@pytest.mark.parametrize("bad", [damaged, init_fails, built_for_another_release], ids=lambda bad: bad.__name__)
def test_a_plugin_that_cannot_load_leaves_stock_slurm(bad, installed, tmp_path):
    bad(str(tmp_path))
    path = str(tmp_path / "select.socket")
    with FakeAegisd(path, advise=avoid(*range(16))) as fake:
        with Cluster(nodes=64, leaves=4, plugin_dirs=(str(tmp_path),), env={"AEGIS_SOCKET": path}, boot=False) as slurm:
            assert start(slurm, "-N2", "--exclusive") == ["n00", "n01"]
            slurm.restart_slurmctld()
            assert start(slurm, "-N2", "--exclusive", "--nodelist=n02,n03") == ["n02", "n03"]
            log = slurm.slurmctld.log_text()
            assert not fake.greetings, "a plugin that did not load must not talk"
            if bad is built_for_another_release:
                lines = [line for line in log.splitlines() if "aegis:" in line and "22.05" in line]
                assert len(lines) == 2, "one line with both versions each time slurmctld starts"
                assert "1.2" in lines[0] or "1.02" in lines[0]


# Clients with the same PluginDir

COMMANDS = (("sinfo", "-N", "-l"), ("squeue", "--all"), ("scontrol", "show", "nodes"), ("scontrol", "show", "jobs", "-d"),
            ("scontrol", "show", "partitions"), ("scontrol", "show", "topology"))

LIBSLURM = """
import ctypes, sys
slurm = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
for load, records in (("slurm_load_node", 2), ("slurm_load_jobs", 4), ("slurm_load_partitions", 2)):  # where record_count is
    answer = ctypes.c_void_p()
    status = getattr(slurm, load)(ctypes.c_long(0), ctypes.byref(answer), ctypes.c_uint16(0))
    print(load, status, ctypes.cast(answer, ctypes.POINTER(ctypes.c_uint32 * 5)).contents[records] if answer else None)
"""


SAME_SECOND_TRIES = 5


def test_clients_print_the_same_with_our_plugin_dir(installed):
    """Slurm's clients, and a program on the public libslurm, load select plugins from PluginDir too."""
    library = ctypes.util.find_library("slurm")
    assert library, "libslurm is part of what aegisd needs"
    with Cluster(nodes=16, leaves=4, plugin_dirs=(PLUGIN_DIR,)) as slurm:
        slurm.allocate("-N2", "--gpus-per-node=2")
        stock = slurm.path("stock.conf")
        with open(slurm.slurm_conf, encoding="utf-8") as ours, open(stock, "w", encoding="utf-8") as file:
            file.write(ours.read().replace(f"{PLUGIN_DIR}:", ""))
        for command in (*COMMANDS, (sys.executable, "-c", LIBSLURM, library)):
            for _ in range(SAME_SECOND_TRIES):  # run times and clocks are printed too, in seconds
                said = [subprocess.run(command, capture_output=True, text=True, timeout=30, check=True, cwd="/",
                                       env=slurm.environment(SLURM_CONF=conf)) for conf in (stock, slurm.slurm_conf)]
                if said[0].stdout == said[1].stdout:
                    break
            assert said[0].stdout == said[1].stdout and said[0].stdout, command
            assert said[0].stderr == said[1].stderr, command
        assert "slurm_load_node 0 16" in said[0].stdout
