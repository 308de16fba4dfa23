"""Seeds: what the DM plants now to pay off later. A list in `dm/seeds.md`, for the DM alone."""

from __future__ import annotations

from rolecall.campaign import checklists, plans
from rolecall.campaign.checklists import Item
from rolecall.campaign.effects import Effect
from rolecall.campaign.journal import turn_id
from rolecall.tools.saying import LINE, is_standing, note, one_of, said
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema, text


def standing(table: Table, path: str = plans.SEEDS) -> tuple[Item, ...]:
    """The lines of one of the DM's lists as they stand after what is on the table."""
    document = table.now(path)
    return checklists.items_of(document) if document else ()


def ticked(table: Table, path: str, item: Item, mark: str, why: str = "") -> None:
    """Mark one line of a list; ToolFault when this turn has marked it so already."""
    if (mark, table.turn) in item.marks:
        raise ToolFault("This turn has said that already.")
    table.put(Effect(plans.TICK, path, table.turn, item.words, key=mark, title=note(why)))


def _plant(table: Table, given: dict) -> str:
    words = said(given)
    if is_standing(standing(table), words):
        raise ToolFault("That seed is planted already; use `water_seed` when it shows again.")
    table.put(Effect(plans.TODO, plans.SEEDS, table.turn, words))
    return "The seed is planted."


def _marked(mark: str, done: str):
    def run(table: Table, given: dict) -> str:
        item = one_of(standing(table), given["seed"], "open seed")
        ticked(table, plans.SEEDS, item, mark, given.get("reason", ""))
        return f"{done}: {item.words}"

    return run


def _list(table: Table, given: dict) -> str:
    lines = []
    for item in standing(table):
        if item.open:
            age = f"planted {turn_id(item.turn)}" if item.turn else "the writer's"
            last = f", last {turn_id(item.last)}" if item.last > item.turn else ""
            lines.append(f"- {item.words} ({age}{last})")
    return "\n".join(lines) or "No seed is open."


_SEED = text("its words as they stand, or a telling part", LINE)

PLANT_SEED = ToolType(
    "plant_seed",
    "Note a detail the story has shown, or will, that is to matter much later.",
    schema(["text"], text=text("the detail, and what it will turn out to be", LINE)),
    "mutation",
    _plant,
)
WATER_SEED = ToolType(
    "water_seed",
    "Note that an open seed was shown again.",
    schema(["seed"], seed=_SEED),
    "mutation",
    _marked("watered", "Watered"),
)
PAY_OFF_SEED = ToolType(
    "pay_off_seed",
    "Note that a seed has paid off in the story.",
    schema(["seed"], seed=_SEED),
    "mutation",
    _marked("paid", "Paid off"),
)
DROP_SEED = ToolType(
    "drop_seed",
    "Give up a seed that no longer fits.",
    schema(["seed", "reason"], seed=_SEED, reason=text("why", 120)),
    "mutation",
    _marked("dropped", "Dropped"),
)
LIST_SEEDS = ToolType("list_seeds", "The open seeds, with their age.", schema(), "read", _list)
TOOLS = (PLANT_SEED, WATER_SEED, PAY_OFF_SEED, DROP_SEED, LIST_SEEDS)
