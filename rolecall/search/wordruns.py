"""Words in a row: of a hidden sentence its telling runs, and the place of these in a text, as it stands or turned round."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from rolecall.campaign import facts
from rolecall.campaign.narration import sentences
from rolecall.search.analysis import words
from rolecall.search.disguise import Squeezed

RUN = 6  # words in a row; in a script without spaces twice as many characters
SHORTEST = 2  # telling words of a short hidden sentence that counts whole
_WORD = re.compile(r"\w+")


class Runs:
    """A text as its words in a row, whatever stands between them."""

    def __init__(self, text: str) -> None:
        spelled = list(words(text))
        self.words = tuple(word.text for word in spelled)
        self.starts = [word.start for word in spelled]
        self._by_length: dict[int, dict[tuple[str, ...], int]] = {}

    def has(self, run: tuple[str, ...]) -> bool:
        """Whether these words stand here in a row."""
        return run in self._of(len(run))

    def _of(self, length: int) -> dict[tuple[str, ...], int]:
        if length not in self._by_length:
            last = len(self.words) - length
            self._by_length[length] = {self.words[at : at + length]: at for at in range(last, -1, -1)}
        return self._by_length[length]

    def shared(self, runs: tuple[tuple[str, ...], ...]) -> list[tuple[tuple[str, ...], int]]:
        """(run, character position) of those runs that stand here too."""
        return [(run, self.starts[self._of(len(run))[run]]) for run in runs if self.has(run)]


class Turned:
    """A text read the other way: each word from its end, the words from the last, and both."""

    def __init__(self, text: str) -> None:
        inside = _WORD.sub(lambda word: word[0][::-1], text)  # no word moves
        self._last = len(text) - 1
        self._runs = ((Runs(inside), False), (Runs(text[::-1]), True), (Runs(inside[::-1]), True))

    def shared(self, runs: tuple[tuple[str, ...], ...]) -> Iterator[tuple[tuple[str, ...], int]]:
        """(run, a character position of it in the text) of those long runs that stand here turned round."""
        for read, mirrored in self._runs:
            for run, at in read.shared(tuple(run for run in runs if len(run) >= RUN)):
                yield run, self._last - at if mirrored else at


def run_together(squeezed: Squeezed, runs: tuple[tuple[str, ...], ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    """(run, character position) of those runs whose letters stand in a text, whatever parts them or does not."""
    for run in runs:
        if (at := squeezed.place(run)) is not None:
            yield run, at


@lru_cache(maxsize=4_000)
def spelled_runs(hidden: str) -> tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]:
    """(sentence, its telling runs of words) of a hidden text; of a short sentence the only run is all of it."""
    found = []
    for part in sentences(unicodedata.normalize("NFC", hidden)):
        _, colon, tail = part.text.rpartition(": ")  # `Who did it: Varr did`: what stands behind the question
        runs = (*_runs_of(part.text), *(_runs_of(tail) if colon else ()))
        if runs:
            found.append((part.text, tuple(dict.fromkeys(runs))))
    return tuple(found)


def _runs_of(text: str) -> tuple[tuple[str, ...], ...]:
    spelled = list(words(text))
    row = tuple(word.text for word in spelled)
    length = 2 * RUN if sum(word.unspaced for word in spelled) * 2 > len(spelled) else RUN
    if len(row) < length:
        return (row,) if sum(map(carries, row)) >= SHORTEST else ()
    every = (row[at : at + length] for at in range(len(row) - length + 1))
    return tuple(run for run in every if length > RUN or any(map(carries, run)))


@lru_cache(maxsize=20_000)
def carries(word: str) -> bool:
    """Whether a word carries meaning by itself."""
    return len(word) > 3 and bool(facts.content_words(word))
