"""After a turn: four helpers asked side by side, what they give written down one after the other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rolecall.campaign import checks, records
from rolecall.campaign.folder import open_campaign
from rolecall.turn import afterwards
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.game import plot
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback

ALL = {"scribe", "historian", "chronicler", "afterwork"}
DUE = "memory: {fold_at: 200, keep_lines: 1, historian_every: 1}\ntimeouts: {sidecar: 20, narrator: 60}"


def session(root: Path, server: Loopback) -> Game:
    return Game(root, command="test", environ=server.environ("openai"), models=(f"openai/{plot.SPEC}",))


@pytest.fixture
def events(tmp_path: Path) -> tuple[Path, list[tuple[str, str]], Game]:
    """(a campaign after three turns in whose last all four had work, what the server saw of that turn, the session)."""
    log, cast = tmp_path / "log.jsonl", plot.Cast()

    def slowly(body: dict) -> Reply:
        return replace(cast(body), headers_delay=0.6 if plot.layer_of(body) in ALL else 0)

    root = plot.make(tmp_path / "tale", DUE)
    with Loopback(slowly, log=str(log)) as server:
        game = session(root, server)
        for n in range(1, 4):
            before = len(log.read_text().splitlines()) if log.exists() else 0
            game.tell(f"I go on, {n}.", Listener())
        rows = [json.loads(line) for line in log.read_text().splitlines()[before:]]
        layers = {row["n"]: plot.layer_of(row["body"]) for row in rows if row["event"] == "asked"}
        yield root, [(layers[row["n"]], row["event"]) for row in rows], game


def test_scribe_historian_fold_and_the_afterwork_call_are_under_way_together(events):
    _, seen, _ = events
    mine = [(layer, event) for layer, event in seen if layer in ALL]
    assert {layer for layer, event in mine[:4]} == ALL and {event for _, event in mine[:4]} == {"asked"}
    told = seen.index(("narrator", "sent"))
    assert all(seen.index((layer, "asked")) > told for layer in ALL)


def test_what_they_gave_is_written_one_after_the_other_and_then_the_record_is_closed(events):
    root, _, _ = events
    kinds = [line["do"] for line in records.lines(root, ".rolecall/turns/T0003")]
    order = [kind for kind in kinds if kind in ("plan", "told", "historian", "afterwork", "usage", "closed")]
    assert order == ["plan", "told", "historian", "plan", "afterwork", "usage", "closed"]
    assert len(list((root / "chronicles").iterdir())) >= 1
    assert checks.check(open_campaign(root, here_only=True)) == []


def test_what_was_suggested_is_kept_with_the_turn(events):
    root, _, game = events
    campaign = open_campaign(root, here_only=True)
    assert afterwards.offered(campaign) == ("I count to 3.", "I ask Sera what she wants.", "I listen for the bell.")
    game.undo(Listener())
    assert afterwards.offered(campaign)[0] == "I count to 2."


def test_without_a_model_for_helpers_all_of_it_is_done_by_code_and_nothing_is_degraded(tmp_path, loopback):
    root = plot.make(tmp_path / "tale", DUE)
    loopback.answer(plot.Cast())
    game = Game(root, environ=loopback.environ("openai"), models=(f"openai/{plot.SPEC}", "sidecar=off"))
    for n in range(1, 4):
        told = game.tell(f"I greet Old Pasco, {n}.", Listener())
        assert told.degraded == () and 3 <= len(told.suggestions) <= 4
    assert (root / "chronicles").is_dir()


def test_the_rest_of_a_turn_may_be_done_aside_while_the_campaign_is_read(tmp_path, loopback):
    root = plot.make(tmp_path / "tale")
    loopback.answer(plot.Cast())
    game = session(root, loopback)
    rest = game.begin("I go on, 1.", Listener())
    assert "The sea stays out for the 1st mark." in (next((root / "story").iterdir())).read_text("utf-8")
    rest.aside()
    search = game.search(game.campaign())
    search.refresh()
    assert search.find("the drowned bell")
    game.settle()
    assert rest.done() and rest.result().suggestions[0] == "I count to 1."
    assert game.tell("I go on, 2.", Listener()).turn == "T0002"  # the lock was let go


def test_a_turn_whose_rest_nobody_asked_for_is_finished_before_the_next(tmp_path, loopback):
    root = plot.make(tmp_path / "tale")
    loopback.answer(plot.Cast())
    game = session(root, loopback)
    game.begin("I go on, 1.", Listener())
    assert game.tell("I go on, 2.", Listener()).turn == "T0002"
    assert [line["do"] for line in records.lines(root, ".rolecall/turns/T0001")][-1] == "closed"
