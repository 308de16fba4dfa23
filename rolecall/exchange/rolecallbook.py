"""Lorebooks exported by the RoleCall application: `{schemaVersion, exportDate, lorebook: {settings, metadata, entries}}`.

Each entry is written in groups (`triggers`, `matching`, `injection`, ...). Its cards are V2 or V3 character cards.
"""

from __future__ import annotations

from rolecall.exchange import loose
from rolecall.exchange.book import Book, Entry, gather, rules
from rolecall.exchange.card import Parcel

FORMAT = "a RoleCall lorebook"
GROUPS = {
    "matching": {"case_sensitive": "caseSensitive", "whole_words": "matchWholeWords", "scan_depth": "scanDepth"},
    "injection": {"position": "position", "depth": "depth", "role": "role"},
    "priority": {"order": "sortOrder", "priority": "priority"},
    "timing": {"sticky": "sticky", "cooldown": "cooldown", "delay": "delay"},
    "grouping": {"group": "groupName", "group_weight": "groupWeight"},
    "advanced": {
        "exclude_recursion": "excludeRecursion", "prevent_recursion": "preventRecursion",
        "delay_until_recursion": "delayUntilRecursion", "ignore_budget": "ignoreBudget",
    },
}  # fmt: skip
LOGIC = {"and_any": "any", "and_all": "all", "not_any": "not any", "not_all": "not all"}


def recognises(data: dict) -> bool:
    """Whether this is a lorebook of the RoleCall application."""
    inner = data.get("lorebook")
    return "schemaVersion" in data and isinstance(inner, dict) and isinstance(inner.get("entries"), list)


def read(data: dict, title: str) -> Parcel:
    """The book of an export."""
    inner = data["lorebook"]
    name = loose.text(inner.get("name")).strip() or title
    categories = {
        loose.text(row.get("id")): loose.text(row.get("name"))
        for row in map(loose.mapping, loose.rows(inner.get("categories")))
    }
    rows = ((f"lorebook/entries/{number}", row) for number, row in enumerate(inner["entries"]))
    entries, refused = gather(rows, lambda at, row: entry(at, row, categories))
    raw = {**data, "lorebook": {key: value for key, value in inner.items() if key != "entries"}}
    return Parcel(FORMAT, name, (Book(name, loose.text(inner.get("description")), entries, refused, raw),))


def entry(at: str, raw: dict, categories: dict[str, str]) -> Entry:
    """One entry of an export."""
    triggers = loose.mapping(raw.get("triggers"))
    keys, secondary = (_triggers(triggers.get(which)) for which in ("primary", "secondary"))
    held: dict[str, object] = rules(raw, {"probability": "probability", "characters": "characterFilter"})
    for group, names in GROUPS.items():
        held |= rules(loose.mapping(raw.get(group)), names)
    category = categories.get(loose.text(loose.mapping(raw.get("grouping")).get("categoryId")), "")
    return Entry(
        at=at,
        title=loose.text(raw.get("title")).strip() or loose.text(raw.get("comment")),
        text=loose.text(raw.get("content")),
        keys=keys,
        secondary=secondary,
        logic=LOGIC.get(loose.text(triggers.get("selectiveLogic")), "any") if secondary else "",
        constant=loose.flag(raw.get("constant")),
        enabled=loose.flag(raw.get("enabled"), True),
        folder=loose.text(loose.mapping(raw.get("metadata")).get("entry_type")) or category,
        rules=held,
        raw=raw,
    )


def _triggers(value: object) -> tuple[str, ...]:
    """The keywords of a list of triggers; one that is a regular expression gets the slashes that say so."""
    found = []
    for row in loose.rows(value):
        word = loose.text(row.get("keyword") if isinstance(row, dict) else row).strip()
        if isinstance(row, dict) and loose.flag(row.get("isRegex")) and word and not loose.is_regex(word):
            word = f"/{word}/"
        found.append(word)
    return tuple(filter(None, found))
