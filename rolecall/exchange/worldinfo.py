"""SillyTavern world info: `{"entries": {"0": {"uid": 0, "key": [...], "content": ...}}}`.

Fields after SillyTavern's `public/scripts/world-info.js`. Older files lack many, or hold keys as one line with commas.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from rolecall.exchange import loose
from rolecall.exchange.book import (
    LOGICS,
    POSITIONS,
    ROLES,
    Book,
    Entry,
    gather,
    nth,
    position_of,
    role_of,
    rules,
    rules_out,
)
from rolecall.exchange.card import Parcel

FORMAT = "SillyTavern world info"
RULES = {
    "order": "order", "depth": "depth", "probability": "probability", "scan_depth": "scanDepth",
    "case_sensitive": "caseSensitive", "whole_words": "matchWholeWords", "group_scoring": "useGroupScoring",
    "sticky": "sticky", "cooldown": "cooldown", "delay": "delay", "group": "group", "group_override": "groupOverride",
    "group_weight": "groupWeight", "exclude_recursion": "excludeRecursion", "prevent_recursion": "preventRecursion",
    "delay_until_recursion": "delayUntilRecursion", "vectorized": "vectorized", "ignore_budget": "ignoreBudget",
    "outlet": "outletName", "automation": "automationId", "characters": "characterFilter",
}  # fmt: skip
# An entry as SillyTavern makes a new one.
_NEW = {
    "uid": 0, "key": [], "keysecondary": [], "comment": "", "content": "", "constant": False, "vectorized": False,
    "selective": True, "selectiveLogic": 0, "addMemo": True, "order": 100, "position": 0, "disable": False,
    "ignoreBudget": False, "excludeRecursion": False, "preventRecursion": False, "delayUntilRecursion": False,
    "probability": 100, "useProbability": True, "depth": 4, "outletName": "", "group": "", "groupOverride": False,
    "groupWeight": 100, "scanDepth": None, "caseSensitive": None, "matchWholeWords": None, "useGroupScoring": None,
    "automationId": "", "role": 0, "sticky": None, "cooldown": None, "delay": None, "displayIndex": 0, "extensions": {},
}  # fmt: skip


def recognises(data: dict) -> bool:
    """Whether this is a world info file: `entries` is an object, and what it holds has a `content` or a `key`."""
    entries = data.get("entries")
    if not isinstance(entries, dict) or "lorebookVersion" in data:
        return False
    return all(isinstance(one, dict) and ("content" in one or "key" in one) for one in list(entries.values())[:1])


def read(data: dict, title: str) -> Parcel:
    """The book of a world info file."""
    entries, refused = gather(((f"entries/{uid}", row) for uid, row in data["entries"].items()), entry)
    raw = {key: value for key, value in data.items() if key != "entries"}
    name = loose.text(data.get("name")).strip() or title
    return Parcel(FORMAT, name, (Book(name, loose.text(data.get("description")), entries, refused, raw),))


def entry(at: str, raw: dict) -> Entry:
    """One entry of a world info file."""
    secondary = loose.words(raw.get("keysecondary"))
    selective = loose.flag(raw.get("selective"), True) and bool(secondary)
    held = rules(raw, RULES)
    if not loose.flag(raw.get("useProbability"), True):
        held.pop("probability", None)
    if (position := nth(POSITIONS, raw.get("position"))) != "":
        held["position"] = position
    if (role := nth(ROLES, raw.get("role"))) != "":
        held["role"] = role
    return Entry(
        at=at,
        title=loose.text(raw.get("comment")),
        text=loose.text(raw.get("content")),
        keys=loose.words(raw.get("key")),
        secondary=secondary,
        logic=(nth(LOGICS, raw.get("selectiveLogic", 0)) or "any") if selective else "",
        constant=loose.flag(raw.get("constant")),
        enabled=not loose.flag(raw.get("disable")),
        folder=loose.text(raw.get("group")).split(",")[0].strip(),
        rules=held,
        raw=raw,
    )


# -- writing


def changed(raw: Mapping[str, object], now: Entry, names: Set[str]) -> dict:
    """The row with the named parts of an entry as they are now; every other field as it was."""
    row = dict(raw)
    for name, own in (("title", "comment"), ("text", "content"), ("constant", "constant")):
        if name in names:
            row[own] = getattr(now, name)
    if "keys" in names:
        loose.put(row, "key", now.keys)
    if "enabled" in names:
        row["disable"] = not now.enabled
    return row


def fresh(entry: Entry) -> dict:
    """A row for an entry of any source, with all that world info has a field for."""
    held = rules_out(entry, RULES)
    if not isinstance(held.get("characterFilter"), dict):
        held.pop("characterFilter", None)
    row = {**_NEW, **held, "comment": entry.title, "content": entry.text, "constant": entry.constant}
    row["key"] = [loose.slashed(key) if entry.regex else key for key in entry.keys]
    row["keysecondary"] = list(entry.secondary)
    row["selective"] = bool(entry.logic) or not entry.secondary
    row["selectiveLogic"] = LOGICS.index(entry.logic) if entry.logic in LOGICS else 0
    row["position"], row["role"], row["disable"] = position_of(entry), role_of(entry), not entry.enabled
    return row


def numbered(row: dict, number: int) -> dict:
    """The row under a number of its own in its book."""
    return {**row, "uid": number}
