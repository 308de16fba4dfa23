"""The turn's own memory: the journal line, promises, and where the story stands."""

from __future__ import annotations

from rolecall.campaign import plans
from rolecall.campaign.effects import Effect, Promise, promises_of
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.text import clean_line, fold
from rolecall.tools.saying import note, one_line
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema, text

LINE = 500  # characters of a journal line


def _append_journal(table: Table, arguments: dict) -> str:
    if table.journal:
        raise ToolFault("This turn has its journal line already; a turn has exactly one.")
    line = clean_line(arguments["text"])
    if not line:
        raise ToolFault("The line says nothing.")
    table.journal = line
    return "The journal line of this turn is noted."


def _add_promise(table: Table, arguments: dict) -> str:
    to, what = one_line(arguments["to"], 120), one_line(arguments["text"])
    if not to or not what:
        raise ToolFault("Say to whom, and what.")
    words = f"To {to}: {what}"
    if any(fold(p.words) == fold(words) for p in _standing(table)):
        return "That promise stands already."
    table.put(Effect("promise", STATE_FILE, table.turn, words))
    return "The promise is noted."


def _standing(table: Table) -> list[Promise]:
    document = table.now(STATE_FILE)
    return [p for p in promises_of(document) if not p.kept] if document else []


def _promise(table: Table, words: str) -> Promise:
    wanted, standing = fold(clean_line(words)), _standing(table)
    found = [p for p in standing if fold(p.words) == wanted] or [p for p in standing if wanted in fold(p.words)]
    if len(found) != 1:
        listed = "; ".join(p.words for p in standing) or "none"
        raise ToolFault(f"{'No' if not found else 'More than one'} promise has these words. Standing: {listed}.")
    return found[0]


def _keep_promise(table: Table, arguments: dict) -> str:
    table.put(Effect("kept", STATE_FILE, table.turn, _promise(table, arguments["text"]).words))
    return "The promise is kept."


def _break_promise(table: Table, arguments: dict) -> str:
    promise = _promise(table, arguments["text"])
    table.put(
        Effect(plans.TICK, STATE_FILE, table.turn, promise.words, key="broken", title=note(arguments.get("how", "")))
    )
    return "The promise is broken."


def _set_scene(table: Table, arguments: dict) -> str:
    told = []
    for key in ("scene", "location", "date"):
        value = clean_line(arguments.get(key, ""))
        change = table.replacing(STATE_FILE, key, value, reason="the scene changed")
        if value and value != change.was:
            table.effects.append(change)
            told.append(key)
    return f"Noted: {', '.join(told)}." if told else "It stands so already."


APPEND_JOURNAL = ToolType(
    "append_journal",
    "Write this turn's one journal line, after the prose: who did what to whom, where, with names, numbers and promises.",
    schema(["text"], text=text("one sentence in the past tense, without a turn number", LINE)),
    "mutation",
    _append_journal,
)
ADD_PROMISE = ToolType(
    "add_promise",
    "Note a promise, a debt or a deadline that somebody took on in this turn.",
    schema(["to", "text"], to=text("to whom it is owed", 120), text=text("what is promised, in a few words", 300)),
    "mutation",
    _add_promise,
)
KEEP_PROMISE = ToolType(
    "keep_promise",
    "Mark a promise of the Campaign State as kept.",
    schema(["text"], text=text("its words as they stand under Promises", 500)),
    "mutation",
    _keep_promise,
)
SET_SCENE = ToolType(
    "set_scene",
    "Say where the story stands when this turn changed it: the scene in a few words, the location's name, the date.",
    schema(
        scene=text("the scene in a few words"), location=text("the location's name", 120), date=text("the date", 120)
    ),
    "mutation",
    _set_scene,
)
BREAK_PROMISE = ToolType(
    "break_promise",
    "Mark a promise as broken for good.",
    schema(["text"], text=text("its words as they stand under Promises", 500), how=text("how, in a few words", 120)),
    "mutation",
    _break_promise,
)
PROMISES = (ADD_PROMISE, KEEP_PROMISE, BREAK_PROMISE)
TOOLS = (APPEND_JOURNAL, SET_SCENE)
