import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "daemon"), str(HERE.parent / "slurm")]


@pytest.fixture
def fixtures():
    """Folder of the shared telemetry fixtures."""
    folder = pathlib.Path(os.environ.get("AEGIS_SHARED", "/nonexistent")) / "fixtures" / "telemetry"
    if not folder.is_dir():
        pytest.skip("AEGIS_SHARED names no folder with fixtures/telemetry")
    return folder
