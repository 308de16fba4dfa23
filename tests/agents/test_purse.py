"""A ceiling: who goes without first, what is known of a layer's cost, and what a session may spend."""

from __future__ import annotations

import pytest

from rolecall.agents.purse import AGAIN, ORDER, Purse, Tally
from rolecall.errors import OverCeiling
from rolecall.models.prices import prices_of
from rolecall.models.usage import Usage

PRICES = prices_of({"openai/a": {"fresh": 1.0, "out": 1.0}}, "$")  # a token costs a millionth
LAYERS = ("retriever", "turn_dm", "dm", "narrator", "scribe", "historian", "sidecar", "afterwork")


def turn(purse: Purse, costs: dict[str, int], model: str = "openai/a") -> list[str]:
    """One turn in which every layer asks in the order of a turn and uses so many tokens; who went without."""
    purse.begin()
    for layer in (*LAYERS, "scribe"):
        try:
            purse.admit(layer)
        except OverCeiling:
            continue
        purse.count(layer, model, Usage(fresh=costs.get(layer, 0)))
    return purse.dropped


def purse(**ceiling: float) -> Purse:
    return Purse(PRICES, ceiling)


def test_without_a_ceiling_everybody_is_let_through_and_counted() -> None:
    mine = purse()
    assert turn(mine, dict.fromkeys(LAYERS, 1000)) == []
    assert sum((used for used in mine.turn.values()), Usage()).fresh == 9000
    assert (mine.over(), mine.is_empty(), mine.unwatched()) == ("", "", ())


@pytest.mark.parametrize("tokens", [True, False])
@pytest.mark.parametrize("count", range(9))
def test_what_is_dropped_first_is_the_stated_order(count: int, tokens: bool) -> None:
    mine = purse()
    turn(mine, dict.fromkeys(LAYERS, 1000))  # nine calls of a thousand tokens are measured
    limit = 9000 - 1000 * count
    mine.ceiling = {"turn_tokens": limit} if tokens else {"turn": limit / 1e6}
    expected = [
        slot for slot in ORDER[:count] if not (slot == AGAIN and count == len(ORDER))
    ]  # no first, no second try
    assert sorted(turn(mine, dict.fromkeys(LAYERS, 1000)), key=ORDER.index) == expected


def test_the_narrator_is_never_refused_and_a_turn_over_the_ceiling_says_so() -> None:
    mine = purse(turn=0.001)
    mine.begin()
    mine.admit("narrator")
    mine.count("narrator", "openai/a", Usage(fresh=5000))
    mine.admit("narrator")
    assert mine.over() == "This turn used $0.0050 of $0.0010"
    with pytest.raises(OverCeiling, match=r"the turn has used \$0\.0050 of \$0\.0010"):
        mine.admit("scribe")


def test_a_layer_that_went_without_does_so_again_next_time_and_not_every_other_time() -> None:
    mine = purse(turn_tokens=8500)
    turn(mine, dict.fromkeys(LAYERS, 1000))
    dropped = [list(turn(mine, dict.fromkeys(LAYERS, 1000))) for _ in range(4)]
    assert dropped == [["dm"]] * 4


def test_what_the_last_session_measured_holds_for_the_first_turn_of_this_one() -> None:
    mine = purse(turn_tokens=2500)
    mine.remember([("dm", "openai/a", Usage(fresh=900)), ("narrator", "openai/a", Usage(fresh=2000))], {})
    assert turn(mine, {"narrator": 2000}) == ["dm"]
    other = purse(turn_tokens=2500)
    other.remember([("narrator", "openai/a", Usage(fresh=2000))], {"dm": Tally(0.0009, 900)})
    assert turn(other, {"narrator": 2000}) == ["dm"]


def test_what_is_asked_and_not_answered_yet_counts_as_what_it_cost_before() -> None:
    mine = purse(turn_tokens=2500)
    mine.remember([(layer, "openai/a", Usage(fresh=1000)) for layer in ("scribe", "afterwork")], {})
    mine.begin()
    mine.count("narrator", "openai/a", Usage(fresh=1000))
    mine.admit("scribe")  # under way beside it
    with pytest.raises(OverCeiling):
        mine.admit("afterwork")


def test_a_session_is_empty_when_its_ceiling_is_reached() -> None:
    mine = purse(session_tokens=2000)
    turn(mine, {"narrator": 1200})
    assert mine.is_empty() == ""
    turn(mine, {"narrator": 1200})
    assert mine.is_empty() == "the session has used 2,400 tokens of 2,000 tokens"


def test_a_model_without_a_price_is_not_seen_by_a_ceiling_of_money_and_that_is_told() -> None:
    mine = purse(turn=0.001)
    assert turn(mine, dict.fromkeys(LAYERS, 10_000), model="openai/b") == []
    assert mine.unwatched() == ("openai/b",)
    counted = purse(turn_tokens=10)
    turn(counted, dict.fromkeys(LAYERS, 10_000), model="openai/b")
    assert counted.unwatched() == () and counted.over()
