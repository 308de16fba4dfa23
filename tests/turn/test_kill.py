"""Two hundred kills of the real commands: no line lost, none doubled, no paid answer asked for twice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.turn import chores, kills

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")

CAMPAIGNS, KILLS = 2, 36  # of the turn; side by side with pytest-xdist
OTHERS = 16  # of each other command


@pytest.mark.parametrize("seed", range(CAMPAIGNS))
def test_a_turn_killed_at_any_moment_loses_and_doubles_nothing(seed: int, tmp_path: Path) -> None:
    killed = kills.run(tmp_path, seed, KILLS)
    assert killed.kills == KILLS
    assert killed.told


@pytest.mark.parametrize("name", chores.COMMANDS)
def test_a_command_killed_at_any_moment_is_done_when_it_is_given_again(name: str, tmp_path: Path) -> None:
    assert chores.run(tmp_path, 0, name, OTHERS) >= OTHERS


def test_they_are_two_hundred() -> None:
    assert CAMPAIGNS * KILLS + OTHERS * len(chores.COMMANDS) == 200
