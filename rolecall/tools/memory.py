"""The turn's own memory: the journal line, promises, and where the story stands."""

from __future__ import annotations

from rolecall.campaign.effects import Effect, promises_of
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.text import clean_line, fold
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
    to, what = clean_line(arguments["to"]), clean_line(arguments["text"])
    if not to or not what:
        raise ToolFault("Say to whom, and what.")
    words = f"To {to}: {what}"
    if any(fold(p.words) == fold(words) and not p.kept for p in promises_of(table.state)):
        return "That promise stands already."
    table.effects.append(Effect("promise", STATE_FILE, table.turn, words))
    return "The promise is noted."


def _keep_promise(table: Table, arguments: dict) -> str:
    wanted = fold(clean_line(arguments["text"]))
    standing = [p for p in promises_of(table.state) if not p.kept]
    found = [p for p in standing if fold(p.words) == wanted] or [p for p in standing if wanted in fold(p.words)]
    if len(found) != 1:
        listed = "; ".join(p.words for p in standing) or "none"
        raise ToolFault(f"{'No' if not found else 'More than one'} promise has these words. Standing: {listed}.")
    table.effects.append(Effect("kept", STATE_FILE, table.turn, found[0].words))
    return "The promise is kept."


def _set_scene(table: Table, arguments: dict) -> str:
    told = []
    for key in ("scene", "location", "date"):
        value = clean_line(arguments.get(key, ""))
        if value and value != table.state.text(key):
            table.effects.append(Effect("field", STATE_FILE, table.turn, value, key=key))
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
TOOLS = (APPEND_JOURNAL, ADD_PROMISE, KEEP_PROMISE, SET_SCENE)
