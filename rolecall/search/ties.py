"""Who is tied to whom: the references and wikilinks of the catalogue, resolved to files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rolecall.search.analysis import fold
from rolecall.search.catalogue import NAMELESS, Entry


@dataclass(frozen=True, slots=True)
class Tie:
    """An edge of the graph: from a file to an entry it names. `type` is the field's name, or `link`."""

    source: str
    target: str
    type: str
    secret: bool


class Ties:
    """All ties of a campaign, in the order of their files. A name that nobody bears ties to nothing."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        self._named = _by_name(entries)
        self._out: dict[str, list[Tie]] = {}
        self._in: dict[str, list[Tie]] = {}
        for path, entry in entries.items():
            for ref in entry.refs:
                for target in self._named.get(_key(ref.target), ()):
                    if target != path:
                        tie = Tie(path, target, ref.type, ref.secret or entry.secret or entries[target].secret)
                        self._out.setdefault(path, []).append(tie)
                        self._in.setdefault(target, []).append(tie)

    def all(self, *, secrets: bool = False) -> list[Tie]:
        """Every tie, each once."""
        ties = dict.fromkeys(tie for group in self._out.values() for tie in group)
        return [tie for tie in ties if secrets or not tie.secret]

    def named(self, name: str) -> list[str]:
        """The paths of the entries of that name or alias, names before aliases."""
        return list(self._named.get(_key(name), ()))

    def neighbours(self, path: str, *, secrets: bool = False) -> list[str]:
        """The entries an entry is tied to, those it names itself first; files of prose and withheld ones left out."""
        ties = [(t.target, t) for t in self._out.get(path, ())] + [(t.source, t) for t in self._in.get(path, ())]
        near = dict.fromkeys(other for other, tie in ties if secrets or not tie.secret)
        return [p for p in near if not self._entries[p].withheld and self._entries[p].kind not in NAMELESS]


def _by_name(entries: Mapping[str, Entry]) -> dict[str, list[str]]:
    named: dict[str, list[str]] = {}
    things = [(path, entry) for path, entry in entries.items() if entry.kind not in NAMELESS]
    for path, entry in things:
        named.setdefault(_key(entry.name), []).append(path)
    for path, entry in things:
        stem = path.rsplit("/", 1)[-1].removesuffix(".md")
        for other in (*entry.aliases, stem):
            same = named.setdefault(_key(other), [])
            if path not in same:
                same.append(path)
    return named


def _key(name: str) -> str:
    return " ".join(fold(name).split())
