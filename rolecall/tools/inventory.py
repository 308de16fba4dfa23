"""Who carries and wears what."""

from __future__ import annotations

from rolecall.tools.directing import game_tool, number, part, who

_ITEM = who("what, in the singular")
_COUNT = number("1 if left out", 1, 10_000)

GIVE_ITEM = game_tool(
    "give_item",
    "Somebody gets something to carry.",
    ["who", "item"],
    lambda given: {"inventory": {"give": [given]}},
    who=who(),
    item=_ITEM,
    count=_COUNT,
)
TAKE_ITEM = game_tool(
    "take_item",
    "Somebody loses or uses up something they carry.",
    ["who", "item"],
    lambda given: {"inventory": {"take": [given]}},
    who=who(),
    item=_ITEM,
    count=_COUNT,
)
TRANSFER_ITEM = game_tool(
    "transfer_item",
    "Something goes from one to another.",
    ["from", "to", "item"],
    lambda given: {"inventory": {"transfer": [given]}},
    **{"from": who()},
    to=who(),
    item=_ITEM,
    count=_COUNT,
)
EQUIP = game_tool(
    "equip",
    "Somebody wears, wields or readies what they carry.",
    ["who", "item"],
    lambda given: {"inventory": {"equip": [part(given, "who", "item", "where")]}},
    who=who(),
    item=_ITEM,
    where=who("hand, head, back"),
)
UNEQUIP = game_tool(
    "unequip",
    "Somebody takes off or puts away what they wear or wield.",
    ["who", "item"],
    lambda given: {"inventory": {"unequip": [given]}},
    who=who(),
    item=_ITEM,
)
TOOLS = (GIVE_ITEM, TAKE_ITEM, TRANSFER_ITEM, EQUIP, UNEQUIP)
