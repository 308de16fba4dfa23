"""What git costs a turn: run `python tests/benchmarks/git.py [TURNS]`.

Turns with a scripted model, in a running process, in a campaign of 5,000 entries and 3,000 told turns and in a new one; every
third turn after an edit by hand. The time is that for which a turn waits: before its first change, for what is pending to be
committed (which is begun beside the search and the model), and after it, for its own commit. Beside it what one bare start of git takes meanwhile: a turn makes
seven, twelve after an edit by hand, so that a busy machine shows.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY))


def timed_turns(root: Path, script: Path, turns: int) -> tuple[list[float], list[float], list[float]]:
    """(milliseconds in git of turns without an edit by hand, of those with one, of bare starts of git in between)."""
    from rolecall.campaign.commits import Keeper
    from rolecall.turn.game import Game
    from rolecall.turn.lifecycle import Listener

    spent = [0.0]

    def watched(method):  # -> the method, its time added up
        def call(*arguments):
            begin = time.perf_counter()
            try:
                return method(*arguments)
            finally:
                spent[0] += (time.perf_counter() - begin) * 1000

        return call

    kept = {name: getattr(Keeper, name) for name in ("wait", "commit", "tidy")}
    for name, method in kept.items():
        setattr(Keeper, name, watched(method))
    plain, edited, bare = [], [], []
    game = Game(root, models=[f"scripted:{script}"], environ={})
    for number in range(turns):
        if number % 3 == 2:
            (root / "lore").mkdir(exist_ok=True)
            (root / "lore" / f"note-{number}.md").write_text(f"Noted before the hour {number}.\n")
        spent[0] = 0.0
        result = game.tell(f"I wait, {number}.", Listener())
        assert not [one for one in result.degraded if one.layer == "git"], result.degraded
        begin = time.perf_counter()
        subprocess.run(["git", "version"], check=True, capture_output=True)
        bare.append((time.perf_counter() - begin) * 1000)
        (edited if number % 3 == 2 else plain).append(spent[0])
        game.keep_current()
        game.settle()
    for name, method in kept.items():
        setattr(Keeper, name, method)
    return plain[1:], edited, bare


def said(values: list[float]) -> str:
    """A median with its range."""
    return f"{statistics.median(values):,.0f} ms ({min(values):,.0f}-{max(values):,.0f})"


def main() -> None:
    """Measure and print a table."""
    from rolecall.campaign import template
    from tests.benchmarks.figures import write_script
    from tests.benchmarks.grown import write

    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = f"{place}/cache"
        os.environ |= {"GIT_CONFIG_GLOBAL": f"{place}/gitconfig", "GIT_CONFIG_NOSYSTEM": "1"}
        Path(place, "gitconfig").write_text("[user]\n\tname = Wanda Writer\n\temail = wanda@writers.example\n")
        script = write_script(Path(place) / "script.yaml", 0)
        small = template.new(Path(place) / "tale", "The Tale", repository=True).root
        large = Path(place) / "grown"
        write(large, 5000, 3000, 50)
        settings = large / "rolecall.yaml"
        settings.write_text(settings.read_text().replace("git: off", "git: auto"))
        subprocess.run("git init -q && git add -A && git commit -qm Grown", shell=True, check=True, cwd=large)
        print(
            f"{os.cpu_count()} cores, {subprocess.check_output(['git', 'version'], text=True).strip()}, {turns} turns\n"
        )
        for what, root in (("a new campaign", small), ("5,000 entries and 3,000 turns", large)):
            plain, edited, bare = timed_turns(root, script, turns)
            print(f"| what git costs a turn, {what} | {said(plain)}; after an edit by hand {said(edited)} |")
            print(f"| one bare start of git meanwhile | {said(bare)} |")


if __name__ == "__main__":
    main()
