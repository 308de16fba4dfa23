"""The dates that chat programs write beside a message.

SillyTavern alone has had five forms: `June 19, 2023 2:20pm`, `2024-7-12@01h31m37s`, `2024-6-5 @14h 56m 50s 682ms`, Unix
milliseconds as a number or a text, and ISO 8601. Others write Unix seconds. What is none of these is no date.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_HUMANIZED = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@ ?(\d{1,2})h ?(\d{1,2})m ?(?:(\d{1,2})s)?(?: ?\d{1,4}ms)?$")
_AMERICAN = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})(?:,? (\d{1,2}):(\d{2})(?::\d{2})? ?([ap]m)?)?$", re.I)
_YEARS = (1990, 2200)


def read_date(value: object) -> datetime | None:
    """The moment a date names, without a time zone (one that is given is turned into UTC); None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return _unix(value)
    if not isinstance(value, str) or len(value) > 60:
        return None
    text = " ".join(value.split())
    if re.fullmatch(r"\d{9,14}(?:\.\d+)?", text):
        return _unix(float(text))
    return _written(text)


def day(moment: datetime) -> str:
    """`8 May 2023`: the form in which a chapter says its date."""
    return f"{moment.day} {_MONTHS[moment.month - 1].capitalize()} {moment.year}"


def _unix(number: float) -> datetime | None:
    seconds = number / 1000 if number > 20_000_000_000 else number
    try:
        return _sane(datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None, microsecond=0))
    except (ValueError, OverflowError, OSError):
        return None


def _written(text: str) -> datetime | None:
    try:
        if found := _HUMANIZED.match(text):
            return _sane(datetime(*(int(part or 0) for part in found.groups())))
        if found := _AMERICAN.match(text):
            month = next((n for n, name in enumerate(_MONTHS, 1) if name.startswith(found[1].casefold()[:3])), 0)
            hour = int(found[4] or 0)
            if found[6]:
                hour = hour % 12 + (12 if found[6].casefold() == "pm" else 0)
            return _sane(datetime(int(found[3]), month, int(found[2]), hour, int(found[5] or 0)))
        moment = datetime.fromisoformat(text)
    except (ValueError, TypeError):
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return _sane(moment.replace(microsecond=0))


def _sane(moment: datetime) -> datetime | None:
    return moment if _YEARS[0] <= moment.year <= _YEARS[1] else None
