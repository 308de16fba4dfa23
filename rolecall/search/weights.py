"""How much each term of a passage counts: the document's side of BM25F, worked out when it is indexed.

BM25 multiplies a term's rarity with a saturated frequency, normalised by length (Robertson and Zaragoza, "The
Probabilistic Relevance Framework", 2009, with their usual k1 = 1.2 and b = 0.75). Both factors of the second part are known once the
length of an average passage is; a fixed one is as good as the true one in our measurements, so a query adds up stored numbers.

A turn of the story is indexed with its neighbours: the words of the two turns before and after it count a quarter and a
half of its own. A question seldom repeats the words of the one line that answers it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rolecall.search.analysis import Analyzer
from rolecall.search.passages import FilePassages, Passage

FORMAT = 1  # raised whenever the weights of an unchanged file would come out differently

K1 = 1.2
B = 0.75
AVERAGE = 120  # terms of an average passage
NEIGHBOURS = (0.25, 0.5, 1.0, 0.5, 0.25)
REACH = len(NEIGHBOURS) // 2  # turns on each side
_ALIASES = 12  # aliases that count in every passage of an entry
_NAMELESS = ("state", "story", "chronicle", "dm")  # kinds whose file name says nothing about a passage


def weigh(counts: Counter[str] | dict[str, float]) -> dict[str, float]:
    """Saturated, length-normalised frequencies; multiplied with a term's rarity and added up they are a BM25 score."""
    norm = K1 * (1 - B + B * sum(counts.values()) / AVERAGE)
    return {term: count * (K1 + 1) / (count + norm) for term, count in counts.items()}


def text_of(passage: Passage) -> str:
    """What a passage outside the story is found by."""
    parts = [passage.heading, passage.body]
    if passage.kind not in _NAMELESS:
        parts += [passage.name, *passage.aliases[:_ALIASES]]
        if passage.order == 0:
            parts += passage.keys
    return "\n".join(parts)


def digest(*texts: str) -> str:
    """A short fingerprint of texts."""
    return hashlib.blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def digest_of(passage: Passage) -> str:
    """The fingerprint by which a passage found in the index is known again in its file."""
    secret = "secret" if passage.secret else ""
    return digest(text_of(passage), passage.date, secret, str(passage.turn))


@dataclass(frozen=True, slots=True)
class Doc:
    """A passage to index: its term weights, the marks it can be selected by, and where it is.

    `digest` tells a later reader whether the passage is still the one indexed.
    """

    path: str
    order: int
    digest: str
    turn: int | None
    secret: bool
    marks: tuple[str, ...]
    terms: dict[str, float]


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that matched, with its BM25 score."""

    path: str
    order: int
    digest: str
    turn: int | None
    score: float


def mark_path(path: str) -> str:
    """The mark of every passage of a file."""
    return f"path:{path}"


def mark_passage(path: str, order: int) -> str:
    """The mark of one passage."""
    return f"at:{order}:{path}"


class Story:
    """The turns of neighbouring chapters in a row, each open turn with its neighbours.

    A secret turn neither lends its words to another nor borrows any.
    """

    def __init__(self, chapters: Sequence[FilePassages]) -> None:
        turns = [p for chapter in chapters for p in chapter.passages if p.turn is not None and not p.secret]
        self._turns = turns
        self._at = {(p.path, p.order): i for i, p in enumerate(turns)}
        self._counts: dict[int, Counter[str]] = {}

    def __contains__(self, passage: Passage) -> bool:
        return (passage.path, passage.order) in self._at

    def _around(self, passage: Passage) -> list[tuple[float, int]]:
        at = self._at[passage.path, passage.order]
        near = ((weight, at + step) for step, weight in enumerate(NEIGHBOURS, -REACH))
        return [(weight, i) for weight, i in near if 0 <= i < len(self._turns)]

    def digest(self, passage: Passage) -> str:
        """A fingerprint that changes with the turn or with one of its neighbours."""
        return digest(*(f"{digest_of(self._turns[i])}{weight}" for weight, i in self._around(passage)))

    def weights(self, passage: Passage, analyzer: Analyzer) -> dict[str, float]:
        """The term weights of a turn with its neighbours and its date."""
        total: dict[str, float] = {}
        for weight, i in self._around(passage):
            counts = self._counts.get(i)
            if counts is None:
                counts = self._counts[i] = analyzer.counts(text_of(self._turns[i]))
            for term, count in counts.items():
                total[term] = total.get(term, 0.0) + weight * count
        for term, count in analyzer.counts(passage.date).items():
            total[term] = total.get(term, 0.0) + count
        return weigh(total)
