"""The labelled pairs: read, cut into two halves by a hash, and judged by the code."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import yaml

from rolecall.search.catalogue import Entry
from rolecall.search.twins import Candidate, Content, Twin, Twins, twin_of

PAIRS = Path(__file__).with_name("pairs.yaml")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entries and whether they are one."""

    a: Candidate
    b: Candidate
    one: bool

    @property
    def half(self) -> str:
        """`tuned` or `held out`: by a hash of the names, so that no later pair moves an earlier one."""
        digest = hashlib.sha256(f"{self.a.name}|{self.b.name}".encode()).digest()
        return "held out" if digest[0] & 1 else "tuned"

    @property
    def turned(self) -> Pair:
        """The pair the other way round."""
        return Pair(self.b, self.a, self.one)

    def judged(self, others: dict[str, Candidate] | None = None) -> Twin | None:
        """The twin that is found for `a` where `b` is known, among `others` by path."""
        return twin_of(self.a, known({**(others or {}), "b.md": self.b}))

    def __str__(self) -> str:
        return f"{self.a.kind} {self.a.name!r} / {self.b.kind} {self.b.name!r}"


@dataclass(frozen=True, slots=True)
class Score:
    """How well a set of pairs is judged, and the pairs judged wrongly."""

    pairs: int
    precision: float
    recall: float
    wrong: tuple[Pair, ...]


def known(things: dict[str, Candidate]) -> Twins:
    """Things by path, as a campaign that holds them."""
    return Twins(entries(things), lambda path: Content(things[path].text, things[path].date))


def entries(things: dict[str, Candidate]) -> dict[str, Entry]:
    """Their entries in the catalogue."""
    return {
        path: Entry(path=path, sha256=path, kind=thing.kind, name=thing.name, aliases=thing.aliases)
        for path, thing in things.items()
    }


def pairs(half: str | None = None) -> list[Pair]:
    """All pairs, or those of a half."""
    made = [_pair(row) for row in yaml.safe_load(PAIRS.read_text("utf-8"))]
    return [pair for pair in made if half in (None, pair.half)]


def score(of: list[Pair]) -> Score:
    """Precision: of those found to be one, how many are. Recall: of those that are one, how many are found."""
    verdicts = [(pair, pair.judged() is not None) for pair in of]
    right = sum(found and pair.one for pair, found in verdicts)
    return Score(
        pairs=len(of),
        precision=right / max(1, sum(found for _, found in verdicts)),
        recall=right / max(1, sum(pair.one for pair in of)),
        wrong=tuple(pair for pair, found in verdicts if found != pair.one),
    )


def _pair(row: dict) -> Pair:
    kinds = row["kind"] if isinstance(row["kind"], list) else [row["kind"]] * 2
    texts, dates = row.get("text", ("", "")), row.get("date", ("", ""))
    a, b = (
        Candidate(row[side], tuple(row.get(f"{side}_also", ())), kinds[at], texts[at], dates[at])
        for at, side in enumerate("ab")
    )
    return Pair(a, b, row["is"] == "one")
