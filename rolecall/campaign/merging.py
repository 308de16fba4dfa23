"""What the story established, merged into an entry by rules; and entries made new.

What the writer wrote stays. A state field (`kinds.is_state`) takes the new value, and the old one goes to the entry's History
in the same write: `- T0042 location: Greywater → Northern Wastes`. Any other field is filled when it is empty; a new fact
about a filled one becomes a line of History. A list gains what it has not; the items of a list of mappings match by
their key, so that a new fact about an old relationship changes that one line. Names are compared without case, spacing
and accents. Everything here is pure and may be applied twice.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping

from rolecall.campaign import documents, kinds, references, secrets
from rolecall.campaign.documents import Document
from rolecall.campaign.frontmatter import Value, flow, scalar
from rolecall.campaign.journal import turn_id
from rolecall.campaign.text import clean_prose, fold, slug
from rolecall.errors import Unclear

HISTORY = "History"
ARROW = " → "
# What only the writer says of an entry; a kind is moved, an entry forgotten, by an effect of its own.
_WRITERS = {"name", "kind", "pinned", "locked", "forgotten", "visibility", "source", "seal", "covers"}
Facts = Mapping[str, Value]


def key_of(value: Value) -> str:
    """What two names, values or list items have in common when they are the same: brackets, case, spacing, accents aside."""
    if isinstance(value, dict):
        value = next(iter(value.values()), "")
    if isinstance(value, list):
        value = ", ".join(v for v in value if isinstance(v, str))
    text = value.strip()
    linked = text.startswith("[[") and text.endswith("]]") and text.count("[[") == 1
    return _bare(fold(references.names_in(text)[0] if linked and references.names_in(text) else references.plain(text)))


def _bare(text: str) -> str:
    """Without the accents of Latin and Greek letters; the marks of other scripts are letters of their own."""
    if text.isascii():
        return text
    kept, base = [], ""
    for char in unicodedata.normalize("NFD", text):
        if not unicodedata.combining(char):
            base = unicodedata.name(char, "")
        elif base.startswith(("LATIN", "GREEK")):
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def may_set(key: str) -> bool:
    """Whether a scribe may put a fact into a field at all: not the writer's own fields, secrets and the game's numbers."""
    folded = key.strip().casefold()
    return folded not in _WRITERS and folded not in kinds.COUNTED and not secrets.is_secret_field(folded)


def merge(data: bytes, path: str, kind: str, facts: Facts, turn: int, *, fill: bool = False) -> bytes:
    """The file with the facts of a turn merged into it; the same bytes when it says all that already.

    `facts` are field names with a text, a list of names or a list of mappings. With `fill` state fields are like any
    other: only empty ones are set. Unclear for a field that is not to be set from a story, Malformed for a broken file.
    """
    for key, value in facts.items():
        if not may_set(key):
            raise Unclear(f"`{key}` is not set by the story", path=path, remedy="set it by hand")
        data = _merged(data, path, kind, key, _once(value), turn, fill)
    return data


def _once(value: Value) -> Value:
    """A list of mappings in which each thing is told once: of two items about the same one the later words count."""
    if not isinstance(value, list) or not any(isinstance(item, dict) for item in value):
        return value
    told: dict[str, Value] = {}
    for item in value:
        key = key_of(item)
        both = isinstance(item, dict) and isinstance(told.get(key), dict)
        told[key] = {**told[key], **{k: v for k, v in item.items() if v}} if both else item
    return list(told.values())


def _merged(data: bytes, path: str, kind: str, key: str, value: Value, turn: int, fill: bool) -> bytes:
    document = documents.parse(data, path)
    held = next((k for k in document.fields if k.casefold() == key.casefold()), key)
    type_ = kinds.type_of(kind, key.casefold())
    state = kinds.is_state(kind, key.casefold()) and not fill
    listed = type_ in ("names", "items") or (not type_ and isinstance(document.fields.get(held), list))
    if not listed:
        text = value if isinstance(value, str) else ", ".join(references.names_of(value))
        return _scalar(document, held, text, turn, state)
    for item in value if isinstance(value, list) else [value]:
        item = {k: v for k, v in item.items() if v} if isinstance(item, dict) else item
        if key_of(item):
            data = _item(documents.parse(data, path), held, item, turn, state)
    return data


def _scalar(document: Document, key: str, value: str, turn: int, state: bool) -> bytes:
    value = " ".join(value.split())
    old = document.fields.get(key, "")
    if not value or key_of(old) == key_of(value):
        return document.data
    if not isinstance(old, str) or (old.strip() and not state):
        return _noted(document, f"{key}: {value}", turn, known=old)
    if not old.strip():
        return _or_noted(
            document, lambda: documents.set_field(document.data, document.path, key, value), f"{key}: {value}", turn
        )
    line = f"{key}: {' '.join(old.split())}{ARROW}{value}"
    if _has_changed(document, f"{key}: ", value, turn):
        return document.data
    data = _or_noted(document, lambda: documents.set_field(document.data, document.path, key, value), line, turn)
    return with_lines(data, document.path, [f"{turn_id(turn)} {line}"])


def _item(document: Document, key: str, item: str | dict[str, Value], turn: int, state: bool) -> bytes:
    old = document.fields.get(key, "")
    said = f"{key}: {_plain(item)}"
    if not isinstance(old, list):
        known = kinds.names_in(document.fields, key)
        if any(key_of(name) == key_of(item) for name in known) and isinstance(item, str):
            return document.data
        if old not in ("", {}):
            return _noted(document, said, turn, known="")
        old = []
    at = next((n for n, one in enumerate(old) if key_of(one) == key_of(item)), None)
    if at is None:
        return _or_noted(document, lambda: documents.add_item(document.data, document.path, key, item), said, turn)
    if isinstance(item, str):
        return document.data
    return _old_item(document, key, at, item, turn, state)


def _old_item(document: Document, key: str, at: int, item: dict[str, Value], turn: int, state: bool) -> bytes:
    """New facts about an item that is there: the values that differ, in its one line."""
    old = document.fields[key][at]
    about = f"{key}, {references.plain(next(iter(old.values())) if isinstance(old, dict) else old)}: "
    merged: dict[str, Value] = dict(old) if isinstance(old, dict) else {next(iter(item)): old}
    changed, beside = [], []
    for sub, value in list(item.items())[1:]:
        held = next((k for k in merged if k.casefold() == sub.casefold()), sub)
        before = merged.get(held, "")
        if key_of(before) == key_of(value):
            continue
        if before in ("", []):
            merged[held] = value
        elif state and isinstance(before, str) and isinstance(value, str):
            merged[held] = value
            changed.append(f"{held} {before}{ARROW}{value}")
        else:
            beside.append(f"{held} {_plain(value)}")
    if changed and _has_line(document, about + ", ".join(changed), turn):
        return document.data
    data = document.data
    if merged != old:
        line = about + ", ".join(changed or [f"{k} {_plain(v)}" for k, v in list(item.items())[1:]])
        data = _or_noted(document, lambda: documents.set_item(data, document.path, key, at, merged), line, turn)
    lines = [about + ", ".join(part) for part in (changed, beside) if part]
    return with_lines(data, document.path, [f"{turn_id(turn)} {line}" for line in lines])


def _plain(value: Value) -> str:
    if isinstance(value, dict):
        return ", ".join(part for v in value.values() if (part := _plain(v)))
    if isinstance(value, list):
        return ", ".join(_plain(v) for v in value)
    return " ".join(value.split())


def _or_noted(document: Document, change: Callable[[], bytes], line: str, turn: int) -> bytes:
    """The change; where the file's own form does not allow it, the fact stands in History instead."""
    try:
        return change()
    except Unclear:
        return _noted(document, line, turn, known="")


def _noted(document: Document, line: str, turn: int, *, known: Value) -> bytes:
    """A line of History, unless the field (`known`) says so already, or the same was noted in any turn."""
    fact = line.partition(": ")[2]
    if key_of(fact) and key_of(fact) in key_of(known):
        return document.data
    if any(row.partition(" ")[2].partition(" ")[2] == line for row in _history(document)):
        return document.data
    return with_lines(document.data, document.path, [f"{turn_id(turn)} {line}"])


def _history(document: Document) -> list[str]:
    return [line.strip() for line in document.lines(HISTORY)]


def _has_line(document: Document, line: str, turn: int) -> bool:
    return f"- {turn_id(turn)} {line}" in _history(document)


def _has_changed(document: Document, about: str, value: str, turn: int) -> bool:
    """Whether this turn has made that change before: an editor or a crash may have come in between."""
    start, end = f"- {turn_id(turn)} {about}", f"{ARROW}{value}"
    return any(line.startswith(start) and line.endswith(end) for line in _history(document))


def with_lines(data: bytes, path: str, lines: list[str]) -> bytes:
    """The file with these lines (`T0042 what happened`) at the end of its History, without those it has."""
    document = documents.parse(data, path)
    has = set(_history(document))
    new = [f"- {line}" for line in dict.fromkeys(" ".join(line.split()) for line in lines) if f"- {line}" not in has]
    return documents.append_to_section(data, path, HISTORY, "\n".join(new), create=2) if new else data


def set_mark(data: bytes, path: str, key: str, value: str, turn: int) -> bytes:
    """The file with one of the marks only effects set (`kind`, `forgotten`), the old value noted in its History.

    An empty value takes the mark away.
    """
    document = documents.parse(data, path)
    old = " ".join(document.text(key).split())
    if old == value or _has_changed(document, f"{key}: ", value or "none", turn):
        return data
    data = documents.set_field(data, path, key, value) if value else documents.remove_field(data, path, key)
    return with_lines(data, path, [f"{turn_id(turn)} {key}: {old}{ARROW}{value or 'none'}"]) if old else data


def new_entry(
    kind: str, facts: Facts, text: str, turn: int, *, taken: Callable[[str], bool] = lambda _: False, folder: str = ""
) -> tuple[str, bytes]:
    """(path, bytes) of a new entry in its kind's folder, under a name that is free (`valen-2.md` beside `valen.md`)."""
    place = folder or kinds.ENTRY_KINDS[kind].folder
    stem = slug(str(facts["name"]), kind)
    path, number = f"{place}/{stem}.md", 1
    while taken(path):
        number += 1
        path = f"{place}/{stem}-{number}.md"
    return path, written(path, kind, facts, text, turn)


def written(path: str, kind: str, facts: Facts, text: str, turn: int) -> bytes:
    """The bytes of a new entry: its fields in the order of its kind, one line each, then its prose.

    `source` says the turn it comes from. Unclear when the facts cannot be written so that they read back the same.
    """
    kept = {k: v for k, v in facts.items() if k != "name" and may_set(k) and v not in ("", [], {})}
    order = ["aliases", *kinds.ENTRY_KINDS[kind].fields, *kinds.COMMON]
    fields = {
        "name": facts["name"],
        "kind": kind,
        **{k: kept[k] for k in order if k in kept},
        **kept,
        "source": turn_id(turn),
    }
    lines = ["---"]
    for key, value in fields.items():
        if isinstance(value, str):
            lines.append(f"{scalar(key)}: {scalar(value, quote_types=True)}")
        else:
            lines += [f"{scalar(key)}:", *(f"  - {flow(item)}" for item in value)]
    body = clean_prose(text)
    data = ("\n".join([*lines, "---", *([body] if body else [])]) + "\n").encode("utf-8", "replace")
    if documents.parse(data, path).fields != fields:
        raise Unclear("these facts cannot be written as front matter", path=path, remedy="write the entry by hand")
    return data


def absorb(data: bytes, path: str, kind: str, facts: Facts, lines: list[str], turn: int) -> bytes:
    """The file with the dated lines and the facts of another entry that turned out to be the same thing."""
    return merge(with_lines(data, path, lines), path, kind, facts, turn, fill=True)
