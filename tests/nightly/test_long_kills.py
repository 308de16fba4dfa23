"""Thousands of kills of the real command, in campaigns of a hundred kills each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.turn import kills

SEED = int(os.environ.get("ROLECALL_SEED", "1000"))
KILLS, EACH = int(os.environ.get("ROLECALL_KILLS", "2000")), 100


@pytest.mark.parametrize("seed", range(SEED, SEED + -(-KILLS // EACH)))
def test_a_command_killed_a_hundred_times_loses_and_doubles_nothing(seed: int, tmp_path: Path) -> None:
    assert kills.run(tmp_path, seed, min(EACH, KILLS)).told
