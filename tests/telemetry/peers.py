"""Real peers for the telemetry tests: each is started in a folder of its own on its own port and stopped by its pid."""

import contextlib
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import time

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("AEGIS_BUILD", SOURCE / "build"))
PRINT_SOURCE = BUILD / "tests/telemetry/print_source"


def need(program):
    """Path of a peer's program; the test is skipped, by name, where the peer is not installed."""
    path = shutil.which(program)
    if not path:
        pytest.skip(f"{program} is not installed")
    return path


def shared(*parts):
    """A file of the shared fixtures; the test is skipped, by name, where they are not there."""
    folder = pathlib.Path(os.environ.get("AEGIS_SHARED", SOURCE.parent / "shared"))
    path = folder.joinpath("fixtures", "telemetry", *parts)
    if not path.exists():
        pytest.skip(f"{path} is not there (set AEGIS_SHARED)")
    return path


# In any order, so that tests that run beside these seldom meet them; each once, so that two peers never do.
CANDIDATE_PORTS = iter(random.sample(range(20_000, 32_000), 12_000))


def free_port():
    """A port that nothing listens on, from below those that the kernel gives to outgoing connections: it stays free until it is used."""
    for port in CANDIDATE_PORTS:
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def wait_until(true, what, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {seconds} s")


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@contextlib.contextmanager
def running(command, folder, **options):
    log = open(folder / "peer.log", "ab")
    process = subprocess.Popen([str(word) for word in command], cwd=folder, stdout=log, stderr=log, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        log.close()


class Redis:
    """A redis-server on a Unix socket and a loopback port, and just enough RESP to fill it."""

    def __init__(self, folder):
        self.folder, self.port, self.path = folder, free_port(), folder / "redis.sock"
        self.command = [need("redis-server"), "--port", self.port, "--bind", "127.0.0.1", "--unixsocket", self.path,
                        "--save", "", "--appendonly", "no", "--dir", folder]

    @contextlib.contextmanager
    def up(self):
        with running(self.command, self.folder) as self.process:
            wait_until(lambda: self.process.poll() is not None or (self.hears() and answers(self.port)), "redis-server listening")
            assert self.process.poll() is None, (self.folder / "peer.log").read_text()
            yield self

    def hears(self):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as peer:
            peer.connect(str(self.path))
            return True
        return False

    @property
    def url(self):
        return f"unix://{self.path}"

    def run(self, *commands):
        """Each command a list of words; all in one pipeline. Errors are raised."""
        out = b"".join(b"*%d\r\n" % len(c) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in
                       (str(word).encode() for word in c)) for c in commands)
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(str(self.path))
            peer.sendall(out + b"*1\r\n$4\r\nQUIT\r\n")
            answer = b""
            while chunk := peer.recv(65536):
                answer += chunk
        assert b"\r\n-" not in answer and not answer.startswith(b"-"), answer[:500]

    def load(self, database, keys):
        commands = [["SELECT", database]]
        for key, fields in keys.items():
            if not fields:
                continue
            commands.append(["HSET", key] + [word for pair in fields.items() for word in pair])
        self.run(*commands)


def polls(kind, url, count=1, interval_ms=100, *more):
    """What a source delivers: `count` batches."""
    with Printed(kind, url, count, interval_ms, *more) as source:
        return [source.batch() for _ in range(count)]


class Printed:
    """A source that runs while the test changes its peer."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([PRINT_SOURCE, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.series = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def batch(self):
        batch = json.loads(self.process.stdout.readline())
        self.series += batch["announced"]
        return batch

    def batch_when(self, wanted, what, tries=200):
        for _ in range(tries):
            batch = self.batch()
            if wanted(batch):
                return batch
        raise AssertionError(f"no batch in which {what}")


def values(batch, series=None):
    """{(switch, port, queue, signal, kind): value}"""
    series = series if series is not None else batch["announced"]
    out = {}
    for index, value, _ in batch["readings"]:
        s = series[index]
        out[s["switch"], s["port"], s["queue"], s["signal"], s["kind"]] = value
    return out
