"""`check --fix` mends what is certain and nothing else, says so, and can be taken back to the byte."""

from __future__ import annotations

import hashlib

from rolecall.campaign.formers import FORMER
from tests.turn.world import text

OLD, PATH = b"An older text.\n", "instructions/always-narrate.md"


def lay(campaign, monkeypatch):
    monkeypatch.setitem(FORMER, PATH, frozenset({hashlib.sha256(OLD).hexdigest()[:16]}))
    shipped = (campaign / PATH).read_bytes()
    (campaign / PATH).write_bytes(OLD)
    state = campaign / "campaign-state.md"
    lines = "\n\n- T0001 a\n- T0002 b\n- T0001 a\n- T0002 another\n"
    state.write_text(state.read_text().rstrip("\n") + lines)
    return shipped


def test_what_is_certain_is_mended_and_the_rest_is_left_to_a_person(rolecall, campaign, monkeypatch):
    shipped, before = lay(campaign, monkeypatch), text(campaign)
    ran = rolecall("-C", campaign, "check", "--fix")
    after = text(campaign)
    assert ran.code == 1 and ran.err.count("Mended: ") == 2 and "T0002 stands here a second time" in ran.out
    assert after[PATH] == shipped
    assert after["campaign-state.md"] == before["campaign-state.md"].replace(b"- T0002 b\n- T0001 a\n", b"- T0002 b\n")
    assert {p for p in after if after[p] != before[p]} == {PATH, "campaign-state.md"}
    assert rolecall("-C", campaign, "check", "--undo").code == 1
    assert text(campaign) == before


def test_a_dry_run_says_it_and_changes_nothing(rolecall, campaign, monkeypatch):
    lay(campaign, monkeypatch)
    before = text(campaign)
    assert rolecall("-C", campaign, "check", "--fix", "--dry-run").err.count("Would be mended: ") == 2
    assert text(campaign) == before


def test_an_instruction_with_a_word_changed_stays(rolecall, campaign, monkeypatch):
    lay(campaign, monkeypatch)
    (campaign / PATH).write_bytes(OLD + b"Mine.\n")
    rolecall("-C", campaign, "check", "--fix")
    assert (campaign / PATH).read_bytes() == OLD + b"Mine.\n"


def test_with_nothing_to_mend_nothing_is_written(rolecall, campaign):
    before = text(campaign)
    ran = rolecall("-C", campaign, "check", "--fix")
    assert (ran.code, text(campaign)) == (0, before) and "Mended" not in ran.err
    assert rolecall("-C", campaign, "check", "--undo").code == 1
