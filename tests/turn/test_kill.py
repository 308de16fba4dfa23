"""Two hundred kills of the real command: no line lost, none doubled, no paid answer asked for twice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.turn import kills

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")

CAMPAIGNS, KILLS = 4, 50  # side by side with pytest-xdist


@pytest.mark.parametrize("seed", range(CAMPAIGNS))
def test_a_command_killed_at_any_moment_loses_and_doubles_nothing(seed: int, tmp_path: Path) -> None:
    killed = kills.run(tmp_path, seed, KILLS)
    assert killed.kills == KILLS
    assert killed.told
