"""Time: what passes, the weather, and events to come. The dates are reckoned by code, in the campaign's own calendar."""

from __future__ import annotations

from rolecall.tools.directing import date, game_tool, number, part, who
from rolecall.tools.toolbox import text

_SPANS = {
    "minutes": number("", 1, 100_000),
    "hours": number("", 1, 10_000),
    "days": number("", 1, 100_000),
    "weeks": number("", 1, 10_000),
    "months": number("", 1, 10_000),
}

ADVANCE_TIME = game_tool(
    "advance_time",
    "Let time pass; the date is reckoned for you.",
    [],
    lambda given: {"calendar": {"advance": given}},
    **_SPANS,
)
SET_DATE = game_tool(
    "set_date",
    "Set the date, or the time of day, outright.",
    [],
    lambda given: {"calendar": part(given, "date", "time")},
    date=date("as the campaign writes dates"),
    time=date("14:30, or in words"),
)
SET_WEATHER = game_tool(
    "set_weather",
    "Say what the weather is now.",
    ["weather"],
    lambda given: {"calendar": {"weather": given["weather"]}},
    weather=text("in a few words", 120),
)
SCHEDULE_EVENT = game_tool(
    "schedule_event",
    "Put an event on a date to come.",
    ["event", "date"],
    lambda given: {"calendar": {"schedule": [given]}},
    event=who("its name"),
    date=date("when"),
    text=text("what will happen"),
    hidden={"type": "boolean", "description": "true: nobody else may know (DM)"},
)
RESCHEDULE_EVENT = game_tool(
    "reschedule_event",
    "Move an event to another date.",
    ["event", "date"],
    lambda given: {"calendar": {"reschedule": [given]}},
    event=who("its exact name"),
    date=date("the new date"),
)
CANCEL_EVENT = game_tool(
    "cancel_event",
    "Say that an event will not happen.",
    ["event"],
    lambda given: {"calendar": {"cancel": [given]}},
    event=who("its exact name"),
    why=text("why"),
)
TOOLS = (ADVANCE_TIME, SET_WEATHER, SET_DATE)
EVENTS = (SCHEDULE_EVENT, RESCHEDULE_EVENT, CANCEL_EVENT)
