"""Manual pages: clean for mandoc, complete, and true where they show something that can be tried."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("AEGIS_BUILD") or ROOT / "build")
AEGISCTL = BUILD / "aegisctl" / "aegisctl"

PAGES = sorted([*(ROOT / "man").glob("*.[1-8]"), *(BUILD / "man").glob("*.[1-8]")])


def rendered(page):
    text = subprocess.run(["mandoc", "-T", "utf8", page], capture_output=True, text=True, check=True).stdout
    return re.sub(".\b", "", text)  # bold and underlined


def sections(page):
    return re.findall(r"^(?=\S)(.+)$", rendered(page), re.MULTILINE)[1:-1]


def example(page):
    """The literal block of the section EXAMPLES."""
    after = page.read_text().split(".Sh EXAMPLES", 1)[1]
    return after.split(".Bd -literal -offset indent\n", 1)[1].split(".Ed", 1)[0]


def test_the_pages_of_this_release_are_there():
    assert {"aegisctl.1", "aegis-fabric.toml.5", "aegisd.toml.5", "aegisd.8", "aegis-plugin.8", "aegis-protocol.7"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_mandoc_has_nothing_to_warn_of(page):
    assert shutil.which("mandoc")
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
    assert lint.stdout + lint.stderr == "" and lint.returncode == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_says_what_it_does_not_do(page):
    assert "LIMITS" in sections(page)


def test_the_manual_names_every_command_and_option_of_aegisctl():
    text = rendered(ROOT / "man" / "aegisctl.1")
    for command in commands():
        assert re.search(rf"^ +{re.escape(' '.join(command))}\b", text, re.MULTILINE), command
        for option in re.findall(r"--[a-z-]+", help_text(*command)):
            assert option in text, (command, option)


def test_the_example_configuration_of_the_manual_is_good(tmp_path):
    (tmp_path / "topology.conf").write_text("SwitchName=tor1 Nodes=n[1-4]\nSwitchName=tor2 Nodes=n[5-8]\n")
    config = tmp_path / "aegisd.toml"
    config.write_text(example(BUILD / "man" / "aegisd.toml.5").replace("/etc/slurm", str(tmp_path)))
    check = subprocess.run([AEGISCTL, "config", "check", config], capture_output=True, text=True)
    assert check.returncode == 0, check.stderr
    assert "2 leaves and 8 links" in check.stdout


@pytest.mark.parametrize("line, wrong", [(4, 'deadlin = "2ms"'), (9, 'interval = "5"'), (21, "[[source]]")])
def test_the_diagnostics_of_the_manual_are_what_aegisctl_says(tmp_path, line, wrong):
    said = next(text.strip() for text in rendered(BUILD / "man" / "aegisd.toml.5").splitlines()
                if text.strip().startswith(f"aegisd.toml:{line}:"))
    table = {4: "[select]", 9: "[[source]]", 21: ""}[line]
    (tmp_path / "aegisd.toml").write_text(table + "\n" * (line - 1) + wrong + "\n")
    check = subprocess.run([AEGISCTL, "config", "check", "aegisd.toml"], capture_output=True, text=True, cwd=tmp_path)
    assert check.returncode == 1
    assert said in check.stderr.splitlines()


def help_text(*command):
    return subprocess.run([AEGISCTL, *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands(*above):
    """Every command that is not only the way to others, from --help itself."""
    after = help_text(*above).split("Subcommands:\n", 1)
    if len(after) == 1:
        return [above]
    names = re.findall(r"^  ([a-z]+) ", after[1], re.MULTILINE)
    assert names
    return [command for name in names for command in commands(*above, name)]


def completions(*words):
    """What bash offers for the last word."""
    script = f"""
        source {ROOT / "etc" / "completions" / "aegisctl"}
        compopt() {{ :; }}
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _aegisctl
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    run = subprocess.run(["bash", "-c", script, "bash", "aegisctl", *words], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return set(run.stdout.split())


def test_the_completion_knows_every_command():
    by_first = {}
    for command in commands():
        by_first.setdefault(command[0], set()).update(command[1:])
    assert {word for word in completions("") if not word.startswith("-")} == set(by_first)
    for first, below in by_first.items():
        if below:
            assert {word for word in completions(first, "") if not word.startswith("-")} == below


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_the_completion_knows_every_option(command):
    assert completions(*command, "--") == set(re.findall(r"--[a-z-]+", help_text(*command))) | {"--socket", "--timeout"}


def test_the_completion_offers_modes_but_not_after_one():
    assert {"off", "observe", "steer"} <= completions("mode", "")
    assert completions("mode", "st") == {"steer"}
    assert completions("--socket", "/x", "mode", "st") == {"steer"}
    assert not completions("mode", "steer", "o")
