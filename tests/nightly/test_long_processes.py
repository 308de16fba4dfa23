"""A thousand turns of two processes, while a third edits entries."""

from __future__ import annotations

import os
from pathlib import Path

from tests.turn.test_processes import turns_beside_an_editor


def test_five_hundred_turns_of_each_of_two_processes_and_all_edits_of_a_third_stand(tmp_path: Path) -> None:
    turns_beside_an_editor(tmp_path, int(os.environ.get("ROLECALL_EACH", "500")), pause=0.5)
