"""Dice: read by code, bounded, and the same under the same seed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.campaign.game.dice import LARGEST, MOST_DICE, NoDice, roll
from tests.campaign.writing import bounded


def test_the_same_seed_and_number_give_the_same_roll_wherever_it_is_rolled():
    told = roll("4d6kh3 + 2", "a seed", 1)
    assert [die.shows for die in told.dice] == SHOWN
    assert told.line("Strength") == f"*Strength, 4d6kh3 + 2: {told.words}*"
    assert roll("4d6kh3 + 2", "a seed", 1) == told != roll("4d6kh3 + 2", "a seed", 2)
    assert roll("4d6kh3 + 2", "another", 1) != told


SHOWN = [1, 6, 1, 3]  # whatever the machine and the Python


@pytest.mark.parametrize(
    ("expression", "dice", "kept"),
    [("d20", 1, 1), ("2d6+3", 2, 2), ("4d6kh3", 4, 3), ("4d6dl1", 4, 3), ("d20 adv", 2, 1), ("D20 Disadvantage + 3", 2, 1), ("(1d8+2)*2", 1, 1), ("d%", 1, 1), ("3d6-1d4", 4, 4)],
)  # fmt: skip
def test_what_is_kept_counts_and_the_sum_is_right(expression, dice, kept):
    for number in range(1, 40):
        told = roll(expression, "s", number)
        assert (len(told.dice), sum(die.kept for die in told.dice)) == (dice, kept)
        assert all(1 <= die.shows <= die.sides for die in told.dice)
        high = [die.shows for die in told.dice if die.kept]
        gone = [die.shows for die in told.dice if not die.kept]
        if gone:
            better = ("adv" in expression.casefold() and "dis" not in expression.casefold()) or "d6" in expression
            assert (min(high) >= max(gone)) if better else (max(high) <= min(gone))
    first = roll(expression, "s", 1)
    counted = [die.shows for die in first.dice if die.kept]
    sums = {
        "2d6+3": sum(counted) + 3,
        "(1d8+2)*2": (sum(counted) + 2) * 2,
        "D20 Disadvantage + 3": sum(counted) + 3,
        "3d6-1d4": sum(counted[:3]) - sum(counted[3:]),
    }
    assert first.total == sums.get(expression, sum(counted))


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("", "there is nothing to roll"),
        ("7", "has no dice in it"),
        ("d20)", "cannot be read behind"),
        ("(d20", "not closed"),
        ("((((((d4))))))", "too deep"),
        ("101d6", "1 to 100 dice"),
        ("60d6+60d6", "1 to 100 dice"),
        ("d1", "2 to 1000 sides"),
        ("d1001", "2 to 1000 sides"),
        ("2d6kh3", "of 2 dice not 3 can be kept"),
        ("2d20 adv", "for a single die"),
        ("d20" + "+1" * 60, "at most 80 characters"),
        ("d1000*1000000*1000000", "is no roll"),
        ("__import__('os').system('true')", "is no dice"),
        ("d20;d20", "is no dice"),
        ("d２０", "is no dice"),
    ],
)
def test_what_is_no_dice_or_too_much_of_it_is_said(expression, said):
    with pytest.raises(NoDice, match=re.escape(said)):
        roll(expression, "s")


@bounded
@given(st.text(max_size=100) | st.text("0123456789d+-*()khladvis% ", max_size=100))
def test_any_text_is_a_roll_within_its_bounds_or_a_word_about_why_not(text):
    try:
        told = roll(text, "s")
    except NoDice as error:
        assert str(error)
        return
    assert 1 <= len(told.dice) <= MOST_DICE and abs(told.total) <= LARGEST
    assert "\n" not in told.line("x")
