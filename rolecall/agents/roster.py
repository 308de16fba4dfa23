"""Every name and alias of a campaign, kept for three questions: who is called so, is a word part of any name, which names
are written much like one that nobody bears.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rolecall.campaign.text import fold
from rolecall.search import titles
from rolecall.search.analysis import words
from rolecall.search.catalogue import Catalogue
from rolecall.search.readings import UNSPACED

LIVING = frozenset({"character", "creature"})
_PLAIN = re.compile(r"[A-Za-z ]+")


@dataclass(frozen=True, slots=True)
class Bearer:
    """An open name or alias with the entry that bears it."""

    path: str
    name: str


@dataclass(slots=True)
class Roster:
    """The names. Those of secret and withheld entries are known, so that they are no slips, but never suggested.

    `_words` and `_phrases` hold what a slip may have meant, by the first letter and then by the folded word, or by the
    words of a longer name run together.
    """

    catalogue: Catalogue = field(default_factory=Catalogue)
    _of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _spelled: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _words: dict[str, dict[str, tuple[Bearer, ...]]] = field(default_factory=dict)
    _phrases: dict[str, dict[str, tuple[Bearer, ...]]] = field(default_factory=dict)

    def update(self, now: Catalogue) -> None:
        """Bring the names up to a catalogue: only those of changed entries are looked at."""
        changed = now.differing(self.catalogue) if len(self.catalogue) else None
        for path in changed or ():
            self._forget(path)
        opened = {path for path, _, _, secret in now.names(changed) if not secret}
        for path, name, aliases in now.called(changed):
            self._of[path] = (name, *aliases)
            kind = now[path].kind if path in opened else ""
            for one in self._of[path]:
                self._learn(path, one, kind)
        self.catalogue = now

    def named(self, name: str) -> tuple[str, ...]:
        """The paths of the entries of a name or alias, an article more or less; `[[links]]` are read as their names."""
        return self._spelled.get(_bare(_plain_link(name)), ())

    def has_word(self, word: str) -> bool:
        """Whether a folded word is part of any name."""
        return word in self._counts

    def has_phrase(self, key: str) -> bool:
        """Whether an open name of several words is written so when they are run together."""
        return key in self._phrases.get(key[:1], ())

    def like_word(self, word: str) -> Iterator[tuple[str, Bearer]]:
        """(folded word, bearer) of names of people, and of names of one word, that differ from a word by two letters at most."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        for first in dict.fromkeys(word[:2]):
            near = self._words.get(first, {})
            for key, _, _ in process.extract(word, near.keys(), scorer=OSA.distance, score_cutoff=2, limit=40):
                yield from ((key, bearer) for bearer in near[key])

    def like_phrase(self, key: str) -> Iterator[Bearer]:
        """The bearers of names of several words that are written much as one run together."""
        from rapidfuzz import fuzz, process

        near = self._phrases.get(key[:1], {})
        for other, _, _ in process.extract(key, near.keys(), scorer=fuzz.ratio, score_cutoff=82, limit=20):
            yield from near[other]

    # -- inside

    def _learn(self, path: str, name: str, kind: str) -> None:
        bare = _bare(name)
        paths = self._spelled.get(bare, ())
        if path not in paths:  # `The Old Well` and its alias `Old Well`
            self._spelled[bare] = (*paths, path)
        parts = parts_of(name)
        for word in parts:
            self._counts[word] = self._counts.get(word, 0) + 1
        if kind and is_proper(name):
            for table, key in _targets(name, parts, kind):
                under = (self._words if table == "word" else self._phrases).setdefault(key[:1], {})
                under[key] = (*under.get(key, ()), Bearer(path, name))

    def _forget(self, path: str) -> None:
        for name in self._of.pop(path, ()):
            parts = parts_of(name)
            _put(self._spelled, _bare(name), tuple(p for p in self._spelled.get(_bare(name), ()) if p != path))
            for word in parts:
                self._counts[word] -= 1
                if not self._counts[word]:
                    del self._counts[word]
            for key in {*parts, phrase_key(parts)}:
                for table in (self._words, self._phrases):
                    under = table.get(key[:1], {})
                    _put(under, key, tuple(one for one in under.get(key, ()) if one.path != path))


def _targets(name: str, parts: dict[str, str], kind: str) -> Iterator[tuple[str, str]]:
    """("word", key) and ("phrase", key) of what a slip may have meant by a name."""
    if kind in LIVING:
        known = titles.titles()
        for word, written in parts.items():
            if is_proper(written) and word not in known and word not in titles.ARTICLES and word not in titles.LINKS:
                yield "word", word
    elif len(parts) == 1:
        yield "word", next(iter(parts))
    if len(parts) > 1:
        yield "phrase", phrase_key(parts)


def phrase_key(parts: dict[str, str]) -> str:
    """The words of a name without articles, run together."""
    return "".join(word for word in parts if word not in titles.ARTICLES)


def is_proper(word: str) -> bool:
    """Whether a word is written as a name: with a capital, or in a script without capitals."""
    if word[:1].isascii() and word[:1].isalpha():
        return word[0].isupper()
    letter = next((c for c in word if c.isalpha()), "")
    return letter.isupper() or bool(letter and letter.upper() == letter.lower())


def _plain_link(name: str) -> str:
    if "[[" not in name:
        return name
    return name.strip().removeprefix("[[").removesuffix("]]").split("|")[0].split("#")[0].rsplit("/", 1)[-1]


def _bare(name: str) -> str:
    """A name as it is looked up: folded, without an article before it."""
    folded = " ".join(name.casefold().split()) if name.isascii() else fold(name)
    first, _, rest = folded.partition(" ")
    return rest if rest and first in titles.ARTICLES else folded


def parts_of(name: str) -> dict[str, str]:
    """The words of a name, folded, each with how it is written; a name in a script without spaces is one word."""
    if _PLAIN.fullmatch(name):
        return {word.casefold(): word for word in name.split()}
    if UNSPACED.search(name):
        return {fold(name): name}
    return {word.stem: name[word.start : word.end] for word in words(name)}


def _put(table: dict, key: str, held: tuple) -> None:
    if held:
        table[key] = held
    else:
        table.pop(key, None)
