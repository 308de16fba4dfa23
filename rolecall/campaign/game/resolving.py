"""A merged directive against the campaign as it stands: the effects that carry it out, what was refused and why, what holds now.

Pure: the files are only read. Parts are taken in a fixed order (who is there, what time it is, where, the fight, how people
stand, conditions, things, ties, quests, what is to come); then what is over by now goes. Each thing asked for is done whole or refused
alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rolecall.campaign import proposals
from rolecall.campaign.effects import Effect
from rolecall.campaign.game import company, conditions, days, fights, inventory, journeys, quests, resources, ties
from rolecall.campaign.game.directives import Merged, Refused
from rolecall.campaign.game.sheet import Locked, Sheet
from rolecall.campaign.game.world import World


@dataclass(frozen=True, slots=True)
class Resolution:
    """What becomes of a directive. `said` may be shown to anybody, `hidden` to the DM alone; `locked` is for the writer to decide.

    `fault`: why none of it could be worked out, where a rule of the game itself failed.
    """

    effects: tuple[Effect, ...] = ()
    refused: tuple[Refused, ...] = ()
    said: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    locked: tuple[Locked, ...] = ()
    fault: str = ""


def resolve(merged: Merged, world: World, *, ticks: bool = True) -> Resolution:
    """The resolution of a directive. With `ticks` what is over by this turn or date goes too, and what is due is said."""
    sheet = Sheet(world, merged.turn or world.turn)
    company.resolve_party(sheet, merged)
    days.resolve_time(sheet, merged)
    journeys.resolve_map(sheet, merged)
    fights.resolve_fight(sheet, merged)
    company.resolve_status(sheet, merged)
    conditions.resolve_conditions(sheet, merged)
    inventory.resolve_inventory(sheet, merged)
    resources.resolve_resources(sheet, merged)
    ties.resolve_ties(sheet, merged)
    quests.resolve_quests(sheet, merged)
    days.resolve_events(sheet, merged)
    fights.resolve_end(sheet, merged)
    if ticks:
        sheet.guarded("effects", lambda: conditions.expire(sheet))
        sheet.guarded("calendar", lambda: days.due(sheet))
    return Resolution(
        tuple(sheet.effects), tuple(sheet.refused), sheet.told(), sheet.told(secret=True), tuple(sheet.locked)
    )


def proposed(resolution: Resolution, root: Path, *, taken: int = 0) -> tuple[Effect, ...]:
    """The changes of locked entries as proposals, without those that lie there already or were dropped. Reads the disk.

    `taken` is how many proposals the turn has on the table already: their numbers are not given twice.
    """
    number, found = proposals.next_number(root) + taken, []
    for locked in resolution.locked:
        made = proposals.of(number, locked.effects, f"{locked.about}: {locked.line}")
        if not proposals.known(root, locked.effects) and not any(proposals.same(made, one) for one in found):
            found.append(made)
            number += 1
    return tuple(found)
