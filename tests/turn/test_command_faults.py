"""A fault at steps all over every command that writes: one clear line, nothing lost, and the next command works."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tests.turn.trials import COMMANDS, Trial, trials

TRIALS = 24  # of each command; all of them in the nightly run


@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_anywhere_in_a_command_is_one_line_and_loses_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: pytest.MonkeyPatch
) -> None:
    trial = Trial(tmp_path, name, monkeypatch)
    for number, fault in random.Random(name).sample(list(trials(trial)), TRIALS):
        trial.fail(number, fault)


FOUND = [  # (command, fault, call, path): faults that were told by none of these lines, or left something
    ("ingest", "once", "link", r"\.rolecall/ingest/.*\.json"),  # the next call's number was taken ever after
    ("ingest", "refused", "open", r"campaign-state\.md"),  # turns in the story whose journal line was left out
    ("ingest", "refused", "link", r"story/.*"),
    ("import", "once", "sync_folder", r"imports"),  # an empty folder, so that the next attempt went elsewhere
    ("import", "unsynced", "fsync", r"lore/.*"),  # taking it back failed too: the next command did not look for it
    ("import", "torn", "write", r"\.rolecall/edits/.*"),  # the half of it that was on record passed for the whole
    ("rename", "refused", "create", r"characters/.*"),  # others called it by the new name, itself by the old
    ("swipe --to", "refused", "open", r"characters/sera\.md"),  # left out and not said
    ("swipe", "full", "link", r"\.rolecall/turns/T0005/calls/.*narrator\.json"),  # the answer before it was gone
    ("swipe", "full", "create", r"\.rolecall/turns/T0005/[^/]*"),  # the folder of the other answer passed for a record
    ("swipe", "short", "write", r"\.rolecall/turns/T0005/[^/]*"),
    ("undo", "once", "read", r"\.rolecall/turns/T0005/after/.*"),  # a kept version was there, and then it was not
    ("rename", "refused", "sync_folder", r"characters"),  # a write that was made was noted as not made
    ("check --fix", "once", "read", r"campaign-state\.md"),  # what could not be read was not said
    ("turn", "power", "create", r"\.rolecall/turns/T0006/after/.*"),  # displaced bytes under a temporary name
]


@pytest.mark.parametrize(("name", "fault", "call", "path"), FOUND)
def test_what_was_found_stays_mended(
    name: str, fault: str, call: str, path: str, tmp_path: Path, monkeypatch, clean_environment
) -> None:
    trial = Trial(tmp_path, name, monkeypatch)
    numbers = [n for n, step in enumerate(trial.steps, 1) if step[0] == call and re.fullmatch(path, step[1])]
    assert numbers
    for number in numbers[:: max(1, len(numbers) // 3)]:
        trial.fail(number, fault)
