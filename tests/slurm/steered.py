"""Everything at once: an exporter, aegisd, and a Slurm with the plugin, connected.

    with steered(nodes=64, leaves=4, hot=("tor1",)) as world:
        world.slurm.sbatch(...); world.aegis.status(); world.exporter.only_hot("tor2")
"""
import contextlib
import dataclasses

from aegis import Aegis
from cluster import Cluster
from exporter import Exporter
from slurm_conf import Shape


@dataclasses.dataclass
class World:
    slurm: Cluster
    aegis: Aegis
    exporter: Exporter

    def heat(self, *leaves):
        """Exactly these leaves are hot, and aegisd knows it."""
        self.exporter.only_hot(*leaves)
        self.aegis.wait_pressure(hot=leaves, cold=[leaf for leaf in self.slurm.shape.leaf_names() if leaf not in leaves])


@contextlib.contextmanager
def steered(*, mode="steer", hot=(), settings=None, **fields):
    """`fields` are Cluster's; `hot` leaves are hot before the block begins."""
    shape = Shape(**{name: fields[name] for name in fields if name in Shape.__dataclass_fields__})
    with contextlib.ExitStack() as stack:
        exporter = stack.enter_context(Exporter(shape.leaf_names()))
        exporter.only_hot(*hot)
        aegis = stack.enter_context(Aegis(shape, url=exporter.url, mode=mode, settings=settings))
        env = {**fields.pop("env", {}), **aegis.slurmctld_env()}
        slurm = stack.enter_context(Cluster(plugin_dirs=(aegis.plugin_dir,), env=env, **fields))
        aegis.wait_connected()
        world = World(slurm, aegis, exporter)
        if hot:
            world.heat(*hot)
        yield world
