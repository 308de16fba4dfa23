"""The numbers of the README, measured: run `python tests/benchmarks/figures.py`.

Each is a median over several runs of the real thing on a generated campaign of 5,000 entries and 3,000 told turns;
comparisons are paired (the two in turn, the ratio pair by pair). Nothing here is a test: a busy machine is slow.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY))

ENTRIES, TURNS, CHAPTER = 5000, 3000, 50
IDLE = 1.0  # seconds the player reads between two turns
ASKED = ("ledger", "harbour", "salt", "bell", "market", "fever", "door", "ship", "wolf", "mirror", "crown", "fog")


def timed(action: Callable[[], object]) -> float:
    """Milliseconds an action takes."""
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * 1000


def command(*arguments: str, environ: dict[str, str] | None = None, code: str = "") -> float:
    """Milliseconds a whole process takes; `code` instead of the `rolecall` command when given."""
    line = [sys.executable, "-c", code] if code else [sys.executable, "-m", "rolecall", *arguments]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), **(environ or {})}
    return timed(lambda: subprocess.run(line, check=True, capture_output=True, env=env))


def median(values: list[float]) -> str:
    """A median with its range."""
    return f"{statistics.median(values):,.0f} ms ({min(values):,.0f}-{max(values):,.0f})"


def grown(root: Path) -> None:
    """A campaign of 5,000 entries and 3,000 told turns in one folder, written plainly."""
    from tests.benchmarks.grown import write

    write(root, ENTRIES, TURNS, CHAPTER)


def help_ratio() -> str:
    """`rolecall --help` against a bare import of click, in turn."""
    ratios = []
    for _ in range(15):
        bare = command(code="import click")
        ratios.append(command("--help") / bare)
    return f"{statistics.median(ratios):.2f} times ({min(ratios):.2f}-{max(ratios):.2f})"


def reconcile(root: Path) -> str:
    """Nothing changed: a new Search each time, as a command makes it, in a running process."""
    from rolecall.campaign.folder import open_campaign
    from rolecall.search.searcher import Search

    return median([timed(Search(open_campaign(root)).refresh) for _ in range(21)])


def cold_turn(root: Path, script: Path, delay_ms: int) -> str:
    """The whole `turn` command with a scripted model (no SDK is imported), less what the model itself took."""
    told = ("-C", str(root), "turn", "I go on.", "--model", f"scripted:{script}")
    return median([command(*told) - delay_ms for _ in range(15)])


def cold_reading(root: Path) -> str:
    """The whole commands that read, each a process of its own."""
    asked = (["status"], ["search", "salt and fever"], ["show", "Name4"], ["list", "item"], ["swipe", "--list"])
    found = {" ".join(line[:2]): [command("-C", str(root), *line) for _ in range(9)] for line in asked}
    return ", ".join(f"`{name}` {statistics.median(values):,.0f} ms" for name, values in found.items())


def warm_turns(root: Path, script: Path, count: int, delay_ms: int) -> str:
    """Own work of a turn in a running process, as `play` runs it: the turn's time less what the model itself took."""
    from rolecall.turn.game import Game
    from rolecall.turn.lifecycle import Listener

    game = Game(root, models=[f"scripted:{script}"], environ={})
    own = []
    for number in range(count):
        own.append(timed(lambda n=number: game.tell(f"I ask Name{n * 28} about the ledger.", Listener())) - delay_ms)
        game.keep_current()
        time.sleep(IDLE)  # the player reads meanwhile
        game.settle()
    return median(own[1:])


def write_script(path: Path, delay: float) -> Path:
    """A scripted model that takes `delay` seconds a turn, for every turn."""
    text = f"- {{text: 'Sera looks at the ledger and says nothing.', chunk: 1000, delay: {delay}, tools: [{{name: append_journal, arguments: {{text: Sera was silent about the ledger.}}}}]}}\n"
    path.write_text(text * 400)
    return path


def prompt_growth() -> str:
    """Mean tokens of the prompts for a dozen actions at turn 300 and at turn 3,000 of a campaign of 1,000 entries."""
    from rolecall.campaign.folder import open_campaign
    from rolecall.search.searcher import Search
    from rolecall.turn import preview
    from rolecall.turn.game import Game
    from tests.benchmarks.grown import name, write

    means, most = [], 0
    for turns in (300, 3000):
        with tempfile.TemporaryDirectory() as place:
            root = Path(place) / "campaign"
            write(root, 1000, turns, CHAPTER)
            campaign = open_campaign(root)
            search = Search(campaign)
            search.refresh()
            game = Game(root, models=[f"scripted:{write_script(Path(place) / 's.yaml', 0)}"], environ={})
            actions = [f"I ask {name(n * 61)} about the {word} in {name(n * 4 + 1)}." for n, word in enumerate(ASKED)]
            sizes = [preview.of(game, campaign, search, action)["layers"][0]["tokens"] for action in actions]
            means.append(statistics.mean(sizes))
            most = max(most, *sizes)
    growth = means[1] / means[0] * 100 - 100
    return f"{means[0]:,.0f} and {means[1]:,.0f} tokens ({growth:+.1f} %), at most {most:,}"


def stable_share() -> str:
    """How much of the narrator's prompt is the same as in the turn before, over 20 turns of the template's campaign."""
    from itertools import pairwise

    from rolecall.campaign import records, template
    from rolecall.models import messages, tokens
    from rolecall.turn.game import Game
    from rolecall.turn.lifecycle import Listener

    def told(request: messages.Request) -> str:
        tools = json.dumps([[t.name, t.description, t.schema] for t in request.tools], ensure_ascii=False)
        said = [part.text for part in request.system] + [m.text for m in request.messages]
        return "\n".join([tools, *said])

    with tempfile.TemporaryDirectory() as place:
        root = template.new(Path(place) / "tale", "The Tale").root
        game = Game(root, models=[f"scripted:{write_script(Path(place) / 's.yaml', 0)}"], environ={})
        for number in range(20):
            game.tell(f"I ask Old Pasco about the bell, {number}.", Listener())
        saved = [records.calls(root, folder)[0] for folder in records.folders(root)]
        prompts = [told(messages.decode(call.request)) for call in saved if call.layer == "narrator"]
    shares = [tokens.estimate(b[: shared(a, b)]) / tokens.estimate(b) for a, b in pairwise(prompts)]
    return f"{statistics.mean(shares):.0%} ({min(shares):.0%}-{max(shares):.0%})"


def shared(a: str, b: str) -> int:
    """How many characters two texts have in common at their beginning."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a campaign of a tenth of the size")
    options = parser.parse_args()
    global ENTRIES, TURNS
    if options.quick:
        ENTRIES, TURNS = ENTRIES // 10, TURNS // 10
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = f"{place}/cache"
        root = Path(place) / "campaign"
        grown(root)
        print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {ENTRIES:,} entries, {TURNS:,} turns\n")
        build = command("-C", str(root), "index", "--rebuild")
        rows = [("index of everything from nothing, whole command", f"{build / 1000:.1f} s")]
        rows.append(("reconcile, nothing changed", reconcile(root)))
        rows.append(("rolecall --help against import click", help_ratio()))
        fast, slow = write_script(Path(place) / "fast.yaml", 0), write_script(Path(place) / "slow.yaml", 0.2)
        rows.append(("cold `turn`, beyond its model's 200 ms", cold_turn(root, slow, 200)))
        rows.append(("the same with a model that answers at once", cold_turn(root, fast, 0)))
        rows.append(("cold commands that read", cold_reading(root)))
        rows.append(("own work of a turn, running process", warm_turns(root, fast, 41, 0)))
        rows.append(("time of a turn beyond its model's 200 ms, running process", warm_turns(root, slow, 21, 200)))
        rows.append(("narrator's prompt at turn 300 and at turn 3,000, mean of 12 actions", prompt_growth()))
        rows.append(("of the narrator's prompt the same as in the turn before, 20 turns", stable_share()))
        for what, figure in rows:
            print(f"| {what} | {figure} |")


if __name__ == "__main__":
    main()
