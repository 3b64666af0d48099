"""What the links did: telemetry.db written by a real aegisd."""

import json
import os
import signal
import sqlite3
import subprocess
import time

from harness import STAGE, Plugin, wait_for


def rows(daemon, table="roll_up_10s"):
    connection = sqlite3.connect(f"file:{daemon.store}/telemetry.db?mode=ro", uri=True)
    try:
        return connection.execute(
            f"SELECT name, start_s, covered_us, bytes, packets, marked, depth_max, peak_bytes, pressure_max "
            f"FROM {table} JOIN link ON link.id = link ORDER BY start_s").fetchall()
    finally:
        connection.close()


def test_what_links_did_is_in_the_file_when_aegisd_has_ended(aegisd, exporter):
    exporter.heat("sw1")
    wait_for("a roll-up is written", lambda: aegisd.status()["history"]["rows_written"] > 0, 20)
    assert aegisd.status()["history"]["error"] is None
    assert aegisd.stop() == 0
    of_sw1 = [row for row in rows(aegisd) if row[0] == "sw1/swp1"]
    assert len(of_sw1) >= 2
    assert all(start % 10 == 0 and 0 < covered <= 10_500_000 for _, start, covered, *_ in of_sw1)
    # sums of ten seconds, those of five minutes, and what the exporter counted agree
    total = sum(row[3] for row in of_sw1)
    assert 0 < total <= exporter.total[("sw1", "swp1"), "bytes_total"]
    assert total == sum(row[3] for row in rows(aegisd, "roll_up_5min") if row[0] == "sw1/swp1")
    assert max(row[8] for row in of_sw1) > 0.5


def test_history_that_cannot_be_written_is_told_and_placement_goes_on(make_aegisd, exporter):
    daemon = make_aegisd(sources=[("exporter", exporter.url)])
    file = daemon.store / "telemetry.db"
    file.write_bytes(b"no database, and not empty either")
    daemon.start()
    history = wait_for("the error is told", lambda: (s := daemon.status()["history"])["error"] and s)
    assert not history["ok"] and history["error"].startswith(f"{file}: damaged")
    wait_for("rows wait", lambda: daemon.status()["history"]["rows_waiting"] > 0, 20)
    plugin = Plugin(daemon.select_socket)
    assert plugin.ask({0, 1}, job="1")["decision"] > 0
    plugin.close()
    assert file.read_bytes() == b"no database, and not empty either"
    assert daemon.log().count("history waits in memory") == 1
    file.unlink()
    wait_for("it heals by itself", lambda: daemon.status()["history"]["ok"] and daemon.status()["history"]["rows_written"] > 0)


def aegisctl(daemon, *arguments):
    return subprocess.run([STAGE / "bin" / "aegisctl", "--socket", daemon.control_socket, *map(str, arguments)], capture_output=True,
                          text=True, timeout=30, stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8"})


def test_the_most_pressed_link_comes_first(aegisd, exporter):
    exporter.heat("sw2")
    wait_for("tor2 is hot", lambda: aegisd.leaf("tor2")["pressure"] > 0.8)
    wait_for("a minute begins", lambda: any(v and v > 0.5 for v in aegisd.control("fabric_top")["links"][0]["recent_pressure"]))
    top = json.loads(aegisctl(aegisd, "fabric", "top", "--json").stdout)
    assert [link["link"] for link in top["links"]] == ["sw2/swp1", "sw1/swp1"]
    assert top["links"][0]["leaves"] == ["tor2"] and len(top["links"][0]["recent_pressure"]) == 60
    assert top["links"][0]["recent_pressure"][0] is None  # nothing was read a minute ago
    text = aegisctl(aegisd, "fabric", "top", "--limit", 1).stdout
    assert "of" in text.splitlines()[0] and "sw2/swp1" in text and "sw1/swp1" not in text
    assert "\u2588" in text or "\u2587" in text


def test_what_a_link_did_is_told_from_memory_and_from_the_file(aegisd, exporter):
    exporter.heat("sw1")
    wait_for("a roll-up is written", lambda: aegisd.status()["history"]["rows_written"] >= 4, 40)
    now = time.time()
    live = aegisd.control("history", link="sw1/swp1", step_s=1)
    assert live["from"] == "memory" and live["step_s"] == 1 and live["leaves"] == ["tor1"]
    known = [point for point in live["points"] if point["bytes"]]
    assert 10 <= len(known) <= 60
    assert known[-1]["depth_bytes"] is not None or known[-1]["depth_peak_bytes"] is not None
    assert live["points"][0]["bytes"] is None and live["points"][0]["pressure"] is None  # before aegisd was there: unknown, not zero
    stored = aegisd.control("history", link="sw1/swp1", since_us=int((now - 3600) * 1e6), step_s=10)
    assert stored["from"] == "telemetry.db"
    by_time = {point["time_us"]: point for point in stored["points"] if point["bytes"] is not None}
    # complete stretches agree, but for the rounding of seconds
    compared = 0
    for start, point in by_time.items():
        seconds = [p["bytes"] for p in live["points"] if start <= p["time_us"] < start + 10_000_000 and p["bytes"] is not None]
        if len(seconds) == 10:
            assert abs(sum(seconds) - point["bytes"]) <= 0.005 * point["bytes"] + 100
            compared += 1
    assert compared >= 1
    day = aegisd.control("history", link="sw1/swp1", since_us=int((now - 86400) * 1e6), step_s=3600)
    assert day["from"] == "telemetry.db" and day["width_s"] == 300
    assert sum(p["bytes"] or 0 for p in day["points"]) >= sum(p["bytes"] for p in by_time.values())
    text = aegisctl(aegisd, "fabric", "history", "sw1/swp1", "--since", "1m", "--step", "10s")
    assert text.returncode == 0 and text.stdout.startswith("sw1/swp1 of tor1, steps of 10s, from memory")


def test_a_history_that_cannot_be_told_says_why(aegisd):
    wait_for("the file is there", (aegisd.store / "telemetry.db").exists)
    nowhere = aegisctl(aegisd, "fabric", "history", "sw9/swp1", "--since", "1h")
    assert nowhere.returncode == 1 and "sw9/swp1: no such link" in nowhere.stderr
    fine = aegisctl(aegisd, "fabric", "history", "sw1/swp1", "--since", "1h", "--step", "7s")
    assert fine.returncode == 1 and "must be a multiple of 10 s" in fine.stderr
    many = aegisctl(aegisd, "fabric", "history", "sw1/swp1", "--since", "2d", "--step", "10s")
    assert many.returncode == 1 and "expected at most 2000" in many.stderr
    assert aegisctl(aegisd, "fabric", "history", "sw1/swp1", "--step", "0.5s").returncode == 2
    assert aegisctl(aegisd, "fabric", "history", "sw1/swp1", "--since", "soon").returncode == 2


def test_top_on_a_terminal_draws_again_until_it_is_interrupted(aegisd):
    master, terminal = os.openpty()
    top = subprocess.Popen([STAGE / "bin" / "aegisctl", "--socket", aegisd.control_socket, "fabric", "top"], stdin=terminal, stdout=terminal,
                           stderr=terminal, start_new_session=True)
    os.close(terminal)
    seen = b""

    def drawn_twice():
        nonlocal seen
        seen += os.read(master, 65536)
        return seen.count(b"\033[H") >= 2

    try:
        wait_for("it has drawn twice", drawn_twice, 20)
        assert top.poll() is None
    finally:
        top.send_signal(signal.SIGINT)
        top.wait(10)
        os.close(master)
    assert b"LAST MINUTE" in seen or b"no link has been measured yet" in seen
