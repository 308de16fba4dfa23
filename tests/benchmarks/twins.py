"""How well and how quickly it is seen that something is in the campaign already.

    python tests/benchmarks/twins.py [--entries 5000] [--wrong]

Two tables for both halves of the labelled pairs: each pair alone, and each pair among the entries of a generated
campaign, where a twin found elsewhere counts as a mistake too. Then the time of one check. `--wrong` lists the pairs of
the tuned half that are judged wrongly; those of the half held out are for nobody to tune on.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rolecall.search.twins import Candidate, Twins, near_names, twin_of
from tests.search import world
from tests.search.twins import labelled

KINDS = ("character", "location", "item", "organization", "event", "lore")


def crowd(size: int, kinds: tuple[str, ...] = KINDS) -> dict[str, Candidate]:
    """Entries of a generated campaign by path, each with a name of two or three words and a text of 40 to 120 words."""
    made, rng = world.World.of(3), random.Random(3)
    things = {}
    for number in range(size):
        name = " ".join(rng.choice(made.words[200:]).capitalize() for _ in range(rng.choice((2, 2, 3))))
        text = made.prose(rng.randint(40, 120))
        kind = rng.choice(kinds)
        things[f"{kind}/{number}.md"] = Candidate(name, (), kind, text, f"day {number}" if kind == "event" else "")
    return things


def table(judge, title: str) -> None:
    """Precision and recall of each half. `judge` gives the twin's path, or None, for a pair."""
    print(f"\n{title}\n{'half':<10}{'pairs':>7}{'one':>6}{'found':>7}{'precision':>11}{'recall':>8}")
    for half in ("tuned", "held out"):
        pairs = labelled.pairs(half)
        found = [(pair, path) for pair in pairs if (path := judge(pair))]
        right = sum(pair.one and path == "b.md" for pair, path in found)
        ones = sum(pair.one for pair in pairs)
        print(f"{half:<10}{len(pairs):>7}{ones:>6}{len(found):>7}{right / len(found):>11.3f}{right / ones:>8.3f}")


def timed(work) -> float:
    """Milliseconds of one run."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def times(things: dict[str, Candidate], twins: Twins, title: str) -> None:
    """One check with everything read, by what is asked."""
    rng, made = random.Random(5), world.World.of(4)
    some = rng.sample(list(things.values()), 60)
    asked = {
        "a name it has": [Candidate(t.name, (), t.kind, t.text, t.date) for t in some],
        "a new name, no text": [Candidate(f"Zq{t.name}", (), t.kind) for t in some],
        "a new name, 60 words": [Candidate(f"Zq{t.name}", (), t.kind, made.prose(60)) for t in some],
        "a new name, 300 words": [Candidate(f"Zq{t.name}", (), t.kind, made.prose(300)) for t in some],
    }
    print(f"\n{title:<26}{'median':>8}{'p95':>8}")
    for label, candidates in asked.items():
        taken = [timed(lambda c=c: twin_of(c, twins)) for c in candidates]
        print(f"{label:<26}{statistics.median(taken):>8.1f}{statistics.quantiles(taken, n=20)[-1]:>8.1f}")
    taken = [timed(lambda t=t: near_names(f"Zq{t.name.split()[0]}", twins)) for t in some]
    print(f"{'near names of a word':<26}{statistics.median(taken):>8.1f}{statistics.quantiles(taken, n=20)[-1]:>8.1f}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=5000)
    parser.add_argument("--wrong", action="store_true")
    options = parser.parse_args()

    def alone(pair: labelled.Pair) -> str | None:
        twin = pair.judged()
        return twin.path if twin else None

    table(alone, "each pair alone")
    if options.wrong:
        for pair in labelled.score(labelled.pairs("tuned")).wrong:
            print(f"  {'one' if pair.one else 'two'}: {pair}")
    things = crowd(options.entries)
    entries = labelled.entries(things)
    fresh: list[Twins] = []
    print(f"\nmade for {len(things)} entries: {timed(lambda: fresh.append(labelled.known(things))):.0f} ms")
    twins = fresh[0]
    print(f"every text read: {timed(lambda: [list(map(twins.pieces, twins.of_kinds(kind))) for kind in KINDS]):.0f} ms")
    print(f"made again, nothing changed: {timed(lambda: Twins(entries, twins.read, twins)):.0f} ms")
    times(things, twins, "one check, six kinds, ms")
    same = crowd(options.entries, ("item",))
    twins_of_kind = labelled.known(same)
    list(map(twins_of_kind.pieces, twins_of_kind.of_kinds("item")))
    times(same, twins_of_kind, "one check, one kind, ms")

    def crowded(pair: labelled.Pair) -> str | None:
        extended = Twins(entries, twins.read, twins)
        extended.add("b.md", pair.b)
        twin = twin_of(pair.a, extended)
        return twin.path if twin else None

    table(crowded, f"each pair among {len(things)} entries")


if __name__ == "__main__":
    main()
