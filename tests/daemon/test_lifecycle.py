"""How aegisd starts, reloads and ends."""

import os
import pwd
import signal
import socket
import stat
import subprocess
import time

import pytest

import wire
from harness import AEGISD, Plugin, wait_for


def check(daemon, *more):
    return subprocess.run([AEGISD, "--check-config", "--config", daemon.config_file, *more], capture_output=True, text=True)


def test_check_config_of_a_good_file_exits_0(make_aegisd):
    result = check(make_aegisd())
    assert (result.returncode, result.stderr) == (0, "")
    assert "ok" in result.stdout


@pytest.mark.parametrize("line, told", [
    ('[log]\ncolour = "red"\n', "colour"),
    ('[[ports]]\nswitch = "sw1"\nports = "swp1"\nleaf = "tor2"\n', "swp1"),
    ('[[ports]]\nswitch = "sw9"\nports = "swp1"\nleaf = "tor9"\n', "tor9"),
])
def test_check_config_names_file_and_key_of_an_error_and_exits_1(make_aegisd, line, told):
    daemon = make_aegisd()
    text = daemon.config_file.read_text().replace('[log]\nlevel = "debug"\n', "")
    daemon.config_file.write_text(text + line)
    result = check(daemon)
    assert result.returncode == 1
    assert f"{daemon.config_file}:" in result.stderr and told in result.stderr and "expected" in result.stderr


def test_check_config_of_a_missing_file_exits_1_and_names_it(make_aegisd):
    daemon = make_aegisd()
    (daemon.run / "topology.conf").unlink()
    result = check(daemon)
    assert result.returncode == 1 and "topology.conf" in result.stderr
    daemon.config_file.unlink()
    result = check(daemon)
    assert result.returncode == 1 and str(daemon.config_file) in result.stderr


def test_check_config_reports_a_node_on_two_leaves_with_its_line(make_aegisd):
    daemon = make_aegisd()
    (daemon.run / "topology.conf").write_text("SwitchName=tor1 Nodes=n[0-3]\nSwitchName=tor2 Nodes=n[3-7]\n")
    result = check(daemon)
    assert result.returncode == 1
    assert "topology.conf:2" in result.stderr and "n3" in result.stderr


def test_an_unknown_option_exits_2(make_aegisd):
    assert check(make_aegisd(), "--frobnicate").returncode == 2


def test_version_exits_0():
    result = subprocess.run([AEGISD, "--version"], capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.startswith("aegisd ")


def test_a_bad_configuration_does_not_start(make_aegisd):
    daemon = make_aegisd()
    daemon.config_file.write_text("[select]\ndeadline = 7\n")
    daemon.start(wait=False)
    assert daemon.process.wait(10) == 1
    assert "select.deadline" in daemon.log() and "not started" in daemon.log()
    assert not daemon.select_socket.exists()


def test_sigterm_ends_with_0_and_removes_the_sockets(aegisd):
    assert aegisd.select_socket.exists() and aegisd.control_socket.exists()
    assert aegisd.stop() == 0
    assert not aegisd.select_socket.exists() and not aegisd.control_socket.exists()


def test_sigterm_answers_the_ask_that_has_arrived(aegisd, plugin):
    # Frozen, so that ask and SIGTERM are both there when it runs again.
    aegisd.signal(signal.SIGSTOP)
    for job in ("7", "8", "9"):
        plugin.send_ask({0, 1}, job=job)
    aegisd.signal(signal.SIGTERM)
    aegisd.signal(signal.SIGCONT)
    decisions = [plugin.expect(wire.ADVICE)["decision"] for _ in range(3)]
    assert all(decisions) and plugin.is_closed()
    assert aegisd.process.wait(10) == 0
    aegisd.start()
    assert [row["job_key"] for row in aegisd.control("decisions")["decisions"]] == ["9", "8", "7"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a socket away")
@pytest.mark.parametrize("umask", [0, 0o777])
def test_sockets_belong_to_slurm_user_alone_whatever_the_umask(make_aegisd, umask):
    daemon = make_aegisd()
    # an umask of 0777 would also close the store's files to root without CAP_DAC_OVERRIDE; root here has it
    daemon.start(preexec_fn=lambda: os.umask(umask))
    for path in (daemon.select_socket, daemon.control_socket):
        status = path.stat()
        assert stat.S_IMODE(status.st_mode) == 0o600
        assert status.st_uid == pwd.getpwnam("slurm").pw_uid


def test_a_second_instance_is_refused_and_the_first_goes_on(aegisd):
    mark = len(aegisd.log())
    second = subprocess.run([AEGISD, "--config", aegisd.config_file], capture_output=True, text=True, timeout=10)
    assert second.returncode == 1
    assert "another aegisd" in second.stderr and str(aegisd.control_socket) in second.stderr
    assert aegisd.status()["pid"] == aegisd.process.pid
    assert Plugin(aegisd.select_socket).ask({0})["decision"] > 0
    assert "refused" not in aegisd.log()[mark:]


def test_a_second_instance_with_other_sockets_but_the_same_store_is_refused(aegisd, make_aegisd, tmp_path):
    other = make_aegisd(folder=tmp_path / "other", store=aegisd.store).start(wait=False)
    assert other.process.wait(10) == 1
    assert str(aegisd.store) in other.log() and str(aegisd.process.pid) in other.log()
    assert not other.select_socket.exists()


def test_the_sockets_of_a_killed_aegisd_are_taken_over(aegisd):
    aegisd.kill()
    assert aegisd.select_socket.exists()
    aegisd.start()
    assert Plugin(aegisd.select_socket).ask({0})["decision"] > 0


def test_a_file_that_is_no_socket_is_left_alone(make_aegisd):
    daemon = make_aegisd()
    daemon.select_socket.write_text("precious")
    daemon.start(wait=False)
    assert daemon.process.wait(10) == 1
    assert "not a socket" in daemon.log() and daemon.select_socket.read_text() == "precious"


def test_a_socket_that_somebody_else_listens_on_is_left_alone(make_aegisd):
    daemon = make_aegisd()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(daemon.select_socket))
        other.listen()
        daemon.start(wait=False)
        assert daemon.process.wait(10) == 1
    assert daemon.select_socket.exists()


def test_a_missing_store_directory_does_not_start_and_names_it(make_aegisd):
    daemon = make_aegisd()
    daemon.store.rmdir()
    daemon.start(wait=False)
    assert daemon.process.wait(10) == 1
    assert str(daemon.store) in daemon.log()


def test_a_damaged_store_does_not_start_and_is_left_as_it_was(make_aegisd):
    daemon = make_aegisd()
    damaged = b"this is no database, whatever its name says" * 100
    (daemon.store / "decisions.db").write_bytes(damaged)
    daemon.start(wait=False)
    assert daemon.process.wait(10) == 1
    assert "decisions.db" in daemon.log()
    assert (daemon.store / "decisions.db").read_bytes() == damaged


def test_a_reload_takes_a_new_policy_and_greets_the_plugin_again(aegisd, plugin, exporter):
    assert aegisd.status()["policy"] == "default"
    aegisd.write_config([("exporter", exporter.url)], policy="vanilla")
    status = aegisd.reload()
    assert status["policy"] == "vanilla" and status["last_reload_error"] is None
    assert plugin.expect(wire.WELCOME)["status"] == wire.ACCEPTED
    assert plugin.ask({0}, job="5")["decision"] > 0
    assert aegisd.control("explain", job="5")["reason"] == "policy_keeps"


def test_a_reload_takes_a_new_topology(aegisd, plugin, exporter):
    (aegisd.run / "topology.conf").write_text(
        "SwitchName=tor1 Nodes=n[0-5]\nSwitchName=tor2 Nodes=n6\nSwitchName=spine Switches=tor[1-2]\n")
    status = aegisd.reload()
    assert status["plugin"]["unmapped_nodes"] == 1
    fabric = aegisd.control("fabric")
    assert fabric["unmapped_nodes"] == "n7" and fabric["leaves"][0]["nodes"] == "n[0-5]"
    assert plugin.expect(wire.WELCOME)["status"] == wire.ACCEPTED
    assert plugin.ask({0})["decision"] > 0


def test_a_reload_keeps_what_was_measured_of_a_link(aegisd, exporter):
    exporter.heat("sw1")
    wait_for("tor1 is hot", lambda: aegisd.leaf("tor1")["pressure"] > 0.8)
    aegisd.write_config([("exporter", exporter.url)], policy="vanilla")
    aegisd.reload()
    assert aegisd.leaf("tor1")["pressure"] > 0.5


@pytest.mark.parametrize("break_it, told", [
    (lambda d, urls: d.config_file.write_text("[select]\ncolour = 1\n"), "select.colour"),
    (lambda d, urls: (d.run / "topology.conf").unlink(), "topology.conf"),
    (lambda d, urls: d.write_config(urls, policy="sunny"), "sunny"),
    (lambda d, urls: d.config_file.write_text(
        d.config_file.read_text().replace("select.socket", "elsewhere.socket")), "restart"),
])
def test_a_reload_with_an_error_keeps_the_old_configuration_and_says_so(aegisd, plugin, exporter, break_it, told):
    exporter.heat("sw1")
    wait_for("tor1 is hot", lambda: aegisd.leaf("tor1")["pressure"] > 0.8)
    before = aegisd.status()
    break_it(aegisd, [("exporter", exporter.url)])
    status = aegisd.reload()
    assert told in status["last_reload_error"]
    assert told in aegisd.log() and "keeping the configuration" in aegisd.log()
    assert (status["policy_hash"], status["config_loaded_us"]) == (before["policy_hash"], before["config_loaded_us"])
    assert plugin.ask({0})["decision"] > 0
    assert aegisd.leaf("tor1")["pressure"] > 0.8


def test_a_reload_that_works_forgets_the_last_error(aegisd, exporter):
    good = aegisd.config_file.read_text()
    aegisd.config_file.write_text("nonsense")
    assert aegisd.reload()["last_reload_error"]
    aegisd.config_file.write_text(good)
    assert aegisd.reload()["last_reload_error"] is None


def test_systemd_is_told_of_start_reload_watchdog_and_end(make_aegisd, tmp_path):
    path = tmp_path / "notify.socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(path))
        notify.settimeout(10)
        daemon = make_aegisd().start(wait=False, env={**os.environ, "NOTIFY_SOCKET": str(path)})

        def next_but_watchdog():
            while True:
                message = notify.recv(4096).decode()
                if message != "WATCHDOG=1":
                    return message

        assert next_but_watchdog().startswith("READY=1")
        assert notify.recv(4096) == b"WATCHDOG=1"
        daemon.signal(signal.SIGHUP)
        reloading = next_but_watchdog().splitlines()
        assert reloading[0] == "RELOADING=1"
        monotonic_us = int(reloading[1].removeprefix("MONOTONIC_USEC="))
        assert 0 <= time.monotonic() * 1e6 - monotonic_us < 10e6
        assert next_but_watchdog().startswith("READY=1")
        daemon.signal(signal.SIGTERM)
        assert next_but_watchdog() == "STOPPING=1"
        assert daemon.process.wait(10) == 0


def test_a_tick_that_came_late_is_told_by_status(aegisd):
    ticks = wait_for("a tick", lambda: aegisd.status()["tick"]["window"] > 1 and aegisd.status()["tick"])
    assert 0 <= ticks["late_p50_us"] <= ticks["late_p99_us"] <= ticks["late_window_max_us"] <= ticks["late_max_us"]
    stopped_at = time.monotonic()
    os.kill(aegisd.process.pid, signal.SIGSTOP)
    time.sleep(1.5)  # one tick falls due at the least, half a second before the end of it
    os.kill(aegisd.process.pid, signal.SIGCONT)
    stood_us = (time.monotonic() - stopped_at) * 1e6
    late = wait_for("the late tick", lambda: aegisd.status()["tick"]["late_max_us"] > 400_000 and aegisd.status()["tick"])
    assert late["late_p99_us"] == late["late_window_max_us"] == late["late_max_us"] <= stood_us + 500_000
