"""The time of day: `14:30`, counted in days of 24 hours; any other words are the writer's."""

from __future__ import annotations

import re
from dataclasses import dataclass

DAY = 24 * 60  # minutes
_TIME = re.compile(r"(?<![\d:])(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?![\d:])")


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day: minutes since midnight, and where it stands in the text that gives it."""

    minutes: int
    text: str
    start: int
    end: int

    def later(self, minutes: int) -> tuple[int, str]:
        """(days gone by, the text with the time so much later)."""
        days, now = divmod(self.minutes + minutes, DAY)
        width = 2 if self.text[self.start : self.end].index(":") == 2 else 1
        return days, f"{self.text[: self.start]}{now // 60:0{width}d}:{now % 60:02d}{self.text[self.end :]}"


def read(text: str) -> Clock | None:
    """The one time of day a text gives in hours and minutes; None for any other text (`dusk`, `2:30 p.m.`)."""
    found = list(_TIME.finditer(text))
    if len(found) != 1 or re.search(r"\b[ap]\.?m\b", text, re.I):
        return None
    hour, minute = int(found[0]["hour"]), int(found[0]["minute"])
    return Clock(hour * 60 + minute, text, *found[0].span()) if hour < 24 and minute < 60 else None
