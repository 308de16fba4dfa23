"""Turns, swipes, undos, hand edits, git, crashes and restarts in any order leave what the model says."""

from __future__ import annotations

import os

import pytest

from tests.game.machine import run
from tests.game.repositories import NEEDS_GIT, settle_settings

STEPS = int(os.environ.get("ROLECALL_MACHINE_STEPS", "2000"))
PER_RUN = 80
SEED = int(os.environ.get("ROLECALL_SEED", "1"))  # the same each time; the nightly one begins elsewhere every night


@NEEDS_GIT
@pytest.mark.parametrize("number", range(STEPS // PER_RUN))
def test_the_folder_says_what_the_model_says(tmp_path, monkeypatch, number, clean_environment):
    settle_settings(tmp_path, monkeypatch)
    run(tmp_path, SEED + number, PER_RUN)  # the seed is in the message of a failure
