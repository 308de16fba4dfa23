"""What is known about every file: what it is called, what it is tied to, and which state of it the index holds.

Name matching, retrieval, `list` and `graph` read it. It is kept as plain JSON beside the index and loads in parts: the
stamps, with which a check for changes makes do, and the rest when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass

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


class Catalogue(Mapping[str, Entry]):
    """The entries by path, as of one state of the folder. It does not change: `changed` gives the next one.

    `stamps` are None for files that must be looked at again whatever their stamp says. `chapters` are the story's files
    with the first turn of each. Entries and digests stay lines of JSON until somebody asks for them.
    """

    def __init__(
        self,
        stamps: dict[str, Stamp | None] | None = None,
        chapters: dict[str, int] | None = None,
        lines: dict[str, tuple[bytes, bytes]] | None = None,
    ) -> None:
        self.stamps = stamps if stamps is not None else {}
        self.chapters = chapters if chapters is not None else {}
        self._lines = lines if lines is not None else {}
        self._read: dict[str, list] | None = None
        self._made: dict[str, Entry] = {}
        self._whole: dict[str, Entry] | None = None
        self._groups: dict[str, list[str]] | None = None

    def __getitem__(self, path: str) -> Entry:
        entry = self._made.get(path)
        if entry is None:
            row = self._read[path] if self._read is not None else json.loads(self._lines[path][0])
            entry = self._made[path] = _entry(path, row)
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, path: object) -> bool:
        return path in self._lines

    # -- in bulk, quicker than by entry

    def items(self) -> ItemsView[str, Entry]:
        """(path, entry) of every file."""
        return self._all().items()

    def values(self) -> ValuesView[Entry]:
        """Every entry."""
        return self._all().values()

    def of_kinds(self, *kinds: str) -> list[Entry]:
        """The entries of these kinds in the order of their paths; the others are not looked at."""
        groups = self._grouped()
        return [self[path] for path in sorted(path for kind in kinds for path in groups.get(f"kind {kind}", ()))]

    def below(self, *folders: str) -> list[str]:
        """The paths in these folders of the campaign and in what is inside them, in order."""
        groups = self._grouped()
        return sorted(path for folder in folders for path in groups.get(f"in {folder}", ()))

    def marked(self, mark: str) -> list[Entry]:
        """The entries that are `pinned`, `secret` or `broken`, in the order of their paths."""
        return [self[path] for path in sorted(self._grouped().get(mark, ()))]

    @property
    def kinds(self) -> set[str]:
        """The kinds of which there is an entry."""
        return {group.removeprefix("kind ") for group in self._grouped() if group.startswith("kind ")}

    def _grouped(self) -> dict[str, list[str]]:
        """The paths by kind, top folder and mark, sorted out once: a turn asks for them two dozen times."""
        if self._groups is None:
            groups: dict[str, list[str]] = {}
            for path, row in self._rows.items():
                groups.setdefault(f"kind {row[1]}", []).append(path)
                groups.setdefault(f"in {path.partition('/')[0]}", []).append(path)
                if row[7] or row[9]:
                    marks = (("pinned", row[7] & _PINNED), ("secret", row[7] & _SECRET), ("broken", row[9]))
                    for mark in (mark for mark, set_ in marks if set_):
                        groups.setdefault(mark, []).append(path)
            self._groups = groups
        return self._groups

    def _all(self) -> dict[str, Entry]:
        if self._whole is None:
            made = self._made
            self._made = self._whole = {p: made.get(p) or _entry(p, row) for p, row in self._rows.items()}
        return self._whole

    @property
    def _rows(self) -> dict[str, list]:
        if self._read is None:
            rows = json.loads(b"[" + b",".join(line for line, _ in self._lines.values()) + b"]")
            self._read = dict(zip(self._lines, rows, strict=True))
        return self._read

    def names(self, paths: Iterable[str] | None = None) -> Iterator[tuple[str, str, list[str], bool]]:
        """(path, name, aliases, secret) of every thing with a name that is not withheld; of all files or of some."""
        for path, row in self._some(paths):
            if row[1] not in NAMELESS and not row[8] and not row[9]:
                yield path, row[2], row[3], bool(row[7] & _SECRET)

    def trigger_words(self, paths: Iterable[str] | None = None) -> Iterator[tuple[str, list[str], bool]]:
        """(path, keys, secret) of every entry that has trigger words and is not withheld."""
        for path, row in self._some(paths):
            if row[4] and not row[8] and not row[9]:
                yield path, row[4], bool(row[7] & _SECRET)

    def references(self, paths: Iterable[str] | None = None) -> Iterator[tuple[str, list[list]]]:
        """(path, references) of every file that has some; each reference is [type, name, secret]."""
        for path, row in self._some(paths):
            if row[5]:
                yield path, row[5]

    def called(self, paths: Iterable[str] | None = None) -> Iterator[tuple[str, str, list[str]]]:
        """(path, name, aliases) of every thing with a name, the withheld ones too."""
        for path, row in self._some(paths):
            if row[1] not in NAMELESS:
                yield path, row[2], row[3]

    def _some(self, paths: Iterable[str] | None) -> Iterator[tuple[str, list]]:
        if paths is None:
            yield from self._rows.items()
        else:
            yield from ((path, self._rows[path]) for path in paths if path in self._lines)

    def differing(self, other: Catalogue) -> list[str]:
        """The paths of the files whose entry is not the same in another catalogue, or missing in one of the two."""
        mine, theirs = self._lines, other._lines
        changed = [path for path, line in mine.items() if path not in theirs or theirs[path][0] != line[0]]
        return sorted([*changed, *(path for path in theirs if path not in mine)])

    def digests(self, path: str) -> list[str]:
        """What the index holds of a file: a fingerprint of what all its passages share, and one of each passage."""
        line = self._lines.get(path)
        return json.loads(line[1]) if line else []

    def changed(
        self,
        stamps: Mapping[str, Stamp | None],
        entries: Iterable[Entry] = (),
        digests: Mapping[str, list[str]] | None = None,
        gone: Iterable[str] = (),
    ) -> Catalogue:
        """A catalogue with these stamps, entries and digests put in and the files `gone` taken out."""
        fresh = {entry.path: entry for entry in entries}
        new = Catalogue({**self.stamps, **stamps}, dict(self.chapters), dict(self._lines))
        new._made = {**self._made, **fresh}
        new._read = dict(self._read) if self._read is not None else None
        for path, entry in fresh.items():
            row = _row(entry)
            new._lines[path] = (_json(row), new._lines.get(path, _NOTHING)[1])
            if new._read is not None:
                new._read[path] = row
            new.chapters.pop(path, None)
            if entry.kind == "story" and entry.turns:
                new.chapters[path] = entry.turns[0]
        for path, known in (digests or {}).items():
            new._lines[path] = (new._lines[path][0], _json(known))
        for path in gone:
            for part in (new.stamps, new.chapters, new._lines, new._made, new._read or {}):
                part.pop(path, None)
        return new

    # -- stored

    def dump(self) -> list[bytes]:
        """Lines of JSON: stamps, chapters, and for each file, in the order of the stamps, its entry and its digests."""
        stamps = {path: _plain(self.stamps.get(path)) for path in self._lines}
        return [_json(stamps), _json(self.chapters), *(part for line in self._lines.values() for part in line)]

    @classmethod
    def load(cls, lines: list[bytes]) -> Catalogue:
        """The catalogue of stored lines; ValueError when they are not one."""
        stamps, chapters, rest = json.loads(lines[0]), json.loads(lines[1]), lines[2:]
        if len(rest) != 2 * len(stamps):
            raise ValueError("lines are missing")
        read = {path: Stamp(*s) if s else None for path, s in stamps.items()}
        return cls(read, chapters, dict(zip(read, zip(rest[::2], rest[1::2], strict=True), strict=True)))


_NOTHING = (b"", b"[]")
_PINNED, _SECRET = 1, 2


def _plain(stamp: Stamp | None) -> list[int] | None:
    return [stamp.size, stamp.mtime_ns, stamp.inode] if stamp else None


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), check_circular=False).encode()


def _row(entry: Entry) -> list:
    refs = [[ref.type, ref.target, int(ref.secret)] for ref in entry.refs]
    return [
        entry.sha256,
        entry.kind,
        entry.name,
        list(entry.aliases),
        list(entry.keys),
        refs,
        entry.location,
        _PINNED * entry.pinned + _SECRET * entry.secret,
        entry.forgotten,
        entry.broken,
        list(entry.turns) if entry.turns else None,
    ]


def _entry(path: str, row: list) -> Entry:
    sha256, kind, name, aliases, keys, refs, location, flags, forgotten, broken, turns = row
    return Entry(
        path=path,
        sha256=sha256,
        kind=kind,
        name=name,
        aliases=tuple(aliases),
        keys=tuple(keys),
        refs=tuple(Ref(type_, target, bool(secret)) for type_, target, secret in refs),
        location=location,
        pinned=bool(flags & _PINNED),
        secret=bool(flags & _SECRET),
        forgotten=forgotten,
        broken=broken,
        turns=tuple(turns) if turns else None,
    )
