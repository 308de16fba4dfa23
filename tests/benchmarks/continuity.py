"""How often the continuity check is right, and how long it takes on a large campaign.

    python tests/benchmarks/continuity.py [--entries 5000] [--turns 3000]

The labelled proses stand in tests/agents/continuity; their halves are cut by a hash, and the rules were tuned on one only.
The campaign for the times is generated; a prose there is of 300 words, names entries and misspells one.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rolecall.agents.continuity import findings, prepare
from rolecall.campaign.folder import open_campaign
from rolecall.search.searcher import Search
from tests.agents.continuity import labelled
from tests.benchmarks import grown
from tests.search import world


def accuracy() -> None:
    """Print precision and recall of each rule on both halves."""
    print(
        "| rule | tuned: right, wrong, missed | precision | recall | held out: right, wrong, missed | precision | recall |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as place:
        worlds = labelled.worlds(Path(place))
        tuned, _ = labelled.judge(labelled.proses("tuned"), worlds)
        held, _ = labelled.judge(labelled.proses("held out"), worlds)
    for rule in tuned:
        cells = [
            f"{s.right}, {s.wrong}, {s.missed} | {s.precision:.2f} | {s.recall:.2f}" for s in (tuned[rule], held[rule])
        ]
        print(f"| {rule} | {' | '.join(cells)} |")
    every = labelled.proses()
    print(f"\n{len(every)} proses, {sum(not prose.rules for prose in every)} of them clean")


def timed(work: Callable[[], object]) -> float:
    """Milliseconds a piece of work takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def prose_of(made: world.World, names: list[str], dice: random.Random) -> str:
    """A scene of 300 words: made-up sentences, four names that are known and one that is not quite."""
    said = [made.prose(60) for _ in range(5)]
    for at in range(4):
        said[at] += f' {dice.choice(names)} nods. "{made.prose(6)}" says {dice.choice(names)}.'
    name = dice.choice(names)
    said[4] += f" You turn to {name[:3]}{name[4:]} and wait."
    return "\n\n".join(said)


def times(root: Path, cache: Path, entries: int, turns: int) -> None:
    """Print how long a check takes: the first of a session, one made ready, and one a turn after an entry has changed."""
    world.campaign(root, entries, turns)
    grown_state = Path(str(root) + "-state")
    grown.write(grown_state, 8, 40, 50)
    (root / "campaign-state.md").write_bytes((grown_state / "campaign-state.md").read_bytes())
    campaign = open_campaign(root)
    search = Search(campaign, cache=cache)
    search.refresh()
    state = campaign.document("campaign-state.md")
    names = [e.name for e in search.catalogue.values() if e.kind == "character"]
    made, dice = world.World.of(1), random.Random(7)
    hidden = [f"{dice.choice(names)}. {made.prose(14)}" for _ in range(60)]
    search.mentions("x"), search.find("glass tide")

    def check() -> float:
        prose = prose_of(made, names, dice)
        return timed(lambda: findings(prose, state, search, campaign, "I wait.", hidden))

    print(f"\n{entries:,} entries, {turns:,} turns, {len(hidden)} hidden texts, {os.cpu_count()} cores\n")
    print("| what | median ms | 95th of 100 |\n| --- | --- | --- |")
    print(f"| made ready, once a session | {timed(lambda: prepare(campaign, search)):.0f} | |")
    check()
    taken = [check() for _ in range(100)]
    print(f"| a turn's check | {statistics.median(taken):.1f} | {statistics.quantiles(taken, n=20)[-1]:.1f} |")
    files = [root / e.path for e in search.catalogue.values() if e.kind == "character"]
    taken = []
    for number in range(40):
        files[number].write_text(files[number].read_text() + f"\nOne line more, {number}.\n")
        search.refresh()
        search.mentions("x"), search.find("glass tide")  # as every turn does before its prose is told
        taken.append(check())
    print(
        f"| the same after an entry has changed | {statistics.median(taken):.1f} | {statistics.quantiles(taken, n=20)[-1]:.1f} |"
    )


def main() -> None:
    """Measure and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=5000)
    parser.add_argument("--turns", type=int, default=3000)
    options = parser.parse_args()
    accuracy()
    with tempfile.TemporaryDirectory() as place:
        times(Path(place) / "campaign", Path(place) / "cache", options.entries, options.turns)


if __name__ == "__main__":
    main()
