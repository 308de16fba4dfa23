"""The things a campaign has, ready to be asked for a twin: by what their names have in common, by spelling, by text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rolecall.search.catalogue import NAMELESS, Entry
from rolecall.search.likeness import parts, place
from rolecall.search.readings import folded, read_name
from rolecall.search.wording import TEXT, signature, trigrams

# Texts below this many different trigrams say too little.
ENOUGH = 30

_TOGETHER = frozenset(
    frozenset(pair)
    for pair in (
        ("character", "creature"),
        ("creature", "threat"),
        ("character", "threat"),
        ("organization", "threat"),
        ("organization", "culture"),
        ("power", "rule"),
        ("arc", "quest"),
    )
)
_ARCS = frozenset({"arc", "quest"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is about to be recorded. `date` is that of an event, as written; empty when it has none."""

    name: str
    aliases: tuple[str, ...] = ()
    kind: str = "lore"
    text: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """What a file says, read only when it is needed: its text without front matter, and its `date` field."""

    text: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text of an entry, ready to be compared: name and text, folded, how many trigrams they have, and a signature."""

    name: str
    text: str
    count: int
    bits: int


@dataclass(frozen=True, slots=True)
class Thing:
    """An entry, as far as names go. `stamp` tells its states apart: the hash of its file."""

    path: str
    stamp: str
    names: tuple[str, ...]
    kind: str
    withheld: bool


class Twins:
    """The things a campaign has, ready for the question. Made once for a catalogue and kept while it is the same.

    `read` gives the content of a path; it is called for an event's date and, once a file, when texts are compared.
    `before` is an earlier one whose work on unchanged files is taken over. Forgotten and unreadable entries are in it
    too, because their files are: the caller sees from the catalogue whether the twin is one of them, or secret.
    """

    def __init__(
        self, entries: Mapping[str, Entry], read: Callable[[str], Content], before: Twins | None = None
    ) -> None:
        self.read = read
        self._things: list[Thing] = []
        self._by_key: dict[str, dict[int, None]] = {}
        self._spelled: dict[str, dict[int, None]] = {}
        self._kinds: dict[str, list[int]] = {}
        self._contents: dict[tuple[str, str], Content] = {}
        self._pieces: dict[tuple[str, str], tuple[Piece, ...]] = {}
        self._written: dict[str, list[tuple[Thing, str, tuple[tuple[str, ...], ...]]]] | None = None
        for entry in entries.values():
            if entry.kind not in NAMELESS:
                names = (entry.name, *entry.aliases)
                self._put(Thing(entry.path, entry.sha256, names, entry.kind, entry.withheld))
        for thing in self._things if before else ():
            key = (thing.path, thing.stamp)
            if key in before._contents:
                self._contents[key] = before._contents[key]
            if key in before._pieces:
                self._pieces[key] = before._pieces[key]

    def add(self, path: str, made: Candidate) -> None:
        """Count in what has just been recorded, until the catalogue has it: several may be recorded in one answer."""
        stamp = f"new {len(self._things)}"
        self._contents[path, stamp] = Content(made.text, made.date)
        self._put(Thing(path, stamp, (made.name, *made.aliases), made.kind, False))

    def _put(self, thing: Thing) -> None:
        number, self._written = len(self._things), None
        self._things.append(thing)
        self._kinds.setdefault(thing.kind, []).append(number)
        for name in all_names(thing.names):
            for key in _keys(name):
                self._by_key.setdefault(key, {})[number] = None
            self._spelled.setdefault(read_name(name, False).key, {})[number] = None

    # -- for the questions below

    def sharing(self, names: list[str]) -> list[Thing]:
        """The things that may be called by one of these names."""
        found: dict[int, None] = {}
        for name in names:
            for key in _keys(name):
                found.update(self._by_key.get(key, {}))
        return [self._things[number] for number in found]

    def spelled_like(self, name: str, cutoff: float) -> list[tuple[Thing, float]]:
        """The things whose names are written much as this one, and how much (0 to 1), the most alike first."""
        near = self.like(read_name(name, False).key, self._spelled, cutoff)
        return [(self._things[number], score) for spelled, score in near for number in self._spelled[spelled]]

    @staticmethod
    def like(key: str, among: Mapping[str, object], cutoff: float) -> list[tuple[str, float]]:
        """The keys among some that are written much as one, and how much, the most alike first; fifty at most."""
        from rapidfuzz import fuzz, process

        near = process.extract(key, among.keys(), scorer=fuzz.ratio, score_cutoff=100 * cutoff, limit=50)
        return [(spelled, score / 100) for spelled, score, _ in near]

    def written(self) -> dict[str, list[tuple[Thing, str, tuple[tuple[str, ...], ...]]]]:
        """By spelling of a whole name or a word of one: the thing, the name and its readings."""
        if self._written is None:
            self._written = {}
            for thing in self._things:
                for name in thing.names:
                    core = read_name(name, True).core
                    options = tuple(dict.fromkeys((core, *((word,) for word in core))))
                    for option in options:
                        self._written.setdefault("".join(option), []).append((thing, name, options))
        return self._written

    def of_kinds(self, kind: str) -> Iterator[Thing]:
        """The things of a kind and of those that go together with it."""
        for other, numbers in self._kinds.items():
            if other == kind or frozenset((other, kind)) in _TOGETHER:
                yield from map(self._things.__getitem__, numbers)

    def content(self, thing: Thing) -> Content:
        key = (thing.path, thing.stamp)
        found = self._contents.get(key)
        if found is None:
            found = self._contents[key] = self.read(thing.path)
        return found

    def pieces(self, thing: Thing) -> tuple[Piece, ...]:
        key = (thing.path, thing.stamp)
        found = self._pieces.get(key)
        if found is None:
            found = self._pieces[key] = pieces_of(thing.names[0], self.content(thing).text)
        return found


def together(a: str, b: str) -> bool:
    """Whether things of two kinds may be one: of one kind, of kinds close to each other, or one is plain lore."""
    return a == b or frozenset((a, b)) in _TOGETHER or ("lore" in (a, b) and not {a, b} & _ARCS)


def all_names(names: tuple[str, ...]) -> list[str]:
    """Names with what they call themselves besides (`Orsolo aka the Needle`)."""
    return [*names, *(other for name in names for other in read_name(name, True).others)]


@lru_cache(maxsize=32_768)  # of a large campaign all, from one turn to the next
def _keys(name: str) -> frozenset[str]:
    """What two names that may be one have in common."""
    thing, person = read_name(name, False), read_name(name, True)
    if not thing.key:
        return frozenset()
    bag = " ".join(sorted(parts(thing.core)))
    return frozenset((thing.key, person.key, f"first {person.core[0]}", f"bag {bag}", f"place {place(thing)}"))


def pieces_of(name: str, text: str) -> tuple[Piece, ...]:
    """A text as a whole and its first paragraph, each with the name: a grown entry still begins with what it is."""
    lead = text.split("\n## ")[0].strip() or text.strip()
    made, name = [], folded(name)
    for part in dict.fromkeys((lead, lead.split("\n\n")[0])):
        said = folded(part[: 2 * TEXT])[:TEXT]
        runs = trigrams(f"{name} {said}") if said else frozenset()
        if len(runs) >= ENOUGH:
            made.append(Piece(name, said, len(runs), signature(runs)))
    return tuple(made)
