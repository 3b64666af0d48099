"""SONiC's COUNTERS_DB in a real redis-server: every value the source delivers is compared with what Redis holds."""

import json
import os
import signal
import socket
import subprocess
import threading
import time

import pytest
from peers import PRINT_SOURCE, Printed, Redis, polls, shared, values

QUEUE = {"SAI_QUEUE_STAT_PACKETS": ("packets", "counter"),
         "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": ("ecn_marked_packets", "counter"),
         "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": ("queue_depth", "peak"),
         "SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES": ("queue_depth", "snapshot")}
PORT = {"SAI_PORT_STAT_IF_OUT_OCTETS": ("bytes", "counter", None),
        "SAI_PORT_STAT_IF_OUT_DISCARDS": ("drops", "counter", None),
        **{f"SAI_PORT_STAT_PFC_{n}_RX_PKTS": ("pfc_pause", "counter", n) for n in range(8)}}


def switch(ports=2, queues=8):
    """Keys of a COUNTERS_DB in which every number is different."""
    keys = {"COUNTERS_PORT_NAME_MAP": {}, "COUNTERS_QUEUE_NAME_MAP": {}, "COUNTERS_QUEUE_PORT_MAP": {},
            "COUNTERS_QUEUE_INDEX_MAP": {}, "COUNTERS_QUEUE_TYPE_MAP": {}}
    number = 1000
    for p in range(ports):
        name, oid = f"Ethernet{4 * p}", f"oid:0x10000000{p:05x}"
        keys["COUNTERS_PORT_NAME_MAP"][name] = oid
        keys[f"COUNTERS:{oid}"] = {field: number + i for i, field in enumerate(PORT)}
        number += 100
        for q in range(queues):
            queue = f"oid:0x15000000{p:03x}{q:02x}"
            keys["COUNTERS_QUEUE_NAME_MAP"][f"{name}:{q}"] = queue
            keys["COUNTERS_QUEUE_PORT_MAP"][queue] = oid
            keys["COUNTERS_QUEUE_INDEX_MAP"][queue] = q
            keys["COUNTERS_QUEUE_TYPE_MAP"][queue] = "SAI_QUEUE_TYPE_UNICAST"
            keys[f"COUNTERS:{queue}"] = {field: number + i for i, field in enumerate(QUEUE)}
            number += 100
    return keys


def expected(keys):
    """The rules of lib/sonic_counters.h, written a second time and differently."""
    out = {}
    ports_with_packets, ports_with_marks = set(), set()
    numeric = lambda text: text is not None and str(text).isdigit()
    for name, oid in keys.get("COUNTERS_QUEUE_NAME_MAP", {}).items():
        port, queue = name.split(":")
        port_oid = keys.get("COUNTERS_QUEUE_PORT_MAP", {}).get(oid)
        if port_oid is not None and keys["COUNTERS_PORT_NAME_MAP"].get(port) != port_oid:
            continue
        fields = keys.get(f"COUNTERS:{oid}", {})
        for field, (name_, kind) in QUEUE.items():
            if numeric(fields.get(field)):
                out["leaf1", port, int(queue), name_, kind] = int(fields[field])
        if numeric(fields.get("SAI_QUEUE_STAT_PACKETS")):
            ports_with_packets.add(port)
        if numeric(fields.get("SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS")):
            ports_with_marks.add(port)
        if not numeric(fields.get("SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES")):
            periodic = keys.get(f"PERIODIC_WATERMARKS:{oid}", {}).get("SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES")
            if numeric(periodic):
                out["leaf1", port, int(queue), "queue_depth", "peak"] = int(periodic)
    for name, oid in keys.get("COUNTERS_VOQ_NAME_MAP", {}).items():
        host, port = name.split("|")[0], name.split("|")[-1]
        port, queue = port.split(":")
        for field in ("SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", "SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES"):
            value = keys.get(f"COUNTERS:{oid}", {}).get(field)
            if numeric(value):
                out[host, port, int(queue), *QUEUE[field]] = int(value)
    for port, oid in keys["COUNTERS_PORT_NAME_MAP"].items():
        fields = keys.get(f"COUNTERS:{oid}", {})
        for field, (name_, kind, queue) in PORT.items():
            if numeric(fields.get(field)):
                out["leaf1", port, queue, name_, kind] = int(fields[field])
        both = [fields.get(f"SAI_PORT_STAT_IF_OUT_{kind}_PKTS") for kind in ("UCAST", "NON_UCAST")]
        if port not in ports_with_packets and all(map(numeric, both)):
            out["leaf1", port, None, "packets", "counter"] = sum(map(int, both))
        if port not in ports_with_marks and numeric(fields.get("SAI_PORT_STAT_ECN_MARKED_PACKETS")):
            out["leaf1", port, None, "ecn_marked_packets", "counter"] = int(fields["SAI_PORT_STAT_ECN_MARKED_PACKETS"])
    return out


@pytest.fixture
def redis(tmp_path):
    with Redis(tmp_path).up() as server:
        yield server


def test_every_value_is_the_one_redis_holds_over_unix_socket_and_tcp(redis):
    keys = switch()
    redis.load(2, keys)
    for url in (redis.url, f"redis://127.0.0.1:{redis.port}"):
        (batch,) = polls("sonic-redis", url)
        assert batch["failure"] is None
        assert values(batch) == expected(keys)
        assert len(batch["readings"]) == 2 * (10 + 8 * 4)


def test_watermarks_fall_back_to_the_periodic_table_and_never_to_user_or_persistent(redis):
    keys = switch(ports=1, queues=2)
    first, second = (oid for key, oid in keys["COUNTERS_QUEUE_NAME_MAP"].items())
    for oid in (first, second):
        del keys[f"COUNTERS:{oid}"]["SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES"]
        for table in ("USER", "PERSISTENT"):
            keys[f"{table}_WATERMARKS:{oid}"] = {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": 999999}
    keys[f"PERIODIC_WATERMARKS:{first}"] = {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": 288}
    redis.load(2, keys)
    (batch,) = polls("sonic-redis", redis.url)
    peaks = {key: value for key, value in values(batch).items() if key[4] == "peak"}
    assert peaks == {("leaf1", "Ethernet0", 0, "queue_depth", "peak"): 288}


def test_capabilities_disabled_groups_and_aliases_are_read_from_their_databases(redis):
    redis.load(2, switch(ports=1, queues=1))
    redis.load(0, {"PORT_TABLE:Ethernet0": {"alias": "etp1"}})
    redis.load(4, {"FLEX_COUNTER_TABLE|QUEUE_WATERMARK": {"FLEX_COUNTER_STATUS": "disable"}})
    redis.load(6, {"QUEUE_COUNTER_CAPABILITIES|WRED_ECN_QUEUE_ECN_MARKED_PKT_COUNTER": {"isSupported": "false"}})
    (batch,) = polls("sonic-redis", redis.url, 1, 100, "alias")
    got = values(batch)
    assert {key[1] for key in got} == {"etp1"}
    assert {(key[3], key[4]) for key in got} == {("packets", "counter"), ("queue_depth", "snapshot"), ("bytes", "counter"),
                                                 ("drops", "counter"), ("pfc_pause", "counter")}


def test_after_a_breakout_the_new_queues_are_new_series_and_the_stale_ones_are_gone(redis):
    keys = switch(ports=1, queues=1)
    redis.load(2, keys)
    with Printed("sonic-redis", redis.url, 1000, 20) as source:
        assert values(source.batch(), source.series) == expected(keys)
        known = len(source.series)
        redis.run(["SELECT", 2], ["DEL", "COUNTERS_PORT_NAME_MAP", "COUNTERS_QUEUE_NAME_MAP"])
        after = {"COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1000000000aaa"},
                 "COUNTERS_QUEUE_NAME_MAP": {"Ethernet0:0": "oid:0x1500000000bbb"},
                 "COUNTERS:oid:0x1000000000aaa": {"SAI_PORT_STAT_IF_OUT_OCTETS": 10**12},
                 "COUNTERS:oid:0x1500000000bbb": {"SAI_QUEUE_STAT_PACKETS": 10**9}}
        redis.load(2, after)
        batch = source.batch_when(lambda b: not b["failure"] and len(b["readings"]) == 2, "only the new port is left")
        assert all(index >= known for index, _, _ in batch["readings"])
        assert values(batch, source.series) == expected(after)


def test_values_are_dated_by_the_switch_and_not_delivered_twice(redis):
    keys = switch(ports=1, queues=1)
    second = 10**9
    stamps = {"PORT_STAT_COUNTER_Port_Counter_time_stamp": 5000 * second,
              "QUEUE_STAT_COUNTER_Queue_Counter_time_stamp": 4400 * second}
    redis.load(2, {**keys, "COUNTERS:TIME_STAMP": stamps})
    with Printed("sonic-redis", redis.url, 1000, 20) as source:
        batch = source.batch()
        ages = {source.series[i]["signal"]: (batch["polled_at_us"] - time_us) / 1e6 for i, _, time_us in batch["readings"]}
        assert ages["bytes"] == 0
        assert ages["packets"] == ages["ecn_marked_packets"] == 600  # ten minutes old, seen at the first poll
        batch = source.batch()
        assert {source.series[i]["signal"] for i, _, _ in batch["readings"]} == {"queue_depth"}  # not stamped here


def test_a_server_that_goes_away_is_a_failure_and_is_found_again(tmp_path):
    keys = switch()
    redis = Redis(tmp_path)
    with redis.up():
        redis.load(2, keys)
        with Printed("sonic-redis", redis.url, 100000, 20) as source:
            assert source.batch()["failure"] is None
            os.kill(redis.process.pid, signal.SIGKILL)
            redis.process.wait()
            failed = source.batch_when(lambda b: b["failure"], "the source says that the server is gone")
            assert failed["readings"] == []
            redis.path.unlink(missing_ok=True)
            with redis.up():
                source.batch_when(lambda b: b["failure"] and "COUNTERS_PORT_NAME_MAP" in b["failure"],
                                  "the server is there but empty", tries=2000)
                redis.load(2, keys)
                batch = source.batch_when(lambda b: not b["failure"] and len(b["readings"]) == 2 * (10 + 8 * 4), "all is well")
                assert values(batch, source.series) == expected(keys)


def test_a_server_that_hangs_costs_no_more_than_the_timeout(redis):
    redis.load(2, switch())
    with Printed("sonic-redis", redis.url, 1000, 20) as source:
        assert source.batch()["failure"] is None
        os.kill(redis.process.pid, signal.SIGSTOP)
        began = time.monotonic()
        failed = source.batch_when(lambda b: b["failure"], "the source gives up")
        took = time.monotonic() - began
        os.kill(redis.process.pid, signal.SIGCONT)
        assert "800 ms" in failed["failure"]
        assert took < 2
        source.batch_when(lambda b: not b["failure"], "the server is back")


@pytest.mark.parametrize("answer, complaint", [
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "not an answer of a Redis server"),
    (b"-NOAUTH Authentication required.\r\n" * 7, "NOAUTH"),
    (b"*2000000000\r\n", "not an answer of a Redis server"),
    (b"+OK\r\n*1\r\n*1\r\n*1\r\n$1\r\nx\r\n", "not an answer of a Redis server"),
    (b"+OK\r\n$536870912\r\n" + b"x" * (70 << 20), "over the limit"),
], ids=["http", "password", "huge array", "nested", "endless text"])
def test_a_peer_that_is_no_sonic_database_is_refused_in_words(tmp_path, answer, complaint):
    path = tmp_path / "peer.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve():
            peer, _ = listener.accept()
            peer.recv(65536)
            try:
                peer.sendall(answer)
                peer.recv(65536)
            except OSError:
                pass
            peer.close()

        thread = threading.Thread(target=serve)
        thread.start()
        (batch,) = polls("sonic-redis", f"unix://{path}")
        thread.join()
    assert complaint in batch["failure"]
    assert batch["readings"] == []


def as_strings(keys):
    return {key: {field: str(value) for field, value in fields.items()} for key, fields in keys.items()}


def test_the_counters_of_sonic_utilities_are_read_number_by_number(redis):
    keys = as_strings(json.loads(shared("sonic", "counters_db.json").read_text()))
    redis.load(2, keys)
    (batch,) = polls("sonic-redis", redis.url)
    got = values(batch)
    assert got == expected(keys)
    assert got["leaf1", "Ethernet0", 1, "ecn_marked_packets", "counter"] == 39
    assert got["leaf1", "Ethernet0", 1, "queue_depth", "peak"] == 88
    print(f"\ncounters_db.json: {len(got)} readings, {batch['refused']} refused")


def test_an_image_without_buffers_still_gives_its_port_counters(redis):
    dump = json.loads(shared("sonic", "sonic-vs-redis-export.json").read_text())
    for name, keys in dump.items():
        redis.load(int(name.split()[0]), as_strings(keys))
    counters = dump["2 COUNTERS_DB"]
    (batch,) = polls("sonic-redis", redis.url)
    got = values(batch)
    assert got == expected(as_strings(counters))
    assert {key[1] for key in got} == set(counters["COUNTERS_PORT_NAME_MAP"])
    (aliased,) = polls("sonic-redis", redis.url, 1, 100, "alias")
    assert ("leaf1", "twentyfiveGigE1", None, "bytes", "counter") in values(aliased)
    print(f"\nsonic-vs-redis-export.json: {len(got)} readings, {batch['refused']} refused, no queue map")


def test_a_switch_with_64_ports_and_8_queues_is_read_in_15_ms(redis):
    keys = switch(ports=64, queues=8)
    redis.load(2, keys)
    batches = polls("sonic-redis", redis.url, 41, 20)
    assert values(batches[0]) == expected(keys)
    assert all(len(batch["readings"]) == len(expected(keys)) for batch in batches)
    took = sorted(batch["poll_ms"] for batch in batches[1:])
    print(f"\n64 ports x 8 queues over a Unix socket: median {took[20]:.1f} ms, p95 {took[37]:.1f} ms, "
          f"{len(batches[0]['readings'])} readings")
    assert took[20] <= 15
