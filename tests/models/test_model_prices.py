"""Money is counted by the writer's own table, and never guessed."""

from __future__ import annotations

import pytest

from rolecall.models.prices import prices_of
from rolecall.models.usage import Usage

TABLE = {
    "anthropic/claude-a": {"fresh": 3.0, "cached": 0.3, "written": 3.75, "out": 15.0},
    "openai/b": {"fresh": 2.0, "out": 8.0},
}


def test_a_price_counts_each_kind_of_token_by_the_million() -> None:
    used = Usage(fresh=1_000_000, cache_write=200_000, cached=2_000_000, out=100_000)
    prices = prices_of(TABLE)
    assert prices.cost("anthropic/claude-a", used) == pytest.approx(3.0 + 0.75 + 0.6 + 1.5)
    assert prices.cost("openai/b", used) == pytest.approx(2.0 * 3.2 + 0.8)  # cached and written cost what fresh ones do


def test_a_model_without_a_price_has_none_and_is_named_beside_the_sum() -> None:
    prices, used = prices_of(TABLE), Usage(fresh=1_000_000)
    assert prices.cost("openai/c", used) is None and prices.cost("anthropic/claude", used) is None
    assert prices.total([("openai/b", used), ("openai/c", used), ("openai/c", used)]) == (2.0, ("openai/c",))
    assert prices_of({}).total([("openai/c", used)]) == (None, ("openai/c",))
    assert prices.total([]) == (None, ())


def test_what_runs_on_this_machine_costs_nothing_unless_the_writer_says_so() -> None:
    for spec in ("local/smollm2", "gguf:/tmp/a.gguf", "scripted:a.yaml", "record:T0001", "ollama/llama"):
        assert prices_of({}).cost(spec, Usage(fresh=10**6, out=10**6)) == 0
    assert prices_of({"ollama/llama": {"fresh": 1, "out": 1}}).cost("ollama/llama", Usage(fresh=10**6)) == 1


def test_a_provider_without_a_name_means_its_default_model() -> None:
    (spec,) = prices_of({"openai": {"fresh": 1, "out": 2}}).table
    assert spec.startswith("openai/gpt")


def test_amounts_are_said_with_the_currency_before_or_behind() -> None:
    said = [prices_of({}, currency).said(amount) for currency, amount in (("$", 0.01234), ("EUR", 12.5), ("", 0.0))]
    assert said == ["$0.0123", "12.50 EUR", "0.0000"] and prices_of({}).said(None) == ""
