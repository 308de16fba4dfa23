"""Every sidecar call fails, in every way: each turn is told, says what was degraded, and leaves a campaign that checks clean."""

from __future__ import annotations

import contextlib
import gc
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rolecall.agents import scribe
from rolecall.campaign import checks, documents, lock, records
from rolecall.campaign.folder import open_campaign
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.search.searcher import Search
from rolecall.turn import recovery
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.game import plot
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.turn.faults import Killed, failing
from tests.turn.world import text

BIG = "x" * 1_000_000
WORDS = (
    *("Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Heath", "Iris", "Jade"),
    *("Alder", "Brook", "Cairn", "Delta", "Eddy", "Fen", "Glade", "Haven", "Inlet", "Jetty"),
    *("Knoll", "Lagoon", "Marsh", "Notch", "Oxbow", "Pond", "Quarry", "Reef", "Shoal", "Tarn"),
)
ODD = "\x1b[31mred\x00\x07 \u202egnol\ud800"
FENCED = (
    "ends\n---\nlocked: true\nvisibility: secret\n---\n# A heading\n\n## Journal\n\n- T0001 forged\n\n## Secret\n\nx"
)
FREE = "names, search and ties choose"
NEXT = "tried with the next turn"


def _all(reply: Reply) -> Callable[[dict], Reply]:
    return lambda body: reply


def _json(value: object) -> Reply:
    return Reply(text=json.dumps(value), chunk=1 << 16)


def _calls(*calls: tuple[str, object]) -> Reply:
    return Reply(text="Noted.", tools=calls, chunk=1 << 16)


def _per_layer(retriever: object, scribe: Reply, historian: object, left: object) -> Callable[[dict], Reply]:
    typed = {"retriever": retriever, "historian": historian, "afterwork": left}
    given = {"scribe": scribe, **{layer: _json(value) for layer, value in typed.items()}}
    return lambda body: given[plot.layer_of(body)]


def _left(*words: object) -> dict:
    people = [{"name": word, "kind": "person", "state": "new"} for word in words]
    return {"entities": people, "suggestions": list(words), "scene_changed": False}


def _picks(*names: object) -> dict:
    return {"active": list(names), "anticipatory": list(names), "enrichment": [], "wild": []}


def _summary(arc: object, words: object = "It went on.") -> dict:
    return {"summaries": [{"arc": arc, "text": words}], "revise": [{"arc": arc, "old": "x", "text": words}]}


@dataclass(frozen=True)
class Failure:
    """A way in which every sidecar call fails; the layers that are degraded by it, with what their reasons say."""

    answer: Callable[[dict], Reply]
    retrieval: str = ""
    scribe: str = ""
    historian: str = ""
    afterwork: str = ""
    fallback: str = NEXT  # the scribe's


OUT = ("../../etc/passwd", "/etc/passwd", "../outside.md", "dm/plan.md", ".rolecall/lock", "C:\\boot.ini")
FAILURES = {
    "time-out": Failure(_all(Reply(text="{}", headers_delay=3)), *["s"] * 4),
    "500": Failure(_all(Reply(status=500)), *["(500)"] * 4),
    "cut": Failure(_all(Reply(text="{" * 400, cut_after=300)), *["peer closed"] * 4),
    "cut late": Failure(_all(Reply(text="{" * 400, cut_after=1500)), *["peer closed"] * 4),
    "blank": Failure(_all(Reply()), *["a blank answer"] * 4),
    "refusal": Failure(_all(Reply(text="I cannot help with that.", refusal=True)), *["declined to answer"] * 4),
    "nonsense": Failure(_all(Reply(text='{"active": [1, 2, {"summaries": Sera}')), "no JSON", "", "no JSON", "no JSON"),
    "no such tool": Failure(
        _all(_calls(("delete_file", {"path": "x"}), ("record_dragon", {"name": "Smaug"}), (BIG[:5000], {}))),
        "JSON", "There is no tool", "JSON", "JSON",
    ),
    "wrong types": Failure(
        _per_layer(
            {"active": "Sera", "anticipatory": 3, "enrichment": None, "wild": {}},
            _calls(("record_character", {"name": {"first": "Al"}}), ("record_item", '{"name": "Cut of'), ("forget", "[1, 2]"),
                   ("record_event", {}), ("update_entry", {"entry": True, "field": [[]], "value": {"a": None}})),
            {"summaries": [["Who wants the ledger"]], "move": "all"},
            {"entities": "Sera", "suggestions": [3], "scene_changed": "perhaps"},
        ),
        "wrong shape", "nothing it noted could be used", "wrong shape", "wrong shape",
    ),
    "outside": Failure(
        _per_layer(
            _picks(*OUT),
            _calls(*(("update_entry", {"entry": path, "field": "status", "value": "gone"}) for path in OUT),
                   *(("forget", {"entry": path, "reason": "gone"}) for path in OUT[:3]),
                   ("record_location", {"name": "../../../tmp/rc-outside", "within": "../../etc", "text": "Nowhere."})),
            _summary("../../etc/passwd"),
            _left(*OUT),
        ),
        "is known", "", "none of the arcs it named is known",
    ),
    "200 writes": Failure(
        _per_layer(
            _picks(*(f"Nobody {n}" for n in range(200))),
            _calls(*(("record_lore", {"name": f"{_word} {_other}", "text": f"Of {_other} and {_word}."})
                     for _word in ["Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Heath", "Iris", "Jade"]
                     for _other in ["Alder", "Brook", "Cairn", "Delta", "Eddy", "Fen", "Glade", "Haven", "Inlet", "Jetty", "Knoll", "Lagoon", "Marsh", "Notch", "Oxbow", "Pond", "Quarry", "Reef", "Shoal", "Tarn"])),
            {"summaries": [{"arc": f"Arc {n}", "text": "x"} for n in range(200)]},
            _left(*(f"Nobody {n}" for n in range(200))),
        ),
        "is known", "160 of 200 changes were not noted", "none of the arcs", fallback="the rest is left out",
    ),
    "hostile": Failure(
        _per_layer(
            _picks(BIG[:4000], ODD, FENCED, "---", "[[", "*"),
            _calls(("record_character", {"name": f"Eve\n---\nkind: dm\n---\n{FENCED}"}),
                   ("record_character", {"name": "Mal: [x], {y} # z", "status": FENCED, "aliases": [FENCED, "---", ODD, ": :"],
                                         "relationships": [{"with": "a: b}, {c", "nature": "- x\n---", "status": ODD}],
                                         "text": FENCED}),
                   ("record_item", {"name": BIG}), ("record_item", {"name": "Urn", "properties": BIG[: 1 << 19]}),
                   ("record_item", {"name": ODD, "text": ODD, "holder": "# Nobody"}),
                   ("update_entry", {"entry": "Sera", "field": "history", "value": FENCED}),
                   ("update_entry", {"entry": "Sera", "field": "---\nlocked", "value": "true"}),
                   ("update_entry", {"entry": "Sera", "field": "locked", "value": "true"}),
                   ("update_entry", {"entry": "Sera", "field": "secret", "value": "told"})),
            _summary("Who wants the ledger", f"~~- T0001-T9999 {FENCED}{ODD}"),
            _left(BIG[:4000], ODD, FENCED, "---"),
        ),
        "is known",
    ),
}  # fmt: skip
SETTINGS = "memory: {historian_every: 2, historian_lookback: 30}\ntimeouts: {sidecar: %s, narrator: 60}"


@dataclass
class Table:
    """A campaign in a folder with other files around it, its server, and the model that plays it."""

    root: Path
    server: Loopback
    cast: plot.Cast
    game: Game
    turn: int = 0

    def play(self, turns: int) -> Iterator[dict]:
        """So many turns; each as `turn --json` says it."""
        for _ in range(turns):
            self.turn += 1
            yield self.game.tell(f"I go on, {self.turn}.", Listener()).to_json()

    def outside(self) -> dict[str, bytes]:
        """Every file around the campaign."""
        around = self.root.parent.parent
        return {str(p): p.read_bytes() for p in around.rglob("*") if p.is_file() and not p.is_relative_to(self.root)}

    def problems(self) -> list[str]:
        return [str(problem) for problem in checks.check(open_campaign(self.root, here_only=True))]


@pytest.fixture
def table(tmp_path: Path, loopback: Loopback, request: pytest.FixtureRequest) -> Table:
    slow = "time-out" in request.node.name
    (tmp_path / "world").mkdir()
    for name in ("outside.md", "world/beside.md", "world/passwd"):
        (tmp_path / name).write_text("untouched\n")
    root = plot.make(tmp_path / "world/tale", SETTINGS % (0.3 if slow else 20))
    loopback.answer(cast := plot.Cast())
    game = Game(root, command="test", environ=loopback.environ("openai"), models=(f"openai/{plot.SPEC}",))
    return Table(root, loopback, cast, game)


TURNS = {"time-out": 3}  # each waits for its limits
assert sum(TURNS.get(name, 5) for name in FAILURES) >= 50


@pytest.mark.parametrize("name", FAILURES)
def test_turns_go_on_whatever_the_sidecar_answers(name: str, table: Table):
    failure, before, outside = FAILURES[name], text(table.root), table.outside()
    for layer in ("retriever", "scribe", "historian", "afterwork"):
        table.cast.answers[layer] = failure.answer
    for told in table.play(TURNS.get(name, 5)):
        turn = int(told["turn"][1:])
        assert told["journal"] == plot.line(turn) and "The bell rings" in told["prose"]
        rows = {row["layer"]: row for row in told["degraded"]}
        assert len(rows) == len(told["degraded"]), told["degraded"]
        for row in told["degraded"]:
            assert set(row) == {"layer", "reason", "fallback"} and all(isinstance(v, str) and v for v in row.values())
            assert "\n" not in row["reason"] and len(row["reason"]) < 600
        wanted = {"retrieval": (failure.retrieval, FREE), "scribe": (failure.scribe, failure.fallback)}
        wanted["afterwork"] = (failure.afterwork, "by code")
        if turn >= 2:
            wanted["historian"] = (failure.historian, NEXT)
        wanted = {layer: row for layer, row in wanted.items() if row[0]}
        if name == "200 writes" and turn > 1:
            rows.pop("scribe", None), wanted.pop("scribe")  # most of it is known by then
        assert set(rows) == set(wanted), told["degraded"]
        for layer, (reason, fallback) in wanted.items():
            assert reason in rows[layer]["reason"] and rows[layer]["fallback"] == fallback, rows[layer]
        assert 3 <= len(told["suggestions"]) <= 4 and all(0 < len(one) <= 120 for one in told["suggestions"])
        assert not set("".join([*told["suggestions"], *told["entities"]])) & set("\x00\x07\x1b\u202e\n")
        assert table.problems() == []
    assert table.outside() == outside
    kept_by_hand(before, text(table.root))
    if name not in ("outside", "200 writes", "hostile"):
        assert {path for path in text(table.root) if path not in before and not path.startswith("story/")} == set()


def kept_by_hand(before: dict[str, bytes], now: dict[str, bytes]) -> None:
    """Nothing of what the writer wrote is changed: lines are added at an end, or in front matter after a field of the kind."""
    for path, data in before.items():
        if path.split("/")[0] in {kind.folder for kind in ENTRY_KINDS.values()} | {"dm", "instructions", "prose"}:
            assert now[path].startswith(data), path
            assert documents.parse(now[path], path).fields == documents.parse(data, path).fields, path


def test_what_hostile_answers_leave_are_plain_entries_of_their_kind(table: Table):
    for layer in ("retriever", "scribe", "historian"):
        table.cast.answers[layer] = FAILURES["hostile"].answer
    list(table.play(4))
    made = {
        p: d for p, d in text(table.root).items() if p.split("/")[0] in ("characters", "items") and p not in plot.HAND
    }
    for path, data in made.items():
        document = documents.parse(data, path)
        shown = data.decode()
        assert not set(shown) & set("\x00\x07\x1b\u202e"), path
        if document.text("source").startswith("T"):
            assert document.fields["kind"] == {"characters": "character", "items": "item"}[path.split("/")[0]]
            assert not {"locked", "visibility", "secret"} & set(document.fields) and len(data) < 10_000
    sera = text(table.root)["characters/sera.md"]
    assert b"\r\n- T0001 ends --- locked: true" in sera and b"\r\nlocked" not in sera
    arc = open_campaign(table.root).document("arcs/the-ledger.md").lines("Summaries")
    assert len(arc) == len(
        [line for line in arc if line.startswith("- T0000-T0000 My own") or line.startswith("- T000")]
    )


def test_the_model_hears_what_was_wrong_with_its_calls(table: Table):
    table.cast.answers["scribe"] = FAILURES["wrong types"].answer
    list(table.play(1))
    asked = [b for b in table.server.bodies if plot.layer_of(b) == "scribe"]
    assert len(asked) == 2  # once more, to be mended, and not again
    heard = [message["content"] for message in asked[1]["messages"] if message["role"] == "tool"]
    assert len(heard) == 5 and all(heard)


def test_an_answer_without_a_call_wrote_nothing_and_is_no_degradation(table: Table):
    table.cast.answers["scribe"] = _all(Reply(text="Nothing to note."))
    assert [told["degraded"] for told in table.play(1)] == [[]]


def test_turns_that_were_missed_are_shown_to_the_next_scribes_until_all_are_kept(table: Table):
    table.cast.answers["scribe"] = FAILURES["refusal"].answer
    list(table.play(6))
    assert not (table.root / "characters/dorrit-vane.md").exists()
    table.cast.answers.clear()
    list(table.play(1))
    asked = plot.said_in([b for b in table.server.bodies if plot.layer_of(b) == "scribe"][-1])
    assert [f"T{n:04d}:" in asked for n in range(1, 7)] == [True] * scribe.SHOWN_AGAIN + [False] * 3
    made = documents.parse(text(table.root)["characters/dorrit-vane.md"], "").fields
    assert made["occupation"] == "pedlar" and made["source"] == "T0007" and "age" not in made
    list(table.play(2))
    now = text(table.root)
    made = documents.parse(now["characters/dorrit-vane.md"], "").fields
    assert made["age"] == "fifty" and "items/the-tin-whistle.md" in now and "characters/bram-holt.md" in now
    asked = plot.said_in([b for b in table.server.bodies if plot.layer_of(b) == "scribe"][-1])
    assert "not looked at yet" not in asked
    assert table.problems() == []


def test_a_catching_up_that_is_undone_is_made_again(table: Table):
    table.cast.answers["scribe"] = FAILURES["refusal"].answer
    list(table.play(2))
    table.cast.answers.clear()
    list(table.play(1))
    assert (table.root / "characters/dorrit-vane.md").exists()
    table.game.undo(Listener())
    assert not (table.root / "characters/dorrit-vane.md").exists()
    list(table.play(1))
    assert (table.root / "characters/dorrit-vane.md").exists() and table.problems() == []


def test_stretches_the_historian_missed_are_summed_up_by_the_next_one(table: Table):
    table.cast.answers["historian"] = FAILURES["nonsense"].answer
    list(table.play(3))
    table.cast.answers.clear()
    list(table.play(1))
    held = open_campaign(table.root).document("arcs/the-ledger.md").lines("Summaries")
    assert held[-1] == "- T0001-T0004 Up to turn 4, who wants the ledger stayed open."


# -- killed in the middle


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # threads die with their process
def test_a_kill_anywhere_in_a_turn_of_four_phases_is_put_right_by_the_next_command(tmp_path: Path, loopback: Loopback):
    """The turn has a fact to keep, summaries and a proposal. It ends told whole or taken back; nothing of it stands by half."""
    place = tmp_path / "tale"
    ready = plot.make(tmp_path / "ready", "memory: {historian_every: 3, historian_lookback: 30}")
    loopback.answer(plot.Cast())

    def game(root: Path) -> Game:
        return Game(root, command="test", environ=loopback.environ("openai"), models=(f"openai/{plot.SPEC}",))

    for n in (1, 2):
        game(ready).tell(f"I go on, {n}.", Listener())

    def fresh() -> None:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(ready, place)

    fresh()
    gc.collect()
    gc.freeze()  # what is there now needs no looking through each time
    with failing(place) as counted:
        game(place).tell("I go on, 3.", Listener())
    whole, before = text(place), text(ready)
    assert "locations/the-lamp-house.md" in whole
    for number, at in enumerate([*range(1, len(counted.steps), 7), len(counted.steps)]):
        fresh()
        with failing(place, at, "torn"), contextlib.suppress(Killed):
            game(place).tell("I go on, 3.", Listener())
        gc.collect()  # the dead process's lock goes with it
        where = f"killed at step {at} of {len(counted.steps)}: {counted.steps[at - 1]}"
        campaign = open_campaign(place, here_only=True)
        with lock.hold(place, "recovery"):
            recovery.recover(campaign, Search(campaign))
        assert records.newest_open(place) is None, where
        assert [str(p) for p in checks.check(campaign)] == [], where
        now = text(place)
        told = any("I go on, 3." in data.decode() for path, data in now.items() if path.startswith("story/"))
        if not told:
            assert now == before, where
        if "locations/the-lamp-house.md" in now and now != whole:
            pytest.fail(f"{where}: {sorted(p for p in whole if whole[p] != now.get(p))} are not whole")
        if number % 3 and (not told or "locations/the-lamp-house.md" in now):
            continue
        for n in (3, 4) if not told else (4,):
            game(place).tell(f"I go on, {n}.", Listener())
        after = text(place)
        lamp = documents.parse(after["locations/the-lamp-house.md"], "").fields
        assert (lamp["owner"], lamp["source"] in ("T0003", "T0004")) == ("Hesper Dunmow", True), where
        held = open_campaign(place).document("arcs/the-ledger.md").lines("Summaries")
        assert [line for line in held if "T0001-T000" in line] == held[1:2], where
        assert [str(p) for p in checks.check(open_campaign(place))] == [], where
    gc.unfreeze()
