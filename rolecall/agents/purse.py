"""The purse: what a turn and a session have cost, and whether a ceiling leaves anything for the next call.

Where a ceiling of `rolecall.yaml` binds, layers go without in this order: the DM stream, the TurnDM, the afterwork call,
the historian, the scribe's second try, the fold, retrieval, the scribe. The narrator always speaks. A layer is let
through when what is spent, what it cost the last time and what those that rank above it and are still to come cost
the last time fit under the ceiling together; what nobody has measured yet counts as nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rolecall.errors import OverCeiling
from rolecall.models.prices import Prices
from rolecall.models.usage import Usage

NARRATOR, SCRIBE, AGAIN = "narrator", "scribe", "scribe, once more"
# The layers of the desk that may go without, the first to go first.
ORDER = ("dm", "turn_dm", "afterwork", "historian", AGAIN, "sidecar", "retriever", SCRIBE)

_DUST = 1e-9  # what adding up amounts of money may be off by
Spent = dict[tuple[str, str], Usage]  # by layer and model


@dataclass(slots=True)
class Tally:
    """An amount of money (the price table's) and of tokens (prompt and answer)."""

    money: float = 0.0
    tokens: int = 0

    def add(self, other: Tally) -> None:
        """Add another amount to this one."""
        self.money, self.tokens = self.money + other.money, self.tokens + other.tokens


@dataclass(slots=True)
class Purse:
    """The costs of one session. Without a ceiling it only counts. Guarded by the lock of the desk that uses it."""

    prices: Prices = field(default_factory=Prices)
    ceiling: Mapping[str, float] = field(default_factory=dict)  # turn, session, turn_tokens, session_tokens
    session: Spent = field(default_factory=dict)
    turn: Spent = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)  # who went without in this turn
    _session: Tally = field(default_factory=Tally)
    _turn: Tally = field(default_factory=Tally)
    _last: dict[str, Tally] = field(default_factory=dict)  # what each layer cost when it last spoke
    _now: dict[str, Tally] = field(default_factory=dict)
    _usual: set[str] = field(default_factory=set)  # who spoke, or went without, in the turn before

    def begin(self) -> None:
        """A new turn."""
        if self._now or self.dropped:
            self._usual = {*self._now, *self.dropped}
        self._last.update(self._now)
        self.turn, self._now, self.dropped, self._turn = {}, {}, [], Tally()

    def remember(self, spent: Iterable[tuple[str, str, Usage]], dropped: Mapping[str, Tally]) -> None:
        """What an earlier session's last turn cost, and what those would have cost that went without: the first turn of

        this session knows what to expect.
        """
        for layer, model, usage in spent:
            self._last.setdefault(layer, Tally()).add(self._worth(model, usage))
            self._usual.add(layer)
        self._last.update(dropped)
        self._usual.update(dropped)

    def expected(self, layer: str) -> Tally:
        """What a layer cost when it last spoke."""
        return self._last.get(layer, Tally())

    def admit(self, layer: str) -> None:
        """Let a layer make a call; raises OverCeiling when the ceiling leaves nothing for it."""
        slot = self._slot(layer)
        if slot in ORDER and slot not in self._now and (why := self._why_not(slot)):
            if slot not in self.dropped:
                self.dropped.append(slot)
            raise OverCeiling(why)
        self._now.setdefault(slot, Tally())

    def count(self, layer: str, model: str, usage: Usage) -> None:
        """A call of a layer has used this."""
        worth = self._worth(model, usage)
        slot = AGAIN if layer == SCRIBE and AGAIN in self._now else layer
        self._now.setdefault(slot, Tally()).add(worth)
        self._turn.add(worth)
        self._session.add(worth)
        for spent in (self.turn, self.session):
            spent[layer, model] = spent.get((layer, model), Usage()) + usage

    def over(self) -> str:
        """In a line, that the turn cost more than its ceiling; empty when it did not."""
        return next((f"This turn used {said}" for said in self._reached("turn", Tally(), least=True)), "")

    def is_empty(self) -> str:
        """In words, that the session's ceiling is reached: no further turn may begin; empty when one may."""
        return next((f"the session has used {said}" for said in self._reached("session", Tally())), "")

    def unwatched(self) -> tuple[str, ...]:
        """The models that a ceiling of money does not see, as nobody named their price."""
        if not {"turn", "session"} & set(self.ceiling):
            return ()
        return tuple(sorted({model for _, model in self.turn if self.prices.price(model) is None}))

    def _slot(self, layer: str) -> str:
        return AGAIN if layer == SCRIBE and SCRIBE in self._now else layer

    def _worth(self, model: str, usage: Usage) -> Tally:
        return Tally(self.prices.cost(model, usage) or 0.0, usage.prompt + usage.out)

    def _why_not(self, slot: str) -> str:
        expected = Tally()
        above = {*ORDER[ORDER.index(slot) + 1 :], NARRATOR}
        asked = {one for one, worth in self._now.items() if not worth.tokens}  # no answer counted yet
        for one in (slot, *(above & self._usual - set(self._now)), *asked):
            expected.add(self.expected(one))
        for scope in ("turn", "session"):
            for said in self._reached(scope, expected):
                return f"the ceiling leaves nothing for it: the {scope} has used {said}"
        return ""

    def _reached(self, scope: str, expected: Tally, *, least: bool = False) -> Iterable[str]:
        """What is used of each ceiling of a turn or session that holds no more; `least`: only of one that is passed."""
        spent = self._turn if scope == "turn" else self._session
        rows = (
            (scope, spent.money, expected.money, self.prices.said),
            (f"{scope}_tokens", spent.tokens, expected.tokens, lambda number: f"{number:,.0f} tokens"),
        )
        for name, used, more, said in rows:
            limit = self.ceiling.get(name)
            if limit is not None and (used + more > limit + _DUST or (not least and used >= limit - _DUST)):
                yield f"{said(used)} of {said(limit)}"
