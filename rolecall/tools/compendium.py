"""The compendium as the scribe may fill it: a `record_*` tool for each kind of entry.

Before anything is made the campaign is asked whether it has it (`search.twins`): what is known already gets the new facts
and a second entry is never made. Names are never paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from rolecall.campaign import kinds, merging, secrets, views
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect
from rolecall.campaign.filenames import same_key
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.campaign.text import clean_line, clean_prose
from rolecall.search.likeness import slips
from rolecall.search.readings import folded, read_name
from rolecall.search.twins import Candidate, Twin
from rolecall.search.wording import alike, trigrams
from rolecall.tools.entries import propose
from rolecall.tools.ledger import (
    LINE,
    NAME,
    Ledger,
    by_hand,
    clean_name,
    facts_of,
    fitted,
    now,
    put,
    settle,
    spelled,
    twin,
)
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema, text

PROSE = 1200  # characters of a new entry's prose
ITEMS = 12  # items of a list in one call
SAID = 0.6  # how alike (Dice, trigrams) a text is to one that the entry has when it says nothing new


def record(table: Ledger, kind: str, given: dict) -> str:
    """Record a thing: made new, or, where the campaign has it, updated."""
    given = dict(given)
    name = clean_name(given.pop("name"))
    prose = clean_prose(given.pop("text", ""))
    why = {"reason": clean_line(given.pop("reason", ""), 200), "source": clean_line(given.pop("source", ""), 600)}
    aliases = [clean_name(alias) for alias in given.pop("aliases", [])]
    facts = facts_of(table, kind, given)
    date = facts.get("date", "")
    candidate = Candidate(name, tuple(aliases), kind, prose, date if isinstance(date, str) else "")
    found = twin(table, candidate)
    if found is None:
        refuse_taken(table, candidate)
        make(table, candidate, facts, why)
        return f"Recorded {name} ({kind})."
    if found.path in table.made:
        return _amend(table, found.path, candidate, facts)
    return _update(table, found, candidate, facts, why)


def make(table: Ledger, candidate: Candidate, facts: dict[str, Value], why: dict[str, str]) -> str:
    """Put a new entry on the table; its path. An alias that is another entry's name is left out."""
    aliases = _free(table, candidate.aliases, candidate.name)
    facts = {"name": candidate.name, **({"aliases": aliases} if aliases else {}), **facts}
    has = {same_key(path) for path in (*table.search.catalogue, *table.made)}
    folder = ENTRY_KINDS[candidate.kind].folder
    folder = next((p.split("/")[0] for p in table.search.catalogue if p.casefold().startswith(f"{folder}/")), folder)

    def taken(path: str) -> bool:
        return same_key(path) in has or table.campaign.exists(path)

    path, _ = merging.new_entry(candidate.kind, facts, candidate.text, table.turn, taken=taken, folder=folder)
    table.effects.append(Effect("record", path, table.turn, candidate.text, key=candidate.kind, facts=facts, **why))
    table.made[path] = candidate = replace(candidate, aliases=tuple(aliases))
    table.fresh.add(path, candidate)
    return path


def refuse_taken(table: Ledger, candidate: Candidate) -> None:
    """ToolFault when something of another kind has just that name: two of one name could not be told apart again."""
    name, path = spelled(table, candidate.name)
    if path:
        kind = table.made[path].kind if path in table.made else table.search.catalogue[path].kind
        raise ToolFault(
            f"{name} is a {kind} here. Use `update_entry` for it, or give this {candidate.kind} a name of its own."
        )


def _free(table: Ledger, aliases: Sequence[str], name: str, path: str = "") -> list[str]:
    """The aliases that no other entry goes by."""
    seen = {merging.key_of(name)}
    free = []
    for alias in aliases:
        bearers = {p for p in table.search.ties.named(alias) if p != path} | {
            p
            for p, made in table.made.items()
            if p != path and merging.key_of(alias) in map(merging.key_of, (made.name, *made.aliases))
        }
        if not bearers and merging.key_of(alias) not in seen:
            seen.add(merging.key_of(alias))
            free.append(alias)
    return free


def _amend(table: Ledger, path: str, candidate: Candidate, facts: dict[str, Value]) -> str:
    """More about what was recorded a moment ago: it goes into the entry that is about to be made."""
    at = next(n for n, effect in enumerate(table.effects) if effect.op == "record" and effect.path == path)
    effect = table.effects[at]
    merged = dict(effect.facts)
    for key, value in {"aliases": other_names(table, path, candidate), **facts}.items():
        if isinstance(value, list):
            held = [one for one in merged.get(key, []) if merging.key_of(one) not in map(merging.key_of, value)]
            merged[key] = [*held, *value]
        elif value:
            merged[key] = value
    prose = effect.text
    if candidate.text and not _is_said([prose], candidate.text) and len(prose) + len(candidate.text) < 2 * PROSE:
        prose = f"{prose}\n\n{candidate.text}".strip()
    table.effects[at] = replace(effect, facts={k: v for k, v in merged.items() if v}, text=prose)
    return f"Known as {table.made[path].name}, recorded just now; added to it."


def _update(table: Ledger, found: Twin, candidate: Candidate, facts: dict[str, Value], why: dict[str, str]) -> str:
    entry = table.search.catalogue[found.path]
    if entry.broken:
        raise ToolFault(f"The file of {candidate.name} cannot be read just now; nothing was recorded.")
    document = now(table, entry.path)
    facts = fitted(table, document, candidate.kind, {"aliases": other_names(table, entry.path, candidate), **facts})
    facts = {key: value for key, value in facts.items() if value}
    effects = []
    if entry.forgotten and by_hand(document):
        with suppress(ToolFault):  # proposed already
            propose(table, entry.name, [Effect("revive", entry.path, table.turn, **why)], "in play again")
    elif entry.forgotten:
        effects.append(Effect("revive", entry.path, table.turn, **why))
    if facts:
        settle(table, entry.path, candidate.kind, facts)
        effects.append(Effect("facts", entry.path, table.turn, key=candidate.kind, facts=facts, **why))
    if candidate.text and not is_said(document, candidate.text):
        effects.append(Effect("history", entry.path, table.turn, " ".join(candidate.text.split()), **why))
    said = "; ".join(f"{key}: {views.value(value)}" for key, value in facts.items()) or candidate.text
    before = len(table.effects)
    if not put(table, entry.name, effects, said):
        return f"Known as {entry.name}; nothing new in it."
    proposed = any(e.op == "proposal" for e in table.effects[before:])
    return f"Known as {entry.name}; " + ("locked by the writer, so it was proposed." if proposed else "updated.")


def other_names(table: Ledger, path: str, candidate: Candidate) -> list[str]:
    """What a known entry is also called: the new name and aliases.

    Not a slip of the pen, nothing in parentheses, and no longer form of a name it has, by which it is found anyway.
    """
    made, entry = table.made.get(path), table.search.catalogue.get(path)
    names = [made.name, *made.aliases] if made else [entry.name, *entry.aliases]
    new = []
    for name in (candidate.name, *candidate.aliases):
        mine = read_name(name, True)
        slip = any(slips(mine.core, read_name(old, True).core, True) for old in names)
        longer = any(f" {merging.key_of(old)} " in f" {merging.key_of(name)} " for old in names)
        if not (slip or longer or mine.aside):
            new.append(name)
    return _free(table, new, names[0], path)


def is_said(document: Document, said: str) -> bool:
    """Whether an entry says that already, in its prose or its History, in these words or nearly."""
    parts = [part for s in secrets.open_sections(document) for part in s.text.split("\n") if part.strip()]
    return _is_said(["\n".join(parts), *parts], said)


def _is_said(parts: Sequence[str], said: str) -> bool:
    wanted = folded(said)
    runs = trigrams(wanted)
    return any(wanted in there or alike(runs, trigrams(there)) >= SAID for there in map(folded, parts) if there)


# -- the tools

WHY = {
    "reason": text("why, in a few words", 200),
    "source": text("the sentence of the scene, word for word", 600),
}


def _property(kind: str, key: str) -> dict:
    note = kinds.FIELD_NOTES.get(key, "")
    type_ = kinds.type_of(kind, key)
    if type_ == "names":
        return {"type": "array", "description": note, "maxItems": ITEMS, "items": {"type": "string", "maxLength": 120}}
    if type_ == "items":
        order = kinds.ITEM_KEYS[key]
        one = schema(order[:1], **{k: {"type": "string", "maxLength": 120} for k in order})
        return {"type": "array", "description": note, "maxItems": ITEMS, "items": one}
    return {"type": "string", "maxLength": LINE, **({"description": note} if note else {})}


def _tool(kind: str) -> ToolType:
    own = [key for key in ENTRY_KINDS[kind].fields if key not in kinds.COUNTED]
    fields = {key: _property(kind, key) for key in ("aliases", kinds.STATUS, *own)}

    def run(table: Table, arguments: dict) -> str:
        return record(table, kind, arguments)

    return ToolType(
        f"record_{kind}",
        f"Keep {ENTRY_KINDS[kind].about}: one that is new, or what is new about one that is known.",
        schema(
            ["name"],
            name=text(kinds.FIELD_NOTES["name"], NAME),
            **fields,
            text=text("who or what it is, in one to three sentences of your own", PROSE),
            **WHY,
        ),
        "mutation",
        run,
    )


TOOLS = tuple(_tool(kind) for kind in ENTRY_KINDS)
