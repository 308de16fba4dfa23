"""The map: places found, ways between them, who goes where."""

from __future__ import annotations

from rolecall.campaign import references
from rolecall.campaign.game import numbers
from rolecall.campaign.game.journeys import FIELD
from rolecall.tools.directing import after, cleaned, game_tool, number, part, who, world
from rolecall.tools.toolbox import Table, ToolType, schema, text

_PLACE = who("a place's exact name")

DISCOVER = game_tool(
    "discover",
    "The party finds a place it did not know.",
    ["place"],
    lambda given: {"map": {"discover": [given]}},
    place=_PLACE,
)
CONNECT = game_tool(
    "connect",
    "Note a way between two places.",
    ["from", "to"],
    lambda given: {"map": {"connect": [given]}},
    **{"from": _PLACE},
    to=_PLACE,
    way=text("what way: a ferry, the ridge path", 120),
    days=number("days it takes", 0, 10_000),
    one_way={"type": "boolean"},
)
MOVE_PARTY = game_tool(
    "move_party",
    "The party goes to another place, without a journey.",
    ["to"],
    lambda given: {"map": {"move": [{"who": "party", "to": given["to"]}]}},
    to=_PLACE,
)
MOVE_CHARACTER = game_tool(
    "move_character",
    "Somebody goes to another place.",
    ["who", "to"],
    lambda given: {"map": {"move": [given]}},
    who=who(),
    to=_PLACE,
)
_TRAVEL = {"to": _PLACE, "days": number("as the way says, if left out", 1, 10_000), "hours": number("", 1, 10_000)}


def _travel(table: Table, given: dict) -> str:
    clean = cleaned(given, _TRAVEL)
    time = part(clean, "days", "hours") or _as_the_way_says(table, clean["to"])
    move = {"map": {"move": [{"who": "party", "to": clean["to"]}]}}
    return table.direct(move | ({"calendar": {"advance": time}} if time else {}))


def _as_the_way_says(table: Table, to: str) -> dict:
    """The days that the way from the party's place to another takes, where it is noted."""
    found = world(table)
    state = after(table, table.state.path) or table.state
    here = found.find(state.text("location"), ("location",), secrets=table.secrets)
    there = found.find(to, ("location",), secrets=table.secrets)
    document = after(table, here) if here and there else None
    for name, _, item in references.natures(document.fields.get(FIELD, "") if document else ""):
        days = numbers.read(str(item.get("days", "")))
        if days and days.value > 0 and found.find(name, ("location",), secrets=table.secrets) == there:
            return {"days": days.value}
    return {}


TRAVEL = ToolType(
    "travel",
    "The party travels: the place and the date change together.",
    schema(["to"], **_TRAVEL),
    "mutation",
    _travel,
)
TOOLS = (TRAVEL, MOVE_PARTY, DISCOVER, MOVE_CHARACTER, CONNECT)
