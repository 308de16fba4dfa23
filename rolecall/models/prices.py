"""What models cost, by the writer's own price table: never a price that nobody named.

A price is per million tokens: `fresh` prompt tokens, `cached` ones (read from the provider's cache), `written` ones (put
into it) and `out`. Without `cached` or `written` these tokens cost what fresh ones do. Models that run on this machine
cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from rolecall.errors import ModelSettings

from . import specs
from .usage import Usage

FREE = ("local", "gguf", "scripted", "record", "ollama")  # providers that ask for no money
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """A model's price per million tokens, in the table's currency."""

    fresh: float
    cached: float
    written: float
    out: float

    def of(self, usage: Usage) -> float:
        """What this usage costs."""
        prompt = usage.fresh * self.fresh + usage.cached * self.cached + usage.cache_write * self.written
        return (prompt + usage.out * self.out) / _MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """A price table: spec to price, and the currency's sign or name (may be empty)."""

    table: Mapping[str, Price] = field(default_factory=dict)
    currency: str = ""

    def price(self, spec: str) -> Price | None:
        """The price of a model; None when the table names none and it is not free by nature."""
        if spec.replace(":", "/").partition("/")[0] in FREE:
            return self.table.get(spec, Price(0, 0, 0, 0))
        return self.table.get(spec)

    def cost(self, spec: str, usage: Usage) -> float | None:
        """What this usage of a model costs; None when nobody named a price."""
        price = self.price(spec)
        return None if price is None else price.of(usage)

    def total(self, spent: Iterable[tuple[str, Usage]]) -> tuple[float | None, tuple[str, ...]]:
        """(the sum of what has a price, the specs that have none); the sum is None when nothing has a price."""
        known, unknown = [], []
        for spec, usage in spent:
            cost = self.cost(spec, usage)
            if cost is None:
                unknown.append(spec)
            else:
                known.append(cost)
        return (sum(known) if known else None), tuple(sorted(set(unknown)))

    def said(self, cost: float | None) -> str:
        """An amount in words: four digits behind the point below one, else two; empty for None."""
        if cost is None:
            return ""
        number = f"{cost:.2f}" if cost >= 1 else f"{cost:.4f}"
        if not self.currency:
            return number
        return f"{self.currency}{number}" if not self.currency[-1:].isalnum() else f"{number} {self.currency}"


def prices_of(setting: Mapping[str, Mapping[str, float]], currency: str = "") -> Prices:
    """The table that `prices:` of the settings holds; a remote provider without a name means its default model."""
    table = {}
    for written, amounts in setting.items():
        spec = written
        with suppress(ModelSettings):
            spec = str(specs.parse(written))
        fresh = amounts["fresh"]
        table[spec] = Price(fresh, amounts.get("cached", fresh), amounts.get("written", fresh), amounts["out"])
    return Prices(table, currency)
