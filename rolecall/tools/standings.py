"""Look-ups in the game's state: how things stand after all that this turn has on the table. What is secret is for the DM alone."""

from __future__ import annotations

from collections.abc import Callable

from rolecall.campaign import arcs, kinds, references, secrets, views
from rolecall.campaign.documents import Document
from rolecall.campaign.game import combat, conditions, events, inventory, journeys, quests, resources, rows
from rolecall.campaign.game.calendar import Calendar, Day
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import RoleCallError
from rolecall.tools.directing import after, date, number, standing, who, world
from rolecall.tools.entries import find_entry
from rolecall.tools.threads import arcs_of
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema

SHOWN = 20  # lines of a look-up


def _state(table: Table) -> Document:
    return after(table, STATE_FILE) or table.state


def _shown(table: Table, document: Document, key: str) -> str:
    fields = document.fields if table.secrets else secrets.open_fields(document.fields)
    return views.value(next((held for k, held in fields.items() if k.casefold() == key), ""))


def _entry(table: Table, name: str, *wanted: str) -> Document:
    entry = find_entry(table, name, kinds=wanted)
    document = after(table, entry.path)
    if document is None:
        raise ToolFault(f"{entry.name} cannot be read.")
    return document


def _order(table: Table, given: dict) -> str:
    state = _state(table)
    fight = combat.read(state)
    if fight is None:
        raise ToolFault("There is no fight.")
    lines = [f"Round {fight.round}, {fight.turn or 'nobody'}'s turn."]
    for one in fight.order():
        points = one.hit_points.words if one.hit_points else _points(table, one.name)
        order = f"initiative {one.initiative}" if one.initiative is not None else "no initiative"
        lines.append(f"- {one.name}: {order}" + (f", {points} hit points" if points else ""))
    return "\n".join(lines)


def _points(table: Table, name: str) -> str:
    try:
        return _shown(table, _entry(table, name), "hit_points")
    except (ToolFault, RoleCallError):
        return ""


def _conditions(table: Table, given: dict) -> str:
    found = conditions.conditions_of(_state(table))
    if given.get("who"):
        found = [one for one in found if rows.same_name(one.who, given["who"])]
    return "\n".join(f"- {one.row.text}" for one in found[:SHOWN]) or "No condition lasts."


def _resources(table: Table, given: dict) -> str:
    found = resources.resources_of(_state(table))
    return "\n".join(f"- {one.row.text.strip()}" for one in found[:SHOWN]) or "Nothing is counted."


def _inventory(table: Table, given: dict) -> str:
    document = _entry(table, given["who"])
    lines = []
    for one in inventory.carried_by(document):
        count = f"{one.count} " if one.count not in (None, 1) else ""
        lines.append(f"- {count}{one.name}" + (f" ({one.worn})" if one.worn else ""))
    return "\n".join(lines) or f"{kinds.name_of(document.path, document.fields)} carries nothing that is noted."


def _relationships(table: Table, given: dict) -> str:
    document = _entry(table, given["who"])
    parts = [(key, _shown(table, document, key)) for key in ("affinity", "relationships", "status")]
    said = [f"{'towards the party' if key == 'affinity' else key}: {value}" for key, value in parts if value]
    return "\n".join(said) or "Nothing is noted of their ties."


def _quests(table: Table, given: dict) -> str:
    lines = []
    for entry, _ in arcs_of(table):
        document = after(table, entry.path)
        if entry.kind != "quest" or document is None or not arcs.read(document).open:
            continue
        arc = arcs.read(document)
        lines.append("- " + " · ".join(part for part in (arc.name, arc.question, arc.stage, arc.latest) if part))
        goals = map(quests.objective_of, rows.rows_of(document, quests.HEADING))
        lines += [f"  - [{'x' if done else ' '}] {words}" for words, done in goals]
    return "\n".join(lines[: 2 * SHOWN]) or "No quest is open."


def _upcoming(table: Table, given: dict) -> str:
    ground, found = standing(table), []
    calendar, now = ground.calendar(), _today(table)
    for path in ground.scheduled():
        document = ground.document(path)
        hidden = document is None or (secrets.is_secret_path(path, document.fields) and not table.secrets)
        if hidden or not events.is_scheduled(document):
            continue
        on = calendar.read(document.text("date"))
        left = calendar.since(now, on) if now and on else None
        when = document.text("date") + (f", {_in_days(left)}" if left is not None else "")
        found.append((left is None, left or 0, f"- {kinds.name_of(path, document.fields)} ({when})"))
    return "\n".join(line for *_, line in sorted(found)[:SHOWN]) or "Nothing is scheduled."


def _in_days(days: int) -> str:
    if days < 0:
        return f"{-days} days ago"
    return ("today", "tomorrow")[days] if days < 2 else f"in {days} days"


def _today(table: Table) -> Day | None:
    return world(table).calendar().read(_state(table).text("date"))


def _what_day(table: Table, given: dict) -> str:
    calendar, now = world(table).calendar(), _today(table)
    if given.get("date"):
        day = calendar.read(given["date"])
        if day is None:
            raise ToolFault("Nobody can count that date.")
        left = calendar.since(now, day) if now else None
        return _of_day(calendar, day, given["date"]) + (f" {_in_days(left).capitalize()}." if left is not None else "")
    if now is None:
        raise ToolFault(f"Nobody can count the date {_state(table).text('date')!r}.")
    day = calendar.later(now, days=given.get("in_days", 0))
    if day is None:
        raise ToolFault("Nobody can count that far.")
    return _of_day(calendar, day, calendar.write(day, now))


def _of_day(calendar: Calendar, day: Day, written: str) -> str:
    return ", ".join(part for part in (written, calendar.weekday(day), calendar.season(day)) if part) + "."


def _places(table: Table, given: dict) -> str:
    document = _entry(table, given.get("place") or _state(table).text("location"), "location")
    lines = []
    for to, way, item in references.natures(document.fields.get(journeys.FIELD, "")):
        if not table.secrets and (set(map(str.casefold, item)) & set(secrets.SECRET_FIELDS) or not _is_open(table, to)):
            continue
        days = item.get("days", "")
        lines.append(f"- {to}" + (f": {way}" if way and way != days else "") + (f", {days} days" if days else ""))
    within = references.names_of(document.fields.get("within", ""))
    lines += [f"- it lies in {name}" for name in within if table.secrets or _is_open(table, name)]
    name = kinds.name_of(document.path, document.fields)
    return f"From {name}:\n" + "\n".join(lines) if lines else f"No way from {name} is noted."


def _is_open(table: Table, name: str) -> bool:
    paths = table.search.ties.named(name)
    return not paths or any(not table.search.catalogue[path].secret for path in paths)


def _reads(
    name: str, about: str, run: Callable[[Table, dict], str], required: tuple[str, ...] = (), **given: dict
) -> ToolType:
    return ToolType(name, about, schema(required, **given), "read", run)


COMBAT_ORDER = _reads("combat_order", "The fight: round, whose turn, order, hit points.", _order)
LIST_CONDITIONS = _reads("list_conditions", "The conditions that last.", _conditions, who=who())
LIST_RESOURCES = _reads("list_resources", "What the party has and counts.", _resources)
LIST_INVENTORY = _reads("list_inventory", "What somebody carries and wears.", _inventory, ("who",), who=who())
RELATIONSHIPS = _reads("relationships", "What ties somebody to others.", _relationships, ("who",), who=who())
LIST_QUESTS = _reads("list_quests", "The open quests with their objectives.", _quests)
UPCOMING = _reads("upcoming", "The events to come, the next first.", _upcoming)
WHAT_DAY = _reads(
    "what_day",
    "Which weekday and season a date is, and how far off; of today, without one.",
    _what_day,
    date=date(),
    in_days=number("days from today", 0, 100_000),
)
PLACES_NEAR = _reads("places_near", "The ways from a place, from here without one.", _places, place=who())
