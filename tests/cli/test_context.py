"""`rolecall context`: every layer's prompt, what stands in it, and what it costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.game import plot
from tests.loopback.server import Loopback

PRICES = "currency: $\nprices:\n  openai/loopback-1: {fresh: 2.0, cached: 0.2, out: 10.0}\n"


@pytest.fixture
def played(tmp_path: Path, loopback: Loopback, clean_environment) -> Path:
    """A campaign of two told turns, its models and their prices named in its settings."""
    root = plot.make(tmp_path / "tale")
    settings = (root / "rolecall.yaml").read_text("utf-8")
    (root / "rolecall.yaml").write_text(settings + f"{PRICES}models: {{default: openai/{plot.SPEC}}}\n", "utf-8")
    loopback.answer(plot.Cast())
    for name, value in loopback.environ("openai").items():
        clean_environment.setenv(name, value)
    game = Game(root, command="test", environ=loopback.environ("openai"))
    for action in ("I greet Old Pasco.", "I ask Sera for the ledger."):
        game.tell(action, Listener())
    return root


def test_an_action_shows_the_narrators_prompt_first_then_the_helpers_and_asks_nobody(played, loopback, rolecall):
    before = len(loopback.requests)
    shown = json.loads(rolecall("-C", played, "context", "I follow Old Pasco.", "--json").out)
    assert len(loopback.requests) == before
    assert shown["turn"] == "T0003" and [layer["role"] for layer in shown["layers"]] == ["narrator", "retriever"]
    narrator = shown["layers"][0]
    assert set(narrator) >= {"role", "model", "tokens", "messages", "passages", "cost"}
    assert narrator["cost"] == pytest.approx(narrator["tokens"] * 2 / 1e6)
    assert shown["tokens"] == sum(layer["tokens"] for layer in shown["layers"])
    rows = {row["path"]: row for row in narrator["passages"]}
    assert (
        rows["characters/old-pasco.md"]["reason"] == "named in the action" and rows["characters/old-pasco.md"]["kept"]
    )
    assert sum(row["tokens"] for row in narrator["passages"] if row["kept"]) <= narrator["tokens"]
    assert "I follow Old Pasco." in narrator["messages"][-1]["content"]
    assert "I follow Old Pasco." in shown["layers"][1]["messages"][-1]["content"]


def test_last_shows_what_was_sent_to_the_byte_with_passages_usage_and_cost_of_every_layer(played, loopback, rolecall):
    shown = json.loads(rolecall("-C", played, "context", "--last", "--json").out)
    assert [layer["role"] for layer in shown["layers"]][:2] == ["retriever", "narrator"]
    assert {layer["role"] for layer in shown["layers"]} == {"retriever", "narrator", "scribe", "afterwork"}
    for layer in shown["layers"]:
        body = next(body for body in reversed(loopback.bodies) if plot.layer_of(body) == layer["role"])
        assert [m["content"] for m in layer["messages"]] == [m["content"] for m in body["messages"]]
        assert layer["tools"] == [tool["function"]["name"] for tool in body.get("tools", [])]
        used = layer["usage"]
        assert layer["cost"] == pytest.approx((used["fresh"] * 2 + used["cached"] * 0.2 + used["out"] * 10) / 1e6)
    narrator = next(layer for layer in shown["layers"] if layer["role"] == "narrator")
    owners = {row["owner"] for row in narrator["passages"]}
    assert {"instruction", "state", "action", "recent", "active", "pinned"} <= owners
    assert {row["path"] for row in narrator["passages"] if row["reason"] == "told when: always"}
    assert shown["cost"] == pytest.approx(sum(layer["cost"] for layer in shown["layers"])) and shown["currency"] == "$"


def test_a_person_reads_a_price_list_for_each_layer_and_the_sum(played, rolecall):
    out = rolecall("-C", played, "context", "--last").out
    assert "T0002 · narrator · openai/loopback-1 · " in out and "T0002 · all of it · " in out
    assert "named in the action)" in out and "tools: search, read, append_journal" in out and " · $0.0" in out


def test_the_dms_layers_are_shown_to_the_writer_only(played, rolecall):
    for given in (("--last",), ("I follow Old Pasco.",)):
        told = json.loads(rolecall("-C", played, "context", *given, "--json").out)["layers"]
        whole = json.loads(rolecall("-C", played, "context", *given, "--json", "--secrets").out)["layers"]
        assert {layer["role"] for layer in whole} - {layer["role"] for layer in told} == {"dm", "turn_dm"}
