"""Whatever answers on the socket, every job starts at once where stock Slurm would put it, and slurmctld lives.

The peer is fake_aegisd.py. Each behaviour gets a Slurm of its own: the plugin's circuit breaker remembers.
"""
import os
import random
import struct
import time

import pytest

import wire
from aegis import PLUGIN_DIR
from cluster import Cluster
from fake_aegisd import Close, FakeAegisd, avoid, keep
from waiting import wait_for

JOBS = 6
STOCK = [[f"n{2 * job:02d}", f"n{2 * job + 1:02d}"] for job in range(JOBS)]  # -N2 --exclusive on an empty cluster, one by one


def plan(ask, indices, count=None, **fields):
    return wire.encode_advice(ask["request"], plans=[(count or ask["candidates"][0], indices)], **fields)


def good(ask):
    """What a right answer would be: all candidates but the first leaf."""
    return plan(ask, set(range(16, 64)))


def truncated(ask, _):
    return good(ask)[:-3]


def closed(_ask, _):
    raise Close


def oversize(ask, _):
    return wire.frame(wire.ADVICE, good(ask)[20:], ask["request"], length=0xFFFFFFFF)


def wrong_magic(ask, _):
    return wire.frame(wire.ADVICE, good(ask)[20:], ask["request"], magic=b"HTTP")


def wrong_version(ask, _):
    return wire.frame(wire.ADVICE, good(ask)[20:], ask["request"], version=99)


def unknown_type(ask, _):
    return wire.frame(77, good(ask)[20:], ask["request"])


def type_of_the_other_side(ask, _):
    return wire.frame(wire.ASK, good(ask)[20:], ask["request"])


def wrong_id(ask, _):
    return plan({**ask, "request": ask["request"] + 1000}, set(range(16, 64)))


def wrong_count(ask, _):
    return plan(ask, set(range(16, 32)), count=63)


def huge_count(ask, _):
    payload = struct.pack("<QBBI", 1, wire.PLANS, 1, 0xFFFFFFF0)
    return wire.frame(wire.ADVICE, payload, ask["request"])


def spare_bits_set(ask, _):
    count = ask["candidates"][0]
    payload = struct.pack("<QBBI", 1, wire.PLANS, 1, count - 3) + b"\xff" * ((count - 3 + 7) // 8)
    return wire.frame(wire.ADVICE, payload, ask["request"])


def empty_plan(ask, _):
    return plan(ask, set())


def too_small_plan(ask, _):
    return plan(ask, {40})


def three_plans(ask, _):
    one = (ask["candidates"][0], set(range(16, 64)))
    return wire.encode_advice(ask["request"], plans=[one] * 3)


def keep_with_a_plan(ask, _):
    return plan(ask, set(range(16, 64)), verdict=wire.KEEP)


def unknown_verdict(ask, _):
    return wire.encode_advice(ask["request"], verdict=9)


def trailing_bytes(ask, _):
    return wire.frame(wire.ADVICE, good(ask)[20:] + b"tail", ask["request"])


def late(ask, _):
    time.sleep(0.05)  # five times the longest deadline there is
    return good(ask)


def random_bytes(ask, _):
    return random.Random(ask["request"]).randbytes(4096)


def flood(ask, _):
    return wire.encode_pong(0) * 20000


def silence(_ask, _):
    return b""


BEHAVIOURS = [truncated, closed, oversize, wrong_magic, wrong_version, unknown_type, type_of_the_other_side,
              wrong_id, wrong_count, huge_count, spare_bits_set, empty_plan, too_small_plan, three_plans, keep_with_a_plan,
              unknown_verdict, trailing_bytes, late, random_bytes, flood, silence]


def cluster(path):
    return Cluster(nodes=64, leaves=4, plugin_dirs=(PLUGIN_DIR,), env={"AEGIS_SOCKET": path})


def run_jobs(slurm, words=("-N2", "--exclusive"), count=JOBS):
    nodes = []
    for _ in range(count):
        job = slurm.allocate(*words)
        nodes.append(slurm.nodes_of_job(job) if job else None)
    return nodes


def last_word(fake):
    """The plugin's counters after all that: it has come back, or was never gone."""
    before = fake.counters
    fake.advise = keep
    return wait_for(lambda: fake.counters is not before and fake.counters, "a ping of the plugin", 20)


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.__name__)
def test_jobs_start_where_stock_slurm_puts_them(behaviour, installed, tmp_path):
    path = str(tmp_path / "select.socket")
    with FakeAegisd(path, advise=behaviour) as fake, cluster(path) as slurm:
        wait_for(lambda: fake.greetings, "the plugin to greet", 15)
        assert run_jobs(slurm) == STOCK
        assert fake.asks, "nothing was asked: the test shows nothing"
        counters = last_word(fake)
        assert counters["losses"] == 0
        assert counters["plans_accepted"] == 0
        assert slurm.slurmctld.running()
        assert fake.problems == []


def test_the_good_answer_would_have_steered(installed, tmp_path):
    """The counterpart of the tests above: the same jobs, the plan they only pretend to give."""
    path = str(tmp_path / "select.socket")
    with FakeAegisd(path, advise=avoid(*range(16))) as fake, cluster(path) as slurm:
        wait_for(lambda: fake.greetings, "the plugin to greet", 15)
        first = run_jobs(slurm, count=1)[0]
        assert first == ["n16", "n17"]


def test_a_plan_cannot_hand_out_nodes_the_job_may_not_have(installed, tmp_path):
    """The peer allows exactly the excluded nodes: not candidates, so never the job's."""
    path = str(tmp_path / "select.socket")
    with FakeAegisd(path, advise=lambda ask, _: plan(ask, set(range(16, 32)))) as fake, cluster(path) as slurm:
        wait_for(lambda: fake.greetings, "the plugin to greet", 15)
        for nodes in run_jobs(slurm, words=("-N2", "--exclusive", "--exclude=n[16-31]")):
            assert nodes and not set(nodes) & {f"n{number}" for number in range(16, 32)}
        assert last_word(fake)["losses"] == 0


def calm_for(hello, calm=range(64), inviting=(), count=64, **fields):
    return wire.encode_calm(hello["table_hash"], (count, set(calm)), (count, set(inviting)), **fields)


def one_node_jobs(slurm, count=JOBS):
    return run_jobs(slurm, ("-N1", "--exclusive"), count)


ONE_NODE_STOCK = [[f"n{job:02d}"] for job in range(JOBS)]


def test_by_calm_jobs_of_one_node_are_kept_and_told_of(installed, tmp_path):
    path = str(tmp_path / "select.socket")
    with FakeAegisd(path, advise=avoid(*range(16)), calm=calm_for) as fake, cluster(path) as slurm:
        wait_for(lambda: fake.greetings, "the plugin to greet", 15)
        assert one_node_jobs(slurm) == ONE_NODE_STOCK
        assert run_jobs(slurm, count=1)[0] == ["n16", "n17"], "a job of two nodes is asked about"
        slurm.sbatch("-N1", "--exclusive", "--job-name=row", "--array=1-3")
        wait_for(lambda: len(fake.kept) == JOBS + 3, "all reports to come")
        counters = last_word(fake)
    assert len(fake.asks) == 1
    assert (counters["kept_unasked"], counters["asks"], counters["events_dropped"]) == (JOBS + 3, 1, 0)
    for job, report in enumerate(fake.kept[:JOBS]):
        assert (report["s1"], report["request"] if "request" in report else 0) == ((64, {job}), 0)
        assert abs(report["time_us"] / 1e6 - time.time()) < 600
    for report in fake.kept[JOBS:]:
        assert "SLURM_JOB_NAME=row\n" in report["facts"], "tasks of an array share their facts"
    assert fake.problems == []


CALMS = {
    "for_other_nodes": lambda hello: calm_for(hello, count=63, calm=range(63)),
    "for_another_table": lambda hello: calm_for({"table_hash": hello["table_hash"] ^ 1}),
    "of_no_time": lambda hello: calm_for(hello, valid_ms=0),
    "without_nodes": lambda hello: calm_for(hello, calm=(), count=0),
    "huge_count": lambda hello: wire.frame(wire.CALM, struct.pack("<QII", hello["table_hash"], 2500, 0xFFFFFFF0)),
    "truncated": lambda hello: calm_for(hello)[:-1],
    "trailing_bytes": lambda hello: wire.frame(wire.CALM, calm_for(hello)[20:] + b"tail"),
    "oversize": lambda hello: wire.frame(wire.CALM, calm_for(hello)[20:], length=0xFFFFFFFF),
    "garbage": lambda hello: wire.frame(wire.CALM, random.Random(5).randbytes(28)),
    "calm_and_inviting_at_once": lambda hello: calm_for(hello, inviting=range(64), valid_ms=0xFFFFFFFF),
}


@pytest.mark.parametrize("name", CALMS)
def test_a_wrong_calm_leaves_slurm_alone(name, installed, tmp_path):
    path = str(tmp_path / "select.socket")
    with FakeAegisd(path, calm=CALMS[name]) as fake, cluster(path) as slurm:
        wait_for(lambda: fake.greetings, "the plugin to greet", 15)
        assert one_node_jobs(slurm) == ONE_NODE_STOCK
        assert slurm.slurmctld.running()
        if name == "calm_and_inviting_at_once":
            assert len(fake.asks) == 0, "whatever it says of a node, it says keep"
        else:
            assert fake.kept == [], "nothing may be kept by it"


WELCOMES = {
    "refused_version": lambda hello: wire.encode_welcome(hello["table_hash"], status=wire.REFUSED_VERSION),
    "refused_node_table": lambda hello: wire.encode_welcome(hello["table_hash"], status=wire.REFUSED_NODE_TABLE),
    "other_table": lambda hello: wire.encode_welcome(hello["table_hash"] ^ 1),
    "unknown_status": lambda hello: wire.encode_welcome(hello["table_hash"], status=200),
    "unknown_mode": lambda hello: wire.encode_welcome(hello["table_hash"], mode=7),
    "nothing": lambda hello: b"",
    "garbage": lambda hello: os.urandom(512),
}


@pytest.mark.parametrize("name", WELCOMES)
def test_a_wrong_welcome_leaves_slurm_alone(name, installed, tmp_path):
    path = str(tmp_path / "select.socket")
    with FakeAegisd(path, advise=lambda ask, _: good(ask), welcome=WELCOMES[name]) as fake, cluster(path) as slurm:
        wait_for(lambda: fake.greetings, "the plugin to greet", 15)
        assert run_jobs(slurm) == STOCK
        assert fake.asks == []
        assert slurm.slurmctld.running()


def test_a_peer_cannot_make_slurm_wait_longer_than_ten_milliseconds(installed, tmp_path):
    """A welcome that grants an hour: the plugin clamps the deadline."""
    path = str(tmp_path / "select.socket")
    with FakeAegisd(path, advise=silence, deadline_us=3_600_000_000) as fake, cluster(path) as slurm:
        wait_for(lambda: fake.greetings, "the plugin to greet", 15)
        assert run_jobs(slurm) == STOCK
        counters = last_word(fake)
        assert 1 <= counters["timeouts"] <= 3, "the breaker opens after three"
        # bucket k holds values below 2^(k+2) us: 16,384 us is the first edge above the longest deadline
        assert counters["breaker_opened"] >= 1
        assert sum(counters["added_us"][13:]) == 0
