"""aegisctl fabric, run as an administrator would."""

import json
import os
import pathlib
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAGE = pathlib.Path(os.environ.get("AEGIS_STAGE") or
                     pathlib.Path(os.environ.get("AEGIS_BUILD") or ROOT / "build") / "stage")


def fabric(*arguments, stdin=None):
    return subprocess.run([STAGE / "bin" / "aegisctl", "fabric", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          input=stdin)


def imported(output, *arguments, stdin=None):
    """Runs import, which must succeed, and returns its document."""
    done = fabric("import", *arguments, "--output", output, "--json", stdin=stdin)
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


def checked(*arguments, stdin=None):
    """(exit status, document) of check."""
    done = fabric("check", *arguments, "--json", stdin=stdin)
    assert done.stderr == "", done
    return done.returncode, json.loads(done.stdout)


def findings(document, kind):
    return [finding for finding in document["findings"] if finding["kind"] == kind]


def expand(text):
    """A hostlist with at most one bracket a name; tests/slurm has the full story, Slurm itself the last word."""
    names, rest = [], text
    while rest:
        depth = end = 0
        for end, letter in enumerate(rest + ","):
            depth += (letter == "[") - (letter == "]")
            if letter == "," and depth == 0:
                break
        name, rest = rest[:end], rest[end + 1:]
        before, bracket, inside = name.partition("[")
        if not bracket:
            names.append(name)
            continue
        inside, _, after = inside.partition("]")
        for part in inside.split(","):
            first, _, last = part.partition("-")
            names += [f"{before}{number:0{len(first)}}{after}" for number in range(int(first), int(last or first) + 1)]
    return names


def port_table(file):
    """{(switch, port): (leaves, kind, rate)} of a port table, read by Python's own TOML."""
    table = {}
    for group in tomllib.loads(pathlib.Path(file).read_text(encoding="utf-8")).get("ports", []):
        leaves = frozenset(expand(group["leaf"]))
        for port in expand(group["ports"]):
            assert (group["switch"], port) not in table
            table[group["switch"], port] = (leaves, group.get("kind", "trunk"), group.get("rate"))
    return table
