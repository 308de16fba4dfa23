"""Five minutes of input that coverage guides into the doors for bytes. Skipped where `atheris` is not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.nightly.guided import DOORS

SEED = int(os.environ.get("ROLECALL_SEED", "1"))
SECONDS = float(os.environ.get("ROLECALL_GUIDED_SECONDS", "300"))  # of all doors together

pytestmark = pytest.mark.skipif(
    find_spec("atheris") is None, reason="atheris is not installed: pip install -e '.[nightly]'"
)


@pytest.mark.parametrize("door", DOORS)
def test_whatever_bytes_come_in_are_taken_or_refused_by_our_own_errors(door: str, tmp_path: Path) -> None:
    share = max(1, round(SECONDS / len(DOORS)))
    arguments = (door, str(share), str(SEED % 2**31 or 1), str(tmp_path))
    ran = subprocess.run(
        [sys.executable, "-m", "tests.nightly.guided", *arguments], cwd=REPOSITORY, capture_output=True, text=True, timeout=share + 600
    )  # fmt: skip
    found = [(place.name, place.read_bytes()) for place in tmp_path.glob("*-*") if place.is_file()]
    assert ran.returncode == 0 and not found, f"{found}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}"
    print(f"{door}: {ran.stderr.strip().splitlines()[-1]}")
