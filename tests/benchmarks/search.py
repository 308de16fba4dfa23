"""How long search takes on a large campaign: building, checking for changes, asking, and following an edit.

    python tests/benchmarks/search.py [--entries 5000] [--turns 3000] [--json]

The campaign is generated. `cold` rows are of a process of their own that has imported what it needs and nothing else.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rolecall.campaign.folder import open_campaign
from rolecall.search.searcher import Search
from rolecall.search.watcher import Watcher
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
    search = Search(open_campaign(root), cache=cache)
    found["build, s"] = timed(search.refresh, 1)[0] / 1000
    found["peak memory of the build, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["index, MB"] = sum(f.stat().st_size for f in cache.rglob("*.seg")) / 1e6
    time.sleep(2.2)  # until no file counts as only just written
    search.refresh()
    for label, code in COLD.items():
        found[label] = statistics.median(in_new_process(root, cache, code) for _ in range(7))
    found["nothing changed, warm"] = statistics.median(timed(search.refresh, 9))
    names = [entry.name for entry in search.catalogue.values() if entry.kind != "story"]
    for label, asked in queries(names).items():
        taken = [timed(lambda q=q: search.find(q), 1)[0] for q in asked]
        found[f"{label}, median"] = statistics.median(taken)
        found[f"{label}, p95"] = statistics.quantiles(taken, n=20)[-1]
    text = world.World.of(1).prose(2000) + names[5]
    found["mentions in 2,000 words"] = statistics.median(timed(lambda: search.mentions(text), 5))
    return found | edits(search, root, paths) | latency(search, root / paths[10])


# Each begins with the modules imported that stand before the `|`, and a campaign that has been opened.
COLD = {
    "nothing changed, cold": "from rolecall.search.searcher import Search|search().refresh()",
    "first question, cold": "import rolecall.search.index, yaml; from rolecall.search.searcher import Search|"
    "s = search(); s.refresh(); s.find('glass tide')",
    "import of the engine": "|import rolecall.search.index",
}


def in_new_process(root: Path, cache: Path, code: str) -> float:
    """Milliseconds of one step in a process of its own."""
    before, _, step = code.partition("|")
    script = (
        f"import time; from pathlib import Path; from rolecall.campaign.folder import open_campaign\n{before}\n"
        f"c = open_campaign(Path({str(root)!r})); search = lambda: Search(c, cache=Path({str(cache)!r}))\n"
        f"t = time.perf_counter(); {step}; print((time.perf_counter() - t) * 1000)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return float(ran.stdout)


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


def latency(search: Search, path: Path) -> dict[str, float]:
    """From an edit in an editor to the moment it is found, with the watcher."""
    taken = []
    with Watcher(search):
        time.sleep(1.5)
        for number in range(11):
            start = time.perf_counter()
            path.write_text(path.read_text() + f"\nzzword{number}\n")
            while not search.find(f"zzword{number}"):
                time.sleep(0.005)
            taken.append((time.perf_counter() - start) * 1000)
    return {"edit to found with the watcher, median": statistics.median(taken), "the same, slowest": max(taken)}


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
