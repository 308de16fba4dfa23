"""How long search takes on a large campaign: building, checking for changes, asking, and following an edit.

    python tests/benchmarks/search.py [--entries 5000] [--turns 3000] [--json]

The campaign is generated. Times are of this process; `cold` rows begin with nothing in memory but the imports.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rolecall.campaign.folder import open_campaign
from rolecall.search.searcher import Search
from tests.search import world


def timed(work: Callable[[], object], times: int) -> list[float]:
    """Milliseconds of each of several runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append((time.perf_counter() - start) * 1000)
    return taken


def queries(names: list[str]) -> dict[str, list[str]]:
    """Questions of several lengths in the campaign's own vocabulary, and names."""
    made = world.World.of(1)
    made.rng.seed(7)
    return {
        "two words": [" ".join(made.rng.choices(made.words[200:], k=2)) for _ in range(100)],
        "a sentence": [made.prose(10) for _ in range(100)],
        "an action of 60 words": [made.prose(60) for _ in range(100)],
        "a name": made.rng.sample(names, 100),
    }


def measure(root: Path, cache: Path, entries: int, turns: int) -> dict[str, float]:
    """The numbers, in milliseconds unless their name says otherwise."""
    paths = world.campaign(root, entries, turns)
    found: dict[str, float] = {"files": len(paths)}
    campaign = open_campaign(root)
    search = Search(campaign, cache=cache)
    found["build, s"] = timed(search.refresh, 1)[0] / 1000
    found["peak memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["index, MB"] = sum(f.stat().st_size for f in cache.rglob("*.seg")) / 1e6
    time.sleep(2.2)  # until no file counts as only just written
    search.refresh()
    found["nothing changed, cold"] = statistics.median(timed(lambda: Search(campaign, cache=cache).refresh(), 9))
    found["nothing changed, warm"] = statistics.median(timed(search.refresh, 9))
    found["catalogue entries, cold"] = statistics.median(
        timed(lambda: list(_loaded(campaign, cache).catalogue.values()), 5)
    )
    found["first question, cold"] = statistics.median(timed(lambda: _loaded(campaign, cache).find("glass tide"), 5))
    names = [entry.name for entry in search.catalogue.values() if entry.kind != "story"]
    for label, asked in queries(names).items():
        taken = [timed(lambda q=q: search.find(q), 1)[0] for q in asked]
        found[f"{label}, median"] = statistics.median(taken)
        found[f"{label}, p95"] = statistics.quantiles(taken, n=20)[-1]
    text = world.World.of(1).prose(2000) + names[5]
    found["mentions in 2,000 words"] = statistics.median(timed(lambda: search.mentions(text), 5))
    found |= edits(search, root, paths)
    return found


def _loaded(campaign: object, cache: Path) -> Search:
    search = Search(campaign, cache=cache)
    search.refresh()
    return search


def edits(search: Search, root: Path, paths: list[str]) -> dict[str, float]:
    """One-file updates: an entry, and one more turn in the last chapter."""
    made = world.World.of(1)
    found: dict[str, float] = {}
    for label, path in (("entry", paths[3]), ("turn in a chapter", paths[-1])):
        taken = []
        for number in range(20):
            with (root / path).open("ab") as file:
                file.write(f"\n## T{9000 + number:04}\n\n{made.prose(120)}\n".encode())
            taken += timed(search.refresh, 1)
        found[f"edit of one {label}, median"] = statistics.median(taken)
    found["tidy"] = timed(search.tidy, 1)[0]
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=5000)
    parser.add_argument("--turns", type=int, default=3000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder) / "campaign", Path(folder) / "cache", arguments.entries, arguments.turns)
    if arguments.json:
        print(json.dumps(found, indent=1))
    else:
        for label, value in found.items():
            print(f"{label:<40}{value:>12.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
