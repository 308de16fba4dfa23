"""Immersion: what all layers want changed of the game's state, merged and resolved once, when the turn is told.

What the DM's layers want is on the narrator's table from the beginning (`Table.beside`), so that its tools answer with what
stands then; the narrator's own calls are on it as fragments. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rolecall.campaign import records
from rolecall.campaign.effects import Effect
from rolecall.campaign.game import directives, resolving
from rolecall.campaign.game.directives import Directive, Merged, Refused
from rolecall.campaign.records import Record
from rolecall.tools import directing
from rolecall.tools.toolbox import Table

TOLD = 12  # lines of what is due and what has run out that the narrator is told


@dataclass(frozen=True, slots=True)
class Immersion:
    """What becomes of the directives of a turn: the effects that carry them out, what was left out, what holds now."""

    merged: Merged
    effects: tuple[Effect, ...] = ()
    refused: tuple[Refused, ...] = ()
    said: tuple[str, ...] = ()
    fault: str = ""  # why none of it could be worked out


def read(fragments: Sequence[tuple[str, dict[str, Any]]], turn: int) -> tuple[list[Directive], list[Refused]]:
    """The sound directives in (layer, fragment) pairs, and what of them is not sound."""
    found, refused = [], []
    for layer, data in fragments:
        directive, wrong = directives.read(data, layer, turn)
        found += [] if directive.is_empty else [directive]
        refused += wrong
    return found, refused


def of(table: Table, record: Record | None = None) -> Immersion:
    """The directives on a table against the campaign with the table's effects laid over it; what is over by now goes.

    With a `record` a directive that it notes as applied is refused. A fault of ours in working it out costs the directives,
    never the turn.
    """
    mine = [Directive(table.layer, table.turn, data) for data in table.fragments]
    merged = directives.merge([*table.beside, *mine], table.turn)
    noted = directives.noted_in(records.lines(record.root, record.folder)) if record else set()
    if again := directives.twice(merged, noted):
        return Immersion(merged, refused=(again,))
    table.held.clear()  # worked out anew, from the files as they are now
    found = directing.resolution(table)
    taken = sum(effect.op == "proposal" for effect in table.effects)
    proposed = resolving.proposed(found, table.campaign.root, taken=taken)
    return Immersion(merged, (*found.effects, *proposed), found.refused, found.said, found.fault)


def outlook(table: Table) -> tuple[str, ...]:
    """What holds before the narrator speaks: what the DM's layers have changed, what is due, what has run out."""
    return of(table).said[:TOLD]


def note(record: Record, immersion: Immersion) -> None:
    """Note that the merged directive is applied, before it is."""
    if immersion.merged.moves and immersion.effects:
        record.jot(directives.NOTE, digest=immersion.merged.digest)
