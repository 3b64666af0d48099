"""Never worse: in mode steer, a job that stock Slurm would start in a pass is started in that pass.

1,000 random jobs through a busy cluster while the pressure of every leaf changes at random. The plugin compares the first inner
test with its final answer (`losses`); independent of that, Slurm's own start time of every job must be that of its first
decision: aegisd is asked only about jobs that Slurm would start now.
"""
import calendar
import random
import time

from exporter import load_of
from random_jobs import mixed_request
from steered import steered
from waiting import wait_for

SEED, JOBS = 7, 1000
SEEN_AT_LEAST = 0.5   # of the jobs; the others still wait at the end
ASKED_AT_LEAST = 100  # the others of them are jobs of one node on calm leaves
ACCEPTED_AT_LEAST = 50


def batch_request(generator, shape):
    """A mixed request and an array size, without --gpus: a job with it that did not start at once never does in stock 22.05 without
    slurmds, not even on an idle cluster, and all others wait behind it."""
    words = [word for word in mixed_request(generator, shape) if not word.startswith("--gpus=")]
    named = any(word.startswith("--nodelist=") for word in words)  # tasks of such an array could only follow one another
    return words, 1 if named else generator.choice([1, 1, 1, 5, 8])


def submit_until(slurm, generator, exporter):
    """Batches of batch jobs and arrays; between them, random leaves heat up and cool down and random jobs end."""
    submitted, jobs = 0, []
    while submitted < JOBS:
        for leaf in slurm.shape.leaf_names():
            exporter.set(leaf, load_of(generator.choice([0, 0, 0.3, 0.7, 1])))
        for _ in range(20):
            words, size = batch_request(generator, slurm.shape)
            jobs.append(slurm.sbatch(*words, *([f"--array=1-{size}"] if size > 1 else [])))
            submitted += size
        generator.shuffle(jobs)
        ended, jobs = jobs[:12], jobs[12:]
        slurm.scancel("--state=RUNNING", *ended)
    return submitted


def _let_through(slurm):
    """End what runs; true when nothing waits any more."""
    slurm.scancel("--state=RUNNING", "--user=root")
    return not slurm.squeue("--noheader", "--states=PENDING").strip()


def start_times(slurm):
    """{job key: second it started}, of jobs that have started."""
    rows = (line.split("|") for line in slurm.squeue("--noheader", "--array", "--states=all", "--format=%i|%S|%N").splitlines())
    return {key: calendar.timegm(time.strptime(start, "%Y-%m-%dT%H:%M:%S")) for key, start, nodes in rows if nodes and start != "N/A"}


def test_no_job_that_slurm_would_start_is_left_pending(installed):
    generator = random.Random(SEED)
    with steered(nodes=64, leaves=4, scheduler="bf_interval=2,batch_sched_delay=0,sched_interval=2") as world:
        submitted = submit_until(world.slurm, generator, world.exporter)
        assert submitted >= JOBS
        wait_for(lambda: _let_through(world.slurm), "the jobs that wait to have their turn", 120, interval=0.5)
        counters = world.aegis.fresh_counters()
        decisions = world.aegis.decisions()
        started = start_times(world.slurm)

    assert counters["asks"] + counters["kept_unasked"] >= SEEN_AT_LEAST * JOBS
    assert counters["asks"] >= ASKED_AT_LEAST
    assert counters["plans_accepted"] >= ACCEPTED_AT_LEAST, "nothing was steered: the test shows nothing"
    assert counters["losses"] == 0
    assert not [row for row in decisions if (row["outcome"] or {}).get("result") == "lost"]

    first = {}
    for row in decisions:
        first[row["job_key"]] = min(first.get(row["job_key"], row["time_us"]), row["time_us"])
    compared = [key for key in first if key in started]
    assert len(compared) >= SEEN_AT_LEAST * JOBS
    late = {key: started[key] - first[key] / 1e6 for key in compared if started[key] - first[key] / 1e6 > 1}
    assert late == {}, "seconds between the first decision about a job and its start"
