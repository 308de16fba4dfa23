"""Conditions that last and run out by themselves: poisoned, blessed, hunted."""

from __future__ import annotations

from rolecall.tools.directing import date, game_tool, number, part, who
from rolecall.tools.toolbox import text

_LASTS = {"turns": number("turns from now", 1, 1000), "rounds": number("rounds of the fight", 1, 1000)}
_UNTIL = {"until": date("the date it ends on")}
_CONDITION = text("as it stands", 120)


def _lasting(verb: str):
    return lambda given: {"effects": {verb: [part(given, "who", *_LASTS, "until", effect=given["condition"])]}}


ADD_CONDITION = game_tool(
    "add_condition",
    "Put a lasting condition on somebody.",
    ["who", "condition"],
    _lasting("add"),
    who=who(),
    condition=text("one word or a few: poisoned", 120),
    **_LASTS,
    **_UNTIL,
)
EXTEND_CONDITION = game_tool(
    "extend_condition",
    "Let a condition last longer.",
    ["who", "condition"],
    _lasting("extend"),
    who=who(),
    condition=_CONDITION,
    **_LASTS,
    **_UNTIL,
)
REMOVE_CONDITION = game_tool(
    "remove_condition",
    "Take a condition off somebody.",
    ["who", "condition"],
    lambda given: {"effects": {"remove": [part(given, "who", "why", effect=given["condition"])]}},
    who=who(),
    condition=_CONDITION,
    why=text("why"),
)
TOOLS = (ADD_CONDITION, EXTEND_CONDITION, REMOVE_CONDITION)
