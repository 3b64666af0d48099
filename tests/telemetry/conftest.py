import sys

import pytest

sys.path.insert(0, __file__.rsplit("/", 1)[0])
REPORT = pytest.StashKey()


@pytest.fixture
def report(request):
    """Lines appended here are printed at the end, whether or not the test passed."""
    return request.config.stash.setdefault(REPORT, [])


def pytest_terminal_summary(terminalreporter, config):
    for line in config.stash.get(REPORT, []):
        terminalreporter.write_line(line)
