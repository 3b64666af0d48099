"""aegisctl against a running aegisd: what it prints, and its exit status."""

import json
import os
import signal
import subprocess

import pytest

import wire
from harness import STAGE, Plugin, wait_for

AEGISCTL = STAGE / "bin" / "aegisctl"


def aegisctl(daemon, *arguments, **popen):
    return subprocess.run([AEGISCTL, "--socket", daemon.control_socket, *map(str, arguments)], capture_output=True,
                          text=True, timeout=30, stdin=subprocess.DEVNULL, **popen)


def printed(daemon, *arguments):
    done = aegisctl(daemon, *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def answered(daemon, *arguments):
    text = printed(daemon, *arguments, "--json")
    assert text.count("\n") == 1
    return json.loads(text)


@pytest.fixture
def steered(make_aegisd, exporter):
    """tor1 is hot, and job 42 was steered away from it."""
    daemon = make_aegisd(mode="steer", sources=[("exporter", exporter.url)]).start()
    exporter.heat("sw1")
    wait_for("tor1 is hot and tor2 is known", lambda: daemon.leaf("tor1")["pressure"] > 0.8 and daemon.leaf("tor2")["confidence"] == 1)
    plugin = Plugin(daemon.select_socket)
    advice = plugin.ask({0, 1}, job="42", facts="SLURM_JOB_NAME=train\nSLURM_JOB_USER=ada\n")
    plugin.connection.send(wire.encode_outcome(advice["decision"], result=1, inner_calls=2, waited_us=180, chosen=(8, {4, 5})))
    plugin.ping(job_tests=10, asks=1, added_us_max=311, added_us_total=900, added_us=[0] * 4 + [9, 0, 1] + [0] * 9)
    yield daemon
    plugin.close()


def test_a_steered_job_is_explained_in_plain_words(steered):
    text = printed(steered, "explain", 42)
    assert text.startswith("job 42 (train) of ada, 2 nodes, decision 1, mode steer, policy default\n\ntor1 is pressed (0.")
    assert "on tor2 the cost is" in text
    assert "Slurm accepted the first plan and chose n[4-5].\n" in text
    assert "waited 180us in 2 inner calls" in text
    assert printed(steered, "explain", "--decision", 1) == text
    assert answered(steered, "explain", 42)["detail"]["margin"] == 0.05


def test_a_plan_that_was_not_offered_is_told_as_what_would_have_been(steered):
    assert printed(steered, "mode", "observe", "--reason", "trial") == "mode changed from steer to observe\n"
    Plugin(steered.select_socket).ask({0, 1}, job="43")
    assert "in mode steer Slurm would have been asked to place the job on tor2.\n" in printed(steered, "explain", 43)


def test_status_shows_the_plugins_own_histogram(steered):
    text = printed(steered, "status")
    assert "plugin     connected for" in text and "closed; opened 0 times" in text
    assert [line.split() for line in text.splitlines() if "<64us" in line] == [["<64us", "<64us", "<256us", "<256us", "311us", "90.0us"]]
    assert answered(steered, "status")["plugin"]["counters"]["added_us"][4] == 9


def test_decisions_are_listed_and_filtered(steered):
    plugin = Plugin(steered.select_socket)
    for task in (1, 2):
        plugin.ask({4}, job=f"100_{task}", facts="SLURM_JOB_USER=bob\n")
    assert len(printed(steered, "decisions").splitlines()) == 4
    listed = [row["job_key"] for row in answered(steered, "decisions", "--job", 100)["decisions"]]
    assert listed == ["100_2", "100_1"]
    assert [row["job_key"] for row in answered(steered, "decisions", "--user", "ada")["decisions"]] == ["42"]
    assert len(answered(steered, "decisions", "--limit", 1, "--since", "1h", "--policy", "default")["decisions"]) == 1
    assert printed(steered, "decisions", "--since", "2100-01-01") == "no decisions recorded\n"


def test_the_fabric_is_shown_by_leaf_and_by_link(steered, exporter):
    exporter.cool("sw7")
    wait_for("the stranger is seen", lambda: steered.status()["fabric"]["unmapped_ports"] == 1)
    text = printed(steered, "fabric", "show")
    assert text.splitlines()[1].split()[0] == "tor1" and "sw1/swp1" in text and "  sw7/swp1\n" in text
    links = printed(steered, "fabric", "show", "--links").splitlines()[1].split()
    assert links[:4] == ["tor1", "sw1/swp1", "trunk", "100Gbit"] and links[-1] == "300KB"


def test_policies_and_settings_in_force_are_shown(steered):
    assert [line.split()[:2] for line in printed(steered, "policy", "list").splitlines()[1:]] == [["vanilla", "no"], ["default", "yes"]]
    settings = {line.split()[0]: line.split()[1] for line in printed(steered, "config", "show").splitlines()[2:]}
    assert settings["pressure.fast"] == "1s" and settings["select.deadline"] == "2ms"


def test_the_mode_is_printed_tried_and_set(aegisd):
    assert printed(aegisd, "mode") == "observe\n"
    assert printed(aegisd, "mode", "steer", "--dry-run") == "mode would change from observe to steer\n"
    assert printed(aegisd, "mode") == "observe\n"
    assert answered(aegisd, "mode", "steer") == {"from": "observe", "to": "steer", "changed": True}
    assert printed(aegisd, "mode", "steer") == "mode is steer already\n"
    assert answered(aegisd, "mode") == {"mode": "steer"}


def test_what_cannot_be_done_fails_with_1(aegisd):
    done = aegisctl(aegisd, "explain", 99)
    assert (done.returncode, done.stderr) == (1, "aegisctl: no decision about job 99 is recorded\n")


@pytest.mark.parametrize("wrong", [[], ["explain"], ["explain", "1", "--decision", "2"], ["mode", "on"], ["mode", "--reason", "x"],
                                   ["nonsense"], ["decisions", "--limit", "0"], ["decisions", "--since", "yesterday"],
                                   ["status", "--nonsense"]], ids=" ".join)
def test_wrong_usage_fails_with_2(aegisd, wrong):
    done = aegisctl(aegisd, *wrong)
    assert done.returncode == 2 and done.stderr and not done.stdout


def test_an_aegisd_that_is_not_there_or_hangs_is_told_by_3(aegisd):
    aegisd.signal(signal.SIGSTOP)
    hung = aegisctl(aegisd, "--timeout", 1, "status")
    aegisd.signal(signal.SIGCONT)
    assert hung.returncode == 3 and "no answer within 1000 ms" in hung.stderr
    aegisd.kill()
    gone = aegisctl(aegisd, "status")
    assert gone.returncode == 3 and "not running any more" in gone.stderr
    elsewhere = subprocess.run([AEGISCTL, "status"], capture_output=True, text=True,
                               env={**os.environ, "AEGISCTL_SOCKET": str(aegisd.run / "nowhere")})
    assert elsewhere.returncode == 3 and "is aegisd running" in elsewhere.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user takes root")
def test_another_user_is_refused(make_aegisd, tmp_path_factory):
    daemon = make_aegisd().start()
    os.chmod(daemon.control_socket, 0o666)  # so that it is aegisd that refuses, not the file's mode
    for folder in (daemon.run, *daemon.run.parents):
        if not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    done = aegisctl(daemon, "mode", "off", user=65534)
    assert (done.returncode, done.stderr) == (4, "aegisctl: only root and slurm may use this socket\n")
    os.chmod(daemon.control_socket, 0o600)
    done = aegisctl(daemon, "mode", user=65534)
    assert done.returncode == 3 and "Permission denied" in done.stderr


def test_a_configuration_is_checked_without_aegisd(make_aegisd):
    daemon = make_aegisd()
    assert printed(daemon, "config", "check", daemon.config_file) == f"{daemon.config_file}: good: 2 leaves and 2 links in the fabric, 0 sources\n"
    daemon.write_config(extra='[[ports]]\nswitch = "sw1"\nports = "swp1"\nleaf = "tor2"\n[[ports]]\nswitch = "x"\nports = "p"\nleaf = "tor9"\n')
    twice = aegisctl(daemon, "config", "check", daemon.config_file)
    assert twice.returncode == 1 and twice.stdout == ""
    assert len(twice.stderr.splitlines()) == 2 and all(f"{daemon.config_file}:" in line for line in twice.stderr.splitlines())
    daemon.write_config(mode="on", policy="best")
    wrong = json.loads(aegisctl(daemon, "config", "check", daemon.config_file, "--json").stdout)
    assert not wrong["ok"] and len(wrong["errors"]) == 2
    missing = aegisctl(daemon, "config", "check", daemon.run / "nowhere.toml")
    assert missing.returncode == 1 and "No such file or directory" in missing.stderr
