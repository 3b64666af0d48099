"""Every recorded file of AEGIS_SHARED: read with the right numbers, or refused in words. Prints one line a file.

"unknown" is what a file holds that says nothing: NaN, infinities, counters stuck at 2^32-1, hosts without a name, fields that are no number.
"""

import json
import math
import re
import subprocess

import pytest
import readers
from peers import BUILD, Redis, polls, shared, values
from test_sonic_redis import PORT, QUEUE, as_strings, expected

PRINT_SAMPLES, AEGISCTL = BUILD / "tests/telemetry/print_samples", BUILD / "aegisctl/aegisctl"


def printed(form, path):
    """(samples as readers.py has them, why the file was refused or "")"""
    done = subprocess.run([PRINT_SAMPLES, form, path], capture_output=True, text=True, timeout=60)
    samples = []
    for line in done.stdout.splitlines():
        sample = json.loads(line)
        value = sample["value"]
        value = ([float(b) for b in value["bounds"]], [float(c) for c in value["counts"]]) if isinstance(value, dict) else float(value)
        assert len(dict(sample["labels"])) == len(sample["labels"])
        samples.append((sample["metric"], dict(sample["labels"]), sample["shape"], value, sample["time_us"]))
    assert (done.returncode == 0) == (not done.stderr), done
    return samples, done.stderr.strip()


def unordered(samples):
    """Comparable though NaN is not equal to itself, and in any order."""
    return sorted(repr((name, sorted(labels.items()), shape, value, time)) for name, labels, shape, value, time in samples)


def unknown(samples):
    return sum(not isinstance(value, tuple) and (not math.isfinite(value) or value == 2**32 - 1) for *_, value, _ in samples)


def read_samples(form, reader):
    def read(path, _):
        got, refused = printed(form, path)
        want = reader(path.read_bytes() if form == "otlp-protobuf" else path.read_text())
        assert not refused and unordered(got) == unordered(want)
        return len(got), unknown(got), "every number compared"
    return read


def read_answers(path, folder):
    """Each answer of the file by itself; those without a vector are refused, with the server's own reason where it gave one."""
    count = unknowns = 0
    refusals = []
    for name, answer in json.loads(path.read_text()).items():
        body = folder / "answer.json"
        body.write_text(json.dumps(answer))
        got, refused = printed("promql", body)
        if answer["status"] == "error":
            assert got == [] and answer["error"] in refused
        elif answer["data"]["resultType"] == "matrix":
            assert got == [] and "matrix" in refused
        else:
            assert not refused and unordered(got) == unordered(readers.promql(answer))
        refusals += [name] if refused else []
        count, unknowns = count + len(got), unknowns + unknown(got)
    return count, unknowns, "refused: " + ", ".join(refusals)


def read_database(databases):
    def read(path, folder):
        content = json.loads(path.read_text())
        with Redis(folder).up() as redis:
            dump = databases(content)
            for number, keys in dump.items():
                redis.load(number, as_strings(keys))
            (batch,) = polls("sonic-redis", redis.url)
        assert batch["failure"] is None and values(batch) == expected(as_strings(dump[2]))
        blanks = sum(not str(value).isdigit() for keys in dump[2].values() for field, value in keys.items() if field in {**QUEUE, **PORT})
        return len(batch["readings"]), batch["refused"] + blanks, "every number compared with what redis holds"
    return read


def whole_dump(content):
    return {int(name.split()[0]): keys for name, keys in content.items()}


def name_map(content):
    """Only names: queues that have no counters give no readings, and that is no failure."""
    return {2: {"COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1"}, "COUNTERS_QUEUE_NAME_MAP": content,
                "COUNTERS:oid:0x1": {"SAI_PORT_STAT_IF_OUT_OCTETS": 1}}}


def queue_update(content):
    """The value of a gNMI update, which the decoder shared with gNMI must read from a database that holds it."""
    keys = {"COUNTERS_PORT_NAME_MAP": {"Ethernet68": "oid:0x1"}, "COUNTERS_QUEUE_NAME_MAP": {}}
    for name, fields in content.items():
        port, queue, *periodic = name.split(":")
        oid = f"oid:0x15{int(queue):04x}"
        keys["COUNTERS_QUEUE_NAME_MAP"][f"{port}:{queue}"] = oid
        keys[f"{'PERIODIC_WATERMARKS' if periodic else 'COUNTERS'}:{oid}"] = fields
    return {2: keys}


def read_map(switches, cables, nodes, unnamed=0, given="{}"):
    """Through aegisctl fabric import; `switches` and `cables` count in the text, nodes and those without a name were counted by hand."""
    def read(path, folder):
        done = subprocess.run([AEGISCTL, "fabric", "import", given.format(path), "--output", folder / "fabric.toml", "--dry-run", "--json"],
                              capture_output=True, text=True, timeout=60)
        document = json.loads(done.stdout)
        (found,) = document["inputs"]
        text = path.read_text()
        assert (found["switches"], found["cables"], found["nodes"]) == (switches(text), cables(text), nodes)
        hosts = sum(finding["kind"] == "unknown-host" for finding in document["findings"])
        assert hosts == unnamed
        return found["switches"] + found["nodes"] + found["cables"], hosts, \
            f"{found['format']}: {found['switches']} switches, {found['nodes']} nodes, {found['cables']} cables"
    return read


def refused(complaint):
    def read(path, folder):
        got, reason = printed("prometheus", path)
        done = subprocess.run([AEGISCTL, "fabric", "import", path, "--output", folder / "fabric.toml"], capture_output=True, text=True, timeout=60)
        assert got == [] and "expected" in reason
        assert done.returncode == 1 and complaint in done.stderr
        return 0, 0, "refused: no format that a source or aegisctl fabric import reads"
    return read


def matches(pattern):
    return lambda text: len(set(re.findall(pattern, text, re.MULTILINE)))


none = lambda text: 0
switch_names = matches(r"^SwitchName=(\S+)")


def infiniband_cables(text):
    """A cable between two switches stands in both their lists."""
    to_hosts = to_switches = 0
    for block in re.split(r"\n(?=Switch|Ca)", text):
        if re.search(r"^Switch\b", block, re.M):
            to_hosts += len(re.findall(r'^\[\d+\].*"H-', block, re.M))
            to_switches += len(re.findall(r'^\[\d+\].*"S-', block, re.M))
    return to_hosts + to_switches // 2


def listed_cables(text):
    """Of ibnetdiscover -p: "SW lid port guid width speed - SW|CA ..." """
    return len({frozenset(((m[1], m[2]), (m[4], m[5]))) for m in
                re.finditer(r"^(?:SW|CA)\s+(\d+)\s+(\d+)\s.* - (SW|CA)\s+(\d+)\s+(\d+)\s", text, re.M)})


NEIGHBOURS = lambda text: 2
READERS = {
    "prometheus/node_exporter-infiniband-qdisc.prom": read_samples("prometheus", readers.prometheus),
    "prometheus/promql-responses.json": read_answers,
    "otlp/cumulus-shape.json": read_samples("otlp-json", readers.otlp_json),
    "otlp/js-sdk-export.json": read_samples("otlp-json", readers.otlp_json),
    "otlp/js-sdk-export.pb": read_samples("otlp-protobuf", readers.otlp_protobuf),
    "sonic/counters_db.json": read_database(lambda content: {2: content}),
    "sonic/sonic-vs-redis-export.json": read_database(whole_dump),
    "sonic/gnmi_COUNTERS_QUEUE_NAME_MAP.json": read_database(name_map),
    "sonic/gnmi_Ethernet68_Queues_update.json": read_database(queue_update),
    "topology/topograph-tree.conf": read_map(switch_names, none, 96),
    "topology/slurm-3level-10000-nodes.conf": read_map(switch_names, none, 10_000),
    "topology/multi-topology.yaml": read_map(matches(r"- switch: (\S+)"), none, 4),
    "infiniband/ibnetdiscover-dgx-fabric.txt": read_map(matches(r'^Switch\s+\d+ "(\S+)"'), infiniband_cables, 39, 44),
    "infiniband/ibnetdiscover-p.txt": read_map(matches(r"\bSW\s+(\d+)"), listed_cables, 3),
    "infiniband/perfquery-x-leaf-2ports.txt": refused("expected topology.conf"),
    "lldp/lldpcli-json-two-neighbours.json": read_map(lambda text: 1, NEIGHBOURS, 1, given="node001={}"),
    "lldp/lldpcli-json0-two-neighbours.json": read_map(lambda text: 1, NEIGHBOURS, 1, given="node001={}"),
    "lldp/netq-topologyGraph.json": read_map(lambda text: 3, matches(r'"(\S+:\S+-\*-\S+:\S+)"'), 8),
}


def test_every_recorded_file_is_read_number_by_number_or_refused_in_words(tmp_path, report):
    folder = shared()
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != "SOURCES.md")
    assert files == sorted(READERS), "a file without a reader, or a reader without its file"
    report += ["", f"{'recorded file':46} {'samples':>8} {'unknown':>8}  what was done"]
    wrong = []
    for number, name in enumerate(files):
        scratch = tmp_path / str(number)
        scratch.mkdir()
        try:
            samples, unknowns, note = READERS[name](folder / name, scratch)
        except (AssertionError, ValueError, KeyError, AttributeError) as reason:
            wrong.append((name, reason))
            report.append(f"{name:46} {'WRONG':>17}  {type(reason).__name__}")
        else:
            report.append(f"{name:46} {samples:8} {unknowns:8}  {note}")
    if wrong:
        raise AssertionError("\n".join(f"{name}: {reason!r}" for name, reason in wrong)) from wrong[0][1]


@pytest.mark.parametrize("form, text", [
    ("prometheus", "<!DOCTYPE html>\n"), ("prometheus", 'a{b="c} 1\n'), ("openmetrics", "a 1\n"), ("promql", "[]"), ("promql", "{"),
    ("otlp-json", '{"resourceLogs":[]}'), ("otlp-json", '{"resourceMetrics":7}'), ("otlp-protobuf", "\n\x7f"),
])
def test_what_is_cut_short_or_something_else_is_refused_in_words(tmp_path, form, text):
    (tmp_path / "body").write_text(text)
    _, reason = printed(form, tmp_path / "body")
    assert len(reason) > 10
