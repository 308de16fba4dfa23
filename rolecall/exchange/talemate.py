"""Talemate scenes: characters, the scene's own texts, and the entries of its world state. Its messages are history.

Keys after Talemate's `tale_mate.py`; older scenes hold `characters`, a list, newer ones `character_data`, an object by name.
"""

from __future__ import annotations

from rolecall.exchange import loose
from rolecall.exchange.book import Book, Entry, Refused, gather
from rolecall.exchange.card import Card, Parcel

FORMAT = "a Talemate scene"
_TEXTS = (("description", "About"), ("intro", "Opening"), ("context", "Context"))


def recognises(data: dict) -> bool:
    """Whether this is a scene: it has characters, and a history or an environment."""
    has_people = isinstance(data.get("character_data"), dict) or isinstance(data.get("characters"), list)
    return has_people and ("archived_history" in data or "environment" in data or "world_state" in data)


def read(data: dict, title: str) -> Parcel:
    """The people of a scene, its texts and its world entries."""
    name = loose.text(data.get("title")).strip() or loose.text(data.get("name")).strip() or title
    cards, refused = _people(data)
    own = [
        Entry(key, f"{name}: {label}", loose.text(data.get(key)), raw={key: data.get(key)})
        for key, label in _TEXTS
        if loose.text(data.get(key)).strip()
    ]
    if past := _past(data):
        own.append(Entry("archived_history", f"{name}: What happened before", past, raw={}))
    state = loose.mapping(data.get("world_state"))
    pins = loose.mapping(state.get("pins"))
    rows = (
        (f"world_state/manual_context/{key}", row) for key, row in loose.mapping(state.get("manual_context")).items()
    )
    entries, odd = gather(rows, lambda at, row: entry(at, row, pins))
    books = (Book(name, entries=tuple(own)), Book(name, entries=entries, refused=odd))
    return Parcel(FORMAT, name, books, cards, refused, tuple(_left(data, state)))


def entry(at: str, raw: dict, pins: dict) -> Entry:
    """One manual entry of the world state; one that is pinned there is always in the prompt."""
    own = at.rsplit("/", 1)[-1]
    meta = loose.mapping(raw.get("meta"))
    pin = loose.mapping(pins.get(own))
    return Entry(
        at=at,
        title=loose.text(raw.get("id")).strip() or own,
        text=loose.text(raw.get("text")),
        constant=loose.flag(pin.get("active")),
        folder=loose.text(meta.get("typ")),
        raw=raw,
    )


def _people(data: dict) -> tuple[tuple[Card, ...], tuple[Refused, ...]]:
    held = data.get("character_data")
    rows = (
        [(f"character_data/{key}", row) for key, row in held.items()]
        if isinstance(held, dict)
        else [(f"characters/{number}", row) for number, row in enumerate(loose.rows(data.get("characters")))]
    )
    cards, refused = [], []
    for at, row in rows:
        if isinstance(row, dict) and loose.text(row.get("name")).strip():
            cards.append(_card(at, row))
        else:
            refused.append(Refused(at, "", "it is no character with a name"))
    return tuple(cards), tuple(refused)


def _card(at: str, raw: dict) -> Card:
    told = [*loose.mapping(raw.get("base_attributes")).items(), *loose.mapping(raw.get("details")).items()]
    attributes = [(str(label), loose.text(value)) for label, value in told if not str(label).startswith("_")]
    return Card(
        at=at,
        name=loose.text(raw.get("name")),
        description=loose.text(raw.get("description")),
        first_message=loose.text(raw.get("greeting_text")),
        examples="\n".join(loose.text(one) for one in loose.rows(raw.get("example_dialogue"))),
        attributes=tuple((label, value) for label, value in attributes if value.strip() and label != "name"),
        is_player=loose.flag(raw.get("is_player")),
        kept=tuple(name for key, name in (("voice", "voice"), ("cover_image", "picture")) if raw.get(key)),
        raw=raw,
    )


def _past(data: dict) -> str:
    told = [loose.mapping(row) for row in loose.rows(data.get("archived_history"))]
    return "\n".join(
        f"- {loose.text(row.get('ts'))}: {text}" if row.get("ts") else f"- {text}"
        for row in told
        if (text := " ".join(loose.text(row.get("text")).split()))
    )


def _left(data: dict, state: dict) -> list[str]:
    left = []
    if messages := len(loose.rows(data.get("history"))):
        left.append(f"The scene's {messages} messages are history, not lore: `rolecall ingest` takes them in.")
    if state.get("reinforcements") or state.get("reinforce"):
        left.append("Tracked states have no counterpart; they stay in the original.")
    if data.get("game_state") or data.get("agent_state"):
        left.append("The states of the game and of Talemate's agents stay in the original.")
    return left
