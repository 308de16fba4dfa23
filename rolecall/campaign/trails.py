"""Trails of arcs that have fewer lines than the last turn that moved them left there.

What a turn left is in its record: how many lines, and of which turns. Lines of turns that no longer stand (they were taken back,
or belong to another timeline) are not missed, nor is anything by a record of another course of the story.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rolecall.campaign import arcs, journal, records, story
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.kinds import STATE_FILE, kind_of
from rolecall.errors import Unclear

LOOK_BACK = 200  # records


def left_by(document: Document) -> dict[str, object]:
    """What a record keeps of an arc that is about to be moved: how long its trail will be, and of which turns."""
    lines = [line for line in (document.text("latest").strip(), *arcs.trail_of(document)) if line]
    turns = [turn for turn in map(journal.turn_number, lines) if turn is not None]
    return {"trail": len(lines), "of": turns}


def shrunk(campaign: Campaign, documents: Mapping[str, Document]) -> Iterator[tuple[str, int | None, str]]:
    """(path, line, message) of each trail that is too short, by what its last recorded move says."""
    told: dict[int, set[str]] | None = None
    seen: set[str] = set()
    for folder in reversed(records.folders(campaign.root)[-LOOK_BACK:]):
        moves = {w["path"]: w for w in records.writes(campaign.root, folder) if w["op"] == "arc"}
        moves = {path: move for path, move in moves.items() if path in documents and path not in seen}
        if not moves:
            continue
        told = _told(documents) if told is None else told
        if not _stands(campaign, folder, told):
            continue
        seen |= moves.keys()
        for path, move in moves.items():
            gone = [turn for turn in move.get("of", ()) if turn not in told]
            left = move.get("trail", 0) - len(gone)
            try:
                now, section = len(arcs.trail_of(documents[path])), documents[path].section(arcs.TRAIL)
            except Unclear:
                continue  # two trails: told as such
            if now < left:
                message = f"the trail has {now} lines; {folder.rsplit('/', 1)[-1]} left it with {left}"
                yield path, section.line if section else None, message


def _told(documents: Mapping[str, Document]) -> dict[int, set[str]]:
    """What story and Journal tell of each turn."""
    found: dict[int, set[str]] = {}
    for document in documents.values():
        try:
            if document.path == STATE_FILE:
                pairs = [(line.turn, line.text) for line in journal.lines_of(document)]
            elif kind_of(document.path, document.fields) == "story":
                pairs = [(one.turn, one.prose) for one in story.turns_of(document)]
            else:
                continue
        except Unclear:
            continue
        for turn, text in pairs:
            found.setdefault(turn, set()).add(_plain(text))
    return found


def _stands(campaign: Campaign, folder: str, told: Mapping[int, set[str]]) -> bool:
    """Whether a record is of what is told now; True where it does not say what it told."""
    every = records.lines(campaign.root, folder)
    planned = [effect for line in every if line["do"] == "plan" for effect in line["effects"]]
    mine = {_plain(effect.get("text", "")) for effect in planned if effect["op"] in ("section", "journal")}
    return not mine or not mine.isdisjoint(told.get(records.turn_of(folder), ()))


def _plain(text: str) -> str:
    return " ".join(text.split())
