"""The files a small Slurm needs: slurm.conf, topology.conf, gres.conf, cgroup.conf. Text only; cluster.py writes and runs them.

Nodes are n0, n1 ... padded to one width, in equal blocks on leaves tor1, tor2 ... under one spine.
"""
import dataclasses
import os

STOCK_PLUGINS = "/usr/lib/x86_64-linux-gnu/slurm-wlm"


@dataclasses.dataclass
class Shape:
    """What the cluster is made of. `real`: a slurmd for every node; else CLOUD nodes that never boot, for placement only."""
    nodes: int = 64
    leaves: int = 4
    real: bool = False
    gres: str = "gpu:a100:4"      # as in a NodeName line; "" for none
    sockets: int = 2
    cores: int = 8                # per socket
    memory_mb: int = 64000
    future: int = 0               # more nodes that topology.conf already knows but slurm.conf does not (yet)

    def node(self, index):
        return f"n{index:0{self._width()}d}"

    def node_names(self):
        return [self.node(index) for index in range(self.nodes)]

    def hostlist(self, first, count):
        return f"n[{self.node(first)[1:]}-{self.node(first + count - 1)[1:]}]"

    def leaf_names(self):
        return [f"tor{number + 1}" for number in range(self.leaves)]

    def leaf_of(self, node):
        """tor1 ... of a node's name."""
        return self.leaf_names()[int(node[1:]) // self.nodes_per_leaf()]

    def nodes_of(self, leaf):
        first = self.leaf_names().index(leaf) * self.nodes_per_leaf()
        return [self.node(index) for index in range(first, first + self.nodes_per_leaf())]

    def nodes_per_leaf(self):
        total = self.nodes + self.future
        if total % self.leaves:
            raise ValueError(f"{total} nodes do not divide into {self.leaves} leaves")
        return total // self.leaves

    def _width(self):
        return max(2, len(str(self.nodes + self.future - 1)))


@dataclasses.dataclass
class Settings:
    """What the administrator wrote."""
    plugin_dirs: tuple = ()                  # directories that stand before Slurm's own in PluginDir
    topology: str = "topology/tree"          # or topology/none; topology.conf is written either way
    partitions: tuple = ("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP",)
    scheduler: str = "bf_interval=5,batch_sched_delay=0,sched_interval=2"
    select: str = "CR_Core_Memory"
    extra: tuple = ()                        # further lines of slurm.conf; a key here wins over ours
    debug_flags: str = "NO_CONF_HASH"


@dataclasses.dataclass
class Place:
    """Where it runs."""
    directory: str
    host: str
    munge_socket: str
    controller_port: int
    slurmd_port: int                         # of the first node


def _replace(lines, extra):
    """Lines with the keys that `extra` sets anew left out, then `extra`."""
    def key(line):
        return line.split("=", 1)[0].strip().lower()

    repeated = {"nodename", "partitionname"}
    own = {key(line) for line in extra} - repeated
    return [line for line in lines if key(line) not in own] + list(extra)


def slurm_conf(shape, settings, place):
    d = place.directory
    lines = [
        "ClusterName=aegis",
        f"SlurmctldHost={place.host}(127.0.0.1)",
        f"SlurmctldPort={place.controller_port}",
        "SlurmUser=root", "SlurmdUser=root",
        "AuthType=auth/munge", f"AuthInfo=socket={place.munge_socket}", "CredType=cred/munge",
        f"StateSaveLocation={d}/state", f"SlurmdSpoolDir={d}/spool/%n",
        f"SlurmctldPidFile={d}/slurmctld.pid", f"SlurmdPidFile={d}/slurmd-%n.pid", f"SlurmdLogFile={d}/slurmd-%n.log",
        "SlurmctldDebug=verbose", "SlurmdDebug=verbose", "LogTimeFormat=iso8601_ms", f"DebugFlags={settings.debug_flags}",
        f"PluginDir={':'.join([*settings.plugin_dirs, STOCK_PLUGINS])}",
        "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none",
        "SwitchType=switch/none", "MpiDefault=none", "AccountingStorageType=accounting_storage/none",
        "ReturnToService=2", "MessageTimeout=30", "KillWait=2", "MinJobAge=600", "MaxJobCount=100000", "MaxArraySize=10000",
        "SelectType=select/cons_tres", f"SelectTypeParameters={settings.select}", "DefMemPerCPU=100",
        "SchedulerType=sched/backfill", f"SchedulerParameters={settings.scheduler}", "PriorityType=priority/basic",
        f"TopologyPlugin={settings.topology}",
    ]
    node = f"CPUs={shape.sockets * shape.cores} Sockets={shape.sockets} CoresPerSocket={shape.cores} ThreadsPerCore=1 RealMemory={shape.memory_mb}"
    if shape.gres:
        lines.append("GresTypes=" + ",".join(sorted({item.split(":")[0] for item in shape.gres.split(",")})))
        node += f" Gres={shape.gres}"
    names = shape.hostlist(0, shape.nodes)
    if shape.real:
        lines.append("SlurmdParameters=config_overrides")
        lines.append(f"NodeName={names} NodeHostName=localhost NodeAddr=127.0.0.1 "
                     f"Port=[{place.slurmd_port}-{place.slurmd_port + shape.nodes - 1}] {node}")
    else:
        # Power saving must be on for CLOUD nodes. A node once "started" is never powered down again during a test:
        # with a short SuspendTime the choice of nodes would depend on the clock.
        lines += ["SuspendTime=60000", "SuspendTimeout=30", "ResumeTimeout=60000", "ResumeRate=0",
                  "ResumeProgram=/bin/true", "SuspendProgram=/bin/true", "PrivateData=cloud"]
        # Where connect() fails at once: slurmctld tries a port that merely refuses for ten seconds, in up to 256 threads, to say
        # that a job has ended.
        lines.append(f"NodeName={names} NodeAddr=255.255.255.255 Port={place.slurmd_port} State=CLOUD {node}")
    lines += settings.partitions
    return "\n".join(_replace(lines, settings.extra)) + "\n"


def topology_conf(shape):
    per_leaf = shape.nodes_per_leaf()
    lines = [f"SwitchName={leaf} Nodes={shape.hostlist(number * per_leaf, per_leaf)}"
             for number, leaf in enumerate(shape.leaf_names())]
    lines.append(f"SwitchName=spine Switches=tor[1-{shape.leaves}]")
    return "\n".join(lines) + "\n"


def gres_conf(shape, directory):
    """Real slurmds count devices that exist: empty files stand for them. Without slurmds a count is enough."""
    lines, first = [], 0
    for item in filter(None, shape.gres.split(",")):
        name, kind, count = item.split(":")
        line = f"NodeName={shape.hostlist(0, shape.nodes)} Name={name} Type={kind} "
        last = first + int(count) - 1
        lines.append(line + (f"File={directory}/gpu[{first}-{last}]" if shape.real else f"Count={count}"))
        first = last + 1
    return "\n".join(lines) + "\n"


def gres_files(shape, directory):
    total = sum(int(item.split(":")[2]) for item in filter(None, shape.gres.split(",")))
    return [os.path.join(directory, f"gpu{number}") for number in range(total)]


def cgroup_conf():
    return "CgroupPlugin=cgroup/v1\nIgnoreSystemd=yes\n"  # never touched with linuxproc, but slurmd wants to read it
