"""What turns cost: in the turn's JSON, in the records, in `status`; and a ceiling that binds."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rolecall.campaign import records, spending
from rolecall.errors import TurnError
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.game import plot
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.turn.world import text

PRICES = "currency: $\nprices:\n  openai/loopback-1: {fresh: 2.0, cached: 0.2, out: 10.0}\n"
USED = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 600}}
ONE = (400 * 2.0 + 600 * 0.2 + 100 * 10.0) / 1e6  # what a call costs


def metered(body: dict) -> Reply:
    given = plot.Cast()(body)
    return Reply(given.text, given.tools, usage=USED)


def session(root: Path, server: Loopback, *more: str) -> Game:
    """A session without the DM's layers, unless `more` says otherwise."""
    models = (f"openai/{plot.SPEC}", *(more or ("dm=off", "turn_dm=off")))
    return Game(root, command="test", environ=server.environ("openai"), models=models)


def make(place: Path, settings: str = PRICES) -> Path:
    root = plot.make(place)
    planning = (
        "" if "models:" in settings else "models: {turn_dm: off, dm: off}\n"
    )  # they would be counted like the rest
    (root / "rolecall.yaml").write_text((root / "rolecall.yaml").read_text("utf-8") + settings + planning, "utf-8")
    return root


def test_a_turn_says_what_it_used_and_cost_and_status_adds_the_campaign_up(tmp_path, loopback, rolecall, monkeypatch):
    root = make(tmp_path / "tale")
    loopback.answer(metered)
    game = session(root, loopback)
    first, second = (game.tell(f"I go on, {n}.", Listener()).to_json() for n in (1, 2))
    assert set(first["usage"]) == {"retriever", "narrator", "scribe", "afterwork"}
    assert set(map(json.dumps, first["usage"].values())) == {'{"fresh": 400, "cached": 600, "out": 100}'}
    assert first["totals"]["turn"] == {
        "fresh": 1600, "cached": 2400, "out": 400, "cost": pytest.approx(4 * ONE), "unpriced": [],
    }  # fmt: skip
    calls = 8 + len(first["usage"]) - 4
    assert second["totals"]["session"]["cost"] == pytest.approx(calls * ONE)
    said = json.loads(rolecall("-C", root, "status", "--json").out)["usage"]
    assert (said["turns"], said["cost"], said["currency"]) == (2, pytest.approx(calls * ONE), "$")
    assert said["layers"]["narrator"]["out"] == 200
    assert "8,000 tokens in (4,800 from the cache), 800 out, $0.0154" in rolecall("-C", root, "status").out


def test_what_a_turn_cost_stays_counted_when_it_is_taken_back_swiped_or_failed(tmp_path, loopback):
    root = make(tmp_path / "tale")
    loopback.answer(metered)
    game = session(root, loopback)
    for n in (1, 2):
        game.tell(f"I go on, {n}.", Listener())
    game.swipe(Listener())
    game.undo(Listener())
    broken = plot.Cast(answers={"narrator": lambda _: Reply(status=500)})
    loopback.answer(lambda body: Reply(**{**vars(broken(body)), "usage": USED}))
    with pytest.raises(Exception, match="500"):
        game.tell("I go on, 3.", Listener())
    turns, rows = spending.of_campaign(root)
    spent = {row["layer"]: row["out"] // 100 for row in rows}
    assert spent == {"retriever": 4, "narrator": 3, "scribe": 3, "afterwork": 3} and turns == 4


def test_an_answer_that_was_paid_for_is_counted_once(tmp_path, loopback):
    root = make(tmp_path / "tale")
    cast = plot.Cast(answers={"narrator": lambda _: Reply(status=500)})
    loopback.answer(lambda body: Reply(**{**vars(cast(body)), "usage": USED}))
    with pytest.raises(Exception, match="500"):
        session(root, loopback).tell("I go on.", Listener())
    cast.answers.clear()
    session(root, loopback).tell("I go on.", Listener())
    assert cast.heard.count("retriever") == 1
    counted = {row["layer"]: row["out"] // 100 for row in spending.of_campaign(root)[1]}
    assert counted == {"retriever": 1, "narrator": 1, "scribe": 1, "afterwork": 1}


def test_a_fold_is_counted_once_within_a_turn_and_on_demand(tmp_path, loopback):
    root = plot.make(tmp_path / "tale", "memory: {fold_at: 200, keep_lines: 1}")
    loopback.answer(metered)
    game = session(root, loopback)
    for n in (1, 2, 3):
        game.tell(f"I go on, {n}.", Listener())
    heard = [plot.layer_of(body) for body in loopback.bodies]
    assert heard.count("chronicler") == 1
    game.fold()
    heard = [plot.layer_of(body) for body in loopback.bodies]
    counted = {row["layer"]: row["out"] // 100 for row in spending.of_campaign(root)[1]}
    assert counted == {
        "narrator": heard.count("narrator"), "sidecar": heard.count("chronicler"),
        **dict.fromkeys(("retriever", "scribe", "afterwork"), 3),
    }  # fmt: skip


def test_a_record_without_its_line_is_added_up_call_by_call(tmp_path, loopback):
    root = make(tmp_path / "tale")
    loopback.answer(metered)
    session(root, loopback).tell("I go on.", Listener())
    with_line = spending.of_campaign(root)
    path = root / records.folders(root)[0] / "record.jsonl"
    kept = [line for line in path.read_bytes().splitlines(keepends=True) if not line.startswith(b'{"do": "usage"')]
    path.write_bytes(b"".join(kept))
    assert spending.of_campaign(root) == with_line
    shutil.rmtree(root / ".rolecall")
    assert spending.of_campaign(root) == (0, [])


def test_over_the_turns_ceiling_helpers_go_without_and_it_is_said(tmp_path, loopback):
    root = make(tmp_path / "tale", PRICES + f"ceiling: {{turn: {3.5 * ONE:.6f}}}\n")
    loopback.answer(metered)
    game, notes = session(root, loopback), []
    first = game.tell("I go on, 1.", Listener(note=notes.append))
    assert [d.layer for d in first.degraded] == [] and "This turn used $0.0077 of $0.0067" in notes[-1]
    second = game.tell("I go on, 2.", Listener(note=notes.append))
    (one,) = second.degraded
    assert (one.layer, one.fallback) == ("afterwork", "by code") and "the ceiling leaves nothing for it" in one.reason
    assert len(second.suggestions) >= 3 and len(notes) == 1
    again = session(root, loopback).tell("I go on, 3.", Listener(note=notes.append))  # another process knows it as well
    assert [d.layer for d in again.degraded] == ["afterwork"]


def test_a_ceiling_below_everything_leaves_the_narrator_alone(tmp_path, loopback):
    root = make(tmp_path / "tale", PRICES + "models: {}\nceiling: {turn_tokens: 10}\n")
    loopback.answer(metered)
    game, notes = session(root, loopback, f"openai/{plot.SPEC}"), []
    for n in (1, 2):
        result = game.tell(f"I go on, {n}.", Listener(note=notes.append))
    assert set(result.usage) == {"narrator"} and "The bell rings" in result.prose
    assert {d.layer for d in result.degraded} == {"retrieval", "turn_dm", "dm", "scribe", "afterwork"}
    assert notes[-1] == "This turn used 1,100 tokens of 10 tokens, the ceiling of `rolecall.yaml`."


def test_when_the_session_is_spent_no_further_turn_begins_and_the_action_is_kept(tmp_path, loopback):
    root = make(tmp_path / "tale", PRICES + f"ceiling: {{session: {4 * ONE:.6f}}}\n")
    loopback.answer(metered)
    game = session(root, loopback)
    game.tell("I go on, 1.", Listener())
    before = len(loopback.bodies)
    with pytest.raises(TurnError, match=r"the session has used \$0\.0077 of \$0\.0077, its ceiling; raise `ceiling`"):
        game.tell("I go on, 2.", Listener())
    assert len(loopback.bodies) == before and records.drafts(root) == [(".rolecall/drafts/T0002.md", "I go on, 2.")]
    assert session(root, loopback).tell("I go on, 2.", Listener()).turn == "T0002"
    before = text(root)
    with pytest.raises(TurnError, match=r"its ceiling; raise `ceiling`"):
        game.swipe(Listener())
    assert text(root) == before


def test_a_model_without_a_price_is_told_as_unseen_and_no_price_is_guessed(tmp_path, loopback):
    root = make(tmp_path / "tale", "prices:\n  openai/other: {fresh: 1, out: 1}\nceiling: {turn: 0.001}\n")
    loopback.answer(metered)
    notes: list[str] = []
    told = session(root, loopback).tell("I go on.", Listener(note=notes.append)).to_json()
    assert told["totals"]["turn"]["cost"] is None and told["totals"]["turn"]["unpriced"] == ["openai/loopback-1"]
    assert notes == ["The ceiling does not see openai/loopback-1: `prices` names no price for it."]
