"""The cast of a chat as entries: made new, or, where the campaign has them under some name, given what is new.

The same table as a scribe's: a locked entry gets proposals, a known one is never made twice. People of one chat are not
held to be each other's twins however alike their names are: the chat tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterable

from rolecall.agents.cast import Being, Place
from rolecall.agents.castwords import Told
from rolecall.campaign import merging
from rolecall.campaign.effects import Effect
from rolecall.campaign.journal import turn_id
from rolecall.errors import RoleCallError
from rolecall.search.twins import Candidate, twin_of
from rolecall.tools import compendium
from rolecall.tools.ledger import Ledger, clean_name, known, put
from rolecall.tools.toolbox import ToolFault

NAMELESS = frozenset({"you"})  # the player of a program that knows no name


def put_cast(
    table: Ledger, beings: Iterable[Being], places: Iterable[Place], words: dict[str, tuple[Told, ...]]
) -> list[str]:
    """Put the cast on the table; what could not be, in words."""
    faults = []
    for kind, things in (("character", beings), ("location", places)):
        for thing in things:
            if thing.name.casefold() in NAMELESS:
                continue
            try:
                _put(table, kind, thing, words.get(thing.name, ()))
            except (ToolFault, RoleCallError) as fault:
                faults.append(f"{thing.name}: {fault}")
    return faults


def _put(table: Ledger, kind: str, thing: Being | Place, told: tuple[Told, ...]) -> None:
    before = table.turn
    aliases = [clean_name(alias) for alias in getattr(thing, "aliases", ())]
    candidate = Candidate(clean_name(thing.name), tuple(aliases), kind, "", "")
    why = {"reason": _counted(thing), "source": told[0].text if told else ""}
    lines = tuple(f"{turn_id(one.turn)} {one.text}" for one in told)
    table.turn = thing.first
    try:
        path = _made(table, candidate) or _known(table, candidate)
        if not path:
            compendium.refuse_taken(table, candidate)
            candidate = Candidate(candidate.name, candidate.aliases, kind, _counted(thing), "")
            path, facts = compendium.make(table, candidate, {}, why), {}
        else:
            names = compendium.other_names(table, path, candidate)
            facts = {"aliases": names} if names else {}
        absorbed = Effect("absorb", path, table.turn, key=kind, facts=facts, lines=lines, **why)
        put(table, candidate.name, [absorbed], _counted(thing))
    finally:
        table.turn = before


def _made(table: Ledger, candidate: Candidate) -> str:
    """The entry that was recorded for this chat already, by one of its names exactly."""
    wanted = {merging.key_of(name) for name in (candidate.name, *candidate.aliases)}
    for path, made in table.made.items():
        if made.kind == candidate.kind and wanted & {merging.key_of(n) for n in (made.name, *made.aliases)}:
            return path
    return ""


def _known(table: Ledger, candidate: Candidate) -> str:
    """The entry that the campaign had before."""
    for twins in known(table):
        found = twin_of(candidate, twins)
        if found is not None:
            return found.path
    return ""


def _counted(thing: Being | Place) -> str:
    """`Speaks 12 times and is named 30 times, T0001-T0040.`"""
    parts = []
    if isinstance(thing, Being) and thing.spoken:
        parts.append(f"speaks {_times(thing.spoken)}")
    if thing.named or not parts:
        parts.append(f"is named {_times(thing.named)}")
    said = " and ".join(parts)
    return f"{said[0].upper()}{said[1:]}, first in {turn_id(thing.first)}, last in {turn_id(thing.last)}."


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
