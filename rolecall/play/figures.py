"""The game's numbers as a person asks for them: who has how many hit points, what there is, what lasts, who fights."""

from __future__ import annotations

from typing import Any

from rolecall.campaign import secrets
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.game import combat, company, conditions, quests, resources
from rolecall.campaign.game.rows import loose_of, rows_of
from rolecall.campaign.references import plain
from rolecall.errors import RoleCallError
from rolecall.search.searcher import Search


def figures(campaign: Campaign, search: Search, state: Document, *, with_secrets: bool = False) -> dict[str, Any]:
    """What `status --json` says of the game beside the story: rows as they are written, `combat` None without a fight.

    `combat` is `{round, turn, fighters}` in turn order; `hit_points` has everybody's who is of the party and has them.
    A section that cannot be read (two of a name) is told as empty; `check` says where.
    """
    points = _Points(campaign, search, with_secrets)
    return {
        "time": state.text("time"),
        "weather": state.text("weather"),
        "hit_points": {name: found for name, _ in _or_none(company.members, state) if (found := points.of(name))},
        "resources": [row.text for row in _or_none(loose_of, state, resources.HEADING)],
        "effects": [row.text for row in _or_none(rows_of, state, conditions.HEADING)],
        "combat": _combat(state, points),
    }


def objectives_of(quest: Document) -> list[dict[str, Any]]:
    """What is to be done for a quest: `[{text, done}]`."""
    found = [quests.objective_of(row) for row in _or_none(rows_of, quest, quests.HEADING)]
    return [{"text": text, "done": done} for text, done in found]


def _or_none(read: Any, *given: Any) -> list[Any]:
    try:
        return list(read(*given))
    except RoleCallError:
        return []


class _Points:
    """Hit points by name, from the entry that bears it."""

    def __init__(self, campaign: Campaign, search: Search, with_secrets: bool) -> None:
        self._campaign, self._search, self._with_secrets = campaign, search, with_secrets

    def of(self, name: str) -> str:
        """`11/14`, or empty when no one entry of the name says, or only one that is hidden."""
        found = [p for p in self._search.ties.named(name) if self._search.catalogue[p].kind in company.LIVING]
        if len(found) != 1 or (self._search.catalogue[found[0]].secret and not self._with_secrets):
            return ""
        try:
            fields = self._campaign.document(found[0]).fields
        except RoleCallError:
            return ""
        held = (fields if self._with_secrets else secrets.open_fields(fields)).get("hit_points", "")
        return held.strip() if isinstance(held, str) else ""


def _combat(state: Document, points: _Points) -> dict[str, Any] | None:
    try:
        fight = combat.read(state)
    except RoleCallError:
        return None
    if fight is None:
        return None
    fighters = [
        {
            "name": one.name,
            "initiative": one.initiative,
            "hit_points": _written(one) or points.of(one.name),
        }
        for one in fight.order()
    ]
    return {"round": fight.round, "turn": fight.turn, "fighters": fighters}


def _written(fighter: combat.Fighter) -> str:
    number = fighter.hit_points
    if number is None:
        return ""
    return f"{number.value}/{number.bound}" if number.bound is not None else str(number.value)


def lines(now: dict[str, Any]) -> list[str]:
    """The figures for a person, below the party; nothing where there are none."""
    told: list[str] = []
    if fight := now["combat"]:
        whose = f", {fight['turn']} to act" if fight["turn"] else ""
        told += ["", f"A fight: round {fight['round']}{whose}"]
        told += [
            f"  {one['name']}" + (f", hit points {one['hit_points']}" if one["hit_points"] else "")
            for one in fight["fighters"]
        ]
    for title, key in (("Resources", "resources"), ("Effects", "effects")):
        told += ["", title, *(f"  {plain(row)}" for row in now[key])] if now[key] else []
    return told
