"""Which tools whom: the families, and what of them a layer is offered in the situation a turn begins in.

At most fifteen tools go into a request, in the order of the families. Which ones depends on the files alone, as they are when
the turn begins, so that the requests of a turn begin with the same bytes. `open_tools` adds a family for the rest of the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rolecall.tools import (
    agendas,
    cast,
    chapters,
    combat,
    conditions,
    dice,
    entries,
    intentions,
    inventory,
    knowledge,
    memory,
    places,
    quests,
    resources,
    seeds,
    situation,
    standings,
    threads,
    timekeeping,
)
from rolecall.tools.situation import Situation
from rolecall.tools.toolbox import DM, NARRATOR, Table, Toolbox, ToolFault, ToolType, schema

MOST = 15  # tools in a request
ROOM = {NARRATOR: MOST, DM: MOST - 1}  # the DM's own `direct` is one more
LAYERS = tuple(ROOM)


@dataclass(frozen=True, slots=True)
class Family:
    """Tools that belong together, and the layers that may call them."""

    name: str
    about: str
    tools: tuple[ToolType, ...]
    layers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Condition:
    """When a tool is offered unasked: in words, and as a question to the situation."""

    said: str
    holds: Callable[[Situation], bool]


OPENED = "when its family is opened"
ALWAYS = Condition("always", lambda s: True)
IN_COMBAT = Condition("while a fight lasts", lambda s: s.combat)
AT_PEACE = Condition("while no fight lasts", lambda s: not s.combat)
PROMISED = Condition("a promise stands", lambda s: s.promises)
ARCS = Condition("an arc is open", lambda s: s.arcs)
QUESTS = Condition("a quest is open", lambda s: s.quests)
COUNTED = Condition("the party counts something", lambda s: s.resources)
AFFECTED = Condition("a condition lasts", lambda s: s.effects)
DATED = Condition("the campaign has a date", lambda s: s.date)
PLACED = Condition("the campaign has a place", lambda s: s.place)
TOLD = Condition("a turn has been told", lambda s: s.told)
SEEDED = Condition("a seed is open", lambda s: s.seeds)
AGENDAS = Condition("somebody has an agenda", lambda s: s.agendas)
KNOWN = Condition("somebody knows something", lambda s: s.knowledge)

_BOTH, _NARRATOR, _DM = frozenset(LAYERS), frozenset({NARRATOR}), frozenset({DM})

FAMILIES: tuple[Family, ...] = (
    Family("lookup", "what the campaign knows, and past turns", knowledge.TOOLS, _BOTH),
    Family("memory", "the journal, the scene, lines of entries", (*memory.TOOLS, *entries.TOOLS), _NARRATOR),
    Family("promises", "promises, debts, deadlines", memory.PROMISES, _NARRATOR),
    Family("arcs", "open questions with stakes", threads.TOOLS, _DM),
    Family("threads", "open questions, a line on", (threads.MOVE_ARC, threads.LIST_ARCS), _NARRATOR),
    Family("chapters", "where a chapter ends, its name", chapters.TOOLS, _DM),
    Family("seeds", "details that pay off later", seeds.TOOLS, _DM),
    Family("intentions", "encounters and events that may come", intentions.TOOLS, _DM),
    Family("agendas", "what goes on unseen, who knows what", agendas.TOOLS, _DM),
    Family("dice", "dice, rolled for you", dice.TOOLS, _BOTH),
    Family("combat", "fights, turn order, hit points", (*combat.TOOLS, standings.COMBAT_ORDER), _BOTH),
    Family("conditions", "what lasts and runs out", (*conditions.TOOLS, standings.LIST_CONDITIONS), _BOTH),
    Family("cast", "feelings, ties, how somebody stands", (*cast.TOOLS, standings.RELATIONSHIPS), _BOTH),
    Family("party", "who travels along", cast.PARTY, _BOTH),
    Family("map", "places, ways, who goes where", (*places.TOOLS, standings.PLACES_NEAR), _BOTH),
    Family("time", "date, weather", (*timekeeping.TOOLS, standings.WHAT_DAY), _BOTH),
    Family("events", "what is to come on a date", (*timekeeping.EVENTS, standings.UPCOMING), _BOTH),
    Family("quests", "what was undertaken", (*quests.TOOLS, standings.LIST_QUESTS), _BOTH),
    Family("resources", "what the party counts", (*resources.TOOLS, standings.LIST_RESOURCES), _BOTH),
    Family("trade", "paying, buying, selling", resources.MONEY, _BOTH),
    Family("inventory", "who carries and wears what", (*inventory.TOOLS, standings.LIST_INVENTORY), _BOTH),
)

# What a layer is offered unasked, the most important first; those of the first group it always keeps.
_KEPT = {
    NARRATOR: (knowledge.SEARCH, knowledge.READ, memory.APPEND_JOURNAL),
    DM: (knowledge.SEARCH, knowledge.READ),
}
_UNASKED: dict[str, tuple[tuple[ToolType, Condition], ...]] = {
    NARRATOR: (
        (threads.MOVE_ARC, ARCS),
        (memory.KEEP_PROMISE, PROMISED),
        (memory.ADD_PROMISE, ALWAYS),
        (memory.SET_SCENE, ALWAYS),
        (entries.APPEND_HISTORY, ALWAYS),
        (dice.CHECK, ALWAYS),
        (combat.DAMAGE, IN_COMBAT),
        (combat.NEXT_IN_ORDER, IN_COMBAT),
        (combat.END_COMBAT, IN_COMBAT),
        (conditions.ADD_CONDITION, IN_COMBAT),
        (combat.HEAL, IN_COMBAT),
        (quests.COMPLETE_OBJECTIVE, QUESTS),
        (places.TRAVEL, PLACED),
        (timekeeping.ADVANCE_TIME, DATED),
        (resources.SPEND, COUNTED),
        (combat.START_COMBAT, AT_PEACE),
        (conditions.REMOVE_CONDITION, AFFECTED),
        (resources.GAIN, COUNTED),
        (cast.CHANGE_AFFINITY, AT_PEACE),
        (quests.START_QUEST, AT_PEACE),
    ),
    DM: (
        (seeds.PLANT_SEED, ALWAYS),
        (seeds.PAY_OFF_SEED, SEEDED),
        (threads.MOVE_ARC, ARCS),
        (agendas.SET_AGENDA, ALWAYS),
        (agendas.ADVANCE_AGENDA, AGENDAS),
        (agendas.ACT_OFFSCREEN, ALWAYS),
        (agendas.LET_KNOW, ALWAYS),
        (chapters.CLOSE_CHAPTER, TOLD),
        (threads.CLOSE_ARC, ARCS),
        (threads.OPEN_ARC, ALWAYS),
        (timekeeping.SCHEDULE_EVENT, DATED),
        (seeds.WATER_SEED, SEEDED),
        (agendas.WHO_KNOWS, KNOWN),
        (threads.RAISE_STAKES, ARCS),
        (agendas.NOTE_PLAN, ALWAYS),
        (seeds.DROP_SEED, SEEDED),
    ),
}


def _open_tools(table: Table, given: dict) -> str:
    family = next((one for one in FAMILIES if one.name == given["family"] and table.layer in one.layers), None)
    if family is None:
        raise ToolFault(f"There is no such family. Families: {', '.join(families_of(table.layer))}.")
    if family.name not in table.opened:
        table.opened.append(family.name)
    return "\n".join(f"- {tool.name}: {tool.description}" for tool in family.tools)


def families_of(layer: str) -> list[str]:
    """The names of the families a layer may call."""
    return [family.name for family in FAMILIES if layer in family.layers]


OPENERS = {
    layer: ToolType(
        "open_tools",
        "Get a family's other tools too, from your next answer on.",
        schema(["family"], family={"type": "string", "enum": families_of(layer)}),
        "read",
        _open_tools,
    )
    for layer in LAYERS
}


def toolbox(layer: str, table: Table, found: Situation | None = None) -> Toolbox:
    """A layer's tools for one turn, live or told again from saved answers: it may call those of all its families, and is offered

    what the situation asks for and what it has opened.
    """
    table.layer = layer
    found = found if found is not None else situation.read(table)
    return Toolbox(callable_by(layer), table, lambda: offered(layer, found, table.opened))


def callable_by(layer: str) -> tuple[ToolType, ...]:
    """Every tool a layer may call, in the order of the families."""
    own = [tool for family in FAMILIES if layer in family.layers for tool in family.tools]
    return (*{tool.name: tool for tool in own}.values(), OPENERS[layer])


def offered(layer: str, found: Situation, opened: Sequence[str] = ()) -> tuple[ToolType, ...]:
    """The tools of a request: what the layer always keeps, the families it opened (the last one first), and what the

    situation asks for, as far as there is room. Their order is that of the families, whatever they were chosen for.
    """
    by_name = {family.name: family for family in FAMILIES if layer in family.layers}
    wanted = [*_KEPT[layer], OPENERS[layer]]
    wanted += [tool for name in reversed(opened) if name in by_name for tool in by_name[name].tools]
    wanted += [tool for tool, condition in _UNASKED[layer] if condition.holds(found)]
    chosen = list(dict.fromkeys(tool.name for tool in wanted))[: ROOM[layer]]
    return tuple(tool for tool in callable_by(layer) if tool.name in chosen)


def condition_of(layer: str, tool: ToolType) -> str:
    """When a layer is offered a tool, in words."""
    if tool in _KEPT[layer] or tool in OPENERS.values():
        return ALWAYS.said
    return next((condition.said for other, condition in _UNASKED[layer] if other is tool), OPENED)
