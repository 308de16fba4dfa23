"""The DM's own files under `dm/`: what is planned and what goes on unseen. All of it is secret, plain, and made when needed.

    seeds.md          - [ ] the bell is cracked (T0003)            planted; then `watered T0012`, `paid T0031`, `dropped T0040`
    intentions.md     - [ ] Encounter: Varr's men at the door, when the party sleeps (T0012)     or `Event: …`; `fulfilled`, `withdrawn`
    agendas.md        - T0012 Captain Varr: wants the ledger; next: bribe the clerk               a person's newest line counts
    shadow-world.md   - T0012 Captain Varr: burns the customs house                               what happens off-screen
    knowledge.md      - T0012 Sera: Varr has the ledger                                           who knows what
    plan.md           - T0012 the second night is Maren's                                         notes below the writer's plan

Lines are only added or marked, never taken away. Hand-written lines without a turn are read; their turn is 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rolecall.campaign import checklists, documents
from rolecall.campaign.documents import Document
from rolecall.campaign.journal import turn_id, turn_number
from rolecall.campaign.text import fold

if TYPE_CHECKING:  # effects are built on these edits
    from rolecall.campaign.effects import Effect

PLAN, SEEDS, INTENTIONS = "dm/plan.md", "dm/seeds.md", "dm/intentions.md"
AGENDAS, SHADOW, KNOWLEDGE = "dm/agendas.md", "dm/shadow-world.md", "dm/knowledge.md"
FILES = (PLAN, SEEDS, INTENTIONS, AGENDAS, SHADOW, KNOWLEDGE)
ENCOUNTER, EVENT = "Encounter", "Event"  # what an intention is, before its colon

TODO, TICK, DATED = "todo", "tick", "dated"
MAKES = frozenset((TODO, DATED))  # these may make their file
WHAT = {  # a mark, its box, and what it says of a seed, an intention or a promise
    "watered": "",
    "paid": checklists.DONE,
    "dropped": checklists.GIVEN_UP,
    "fulfilled": checklists.DONE,
    "withdrawn": checklists.GIVEN_UP,
    "broken": checklists.GIVEN_UP,
}
_DATED = re.compile(r" {0,3}[-*+][ \t]+(?!\[[ xX-]\])(?:(T\d{4,9})[ \t]+)?(.*?)[ \t]*$")
_DATED_BYTES = re.compile(rb" {0,3}[-*+][ \t]+T\d{4,9}[ \t]")


@dataclass(frozen=True, slots=True)
class Dated:
    """A dated line: its turn (0 where it says none), whom it is about (empty where it names nobody), and what it says."""

    turn: int
    who: str
    text: str


def dated_of(document: Document) -> tuple[Dated, ...]:
    """The dated lines of a file in the order they stand in; lines of check lists are none."""
    found = []
    for raw in document.body.decode("utf-8", "replace").split("\n"):
        if match := _DATED.match(raw.removesuffix("\r")):
            who, colon, text = match[2].partition(": ")
            named = bool(colon) and len(who) <= 80
            found.append(Dated(turn_number(match[1] or "") or 0, who if named else "", text if named else match[2]))
    return tuple(found)


def about(lines: tuple[Dated, ...], who: str) -> tuple[Dated, ...]:
    """The lines about somebody."""
    return tuple(line for line in lines if fold(_bare(line.who)) == fold(_bare(who)))


def _bare(name: str) -> str:
    return name.strip().removeprefix("[[").removesuffix("]]")


# -- edits


def add_dated(data: bytes | None, path: str, turn: int, text: str) -> bytes:
    """The file with one dated line more (a new file for None); the same bytes when it has that line."""
    line = f"- {turn_id(turn)} {' '.join(text.split())}".rstrip()
    if not data:
        return (line + "\n").encode("utf-8", "replace")
    if any(raw.removesuffix("\r").rstrip() == line for raw in data.decode("utf-8", "replace").split("\n")):
        return data
    return documents.append_like(data, path, line, _DATED_BYTES)


def _todo(data: bytes | None, effect: Effect) -> bytes:
    return checklists.add(data, effect.path, effect.turn, effect.text)


def _tick(data: bytes, effect: Effect) -> bytes:
    box = WHAT.get(effect.key, "")
    heading = "Promises" if effect.key == "broken" else ""  # it stands in the Campaign State, beside other lists
    return checklists.mark(
        data, effect.path, effect.turn, effect.text, effect.key, box=box, note=effect.title, heading=heading
    )


def _dated(data: bytes | None, effect: Effect) -> bytes:
    return add_dated(data, effect.path, effect.turn, effect.text)


EDITS: dict[str, Callable[[bytes, Effect], bytes]] = {TODO: _todo, TICK: _tick, DATED: _dated}
