"""What must hold after each step of the machine: the folder says what the model says, and nothing else is wrong."""

from __future__ import annotations

import re
from pathlib import Path

from rolecall.campaign import arcs, checklists, chronicles, commitlines, journal, records, story
from rolecall.campaign.checks import check
from rolecall.campaign.effects import promises_of
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from tests.game.machine_model import ARC, KIT, MOST, SEEDS, Model

_HIT_POINTS = re.compile(r"^hit_points: (\d+)/(\d+)$", re.M)
_SILVER = re.compile(r"^- silver: (-?\d+)$", re.M)


def lines_of(root: Path) -> list[tuple[int, str]]:
    """The journal lines of all Chronicles and of the Campaign State, in order."""
    campaign = open_campaign(root)
    books = [campaign.document(path) for _, path in chronicles.paths(campaign)] + [campaign.document(STATE_FILE)]
    return [(line.turn, line.text) for book in books for line in journal.lines_of(book)]


def numbers_of(root: Path) -> dict[str, int]:
    """The numbers of the game as the files have them."""
    (silver,) = _SILVER.findall((root / STATE_FILE).read_text())
    ((points, most),) = _HIT_POINTS.findall((root / KIT).read_text())
    assert int(most) == MOST
    return {"silver": int(silver), "hit_points": int(points)}


def hold(root: Path, model: Model, *, followed: bool = True, checked: bool = True) -> None:
    """AssertionError where something is not as it should be. `followed`: a command of the game's came after git was used by hand.

    `checked`: `check` finds nothing, either.
    """
    campaign = open_campaign(root)
    told = model.turns
    wanted = [(t.number, t.now.line) for t in told]
    assert lines_of(root) == wanted, (lines_of(root), wanted)
    _story(campaign, model)
    _entries(campaign, model)
    assert numbers_of(root) == model.numbers, (numbers_of(root), model.numbers)
    promises = [p.words for p in promises_of(campaign.document(STATE_FILE))]
    assert promises == [f"To Hesper: {t.now.line}" for t in told if t.now.promise], promises
    for path, marks in model.marks.items():
        text = (root / path).read_text() if (root / path).exists() else ""
        for mark in marks:
            assert text.count(mark) == 1, (path, mark)
    problems = [str(p) for p in check(campaign)] if checked else []
    assert problems == [], problems
    if followed:
        _records(campaign, model)


def _story(campaign: Campaign, model: Model) -> None:
    sections = [
        (t.turn, t.prose) for _, path in story.chapters(campaign) for t in story.turns_of(campaign.document(path))
    ]
    plain = [
        (n, "\n\n".join(p for p in prose.split("\n\n") if not p.startswith(("Writer's own", "*the tide, "))))
        for n, prose in sections
    ]
    wanted = [(t.number, t.now.prose) for t in model.turns]
    assert plain == wanted, (plain, wanted)
    arc = campaign.document(ARC)
    lines = [f"{turn_id(t.number)} Moved by {t.now.line}" for t in model.turns if t.now.moves]
    trail = [line for line in (arc.text("latest"), *arcs.trail_of(arc)) if journal.turn_number(line) is not None]
    assert trail == lines[::-1], (trail, lines[::-1])


def _entries(campaign: Campaign, model: Model) -> None:
    for path in model.entries:
        wanted = []
        for turn in model.turns:
            words = [turn.now.saw] * (model.moved.get(turn.now.entry, turn.now.entry) == path)
            words += [turn.now.noted] * (model.moved.get(turn.now.noted_in, turn.now.noted_in) == path)
            wanted += [f"- {turn_id(turn.number)} {one}" for one in words]
        found = [row for row in campaign.document(path).lines("History") if row.startswith("- T")]
        assert found == wanted, (path, found, wanted)
    seeds = checklists.items_of(campaign.document(SEEDS), "") if campaign.exists(SEEDS) else ()
    found = [item.words for item in seeds]
    wanted = [t.now.planted for t in model.turns if t.now.seed]
    assert found == wanted, (found, wanted)


def _records(campaign: Campaign, model: Model) -> None:
    """Every turn has a record, and it is of the answer that stands."""
    there = {records.turn_of(folder): folder for folder in records.folders(campaign.root)}
    for turn in model.turns:
        assert turn.number in there, f"{turn_id(turn.number)} has no record"
        told = commitlines.journal_of(campaign.root, there[turn.number])
        assert told == turn.now.line, (turn_id(turn.number), told, turn.now.line)
