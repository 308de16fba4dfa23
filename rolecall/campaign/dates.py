"""Dates as far as they can be compared without knowing the calendar, and which of them a text gives as its own day.

Comparable are `1492-13-12` with its like, `Day 12` with `Day 9`, `12 Frostmoon` with another day of the same month, and
`the ninth of the thirteenth month` with a date of numbers in that month. Everything else is left alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from rolecall.campaign.patterns import Pattern

_FIRST = "first second third fourth fifth sixth seventh eighth ninth"
_TENTH = "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
_ONE = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
_ORDINALS = {word: number for number, word in enumerate(f"{_FIRST} {_TENTH}".split(), 1)}
_ORDINALS |= {f"twenty-{word}": 20 + number for number, word in enumerate(_FIRST.split(), 1)}
_ORDINALS |= {"thirtieth": 30, "thirty-first": 31}
_CARDINALS = {word: number for number, word in enumerate(f"{_ONE} eighteen nineteen twenty".split(), 1)}

_NTH = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_NUMBERED = Pattern(r"(?<![\d\-/.])(\d{1,6})-(\d{1,2})-(\d{1,2})(?![\d\-/])")
_DAY = Pattern(rf"\b(?:Day|Tag|Jour|Día|Dia|День)\s+(\d{{1,6}}|(?:{'|'.join(_CARDINALS)})\b)", re.I)
_DAY_CJK = Pattern(r"第\s*(\d{1,6})\s*[日天]|(\d{1,6})\s*日目")
_OF_MONTH = Pattern(
    rf"\b(?P<nth>{_NTH}|\d{{1,2}}(?:st|nd|rd|th))\s+(?:day\s+)?of\s+the\s+(?P<month>{_NTH}|\d{{1,2}}(?:st|nd|rd|th))\s+month\b",
    re.I,
)
_NAMED = Pattern(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?(?P<month>[^\W\d_]{{3,}})(?:,?\s+(?P<year>\d{{2,6}})\b)?"
    rf"|\bthe\s+(?P<nth>{_NTH})\s+of\s+(?P<month2>[^\W\d_]{{3,}})(?:,?\s+(?P<year2>\d{{2,6}})\b)?"
)

# What makes a date the day of the scene, in the languages that have words here.
_IS = Pattern(
    r"(?:\b(?:it is|it's|it’s|today is|the date is|the day is|the calendar (?:says|reads|shows)|es ist|heute ist|nous sommes|aujourd['’]hui,? c['’]est|"
    r"hoy es|estamos a|сегодня)|今日は|今天是)"
    r"(?:[ ,]+(?:now|still|only|already|the|a|der|die|das|le|el|morning|evening|night|noon|dawn|afternoon|of|on|am|jetzt|erst)){0,5}[ ,]*$",
    re.I,
)
_PART_OF_DAY = Pattern(
    r"^(?:[^\w]*(?:on |in |by )?(?:the )?(?:early |late )?(?:dawn|morning|noon|afternoon|evening|dusk|night|midnight|sunrise|sunset) of )$",
    re.I,
)
_COMES = Pattern(
    r"[ ,]*(?:dawns?|breaks?|begins?|opens?|arrives|comes up|bricht an|beginnt|наста[её]т|начинается)\b", re.I
)
_PAST = Pattern(
    r"\b(?:had|ago|last|earlier|since|remember\w*|recall\w*|back then|back on|before|was when|hatte|damals|avait|había|when|that|dated|entry|written|wrote|says|reads|page)\b",
    re.I,
)
_ALONE = Pattern(r"^[\W_]*$")
_TAIL = Pattern(r"^[\W_]*(?:[^\W\d_]+[\W_]*){0,5}$")


@dataclass(frozen=True, slots=True)
class Date:
    """A date as written, where it stands, and its numbers. `form` and `frame` must agree for two to be compared."""

    text: str
    start: int
    end: int
    form: str
    frame: tuple[str, ...]
    numbers: tuple[int, ...]


def in_text(text: str) -> Iterator[Date]:
    """The dates of a text that have a comparable form, none inside another."""
    taken: list[tuple[int, int]] = []
    for pattern, read in (
        (_NUMBERED, _numbered),
        (_OF_MONTH, _of_month),
        (_DAY, _day),
        (_DAY_CJK, _day),
        (_NAMED, _named),
    ):
        for found in pattern.finditer(text):
            if all(found.end() <= a or found.start() >= b for a, b in taken):
                form, frame, numbers = read(found)
                taken.append(found.span())
                yield Date(found[0], found.start(), found.end(), form, frame, numbers)


def earlier(a: Date, b: Date) -> bool:
    """Whether a date certainly lies before another; False when the two cannot be compared."""
    if {a.form, b.form} == {"numbers", "of month"}:
        a_month, a_day = a.numbers[-2:]
        b_month, b_day = b.numbers[-2:]
        return a_month == b_month and a_day < b_day
    if a.form != b.form:
        return False
    if a.form == "of month":
        return a.numbers[0] == b.numbers[0] and a.numbers[1] < b.numbers[1]
    if a.form == "named":
        (month, year), (other, another) = a.frame, b.frame
        return month == other and (not year or not another or year == another) and a.numbers < b.numbers
    return a.numbers < b.numbers


def own_day(sentence: str) -> Date | None:
    """The date that a told sentence gives as the day on which it happens: `It is Day 9`, `Day 9 dawns`, a heading."""
    for date in sorted(in_text(sentence), key=lambda date: date.start):
        before, after = sentence[: date.start], sentence[date.end :]
        if (
            _ALONE.match(before)
            and _TAIL.match(after)
            and len(after.split()) <= 4
            and not re.search(r"[.!?]", after.strip()[:-1])
        ) and not (after.split() and after.split()[0].islower() and not _COMES.match(after) and "," not in after[:2]):
            return date
        if _PAST.search(before + " " + after):
            continue
        if (
            _IS.search(before)
            or _PART_OF_DAY.match(before)
            or (_ALONE.match(before.replace("The", "")) and _COMES.match(after))
        ):
            return date
    return None


def _numbered(found: re.Match[str]) -> tuple[str, tuple[str, ...], tuple[int, ...]]:
    return "numbers", (), tuple(int(part) for part in found.groups())


def _of_month(found: re.Match[str]) -> tuple[str, tuple[str, ...], tuple[int, ...]]:
    return "of month", (), (_count(found["month"]), _count(found["nth"]))


def _day(found: re.Match[str]) -> tuple[str, tuple[str, ...], tuple[int, ...]]:
    return "day", (), (_count(next(group for group in found.groups() if group)),)


def _named(found: re.Match[str]) -> tuple[str, tuple[str, ...], tuple[int, ...]]:
    month = found["month"] or found["month2"]
    frame = (unicodedata.normalize("NFC", month).casefold(), found["year"] or found["year2"] or "")
    return "named", frame, (_count(found["day"] or found["nth"]),)


def _count(word: str) -> int:
    word = word.casefold()
    digits = re.match(r"\d+", word)
    return int(digits[0]) if digits else _ORDINALS.get(word) or _CARDINALS[word]
