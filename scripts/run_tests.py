"""Run the test stages one after the other and count test cases.

Each stage prints its own progress and, when it ends, one line with its counts and wall-clock time. What a
failing test said is printed in full. Skipped tests are named and never counted as passed.

A stage that cannot run (build fails, program crashes, no tests found) counts as one failed test, so that nothing
missing looks like success. Exit status: 0 when at least one test ran and none failed, 1 otherwise, 2 for a usage error.
"""

import os
import resource
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
BUILD = SOURCE / "build"
SANITIZED = SOURCE / "build-sanitizers"
UNIT_TESTS = "tests/unit/unit_tests"
REPORTS = BUILD / "reports"

JOBS = f"-j{os.cpu_count() or 1}"


class CannotRun(Exception):
    """Why a stage did not come to an end with a count."""


@dataclass
class Counts:
    passed: int = 0
    failed: list = field(default_factory=list)
    skipped: list = field(default_factory=list)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        text = f"{self.passed} passed, {len(self.failed)} failed"
        return text + (f", {len(self.skipped)} skipped" if self.skipped else "")


def say(text=""):
    print(text, flush=True)


def run(command, limit_s, cwd=SOURCE, log=None, env=None):
    """Exit status of the command. With `log` its output goes to that file. Its whole process group dies at the limit."""
    output = open(log, "wb") if log else None
    try:
        process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT if log else None, start_new_session=True,
                                   env={**os.environ, **(env or {})})
        try:
            return process.wait(limit_s)
        except BaseException as reason:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(reason, subprocess.TimeoutExpired):
                show(log)
                raise CannotRun(f"no end after {limit_s} s: {shlex.join(map(str, command))}") from None
            raise
    finally:
        if output:
            output.close()


def show(log, lines=200):
    """The end of a log file, where the error usually stands."""
    if log and log.exists():
        text = log.read_text(errors="replace").splitlines()
        if len(text) > lines:
            say(f"[{len(text) - lines} lines left out, whole log: {log}]")
        say("\n".join(text[-lines:]))


def must(command, limit_s, what, **how):
    log = REPORTS / (what.replace(" ", "-") + ".log")
    status = run(command, limit_s, log=log, **how)
    if status != 0:
        show(log)
        raise CannotRun(f"{what} failed (exit status {status})")


def build():
    must([SOURCE / "scripts/build", BUILD], 1800, "build")


def catch2(directory, name, env=None):
    """Run the Catch2 program; its XML report has one TestCase element a test case."""
    report = REPORTS / f"{name}.xml"
    log = REPORTS / f"{name}.log"
    report.unlink(missing_ok=True)
    status = run([directory / UNIT_TESTS, "--reporter", "xml", "--out", report], 600, cwd=directory, log=log, env=env)
    try:
        cases = list(xml.parse(report).getroot().iter("TestCase"))
    except (OSError, xml.ParseError):
        show(log)
        started = report.read_text(errors="replace").split('<TestCase name="') if report.exists() else [""]
        raise CannotRun(f"the unit test program died (exit status {status}) in "
                        f"'{started[-1].split(chr(34))[0]}'") from None
    counts = Counts()
    for case in cases:
        if case.find("OverallResult").get("success") == "true":
            counts.passed += 1
            continue
        counts.failed.append(f"{name}: {case.get('name')}")
        say(f"FAILED {case.get('name')} ({case.get('filename')}:{case.get('line')})")
        for part in case.iter():
            if part.tag == "Expression" and part.get("success") == "false":
                say(f"  {part.get('filename')}:{part.get('line')}: {part.get('type')}"
                    f"({part.findtext('Original').strip()})")
                say(f"  was: {part.findtext('Expanded').strip()}")
            elif part.tag in ("Exception", "FatalErrorCondition", "Failure", "Info"):
                say(f"  {part.tag}: {(part.text or '').strip()}")
    if (status == 0) != (not counts.failed):
        show(log)
        raise CannotRun(f"the unit test program ended with status {status}, its report says {counts}")
    if counts.failed:
        show(log)
    return counts


def unit():
    """Unit tests of lib/, aegisd/ and plugin/, and every other program `make check` knows."""
    must(["make", "--silent", JOBS, "check", "TESTS="], 1800, "build of the unit tests", cwd=BUILD)
    counts = catch2(BUILD, "unit")
    listing = subprocess.run(["make", "--silent", "list-tests"], cwd=BUILD, capture_output=True, text=True, check=True)
    for program in listing.stdout.split():
        if program == UNIT_TESTS:
            continue
        log = REPORTS / (program.replace("/", "-") + ".log")
        path = BUILD / program
        status = run([path if path.exists() else SOURCE / program], 300, cwd=BUILD, log=log,
                     env={"srcdir": str(SOURCE), "top_builddir": str(BUILD)})
        if status == 0:
            counts.passed += 1
        elif status == 77:  # automake's "skipped"
            counts.skipped.append(f"{program}: {log.read_text(errors='replace').strip()}")
        else:
            show(log)
            counts.failed.append(f"{program} (exit status {status})")
    return counts


def sanitizers():
    """The unit tests again, built with AddressSanitizer and UndefinedBehaviorSanitizer."""
    must([SOURCE / "scripts/build", SANITIZED, "--enable-sanitizers", "CXXFLAGS=-O1 -g1", "CFLAGS=-O1 -g1"], 1800,
         "build with sanitizers", env={"AEGIS_TARGETS": UNIT_TESTS})
    return catch2(SANITIZED, "sanitizers", env={
        "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"})


def fuzz():
    """Ten seconds for each target of scripts/fuzz; each counts as one test."""
    log = REPORTS / "fuzz.log"
    run([SOURCE / "scripts/fuzz"], 1800, log=log)
    counts = Counts()
    for line in log.read_text(errors="replace").splitlines():
        if ": ok, " in line:
            counts.passed += 1
        elif ": BROKEN" in line:
            counts.failed.append(f"fuzz: {line}")
    if counts.failed or not counts.passed:
        show(log)
    return counts


def pytest(folder):
    def stage():
        report = REPORTS / f"{folder}.xml"
        report.unlink(missing_ok=True)
        status = run(["/usr/bin/python3", "-B", "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", "-q", "--no-header",
                      "--timeout=600", f"--junitxml={report}", "-o", "junit_logging=no", SOURCE / "tests" / folder],
                     2700, env={"AEGIS_BUILD": str(BUILD)})
        if status not in (0, 1) or not report.exists():
            raise CannotRun(f"pytest ended with status {status}" + (": no tests found" if status == 5 else ""))
        counts = Counts()
        for case in xml.parse(report).getroot().iter("testcase"):
            name = f"{folder}: {case.get('classname').split('.')[-1]}: {case.get('name')}"
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                counts.failed.append(name)
            elif skipped is not None:
                counts.skipped.append(f"{name}: {skipped.get('message')}")
            else:
                counts.passed += 1
        if (status == 0) != (not counts.failed):
            raise CannotRun(f"pytest ended with status {status}, its report says {counts}")
        return counts
    stage.__doc__ = f"The tests in tests/{folder}."
    return stage


def distcheck():
    """The release archive builds outside its source, checks, installs and uninstalls. Counts as one test."""
    # without optimisation: this is about the archive, and compiles everything once more
    flags = "CXXFLAGS=-O0 CFLAGS=-O0"
    must(["make", "--silent", JOBS, "distcheck", f"DISTCHECK_CONFIGURE_FLAGS={flags}"], 1800, "make distcheck",
         cwd=BUILD, env={"CC": "ccache gcc", "CXX": "ccache g++"})
    return Counts(passed=1)


STAGES = {"unit": unit, "sanitizers": sanitizers, "fuzz": fuzz, "daemon": pytest("daemon"), "fabric": pytest("fabric"),
          "telemetry": pytest("telemetry"), "slurm": pytest("slurm"),
          "docs": pytest("docs"), "distcheck": distcheck}


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(name, stage, total):
    say(f"== {name}")
    begin, cpu_begin = time.monotonic(), cpu_seconds()
    try:
        counts = stage()
        if counts is not None and not counts.passed and not counts.failed:
            raise CannotRun("not one test ran")
    except CannotRun as reason:
        say(f"CANNOT RUN {name}: {reason}")
        counts = Counts(failed=[f"{name}: {reason}"])
    say(f"== {name}: {counts if counts is not None else 'done'} in {time.monotonic() - begin:.0f} s "
        f"({cpu_seconds() - cpu_begin:.0f} s of CPU time)\n")
    if counts is not None:
        total.add(counts)
    return counts is None or not counts.failed


def main(names):
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        say(f"scripts/test: no stage named {' '.join(unknown)}; there are: {' '.join(STAGES)}")
        return 2
    REPORTS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    total = Counts()
    if timed("build", build, total):
        for name in names or STAGES:
            timed(name, STAGES[name], total)

    for title, tests in (("skipped", total.skipped), ("failed", total.failed)):
        for test in tests:
            say(f"{title}: {test}")
    say(f"{time.monotonic() - begin:.0f} s in all")
    say(str(total))
    return 0 if total.passed and not total.failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
