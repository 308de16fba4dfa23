"""Several lists become one: reciprocal rank fusion.

Each list says only in which order it would answer; a passage gets `weight / (60 + rank)` from every list it stands in (Cormack,
Clarke and Büttcher, 2009, whose constant 60 is). Equal scores keep the order of the lists as given, then path and order,
so the same campaign always answers the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

CONSTANT = 60

# Weights of the lists. Names join only for a query that is mostly a name, and then lead. Neighbours and recency only
# decide between passages that the words rank about alike.
NAME = 2.0
ALIAS = 1.5
WORDS = 1.0
NEIGHBOUR = 0.02
RECENT = 0.02


@dataclass(frozen=True, slots=True)
class Ranked:
    """A list that takes part: its items, best first, and its weight."""

    items: Sequence[Hashable]
    weight: float


def fuse(lists: Sequence[Ranked]) -> list[tuple[Hashable, float]]:
    """The items of all lists with their joint score, best first."""
    scores: dict[Hashable, float] = {}
    for ranked in lists:
        for rank, item in enumerate(dict.fromkeys(ranked.items), 1):
            scores[item] = scores.get(item, 0.0) + ranked.weight / (CONSTANT + rank)
    return sorted(scores.items(), key=lambda pair: -round(pair[1], 12))
