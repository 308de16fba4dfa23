"""Fights: who takes part, whose turn it is, and hit points. Offered while one lasts; to start one, always."""

from __future__ import annotations

from rolecall.tools.directing import game_tool, number, part, who
from rolecall.tools.toolbox import schema, text

_POINTS = {
    "type": "string",
    "pattern": "^[0-9]{1,6}(/[0-9]{1,6})?$",
    "description": "`7/7`, without an entry of its own",
}
_INITIATIVE = number("rolled if left out", -100, 1000)
_COMBATANT = {"name": who(), "initiative": _INITIATIVE, "hit_points": _POINTS}

START_COMBAT = game_tool(
    "start_combat",
    "Begin a fight. Initiative is rolled for whoever has none given.",
    ["combatants"],
    lambda given: {"combat": {"start": given}},
    combatants={"type": "array", "minItems": 1, "maxItems": 40, "items": schema(["name"], **_COMBATANT)},
)
JOIN_COMBAT = game_tool(
    "join_combat",
    "Let somebody join the fight.",
    ["name"],
    lambda given: {"combat": {"join": [given]}},
    **_COMBATANT,
)
LEAVE_COMBAT = game_tool(
    "leave_combat",
    "Take somebody out of the fight: fled, fallen, yielded.",
    ["name"],
    lambda given: {"combat": {"leave": [given]}},
    name=who(),
    why=text("why"),
)
NEXT_IN_ORDER = game_tool(
    "next_in_order",
    "Pass the turn on in the fight; says whose it is.",
    [],
    lambda given: {"combat": {"next": 1}},
)
DAMAGE = game_tool(
    "damage",
    "Take hit points from somebody, in a fight or not.",
    ["who", "amount"],
    lambda given: {"combat": {"damage": [given]}},
    who=who(),
    amount=number(),
    by=who("who or what does it"),
)
HEAL = game_tool(
    "heal",
    "Give hit points back.",
    ["who", "amount"],
    lambda given: {"combat": {"heal": [given]}},
    who=who(),
    amount=number(),
    by=who("who or what does it"),
)
SET_HIT_POINTS = game_tool(
    "set_hit_points",
    "Set somebody's hit points outright.",
    ["who", "to"],
    lambda given: {"combat": {"hit_points": [given]}},
    who=who(),
    to=number("", 0),
)
SET_INITIATIVE = game_tool(
    "set_initiative",
    "Change somebody's place in the order.",
    ["name", "initiative"],
    lambda given: {"combat": {"initiative": [given]}},
    name=who(),
    initiative=number("higher comes first", -100, 1000),
)
END_COMBAT = game_tool(
    "end_combat",
    "End the fight.",
    [],
    lambda given: {"combat": {"end": part(given, "outcome")}},
    outcome=text("how it ended, in a sentence"),
)
TOOLS = (
    START_COMBAT,
    DAMAGE,
    HEAL,
    NEXT_IN_ORDER,
    LEAVE_COMBAT,
    END_COMBAT,
    JOIN_COMBAT,
    SET_HIT_POINTS,
    SET_INITIATIVE,
)
