"""Records damaged on the disk: whoever reads is never stopped, and what cannot be taken back exactly is refused whole."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.campaign import lock, recordlines, records
from rolecall.campaign.activity import PATH as FEED
from rolecall.campaign.activity import Feed
from rolecall.turn import rollback
from tests.cli.test_playing import files_of

DEEP = "[" * 100_000
READING = (("check",), ("status",), ("search", "inn"), ("proposals",), ("activity",))


@pytest.fixture
def told(rolecall, campaign, script) -> Path:
    """Three turns told, the third with an arc moved."""
    third = """
- text: Scene 3.
  tools:
    - {name: move_arc, arguments: {arc: Who rang the drowned bell, text: Pasco heard his name in it.}}
    - {name: append_journal, arguments: {text: The bell rang thrice.}}
"""
    for number, said in enumerate(("- text: Scene 1.", "- text: Scene 2.", third), 1):
        assert rolecall("-C", campaign, "turn", f"I go, {number}.", "--model", script(said)).code == 0
    return campaign


def record(root: Path, turn: int = 3) -> Path:
    return root / records.TURNS / f"T{turn:04d}" / "record.jsonl"


def change(place: Path, kind: str, **what: object) -> None:
    """Change the first line of a kind."""
    lines = [json.loads(line) for line in place.read_text("utf-8").splitlines()]
    next(line for line in lines if line["do"] == kind).update(what)
    place.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")


def assert_readable(rolecall, root: Path) -> str:
    """Every reading command goes on; what they said on stderr."""
    said = ""
    for command in READING:
        ran = rolecall("-C", root, *command)
        assert ran.code == 0 or (command == ("check",) and ran.code == 1 and ran.out), (command, ran)
        assert "Traceback" not in ran.err and "Error" not in ran.err, (command, ran.err)
        said += ran.err
    return said


def a_folder(place: Path) -> None:
    place.unlink()
    place.mkdir()


def a_pipe(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def oversized(place: Path) -> None:
    os.truncate(place, 33 << 20)


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "empty object": lambda place: place.write_text("{}\n"),
    "bare write": lambda place: place.write_text('{"do":"write"}\n'),
    "deep": lambda place: place.write_text(DEEP),
    "empty": lambda place: place.write_bytes(b""),
    "zeros": lambda place: place.write_bytes(bytes(place.stat().st_size)),
    "turn is text": lambda place: change(place, "begin", turn="x"),
    "turn of another": lambda place: change(place, "begin", turn=7),
    "action is no text": lambda place: change(place, "begin", action=["go"]),
    "swipe is text": lambda place: change(place, "begin", swipe="first"),
    "folder": a_folder,
    "oversized": oversized,
}
if hasattr(os, "mkfifo"):
    UNREADABLE["pipe"] = a_pipe


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_record_that_cannot_be_read_is_put_aside_and_no_earlier_turn_is_taken_back(name, rolecall, told, script):
    before = files_of(told)
    UNREADABLE[name](record(told))
    said = assert_readable(rolecall, told)
    assert said.count("The record of T0003 cannot be read and is put aside") == 1
    for command in (("undo",), ("undo", "2"), ("swipe", "--model", script("- text: Other."))):
        ran = rolecall("-C", told, *command)
        assert ran.code == 1 and "no record of T0003" in ran.err, (command, ran)
        assert ran.err.count("\n") == 1
    assert files_of(told) == before
    assert not (told / rollback.MARK).exists()
    next_one = rolecall("-C", told, "turn", "I stay.", "--json", "--model", script("- text: Stay."))
    assert json.loads(next_one.out)["turn"] == "T0004"
    assert rolecall("-C", told, "undo").code == 0
    assert files_of(told) == before


WRONG = {
    "path": [3, "", "../outside.md", "/etc/passwd", "a\0b"],
    "at": ["x", -1, 1.5, None],
    "new": [7, None, "base64:!", "\ud800", "other words"],
    "old": [[], {}, "base64:abc"],
    "after": ["x", 4],
    "before": ["", None],
    "op": [None, 3],
    "turn": ["T0003", []],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in WRONG.items() for value in values])
def test_an_undo_that_meets_a_damaged_write_changes_nothing(key, value, rolecall, told):
    lines = [json.loads(line) for line in record(told).read_text("utf-8").splitlines()]
    lines[next(n for n, line in enumerate(lines) if line["do"] == "write")] |= {key: value}
    record(told).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    before = files_of(told)
    assert_readable(rolecall, told)
    ran = rolecall("-C", told, "undo")
    assert ran.code == 1 and "the record of T0003 is damaged; nothing was changed" in ran.err
    assert files_of(told) == before
    assert not (told / rollback.MARK).exists()
    assert rolecall("-C", told, "undo", "--turn", "T0002").code == 0  # that one is whole


@pytest.mark.parametrize("kept", [1, 2, 3, 4])
def test_a_record_cut_behind_any_line_takes_nothing_back_by_halves(kept, rolecall, told):
    lines = record(told).read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["do"] for line in lines]
    assert kinds.index("closed") > kept
    record(told).write_bytes(b"".join(lines[:kept]))
    before = files_of(told)
    assert_readable(rolecall, told)
    ran = rolecall("-C", told, "undo")
    assert ran.code == 1 and "T0003" in ran.err and "taken back" not in ran.out
    assert files_of(told) == before


def test_the_second_of_two_turns_is_looked_at_before_the_first_is_taken_back(rolecall, told):
    change(record(told, 2), "write", at="x")
    before = files_of(told)
    ran = rolecall("-C", told, "undo", "2")
    assert ran.code == 1 and "the record of T0002 is damaged" in ran.err
    assert files_of(told) == before


MARKS = [
    "",
    "{}",
    DEEP,
    '{"kind":"undo","turn":"x"}',
    '{"kind":"undo","turn":true}',
    '{"kind":"what","turn":3}',
    '{"kind":"swipe","turn":3}',
    '{"kind":"switch","turn":3,"from":1,"to":[]}',
    "\0\0\0",
]


@pytest.mark.parametrize("mark", MARKS)
def test_a_rollbacks_note_that_cannot_be_read_is_dropped_in_one_line(mark, rolecall, told):
    before = files_of(told)
    (told / rollback.MARK).write_text(mark)
    said = assert_readable(rolecall, told)
    assert said.count("cannot be read and is dropped") == 1
    assert not (told / rollback.MARK).exists() and files_of(told) == before


def test_a_folder_in_the_place_of_a_rollbacks_note_is_moved_out_of_the_way(rolecall, told):
    (told / rollback.MARK).mkdir()
    assert "cannot be read and is dropped" in assert_readable(rolecall, told)
    assert rolecall("-C", told, "undo").code == 0


def test_an_interrupted_undo_of_a_damaged_record_holds_nobody_up(rolecall, told, script):
    change(record(told), "write", at="x")
    (told / rollback.MARK).write_text('{"kind":"undo","turn":3}')
    before = files_of(told)
    said = assert_readable(rolecall, told)
    assert said.count("An interrupted rollback cannot be finished and is dropped") == 1
    assert files_of(told) == before
    assert rolecall("-C", told, "turn", "I stay.", "--model", script("- text: Stay.")).code == 0


def test_a_switch_to_an_answer_whose_record_is_damaged_keeps_the_one_that_stands(rolecall, told, script):
    assert rolecall("-C", told, "swipe", "--model", script("- text: Another.")).code == 0
    change(told / records.TURNS / "T0003.swipe-1" / "record.jsonl", "plan", effects=[{"op": "journal"}])
    before = files_of(told)
    ran = rolecall("-C", told, "swipe", "--to", "1")
    assert ran.code == 1 and "the record of T0003 is damaged" in ran.err
    assert files_of(told) == before and not (told / rollback.MARK).exists()


def test_an_edits_folder_with_a_strange_number_stops_nobody(rolecall, told):
    (told / records.EDITS / "²").mkdir(parents=True)
    (told / records.EDITS / "²" / "record.jsonl").write_text(DEEP)
    assert_readable(rolecall, told)
    assert rolecall("-C", told, "undo").code == 0


@pytest.mark.parametrize("text", [DEEP, "{}", '{"line": "x", "turn": 1, "effects": [{}]}', "null"])
def test_a_proposal_that_cannot_be_read_is_passed_over(text, rolecall, told):
    place = told / ".rolecall" / "proposals" / "0001.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(text)
    assert_readable(rolecall, told)
    ran = rolecall("-C", told, "proposals", "accept", "1")
    assert ran.code != 0 and "Traceback" not in ran.err


def test_damaged_lines_of_the_feed_are_passed_over(told):
    feed = Feed(told)
    feed.note("search", "pre-gen", reason="looked")
    known = len(feed.read())
    with (told / FEED).open("a") as file:
        file.write(f"{DEEP}\n{{}}\n[1]\n")
        file.write('{"at": 1, "turn": [], "type": 2, "phase": null, "model": {}, "reason": 3, "paths": [4]}\n')
    assert len(feed.read()) == known


@pytest.mark.parametrize("text", [DEEP, "{}", '{"layer": "narrator", "digest": "x", "request": {"system": [3]}}', ""])
def test_the_last_prompts_are_told_to_be_unreadable_in_one_line(text, rolecall, told):
    call = next((record(told).parent / "calls").glob("*-narrator.json"))
    call.write_text(text)
    ran = rolecall("-C", told, "context", "--last")
    assert ran.code == 1 and "cannot be read" in ran.err and ran.err.count("\n") == 1
    assert_readable(rolecall, told)


def test_a_turn_that_another_command_is_telling_is_not_called_interrupted(rolecall, told):
    lines = record(told).read_text("utf-8").splitlines(keepends=True)
    record(told).write_text("".join(lines[:-1]), "utf-8")  # not closed yet
    with lock.hold(told, "turn"):
        held = rolecall("-C", told, "check", "--json")
        assert "interrupted" not in held.out
        assert "interrupted" not in rolecall("-C", told, "status").out


def test_a_line_torn_by_a_kill_is_no_damage_when_its_write_was_made_again():
    write = {"do": "write", "path": "a.md", "op": "arc", "at": 0, "old": "", "new": "x"}
    whole = json.dumps(write | {"before": "0" * 64, "after": "1" * 64}).encode()
    assert recordlines.faults(whole[:60] + b"\n" + whole + b"\n") == []
    assert recordlines.faults(whole[:60] + b"\n") == [1]
    assert recordlines.faults(whole + b"\n" + b'{"do": "wri') == []
    assert recordlines.faults(b'{"do": "of a later version"}\n{}\n') == [2]
