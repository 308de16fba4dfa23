"""The player at a real terminal: the next line may be typed while the last turn is still being written down."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rolecall.campaign import checks, records, story
from rolecall.campaign.folder import open_campaign
from tests.game import plot
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback

pty = pytest.importorskip("pty", reason="a pseudo-terminal is POSIX's")
from tests.cli.terminal import Terminal  # noqa: E402 - behind the check


@dataclass
class Held:
    """A cast whose afterwork waits until it is let go."""

    cast: plot.Cast = field(default_factory=plot.Cast)
    gate: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)

    def __call__(self, body: dict) -> Reply:
        given = self.cast(body)
        if plot.layer_of(body) in ("scribe", "afterwork"):
            self.asked.set()
            self.gate.wait(120)
        return given


@dataclass
class Table:
    root: Path
    held: Held
    open: Callable[..., Terminal]

    def begun(self) -> Terminal:
        """A player at the prompt behind the first scene."""
        player = self.open()
        player.until("\n>")
        player.type("I go to the quay.\r")
        player.until("The bell rings under the harbour.")
        player.until("\n>")
        return player

    def told(self) -> list[tuple[int, str]]:
        campaign = open_campaign(self.root, here_only=True)
        return [
            (t.turn, t.action) for _, path in story.chapters(campaign) for t in story.turns_of(campaign.document(path))
        ]

    def notes(self, turn: int, kind: str) -> list[dict]:
        """The lines of that kind in a turn's record."""
        return [line for line in records.lines(self.root, f".rolecall/turns/T{turn:04d}") if line["do"] == kind]

    def is_whole(self) -> bool:
        campaign = open_campaign(self.root, here_only=True)
        return records.newest_open(self.root) is None and not checks.check(campaign)


@pytest.fixture
def table(tmp_path: Path, loopback: Loopback) -> Iterator[Table]:
    root, held = plot.make(tmp_path / "tale", "timeouts: {sidecar: 300, narrator: 60}"), Held()
    loopback.answer(held)
    opened: list[Terminal] = []

    def play(*words: str) -> Terminal:
        environ, model = loopback.environ("openai"), ("--model", f"openai/{plot.SPEC}")
        opened.append(
            Terminal("-C", root, *(words or ("play",)), *model, environ=environ, cache=tmp_path / "its-cache")
        )
        return opened[-1]

    yield Table(root, held, play)
    held.gate.set()
    for terminal in opened:
        terminal.kill()


def test_the_prompt_is_back_before_the_afterwork_and_a_line_typed_meanwhile_waits_and_is_told(table: Table):
    player = table.begun()  # the scribe has not answered yet
    assert records.newest_open(table.root) is not None
    player.type("I wait for Sera.\r")
    player.until("yours follows")
    assert [turn for turn, _ in table.told()] == [1]
    table.held.gate.set()
    player.until("The sea stays out for the 2nd mark.")
    player.until("\n>")
    player.type("\x04")
    assert player.end() == 0
    assert table.told() == [(1, "I go to the quay."), (2, "I wait for Sera.")] and table.is_whole()


def test_the_prompt_is_back_before_the_afterwork_of_another_answer_too(table: Table):
    player = table.begun()
    table.held.gate.set()
    player.until("I listen for the bell.")
    player.until("\n>")
    table.held.gate.clear()
    player.type("/swipe --reroll\r")
    player.until("The bell rings under the harbour.")
    player.until("\n>")  # the scribe has not answered yet
    assert records.newest_open(table.root) is not None and [turn for turn, _ in table.told()] == [1]
    player.type("I wait for Sera.\r")
    player.until("yours follows")
    table.held.gate.set()
    player.until("The sea stays out for the 2nd mark.")
    player.until("\n>")
    player.type("\x04")
    assert player.end() == 0
    assert table.told() == [(1, "I go to the quay."), (2, "I wait for Sera.")] and table.is_whole()
    assert sorted(records.swipes(table.root, 1)) == [1, 2]


def test_a_sign_stands_there_until_the_first_word_and_is_gone_with_it(table: Table, loopback: Loopback):
    gate, cast = threading.Event(), plot.Cast()

    def answer(body: dict) -> Reply:
        if plot.layer_of(body) == "narrator":
            gate.wait(20)
        return cast(body)

    loopback.answer(answer)
    player = table.open()
    player.until("\n>")
    player.type("I go to the quay.\r")
    player.until("…")
    gate.set()
    assert player.until("The bell rings under the harbour.").startswith(" The sea")  # the sign is written over
    player.until("\n>")
    player.type("\x04")
    assert player.end() == 0 and "…" not in (table.root / "campaign-state.md").read_text()


def test_suggestions_appear_above_a_line_half_typed_and_a_number_takes_one(table: Table):
    player = table.begun()
    player.type("I wait for")
    player.until("I wait for")
    table.held.gate.set()
    player.until("I listen for the bell.")
    player.type(" Sera.\r")
    player.until("The sea stays out for the 2nd mark.")
    player.until("I listen for the bell.")
    player.type("2\r")
    player.until("The sea stays out for the 3rd mark.")
    player.until("I listen for the bell.")
    player.type("9\r")
    player.until("There is no suggestion 9.")
    player.until("\n>")
    player.type("/undo\r")
    player.until("T0003 is taken back")
    player.until("\n>")
    player.type("1\r")  # what was suggested went with it
    player.until("There is no suggestion 1.")
    player.until("\n>")
    player.type("/again\r")
    player.until("There is no action that waits.")
    player.until("\n>")
    player.type("/cost\r")
    player.until("the campaign")
    player.until("\n>")
    player.type("/quit\r")
    assert player.end() == 0
    assert [action for _, action in table.told()] == ["I go to the quay.", "I wait for Sera."]
    again = table.open()
    again.until("2  I ask Sera what she wants.")  # the last turn's are there again
    again.until("\n>")
    again.type("1\r")
    again.until("The sea stays out for the 3rd mark.")
    again.until("\n>")
    again.type("\x04")
    again.end()
    assert table.told()[-1] == (3, "I count to 2.")


def test_a_number_typed_before_the_suggestions_came_chooses_nothing_unseen(table: Table):
    player = table.begun()
    player.type("1\r")
    player.until("yours follows")
    table.held.gate.set()
    player.until("have only just come")
    player.until("\n>")
    player.type("1\r")
    player.until("The sea stays out for the 2nd mark.")
    player.until("\n>")
    player.type("\x04")
    player.end()
    assert table.told()[-1] == (2, "I count to 1.")


def test_who_leaves_or_presses_ctrl_c_while_the_afterwork_runs_loses_nothing(table: Table):
    player = table.begun()
    player.type("never mi\x03")  # the line is dropped, nothing else
    player.until("\n>")
    player.type("I wait.\r")
    player.until("yours follows")
    player.type("\x03")
    player.until("Not begun yet.")
    player.until("\n>")
    player.type("\x04")
    player.until("Writing the last turn down")
    table.held.gate.set()
    assert player.end() == 0
    assert table.told() == [(1, "I go to the quay.")] and table.is_whole()


def test_who_will_not_wait_at_the_end_either_waits_for_no_model_and_finds_it_finished_by_the_next_turn(table: Table):
    player = table.begun()
    player.type("\x04")
    player.until("Writing the last turn down")
    player.type("\x03")
    player.until("The next turn finishes it.")
    assert player.end() == 0
    assert table.is_whole() and table.notes(1, "missed")
    table.held.gate.set()
    again = table.open()
    again.until("\n>")
    again.type("I wait.\r")
    again.until("The sea stays out for the 2nd mark.")
    again.until("\n>")
    again.type("\x04")
    again.end()
    assert table.told() == [(1, "I go to the quay."), (2, "I wait.")] and table.is_whole()
    assert [note["turns"] for note in table.notes(2, "caught_up")] == [[1]]


def test_ctrl_c_behind_the_last_word_of_a_single_turn_waits_for_no_model_either(table: Table):
    player = table.open("turn", "I go to the quay.")
    player.until("The bell rings under the harbour.")
    assert table.held.asked.wait(30)
    player.type("\x03")
    player.until("afterwork: stopped by the player → done with the next turn")
    assert player.end() == 0
    assert table.told() == [(1, "I go to the quay.")] and table.is_whole()


def test_keys_pressed_while_a_scene_is_told_do_not_stand_in_it(table: Table):
    table.held.gate.set()
    started = threading.Event()
    tell = table.held.cast.narrator

    def slowly(body: dict) -> Reply:
        started.set()
        given = tell(body)
        return Reply(given.text, given.tools, chunk=10, chunk_delay=0.05)

    table.held.cast.answers["narrator"] = slowly
    player = table.open()
    player.until("\n>")
    player.type("I go to the quay.\r")
    assert started.wait(20)
    player.until("The sea")
    player.type("I wait.\n")
    told = player.until("The bell rings under the harbour.")
    assert "I wait." not in told and re.sub(r"\s+", " ", told).endswith("mark. The bell rings under the harbour.")
    player.until("The sea stays out for the 2nd mark.")
    player.until("harbour.")
    player.until("\n>")
    player.type("\x04")
    player.end()
    assert table.told() == [(1, "I go to the quay."), (2, "I wait.")]
