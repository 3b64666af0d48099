"""The protocol of lib/wire.h in Python, written from aegis-protocol(7) and not from wire.c.

For tests that play aegisd towards the plugin or the plugin towards aegisd, well-behaved or not.
encode_*() return whole frames (bytes); decode() takes a frame's type and payload and returns a
dict. Nothing here refuses to encode a wrong message: sending those is what tests are for.
Node sets are (count, set of indices).
"""

import socket
import struct
import time

MAGIC = b"AEGS"
VERSION = 2
HEADER = struct.Struct("<4sHHIQ")

HELLO, WELCOME, ASK, ADVICE, OUTCOME, JOB_BEGIN, JOB_END, PING, PONG, CALM = range(1, 11)
TYPE_NAMES = ["", "HELLO", "WELCOME", "ASK", "ADVICE", "OUTCOME", "JOB_BEGIN", "JOB_END", "PING", "PONG", "CALM"]
MODE_OFF, MODE_OBSERVE, MODE_STEER = range(3)
ACCEPTED, REFUSED_VERSION, REFUSED_NODE_TABLE = range(3)
KEEP, PLANS = range(2)
RESULT_KEPT, RESULT_PLAN_1, RESULT_PLAN_2, RESULT_RESTORED, RESULT_LOST = range(5)
ASK_HAS_IDLE, ASK_KEPT = 2, 4
BUCKETS = 16
COUNTERS = (
    "job_tests asks kept_unasked advice_keep advice_plans plans_accepted plans_refused restored losses timeouts late_answers "
    "send_failures malformed breaker_opened connects events_dropped added_us_total added_us_max"
).split()


class WireError(Exception):
    """The peer sent something that aegis-protocol(7) does not allow."""


def table_hash(table, node_count):
    """FNV-1a, 64 bits, of the table text and the little-endian count."""
    value = 0xCBF29CE484222325
    for byte in table.encode() + struct.pack("<I", node_count):
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def expand(table):
    """Names in index order of a HELLO's node table; "" for an index without a node."""
    names = []
    for item in table.split(",") if table else []:
        if item == "-":
            names.append("")
        elif item.endswith("]"):
            prefix, span = item[:-1].split("[")
            low, _, high = span.partition("-")
            names += [f"{prefix}{n:0{len(low)}}" for n in range(int(low), int(high or low) + 1)]
        else:
            names.append(item)
    return names


def frame(kind, payload=b"", request=0, version=VERSION, magic=MAGIC, length=None):
    return HEADER.pack(magic, version, kind, len(payload) if length is None else length, request) + payload


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<I", len(data)) + data


def nodes(count, members):
    bits = bytearray((count + 7) // 8)
    for i in members:
        bits[i // 8] |= 1 << i % 8
    return struct.pack("<I", count) + bytes(bits)


def encode_hello(table, node_count, slurm_version=0x160508, pid=1, release="test", hash=None):
    value = table_hash(table, node_count) if hash is None else hash
    return frame(HELLO, struct.pack("<IIQI", slurm_version, pid, value, node_count) + text(release) + text(table))


def encode_welcome(table_hash, mode=MODE_STEER, status=ACCEPTED, deadline_us=2000, lease_ms=5000):
    return frame(WELCOME, struct.pack("<BBIIQ", status, mode, deadline_us, lease_ms, table_hash))


def encode_ask(request, table_hash, candidates, s1, job_key="1", job_id=1, min_nodes=1, max_nodes=1, req_nodes=1,
               facts="", idle=None, flags=None, time_us=0):
    """candidates, s1 and idle are (count, indices)."""
    if flags is None:
        flags = 0 if idle is None else ASK_HAS_IDLE
    payload = struct.pack("<QIIII", table_hash, min_nodes, max_nodes, req_nodes, flags) + text(job_key)
    payload += struct.pack("<IQ", job_id, time_us) + text(facts)
    payload += nodes(*candidates) + nodes(*s1) + nodes(*(idle or (0, ())))
    return frame(ASK, payload, request)


def encode_advice(request, plans=(), decision=1, verdict=None):
    """plans are (count, indices); none is the advice to keep."""
    verdict = (PLANS if plans else KEEP) if verdict is None else verdict
    payload = struct.pack("<QBB", decision, verdict, len(plans)) + b"".join(nodes(*plan) for plan in plans)
    return frame(ADVICE, payload, request)


def encode_calm(table_hash, calm, inviting, valid_ms=2500):
    """calm and inviting are (count, indices)."""
    return frame(CALM, struct.pack("<QI", table_hash, valid_ms) + nodes(*calm) + nodes(*inviting))


def encode_outcome(decision, result=RESULT_KEPT, inner_calls=1, s1_rc=0, final_rc=0, waited_us=0, chosen=(0, ())):
    return frame(OUTCOME, struct.pack("<QBBiiI", decision, result, inner_calls, s1_rc, final_rc, waited_us) +
                 nodes(*chosen))


def encode_job_event(kind, job_key, job_id, time_us=None):
    when = int(time.time() * 1e6) if time_us is None else time_us
    return frame(kind, text(job_key) + struct.pack("<IQ", job_id, when))


def encode_ping(request, **counters):
    values = [counters.get(name, 0) for name in COUNTERS] + list(counters.get("added_us", [0] * BUCKETS))
    tail = [counters.get("breaker_open", 0), counters.get("breaker_wait_ms", 0)]
    return frame(PING, struct.pack(f"<{len(values)}QII", *values, *tail), request)


def encode_pong(request):
    return frame(PONG, request=request)


class Reader:
    def __init__(self, payload):
        self.payload, self.at = payload, 0

    def take(self, size):
        if self.at + size > len(self.payload):
            raise WireError("payload too short")
        self.at += size
        return self.payload[self.at - size:self.at]

    def unpack(self, layout):
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def text(self):
        return self.take(self.unpack("I")[0]).decode(errors="surrogateescape")

    def nodes(self):
        count, = self.unpack("I")
        bits = self.take((count + 7) // 8)
        members = {i for i in range(len(bits) * 8) if bits[i // 8] >> i % 8 & 1}
        if members and max(members) >= count:
            raise WireError("spare bits are set")
        return count, members


def decode(kind, payload):
    r, out = Reader(payload), {}

    def fields(layout, *names):
        out.update(zip(names, r.unpack(layout)))

    if kind == HELLO:
        fields("IIQI", "slurm_version", "pid", "table_hash", "node_count")
        out["release"], out["node_table"] = r.text(), r.text()
    elif kind == WELCOME:
        fields("BBIIQ", "status", "mode", "deadline_us", "lease_ms", "table_hash")
    elif kind == ASK:
        fields("QIIII", "table_hash", "min_nodes", "max_nodes", "req_nodes", "flags")
        out["job_key"] = r.text()
        fields("IQ", "job_id", "time_us")
        out["facts"] = r.text()
        out["candidates"], out["s1"], out["idle"] = r.nodes(), r.nodes(), r.nodes()
    elif kind == ADVICE:
        fields("QBB", "decision", "verdict", "plan_count")
        out["plans"] = [r.nodes() for _ in range(out["plan_count"])]
    elif kind == CALM:
        fields("QI", "table_hash", "valid_ms")
        out["calm"], out["inviting"] = r.nodes(), r.nodes()
    elif kind == OUTCOME:
        fields("QBBiiI", "decision", "result", "inner_calls", "s1_rc", "final_rc", "waited_us")
        out["chosen"] = r.nodes()
    elif kind in (JOB_BEGIN, JOB_END):
        out["job_key"] = r.text()
        fields("IQ", "job_id", "time_us")
    elif kind == PING:
        fields(f"{len(COUNTERS)}Q", *COUNTERS)
        out["added_us"] = list(r.unpack(f"{BUCKETS}Q"))
        fields("II", "breaker_open", "breaker_wait_ms")
    elif kind != PONG:
        raise WireError(f"type {kind}")
    if r.at != len(payload):
        raise WireError("trailing bytes")
    return out


class Connection:
    """Frames over a connected socket. receive() gives (type, request, message), or None at the end of the stream."""

    def __init__(self, sock):
        self.sock, self.buffer = sock, b""

    @classmethod
    def connect(cls, path, timeout=5.0):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(timeout)
        sock.connect(str(path))
        return cls(sock)

    def send(self, data):
        self.sock.sendall(data)

    def receive(self):
        while True:
            if len(self.buffer) >= HEADER.size:
                magic, version, kind, length, request = HEADER.unpack(self.buffer[:HEADER.size])
                if magic != MAGIC or version != VERSION:
                    raise WireError(f"header {self.buffer[:HEADER.size]!r}")
                end = HEADER.size + length
                if len(self.buffer) >= end:
                    payload, self.buffer = self.buffer[HEADER.size:end], self.buffer[end:]
                    return kind, request, decode(kind, payload)
            data = self.sock.recv(1 << 20)
            if not data:
                return None
            self.buffer += data

    def close(self):
        self.sock.close()
