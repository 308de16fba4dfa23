"""What a turn is like, as far as it decides which tools are of use. Read from the files once a turn, so that it holds still."""

from __future__ import annotations

from dataclasses import dataclass

from rolecall.campaign import arcs, checklists, plans
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import promises_of
from rolecall.campaign.game import combat, conditions, resources
from rolecall.errors import RoleCallError
from rolecall.tools.threads import arcs_of
from rolecall.tools.toolbox import Table


@dataclass(frozen=True, slots=True)
class Situation:
    """Whether there is a fight, something counted, a condition, a promise, an open arc, an open quest, a date, a place, a told
    turn; and, for the DM, an open seed, an agenda, knowledge.
    """

    combat: bool = False
    resources: bool = False
    effects: bool = False
    promises: bool = False
    arcs: bool = False
    quests: bool = False
    date: bool = False
    place: bool = False
    told: bool = False
    seeds: bool = False
    agendas: bool = False
    knowledge: bool = False


def read(table: Table) -> Situation:
    """The situation a turn begins in. What cannot be read is taken as not there."""
    state = table.state
    threads = [(entry.kind, arcs.read(document).open) for entry, document in arcs_of(table)]
    return Situation(
        combat=_has(state, combat.HEADING),
        resources=_has(state, resources.HEADING),
        effects=_has(state, conditions.HEADING),
        promises=any(not promise.kept for promise in _promises(state)),
        arcs=any(open_ for _, open_ in threads),
        quests=("quest", True) in threads,
        date=bool(state.text("date").strip()),
        place=bool(state.text("location").strip()),
        told=bool(table.search.catalogue.chapters),
        seeds=_open(table, plans.SEEDS),
        agendas=_dated(table, plans.AGENDAS),
        knowledge=_dated(table, plans.KNOWLEDGE),
    )


def _has(state: Document, heading: str) -> bool:
    try:
        return any(line.strip() for line in state.lines(heading))
    except RoleCallError:
        return False  # two such sections


def _promises(state: Document) -> tuple:
    try:
        return promises_of(state)
    except RoleCallError:
        return ()


def _plan(table: Table, path: str) -> Document | None:
    try:
        return table.now(path)
    except RoleCallError:
        return None


def _open(table: Table, path: str) -> bool:
    document = _plan(table, path)
    return document is not None and any(item.open for item in checklists.items_of(document))


def _dated(table: Table, path: str) -> bool:
    document = _plan(table, path)
    return document is not None and bool(plans.dated_of(document))
