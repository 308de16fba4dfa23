"""Intentions, not requirements: staged encounters and pending events in `dm/intentions.md`."""

from __future__ import annotations

from rolecall.campaign import plans
from rolecall.campaign.effects import Effect
from rolecall.tools.saying import LINE, is_standing, one_of, said
from rolecall.tools.seeds import standing, ticked
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema, text


def _intend(kind: str):
    def run(table: Table, given: dict) -> str:
        words = f"{kind}: {said(given)}"
        if given.get("when"):
            words += f", when {said(given, 'when', 120).removeprefix('when ')}"
        if is_standing(standing(table, plans.INTENTIONS), words):
            raise ToolFault("That is intended already.")
        table.put(Effect(plans.TODO, plans.INTENTIONS, table.turn, words))
        return f"Intended. {words}"

    return run


def _marked(mark: str, done: str):
    def run(table: Table, given: dict) -> str:
        item = one_of(standing(table, plans.INTENTIONS), given["intention"], "open intention")
        ticked(table, plans.INTENTIONS, item, mark, given.get("reason", ""))
        return f"{done}. {item.words}"

    return run


def _list(table: Table, given: dict) -> str:
    lines = [f"- {item.words}" for item in standing(table, plans.INTENTIONS) if item.open]
    return "\n".join(lines) or "Nothing is intended."


_WHEN = text("the moment it waits for", 120)
_INTENTION = text("its words as they stand, or a telling part", LINE)

STAGE_ENCOUNTER = ToolType(
    "stage_encounter",
    "Have an encounter ready for when its moment comes.",
    schema(["text"], text=text("who, what they want, how it opens", LINE), when=_WHEN),
    "mutation",
    _intend(plans.ENCOUNTER),
)
ADD_EVENT = ToolType(
    "add_event",
    "Have an event pending that no calendar dates yet.",
    schema(["text"], text=text("what happens", LINE), when=_WHEN),
    "mutation",
    _intend(plans.EVENT),
)
WITHDRAW = ToolType(
    "withdraw",
    "Give up an intention that no longer fits.",
    schema(["intention"], intention=_INTENTION, reason=text("why", 120)),
    "mutation",
    _marked("withdrawn", "Withdrawn"),
)
FULFIL = ToolType(
    "fulfil",
    "Note that an intention has happened in the story.",
    schema(["intention"], intention=_INTENTION),
    "mutation",
    _marked("fulfilled", "Fulfilled"),
)
LIST_INTENTIONS = ToolType("list_intentions", "The open intentions.", schema(), "read", _list)
TOOLS = (STAGE_ENCOUNTER, ADD_EVENT, WITHDRAW, FULFIL, LIST_INTENTIONS)
