"""Proposals: what the models would change in locked entries is kept beside the campaign until the writer decides."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from rolecall.campaign import files, proposals, records
from rolecall.campaign.effects import Effect, edit_of
from rolecall.errors import Malformed, StorageError, UnknownName
from tests.turn.faults import Faulty, Killed, failing

LOCKED = b"---\nname: Ann\nlocked: true\nstatus: well   # hers\n---\nA cook.\n"
HURT = Effect(
    "facts", "characters/ann.md", 7, key="character", facts={"status": "hurt"}, reason="a knife", source="Ann falls."
)
LINE = Effect("history", "characters/ann.md", 7, "Cut by the Guild.")


@pytest.fixture
def root(campaign: Path) -> Path:
    (campaign / "characters" / "ann.md").write_bytes(LOCKED)
    return campaign


def propose(root: Path, *effects: Effect, turn: int = 7) -> Effect:
    """A turn that proposes these effects, as its record writes it."""
    effect = proposals.of(proposals.next_number(root), effects, "Ann: status: well → hurt")
    record = records.Record(root, f".rolecall/turns/T{turn:04d}")
    record.write(effect.path, effect.op, edit_of(effect), turn=turn)
    return effect


def ann(root: Path) -> bytes:
    return (root / "characters" / "ann.md").read_bytes()


def test_a_proposal_changes_nothing_but_is_listed_with_its_reason_and_source(root, rolecall):
    propose(root, HURT)
    assert ann(root) == LOCKED
    (row,) = json.loads(rolecall("-C", root, "proposals", "--json").out)
    assert row == {
        "number": 1,
        "line": "Ann: status: well → hurt",
        "turn": "T0007",
        "paths": ["characters/ann.md"],
        "reason": "a knife",
        "source": "Ann falls.",
        "model": "",
    }
    told = rolecall("-C", root, "proposals").out
    assert "  1  Ann: status: well → hurt  (T0007, characters/ann.md)" in told and "reason: a knife" in told


def test_status_shows_the_open_ones(root, rolecall):
    propose(root, HURT)
    assert "Ann: status: well → hurt" in rolecall("-C", root, "status").out
    assert [p["number"] for p in json.loads(rolecall("-C", root, "status", "--json").out)["proposals"]] == [1]


def test_accepting_makes_the_change_under_a_record_of_its_own_and_closes_it(root, rolecall):
    propose(root, HURT, LINE)
    ran = rolecall("-C", root, "proposals", "accept", 1)
    assert (ran.code, ran.out) == (0, "1: characters/ann.md\n")
    assert ann(root) == (
        b"---\nname: Ann\nlocked: true\nstatus: hurt   # hers\n---\nA cook.\n\n"
        b"## History\n\n- T0007 status: well \xe2\x86\x92 hurt\n- T0007 Cut by the Guild.\n"
    )
    lines = records.lines(root, ".rolecall/edits/0001")
    assert [line["do"] for line in lines] == ["begin", "write", "write", "closed"]
    assert (lines[0]["proposal"], lines[1]["reason"], lines[1]["source"]) == (1, "a knife", "Ann falls.")
    assert json.loads(rolecall("-C", root, "proposals", "--json").out) == []


def test_what_the_writer_changed_meanwhile_stays_beside_the_accepted_change(root):
    propose(root, HURT)
    (root / "characters" / "ann.md").write_bytes(LOCKED + b"\nShe sings.\n")
    proposals.accept(root, 1)
    assert b"She sings.\n" in ann(root) and b"status: hurt" in ann(root)


def test_dropping_changes_nothing_and_the_same_is_not_proposed_again(root, rolecall):
    propose(root, HURT)
    assert rolecall("-C", root, "proposals", "drop", 1).out == "1: dropped (Ann: status: well → hurt)\n"
    assert ann(root) == LOCKED
    assert proposals.known(root, [HURT]) == "dropped"
    assert proposals.known(root, [LINE]) == ""


@pytest.mark.parametrize("verb", ["accept", "drop"])
def test_a_number_that_is_not_open_is_told_and_nothing_is_written(root, rolecall, verb):
    propose(root, HURT)
    rolecall("-C", root, "proposals", "drop", 1)
    for number, what in ((1, "is dropped already"), (9, "there is no proposal 9")):
        ran = rolecall("-C", root, "proposals", verb, number)
        assert ran.code == 1 and what in ran.err and "rolecall proposals" in ran.err
    assert ann(root) == LOCKED


def test_numbers_go_on_after_the_last_one_whatever_became_of_it(root):
    for expected in (1, 2, 3):
        effect = propose(root, Effect("history", "characters/ann.md", 7, f"line {expected}"))
        assert effect.path.endswith(f"{expected:04d}.json")
        proposals.drop(root, expected)


def test_a_proposal_written_twice_is_there_once_and_another_of_its_number_is_refused(root):
    effect = propose(root, HURT)
    data = (root / effect.path).read_bytes()
    assert edit_of(effect)(data) == data
    other = proposals.of(1, [LINE], "another")
    with pytest.raises(Exception, match="has that number"):
        edit_of(other)(data)


def test_a_broken_proposal_is_passed_over_in_the_list_and_told_when_asked_for(root):
    propose(root, HURT)
    (root / ".rolecall/proposals/0002.json").write_text('{"line": "x", "turn": 1, "effects": [{"op": 1')
    (root / ".rolecall/proposals/0003.json").write_text('{"line": "x", "turn": 1, "effects": []}')
    assert [p.number for p in proposals.listed(root)] == [1]
    for number in (2, 3):
        with pytest.raises(Malformed, match="cannot be read"):
            proposals.accept(root, number)


def test_where_the_entry_is_gone_the_proposal_stays_open_and_says_so(root, rolecall):
    propose(root, HURT)
    (root / "characters" / "ann.md").unlink()
    ran = rolecall("-C", root, "proposals", "accept", 1)
    assert ran.code == 1 and "no such file any more" in ran.err
    assert [p.number for p in proposals.listed(root)] == [1]


def test_a_kill_at_any_step_of_accepting_leaves_it_open_or_done_and_accepting_again_makes_no_change_twice(root):
    want = edit_of(LINE)(edit_of(HURT)(LOCKED))
    seen = set()
    for at in range(1, 200):
        (root / "characters" / "ann.md").write_bytes(LOCKED)
        for path in (root / ".rolecall").rglob("*"):
            if path.is_file() and ("proposals" in path.parts or "edits" in path.parts):
                path.unlink()
        propose_plainly(root)
        with failing(root, at, "torn") as faulty, contextlib.suppress(Killed, StorageError):
            proposals.accept(root, 1)
        files.sweep(root)
        if [p.number for p in proposals.listed(root)] == [1]:
            proposals.accept(root, 1)
        assert ann(root) == want, at
        seen.add(fired(faulty))
        if not fired(faulty):
            break
    assert seen == {True, False}


def propose_plainly(root: Path) -> None:
    effect = proposals.of(1, [HURT, LINE], "Ann: hurt")
    place = root / effect.path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(effect.text, encoding="utf-8")


def fired(faulty: Faulty) -> bool:
    return bool(faulty.hit)


def test_an_unknown_proposal_is_an_unknown_name(root):
    with pytest.raises(UnknownName):
        proposals.drop(root, 5)


def test_a_narrators_note_on_a_locked_entry_is_proposed_by_the_turn_and_accepted_afterwards(root, rolecall, script):
    spec = script("""
- role: narrator
  text: Ann cuts her thumb on the bread knife and swears by the tide.
  tools:
    - {name: append_journal, arguments: {text: Ann cut her thumb.}}
    - {name: append_history, arguments: {entry: Ann, text: Cut her thumb.}}
""")
    ran = rolecall("-C", root, "turn", "I watch Ann.", "--model", f"narrator={spec}", "--model", "sidecar=off")
    assert ran.code == 0, ran.err
    assert ann(root) == LOCKED
    assert [p.line for p in proposals.listed(root)] == ["Ann: Cut her thumb."]
    assert ".rolecall" not in rolecall("-C", root, "search", "thumb", "--json").out
    assert rolecall("-C", root, "proposals", "accept", 1).code == 0
    assert ann(root).endswith(b"- T0001 Cut her thumb.\n")
    assert rolecall("-C", root, "check").code == 0
