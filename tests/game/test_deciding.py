"""A proposal that the writer accepts is a commit of its own."""

from __future__ import annotations

import sys

import pytest

from rolecall.campaign import proposals, records
from rolecall.campaign.effects import Effect, edit_of
from tests.game.repositories import NEEDS_GIT, WRITER, Table, line, table

pytestmark = [NEEDS_GIT, pytest.mark.skipif(sys.platform == "win32", reason="paths as posix has them")]
PASCO = "characters/old-pasco.md"


@pytest.fixture
def tale(tmp_path, monkeypatch, clean_environment) -> Table:
    return table(tmp_path, monkeypatch)


def propose(tale: Table, text: str) -> None:
    effect = proposals.of(proposals.next_number(tale.root), [Effect("history", PASCO, 1, text)], f"Old Pasco: {text}")
    records.Record(tale.root, ".rolecall/turns/T0001").write(effect.path, effect.op, edit_of(effect), turn=1)


def test_accepted_proposals_are_commits_of_the_games_and_pending_edits_are_the_writers(tale, rolecall):
    tale.tell()
    propose(tale, "Saw the light.")
    propose(tale, "Lost his oar.")
    propose(tale, "Sold his boat.")
    tale.write("characters/ann.md", "---\nname: Ann\n---\nA cook.\n")
    ran = rolecall("-C", tale.root, "proposals", "accept", 1, 2)
    assert (ran.code, ran.out, ran.err) == (0, f"1: {PASCO}\n2: {PASCO}\n", "")
    assert rolecall("-C", tale.root, "proposals", "drop", 3).code == 0
    assert tale.subjects()[:4] == [
        "Accept proposal 2: Old Pasco: Lost his oar.",
        "Accept proposal 1: Old Pasco: Saw the light.",
        "By hand before T0002: characters/ann.md",
        f"T0001 {line(1)}",
    ]
    assert [tale.files_of(f"HEAD~{n}") for n in range(3)] == [[PASCO], [PASCO], ["characters/ann.md"]]
    authors = tale.git("log", "-3", "--format=%an <%ae>").splitlines()
    assert authors[2] == WRITER and WRITER not in authors[:2]
    assert tale.git("log", "-1", "--format=%(trailers:key=Rolecall-Proposal,valueonly)").strip() == "2"
    assert tale.git("status", "--porcelain") == ""


def test_what_was_accepted_before_a_number_that_is_not_open_is_committed(tale, rolecall):
    tale.tell()
    propose(tale, "Saw the light.")
    ran = rolecall("-C", tale.root, "proposals", "accept", 1, 9)
    assert (ran.code, ran.out) == (1, f"1: {PASCO}\n") and "there is no proposal 9" in ran.err
    assert tale.subjects()[0] == "Accept proposal 1: Old Pasco: Saw the light."
