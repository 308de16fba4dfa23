"""Time: the date, the hour and the weather of the Campaign State, and events that are to come."""

from __future__ import annotations

from rolecall.campaign.game import clock, events
from rolecall.campaign.game.calendar import Day
from rolecall.campaign.game.directives import Merged, Move
from rolecall.campaign.game.rows import name_in, same_name
from rolecall.campaign.game.sheet import DM, No, Sheet
from rolecall.campaign.kinds import STATE_FILE

DATE, TIME, WEATHER = "date", "time", "weather"


def resolve_time(sheet: Sheet, merged: Merged) -> None:
    """What is set, then what passes."""
    for verb in (TIME, DATE, WEATHER):  # the date is told with the hour it has then
        for move in merged.of("calendar", verb):
            sheet.attempt(f"calendar.{verb}", move.args, move.layer, lambda move=move: _set(sheet, move))
    for move in merged.of("calendar", "advance"):
        what = ", ".join(f"{count} {unit}" for unit, count in move.args.items())
        sheet.attempt("calendar.advance", what, move.layer, lambda move=move: _advance(sheet, move.args))


def resolve_events(sheet: Sheet, merged: Merged) -> None:
    """Events planned, moved and cancelled."""
    for verb, change in (("schedule", _schedule), ("reschedule", _reschedule), ("cancel", _cancel)):
        for move in merged.of("calendar", verb):
            sheet.attempt(
                f"calendar.{verb}", move.args["event"], move.layer, lambda move=move, change=change: change(sheet, move)
            )


def today(sheet: Sheet) -> Day | None:
    """The date of the scene, if anybody can count it."""
    return sheet.world.calendar().read(sheet.state.text(DATE))


def _set(sheet: Sheet, move: Move) -> None:
    calendar, now = sheet.world.calendar(), today(sheet)
    if move.verb == DATE:
        day = calendar.read(move.args)
        if now and day and (calendar.since(now, day) or 0) < 0:
            raise No(f"it lies before today ({sheet.state.text(DATE)})")
    sheet.value(STATE_FILE, move.verb, move.args, reason="time and weather")
    if move.verb == DATE:
        _tell_day(sheet, now)
    else:
        sheet.say(f"{move.verb}: {move.args}.", about="the date" if move.verb == TIME else move.verb)


def _advance(sheet: Sheet, args: dict) -> None:
    calendar = sheet.world.calendar()
    days = args.get("days", 0) + args.get("weeks", 0) * calendar.week
    minutes, months = args.get("minutes", 0) + args.get("hours", 0) * 60, args.get("months", 0)
    if not (days or minutes or months):
        raise No("no time passes")
    written = sheet.state.text(TIME)
    now = clock.read(written)
    if minutes and now:
        more, text = now.later(minutes)
        days += more
        sheet.value(STATE_FILE, TIME, text, reason="time passes")
    elif minutes:
        days, minutes = days + minutes // clock.DAY, minutes % clock.DAY
        if not days and not months:
            what = f"`{written}` is no hour that can be counted" if written else "nobody said what hour it is"
            raise No(f"{what}; set `time` instead")
    old = today(sheet)
    if days or months:
        later = calendar.later(old, days=days, months=months) if old else None
        if later is None:
            said = sheet.state.text(DATE)
            raise No(
                f"nobody can count on from {said!r}; set `date` instead"
                if said
                else "nobody said what day it is; set `date`"
            )
        sheet.value(STATE_FILE, DATE, calendar.write(later, old), reason="time passes")
    _tell_day(sheet, old)


def _tell_day(sheet: Sheet, before: Day | None) -> None:
    calendar, now = sheet.world.calendar(), today(sheet)
    said = [sheet.state.text(DATE), sheet.state.text(TIME)]
    weekday = calendar.weekday(now) if now and calendar.months else ""
    if weekday and weekday not in said[0]:
        said.insert(1, weekday)
    sheet.say(f"It is {', '.join(part for part in said if part)}.", about="the date")
    if now and before and (season := calendar.season(now)) != calendar.season(before):
        sheet.say(f"It is {season} now.", about="the season")


# -- events


def _event(sheet: Sheet, move: Move) -> str:
    path = sheet.find(move.args["event"], move.layer, "event")
    if not events.is_scheduled(sheet.doc(path)):
        raise No(f"{sheet.name(path)} is {sheet.doc(path).text('status') or 'not scheduled'}")
    return path


def _to_come(sheet: Sheet, date: str) -> str:
    """A word about a date nobody can count; No for one that is past."""
    calendar, now = sheet.world.calendar(), today(sheet)
    day = calendar.read(date)
    if now and day and (calendar.since(day, now) or 0) > 0:
        raise No(f"{date} is past")
    return "" if day else " Nobody can count that date, so nobody will be reminded of it."


def _schedule(sheet: Sheet, move: Move) -> None:
    name, date = name_in(move.args["event"]), move.args["date"]
    word, hidden = _to_come(sheet, date), bool(move.args.get("hidden"))
    if hidden and move.layer != DM:
        raise No("only the DM keeps events hidden")
    path = sheet.look(name, move.layer, "event")
    if path is None:
        if not any(c.isalnum() for c in name):
            raise No(f"{name!r} is no name")
        if any(e.op == "made" and same_name(sheet.name(e.path), name) for e in sheet.effects):
            raise No(f"{name} is scheduled already")
        path = sheet.free(events.path_of(name))
        text = events.written(name, date, move.args.get("text", ""), sheet.turn, hidden=hidden)
        sheet.put("made", path, text=text, reason="scheduled")
    else:
        status = sheet.doc(path).text("status").strip().casefold()
        if status in (events.SCHEDULED, events.PAST, events.CANCELLED):
            raise No(f"{sheet.name(path)} is {status} already")
        sheet.value(path, DATE, date, noted=True, reason="scheduled")
        sheet.value(path, "status", events.SCHEDULED, noted=True, reason="scheduled")
        if "text" in move.args:
            sheet.history(path, move.args["text"], reason="scheduled")
    sheet.say(f"{sheet.name(path)} is on {date}.{word}", path)


def _reschedule(sheet: Sheet, move: Move) -> None:
    path = _event(sheet, move)
    word = _to_come(sheet, move.args["date"])
    sheet.value(path, DATE, move.args["date"], noted=True, reason="rescheduled")
    sheet.say(f"{sheet.name(path)} is on {move.args['date']} now.{word}", path)


def _cancel(sheet: Sheet, move: Move) -> None:
    path = _event(sheet, move)
    sheet.value(path, "status", events.CANCELLED, noted=True, reason="cancelled")
    if "why" in move.args:
        sheet.history(path, f"Cancelled: {move.args['why']}.", reason="cancelled")
    sheet.say(f"{sheet.name(path)} is cancelled.", path)


def due(sheet: Sheet) -> None:
    """Say what is on today; what lies before today is past."""
    paths = [path for path in sheet.world.scheduled() if sheet.file(path) and events.is_scheduled(sheet.doc(path))]
    now = today(sheet) if paths else None
    for path in paths if now else ():
        day = sheet.world.calendar().read(sheet.doc(path).text(DATE))
        ago = sheet.world.calendar().since(day, now) if day else None
        if ago is not None and (ago == 0 or (ago > 0 and not sheet.is_locked(path))):
            sheet.attempt("calendar", sheet.name(path), DM, lambda path=path, ago=ago: _due(sheet, path, ago))


def _due(sheet: Sheet, path: str, ago: int) -> None:
    name, date = sheet.name(path), sheet.doc(path).text(DATE)
    if ago == 0:
        sheet.say(f"Today: {name}.", path)
        return
    sheet.value(path, "status", events.PAST, noted=True, reason="its day has come")
    sheet.say(f"{name} ({date}) was due and is past.", path)
