"""Twenty thousand random steps of turns, swipes, undos, hand edits, git, crashes and restarts."""

from __future__ import annotations

import os
import random

import pytest

from tests.game.machine import run
from tests.game.repositories import NEEDS_GIT, settle_settings

STEPS = int(os.environ.get("ROLECALL_MACHINE_STEPS", "20000"))
PER_RUN = 100
SEED = int(os.environ.get("ROLECALL_SEED", "0")) or random.SystemRandom().randrange(1000, 10**6)


@NEEDS_GIT
@pytest.mark.parametrize("number", range(STEPS // PER_RUN))
def test_the_folder_says_what_the_model_says(tmp_path, monkeypatch, number, clean_environment):
    settle_settings(tmp_path, monkeypatch)
    run(tmp_path, SEED + number, PER_RUN)
