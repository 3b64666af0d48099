import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
REPORT = pytest.StashKey()
# of the same day; the exporters' 0.x series has no other promise
NPM = ["@opentelemetry/exporter-metrics-otlp-http@0.223.0", "@opentelemetry/exporter-metrics-otlp-proto@0.223.0",
       "@opentelemetry/sdk-metrics@2.12.1", "@opentelemetry/resources@2.12.1"]


@pytest.fixture(scope="session")
def sdk(tmp_path_factory):
    """A folder in which node finds the OpenTelemetry JS SDK and otlp_client.cjs; skipped, by name, where it cannot be had."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("npm")
    try:
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1", *NPM], cwd=folder,
                              capture_output=True, text=True, timeout=180)
    except subprocess.TimeoutExpired:
        pytest.skip("the npm registry does not answer")
    if done.returncode:
        pytest.skip("the npm registry cannot be reached: " + done.stderr.strip()[-200:])
    shutil.copy(HERE / "otlp_client.cjs", folder)
    return folder


@pytest.fixture
def report(request):
    """Lines appended here are printed at the end, whether or not the test passed."""
    return request.config.stash.setdefault(REPORT, [])


def pytest_terminal_summary(terminalreporter, config):
    for line in config.stash.get(REPORT, []):
        terminalreporter.write_line(line)
