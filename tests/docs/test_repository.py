"""The repository as a whole: guides that tell the truth, an archive with everything in it, house rules a machine can check."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AEGIS_BUILD") or ROOT / "build")
GUIDES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md")
LINES_AT_MOST = 500  # one idea a file; most are below 300
LONG_FOR_A_REASON = {"lib/wire.c", "tests/unit/wire_test.cpp"}  # every message of the protocol, one after the other
NOT_IN_THE_ARCHIVE = {".gitignore"}


def tracked():
    done = subprocess.run(["git", "-c", "safe.directory=*", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [name for name in done.stdout.splitlines() if (ROOT / name).exists()]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def sources():
    return [name for name in tracked() if re.search(r"\.(c|h|cpp|py|mk|ac|am|m4|map)$", name) or name.startswith("scripts/")]


def test_every_test_the_failure_table_names_exists():
    named = set(re.findall(r"`(test_\w+)`", text_of("ARCHITECTURE.md")))
    assert len(named) > 15
    written = set()
    for file in (ROOT / "tests").rglob("test_*.py"):
        written |= set(re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE))
    assert named <= written, sorted(named - written)


@pytest.mark.parametrize("guide", GUIDES)
def test_every_file_a_guide_names_exists(guide):
    folders = "|".join(path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "build")))
    named = re.findall(rf"`((?:{folders})/[\w./-]*)`", text_of(guide))
    assert named or guide == "README.md"
    missing = [name for name in named if not (ROOT / name).exists() and not (ROOT / "tests" / name).exists()]
    assert not missing


def test_every_tracked_file_is_in_the_release_archive():
    if not (BUILD / "Makefile").exists():
        pytest.skip(f"{BUILD} is not configured")
    made = BUILD / "archive-contents"
    subprocess.run(["make", "--silent", "distdir", f"distdir={made.name}"], cwd=BUILD, check=True, stdin=subprocess.DEVNULL)
    try:
        packed = {str(file.relative_to(made)) for file in made.rglob("*") if file.is_file()}
    finally:
        subprocess.run(["chmod", "-R", "u+w", made], check=True)
        shutil.rmtree(made)
    assert not set(tracked()) - packed - NOT_IN_THE_ARCHIVE


def test_no_source_file_has_outgrown_its_idea():
    long = {name for name in sources() if text_of(name).count("\n") > LINES_AT_MOST}
    assert long == LONG_FOR_A_REASON


def test_nothing_is_marked_as_unfinished():
    marks = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")
    assert not [name for name in sources() if marks.search(text_of(name))]


def test_no_file_names_a_folder_of_one_developer():
    folders = re.compile(r"(?<![\w.])/(?:home|ro" + r"ot|wo" + r"rk)/\w")
    assert not [f"{name}: {found[0]}" for name in tracked() if (found := folders.search(text_of(name)))]


def test_scripts_are_well_formed():
    for name in tracked():
        if name.endswith(".py"):
            compile(text_of(name), name, "exec")
        elif text_of(name).startswith("#!/usr/bin/env bash"):
            subprocess.run(["bash", "-n", ROOT / name], check=True)
            assert os.access(ROOT / name, os.X_OK), f"{name} cannot be executed"
