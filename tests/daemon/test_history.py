"""What the links did: telemetry.db written by a real aegisd."""

import sqlite3

from harness import Plugin, wait_for


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
