"""A thousand kills of the real commands, half of them of the turn, in campaigns of a hundred kills each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.turn import chores, kills

SEED = int(os.environ.get("ROLECALL_SEED", "1000"))
KILLS, EACH = int(os.environ.get("ROLECALL_KILLS", "1000")), 100
OTHERS = -(-KILLS // 2 // len(chores.COMMANDS))  # half of them hit the turn, half the other commands


@pytest.mark.parametrize("seed", range(SEED, SEED + -(-(KILLS // 2) // EACH)))
def test_a_command_killed_a_hundred_times_loses_and_doubles_nothing(seed: int, tmp_path: Path) -> None:
    assert kills.run(tmp_path, seed, min(EACH, KILLS // 2)).told


@pytest.mark.parametrize("name", chores.COMMANDS)
def test_every_other_command_killed_again_and_again_is_done_when_it_is_given_again(name: str, tmp_path: Path) -> None:
    assert chores.run(tmp_path, SEED, name, OTHERS) >= OTHERS
