"""The pace of the story in figures, counted by code and handed to the DM: models are poor at counting turns.

Turns since a story line moved, the length of the chapter, how old open seeds, intentions and promises are, and how each
open arc has moved.
"""

from __future__ import annotations

from dataclasses import dataclass

from rolecall.campaign import arcs, checklists, journal, plans, story
from rolecall.campaign.checklists import Item
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import promises_of
from rolecall.campaign.folder import Campaign
from rolecall.errors import CampaignError
from rolecall.search.searcher import Search

ARCS = 8  # arcs that are told of, the one that moved last first
STILL = 6  # turns without a beat after which the DM is told to move something
OLD = 20  # turns after which a seed has waited long
LONG = 35  # turns after which a chapter is long: it ends by itself at 50


@dataclass(frozen=True, slots=True)
class Movement:
    """An open arc: its name, turns since its last line (None where no line names a turn), and lines so far."""

    name: str
    since: int | None
    lines: int


@dataclass(frozen=True, slots=True)
class Pace:
    """The figures before a turn is told. `since_beat` is None while nothing has moved yet; ages are in turns."""

    turn: int
    since_beat: int | None
    chapter: int
    arcs: tuple[Movement, ...]
    seeds: tuple[tuple[str, int], ...]
    intentions: tuple[tuple[str, int], ...]
    promises: tuple[tuple[str, int], ...]

    @property
    def conditions(self) -> set[str]:
        """The conditions under which the DM is told something more (the `when:` of its instructions)."""
        found = set()
        if self.turn > STILL and (self.since_beat is None or self.since_beat >= STILL):
            found.add("still")
        if any(age >= OLD for _, age in self.seeds):
            found.add("old-seed")
        if self.chapter >= LONG:
            found.add("long-chapter")
        return found

    def text(self) -> str:
        """The figures in lines for a prompt."""
        beat = "no story line has moved yet" if self.since_beat is None else f"turns since a beat: {self.since_beat}"
        rows = [f"- {beat}", f"- turns in this chapter: {self.chapter}"]
        for arc in self.arcs:
            since = "has not moved" if arc.since is None else f"moved {arc.since} turns ago"
            rows.append(f"- arc {arc.name!r}: {since}, {arc.lines} lines so far")
        for what, items in (("seed", self.seeds), ("intention", self.intentions), ("promise", self.promises)):
            rows += [f"- open {what}, {age} turns old: {words}" for words, age in items]
        return "\n".join(rows)


def of(campaign: Campaign, search: Search, state: Document, turn: int) -> Pace:
    """The figures for a turn that is about to be told. What cannot be read is left out."""
    moved, beats = [], []
    for entry in search.catalogue.of_kinds("arc", "quest"):
        if entry.withheld or (document := _opened(campaign, entry.path)) is None:
            continue
        arc = arcs.read(document)
        last = journal.turn_number(arc.latest)
        beats += [last] if last is not None else []
        if arc.open:
            moved.append(Movement(arc.name, None if last is None else turn - last, arc.trail + bool(arc.latest)))
    moved.sort(key=lambda one: (one.since is None, one.since or 0, one.name))
    promises = [(p.words, turn - p.turn) for p in promises_of(state) if not p.kept and p.turn]
    return Pace(
        turn=turn,
        since_beat=turn - max(beats) if beats else None,
        chapter=_chapter(campaign),
        arcs=tuple(moved[:ARCS]),
        seeds=_ages(open_items(campaign, plans.SEEDS), turn),
        intentions=_ages(open_items(campaign, plans.INTENTIONS), turn),
        promises=tuple(promises[:ARCS]),
    )


def open_items(campaign: Campaign, path: str) -> tuple[Item, ...]:
    """The open lines of one of the DM's check lists; none where there is no such file, or it cannot be read."""
    document = _opened(campaign, path) if campaign.exists(path) else None
    return tuple(item for item in checklists.items_of(document) if item.open) if document else ()


def _ages(items: tuple[Item, ...], turn: int) -> tuple[tuple[str, int], ...]:
    """(words, age) of the items, the oldest first; one without a turn is as old as the story."""
    found = sorted(((item.words, turn - item.turn) for item in items), key=lambda pair: (-pair[1], pair[0]))
    return tuple(found[:ARCS])


def _chapter(campaign: Campaign) -> int:
    found = story.chapters(campaign)
    document = _opened(campaign, found[-1][1]) if found else None
    return len(story.turns_of(document)) if document else 0


def _opened(campaign: Campaign, path: str) -> Document | None:
    try:
        return campaign.document(path)
    except CampaignError:
        return None
