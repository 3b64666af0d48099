"""Neutrality: as long as nobody says "steer", Slurm places every job as if Aegis were not installed.

300 seeded mixed jobs (sizes, GPUs, arrays, --nodelist, --exclude, --exclusive, time limits) on the same 64-node cluster. That
stock Slurm repeats itself is tested too: without it, equality with the others would be luck and inequality no proof.
"""
import concurrent.futures
import contextlib

import pytest

from aegis import Aegis
from cluster import Cluster
from exporter import Exporter
from placement_log import place
from random_jobs import mixed_jobs
from slurm_conf import Shape

SEED, JOBS = 20220508, 300
SHAPE = {"nodes": 64, "leaves": 4}


def run_stock():
    with Cluster(**SHAPE) as slurm:
        return place(slurm, mixed_jobs(SEED, JOBS, slurm.shape)), None


def run_with_plugin(mode):
    """`mode` None: aegisd never runs. tor1 is hot, which is where stock Slurm likes to go first."""
    with contextlib.ExitStack() as stack:
        shape = Shape(**SHAPE)
        exporter = stack.enter_context(Exporter(shape.leaf_names()))
        exporter.only_hot("tor1")
        aegis = stack.enter_context(Aegis(shape, url=exporter.url, mode=mode or "steer", start=mode is not None))
        slurm = stack.enter_context(Cluster(plugin_dirs=(aegis.plugin_dir,), env=aegis.slurmctld_env(), **SHAPE))
        if mode:
            aegis.wait_connected()
            aegis.wait_pressure(hot=["tor1"], cold=["tor2"])
        log = place(slurm, mixed_jobs(SEED, JOBS, shape))
        if not mode:
            return log, None
        counters = aegis.fresh_counters()
        return log, {"counters": counters, "decisions": aegis.decisions()}


RUNS = {
    "stock": run_stock,
    "stock again": run_stock,
    "aegisd absent": lambda: run_with_plugin(None),
    "mode off": lambda: run_with_plugin("off"),
    "mode observe": lambda: run_with_plugin("observe"),
}


@pytest.fixture(scope="module")
def runs(installed):
    """All runs side by side: most of their time goes into waiting for the scheduler's passes."""
    with concurrent.futures.ThreadPoolExecutor(len(RUNS)) as pool:
        futures = {name: pool.submit(run) for name, run in RUNS.items()}
        return {name: future.result() for name, future in futures.items()}


def first_difference(runs, name):
    """None, or which job went elsewhere."""
    stock, other = runs["stock"][0], runs[name][0]
    assert len(stock) == len(other) == JOBS
    for number, (ours, theirs) in enumerate(zip(other, stock)):
        if ours != theirs:
            return f"job {number} ({theirs[0]}): stock {theirs[1]}, {name} {ours[1]}"
    return None


def test_stock_slurm_repeats_itself_on_these_jobs(runs):
    assert first_difference(runs, "stock again") is None


def test_the_jobs_fill_the_cluster_and_spread_over_it(runs):
    log = runs["stock"][0]
    shape = Shape(**SHAPE)
    refused = sum(not fate for _, fate in log)
    assert 15 <= refused <= 150, "some jobs must find the cluster full, most must not"
    used = {shape.leaf_of(node) for _, fate in log if fate and isinstance(fate[0], str) for node in fate}
    assert used == set(shape.leaf_names())


def test_placements_are_stock_while_aegisd_is_absent(runs):
    assert first_difference(runs, "aegisd absent") is None


def test_placements_are_stock_in_mode_off_and_nothing_is_asked(runs):
    assert first_difference(runs, "mode off") is None
    seen = runs["mode off"][1]["counters"]
    assert seen["asks"] == seen["kept_unasked"] == 0
    assert seen["job_tests"] >= JOBS / 2


def test_placements_are_stock_in_mode_observe_although_aegisd_would_have_steered(runs):
    assert first_difference(runs, "mode observe") is None
    seen = runs["mode observe"][1]
    assert seen["counters"]["asks"] + seen["counters"]["kept_unasked"] >= JOBS / 2
    assert seen["counters"]["advice_plans"] == seen["counters"]["plans_accepted"] == 0
    better = [row for row in seen["decisions"] if row["reason"] == "better_plan"]
    assert len(better) >= 10, "with tor1 hot some decisions must have wanted another leaf"
    assert not any(row["offered"] for row in seen["decisions"])
