"""What aegisd makes of peers that break the protocol: closed, counted, unharmed."""

import os
import random
import struct

import pytest

import wire
from harness import NODES, TABLE, Plugin, wait_for

GOOD_HASH = wire.table_hash(TABLE, NODES)


def good_ask(**changes):
    arguments = {"request": 1, "table_hash": GOOD_HASH, "candidates": (NODES, range(8)), "s1": (NODES, {0})}
    return wire.encode_ask(**{**arguments, **changes})


def with_length(frame, length):
    return frame[:8] + struct.pack("<I", length) + frame[12:]


def truncated_inside(frame):
    """A frame whose header and length agree, but whose fields need more."""
    return wire.frame(struct.unpack("<H", frame[6:8])[0], frame[wire.HEADER.size:-3], 1)


BEFORE_HELLO = {
    "wrong magic": wire.frame(wire.HELLO, b"x" * 40, magic=b"HTTP"),
    "an HTTP request": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4,
    "unknown type": wire.frame(99),
    "type 0": wire.frame(0),
    "oversize": wire.frame(wire.HELLO, length=0xFFFFFFFF),
    "one over the bound": wire.frame(wire.HELLO, length=4194304 + 4097),
    "wrong version": wire.frame(wire.HELLO, b"", version=2),
    "version 0": wire.frame(wire.PING, b"", version=0),
    "ask before hello": good_ask(),
    "ping before hello": wire.encode_ping(1),
    "empty hello": wire.frame(wire.HELLO),
    "hello cut short": truncated_inside(wire.encode_hello(TABLE, NODES)),
    "hello with trailing bytes": wire.frame(wire.HELLO, wire.encode_hello(TABLE, NODES)[wire.HEADER.size:] + b"!"),
    "hello with too many nodes": wire.encode_hello(TABLE, 131073),
}

AFTER_HELLO = {
    "ask cut short": truncated_inside(good_ask()),
    "ask with trailing bytes": wire.frame(wire.ASK, good_ask()[wire.HEADER.size:] + b"\0", 1),
    "ask without chosen nodes": good_ask(s1=(NODES, ())),
    "chosen nodes that are no candidates": good_ask(candidates=(NODES, {1, 2}), s1=(NODES, {0})),
    "node set of another table": good_ask(candidates=(16, range(16)), s1=(16, {0})),
    "node sets of different sizes": good_ask(candidates=(NODES, range(8)), s1=(16, {0})),
    "idle of another size": good_ask(idle=(9, {0})),
    "spare bits set": wire.frame(wire.ASK, wire.encode_ask(1, GOOD_HASH, (7, {0}), (7, {0}))[wire.HEADER.size:-1] + b"\xff", 1),
    "job key too long": good_ask(job_key="9" * 64),
    "facts too long": good_ask(facts="A=" + "x" * 8192),
    "unknown flags": good_ask(flags=0x80000000),
    "outcome of no kind": wire.encode_outcome(1, result=9),
    "outcome with nodes of another table": wire.encode_outcome(1, chosen=(64, {1})),
    "ping cut short": truncated_inside(wire.encode_ping(1)),
    "job begin without key": wire.frame(wire.JOB_BEGIN, b"\x01\0\0\0"),
    "what only aegisd says": wire.encode_advice(1),
    "welcome": wire.encode_welcome(GOOD_HASH),
    "pong": wire.encode_pong(1),
}


def assert_unharmed(aegisd, refused_before, other):
    wait_for("the frame is counted", lambda: aegisd.frames_refused() == refused_before + 1)
    assert other.ask({0, 1})["decision"] > 0


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One daemon for all bad frames, and a well-behaved plugin beside them."""
    from harness import Aegisd
    daemon = Aegisd(tmp_path_factory.mktemp("frames")).start()
    other = Plugin(daemon.select_socket)
    yield daemon, other
    other.close()
    assert daemon.stop() == 0
    assert "Sanitizer" not in daemon.log() and "runtime error" not in daemon.log()


@pytest.mark.parametrize("frame", BEFORE_HELLO.values(), ids=BEFORE_HELLO.keys())
def test_a_bad_first_frame_is_refused_and_counted(shared, frame):
    daemon, other = shared
    refused = daemon.frames_refused()
    bad = Plugin(daemon.select_socket, greet=False)
    bad.connection.send(frame)
    version = struct.unpack("<H", frame[4:6])[0] if frame[:4] == wire.MAGIC else wire.VERSION
    if version != wire.VERSION:
        assert bad.expect(wire.WELCOME)["status"] == wire.REFUSED_VERSION
    assert bad.is_closed()
    assert_unharmed(daemon, refused, other)


@pytest.mark.parametrize("frame", AFTER_HELLO.values(), ids=AFTER_HELLO.keys())
def test_a_bad_later_frame_is_refused_and_counted(shared, frame):
    daemon, other = shared
    refused = daemon.frames_refused()
    bad = Plugin(daemon.select_socket)
    bad.connection.send(frame)
    assert bad.is_closed()
    assert_unharmed(daemon, refused, other)


@pytest.mark.parametrize("length", [1, 19, 20, 40, len(good_ask()) - 1])
def test_a_frame_that_ends_with_the_connection_harms_nothing(shared, length):
    daemon, other = shared
    asks = daemon.status()["asks"]
    cut = Plugin(daemon.select_socket)
    cut.connection.send(good_ask()[:length])
    cut.close()
    assert other.ask({0})["decision"] > 0
    assert daemon.status()["asks"] == asks + 1


def test_random_bytes_are_refused(shared):
    daemon, other = shared
    rng = random.Random(20250101)
    for _ in range(100):
        bad = Plugin(daemon.select_socket, greet=False)
        refused = daemon.frames_refused()
        bad.connection.send(rng.randbytes(rng.randrange(20, 3000)))
        assert bad.is_closed()
        assert daemon.frames_refused() == refused + 1
    assert other.ask({0})["decision"] > 0


def test_mutated_asks_are_answered_or_refused(shared):
    daemon, other = shared
    rng = random.Random(7)
    original = good_ask(facts="SLURM_JOB_NAME=train\nSLURM_JOB_USER=ann\n", idle=(NODES, {0, 1}))
    for _ in range(300):
        frame = bytearray(original)
        for _ in range(rng.randrange(1, 4)):
            frame[rng.randrange(wire.HEADER.size, len(frame))] = rng.randrange(256)
        bad = Plugin(daemon.select_socket)
        bad.connection.send(bytes(frame))
        received = bad.receive()
        assert received is None or received[0] == wire.ADVICE
        bad.close()
    assert other.ask({0})["decision"] > 0


def test_a_frame_in_single_bytes_is_answered(shared):
    daemon, _ = shared
    slow = Plugin(daemon.select_socket)
    for byte in good_ask():
        slow.connection.send(bytes([byte]))
    assert slow.expect(wire.ADVICE)["decision"] > 0
    slow.close()


def test_frames_in_one_write_are_answered_in_order(shared):
    daemon, _ = shared
    fast = Plugin(daemon.select_socket)
    fast.connection.send(b"".join(good_ask(request=i) for i in range(1, 51)))
    assert [fast.receive()[1] for _ in range(50)] == list(range(1, 51))
    fast.close()


def test_a_node_table_with_a_wrong_hash_is_asked_for_again(shared):
    daemon, _ = shared
    peer = Plugin(daemon.select_socket, greet=False)
    peer.connection.send(wire.encode_hello(TABLE, NODES, hash=1))
    assert peer.expect(wire.WELCOME)["status"] == wire.REFUSED_NODE_TABLE
    peer.connection.send(wire.encode_hello(TABLE, NODES))
    assert peer.expect(wire.WELCOME)["status"] == wire.ACCEPTED
    peer.close()


@pytest.mark.parametrize("table, count", [("n[0-7", 8), ("n[0-7]", 9), ("n[9-1]", 8)])
def test_a_node_table_that_is_no_hostlist_is_refused(shared, table, count):
    daemon, other = shared
    peer = Plugin(daemon.select_socket, greet=False)
    peer.connection.send(wire.encode_hello(table, count))
    assert peer.expect(wire.WELCOME)["status"] == wire.REFUSED_NODE_TABLE
    peer.close()
    assert other.ask({0})["decision"] > 0


def test_an_ask_for_another_table_is_kept_and_greeted_again(shared):
    daemon, _ = shared
    peer = Plugin(daemon.select_socket)
    peer.connection.send(good_ask(table_hash=GOOD_HASH ^ 1))
    advice = peer.expect(wire.ADVICE)
    assert (advice["decision"], advice["verdict"]) == (0, wire.KEEP)
    assert peer.expect(wire.WELCOME)["status"] == wire.REFUSED_NODE_TABLE
    peer.close()


def test_a_peer_that_does_not_read_its_answers_is_closed(shared):
    daemon, other = shared
    deaf = Plugin(daemon.select_socket)
    deaf.connection.sock.settimeout(0.5)
    before = daemon.resident_kib()
    with pytest.raises((BrokenPipeError, ConnectionResetError, TimeoutError)):
        while True:
            deaf.connection.send(wire.encode_ping(1) * 100)
    wait_for("the log tells", lambda: "does not read its answers" in daemon.log())
    assert daemon.resident_kib() - before < 64 << 10
    assert other.ask({0})["decision"] > 0
    deaf.close()


def test_connections_beyond_the_limit_are_refused(shared):
    daemon, other = shared
    peers = []
    refused = daemon.status()["protocol_errors"]["peers_refused"]
    for _ in range(40):
        peers.append(Plugin(daemon.select_socket, greet=False))
    wait_for("some are refused", lambda: daemon.status()["protocol_errors"]["peers_refused"] > refused)
    assert other.ask({0})["decision"] > 0
    for peer in peers:
        peer.close()
    wait_for("there is room again", lambda: not is_refused(daemon))


def is_refused(daemon):
    peer = Plugin(daemon.select_socket, greet=False)
    try:
        peer.connection.send(wire.encode_hello(TABLE, NODES))
        return peer.connection.receive() is None
    except OSError:
        return True
    finally:
        peer.close()


def test_a_table_of_many_nodes_is_accepted_and_asked_about(shared):
    daemon, _ = shared
    count = 131072
    big = Plugin(daemon.select_socket, table=f"n[0-{count - 1}]", count=count)
    assert big.ask({0, 1})["decision"] > 0
    big.close()


@pytest.mark.parametrize("line, told", [
    (b"nonsense\n", "not JSON"), (b"[1]\n", "not a JSON object"), (b"{}\n", "command"),
    (b'{"command":"dance"}\n', "dance"), (b'{"command":7}\n', "command"),
    (b'{"command":"mode","mode":"fast"}\n', "off, observe, steer"),
    (b'{"command":"decisions","limit":"many"}\n', "limit"), (b'{"command":"decisions","limit":0}\n', "limit"),
    (b'{"command":"explain"}\n', "job"), (b"[" * 5000 + b"\n", "not JSON"), (b"x" * 70000, "64 KiB"),
])
def test_a_bad_request_on_the_control_socket_is_answered_in_words(shared, line, told):
    import json
    import socket
    daemon, _ = shared
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(5)
        sock.connect(str(daemon.control_socket))
        sock.sendall(line)
        answer = json.loads(sock.makefile().readline())
    assert not answer["ok"] and answer["code"] == 1 and told in answer["error"]
    assert daemon.status()["pid"] == daemon.process.pid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
@pytest.mark.parametrize("mode", [0o600, 0o666])
def test_a_foreign_user_is_refused_by_the_file_and_by_the_peer_check(make_aegisd, tmp_path, mode):
    for folder in [tmp_path, *tmp_path.parents][:-1]:
        folder.chmod(folder.stat().st_mode | 0o011)
    daemon = make_aegisd().start()
    for path in (daemon.select_socket, daemon.control_socket):
        path.chmod(mode)
    assert as_nobody(lambda: try_select(daemon)) == ("EACCES" if mode == 0o600 else "closed")
    assert as_nobody(lambda: try_control(daemon)) == ("EACCES" if mode == 0o600 else "code 4")
    expected = 0 if mode == 0o600 else 2
    wait_for("peers are counted", lambda: daemon.status()["protocol_errors"]["peers_refused"] == expected)
    if mode == 0o666:
        assert "uid 65534" in daemon.log()
    assert Plugin(daemon.select_socket).ask({0})["decision"] > 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_slurm_user_may_connect_to_both_sockets(make_aegisd, tmp_path):
    import pwd
    for folder in [tmp_path, *tmp_path.parents][:-1]:
        folder.chmod(folder.stat().st_mode | 0o011)
    daemon = make_aegisd().start()
    slurm = pwd.getpwnam("slurm").pw_uid
    assert as_user(slurm, lambda: str(Plugin(daemon.select_socket).ask({0})["decision"] > 0)) == "True"
    assert as_user(slurm, lambda: daemon.status()["mode"]) == "observe"


def try_select(daemon):
    try:
        peer = Plugin(daemon.select_socket, greet=False)
        peer.connection.send(wire.encode_hello(TABLE, NODES))
        return "closed" if peer.is_closed() else "open"
    except PermissionError:
        return "EACCES"
    except (BrokenPipeError, ConnectionResetError):
        return "closed"


def try_control(daemon):
    from harness import ask_control
    try:
        return f"code {ask_control(daemon.control_socket, {'command': 'status'})['code']}"
    except PermissionError:
        return "EACCES"


def as_nobody(work):
    return as_user(65534, work)


def as_user(uid, work):
    """What work() returns in a child that has become `uid`."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(uid)
            os.write(writer, work().encode())
        except BaseException as error:
            os.write(writer, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return result
