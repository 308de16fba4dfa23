"""The `character_book` of a character card, also alone as `{"spec": "lorebook_v3", "data": {...}}`.

Fields after the V2 and V3 card specifications, and SillyTavern's `extensions` of an entry. A number in
`extensions.position` counts more than the word in `position`; a missing `selective` means false here.
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

FORMAT = "a character book"
FORMAT_V3 = "a V3 lorebook"
SPEC = "lorebook_v3"
RULES = {"order": "insertion_order", "priority": "priority", "case_sensitive": "case_sensitive"}
EXTENSIONS = {
    "depth": "depth", "probability": "probability", "scan_depth": "scan_depth", "case_sensitive": "case_sensitive",
    "whole_words": "match_whole_words", "group_scoring": "use_group_scoring", "sticky": "sticky", "cooldown": "cooldown",
    "delay": "delay", "group": "group", "group_override": "group_override", "group_weight": "group_weight",
    "exclude_recursion": "exclude_recursion", "prevent_recursion": "prevent_recursion",
    "delay_until_recursion": "delay_until_recursion", "vectorized": "vectorized", "ignore_budget": "ignore_budget",
    "outlet": "outlet_name", "automation": "automation_id",
}  # fmt: skip
_WORDS = {"before_char": "before", "after_char": "after"}
_PATTERN = set("\\^$*+?()[]{}|")


def recognises(data: dict) -> bool:
    """Whether this is a V3 lorebook, or a character book by itself: `entries` is a list with `keys` and `content`."""
    if data.get("spec") == SPEC:
        return isinstance(data.get("data"), dict)
    rows = data.get("entries")
    if not isinstance(rows, list) or "lorebookVersion" in data or "kind" in data:
        return False
    first = next((row for row in rows if isinstance(row, dict)), None)
    return first is not None and "content" in first and ("keys" in first or "secondary_keys" in first)


def as_v3(value: dict) -> dict:
    """A book as a V3 lorebook: itself where it is one, else with what the specification demands of a book and its rows."""
    if value.get("spec") == SPEC:
        return value
    held = value.get("entries")
    found = list(held.values()) if isinstance(held, dict) else loose.rows(held)
    made = [{**row, "use_regex": row.get("use_regex", False)} if isinstance(row, dict) else row for row in found]
    return {"spec": SPEC, "data": {"extensions": {}, **value, "entries": made}}


def read(data: dict, title: str) -> Parcel:
    """The book of a file that holds nothing else."""
    is_v3 = data.get("spec") == SPEC
    made = book(data["data"] if is_v3 else data, title, "data/" if is_v3 else "")
    return Parcel(FORMAT_V3 if is_v3 else FORMAT, made.title, (made,))


def book(data: dict, title: str, under: str = "") -> Book:
    """A book; `under` is where it stands in its file. Entries in an object instead of a list are read as well."""
    held = data.get("entries")
    rows = held.items() if isinstance(held, dict) else enumerate(loose.rows(held))
    entries, refused = gather(((f"{under}entries/{key}", row) for key, row in rows), entry)
    raw = {key: value for key, value in data.items() if key != "entries"}
    name = loose.text(data.get("name")).strip() or title
    return Book(name, loose.text(data.get("description")), entries, refused, raw)


def entry(at: str, raw: dict) -> Entry:
    """One entry of a character book; one written in the manner of world info is understood."""
    more = loose.mapping(raw.get("extensions"))
    keys = loose.words(raw.get("keys", raw.get("key")))
    secondary = loose.words(raw.get("secondary_keys", raw.get("keysecondary")))
    selective = loose.flag(raw.get("selective")) and bool(secondary)
    held = {**rules(raw, RULES), **rules(more, EXTENSIONS)}
    if not loose.flag(more.get("useProbability"), True):
        held.pop("probability", None)
    word = raw.get("position")
    position = nth(POSITIONS, more.get("position")) or _WORDS.get(word if isinstance(word, str) else "", word)
    if isinstance(position, str) and position:
        held["position"] = position
    if (role := nth(ROLES, more.get("role"))) != "":
        held["role"] = role
    # SillyTavern writes `use_regex: true` for every entry, so it is believed only where a key looks like a pattern.
    pattern = loose.flag(raw.get("use_regex")) and any(_PATTERN & set(k) and not loose.is_regex(k) for k in keys)
    return Entry(
        at=at,
        title=loose.text(raw.get("name")).strip() or loose.text(raw.get("comment")),
        text=loose.text(raw.get("content")),
        keys=keys,
        secondary=secondary,
        logic=(nth(LOGICS, more.get("selectiveLogic", 0)) or "any") if selective else "",
        constant=loose.flag(raw.get("constant")),
        enabled=loose.flag(raw.get("enabled"), not loose.flag(raw.get("disable"))),
        folder=loose.text(more.get("group")).split(",")[0].strip(),
        regex=pattern,
        rules=held,
        raw=raw,
    )


# -- writing


def changed(raw: Mapping[str, object], now: Entry, names: Set[str]) -> dict:
    """The row with the named parts of an entry as they are now; every other field as it was."""
    row = dict(raw)
    if "title" in names:
        old = loose.text(row.get("name")).strip()
        same = old and loose.text(row.get("comment")).strip() == old
        for own in ("name", "comment") if same else ("name",) if old else ("comment",):
            row[own] = now.title
    if "text" in names:
        row["content"] = now.text
    if "keys" in names:
        loose.put(row, "keys" if "keys" in row or "key" not in row else "key", now.keys)
    if "constant" in names:
        row["constant"] = now.constant
    if "enabled" in names:
        row["enabled"] = now.enabled
        if "disable" in row:
            row["disable"] = not now.enabled
    return row


def fresh(entry: Entry) -> dict:
    """A row for an entry of any source; what the specification has no field for stands in SillyTavern's `extensions`."""
    more = rules_out(entry, EXTENSIONS)
    position = position_of(entry)
    more |= {"position": position, "role": role_of(entry), "useProbability": True}
    more["selectiveLogic"] = LOGICS.index(entry.logic) if entry.logic in LOGICS else 0
    own = rules_out(entry, RULES)
    return {
        "id": 0,
        "keys": [loose.slashed(key) if entry.regex else key for key in entry.keys],
        "secondary_keys": list(entry.secondary),
        "name": entry.title,
        "comment": entry.title,
        "content": entry.text,
        "constant": entry.constant,
        "selective": bool(entry.logic),
        "insertion_order": own.pop("insertion_order", 100),
        "enabled": entry.enabled,
        "position": "after_char" if position == 1 else "before_char",
        "use_regex": entry.regex or any(map(loose.is_regex, entry.keys)),
        **own,
        "extensions": more,
    }


def numbered(row: dict, number: int) -> dict:
    """The row under a number of its own in its book."""
    return {**row, "id": number}
