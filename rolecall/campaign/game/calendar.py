"""Dates counted by code, in whatever calendar a campaign has.

A calendar is an entry (rule or lore) whose front matter has `months`, and if it likes `weekdays`, `seasons` and one known weekday:

    months: [Frostmoon 30, Thawmoon 31]
    weekdays: [Moonday, Towerday, Starday]
    seasons: [Winter from Frostmoon, Spring from 10 Thawmoon]
    weekday_on: 1 Frostmoon 1492 = Moonday

Every year has all its months, each as long as it says. Without such an entry `Day 12` is counted up, `1492-12-13` and `3 March 1492`
count as Gregorian where they fit. A date that nobody can count is left as it is.
"""

from __future__ import annotations

import calendar as gregory
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rolecall.campaign.dates import _CARDINALS, _ORDINALS
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.merging import key_of

_MONTHS = [name for name in gregory.month_name if name]
_DAY = re.compile(
    r"\b(?:Day|Tag|Jour|Día|Dia|День)\s+(?P<day>[0-9]{1,7})\b|第\s*(?P<day2>[0-9]{1,7})\s*[日天]|(?P<day3>[0-9]{1,7})\s*日目",
    re.I,
)
_ISO = re.compile(r"(?<![\w/.-])(?P<year>[0-9]{1,6})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})(?![\w/]|-[\d])")
_LENGTH = re.compile(r"(.*[^\s:=])[\s:=]+([0-9]{1,3})(?:\s*days?)?|([0-9]{1,3})\s+(.*\S)")
_SEASON = re.compile(r"(.*[^\s:=>-])(?:\s+(?:from|begins?|ab)\s|\s*(?:[:=]|->))\s*(.*\S)", re.I)
SURE_DAYS = 28  # days that a month of unknown length certainly is taken to have


@dataclass(frozen=True, slots=True)
class Day:
    """A date that can be counted: `year` None where none is said; for `Day 12` only `day`, with `month` 0.

    `text` is what was written, the spans say where its parts stand in it.
    """

    day: int
    month: int = 0
    year: int | None = None
    text: str = ""
    spans: tuple[tuple[str, int, int], ...] = ()

    @property
    def is_count(self) -> bool:
        """Whether it is a bare count of days."""
        return self.month == 0


@dataclass(frozen=True, slots=True)
class Calendar:
    """A calendar: (name, days) of each month, the days of the week, (season, month, day) of each season's beginning.

    Without `months` it counts numbers only. `anchor` is a day of which the weekday is known, and that weekday's number.
    """

    months: tuple[tuple[str, int], ...] = ()
    weekdays: tuple[str, ...] = ()
    seasons: tuple[tuple[str, int, int], ...] = ()
    anchor: tuple[int, int] | None = None
    path: str = ""

    # -- reading and writing

    def read(self, text: str) -> Day | None:
        """The one date a text gives that can be counted; None for any other text."""
        found = [*self._counts(text), *self._numbered(text), *self._named(text)]
        return found[0] if len(found) == 1 else None

    def _counts(self, text: str) -> Iterable[Day]:
        for found in _DAY.finditer(text):
            group = next(name for name in ("day", "day2", "day3") if found[name])
            yield Day(int(found[group]), text=text, spans=(("day", *found.span(group)),))

    def _numbered(self, text: str) -> Iterable[Day]:
        for found in _ISO.finditer(text):
            day = Day(int(found["day"]), int(found["month"]), int(found["year"]), text)
            known = bool(self.months) or 1 <= day.month <= 12
            length = self.length(day.month, day.year) if known else 99
            if day.day >= 1 and day.month >= 1 and day.day <= (length or 0):
                yield replace(day, spans=tuple((name, *found.span(name)) for name in ("year", "month", "day")))

    def _named(self, text: str) -> Iterable[Day]:
        names = [name for name, _ in self.months] or _MONTHS
        for found in _pattern(tuple(names)).finditer(text):
            month = next(n for n, name in enumerate(names, 1) if key_of(name) == key_of(found["month"]))
            day = Day(_count(found["day"]), month, int(found["year"]) if found["year"] else None, text)
            if 1 <= day.day <= (self.length(month, day.year) or 0):
                groups = [name for name in ("day", "month", "year") if found[name]]
                yield replace(day, spans=tuple((name, *found.span(name)) for name in groups))

    def write(self, day: Day, like: Day) -> str:
        """A day in the words of another: only its numbers, its month's name, and its weekday's where that stands there, change."""
        text = like.text
        for name, start, end in sorted(like.spans, key=lambda span: -span[1]):
            text = text[:start] + self._part(day, name, text[start:end]) + text[end:]
        old, new = self.weekday(like), self.weekday(day)
        return re.sub(rf"\b{re.escape(old)}\b", lambda _: new, text, count=1) if old and new else text

    def _part(self, day: Day, name: str, was: str) -> str:
        value = getattr(day, name)
        if name == "month" and not was.isdigit():
            return self.months[value - 1][0] if self.months else _MONTHS[value - 1]
        if name == "day" and not was.isdigit():  # `3rd`, `third`
            words = {number: word for word, number in _ORDINALS.items()}
            return words.get(value, _nth(value)) if was.casefold() in _ORDINALS else _nth(value)
        return (
            str(value).zfill(len(was))
            if was.startswith("0") or (name != "year" and len(was) == 2 and "-" in day.text)
            else str(value)
        )

    # -- counting

    def length(self, month: int, year: int | None) -> int | None:
        """The days of a month; None when nobody knows it, or there is no such month."""
        if self.months:
            return self.months[month - 1][1] if 1 <= month <= len(self.months) else None
        if not 1 <= month <= 12:
            return None
        if year is None:
            return gregory.mdays[month]
        return gregory.monthrange(year, month)[1] if 1 <= year <= 9999 else None

    def number(self, day: Day) -> int | None:
        """A running number of the day, by which days of one form can be compared and subtracted; None when there is none."""
        if day.is_count:
            return day.day
        if self.length(day.month, day.year) is None:
            return None
        if self.months or day.year is None:
            before = sum(self.length(month, day.year) or 0 for month in range(1, day.month))
            return (day.year or 0) * self.days_of_year + before + day.day - 1
        import datetime

        return datetime.date(day.year, day.month, day.day).toordinal()

    @property
    def days_of_year(self) -> int:
        """The days of a year of this calendar; 365 where the Gregorian one counts without a year."""
        return sum(days for _, days in self.months) or 365

    def later(self, day: Day, *, days: int = 0, months: int = 0) -> Day | None:
        """The day so much later; months first, and a day that month does not have becomes its last. None when nobody can count that."""
        if day.is_count:
            return replace(day, day=day.day + days) if not months else None
        if months:
            moved = self._months_later(day, months)
            if moved is None:
                return None
            day = moved
        return self._days_later(day, days) if days else day

    def _months_later(self, day: Day, months: int) -> Day | None:
        count = len(self.months) or 12
        if not 1 <= day.month <= count:
            return None
        years, month = divmod(day.month - 1 + months, count)
        year = day.year + years if day.year is not None else None
        length = self.length(month + 1, year)
        return replace(day, year=year, month=month + 1, day=min(day.day, length)) if length else None

    def _days_later(self, day: Day, days: int) -> Day | None:
        number = self.number(day)
        if number is None:  # a month nobody knows: within its sure days it can be counted all the same
            return replace(day, day=day.day + days) if day.day + days <= SURE_DAYS else None
        if self.months or day.year is None:
            year, rest = divmod(number + days, self.days_of_year)
            month = 1
            while rest >= self.length(month, None):
                rest -= self.length(month, None)
                month += 1
            return replace(day, year=year if day.year is not None else None, month=month, day=rest + 1)
        import datetime

        try:
            moved = datetime.date.fromordinal(number + days)
        except (ValueError, OverflowError):
            return None
        return replace(day, year=moved.year, month=moved.month, day=moved.day)

    def since(self, then: Day, now: Day) -> int | None:
        """Days from `then` to `now`, negative when `then` is to come; None when the two cannot be compared.

        Where years are not said, the nearer way round the year counts.
        """
        if then.is_count != now.is_count or (then.year is None) != (now.year is None):
            return None
        one, other = self.number(then), self.number(now)
        if one is None or other is None:
            same = then.year is not None and (then.year, then.month) == (now.year, now.month)
            if same:
                return now.day - then.day
            if then.year is None or now.year is None:
                return None
            return 1 if (now.year, now.month) > (then.year, then.month) else -1
        apart = other - one
        if then.year is None and not then.is_count:
            year = self.days_of_year
            apart = (apart + year // 2) % year - year // 2
        return apart

    # -- what a day is

    def weekday(self, day: Day) -> str:
        """The name of its weekday; empty when nobody can tell."""
        number = self.number(day)
        if number is None or day.year is None:
            return ""
        if not self.months:
            return gregory.day_name[(number - 1) % 7]
        if not self.weekdays:
            return ""
        known, weekday = self.anchor if self.anchor else (self.number(Day(1, 1, 1)), 0)
        return self.weekdays[(number - known + weekday) % len(self.weekdays)]

    @property
    def week(self) -> int:
        """The days of a week."""
        return len(self.weekdays) or 7

    def season(self, day: Day) -> str:
        """The season of a day; empty when the calendar has none."""
        if not self.seasons or day.is_count:
            return ""
        begun = [name for name, month, first in self.seasons if (month, first) <= (day.month, day.day)]
        return begun[-1] if begun else self.seasons[-1][0]


def _nth(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if 10 < number % 100 < 14 else ends.get(number % 10, 'th')}"


def _count(word: str) -> int:
    digits = re.match(r"[0-9]+", word)
    return int(digits[0]) if digits else _ORDINALS.get(word.casefold()) or _CARDINALS.get(word.casefold(), 0)


def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """`3 Frostmoon 1492`, `the 3rd of Frostmoon, 1492`, `the third day of Frostmoon` for these names of months."""
    words = "|".join(sorted(map(re.escape, _ORDINALS), key=len, reverse=True))
    months = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return re.compile(
        rf"(?<![\w-])(?P<day>[0-9]{{1,3}}(?:st|nd|rd|th)?(?=\.?\s)|{words})\.?\s+(?:day\s+)?(?:of\s+)?(?:the\s+)?"
        rf"(?P<month>{months})(?!\w)(?:,?\s+(?:year\s+)?(?P<year>[0-9]{{1,6}})(?![\w-]))?",
        re.I,
    )


# -- from an entry


def of_fields(fields: Mapping[str, Value], path: str = "") -> Calendar | None:
    """The calendar an entry's front matter gives; None when it has no `months` that can be read."""
    months = _months(_listed(fields.get("months", "")))
    if not months:
        return None
    made = Calendar(
        months, tuple(name for name in _listed(fields.get("weekdays", "")) if isinstance(name, str)), path=path
    )
    made = replace(made, seasons=_seasons(made, fields.get("seasons", "")))
    said = fields.get("weekday_on", "")
    if isinstance(said, str) and "=" in said:
        date, _, name = said.rpartition("=")
        day = made.read(date.strip())
        at = next((n for n, weekday in enumerate(made.weekdays) if key_of(weekday) == key_of(name)), None)
        number = made.number(day) if day and day.year is not None else None
        if number is not None and at is not None:
            made = replace(made, anchor=(number, at))
    return made


def _listed(value: Value) -> list[Value]:
    if isinstance(value, dict):
        return [f"{name} {said}" if isinstance(said, str) else "" for name, said in value.items()]
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return list(value)


def _months(items: list[Value]) -> tuple[tuple[str, int], ...]:
    found = []
    for item in items:
        text = " ".join(v for v in item.values() if isinstance(v, str)) if isinstance(item, dict) else item
        match = _LENGTH.fullmatch(text.strip()) if isinstance(text, str) else None
        name, days = (match[1] or match[4], int(match[2] or match[3])) if match else ("", 0)
        if not name or days < 1:
            return ()  # a calendar with a month that cannot be read counts nothing
        found.append((" ".join(name.split()), days))
    return tuple(found) if len({key_of(name) for name, _ in found}) == len(found) else ()


def _seasons(calendar: Calendar, value: Value) -> tuple[tuple[str, int, int], ...]:
    if isinstance(value, dict):
        value = [f"{name} from {said}" for name, said in value.items() if isinstance(said, str)]
    found = []
    for item in _listed(value):
        parts = [v for v in item.values() if isinstance(v, str)] if isinstance(item, dict) else []
        match = _SEASON.fullmatch(item) if isinstance(item, str) else None
        name, start = (match[1], match[2]) if match else (parts[0], parts[1]) if len(parts) == 2 else ("", "")
        month = next((n for n, (known, _) in enumerate(calendar.months, 1) if key_of(known) == key_of(start)), 0)
        day = calendar.read(start) if not month else Day(1, month)
        if name and day:
            found.append((" ".join(name.split()), day.month, day.day))
    return tuple(sorted(found, key=lambda season: season[1:]))
