"""Every kind of source, with everything that may be wrong with its peer, at once and in one aegisd: what is said of it, what it does to the
pressure of a calm link (nothing), and to the engine's tick (nothing).

The expired certificate and what is refused for want of TLS or a token is in the tests of the transport.
"""

import contextlib
import os
import time

import pytest
from daemon import aegisd, ports, source
from faulty import Exporter, PromqlServer, Sender, SonicSwitch
from peers import free_port, wait_until

FRESHNESS = '[freshness]\nfresh = "3s"\nlagged = "6s"\nstale = "9s"\n'
FAULTS = "killed", "hung", "restarted", "slow", "thousandfold", "over_limit", "denied", "ahead", "behind", "late", "frozen", "lossy", "none"
FROM_THE_BEGINNING = {"ahead": 600, "behind": -600, "late": -60}  # a clock does not jump
KINDS = "prometheus", "promql", "otlp", "sonic"
# who pushes is denied in the tests of the receiver; a COUNTERS_DB carries no time of day
IMPOSSIBLE = {("otlp", "denied"), *(("sonic", fault) for fault in FROM_THE_BEGINNING)}
CASES = [(kind, fault) for kind in KINDS for fault in FAULTS if (kind, fault) not in IMPOSSIBLE]
SECONDS = 25  # of each phase: the fast average has forgotten what was before, and dark is dark

# What is dark at the end of its fault, and a word of the failure that status tells (None: polls succeed); the others are fresh
DARK = {"killed": "refused", "hung": "within", "slow": "within", "denied": "401", "over_limit": "limit", "ahead": None, "behind": None, "late": None}


class World:
    def __init__(self, folder):
        make = {"prometheus": lambda switch, _: Exporter(switch), "promql": lambda switch, _: PromqlServer(switch),
                "otlp": lambda switch, _: Sender(switch, free_port()), "sonic": lambda switch, fault: SonicSwitch(switch, folder / switch, fault == "slow")}
        self.peers = {}
        for kind, fault in CASES:
            peer = self.peers[kind, fault] = make[kind](f"{kind}-{fault}", fault)
            peer.shift_s = FROM_THE_BEGINNING.get(fault, 0)

    def tables(self):
        labels = {"switch_label": "switch"}
        metrics = [("bytes_total", "bytes", "counter", labels), ("packets_total", "packets", "counter", labels),
                   ("marked_total", "ecn_marked_packets", "counter", labels)]
        text = ""
        for (kind, fault), peer in self.peers.items():
            more = {"body_limit": "16KiB"} if fault == "over_limit" else {}
            if kind == "sonic":
                more["switch"] = peer.switch
            text += ports(peer.switch, "p1", "100Gbit") + source(kind, peer.url, [] if kind == "sonic" else metrics, name=peer.switch, interval="1s",
                                                                 timeout="500ms", **more)
        return text

    def break_all(self):
        for (_, fault), peer in self.peers.items():
            peer.fault = "thousandfold" if fault == "over_limit" else fault
            if fault == "restarted":
                peer.counters.restart()
            if fault == "frozen":
                peer.counters.freeze()
            peer.break_it()

    def heal_all(self):
        for (_, fault), peer in self.peers.items():
            if fault == "frozen":
                peer.counters.restart()
                peer.counters.thaw()
            peer.heal()
            peer.fault = None

    def end(self):
        for peer in self.peers.values():
            with contextlib.suppress(OSError):
                peer.end()


class Watched:
    """The largest of what was seen of each link while a phase lasted, and the states each source went through."""

    def __init__(self, daemon):
        self.daemon, self.pressure, self.load, self.states = daemon, {}, {}, {}

    def look(self):
        for link, seen in self.daemon.links().items():
            switch = link.split("/")[0]
            self.pressure[switch] = max(self.pressure.get(switch, 0), seen["pressure"] or 0)
            self.load[switch] = max(self.load.get(switch, 0), seen["load"] or 0)
        status = self.daemon.ask("status")
        for state in status["sources"]:
            states = self.states.setdefault(state["name"], [])
            if not states or states[-1] != state["state"]:
                states.append(state["state"])
        return status

    def during(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status = self.look()
            time.sleep(.5)
        return status


def before_others():
    """The peers of this test, and whatever else runs here, keep this machine busy; what they do to the tick is not what is asked."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """(watched, {phase: status}) of the three phases: well, broken, healed."""
    folder = tmp_path_factory.mktemp("faults")
    world = World(folder)
    try:
        with aegisd(folder, world.tables(), scalars=FRESHNESS, preexec_fn=before_others) as daemon:
            watched, phases = Watched(daemon), {}
            well = [peer.switch for (_, fault), peer in world.peers.items() if fault not in FROM_THE_BEGINNING]
            wait_until(lambda: all(daemon.source(name)["state"] == "fresh" for name in well[::6]), "the sources being read", 40)
            phases["well"] = watched.during(SECONDS // 2)
            world.break_all()
            phases["broken"] = watched.during(SECONDS)
            world.heal_all()
            phases["healed"] = watched.during(SECONDS)
            yield watched, phases, (folder / "peer.log").read_text()
    finally:
        world.end()


def of(status, kind, fault):
    return next(state for state in status["sources"] if state["name"] == f"{kind}-{fault}")


@pytest.mark.parametrize("kind, fault", CASES, ids=lambda word: word)
def test_a_calm_link_stays_calm_and_its_source_is_told_as_it_is(seen, kind, fault, report):
    watched, phases, _ = seen
    name, state = f"{kind}-{fault}", of(phases["broken"], kind, fault)
    if not any("false pressure" in line for line in report):
        report += ["", f"{'source and fault':28} {'state':8} {'pressure':>9} {'load':>6}  what status says (no false pressure: the truth is load 0.30)"]
    report.append(f"{name:28} {state['state']:8} {watched.pressure.get(name, 0):9.3f} {watched.load.get(name, 0):6.2f}  {(state['last_failure'] or '')[:90]}")
    assert watched.pressure.get(name, 0) <= .05
    if fault != "ahead":
        assert .25 <= watched.load[name] <= .45  # it was seen at all, and as it is
    if fault in DARK:
        assert state["state"] == "dark"
        if DARK[fault] and kind in ("prometheus", "promql"):
            assert DARK[fault] in state["last_failure"]
        if DARK[fault] and kind == "sonic":
            assert state["last_failure"]
    else:
        assert state["state"] == "fresh"
    if fault == "ahead":
        assert state["refused_samples"] > 0
    if fault == "restarted":
        assert state["events"]["reset"] == 3 and state["events"]["implausible"] == 0
    if fault == "thousandfold":
        assert state["failures"] == 0 and state["unmapped_series"] == 3 * 999
    if fault == "none":
        assert (state["failures"], state["refused_samples"], state["events"]["reset"]) == (0, 0, 0)
    if fault not in FROM_THE_BEGINNING:
        assert of(phases["well"], kind, fault)["state"] == "fresh"
        assert of(phases["healed"], kind, fault)["state"] == "fresh"


@pytest.mark.parametrize("kind", KINDS)
def test_a_peer_that_dies_is_believed_less_and_less(seen, kind):
    watched, *_ = seen
    assert [state for state in watched.states[f"{kind}-killed"] if state != "fresh"][-3:] == ["lagged", "stale", "dark"]


def test_no_fault_delays_the_engines_tick(seen, report):
    _, phases, log = seen
    tick = phases["healed"]["tick"]
    report.append(f"engine tick with {len(CASES)} sources, {len(CASES) - len(KINDS)} of them broken: p50 {tick['late_p50_us'] / 1000:.2f} ms late, "
                  f"p99 {tick['late_p99_us'] / 1000:.2f} ms, of {tick['window']}")
    assert tick["late_p99_us"] <= 10_000
    assert "Sanitizer" not in log
