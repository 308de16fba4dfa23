"""The beginning of the narrator's prompt stays the same to the byte, so that providers read it from their cache."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.game import plot
from tests.loopback import storyteller
from tests.loopback.server import Loopback

TURNS = 20
# The Journal folds on the way, so that every condition of an instruction comes and goes.
SETTINGS = "memory: {fold_at: 600, keep_lines: 3, historian_every: 10}"


@dataclass(frozen=True)
class Asked:
    """One request of the narrator as it went out: what is marked as stable, and what comes behind it."""

    turn: int
    round: int
    stable: str
    rest: str
    marks: int

    @property
    def whole(self) -> str:
        return self.stable + self.rest


def asked(body: dict) -> Asked:
    """A body of either protocol, in the order in which it is cached: tools, system, messages."""
    turn, rounds = storyteller.place(body)
    tools = json.dumps(body["tools"], ensure_ascii=False)
    system = body["system"] if "system" in body else [body["messages"][0]]
    messages = [message for message in body["messages"] if message["role"] != "system"]
    stable = tools + json.dumps(system, ensure_ascii=False)
    rest = json.dumps(messages, ensure_ascii=False)
    return Asked(turn, rounds, stable, rest, json.dumps(body).count('"cache_control"'))


def shared(a: str, b: str) -> int:
    """How many characters two texts have in common at their beginning."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def narrated(server: Loopback) -> list[Asked]:
    return [asked(body) for body in server.bodies if plot.layer_of(body) == "narrator"]


@pytest.fixture(scope="module", params=["anthropic", "openai"])
def played(request, tmp_path_factory) -> tuple[str, Path, Loopback, Game]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        root = plot.make(tmp_path_factory.mktemp("played") / "tale", SETTINGS)
        with Loopback(plot.Cast()) as server:
            model = (f"{request.param}/{plot.SPEC}",)
            game = Game(root, command="test", environ=server.environ(request.param), models=model)
            for n in range(1, TURNS + 1):
                game.tell(f"I go on, {n}.", Listener())
            yield request.param, root, server, game


def test_over_twenty_turns_everything_before_the_first_volatile_part_is_the_same_to_the_byte(played):
    _, root, server, _ = played
    found = narrated(server)
    assert len({one.turn for one in found}) == TURNS and (root / "chronicles").is_dir()
    assert len({one.stable for one in found}) == 1
    firsts = [one for one in found if one.round == 0]
    common = firsts[0].whole
    for one in firsts[1:]:
        common = common[: shared(common, one.whole)]
    assert common.startswith(firsts[0].stable) and "# The Campaign State" in common  # there the volatile part begins


def test_the_cache_marks_stand_behind_the_stable_part_and_behind_the_turns_first_message(played):
    protocol, _, server, _ = played
    bodies = [body for body in server.bodies if plot.layer_of(body) == "narrator"]
    if protocol == "openai":  # it finds the beginning by itself, and knows no marks
        assert all(one.marks == 0 for one in narrated(server))
        return
    for body in bodies:
        assert [block.get("cache_control") for block in body["system"]] == [{"type": "ephemeral"}]
        marked = [m for m in body["messages"] if any("cache_control" in block for block in m["content"])]
        assert marked == body["messages"][:1]


def test_the_second_round_of_a_turn_repeats_the_first_to_the_byte(played):
    _, _, server, _ = played
    found = narrated(server)
    again = [one for one in found if one.round == 1]
    assert len(again) == TURNS // 5
    for one in again:
        first = next(other for other in found if other.turn == one.turn and other.round == 0)
        assert one.stable == first.stable and one.rest.startswith(
            first.rest.removesuffix("]").split('"cache_control"')[0]
        )


def test_more_than_a_third_of_what_the_narrator_reads_is_the_same_as_in_the_turn_before(played):
    _, _, server, _ = played
    firsts = [one for one in narrated(server) if one.round == 0]
    shares = [shared(a.whole, b.whole) / len(b.whole) for a, b in pairwise(firsts)]
    assert min(shares) > 1 / 3


def test_what_the_writer_changes_in_the_stable_part_is_sent_with_the_next_turn(played):
    _, root, server, game = played
    before = narrated(server)[-1].stable
    kit = root / "characters/kit-sallow.md"
    kit.write_text(kit.read_text("utf-8") + "\nOwns a green coat now.\n", "utf-8")
    game.tell("I put it on.", Listener())
    now = narrated(server)[-1].stable
    assert now != before and "green coat" in now and "append_journal" in now[: shared(before, now)]
