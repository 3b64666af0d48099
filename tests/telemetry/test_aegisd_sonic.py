"""A SONiC switch through the real aegisd: the numbers of a real redis-server, and what is said of it when it is not well."""

import contextlib
import json
import os
import signal
import time

from daemon import aegisd, ports, source
from peers import Redis, shared, wait_until
from test_sonic_redis import as_strings, switch

PORTS = ports("leaf1", "Ethernet[0,4]", "400Gbit")
FRESHNESS = '[freshness]\nfresh = "1s"\nlagged = "2s"\nstale = "3s"\n'


def sonic(url, name="peer", **settings):
    return source("sonic", url, [], name=name, switch="leaf1", **settings)


def counters(keys, port, queue=None):
    """The hash of COUNTERS that a name stands for."""
    names = keys["COUNTERS_QUEUE_NAME_MAP"] if queue is not None else keys["COUNTERS_PORT_NAME_MAP"]
    return keys.get(f"COUNTERS:{names[port if queue is None else f'{port}:{queue}']}", {})


@contextlib.contextmanager
def redis_and_aegisd(folder, scalars="", **settings):
    redis = Redis(folder)
    with redis.up():
        redis.load(2, switch())
        with aegisd(folder, PORTS + sonic(redis.url, **settings), scalars=scalars) as daemon:
            wait_until(lambda: daemon.source()["polls"] and daemon.source()["state"] == "fresh", "the first values")
            yield redis, daemon


def test_what_redis_holds_is_what_aegisd_shows_and_records(tmp_path):
    keys = switch()
    with redis_and_aegisd(tmp_path) as (redis, daemon):
        state = daemon.source()
        assert (state["type"], state["series"], state["unmapped_series"], state["refused_samples"], state["failures"]) == ("sonic", 84, 0, 0, 0)
        for port in ("Ethernet0", "Ethernet4"):  # of all its queues, the deepest
            deepest = max(int(counters(keys, port, queue)[f"SAI_QUEUE_STAT_{kind}_BYTES"]) for queue in range(8)
                          for kind in ("SHARED_WATERMARK", "CURR_OCCUPANCY"))
            wait_until(lambda: daemon.links()[f"leaf1/{port}"]["depth_bytes"] == deepest, f"the depth of {port}, {deepest}")
        for queue in range(8):
            counters(keys, "Ethernet4", queue)["SAI_QUEUE_STAT_PACKETS"] += 1000 + queue
            counters(keys, "Ethernet4", queue)["SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS"] += 10 + queue
        counters(keys, "Ethernet4")["SAI_PORT_STAT_IF_OUT_OCTETS"] += 12345678
        counters(keys, "Ethernet4")["SAI_PORT_STAT_IF_OUT_DISCARDS"] += 17
        counters(keys, "Ethernet4")["SAI_PORT_STAT_PFC_3_RX_PKTS"] += 5
        polls = daemon.source()["polls"]
        redis.load(2, keys)
        wait_until(lambda: daemon.source()["polls"] > polls + 2, "the change being read")
        assert daemon.source()["events"]["reset"] == 0
        sums = daemon.recorded("leaf1/Ethernet4")
        assert sums == {"bytes": 12345678, "packets": sum(1000 + q for q in range(8)), "marked": sum(10 + q for q in range(8)),
                        "drops": 17, "pauses": 5, "waits": None}


def test_a_dump_of_sonic_utilities_is_shown_with_its_ports(tmp_path):
    keys = as_strings(json.loads(shared("sonic", "counters_db.json").read_text()))
    redis = Redis(tmp_path)
    with redis.up():
        redis.load(2, keys)
        with aegisd(tmp_path, PORTS + sonic(redis.url)) as daemon:
            wait_until(lambda: daemon.links()["leaf1/Ethernet0"]["depth_bytes"] is not None, "a depth of Ethernet0")
            depths = [int(value) for queue in range(30) if f"Ethernet0:{queue}" in keys["COUNTERS_QUEUE_NAME_MAP"]
                      for field, value in counters(keys, "Ethernet0", queue).items()
                      if field in ("SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", "SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES") and value.isdigit()]
            assert daemon.links()["leaf1/Ethernet0"]["depth_bytes"] == max(depths)
            unmapped = daemon.ask("fabric", "show")["unmapped_ports"]
            with_values = {f"leaf1/{port}" for port, oid in keys["COUNTERS_PORT_NAME_MAP"].items() if keys.get(f"COUNTERS:{oid}")}
            assert set(unmapped) >= with_values - {"leaf1/Ethernet0", "leaf1/Ethernet4"}


def test_two_asics_of_a_switch_are_two_sources_with_one_name(tmp_path):
    folders = [tmp_path / "asic0", tmp_path / "asic1"]
    for folder in folders:
        folder.mkdir()
    first, second = map(Redis, folders)
    with first.up(), second.up():
        whole = switch()
        for redis, port in ((first, "Ethernet0"), (second, "Ethernet4")):  # object ids may collide: each database is read by itself
            oid = whole["COUNTERS_PORT_NAME_MAP"][port]
            redis.load(2, {"COUNTERS_PORT_NAME_MAP": {port: "oid:0x1000000000001"}, "COUNTERS_QUEUE_NAME_MAP": {f"{port}:0": "oid:0x15"},
                           "COUNTERS:oid:0x1000000000001": whole[f"COUNTERS:{oid}"],
                           "COUNTERS:oid:0x15": {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": 1000 + int(port[-1])}})
        with aegisd(tmp_path, PORTS + sonic(first.url, "asic0") + sonic(second.url, "asic1")) as daemon:
            depths = lambda: [daemon.links()[f"leaf1/{port}"]["depth_bytes"] for port in ("Ethernet0", "Ethernet4")]
            wait_until(lambda: depths() == [1000, 1004], "the depths of both ASICs")


def test_aliases_map_ports_as_lldp_names_them(tmp_path):
    redis = Redis(tmp_path)
    with redis.up():
        redis.load(2, switch(ports=1))
        redis.load(0, {"PORT_TABLE:Ethernet0": {"alias": "etp1"}})
        with aegisd(tmp_path, ports("leaf1", "etp1", "400Gbit") + sonic(redis.url, port_names="alias")) as daemon:
            wait_until(lambda: daemon.links()["leaf1/etp1"]["known"], "the port by its alias")
            assert daemon.source()["unmapped_series"] == 0


def test_a_killed_redis_goes_stale_and_one_with_counters_at_zero_is_a_reset_not_traffic(tmp_path):
    with redis_and_aegisd(tmp_path, FRESHNESS) as (redis, daemon):
        os.kill(redis.process.pid, signal.SIGKILL)
        redis.process.wait()
        wait_until(lambda: daemon.source()["state"] == "stale", "the source going stale")
        wait_until(lambda: daemon.source()["state"] == "dark", "the source going dark")
        assert "connection" in daemon.source()["last_failure"]
        redis.path.unlink(missing_ok=True)
        with redis.up():
            restarted = switch()
            for name, fields in restarted.items():
                if name.startswith("COUNTERS:"):
                    restarted[name] = {field: 0 for field in fields}
            redis.load(2, restarted)
            wait_until(lambda: daemon.source()["state"] == "fresh", "the source being fresh again")
            wait_until(lambda: daemon.source()["events"]["reset"] > 0, "the reset")
            assert daemon.source()["events"]["implausible"] == 0
            assert all(link["load"] == 0 and link["mark_rate"] == 0 for link in daemon.links().values())
        sums = daemon.recorded("leaf1/Ethernet0")
        assert sums["bytes"] in (0, None) and sums["packets"] in (0, None)


def test_a_hung_redis_costs_the_engine_nothing(tmp_path):
    with redis_and_aegisd(tmp_path, FRESHNESS) as (redis, daemon):
        os.kill(redis.process.pid, signal.SIGSTOP)
        try:
            wait_until(lambda: "within 400 ms" in (daemon.source()["last_failure"] or ""), "the time-out being told")
            wait_until(lambda: daemon.source()["state"] in ("stale", "dark"), "the source going stale")
            began = time.monotonic()
            assert daemon.ask("status")
            assert time.monotonic() - began < 1
        finally:
            os.kill(redis.process.pid, signal.SIGCONT)
        wait_until(lambda: daemon.source()["state"] == "fresh", "the source being fresh again")


def test_passwords_are_sent_refused_and_mended_without_a_restart(tmp_path):
    secret = tmp_path / "password"
    secret.write_text("wrong\n")
    redis = Redis(tmp_path)
    redis.command += ["--requirepass", "right"]
    with redis.up():
        redis.run(["AUTH", "right"], ["SELECT", 2], *[["HSET", key, *[word for pair in fields.items() for word in pair]]
                                                       for key, fields in switch().items()])
        with aegisd(tmp_path, PORTS + sonic(redis.url) + sonic(redis.url, "guest", password_file=str(secret))
                    + sonic(redis.url, "named", username="default", password_file=str(secret))) as daemon:
            wait_until(lambda: "NOAUTH" in (daemon.source()["last_failure"] or ""), "no password being told")
            for name in ("guest", "named"):
                wait_until(lambda: "WRONGPASS" in (daemon.source(name)["last_failure"] or ""), "the wrong password being told")
            secret.write_text("right\n")
            for name in ("guest", "named"):
                wait_until(lambda: daemon.source(name)["state"] == "fresh", "the right password being taken")
            secret.unlink()
            os.kill(redis.process.pid, signal.SIGSTOP)
            wait_until(lambda: "within 400 ms" in daemon.source("guest")["last_failure"], "the connection being given up")
            os.kill(redis.process.pid, signal.SIGCONT)
            wait_until(lambda: str(secret) in daemon.source("guest")["last_failure"], "the missing file being named")
        assert "right" not in (tmp_path / "peer.log").read_text().replace("without the right", "")
