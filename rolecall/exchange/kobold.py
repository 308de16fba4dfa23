"""Saves of KoboldAI and Kobold Lite: memory, author's note and world info. The story itself is history, not lore.

Fields after Kobold Lite's own page; keys are lines with commas, `keyanti` are keys that must not be there. What is in
`savedsettings` (names, and sometimes keys of services) is never taken over.
"""

from __future__ import annotations

from rolecall.exchange import loose
from rolecall.exchange.book import Book, Entry, gather
from rolecall.exchange.card import Parcel

FORMAT = "a KoboldAI save"
_CREDENTIALS = ("key", "token", "password", "secret")


def recognises(data: dict) -> bool:
    """Whether this is a save of a Kobold: it says whether a game has started, and holds actions or a prompt."""
    return "gamestarted" in data and ("actions" in data or "prompt" in data)


def read(data: dict, title: str) -> Parcel:
    """Memory and author's note as entries of their own, and the world info."""
    own = [
        Entry(key, f"{title}: {label}", loose.text(data.get(key)), constant=True, raw={key: data.get(key)})
        for key, label in (("memory", "Memory"), ("authorsnote", "Author's Note"))
        if loose.text(data.get(key)).strip()
    ]
    rows = ((f"worldinfo/{number}", row) for number, row in enumerate(loose.rows(data.get("worldinfo"))))
    folders = {
        key: loose.text(loose.mapping(row).get("name")) for key, row in loose.mapping(data.get("wifolders_d")).items()
    }
    entries, refused = gather(rows, lambda at, row: entry(at, row, folders))
    books = (Book(title, entries=tuple(own)), Book(title, entries=entries, refused=refused))
    return Parcel(FORMAT, title, books, left=tuple(_left(data)))


def entry(at: str, raw: dict, folders: dict[str, str]) -> Entry:
    """One row of a save's world info."""
    secondary = loose.words(raw.get("keysecondary"))
    held = {"keys_not": list(keys)} if (keys := loose.words(raw.get("keyanti"))) else {}
    for name, own in (("probability", "probability"), ("group", "wigroup")):
        if raw.get(own) not in (None, ""):
            held[name] = raw[own]
    folder = loose.text(raw.get("folder"))
    return Entry(
        at=at,
        title=loose.text(raw.get("comment")),
        text=loose.text(raw.get("content")),
        keys=loose.words(raw.get("key")),
        secondary=secondary,
        logic="any" if loose.flag(raw.get("selective")) and secondary else "",
        constant=loose.flag(raw.get("constant")),
        enabled=not loose.flag(raw.get("widisabled")),
        folder=folders.get(folder, folder) or loose.text(raw.get("wigroup")),
        rules=held,
        raw=raw,
    )


def _left(data: dict) -> list[str]:
    left = []
    told = len(loose.rows(data.get("actions"))) + bool(loose.text(data.get("prompt")).strip())
    if told:
        left.append(f"The story ({told} parts) is history, not lore: `rolecall ingest` takes it in.")
    if loose.text(data.get("personal_notes")).strip():
        left.append("The personal notes stay in the original.")
    if any(str(key).startswith("documentdb") and value for key, value in data.items()):
        left.append("The documents it searched in stay in the original.")
    settings = loose.mapping(data.get("savedsettings"))
    if settings:
        left.append("The program's settings stay in the original.")
    if any(word in str(key).casefold() and value for key, value in settings.items() for word in _CREDENTIALS):
        left.append(
            "The original holds keys of services in `savedsettings`: take them out before you share the campaign."
        )
    return left
