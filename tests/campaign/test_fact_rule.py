"""When a retelling holds a journal line, and when the line must become a fact."""

from __future__ import annotations

import pytest

from rolecall.campaign import facts

KNOWN = ("Sera", "Valen", "The Broken Anchor", "Éowyn", "青い竜")


@pytest.mark.parametrize(
    ("line", "prose"),
    [
        ("Sera burned the ledger.", "That night the ledger burned, and Sera watched."),
        ("Sera paid 3 marks.", "Sera put down three marks and paid."),
        ("Valen left. Rain fell.", "Rain fell hard. Valen had left."),
        ("Marta said “not tonight” to Sera.", "“Not tonight,” Marta said, and Sera went."),
        ("E\u0301owyn rode north.", "Éowyn rode to the north."),
        ("青い竜が町に来た。", "夜、青い竜が町に来た。人々は逃げた。"),
        ("Valen’s horse fell.", "The horse fell under Valen."),
        ("Go!", "“Go!” he cried."),
    ],
)
def test_a_line_is_held_by_two_adjacent_sentences_with_its_names_numbers_quotes_and_words(line, prose):
    assert facts.held(line, prose, KNOWN)


@pytest.mark.parametrize(
    ("line", "prose"),
    [
        ("Sera burned the ledger.", "The ledger burned."),
        ("Sera burned the ledger.", "Sera came home. It rained. It was late. The ledger burned."),
        ("Sera paid 3 marks.", "Sera paid four marks."),
        ("Marta said “not tonight” to Sera.", "Marta refused Sera that night."),
        ("Sera hid the silver key beneath the altar stone.", "Sera went out with a key."),
        ("They slept at The Broken Anchor.", "They slept at the inn."),
        ("Go!", "They stayed."),
        ("Anything.", ""),
    ],
)
def test_a_line_is_not_held_when_one_of_these_is_missing(line, prose):
    assert not facts.held(line, prose, KNOWN)


@pytest.mark.parametrize(
    "line",
    [
        "Sera promised to return.",
        "Valen owes 40 marks.",
        "She swore an oath.",
        "He gave his word.",
        "The debt stands.",
        "They made a bargain.",
    ],
)
def test_a_promise_or_a_debt_is_never_taken_as_held(line):
    assert facts.missing([line], line, KNOWN) == [0]


@pytest.mark.parametrize("line", ["He was overjoyed.", "A crowed bird.", "The swordsman came.", "Words failed her."])
def test_words_that_only_contain_one_are_no_promise(line):
    assert not facts.has_promise(line)


def test_a_name_inside_a_longer_word_is_not_that_name():
    assert facts.names_in("the annals say so", ["Ann"]) == set()
    assert facts.names_in("then Ann's horse", ["Ann"]) == {"ann"}


def test_a_capital_that_only_begins_a_sentence_is_no_name():
    assert facts.names_in("Rain fell. Then Marta came.") == {"marta"}


def test_the_positions_of_what_is_missing_are_told():
    lines = ["Sera slept.", "Valen left with 12 men.", "Sera vowed revenge."]
    assert facts.missing(lines, "Sera slept. Sera vowed revenge.", KNOWN) == [1, 2]
