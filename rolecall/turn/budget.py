"""The order of loss: what leaves a prompt that is too long, and in which order. Pure.

Wild cards first, then enrichment, anticipatory, the oldest recent turns down to two, and active passages from the lowest
rank. Never the Campaign State, the pinned, the directive or the action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

ORDER = ("wild card", "enrichment", "anticipatory", "recent", "active", "arc")
RECENT_KEPT = 2  # recent turns that stay while an active passage could still go


@dataclass(frozen=True, slots=True)
class Priced:
    """A passage of the prompt: where it is from, who put it there and why, and what it costs in tokens.

    `rank` orders passages of one owner from the first to lose to the last; `kept` is the verdict.
    """

    path: str
    line: int
    owner: str
    reason: str
    position: str
    text: str
    tokens: int
    rank: int = 0
    kept: bool = True


def fit(passages: Sequence[Priced], fixed: int, budget: int) -> list[Priced]:
    """The passages with `kept` decided, so that `fixed` plus what is kept is within `budget` where the law allows."""
    kept = list(passages)
    spare = budget - fixed - sum(p.tokens for p in kept)
    for index in _losing(kept):
        if spare >= 0:
            break
        spare += kept[index].tokens
        kept[index] = replace(kept[index], kept=False)
    return kept


def _losing(passages: Sequence[Priced]) -> list[int]:
    """Indexes in the order in which they are lost."""
    by_owner = {owner: [i for i, p in enumerate(passages) if p.owner == owner] for owner in ORDER}
    order: list[int] = []
    for owner in ORDER:
        indexes = sorted(by_owner[owner], key=lambda i: passages[i].rank, reverse=True)
        order += indexes[: max(0, len(indexes) - RECENT_KEPT)] if owner == "recent" else indexes
    return order
