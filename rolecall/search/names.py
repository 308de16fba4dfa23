"""Known names in running text: which entries a sentence speaks of, and where.

Exact matching over thousands of names in any script: whole words where a script has them, the longest name first, with or
without a possessive ending, whatever the case, the apostrophes and the normal form. Guessing is only for "did you mean".
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from rolecall.search.analysis import Analyzer, Word, words

_PLAIN = re.compile(r"[A-Za-z0-9 ]+")

_TEXTS = 256  # texts whose mentions are kept
COVERS = 0.6  # the share of a query's content words a name must cover for the lists of names to join the ranking


@dataclass(frozen=True, slots=True)
class Name:
    """A name or alias of an entry. `hidden` names are matched only with secrets."""

    path: str
    text: str
    alias: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """An entry named in a text: the entry's path, the name in its own spelling, and where it stands.

    `start` and `end` are character positions in the text as it was given (in its NFC form, should it not be NFC).
    """

    path: str
    name: str
    start: int
    end: int
    alias: bool


class NameTable:
    """The names and aliases of a campaign, ready to be found in texts."""

    def __init__(self, names: Iterable[Name], analyzer: Analyzer | None = None) -> None:
        """`analyzer` says which words are stop words: a name that is one (`Will`) counts only as it is written."""
        self._analyzer = analyzer or Analyzer()
        self._spelled: dict[tuple[str, ...], tuple[Name, ...]] = {}
        # For each first word, how many words the names have that begin with it: the longest first.
        self._lengths: dict[str, tuple[int, ...]] = {}
        self._keys: dict[str, tuple[tuple[str, ...], ...]] = {}
        self._found: dict[tuple[str, bool], tuple[Mention, ...]] = {}
        self._add(names)

    def changed(self, paths: Iterable[str], names: Iterable[Name]) -> NameTable:
        """The table after the entries of some paths have got other names (or none); this one where they are the same."""
        paths, names = list(paths), list(names)
        if {path: self._names_of(path) for path in paths} == _by_path(paths, names):
            return self
        new = NameTable((), self._analyzer)
        new._spelled, new._lengths, new._keys = dict(self._spelled), dict(self._lengths), dict(self._keys)
        for path in paths:
            for key in new._keys.pop(path, ()):
                new._spelled[key] = tuple(name for name in new._spelled[key] if name.path != path)
        new._add(names)
        return new

    def _names_of(self, path: str) -> set[Name]:
        return {name for key in self._keys.get(path, ()) for name in self._spelled[key] if name.path == path}

    def _add(self, names: Iterable[Name]) -> None:
        for name in names:
            key = _key(name.text)
            if not _is_name(key):
                continue
            self._spelled[key] = (*self._spelled.get(key, ()), name)
            self._keys[name.path] = (*self._keys.get(name.path, ()), key)
            lengths = self._lengths.get(key[0], ())
            if len(key) not in lengths:
                self._lengths[key[0]] = tuple(sorted((*lengths, len(key)), reverse=True))

    def mentions(self, text: str, *, secrets: bool = False) -> list[Mention]:
        """Every mention, in order, none inside another; several entries of one name give a mention each."""
        held = self._found.get((text, secrets))  # of a turn's texts many are looked through by several helpers
        if held is None:
            if len(self._found) >= _TEXTS:
                self._found.clear()
            held = self._found[text, secrets] = tuple(self._mentions(text, secrets))
        return list(held)

    def _mentions(self, text: str, secrets: bool) -> list[Mention]:
        text = _nfc(text)
        tokens = list(words(text))
        found: list[Mention] = []
        at = 0
        while at < len(tokens):
            length, names = self._longest(text, tokens, at, secrets)
            for name in names:
                found.append(Mention(name.path, name.text, tokens[at].start, tokens[at + length - 1].end, name.alias))
            at += length or 1
        return found

    def _longest(self, text: str, tokens: list[Word], at: int, secrets: bool) -> tuple[int, list[Name]]:
        """(words taken, names) of the longest name that begins at a word; its last word may carry a possessive ending."""
        word = tokens[at]
        lengths = self._lengths.get(word.text, ())
        if word.stem != word.text and 1 in self._lengths.get(word.stem, ()):
            lengths = (*lengths, 1)
        for length in lengths:
            stretch = tokens[at : at + length]
            if len(stretch) < length or not _together(stretch):
                continue
            written = tuple(token.text for token in stretch)
            bare = (*written[:-1], stretch[-1].stem)
            for key in (written, bare) if bare != written else (written,):
                names = self._spelled.get(key, ())
                said = text[word.start : stretch[-1].end]
                kept = [n for n in names if (secrets or not n.hidden) and self._meant(n.text, key, said)]
                if kept:
                    return length, sorted(kept, key=lambda n: (n.alias, n.path))
        return 0, []

    def _meant(self, name: str, key: tuple[str, ...], written: str) -> bool:
        """A name that is a stop word of the language counts only with the capitals it has."""
        return len(key) > 1 or not self._analyzer.is_stop(key[0]) or written.startswith(_nfc(name))

    def _is_stop(self, word: Word) -> bool:
        return self._analyzer.is_stop(word.text) or self._analyzer.is_stop(word.stem)

    def named(self, query: str, *, secrets: bool = False) -> tuple[list[str], list[str]]:
        """(paths by name, paths by alias) of the entries a query asks for, in the order in which it names them.

        Both are empty unless the names cover most of the query's content words (`COVERS`): a question that only mentions a
        place is about something else than the place.
        """
        query = _nfc(query)
        found = self.mentions(query, secrets=secrets)
        if not found:
            return [], []
        covered_words = content_words = 0
        for word in words(query):
            if self._is_stop(word):
                continue
            content_words += 1
            covered_words += any(m.start <= word.start < m.end for m in found)
        # A query of stop words alone that is a name (`The Who`) is that name.
        if covered_words < COVERS * content_words:
            return [], []
        by_name = list(dict.fromkeys(m.path for m in found if not m.alias))
        return by_name, [p for p in dict.fromkeys(m.path for m in found if m.alias) if p not in by_name]


def _together(stretch: list[Word]) -> bool:
    """In a script without spaces a name is a run of characters: nothing may stand between them."""
    return all(a.end == b.start for a, b in itertools.pairwise(stretch) if a.unspaced and b.unspaced)


def _by_path(paths: Iterable[str], names: Iterable[Name]) -> dict[str, set[Name]]:
    """The names of each path that can be found in a text."""
    found: dict[str, set[Name]] = {path: set() for path in paths}
    for name in names:
        if _is_name(_key(name.text)):
            found.setdefault(name.path, set()).add(name)
    return found


def _is_name(key: tuple[str, ...]) -> bool:
    """Whether it can be found in a text: no word at all cannot, nor a single letter."""
    return bool(key) and not (len(key) == 1 and len(key[0]) == 1 and key[0].isascii())


def _key(name: str) -> tuple[str, ...]:
    if _PLAIN.fullmatch(name):
        return tuple(name.casefold().split())
    return tuple(word.text for word in words(_nfc(name)))


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def did_you_mean(wrong: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known names most like one that is unknown, best first; none that is unlike it."""
    from rapidfuzz import fuzz, process

    best = process.extract(
        _nfc(wrong),
        list(dict.fromkeys(known)),
        scorer=fuzz.WRatio,
        processor=str.casefold,
        limit=limit,
        score_cutoff=70,
    )
    return [name for name, *_ in best]
