"""Keeping entries true: a field that changed, a dated line, what is out of play, two entries that are one, one that is two.

Nothing is deleted and no prose is rewritten: an entry that is forgotten stays on disk, marked with the turn and the reason; of
two entries merged the second one does. To take out of play what the writer wrote by hand is only proposed.
"""

from __future__ import annotations

from rolecall.campaign import kinds, merging, secrets, views
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.journal import turn_id, turn_number
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.campaign.text import clean_line, clean_prose
from rolecall.search.twins import Candidate
from rolecall.tools import compendium
from rolecall.tools.compendium import PROSE, WHY
from rolecall.tools.entries import propose
from rolecall.tools.ledger import (
    LINE,
    NAME,
    Ledger,
    Thing,
    by_hand,
    clean_name,
    facts_of,
    fitted,
    now,
    put,
    settle,
    spelled,
    thing,
    twin,
)
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema, text

_PEOPLE = frozenset({"character", "creature", "threat"})


def _why(given: dict) -> dict[str, str]:
    return {"reason": clean_line(given.get("reason", ""), 200), "source": clean_line(given.get("source", ""), 600)}


def _put(table: Ledger, one: Thing, effects: list[Effect], line: str, done: str) -> str:
    """Put effects on the table, and say in words what came of it."""
    before = len(table.effects)
    if not put(table, one.name, effects, line):
        return f"{one.name}: it stands so already."
    proposed = any(effect.op == "proposal" for effect in table.effects[before:])
    return f"{one.name} is locked by the writer; the change was proposed." if proposed else done


# -- a field, a line


def _update_entry(table: Table, given: dict) -> str:
    one, key = thing(table, given["entry"]), given["field"].strip().casefold().replace(" ", "_")
    value, why = clean_line(given["value"], PROSE), _why(given)
    if not value:
        raise ToolFault("The value says nothing.")
    if key == "history":
        return _note(table, one, value, why)
    if key == "kind":
        return _move(table, one, value, why)
    if len(value) > LINE:
        raise ToolFault(f"A field holds at most {LINE} characters; a sentence goes to `history`.")
    document = now(table, one.path)
    type_ = _type_of(one, document, key)
    listed = _names(table, value) if type_ == "names" else value
    facts = fitted(table, document, one.kind, facts_of(table, one.kind, {key: listed}))
    if not facts:
        return f"{one.name}: it stands so already."
    settle(table, one.path, one.kind, facts)
    effect = Effect("facts", one.path, table.turn, key=one.kind, facts=facts, **why)
    old = views.value(document.fields.get(key, ""))
    line = f"{key}: {old}{merging.ARROW}{value}" if old and kinds.is_state(one.kind, key) else f"{key}: {value}"
    return _put(table, one, [effect], line, f"Noted for {one.name}: {key}.")


def _type_of(one: Thing, document: Document, key: str) -> str:
    """The type of a field that may be updated; ToolFault for one that may not, or that nobody knows."""
    if key in kinds.COUNTED:
        raise ToolFault(f"`{key}` is one of the game's numbers; it is counted, not told.")
    if not merging.may_set(key):
        raise ToolFault(f"`{key}` is the writer's own; it is not set by the story.")
    type_ = kinds.type_of(one.kind, key)
    if type_ == "items":
        raise ToolFault(f"`{key}` is a list of ties: use `record_{one.kind}` with this name and the tie that is new.")
    if not type_ and key not in map(str.casefold, document.fields):
        own = [k for k in ("aliases", kinds.STATUS, *ENTRY_KINDS[one.kind].fields) if k not in kinds.COUNTED]
        raise ToolFault(f"A {one.kind} has no field `{key}`. It has: {', '.join(own)}, history, kind.")
    return type_


def _names(table: Ledger, value: str) -> list[str]:
    """One name, or several that stand with commas between them."""
    if "," not in value or spelled(table, value)[1]:
        return [value]
    return [part for part in value.split(",") if part.strip()]


def _note(table: Ledger, one: Thing, line: str, why: dict[str, str]) -> str:
    if compendium.is_said(now(table, one.path), line):
        return f"{one.name}: that is noted already."
    effect = Effect("history", one.path, table.turn, line, **why)
    return _put(table, one, [effect], line, f"Noted for {one.name}.")


def _append_history(table: Table, given: dict) -> str:
    line = clean_line(given["text"], PROSE)
    if not line:
        raise ToolFault("The line says nothing.")
    return _note(table, thing(table, given["entry"]), line, _why(given))


# -- out of play, and another kind


def _forget(table: Table, given: dict) -> str:
    one, why = thing(table, given["entry"]), _why(given)
    if not why["reason"]:
        raise ToolFault("Say why it is out of play.")
    if one.made:
        raise ToolFault(f"{one.name} was recorded just now; there is nothing to forget yet.")
    effect = Effect("forget", one.path, table.turn, why["reason"], **why)
    document = now(table, one.path)
    if kinds.flag(document.fields, "pinned") or by_hand(document):
        return propose(table, one.name, [effect], f"forgotten: {why['reason']}")
    return _put(table, one, [effect], f"forgotten: {why['reason']}", f"{one.name} is out of play; its file stays.")


def _move_entry(table: Table, given: dict) -> str:
    return _move(table, thing(table, given["entry"]), given["kind"], _why(given))


def _move(table: Ledger, one: Thing, kind: str, why: dict[str, str]) -> str:
    kind = kind.strip().casefold()
    if kind not in ENTRY_KINDS:
        raise ToolFault(f"{clean_line(kind, 40)!r} is no kind. Kinds: {', '.join(ENTRY_KINDS)}.")
    if kind == one.kind:
        return f"{one.name}: it stands so already."
    if one.made:
        raise ToolFault(f"{one.name} was recorded just now, as {one.kind}; it can be moved from the next turn on.")
    effect = Effect("kind", one.path, table.turn, kind, **why)
    document = now(table, one.path)
    if document.text("kind") and by_hand(document):
        return propose(table, one.name, [effect], f"kind: {one.kind}{merging.ARROW}{kind}")
    return _put(table, one, [effect], f"kind: {kind}", f"{one.name} is a {kind} from now on.")


# -- two that are one, one that is two


def _merge_entries(table: Table, given: dict) -> str:
    keep, other, why = thing(table, given["keep"]), thing(table, given["other"]), _why(given)
    if keep.path == other.path:
        raise ToolFault(f"{keep.name} is one entry already.")
    if keep.made or other.made:
        raise ToolFault("One of them was recorded just now; merge them in a later turn.")
    if not (keep.kind == other.kind or "lore" in (keep.kind, other.kind) or {keep.kind, other.kind} <= _PEOPLE):
        raise ToolFault(f"{keep.name} is a {keep.kind} and {other.name} a {other.kind}; they are two things.")
    there, gone = now(table, keep.path), now(table, other.path)
    names = [other.name, *kinds.names_in(gone.fields, "aliases")]
    facts: dict[str, Value] = {"aliases": names, **_facts_in(gone)}
    effects = [
        Effect(
            "absorb",
            keep.path,
            table.turn,
            key=other.kind,
            facts=facts,
            lines=_lines_of(gone, other, table.turn),
            **why,
        ),
        Effect("forget", other.path, table.turn, f"merged into {keep.name}", **why),
    ]
    line = f"{other.name} merged into it"
    pinned = any(kinds.flag(document.fields, "pinned") for document in (there, gone))
    if pinned or by_hand(gone) or any(_has_secrets(document) for document in (there, gone)):
        propose(table, keep.name, effects, line)  # only the writer knows whether two of theirs are one
        return f"Merging {other.name} into {keep.name} was proposed to the writer."
    return _put(table, keep, effects, line, f"{other.name} is merged into {keep.name}.")


def _facts_in(document: Document) -> dict[str, Value]:
    shown = secrets.open_fields(document.fields)
    return {
        k: v for k, v in shown.items() if merging.may_set(k) and k.casefold() != "aliases" and v not in ("", [], {})
    }


def _has_secrets(document: Document) -> bool:
    return secrets.open_fields(document.fields) != document.fields or len(secrets.open_sections(document)) < len(
        document.sections
    )


def _lines_of(document: Document, one: Thing, turn: int) -> tuple[str, ...]:
    """What another entry tells, as lines of History: its dated lines, and its prose in one."""
    dated: list[str] = []
    told: list[str] = []
    for section in secrets.open_sections(document):
        if section.heading.casefold() == merging.HISTORY.casefold():
            lines = [line.strip() for line in section.text.split("\n")]
            dated += [line[2:] for line in lines if line.startswith("- ") and turn_number(line[2:]) is not None]
        else:
            told.append(section.text)
    prose = clean_line(" ".join(told), PROSE)
    return (*dated, *([f"{turn_id(turn)} As {one.name}: {prose}"] if prose else []))


def _split_entry(table: Table, given: dict) -> str:
    one, why = thing(table, given["entry"]), _why(given)
    name, prose = clean_name(given["name"]), clean_prose(given["text"])
    candidate = Candidate(name, (), given["kind"], prose)
    found = twin(table, candidate, but=one.path)
    if found is not None:
        known = table.made.get(found.path) or table.search.catalogue[found.path]
        raise ToolFault(f"{name} has an entry already, {known.name}: use `update_entry` for what is new about it.")
    if merging.key_of(name) == merging.key_of(one.name):
        raise ToolFault("The new entry needs a name of its own.")
    if put(
        table,
        one.name,
        [Effect("history", one.path, table.turn, f"{name} has an entry of its own.", **why)],
        f"{name} split off",
    ):
        compendium.make(table, candidate, {}, why)
    return f"{name} ({given['kind']}) has an entry of its own; {one.name} stays as it is."


_ENTRY = text("the entry's exact name or alias", NAME)
_KIND = {"type": "string", "enum": list(ENTRY_KINDS)}

UPDATE_ENTRY = ToolType(
    "update_entry",
    "Say that one field of a known entry is different now, add one to a list of names, or, with the field `history`, add "
    "one dated line: what became true of it in this turn. With the field `kind` it becomes another kind of entry.",
    schema(
        ["entry", "field", "value"],
        entry=_ENTRY,
        field=text("status, location, holder, ... or history", 40),
        value=text("how it is now, in a few words, or one sentence for history", PROSE),
        **WHY,
    ),
    "mutation",
    _update_entry,
)
APPEND_HISTORY = ToolType(
    "append_history",
    "Add one dated line to an entry's History.",
    schema(["entry", "text"], entry=_ENTRY, text=text("one sentence", PROSE), **WHY),
    "mutation",
    _append_history,
)
FORGET = ToolType(
    "forget",
    "Take an entry out of play that will not matter again. It stays on disk. The dead and the departed are not forgotten.",
    schema(["entry", "reason"], entry=_ENTRY, **WHY),
    "mutation",
    _forget,
)
MERGE_ENTRIES = ToolType(
    "merge_entries",
    "Say that two entries turned out to be one and the same: what the other says is added to the one that is kept.",
    schema(["keep", "other"], keep=_ENTRY, other=_ENTRY, **WHY),
    "mutation",
    _merge_entries,
)
SPLIT_ENTRY = ToolType(
    "split_entry",
    "Give something that an entry tells of in passing an entry of its own. The old entry stays as it is.",
    schema(
        ["entry", "name", "kind", "text"],
        entry=_ENTRY,
        name=text("the new entry's name", NAME),
        kind=_KIND,
        text=text("who or what it is, in one to three sentences", PROSE),
        **WHY,
    ),
    "mutation",
    _split_entry,
)
MOVE_ENTRY = ToolType(
    "move_entry",
    "Make an entry one of another kind. Its file stays where it is.",
    schema(["entry", "kind"], entry=_ENTRY, kind=_KIND, **WHY),
    "mutation",
    _move_entry,
)
TOOLS = (UPDATE_ENTRY, FORGET, MERGE_ENTRIES, SPLIT_ENTRY)
ALSO = (APPEND_HISTORY, MOVE_ENTRY)  # `update_entry` does both; models that know them by these names may call them
