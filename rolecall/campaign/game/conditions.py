"""Conditions that last, a row each in `## Effects`: `- Valen: poisoned (until T0045)`, `(until round 4)`, `(until 3 Frostmoon 1492)`.

A condition until T0045 is in force through that turn and goes with what T0045 writes; one until a date goes when that day has come;
one until a round goes when that round begins, or the fight ends. What has a name goes to its History, the rest under the Journal's line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rolecall.campaign.documents import Document
from rolecall.campaign.game import combat
from rolecall.campaign.game.calendar import Day
from rolecall.campaign.game.company import LIVING, members
from rolecall.campaign.game.directives import Merged, Move
from rolecall.campaign.game.rows import Row, bullet, name_in, rows_of, same_name
from rolecall.campaign.game.sheet import PARTY, No, Sheet
from rolecall.campaign.journal import turn_id, turn_number
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.merging import key_of

HEADING = "Effects"
_UNTIL = re.compile(r"\s*\((?:until|bis|till)\s+(?P<n>[^()]+)\)\s*$", re.I)
_ROUND = re.compile(r"round\s+([0-9]{1,4})", re.I)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition: who has it, its words, until when ("" when nobody said), and its row."""

    who: str
    words: str
    until: str
    row: Row

    @property
    def turn(self) -> int | None:
        """The last turn in which it is in force, if it goes by turns."""
        return turn_number(self.until) if re.fullmatch(r"T\d{4,9}", self.until) else None

    @property
    def round(self) -> int | None:
        """The round with which it ends, if it goes by rounds."""
        found = _ROUND.fullmatch(self.until)
        return int(found[1]) if found else None

    def with_until(self, until: str) -> str:
        """The row with another end."""
        text = _UNTIL.sub("", self.row.text)
        return self.row.with_text(f"{text} (until {until})" if until else text)


def conditions_of(document: Document) -> list[Condition]:
    """The conditions of the Campaign State in order; a row without a colon, or a name before it, is a note."""
    found = []
    for row in rows_of(document, HEADING):
        name, rest = row.named()
        if not rest or not name_in(name):
            continue
        until = _UNTIL.search(rest)
        words = rest[: until.start()].strip() if until else rest
        found.append(Condition(name_in(name), words, until["n"].strip() if until else "", row))
    return found


def resolve_conditions(sheet: Sheet, merged: Merged) -> None:
    """What is asked for: conditions removed, added, extended."""
    for verb, change in (("remove", _remove), ("add", _add), ("extend", _extend)):
        for move in merged.of("effects", verb):
            what = f"{move.args['who']}, {move.args['effect']}"
            sheet.attempt(f"effects.{verb}", what, move.layer, lambda move=move, change=change: change(sheet, move))


def _bearer(sheet: Sheet, name: str) -> tuple[str, str | None]:
    """(the name, the path of the entry) of somebody who can have a condition: an entry, a combatant, one of the party, or the party."""
    if name.strip().casefold() in PARTY:
        return "Party", None
    path = sheet.look(name, "", *LIVING)
    if path:
        sheet.alive(path)
        return sheet.name(path), path
    fight = combat.read(sheet.state)
    known = [one.name for one in fight.fighters] if fight else []
    known += [one for one, _ in members(sheet.state)]
    found = next((one for one in known if same_name(one, name)), None)
    if found is None:
        raise No(f"nobody is named {name_in(name)!r}")
    return found, None


def _held(sheet: Sheet, who: str, words: str) -> Condition | None:
    return next(
        (one for one in conditions_of(sheet.state) if same_name(one.who, who) and key_of(one.words) == key_of(words)),
        None,
    )


def _until(sheet: Sheet, move: Move, old: Condition | None = None) -> str:
    """When a condition ends, by what a move says; for an extension counted from when it ended so far."""
    args = move.args
    if sum(key in args for key in ("turns", "rounds", "until")) > 1:
        raise No("give only one of turns, rounds and until")
    if "turns" in args:
        if old and old.until and old.turn is None:
            raise No(f"it lasts until {old.until}; say a new end like that")
        return turn_id((old.turn if old and old.turn else sheet.turn) + args["turns"])
    if "rounds" in args:
        fight = combat.read(sheet.state)
        if fight is None:
            raise No("there is no fight whose rounds could be counted")
        if old and old.until and old.round is None:
            raise No(f"it lasts until {old.until}; say a new end like that")
        return f"round {(old.round if old and old.round else fight.round) + args['rounds']}"
    until = args.get("until", "").strip("() ").removeprefix("until ")
    if "(" in until or ")" in until:
        raise No("a date has no brackets")
    today, day = _today(sheet), sheet.world.calendar().read(until) if until else None
    if today and day and (sheet.world.calendar().since(day, today) or -1) >= 0:
        raise No(f"{until} is not to come")
    return until


def _today(sheet: Sheet) -> Day | None:
    return sheet.world.calendar().read(sheet.state.text("date"))


def _add(sheet: Sheet, move: Move) -> None:
    who, _ = _bearer(sheet, move.args["who"])
    words = _UNTIL.sub("", move.args["effect"]).strip()
    if not words or ":" in who:
        raise No("it says nothing")
    until, old = _until(sheet, move), _held(sheet, who, words)
    if old is not None:
        sheet.put("row", STATE_FILE, HEADING, old.row.raw, old.with_until(until), reason="a condition")
    else:
        text = f"{who}: {words}" + (f" (until {until})" if until else "")
        sheet.put("row", STATE_FILE, HEADING, "", bullet(sheet.state, HEADING) + text, reason="a condition")
    sheet.say(f"{who}: {words}{' until ' + until if until else ''}.{_uncounted(sheet, until)}")


def _uncounted(sheet: Sheet, until: str) -> str:
    """A word about an end that nobody can count: such a condition is taken away by hand or by a later directive."""
    if not until or turn_number(until) or _ROUND.fullmatch(until) or sheet.world.calendar().read(until):
        return ""
    return " Nobody can count that date: it lasts until it is taken away."


def _found(sheet: Sheet, move: Move) -> Condition:
    """The condition a move means: by all its words, or by the beginning of them if only one begins so."""
    name, wanted = move.args["who"], key_of(_UNTIL.sub("", move.args["effect"]))
    path = sheet.look(name, "", *LIVING)
    names = [name, *([sheet.name(path)] if path else []), *(["Party"] if name.strip().casefold() in PARTY else [])]
    mine = [one for one in conditions_of(sheet.state) if any(same_name(one.who, known) for known in names)]
    found = [one for one in mine if key_of(one.words) == wanted]
    found = found or [one for one in mine if wanted and key_of(one.words).startswith(wanted)]
    if len(found) != 1:
        has = ", ".join(one.words for one in mine) or "none"
        raise No(f"{name_in(name)} has {len(found) or 'no'} such condition{'s' if found else ''} (has: {has})")
    return found[0]


def _extend(sheet: Sheet, move: Move) -> None:
    old = _found(sheet, move)
    if not any(key in move.args for key in ("turns", "rounds", "until")):
        raise No("say by how many turns or rounds, or until when")
    until = _until(sheet, move, old)
    sheet.put("row", STATE_FILE, HEADING, old.row.raw, old.with_until(until), reason="a condition")
    sheet.say(f"{old.who}: {old.words} until {until}.{_uncounted(sheet, until)}")


def _remove(sheet: Sheet, move: Move) -> None:
    old = _found(sheet, move)
    _end(sheet, old, f": {move.args['why']}" if "why" in move.args else "")


def _end(sheet: Sheet, old: Condition, why: str) -> None:
    """Take a condition away; what it said is kept first."""
    path = sheet.look(old.who, "", *LIVING)
    line = f"No longer {old.words}" + (f" (until {old.until})" if old.until else "") + why + "."
    sheet.keep(path, old.who, line, "a condition is over")
    sheet.put("row", STATE_FILE, HEADING, old.row.raw, "", reason="a condition is over")
    sheet.say(f"{old.who} is no longer {old.words}.")


def expire(sheet: Sheet) -> None:
    """Take away what is over by now."""
    fight, calendar, today = combat.read(sheet.state), sheet.world.calendar, None
    for one in conditions_of(sheet.state):
        if not one.until:
            continue
        if one.turn is not None:
            over = sheet.turn >= one.turn
        elif one.round is not None:
            over = fight is None or fight.round >= one.round
        else:
            today = today or calendar().read(sheet.state.text("date"))
            day = calendar().read(one.until) if today else None
            over = (
                bool(today and day)
                and (calendar().since(day, today) or 0) >= 0
                and calendar().since(day, today) is not None
            )
        if over:
            sheet.attempt("effects", f"{one.who}, {one.words}", "", lambda one=one: _end(sheet, one, ""))
