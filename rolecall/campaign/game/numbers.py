"""The numbers of the game as people write them: `9`, `8/12`, `9 silver`, `12 of 20`; read where there is no doubt, and
changed digit by digit, so that everything around them stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DIGITS = 9  # a longer number is no count of anything
_NUMBER = re.compile(r"(?<![\w.,/+-])([+-]?[0-9]+)(?:\s*(?:/|\bof\b)\s*([0-9]+))?(?![\w/]|[.,][0-9])")
_DIGIT = re.compile(r"[0-9]")


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: what it is, how much it can be (None: nobody said), and where its digits stand."""

    text: str
    value: int
    bound: int | None
    start: int
    end: int

    def changed(self, value: int) -> str:
        """The text with another value; the bound and every other character stay."""
        return f"{self.text[: self.start]}{value}{self.text[self.end :]}"

    @property
    def words(self) -> str:
        """`5 of 12`, or `5`."""
        return f"{self.value} of {self.bound}" if self.bound is not None else str(self.value)


def read(text: str) -> Number | None:
    """The one number a text holds (with its bound); None when it holds none, or more than one."""
    found = list(_NUMBER.finditer(text))
    if len(found) != 1:
        return None
    number = found[0]
    rest = text[: number.start()] + text[number.end() :]
    if _DIGIT.search(rest) or any(len((part or "").lstrip("+-")) > DIGITS for part in number.groups()):
        return None
    bound = int(number[2]) if number[2] else None
    return Number(text, int(number[1]), bound, number.start(1), number.end(1))


def bounded(value: int, least: int | None, most: int | None, now: int | None = None) -> int:
    """The value within its bounds. A number the writer put outside of them (`now`) is moved no further out, and not pulled in."""
    if most is not None:
        value = min(value, max(most, now) if now is not None else most)
    if least is not None:
        value = max(value, min(least, now) if now is not None else least)
    return value
