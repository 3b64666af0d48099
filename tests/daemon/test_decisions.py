"""Asks, modes and what is remembered of them."""

import os
import signal
import sqlite3
import subprocess
import time

import pytest

import wire
from harness import NODES, Plugin, wait_for


def heat_tor1(daemon, exporter):
    exporter.heat("sw1")
    exporter.cool("sw2")
    wait_for("tor1 is hot and tor2 is not",
             lambda: daemon.leaf("tor1")["pressure"] > 0.8 and daemon.leaf("tor2")["confidence"] == 1
             and daemon.leaf("tor2")["pressure"] < 0.2)


@pytest.fixture
def steering(make_aegisd, exporter):
    daemon = make_aegisd(mode="steer", sources=[("exporter", exporter.url)]).start()
    heat_tor1(daemon, exporter)
    return daemon


def test_a_hot_leaf_is_avoided_in_mode_steer(steering):
    advice = Plugin(steering.select_socket).ask({0, 1}, job="11")
    assert advice["verdict"] == wire.PLANS
    assert advice["plans"][0] == (NODES, {4, 5, 6, 7})
    told = steering.control("explain", job="11")
    assert told["decision"] == advice["decision"] and told["offered"] and told["reason"] == "better_plan"
    detail = told["detail"]
    assert detail["s1"]["leaves"] == [{"leaf": "tor1", "nodes": 2}]
    assert detail["alternatives"][0]["leaves"] == [{"leaf": "tor2", "nodes": 2}]
    assert detail["alternatives"][0]["cost"] < detail["s1"]["cost"] - detail["margin"]
    tor1 = next(leaf for leaf in detail["leaves"] if leaf["leaf"] == "tor1")
    assert tor1["link"] == "sw1/swp1" and tor1["pressure"] > 0.8 and tor1["phi_e"] > 0.5 and tor1["freshness"] == "fresh"
    # the terms add up to the cost
    for placement in (detail["s1"], detail["alternatives"][0]):
        cost = sum(detail["weights"][name] * value for name, value in placement["features"].items())
        assert cost == pytest.approx(placement["cost"], abs=2e-3)


def test_mode_observe_records_the_plan_and_does_not_offer_it(steering):
    steering.control("mode", mode="observe", reason="test")
    advice = Plugin(steering.select_socket).ask({0, 1}, job="12")
    assert advice["verdict"] == wire.KEEP and advice["decision"] > 0
    told = steering.control("explain", job="12")
    assert (told["mode"], told["offered"], told["plans"], told["reason"]) == ("observe", False, 1, "better_plan")


def test_mode_off_answers_keep_and_records_nothing(steering):
    steering.control("mode", mode="off", reason="test")
    plugin = Plugin(steering.select_socket)
    assert plugin.welcome["mode"] == wire.MODE_OFF
    advice = plugin.ask({0, 1}, job="13")
    assert (advice["verdict"], advice["decision"]) == (wire.KEEP, 0)
    assert steering.control("decisions", job="13")["decisions"] == []


def test_the_policy_vanilla_keeps_always(make_aegisd, exporter):
    daemon = make_aegisd(mode="steer", policy="vanilla", sources=[("exporter", exporter.url)]).start()
    heat_tor1(daemon, exporter)
    assert Plugin(daemon.select_socket).ask({0, 1}, job="14")["verdict"] == wire.KEEP
    assert daemon.control("explain", job="14")["reason"] == "policy_keeps"


def test_a_mode_change_is_pushed_to_every_plugin(aegisd):
    plugins = [Plugin(aegisd.select_socket) for _ in range(3)]
    assert all(plugin.welcome["mode"] == wire.MODE_OBSERVE for plugin in plugins)
    change = aegisd.control("mode", mode="steer", reason="the night shift\nagreed")
    assert change == {"from": "observe", "to": "steer", "changed": True}
    for plugin in plugins:
        assert plugin.expect(wire.WELCOME)["mode"] == wire.MODE_STEER
    assert aegisd.status()["mode"] == "steer"


def test_a_dry_run_of_a_mode_change_changes_nothing(aegisd):
    assert aegisd.control("mode", mode="steer", dry_run=True) == {"from": "observe", "to": "steer", "changed": True}
    assert aegisd.status()["mode"] == "observe"
    assert aegisd.control("mode", mode="observe") == {"from": "observe", "to": "observe", "changed": False}


def test_mode_and_decisions_survive_kill_9(aegisd, plugin):
    aegisd.control("mode", mode="steer", reason="test")
    plugin.expect(wire.WELCOME)
    decisions = [plugin.ask({0}, job=str(job))["decision"] for job in range(100, 120)]
    aegisd.kill()
    aegisd.start()
    assert aegisd.status()["mode"] == "steer"
    rows = aegisd.control("decisions", limit=100)["decisions"]
    assert [row["decision"] for row in rows] == decisions[::-1]
    assert {row["mode"] for row in rows} == {"steer"}
    assert aegisd.status()["store"]["placements"] == 20
    assert Plugin(aegisd.select_socket).ask({0})["decision"] > max(decisions)


def test_a_decision_is_in_the_file_before_its_answer_arrives(aegisd, plugin):
    for job in range(1, 30):
        decision = plugin.ask({0, 1}, job=str(job), facts="SLURM_JOB_NAME=train\nSLURM_JOB_USER=ann\n"
                              "SLURM_JOB_ACCOUNT=physics\nSLURM_JOB_PARTITION=gpu\nODD\nSLURM_JOB_QOS=normal\n")["decision"]
        aegisd.signal(signal.SIGSTOP)  # it can add nothing now
        try:
            with sqlite3.connect(f"file:{aegisd.store}/decisions.db?mode=ro", uri=True) as database:
                assert str(job) in str(database.execute("select * from placement where id = ?", [decision]).fetchone())
        finally:
            aegisd.signal(signal.SIGCONT)
    row = aegisd.control("explain", decision=decision)
    assert (row["job_name"], row["user"], row["account"], row["partition"]) == ("train", "ann", "physics", "gpu")
    assert (row["s1"], row["nodes"], row["outcome"]) == ("n[0-1]", 2, None)


def test_outcome_begin_and_end_are_recorded_in_order(aegisd, plugin):
    decision = plugin.ask({0, 1}, job="21")["decision"]
    began = int(time.time() * 1e6)
    ended = began + 60_000_000
    plugin.connection.send(
        wire.encode_outcome(decision, result=wire.RESULT_PLAN_1, inner_calls=2, waited_us=321, chosen=(NODES, {4, 5}))
        + wire.encode_job_event(wire.JOB_BEGIN, "21", 21, time_us=began)
        + wire.encode_job_event(wire.JOB_END, "21", 21, time_us=ended)
        + wire.encode_outcome(decision, result=wire.RESULT_KEPT))
    row = wait_for("the end is recorded", lambda: (lambda r: r if r["ended_us"] else None)(aegisd.control("explain", job="21")))
    assert (row["began_us"], row["ended_us"]) == (began, ended)
    outcome = row["outcome"]
    assert (outcome["result"], outcome["nodes"], outcome["inner_calls"], outcome["waited_us"]) == ("plan_1", "n[4-5]", 2, 321)


def kept_report(plugin, node, job, **more):
    return wire.encode_ask(0, plugin.hash, (NODES, set(range(NODES))), (NODES, {node}), job_key=job, job_id=int(job),
                           flags=wire.ASK_KEPT, **more)


def test_calm_comes_with_the_welcome_and_follows_the_fabric(make_aegisd, exporter):
    daemon = make_aegisd(mode="steer", sources=[("exporter", exporter.url)])
    plugin = Plugin(daemon.start().select_socket)
    assert plugin.next_calm()["calm"] == (NODES, set(range(NODES))), "nothing is known yet, so nothing is better"
    heat_tor1(daemon, exporter)
    calm = wait_for("tor1 is no longer calm", lambda: (c := plugin.next_calm())["calm"] == (NODES, {4, 5, 6, 7}) and c)
    assert calm["inviting"] == (NODES, {4, 5, 6, 7})
    assert calm["table_hash"] == plugin.hash and calm["valid_ms"] == 2500
    began = time.monotonic()
    for _ in range(4):
        plugin.next_calm()
    assert time.monotonic() - began < 5, "at least once a second"


def test_calm_says_keep_for_certain(steering):
    """Jobs of one node: an ask where CALM keeps would be answered with keep, on a hot leaf with a calm one idle it is not."""
    plugin = Plugin(steering.select_socket)
    plugin.ping()
    calm, inviting = plugin.calm["calm"][1], plugin.calm["inviting"][1]
    for node in range(NODES):
        for idle in (set(range(NODES)), {0, 1, 2, 3}):
            advice = plugin.ask({node}, job="31", idle=(NODES, idle))
            keeps = node in calm or not idle & inviting
            assert (advice["verdict"] == wire.KEEP) == keeps, (node, idle)


def test_a_job_kept_by_calm_is_on_record_like_any_other(steering):
    plugin = Plugin(steering.select_socket)
    decided = int(time.time() * 1e6) - 20_000
    plugin.connection.send(kept_report(plugin, 5, "41", time_us=decided, facts="SLURM_JOB_NAME=train\nSLURM_JOB_USER=ann\n")
                           + wire.encode_job_event(wire.JOB_BEGIN, "41", 41, time_us=decided + 100))
    row = wait_for("its begin is recorded", lambda: (lambda r: r if r.get("began_us") else None)(steering.control("explain", job="41")))
    assert (row["time_us"], row["began_us"]) == (decided, decided + 100)
    assert (row["reason"], row["plans"], row["offered"], row["s1"], row["job_name"], row["user"]) == \
        ("no_calmer_leaf", 0, False, "n5", "train", "ann")
    assert (row["outcome"]["result"], row["outcome"]["nodes"], row["outcome"]["inner_calls"]) == ("kept", "n5", 1)
    assert row["detail"]["s1"]["leaves"] == [{"leaf": "tor2", "nodes": 1}] and row["detail"]["alternatives"] == []
    status = steering.status()
    assert (status["kept_unasked"], status["asks"]) == (1, 0)


def test_reports_of_kept_jobs_are_ignored_in_mode_off_and_for_another_table_and_refused_for_more_nodes(steering):
    plugin = Plugin(steering.select_socket)
    stale = wire.encode_ask(0, plugin.hash ^ 1, (NODES, {5}), (NODES, {5}), job_key="42", flags=wire.ASK_KEPT)
    plugin.connection.send(stale)
    plugin.ping()
    assert steering.status()["kept_unasked"] == 0
    steering.control("mode", mode="off", reason="test")
    plugin.expect(wire.WELCOME)
    plugin.connection.send(kept_report(plugin, 5, "43"))
    plugin.ping()
    assert steering.control("decisions", job="43")["decisions"] == []
    plugin.connection.send(wire.encode_ask(0, plugin.hash, (NODES, {4, 5}), (NODES, {4, 5}), flags=wire.ASK_KEPT))
    assert plugin.is_closed()
    assert steering.status()["protocol_errors"]["frames_refused"] == 1


def test_the_plugins_counters_are_shown(aegisd, plugin):
    plugin.ping(job_tests=5, asks=4, losses=0, timeouts=1, added_us=list(range(16)), breaker_open=1, breaker_wait_ms=5000)
    told = aegisd.status()["plugin"]
    assert told["connected"] and told["slurm_version"] == "22.05.8" and told["node_count"] == NODES
    assert told["node_table_hash"] == f"{plugin.hash:016x}"
    counters = told["counters"]
    assert (counters["job_tests"], counters["timeouts"], counters["breaker_open"]) == (5, 1, 1)
    assert counters["added_us"] == list(range(16))
    plugin.close()
    wait_for("it is shown as gone", lambda: not aegisd.status()["plugin"]["connected"])
    assert aegisd.status()["plugin"]["counters"]["job_tests"] == 5


def test_status_of_a_daemon_that_no_plugin_has_greeted(make_aegisd):
    status = make_aegisd().start().status()
    assert status["plugin"] is None and status["sources"] == [] and status["asks"] == 0
    assert status["store"]["ok"] and status["store"]["error"] is None


def test_policies_and_settings_are_listed(aegisd):
    policies = {policy["name"]: policy for policy in aegisd.control("policies")["policies"]}
    assert policies["default"]["in_force"] and not policies["vanilla"]["in_force"]
    assert sum(policies["default"]["weights"].values()) == pytest.approx(1)
    assert aegisd.status()["policy_hash"] == policies["default"]["hash"]
    settings = {setting["key"]: setting for setting in aegisd.control("config")["settings"]}
    assert settings["select.socket"]["value"] == str(aegisd.select_socket)
    assert settings["select.deadline"]["value"] == settings["select.deadline"]["default"] == "2ms"


def test_an_unknown_job_is_told_in_words(aegisd):
    from harness import ask_control
    answer = ask_control(aegisd.control_socket, {"command": "explain", "job": "4711"})
    assert not answer["ok"] and answer["code"] == 1 and "4711" in answer["error"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_means_keep_and_is_told_and_heals(make_aegisd, exporter, small_disk):
    daemon = make_aegisd(mode="steer", store=small_disk, sources=[("exporter", exporter.url)]).start()
    heat_tor1(daemon, exporter)
    plugin = Plugin(daemon.select_socket)
    assert plugin.ask({0, 1})["verdict"] == wire.PLANS

    with open(small_disk / "ballast", "wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(os.urandom(4096))
        except OSError:
            pass
    job = 1000

    def store_fails():
        nonlocal job
        job += 1
        advice = plugin.ask({0, 1}, job=str(job))
        if advice["decision"]:
            return False
        assert advice["verdict"] == wire.KEEP
        return True

    wait_for("the store fails", store_fails, timeout=30)
    status = daemon.status()
    assert not status["store"]["ok"] and "decisions.db" in status["store"]["error"]
    assert "full" in status["store"]["error"] or "space" in status["store"]["error"].lower()

    # An administrator can still stop us, but not make us steer unrecorded.
    assert daemon.control("mode", mode="off", reason="test")["changed"]
    assert plugin.expect(wire.WELCOME)["mode"] == wire.MODE_OFF
    from harness import ask_control
    assert not ask_control(daemon.control_socket, {"command": "mode", "mode": "steer"})["ok"]

    (small_disk / "ballast").unlink()
    assert daemon.control("mode", mode="steer", reason="test")["to"] == "steer"
    assert plugin.expect(wire.WELCOME)["mode"] == wire.MODE_STEER
    advice = plugin.ask({0, 1}, job="5000")
    assert advice["decision"] > 0 and advice["verdict"] == wire.PLANS
    assert daemon.status()["store"]["ok"]
