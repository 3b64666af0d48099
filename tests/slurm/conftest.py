"""What every test on a real Slurm needs: root, and Debian's Slurm. Without them the tests are skipped, and say why."""
import os
import shutil

import pytest

import aegis

NEEDED = {"slurmctld": "slurmctld", "slurmd": "slurmd", "munged": "munge", "sbatch": "slurm-client"}


def missing():
    """Why the tests cannot run here, or None."""
    if os.geteuid() != 0:
        return "needs root: slurmctld and slurmd run as root in these tests"
    for program, package in NEEDED.items():
        if not shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            return f"needs {program} (package {package})"
    return None


def pytest_collection_modifyitems(items):
    reason = missing()
    if reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def installed():
    """The install tree is there. A tree without it is a broken build, not a reason to skip."""
    path = aegis.missing()
    if path:
        pytest.fail(f"{path} is missing: run scripts/build, or set AEGIS_STAGE", pytrace=False)
