import pytest

from harness import Aegisd, Exporter, Plugin


@pytest.fixture
def make_aegisd(tmp_path):
    """Aegisd(...) in the test's folder; stopped afterwards, and it must end well."""
    made = []

    def make(folder=None, **options):
        folder = folder or tmp_path
        folder.mkdir(exist_ok=True)
        made.append(Aegisd(folder, **options))
        return made[-1]

    yield make
    for daemon in made:
        if daemon.process is not None:
            ended_before = daemon.process.poll() is not None
            status = daemon.stop()
            log = daemon.log()
            assert "ERROR: AddressSanitizer" not in log and "runtime error:" not in log, log
            assert ended_before or status == 0, f"exit status {status}:\n{log}"


@pytest.fixture
def exporter():
    exporter = Exporter()
    exporter.cool("sw1")
    exporter.cool("sw2")
    yield exporter
    exporter.stop()


@pytest.fixture
def aegisd(make_aegisd, exporter):
    """Running, mode observe, one source."""
    return make_aegisd(sources=[("exporter", exporter.url)]).start()


@pytest.fixture
def plugin(aegisd):
    plugin = Plugin(aegisd.select_socket)
    yield plugin
    plugin.close()
