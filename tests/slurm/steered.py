"""Everything at once: an exporter, aegisd, and a Slurm with the plugin, connected.

    with steered(nodes=64, leaves=4, hot=("tor1",)) as world:
        job, nodes, decision = world.advised(lambda: world.allocate("-N2"))

The deadline is the longest there is, 10 ms: these tests also run on machines that are busy with other things. Even so an
advice may come late, and vanilla placement is then right; advised() tries again until one was in time.
"""
import contextlib
import dataclasses

from aegis import Aegis
from cluster import Cluster
from exporter import Exporter
from slurm_conf import Shape
from waiting import Timeout, wait_for

ATTEMPTS = 10
OUTCOME_SECONDS = 3


@dataclasses.dataclass
class World:
    slurm: Cluster
    aegis: Aegis
    exporter: Exporter

    def heat(self, *leaves):
        """Exactly these leaves are hot, and aegisd knows it."""
        self.exporter.only_hot(*leaves)
        self.aegis.wait_pressure(hot=leaves, cold=[leaf for leaf in self.slurm.shape.leaf_names() if leaf not in leaves])

    def leaves(self, nodes):
        return {self.slurm.shape.leaf_of(node) for node in nodes}

    def allocate(self, *words):
        """Start a job that stock Slurm would start now, and at once; (number, nodes)."""
        job = self.slurm.allocate(*words)
        assert job, f"stock Slurm would start {words} now"
        return job, self.slurm.nodes_of_job(job)

    def run(self, *words):
        """A batch job that sleeps, once it really runs; (number, nodes)."""
        job = self.slurm.sbatch(*words, wrap="sleep 1000")
        self.slurm.wait_state(job, "RUNNING", seconds=30)
        return job, self.slurm.nodes_of_job(job)

    def outcome(self, key, seconds=OUTCOME_SECONDS):
        """The decision about a job with what became of it; None if the plugin did not ask or had no answer in time."""
        def decided():
            rows = [row for row in self.aegis.decisions(job=str(key)) if row["outcome"]]
            return rows[0] if rows else None
        try:
            return wait_for(decided, "an outcome", seconds)
        except Timeout:
            return None

    def advised(self, start):
        """start() -> (job, nodes), again until the advice was in time; (job, nodes, decision). Earlier tries are cancelled."""
        for _ in range(ATTEMPTS):
            job, nodes = start()
            decision = self.outcome(job)
            if decision:
                return job, nodes, decision
            self.slurm.scancel(job)
            wait_for(lambda: not self.slurm.squeue("--noheader", f"--job={job}", "--format=%i").strip(), f"job {job} to be gone", 30)
        raise AssertionError(f"no advice in time in {ATTEMPTS} attempts: {self.aegis.status()['plugin']}")


@contextlib.contextmanager
def steered(*, mode="steer", hot=(), settings=None, **fields):
    """`fields` are Cluster's; `hot` leaves are hot before the block begins."""
    shape = Shape(**{name: fields[name] for name in fields if name in Shape.__dataclass_fields__})
    with contextlib.ExitStack() as stack:
        exporter = stack.enter_context(Exporter(shape.leaf_names()))
        exporter.only_hot(*hot)
        aegis = stack.enter_context(Aegis(shape, url=exporter.url, mode=mode, settings={"select.deadline": "10ms", **(settings or {})}))
        env = {**fields.pop("env", {}), **aegis.slurmctld_env()}
        slurm = stack.enter_context(Cluster(plugin_dirs=(aegis.plugin_dir,), env=env, **fields))
        aegis.wait_connected()
        world = World(slurm, aegis, exporter)
        if hot:
            world.heat(*hot)
        yield world
