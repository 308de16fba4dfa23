"""What of the game's state cannot be used as it is written: for `rolecall check`.

Narrow on purpose: a number in words is the writer's way of saying it, but a calendar that counts nothing was meant to count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rolecall.campaign import kinds
from rolecall.campaign.documents import Document
from rolecall.campaign.game import calendar as calendars
from rolecall.campaign.game import combat, company, conditions, events, resources
from rolecall.campaign.game.calendar import Calendar
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import Unclear

_SECTIONS = (company.HEADING, resources.HEADING, conditions.HEADING, combat.HEADING)
Fault = tuple[str, int | None, str, str, str]  # path, line, rule, message, remedy


def faults(documents: Iterable[Document]) -> Iterator[Fault]:
    """(path, line, rule, message, remedy) of each."""
    in_play = (document for document in documents if not document.text("forgotten").strip())
    every = sorted(in_play, key=lambda document: document.path)
    known = list(_calendars(every))
    for document, made in known:
        yield from _calendar(document, made, next(d.path for d, one in known if one or d is document))
    counted = next((made for _, made in known if made), Calendar())
    for document in every:
        if document.path == STATE_FILE:
            yield from _state(document)
        elif kinds.kind_of(document.path, document.fields) == "event" and events.is_scheduled(document):
            yield from _event(document, counted)


def _calendars(every: list[Document]) -> Iterator[tuple[Document, Calendar | None]]:
    for document in every:
        listed = document.fields.get("months", "")
        if listed and kinds.kind_of(document.path, document.fields) in ("rule", "lore"):
            yield document, calendars.of_fields(document.fields, document.path)


def _calendar(document: Document, made: Calendar | None, first: str) -> Iterator[Fault]:
    path = document.path
    line = document.block.line_of("months")
    if made is None:
        yield path, line, "calendar", "these months cannot be counted", "write each as `Frostmoon 30`, no name twice"
        return
    if first != path:
        yield (
            path,
            line,
            "calendar",
            f"a second calendar; {first} is the one that counts",
            "keep the months in one entry",
        )
    said = document.text("weekday_on").strip()
    if said and made.anchor is None:
        at, remedy = (
            document.block.line_of("weekday_on"),
            "write it as `1 Frostmoon 1492 = Moonday`, in this calendar's own words",
        )
        yield path, at, "calendar", "this weekday cannot be placed", remedy
    listed = document.fields.get("seasons", "")
    if len(made.seasons) < (len(listed) if isinstance(listed, (list, dict)) else 0):
        at, remedy = (
            document.block.line_of("seasons"),
            "write each as `Winter from Frostmoon` or `Spring from 10 Thawmoon`",
        )
        yield path, at, "calendar", "a season that begins on no day of this calendar", remedy


def _state(document: Document) -> Iterator[Fault]:
    for heading in _SECTIONS:
        try:
            document.section(heading)
        except Unclear as error:
            yield document.path, error.line, "section-twice", error.what, error.remedy or "join the two sections"


def _event(document: Document, known: Calendar) -> Iterator[Fault]:
    date = document.text("date").strip()
    if known.read(date) is None:
        line = (document.block.line_of("date") or document.block.line_of("status")) if document.block else None
        what = (
            f"an event is scheduled for {date!r}, which nobody can count"
            if date
            else "an event is scheduled for no date"
        )
        yield document.path, line, "event-date", what, "write a date the calendar can count, or another status"
