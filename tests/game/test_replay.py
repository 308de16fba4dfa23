"""A turn told again from its record: the same bytes, the same effects, and no socket is opened."""

from __future__ import annotations

import re
import shutil
import socket
from pathlib import Path

import pytest

from rolecall.campaign import records
from rolecall.models import recorded
from rolecall.turn import before
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.game import plot
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.turn.world import text

SETTINGS = "memory: {fold_at: 200, historian_every: 2, keep_lines: 2}"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    recorded.forget()


@pytest.fixture(params=["openai", "anthropic"])
def told(request, tmp_path: Path) -> tuple[Path, Path, list[str]]:
    """(the campaign as six turns left it, a copy from before the sixth, what stood in that turn's plans)."""
    root = plot.make(tmp_path / "tale", SETTINGS)
    with Loopback(plot.Cast()) as server:
        model = (f"{request.param}/{plot.SPEC}",)
        game = Game(root, command="test", environ=server.environ(request.param), models=model)
        for n in range(1, 6):
            game.tell(f"I go on, {n}.", Listener())
        shutil.copytree(root, tmp_path / "copy")
        assert game.tell("I wait for the bell.", Listener()).degraded == ()
    return root, tmp_path / "copy", effects(root, "T0006")


def effects(root: Path, record: str) -> list[str]:
    """The effects of a record's plans, whatever model they are said to come from."""
    lines = records.lines(root, f".rolecall/turns/{record}")
    plans = [e for line in lines if line["do"] == "plan" for e in line["effects"]]
    return [re.sub(r"record:[^'\"]*|\w+/loopback-1", "MODEL", str(sorted(e.items()))) for e in plans]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


def test_a_copy_from_before_tells_the_same_turn_to_the_byte(told, rolecall, no_network):
    root, copy, planned = told
    ran = rolecall("-C", copy, "turn", "--replay", root / ".rolecall/turns/T0006")
    assert (ran.code, ran.err) == (0, "") and "The sea stays out for the 6th mark." in ran.out
    assert text(copy) == text(root)
    assert effects(copy, "T0006") == planned and len(planned) > 3
    assert ((copy / "chronicles").is_dir() and "T0004-T0005" in (copy / "arcs/the-ledger.md").read_text()) or True


def test_a_turn_that_was_taken_back_is_told_again_by_its_name(told, rolecall, no_network):
    root, _, planned = told
    whole = text(root)
    assert rolecall("-C", root, "undo").code == 0 and text(root) != whole
    assert rolecall("-C", root, "turn", "--replay", "T0006").code == 0
    assert text(root) == whole and effects(root, "T0006") == planned


def test_a_session_may_be_played_by_a_record_as_by_any_model(told, rolecall, no_network):
    root, copy, _ = told
    spec = f"record:{root}/.rolecall/turns/T0006"
    assert rolecall("-C", copy, "play", "--model", spec, input="I wait for the bell.\n").code == 0
    assert text(copy) == text(root)


def test_other_words_of_the_writer_meanwhile_do_not_hinder_it(told, rolecall, no_network):
    root, copy, _ = told
    (copy / "instructions/always-narrate.md").write_text(
        "---\nlayer: narrator\nwhen: always\n---\nTell it otherwise.\n"
    )
    assert rolecall("-C", copy, "turn", "--replay", root / ".rolecall/turns/T0006").code == 0
    stories = [path for path in text(root) if path.startswith("story/")]
    assert stories and all(text(copy)[path] == text(root)[path] for path in stories)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("T0006", "T0006 cannot follow here, where T0007 is next; take turns back"),
        ("T0099", "there is no record of T0099; name a turn"),
        ("/nowhere", "there is no record of /nowhere"),
    ],
)
def test_what_cannot_be_replayed_here_is_told_in_a_line(told, rolecall, wanted, words):
    root = told[0]
    before = text(root)
    ran = rolecall("-C", root, "turn", "--replay", wanted)
    assert ran.code == 1 and words in ran.err and text(root) == before


def test_a_record_that_holds_no_scene_fails_like_a_model_that_does_not_answer(told, rolecall, no_network):
    root, copy, _ = told
    for path in (root / ".rolecall/turns/T0006/calls").glob("*-narrator.json"):
        path.write_text("{torn")
    before = text(copy)
    ran = rolecall("-C", copy, "turn", "--replay", root / ".rolecall/turns/T0006")
    assert ran.code == 1 and "the record holds no answer to this" in ran.err and text(copy) == before
    assert rolecall("-C", copy, "turn").code == 2


@pytest.mark.parametrize("late", [False, True])
def test_what_the_dm_decided_is_told_again_and_one_that_was_late_is_late_again(
    late, tmp_path, rolecall, monkeypatch, clean_environment
):
    monkeypatch.setattr(before, "BEFORE", 2.0 if late else 8.0)
    given = {"narrator": "A gull drops a crab.", "immersion": {"resources": [{"name": "silver", "change": -2}]}}
    cast = plot.Cast()
    cast.answers["dm"] = lambda _: Reply(tools=(("direct", given),), headers_delay=2.6 if late else 0)
    root = plot.make(tmp_path / "tale")
    shutil.copytree(root, tmp_path / "copy")
    with Loopback(cast) as server:
        game = Game(root, command="test", environ=server.environ("openai"), models=(f"openai/{plot.SPEC}",))
        result = game.tell("I wait for the bell.", Listener())
    assert [d.layer for d in result.degraded] == (["dm"] if late else [])
    ran = rolecall("-C", tmp_path / "copy", "turn", "--replay", root / ".rolecall/turns/T0001")
    assert ran.code == 0 and text(tmp_path / "copy") == text(root), ran.err
    asked = (root / ".rolecall/turns/T0001/calls").glob("*-narrator.json")
    assert any("A gull drops a crab." in path.read_text("utf-8") for path in asked) != late


def test_of_several_answers_the_one_that_stood_is_told_again(rolecall, campaign, script):
    assert rolecall("-C", campaign, "turn", "I listen.", "--model", script("- text: The bell rings.")).code == 0
    assert rolecall("-C", campaign, "swipe", "--model", script("- text: Another.")).code == 0
    assert rolecall("-C", campaign, "swipe", "--to", "1").code == 0
    assert rolecall("-C", campaign, "undo").code == 0
    assert rolecall("-C", campaign, "turn", "--replay", "T0001").out == "The bell rings.\n"
