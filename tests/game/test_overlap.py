"""Calls that do not need each other's answers are under way at the same time, as the server sees them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.game import plot
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback, Seen

SLOW = 1.0  # seconds of each answer: more than the questions take to be asked one after the other


@pytest.fixture
def asked(campaign: Path, loopback: Loopback) -> dict[str, Seen]:
    """The first call of each layer in a turn in which all of them are asked."""
    cast = plot.Cast()

    def answer(body: dict) -> Reply:
        return replace(cast(body), headers_delay=SLOW)

    settings = campaign / "rolecall.yaml"
    settings.write_text(settings.read_text().replace("historian_every: 20", "historian_every: 1"))
    loopback.answer(answer)
    Game(campaign, environ=loopback.environ(), models=("openai/loopback-1",)).tell("I wait.", Listener())
    found: dict[str, Seen] = {}
    for seen in loopback.requests:
        if seen.path.startswith("POST"):
            found.setdefault(plot.layer_of(seen.body), seen)
    return found


def under_way_together(calls: list[Seen]) -> bool:
    """Whether there is a moment at which all of them had been asked and none had been answered."""
    return max(call.begun for call in calls) < min(call.ended for call in calls)


def test_retriever_turn_dm_and_dm_are_under_way_together_and_over_before_the_narrator_is_asked(asked):
    before = [asked[layer] for layer in ("retriever", "turn_dm", "dm")]
    assert under_way_together(before)
    assert max(call.ended for call in before) < asked["narrator"].begun


def test_scribe_historian_and_afterwork_are_under_way_together_once_the_narrator_has_told(asked):
    after = [asked[layer] for layer in ("scribe", "historian", "afterwork")]
    assert under_way_together(after)
    assert asked["narrator"].ended < min(call.begun for call in after)
