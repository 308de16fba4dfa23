"""From a parcel to the files it becomes: which entry goes where, under a name that is free. Pure.

A name is never a path: the place is made of the kind's folder and a slug. What exists is never overwritten; a second file
of one name gets a number behind it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rolecall.campaign import macros
from rolecall.campaign.filenames import is_fit, same_key
from rolecall.campaign.files import sha256
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.campaign.text import fold, slug
from rolecall.exchange import pages, sorting
from rolecall.exchange.book import Entry, Refused
from rolecall.exchange.card import Card, Parcel
from rolecall.exchange.importing import FOLDER, MAP, RECEIPT
from rolecall.exchange.pages import Page

PINNED = 8_000  # characters of constant entries that are pinned: a quarter of what a narrator's prompt holds
# A twin: (path, why) of what the campaign has already under a page's name and kind.
Twin = Callable[[Page], "tuple[str, str] | None"]


@dataclass(frozen=True, slots=True)
class Made:
    """A page in its place."""

    path: str
    page: Page
    data: bytes
    source: Entry | Card | None
    twin: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import is going to make: `originals` are (path, bytes), `made` the campaign's new files.

    `unpinned` are names of constants for which there was no room among the pinned.
    """

    parcel: Parcel
    name: str
    folder: str
    originals: tuple[tuple[str, bytes], ...]
    made: tuple[Made, ...]
    refused: tuple[Refused, ...]
    unpinned: tuple[str, ...] = ()
    sum: str = ""

    @property
    def map(self) -> bytes:
        """The bytes of `entries.json`: which part of the original became which file, and what of it is in no file."""
        rows = [_row(made) for made in self.made]
        held = {
            "format": self.parcel.format,
            "title": self.parcel.title,
            "original": [path.removeprefix(f"{self.folder}/") for path, _ in self.originals],
            "sha256": self.sum,
            "made": rows,
            "set_aside": [{"at": one.at, "name": one.name, "why": one.why} for one in self.refused],
        }
        # ASCII, so that a lone surrogate of the source is kept as it was written and the file is still UTF-8.
        return json.dumps(held, ensure_ascii=True, indent=1).encode() + b"\n"


def plan(
    parcel: Parcel,
    file_name: str,
    data: bytes,
    *,
    taken: Callable[[str], bool],
    names: Iterable[str],
    twin: Twin = lambda _: None,
) -> Plan:
    """What a file becomes. `taken` says whether a campaign path is in use, `names` are the names the campaign has."""
    folder = free_folder(parcel.title, taken)
    original = f"{folder}/{safe_name(file_name)}"
    known = {fold(name) for name in names}
    entries = [entry for book in parcel.books for entry in book.entries]
    pinned, unpinned = _pinned(entries)
    lonely = sorting.unique(entry.keys for entry in entries)
    titles = {fold(pages.title_of(entry, n)) for n, entry in enumerate(entries, 1)}
    taken_names = known | titles | {fold(card.name) for card in parcel.cards}
    made: list[Made] = []
    free = Places(taken)
    for number, source in enumerate([*parcel.cards, *entries], 1):
        page = (
            pages.of_card(source, taken_names)
            if isinstance(source, Card)
            else pages.of_entry(source, number, lonely, source.at in pinned, taken_names)
        )
        if isinstance(source, Entry) and len(parcel.cards) == 1 and macros.holds_char(source.text):
            page = page.of_card_named(parcel.cards[0].name)
        path = free.place(f"{ENTRY_KINDS[page.kind].folder}/{slug(page.name, page.kind)}")
        said = f"{original}, {page.at}" if page.at else original
        made.append(Made(path, page, page.data(path, said), source, twin(page)))
    return Plan(
        parcel, file_name, folder, ((original, data),), tuple(made), parcel.set_aside, tuple(unpinned), sha256(data)
    )


def free_folder(title: str, taken: Callable[[str], bool]) -> str:
    """The folder below `imports/` for one import."""
    return Places(taken).place(f"{FOLDER}/{slug(title, 'import')}", "")


class Places:
    """Gives out paths that nothing bears: `characters/sera.md`, else `characters/sera-2.md`; each only once."""

    def __init__(self, taken: Callable[[str], bool]) -> None:
        self._taken, self._last, self._given = taken, {}, set()

    def place(self, stem: str, ending: str = ".md") -> str:
        """A free path that begins with this stem; names that differ in case or form alone are one."""
        key = same_key(stem)
        number = self._last.get((key, ending), 0)
        while True:
            number += 1
            path = f"{stem}{ending}" if number == 1 else f"{stem}-{number}{ending}"
            if same_key(path) not in self._given and not self._taken(path):
                self._last[key, ending] = number
                self._given.add(same_key(path))
                return path


def safe_name(name: str) -> str:
    """A file's name as it may stand in `imports/`: its own where that is harmless, else a slug with the same ending."""
    plain = name.isprintable() and is_fit(name) and not name.startswith((".", "#", "~"))
    if not plain or len(name.encode("utf-8", "replace")) > 120 or name.endswith("~"):
        stem, _, ending = name.rpartition(".")
        name = f"{slug(stem or name, 'original')}.{slug(ending, 'bin')[:12]}"
    return f"original-{name}" if name.casefold() in (MAP, RECEIPT) else name


def _pinned(entries: list[Entry]) -> tuple[set[str], list[str]]:
    """Which constants are pinned, the shortest first while there is room, and the names of the others."""
    room, chosen, left = PINNED, set(), []
    constants = [entry for entry in entries if entry.constant]
    for entry in sorted(constants, key=lambda one: len(one.text)):
        if not entry.enabled:
            chosen.add(entry.at)  # it is out of retrieval all the same
        elif len(entry.text) <= room:
            room -= len(entry.text)
            chosen.add(entry.at)
        else:
            left.append(pages.title_of(entry, 0))
    return chosen, left


def _row(made: Made) -> dict:
    source = made.source
    row: dict[str, object] = {"at": made.page.at, "path": made.path, "name": made.page.name, "kind": made.page.kind}
    row["sha256"] = sha256(made.data)
    row["pinned"] = "pinned" in made.page.fields
    if isinstance(source, Entry):
        row["keys"] = list(source.keys)
        row["secondary_keys"] = list(source.secondary)
        row["logic"] = source.logic
        row["constant"], row["enabled"] = source.constant, source.enabled
        row["rules"] = dict(source.rules)
        row["fields"] = {key: value for key, value in source.raw.items() if value != source.text}
    return row
