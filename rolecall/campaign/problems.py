"""One thing that `rolecall check` tells of, and how near a mistyped word is to a known one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `line` is None where the whole file is meant.

    A `note` is what may be meant so, such as a link to a page that is not written yet: only `--strict` counts it.
    """

    path: str
    line: int | None
    rule: str
    message: str
    remedy: str
    note: bool = field(default=False, compare=False)

    def to_json(self) -> dict:
        """The object `check --json` prints."""
        return {key: getattr(self, key) for key in ("path", "line", "rule", "message", "remedy")}

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.message}; {self.remedy}"


def near(word: str, known: Collection[str]) -> str:
    """The known word that a mistyped one was most likely to be; empty when there is none.

    One slip (a letter more, less, other, or two swapped) in words from five letters on, two from nine on; never in a digit.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import DamerauLevenshtein

    most = 0 if len(word) < 5 else 1 if len(word) < 9 else 2
    if not most:
        return ""
    best = process.extract(
        word, list(known), scorer=DamerauLevenshtein.distance, processor=str.casefold, score_cutoff=most, limit=3
    )
    digits = [char for char in word if char.isdigit()]
    return next((one for one, *_ in best if [char for char in one if char.isdigit()] == digits), "")
