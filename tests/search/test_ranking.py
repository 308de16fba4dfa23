"""Joining lists, and showing why a passage was found."""

from __future__ import annotations

import pytest

from rolecall.search.analysis import Analyzer
from rolecall.search.excerpt import LENGTH, excerpt
from rolecall.search.index import language_tools
from rolecall.search.ranking import Ranked, fuse
from rolecall.search.weights import weigh

ENGLISH = Analyzer(*language_tools("en"))


def test_what_stands_high_in_several_lists_comes_first() -> None:
    joined = fuse([Ranked(["a", "b", "c"], 1), Ranked(["c", "b", "d"], 1)])
    assert [item for item, _ in joined] == ["c", "b", "a", "d"]


def test_scores_are_the_sums_of_reciprocal_ranks() -> None:
    joined = dict(fuse([Ranked(["a", "b"], 2), Ranked(["b"], 0.5)]))
    assert joined == {"a": pytest.approx(2 / 61), "b": pytest.approx(2 / 62 + 0.5 / 61)}


def test_equal_scores_keep_the_order_of_the_lists_and_a_repeat_counts_once() -> None:
    assert [item for item, _ in fuse([Ranked(["x"], 1), Ranked(["y"], 1)])] == ["x", "y"]
    assert fuse([Ranked(["x", "x", "x"], 1)]) == [("x", pytest.approx(1 / 61))]
    assert fuse([]) == []


def test_a_weight_grows_with_frequency_ever_more_slowly_and_shrinks_with_length() -> None:
    once, twice, often = (weigh({"w": n, "x": 100 - n})["w"] for n in (1, 2, 50))
    assert once < twice < often < 2.2
    assert twice - once < once
    assert weigh({"w": 1, "x": 400})["w"] < once < weigh({"w": 1})["w"]


TEXT = (
    "The mill stood empty. Nobody came in the thaw. Then Captain Varr poisoned the well with iron dust. "
    + "He told nobody. " * 30
)


def test_an_excerpt_begins_with_the_sentence_that_holds_most_of_the_words() -> None:
    shown = excerpt(TEXT, ENGLISH.ask("who poisoned the well"), ENGLISH)
    assert shown.startswith("… Then Captain Varr poisoned the well")
    assert shown.endswith("…") and len(shown) <= LENGTH + 8


@pytest.mark.parametrize(
    "text", ["word " * 200 + "gannet " + "word " * 200, "剣" * 400 + "酒館" + "剣" * 400, "x" * 900 + " gannet"]
)
def test_an_endless_sentence_is_cut_around_the_word(text: str) -> None:
    shown = excerpt(text, ENGLISH.ask("gannet 酒館"), ENGLISH)
    assert ("gannet" in shown or "酒館" in shown) and len(shown) <= LENGTH + 8


def test_an_excerpt_is_one_clean_line() -> None:
    assert excerpt("one\x1b[31m\x00 two\n\nthree\u2028four", ["two"], ENGLISH) == "one [31m two three four"
    assert excerpt("", ["x"], ENGLISH) == ""
    assert excerpt("short text", ["nothing"], ENGLISH) == "short text"
