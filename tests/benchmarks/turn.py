"""What a turn takes beside its models: run `python tests/benchmarks/turn.py [TURNS]`.

A campaign of 5,000 entries and 3,000 told turns with arcs, truths, plans and the game's numbers; every layer on: the retriever,
the TurnDM, the DM with a round of tools, the narrator with one, then scribe, afterwork, and every so often historian and
fold. The server is a process of its own and takes 200 ms for each call. The turns are told in a running process, as `play`
does it, and timed from the action to the closed record: the afterwork counts.

The critical path is taken from the server's log alone: a call lasts from the moment its request had come in to the moment
its answer was out. Of the layers before generation, which do not need each other, the one whose calls last longest in sum;
then the sum of the narrator's; then again the longest of those that follow. Everything else is our own doing and counts
against us: between two calls, the wire, both SDKs' ends of it, the writing to disk.
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
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY))

from tests.benchmarks import grown  # noqa: E402
from tests.game import plot  # noqa: E402
from tests.loopback import storyteller  # noqa: E402
from tests.loopback.replies import Reply  # noqa: E402
from tests.loopback.server import Loopback  # noqa: E402

DELAY = 0.2  # seconds of a call
STAGES = (("retriever", "turn_dm", "dm"), ("narrator",), ("scribe", "historian", "afterwork", "chronicler"))
SPEC = "openai/loopback-1"
ENTRIES, TURNS, CHAPTER = 5000, 3000, 50
IDLE = 1.0  # seconds the player reads between two turns


# -- the model of every layer


def answer(body: dict) -> Reply:
    """The answer of any layer, so many milliseconds later."""
    layer = plot.layer_of(body)
    return replace(_ANSWERS.get(layer, storyteller.reply)(body), delay=DELAY)


def _narrator(body: dict) -> Reply:
    turn, rounds = storyteller.place(body)
    offered = storyteller.tools_of(body)
    if rounds == 0:
        wanted = (("search", {"query": f"ledger of {grown.name(turn * 7)}"}), ("read", {"name": grown.name(turn * 3)}))
        return Reply(tools=tuple(one for one in wanted if one[0] in offered))
    told = f"{grown.name(turn * 4 % 800)} lays the ledger down. {storyteller.prose(turn)}"
    return Reply(text=told, tools=(("append_journal", {"text": storyteller.line(turn)}),))


def _dm(body: dict) -> Reply:
    turn, rounds = storyteller.place(body)
    if rounds == 0 and "plant_seed" in storyteller.tools_of(body):
        return Reply(tools=(("plant_seed", {"text": f"The rope was cut at the {storyteller.ordinal(turn)} mark."}),))
    immersion = {"resources": [{"name": "silver", "change": 1}]}
    return Reply(tools=(("direct", {"narrator": storyteller.directive(turn), "immersion": immersion}),))


def _turn_dm(body: dict) -> Reply:
    turn = storyteller.place(body)[0]
    chosen = {
        "entries": [{"name": grown.name(turn * 4 % 5000), "place": "beside"}, {"name": "Place1", "place": "before"}],
        "prose": [{"module": "Danger", "place": "middle"}],
        "guidance": {"goals": ["somebody asks for the ledger"], "introduce": [grown.name(8)], "threads": []},
        "hints": {"tone": "wary", "beats": ["a lull"], "stress": ["wet stone"], "avoid": ["jokes"]},
        "intentions": {"add": [], "withdraw": [], "fulfil": []},
    }
    return Reply(text=json.dumps(chosen))


def _retriever(body: dict) -> Reply:
    turn = storyteller.place(body)[0]
    picks = {"active": [grown.name(turn * 4 % 5000)], "anticipatory": [grown.name(turn * 4 % 5000 + 1)]}
    return Reply(text=json.dumps({**picks, "enrichment": ["items/"], "wild": [], "queries": ["salt and fever"]}))


def _scribe(body: dict) -> Reply:
    turn = storyteller.place(body)[0]
    if any(message["role"] == "assistant" for message in body["messages"]):
        return Reply(text="Nothing.")
    fact = {"name": grown.name(turn * 4 % 800), "status": f"watched at the {storyteller.ordinal(turn)} mark"}
    return Reply(tools=(("record_character", {**fact, "reason": "told", "source": "lays the ledger down"}),))


def _afterwork(body: dict) -> Reply:
    ideas = ["I ask about the ledger.", "I look at the rope.", "I wait for the tide."]
    return Reply(text=json.dumps({"entities": [], "suggestions": ideas, "scene_changed": False}))


_ANSWERS = {
    "narrator": _narrator,
    "dm": _dm,
    "turn_dm": _turn_dm,
    "retriever": _retriever,
    "scribe": _scribe,
    "afterwork": _afterwork,
}


# -- the campaign


def write(root: Path, entries: int, turns: int) -> None:
    """The grown campaign, with everything the layers look at: arcs, truths, the DM's own files, numbers, instructions."""
    grown.write(root, entries, turns, CHAPTER)
    settings = (root / "rolecall.yaml").read_text()
    layers = "models: {" + ", ".join(f"{role}: {SPEC}" for role in ("default", "turn_dm", "dm")) + "}\n"
    (root / "rolecall.yaml").write_text(settings + layers)
    for number in range(6):
        name = f"Who broke the {grown.WORDS[number * 3]}"
        text = f"---\nname: {name}\nquestion: {name}?\nstakes: the {grown.WORDS[number * 5]}\nstatus: open\n"
        text += f"latest: T{turns - number:04d} Nobody knows.\ntruth: {grown.name(number * 4)} broke it for the guild.\n---\n\n"
        _put(root, f"arcs/arc-{number}.md", f"{text}## Trail\n\n## Summaries\n")
    for number in range(0, entries, 50):
        place = next(root.glob(f"*/{grown.name(number).lower()}.md"))
        place.write_text(place.read_text() + f"\n## Secret\n\nOwes the {grown.WORDS[number % 40]} to a dead man.\n")
    _put(root, "dm/plan.md", "---\nname: Plan\n---\nThe ledger is false. The third night tells who wrote it.\n")
    _put(root, "dm/seeds.md", f"- [ ] A rope is new. (T{turns - 9:04d})\n")
    months = "months: [Frostmoon 30, Thawmoon 31]"
    _put(root, "rules/the-years.md", f"---\nname: The years\nkind: rule\n{months}\n---\nTwo months are a year.\n")
    state = (root / "campaign-state.md").read_text().replace("date: 1492-13-01", "date: 3 Frostmoon 1492")
    (root / "campaign-state.md").write_text(state.replace("## Promises", "## Resources\n\n- silver: 9\n\n## Promises"))
    for folder in ("instructions", "prose"):
        for file in (REPOSITORY / "workspace_template" / folder).glob("*.md"):
            _put(root, f"{folder}/{file.name}", file.read_text())


def _put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


# -- what the server saw


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a layer: when its request had come in and when its answer was out, in seconds."""

    layer: str
    begun: float
    ended: float


def calls_of(log: Iterable[str]) -> list[Call]:
    """The calls in a server's log, in order."""
    asked: dict[int, dict] = {}
    found = []
    for line in map(json.loads, log):
        if line["event"] == "asked":
            asked[line["n"]] = line
        elif "messages" in asked[line["n"]]["body"]:
            one = asked[line["n"]]
            found.append(Call(plot.layer_of(one["body"]), one["at"], line["at"]))
    return sorted(found, key=lambda call: call.begun)


def critical_path(calls: list[Call]) -> float:
    """Seconds: of each stage the layer whose calls last longest in sum."""
    return sum(
        max((sum(c.ended - c.begun for c in calls if c.layer == layer) for layer in stage), default=0.0)
        for stage in STAGES
    )


def gaps(calls: list[Call], begin: float, end: float) -> list[float]:
    """Milliseconds of our own along a turn: before the first call, within and between the stages, after the last."""
    spans = []
    for stage in STAGES:
        mine = [call for call in calls if call.layer in stage]
        spans.append((min(c.begun for c in mine), max(c.ended for c in mine), critical_path(mine)))
    marks = [spans[0][0] - begin]
    for number, (first, last, path) in enumerate(spans):
        marks.append(last - first - path)
        marks.append((spans[number + 1][0] if number + 1 < len(spans) else end) - last)
    return [one * 1000 for one in marks]


GAPS = ("to the first call", "before", "to the narrator", "narrator", "to the afterwork", "afterwork", "to the end")


# -- measuring


def measure(root: Path, turns: int, profile: str = "") -> None:
    """Tell so many turns and print what they took."""
    from rolecall.turn.game import Game
    from rolecall.turn.lifecycle import Listener

    log = root.parent / "calls.jsonl"
    log.unlink(missing_ok=True)
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", str(log)], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    )
    port = int(server.stdout.readline())
    environ = {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "sk-loopback"}
    game, seen = Game(root, environ=environ), 0
    rows = []
    try:
        for number in range(turns + 2):
            begin, busy = time.monotonic(), time.process_time()
            if profile and number == 2:
                _profiler().start()
            result = game.tell(f"I ask {grown.name(number * 28)} about the ledger.", Listener())
            end, busy = time.monotonic(), time.process_time() - busy
            assert not result.degraded, result.degraded
            lines = log.read_text().splitlines()
            calls, seen = calls_of(lines[seen:]), len(lines)
            rows.append((end - begin, critical_path(calls), gaps(calls, begin, end), calls, busy))
            game.keep_current()  # as `play` does
            time.sleep(IDLE)
    finally:
        server.terminate()
        server.wait()
    if profile:
        _profiler().stop()
        _profiler().convert2pstats(_profiler().get_func_stats()).dump_stats(profile)
    _print("first turn of the process", rows[:1])
    _print(f"{turns} turns", rows[2:])


def _profiler():  # -> yappi, which adds up every thread's own processor time; not among the dependencies
    import yappi

    yappi.set_clock_type("cpu")
    return yappi


def _print(what: str, rows: list[tuple]) -> None:
    own = [(wall - path) * 1000 for wall, path, *_ in rows]
    over = [(wall - path * 1.05) * 1000 for wall, path, *_ in rows]
    ratios = [wall / path for wall, path, *_ in rows]
    paths = [path * 1000 for _, path, *_ in rows]
    asked = statistics.mean(len(row[3]) for row in rows)
    print(f"\n{what}: {asked:.1f} calls each, critical path {statistics.median(paths):,.0f} ms")
    for name, values, form in (
        ("beyond the critical path, ms", own, ",.0f"),
        ("beyond 1.05 times it, ms (100 are allowed)", over, ",.0f"),
        ("times the critical path", ratios, ".3f"),
        ("our own processor's time, ms", [row[4] * 1000 for row in rows], ",.0f"),
    ):
        print(
            f"  {name}: median {statistics.median(values):{form}}, worst {max(values):{form}}, least {min(values):{form}}"
        )
    middle = [statistics.median(row[2][at] for row in rows) for at in range(len(GAPS))]
    print("  where: " + ", ".join(f"{name} {value:.0f}" for name, value in zip(GAPS, middle, strict=True)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("turns", type=int, nargs="?", default=20)
    parser.add_argument("--serve", default="", help=argparse.SUPPRESS)
    parser.add_argument("--told", type=int, default=TURNS, help="turns that the campaign has told before")
    parser.add_argument("--quick", action="store_true", help="a campaign of a tenth of the size")
    parser.add_argument("--at", default="", help="keep the campaign in this folder, and use it again")
    parser.add_argument("--profile", default="", help="keep a profile of all threads in this file (needs yappi)")
    options = parser.parse_args()
    if options.serve:
        server = Loopback(answer, 0, options.serve)
        print(server.port, flush=True)
        while True:
            time.sleep(60)
    size = (ENTRIES // 10, options.told // 10) if options.quick else (ENTRIES, options.told)
    with tempfile.TemporaryDirectory() as place:
        place = options.at or place
        os.environ["XDG_CACHE_HOME"] = f"{place}/cache"
        root = Path(place) / "campaign"
        if not root.exists():
            write(root, *size)
        load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
        print(
            f"{os.cpu_count()} cores, load {load}, Python {sys.version.split()[0]}, {size[0]:,} entries, {size[1]:,} turns"
        )
        measure(root, options.turns, options.profile)


if __name__ == "__main__":
    main()
