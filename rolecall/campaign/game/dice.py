"""Dice by code: `d20`, `2d6+3`, `4d6kh3`, `d20 adv`, `(1d8+2)*2`; under a seed, so that the same roll is the same again.

An expression is at most 80 characters with at most 100 dice of at most 1,000 sides and brackets at most 5 deep. `kh` and
`kl` keep the highest or lowest, `dh` and `dl` drop them; `adv` and `dis` behind a single die roll it twice and keep the better or worse.
`+`, `-` and `*` mean what they mean; nothing else is read, and nothing is evaluated.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import partial

LONGEST, MOST_DICE, MOST_SIDES, DEEPEST, LARGEST = 80, 100, 1000, 5, 1_000_000
SHOWN = 12  # dice that are shown one by one
_TOKEN = re.compile(
    r"\s*(?:(?P<dice>(?P<count>[0-9]{0,6})d(?P<sides>[0-9]{1,6}|%)(?:\s*(?P<how>kh|kl|dh|dl|k)(?P<of>[0-9]{0,4}))?"
    r"(?:\s*(?P<twice>adv|dis)(?:antage|advantage)?(?![a-z]))?)|(?P<number>[0-9]{1,7})|(?P<sign>[-+*()×−]))",
    re.I,
)


class NoDice(ValueError):
    """What is wrong with an expression, in words."""


@dataclass(frozen=True, slots=True)
class Die:
    """One die: its sides, what it shows, whether it counts."""

    sides: int
    shows: int
    kept: bool = True


@dataclass(frozen=True, slots=True)
class Roll:
    """A roll: the expression as it was read, every die that was thrown, the sum, and the sum in words (`14 + 3 = 17`)."""

    expression: str
    dice: tuple[Die, ...]
    total: int
    words: str

    def line(self, what: str = "") -> str:
        """The italic line that stands in the story: `*Perception, d20+3: 14 + 3 = 17*`."""
        about = f"{what}, " if what else ""
        return f"*{about}{self.expression}: {self.words}*"


def _key(expression: str) -> str:
    """What two spellings of one expression have in common."""
    return "".join(_shown(expression).split())


def _shown(expression: str) -> str:
    return " ".join(expression.casefold().replace("*", "×").replace("−", "-").split())


def roll(expression: str, seed: str, number: int = 1) -> Roll:
    """The `number`th roll under a seed. The same three give the same roll, wherever and whenever they are rolled.

    Raises NoDice for what is no expression, or one that is out of bounds.
    """
    tokens = _tokens(expression)
    shown = _shown(expression)
    thrown: list[Die] = []
    draw = random.Random(f"{seed}/{number}/{_key(expression)}")
    reader = _Reader(tokens, partial(_throw, draw), thrown)
    total, words = reader.sum(0)
    if reader.at != len(tokens):
        raise NoDice(
            f"{shown!r} cannot be read behind {tokens[reader.at - 1][0]!r}" if reader.at else f"{shown!r} is no roll"
        )
    if not thrown:
        raise NoDice(f"{shown!r} has no dice in it")
    return Roll(shown, tuple(thrown), total, words if words == str(total) else f"{words} = {total}")


def _throw(draw: random.Random, sides: int) -> int:
    return int(draw.random() * sides) + 1  # of all its methods only this one gives the same numbers in every Python


def _tokens(expression: str) -> list[tuple[str, dict]]:
    if len(expression) > LONGEST:
        raise NoDice(f"a roll is at most {LONGEST} characters long")
    text, at, found = expression.strip(), 0, []
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise NoDice(f"{text[at : at + 20]!r} is no dice; write d20, 2d6+3, 4d6kh3, d20 adv")
        found.append((match[0].strip(), match.groupdict()))
        at = match.end()
    if not found:
        raise NoDice("there is nothing to roll")
    return found


class _Reader:
    """Sums, products and brackets, read once from left to right."""

    def __init__(self, tokens: list[tuple[str, dict]], throw: partial, thrown: list[Die]) -> None:
        self.tokens, self.throw, self.thrown, self.at = tokens, throw, thrown, 0

    def peek(self) -> str:
        sign = self.tokens[self.at][1]["sign"] if self.at < len(self.tokens) else None
        return (sign or "").replace("−", "-").replace("×", "*")

    def sum(self, depth: int) -> tuple[int, str]:
        total, words = self.product(depth)
        while self.peek() in ("+", "-"):
            sign = self.peek()
            self.at += 1
            value, said = self.product(depth)
            total = total + value if sign == "+" else total - value
            words = f"{words} {sign} {said}"
        return _within(total), words

    def product(self, depth: int) -> tuple[int, str]:
        total, words = self.one(depth)
        while self.peek() == "*":
            self.at += 1
            value, said = self.one(depth)
            total, words = _within(total * value), f"{words} × {said}"
        return total, words

    def one(self, depth: int) -> tuple[int, str]:
        if self.at >= len(self.tokens):
            raise NoDice("the roll breaks off")
        text, parts = self.tokens[self.at]
        self.at += 1
        if parts["dice"]:
            return self.dice(parts)
        if parts["number"]:
            return _within(int(parts["number"])), str(int(parts["number"]))
        if text == "(" and depth < DEEPEST:
            total, words = self.sum(depth + 1)
            if self.peek() != ")":
                raise NoDice("a bracket is not closed")
            self.at += 1
            return total, f"({words})"
        if text in "-−" and depth <= DEEPEST:
            total, words = self.one(depth + 1)
            return -total, f"-{words}"
        raise NoDice("brackets are nested too deep" if text == "(" else f"{text!r} stands where dice should")

    def dice(self, parts: dict) -> tuple[int, str]:
        count, sides = int(parts["count"] or 1), 100 if parts["sides"] == "%" else int(parts["sides"])
        how, of = (parts["how"] or "").casefold(), int(parts["of"] or 1)
        if parts["twice"]:
            if count != 1 or how:
                raise NoDice("`adv` and `dis` are for a single die")
            count, how, of = 2, "kh" if parts["twice"].casefold() == "adv" else "kl", 1
        if not 1 <= count <= MOST_DICE or len(self.thrown) + count > MOST_DICE:
            raise NoDice(f"a roll has 1 to {MOST_DICE} dice")
        if not 2 <= sides <= MOST_SIDES:
            raise NoDice(f"a die has 2 to {MOST_SIDES} sides")
        shows = [self.throw(sides) for _ in range(count)]
        kept = _kept(shows, how, of)
        dice = [Die(sides, show, number in kept) for number, show in enumerate(shows)]
        self.thrown += dice
        total = sum(die.shows for die in dice if die.kept)
        words = " + ".join(str(die.shows) if die.kept else f"~~{die.shows}~~" for die in dice)
        return total, words if count == 1 else f"({words})" if count <= SHOWN else str(total)


def _kept(shows: list[int], how: str, of: int) -> set[int]:
    """The positions of the dice that count; of equal ones the first is kept."""
    if not how:
        return set(range(len(shows)))
    if not 0 < of <= len(shows) or (how in ("dh", "dl") and of == len(shows)):
        raise NoDice(f"of {len(shows)} dice not {of} can be {'kept' if how[0] == 'k' else 'dropped'}")
    high = sorted(range(len(shows)), key=lambda number: (-shows[number], number))
    ranked = high if how in ("k", "kh", "dl") else sorted(range(len(shows)), key=lambda number: (shows[number], number))
    return set(ranked[: of if how[0] == "k" else len(shows) - of])


def _within(number: int) -> int:
    if abs(number) > LARGEST:
        raise NoDice(f"more than {LARGEST:,} is no roll")
    return number
