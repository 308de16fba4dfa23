"""Search without an index: names and words are matched on the files themselves.

For when the index cannot be used or another process is building it. It reads what it can within a time limit, the files
changed last first, and ranks with the same weights as the index.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rolecall.campaign.folder import Campaign, Stamp
from rolecall.errors import StorageError
from rolecall.search import weights
from rolecall.search.analysis import Analyzer
from rolecall.search.passages import FilePassages, Passage, passages_of

LIMIT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan found, best first, and whether it got through all files."""

    found: list[tuple[Passage, float]]
    complete: bool


def scan(
    campaign: Campaign,
    stamps: dict[str, Stamp],
    analyzer: Analyzer,
    query: str,
    wanted: Callable[[FilePassages, Passage], bool],
    *,
    first: Iterable[str] = (),
    limit: int = 100,
    seconds: float = LIMIT_SECONDS,
) -> Scan:
    """The passages that hold words of the query. `first` are files to read before the others (those it names)."""
    terms = analyzer.ask(query)
    newest = sorted(stamps, key=lambda path: (-stamps[path].mtime_ns, path))
    order = list(dict.fromkeys([*(p for p in first if p in stamps), *newest]))
    held: list[tuple[Passage, dict[str, float]]] = []
    end = time.monotonic() + seconds
    complete = True
    for path in order:
        if time.monotonic() > end:
            complete = False
            break
        try:
            file = passages_of(path, campaign.read(path))
        except StorageError:
            complete = False
            continue
        for passage in file.passages:
            if wanted(file, passage):
                counts = analyzer.counts(weights.text_of(passage))
                if any(term in counts for term in terms):
                    weighed = weights.weigh(counts)
                    held.append((passage, {term: weighed[term] for term in terms if term in weighed}))
    return Scan(_ranked(held, terms, limit), complete)


def _ranked(held: list[tuple[Passage, dict[str, float]]], terms: list[str], limit: int) -> list[tuple[Passage, float]]:
    """The passages by the sum of their terms' weights and rarity among the passages held."""
    df = {term: sum(term in weighed for _, weighed in held) for term in terms}
    rarity = {term: math.log(1 + (len(held) - n + 0.5) / (n + 0.5)) + 0.1 for term, n in df.items()}
    scored = [(passage, sum(w * rarity[t] for t, w in weighed.items())) for passage, weighed in held]
    scored.sort(key=lambda pair: (-round(pair[1], 9), -(pair[0].turn or 0), pair[0].path, pair[0].order))
    return scored[:limit]
