"""What is known about every file: what it is called, what it is tied to, and which state of it the index holds.

Name matching, retrieval, `list` and `graph` read it. It is kept as plain JSON beside the index and loads in parts: the
stamps, with which a check for changes makes do, and the rest when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rolecall.campaign.folder import Stamp
from rolecall.search.passages import FilePassages, Ref

# Kinds that are texts rather than things with a name.
NAMELESS = frozenset({"story", "chronicle", "state", "dm", "instruction", "prose"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the campaign. `path` is its key; `turns` the first and last turn a story or Chronicle file tells.

    `broken` is the reason why it could not be read as it should be: then it is searchable for the writer only.
    `forgotten` is the reason why it was taken out of retrieval. Both are withheld from the models.
    """

    path: str
    sha256: str
    kind: str
    name: str
    aliases: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    refs: tuple[Ref, ...] = ()
    location: str = ""
    pinned: bool = False
    secret: bool = False
    forgotten: str = ""
    broken: str = ""
    turns: tuple[int, int] | None = None

    @property
    def withheld(self) -> bool:
        """Whether it is kept from retrieval."""
        return bool(self.forgotten or self.broken)


def entry_of(file: FilePassages, sha256: str) -> Entry:
    """The entry of a parsed file."""
    turns = [p.turn for p in file.passages if p.turn is not None]
    return Entry(
        path=file.path,
        sha256=sha256,
        kind=file.kind,
        name=file.name,
        aliases=file.aliases,
        keys=file.keys,
        refs=file.refs,
        location=file.location,
        pinned=file.pinned,
        secret=file.secret,
        forgotten=file.forgotten,
        broken=file.broken,
        turns=(min(turns), max(turns)) if turns else None,
    )


@dataclass(slots=True)
class Catalogue(Mapping[str, Entry]):
    """The entries by path, as of one state of the folder. Treated as unchanging: `changed` gives the next one.

    `stamps` are None for files that must be looked at again whatever their stamp says. `digests` hold, for each file, a
    fingerprint of what all its passages share and one of each passage as indexed.
    """

    stamps: dict[str, Stamp | None] = field(default_factory=dict)
    _rows: dict[str, list] | None = field(default_factory=dict)
    _digests: dict[str, list[str]] | None = field(default_factory=dict)
    _raw: tuple[bytes | None, bytes | None] = (None, None)
    _made: dict[str, Entry] = field(default_factory=dict)

    # -- as a mapping

    def __getitem__(self, path: str) -> Entry:
        entry = self._made.get(path)
        if entry is None:
            entry = self._made[path] = _entry(path, self.rows[path])
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(self.stamps)

    def __len__(self) -> int:
        return len(self.stamps)

    @property
    def rows(self) -> dict[str, list]:
        """The entries as they are stored."""
        if self._rows is None:
            self._rows = json.loads(self._raw[0])
        return self._rows

    @property
    def digests(self) -> dict[str, list[str]]:
        """What the index holds of each file."""
        if self._digests is None:
            self._digests = json.loads(self._raw[1])
        return self._digests

    def chapters(self) -> list[str]:
        """The paths of the story's chapters in the order of their turns."""
        told = [(row[10][0], path) for path, row in self.rows.items() if row[1] == "story" and row[10]]
        return [path for _, path in sorted(told)]

    # -- the next one

    def changed(
        self,
        stamps: Mapping[str, Stamp | None],
        entries: Iterable[Entry] = (),
        digests: Mapping[str, list[str]] | None = None,
        gone: Iterable[str] = (),
    ) -> Catalogue:
        """A catalogue with these stamps, entries and digests put in and the files `gone` taken out."""
        fresh = {entry.path: entry for entry in entries}
        gone = set(gone)
        new = Catalogue(
            {p: s for p, s in {**self.stamps, **stamps}.items() if p not in gone}, self._rows, self._digests
        )
        new._raw = (None if fresh or gone else self._raw[0], None if digests or gone else self._raw[1])
        new._made = {p: e for p, e in {**self._made, **fresh}.items() if p not in gone}
        if fresh or gone:
            rows = {**self.rows, **{path: _row(entry) for path, entry in fresh.items()}}
            new._rows = {path: row for path, row in rows.items() if path not in gone}
        if digests or gone:
            new._digests = {p: d for p, d in {**self.digests, **(digests or {})}.items() if p not in gone}
        return new

    # -- stored

    def dump(self) -> list[bytes]:
        """Three lines of JSON: stamps, entries, digests."""
        stamps = {p: [s.size, s.mtime_ns, s.inode] if s else None for p, s in self.stamps.items()}
        self._raw = (self._raw[0] or _json(self.rows), self._raw[1] or _json(self.digests))
        return [_json(stamps), *self._raw]

    @classmethod
    def load(cls, stamps: bytes, rows: bytes, digests: bytes) -> Catalogue:
        """The catalogue of three stored lines; the last two are read when needed."""
        read = {path: Stamp(*s) if s else None for path, s in json.loads(stamps).items()}
        return cls(read, None, None, (rows, digests))


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), check_circular=False).encode()


def _row(entry: Entry) -> list:
    refs = [[ref.type, ref.target, int(ref.secret)] for ref in entry.refs]
    flags = int(entry.pinned) + 2 * int(entry.secret)
    return [
        entry.sha256,
        entry.kind,
        entry.name,
        list(entry.aliases),
        list(entry.keys),
        refs,
        entry.location,
        flags,
        entry.forgotten,
        entry.broken,
        list(entry.turns) if entry.turns else None,
    ]


def _entry(path: str, row: list) -> Entry:
    sha256, kind, name, aliases, keys, refs, location, flags, forgotten, broken, turns = row
    return Entry(
        path,
        sha256,
        kind,
        name,
        tuple(aliases),
        tuple(keys),
        tuple(Ref(type_, target, bool(secret)) for type_, target, secret in refs),
        location,
        bool(flags & 1),
        bool(flags & 2),
        forgotten,
        broken,
        tuple(turns) if turns else None,
    )
