"""Hidden truth in a text: which of its sentences give away what only the DM may know.

A sentence is given away when the text repeats six words of it in a row, or when two adjacent sentences hold all its names
and a third of its content words. What the open part of the campaign says already is no secret any more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rolecall.campaign import facts
from rolecall.campaign.narration import Sentence, sentences
from rolecall.search.analysis import fold, words
from rolecall.search.searcher import Search

RUN = 6  # words in a row; in a script without spaces twice as many characters
SHARE = 1 / 3  # of a hidden sentence's content words
LEAST = 2  # content words, however short the hidden sentence is
_CAPITAL = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Leak:
    """A sentence of the text and the hidden text it gives away. The second is for the DM's eyes only."""

    sentence: Sentence
    hidden: str


@dataclass(frozen=True, slots=True)
class _Secret:
    """A hidden sentence, read: runs of its words, the entries and other names in it, and its content words."""

    text: str
    runs: frozenset[tuple[str, ...]]
    paths: frozenset[str]
    names: frozenset[str]
    content: frozenset[str]


def given_away(text: str, hidden: Iterable[str], search: Search, known: str = "") -> list[Leak]:
    """What a text gives away of the hidden texts, at most one leak for each sentence of the text.

    `known` is text that is open to everybody beside the campaign's entries (the Campaign State). A hidden text that
    begins with its entry's name (`Valen. He sold her.`) is found without it too.
    """
    hidden = [one for one in hidden if one.strip()]
    if not hidden or not text.strip():
        return []
    said = _Text(sentences(_nfc(text)), search)
    found: dict[int, Leak] = {}
    for one in hidden:
        for secret in _secrets(one, search):
            at = said.place(secret)
            if at is not None and said.sentences[at].start not in found and not _open(secret, search, known):
                found[said.sentences[at].start] = Leak(said.sentences[at], secret.text)
    return [found[start] for start in sorted(found)]


class _Text:
    """A text ready to be asked: its runs of words, and each pair of neighbours with its names and content words."""

    def __init__(self, parts: tuple[Sentence, ...], search: Search) -> None:
        self.sentences = parts
        self._runs: dict[tuple[str, ...], int] = {}
        for at, part in enumerate(parts):
            for run in runs(part.text + " " + (parts[at + 1].text if at + 1 < len(parts) else "")):
                self._runs.setdefault(run, at)
        named = [frozenset(m.path for m in search.mentions(part.text, secrets=True)) for part in parts]
        bags = [facts.content_words(part.text) for part in parts]
        self._named = [a | b for a, b in zip(named, [*named[1:], frozenset()], strict=True)]
        self._bags = [a | b for a, b in zip(bags, [*bags[1:], set()], strict=True)]

    def place(self, secret: _Secret) -> int | None:
        """The sentence that gives a secret away, by number."""
        at = next((self._runs[run] for run in secret.runs if run in self._runs), None)
        if at is not None or not (secret.paths or secret.names) or len(secret.content) < LEAST:
            return at
        needed = max(LEAST, len(secret.content) * SHARE)
        for at, (named, bag) in enumerate(zip(self._named, self._bags, strict=True)):
            if secret.paths <= named and secret.names <= bag and len(secret.content & bag) >= needed:
                return at
        return None


def runs(text: str) -> set[tuple[str, ...]]:
    """Every run of `RUN` words of a text that says something: two words in it carry meaning."""
    spelled = [(word.text, word.unspaced) for word in words(_nfc(text))]
    length = 2 * RUN if sum(unspaced for _, unspaced in spelled) * 2 > len(spelled) else RUN
    found = (tuple(word for word, _ in spelled[at : at + length]) for at in range(len(spelled) - length + 1))
    return {run for run in found if length > RUN or _telling(run)}


def _telling(run: tuple[str, ...]) -> bool:
    return sum(_carries(word) for word in run) >= 2


@lru_cache(maxsize=20_000)
def _carries(word: str) -> bool:
    return len(word) > 3 and bool(facts.content_words(word))


def _secrets(text: str, search: Search) -> list[_Secret]:
    """The sentences of a hidden text, read; the entry's name before the first of them counts for all."""
    found, subject = [], frozenset()
    for part in sentences(_nfc(text)):
        mentions = search.mentions(part.text, secrets=True)
        paths = frozenset(m.path for m in mentions)
        rest = part.text
        for mention in reversed(mentions):
            rest = rest[: mention.start] + " · " + rest[mention.end :]
        if not found and not subject and paths and not facts.content_words(rest):
            subject = paths
            continue
        names = frozenset().union(
            *(facts.content_words(name) for name in facts.names_in(f"x {rest}") if _CAPITAL.search(name))
        )
        content = frozenset(facts.content_words(rest)) - names
        found.append(_Secret(part.text, frozenset(runs(part.text)), paths | subject, names, content))
    return found


def _open(secret: _Secret, search: Search, known: str) -> bool:
    """Whether the open part of the campaign says it too."""
    if known and _Text(sentences(_nfc(known)), search).place(secret) is not None:
        return True
    hits = search.find(secret.text, limit=6)
    return any(_Text(sentences(hit.text), search).place(secret) is not None for hit in hits)


def named_secrets(text: str, search: Search) -> list[tuple[int, int, str]]:
    """(start, end, path) of each name in a text that only a secret entry bears, written as it is there.

    A name that the open part of the campaign uses too is left out.
    """
    text = _nfc(text)
    catalogue, found = search.catalogue, []
    mentions = [m for m in search.mentions(text, secrets=True) if m.path in catalogue and catalogue[m.path].secret]
    opened = {(m.start, m.end) for m in search.mentions(text)} if mentions else set()
    for mention in mentions:
        said = text[mention.start : mention.end]
        if (mention.start, mention.end) in opened or not said[:1].isalpha():
            continue
        if said[0] == said[0].lower() != said[0].upper():
            continue
        if any(fold(mention.name) in fold(hit.text) for hit in search.find(mention.name, limit=3)):
            continue
        found.append((mention.start, mention.end, mention.path))
    return found


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
