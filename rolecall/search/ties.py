"""Who is tied to whom: the references and wikilinks of the catalogue, resolved to files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rolecall.search.analysis import fold
from rolecall.search.catalogue import NAMELESS, Catalogue

_NAME, _ALIAS = 0, 1

_Bearers = dict[str, tuple[tuple[int, str], ...]]  # name: (its rank, path)
_Users = dict[str, tuple[str, ...]]  # name: paths of the files that refer to it


@dataclass(frozen=True, slots=True)
class Tie:
    """An edge of the graph: from a file to an entry it names. `type` is the field's name, or `link`."""

    source: str
    target: str
    type: str
    secret: bool


class Ties:
    """All ties of a campaign. A name that nobody bears ties to nothing.

    Kept as two tables, of who bears a name and of who uses it, so that a changed file changes only its own rows. Each is made
    when it is first asked for.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._borne: _Bearers | None = None
        self._used: _Users | None = None

    def changed(self, catalogue: Catalogue, paths: Iterable[str]) -> Ties:
        """The ties after the entries of some paths have become others."""
        paths, new = list(paths), Ties(catalogue)
        gone = set(paths)
        if self._borne is not None:
            new._borne = dict(self._borne)
            for key in {key for _, key, _ in _names(self._catalogue, paths)}:
                new._borne[key] = tuple(pair for pair in new._borne[key] if pair[1] not in gone)
            _add_bearers(new._borne, catalogue, paths)
        if self._used is not None:
            new._used = dict(self._used)
            for _, refs in self._catalogue.references(paths):
                for key in {_key(ref[1]) for ref in refs}:
                    new._used[key] = tuple(path for path in new._used[key] if path not in gone)
            _add_users(new._used, catalogue, paths)
        return new

    @property
    def _bearers(self) -> _Bearers:
        if self._borne is None:
            self._borne = _add_bearers({}, self._catalogue, None)
        return self._borne

    @property
    def _users(self) -> _Users:
        if self._used is None:
            self._used = _add_users({}, self._catalogue, None)
        return self._used

    def named(self, name: str) -> list[str]:
        """The paths of the entries of that name or alias, names before aliases."""
        return [path for _, path in sorted(self._bearers.get(_key(name), ()))]

    def of(self, path: str) -> list[Tie]:
        """The ties of one file to the entries it names, in its own order."""
        entry, found = self._catalogue[path], []
        for ref in entry.refs:
            for target in self.named(ref.target):
                if target != path:
                    secret = ref.secret or entry.secret or self._catalogue[target].secret
                    found.append(Tie(path, target, ref.type, secret))
        return list(dict.fromkeys(found))

    def to(self, path: str) -> list[Tie]:
        """The ties of other files to one, by the path of those."""
        users = {user for _, key, _ in _names(self._catalogue, [path]) for user in self._users.get(key, ())}
        return [tie for user in sorted(users - {path}) for tie in self.of(user) if tie.target == path]

    def all(self, *, secrets: bool = False) -> list[Tie]:
        """Every tie, each once, by the path of its source."""
        ties = [tie for path in sorted(self._catalogue) for tie in self.of(path)]
        return [tie for tie in ties if secrets or not tie.secret]

    def neighbours(self, path: str, *, secrets: bool = False) -> list[str]:
        """The entries an entry is tied to, those it names itself first; files of prose and withheld ones left out."""
        if path not in self._catalogue:
            return []
        ties = [(tie.target, tie) for tie in self.of(path)] + [(tie.source, tie) for tie in self.to(path)]
        near = dict.fromkeys(other for other, tie in ties if secrets or not tie.secret)
        entries = map(self._catalogue.__getitem__, near)
        return [entry.path for entry in entries if not entry.withheld and entry.kind not in NAMELESS]


def _add_bearers(table: _Bearers, catalogue: Catalogue, paths: Iterable[str] | None) -> _Bearers:
    for path, key, rank in _names(catalogue, paths):
        borne = table.get(key)
        if borne is None:
            table[key] = ((rank, path),)
        elif all(path != other for _, other in borne):
            table[key] = (*borne, (rank, path))
    return table


def _add_users(table: _Users, catalogue: Catalogue, paths: Iterable[str] | None) -> _Users:
    for path, refs in catalogue.references(paths):
        for key in {_key(ref[1]) for ref in refs}:
            table[key] = (*table.get(key, ()), path)
    return table


def _names(catalogue: Catalogue, paths: Iterable[str] | None) -> Iterable[tuple[str, str, int]]:
    """(path, name, rank) of every name, alias and file stem that a reference may use."""
    for path, name, aliases in catalogue.called(paths):
        yield path, _key(name), _NAME
        for other in (*aliases, path.rsplit("/", 1)[-1].removesuffix(".md")):
            yield path, _key(other), _ALIAS


def _key(name: str) -> str:
    return " ".join((name.lower() if name.isascii() else fold(name)).split())
