"""What the party has and counts, a row each in `## Resources`: `- silver: 9`, `- rations: 4/10`, `* 9 silver`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rolecall.campaign.documents import Document
from rolecall.campaign.game import numbers
from rolecall.campaign.game.directives import Merged, Move
from rolecall.campaign.game.numbers import Number
from rolecall.campaign.game.rows import Row, bullet, loose_of, name_in, same_name
from rolecall.campaign.game.sheet import No, Sheet
from rolecall.campaign.kinds import STATE_FILE

HEADING = "Resources"
_BEHIND = re.compile(r"[0-9]+(?:\s*(?:/|\bof\b)\s*[0-9]+)?\s+(?P<n>[^0-9:,;.]+)")


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource: its name, how much there is (None where that cannot be read), its row."""

    name: str
    number: Number | None
    row: Row


def resources_of(document: Document) -> list[Resource]:
    """The resources of the Campaign State in order; a line that names nothing is passed over."""
    found = []
    for row in loose_of(document, HEADING):
        name, rest = row.named()
        if rest:
            number = numbers.read(row.text) if not any(c.isdigit() for c in name) else None
            found.append(Resource(name_in(name), number, row))
        elif behind := _BEHIND.fullmatch(row.text.strip()):
            found.append(Resource(name_in(behind["n"]), numbers.read(row.text), row))
    return found


def held(document: Document, name: str) -> Resource | None:
    """The resource of that name; No where more than one line counts it."""
    found = [one for one in resources_of(document) if same_name(one.name, name)]
    if len(found) > 1:
        raise No(f"{len(found)} lines of Resources count {found[0].name}: make one of them")
    return found[0] if found else None


def resolve_resources(sheet: Sheet, merged: Merged) -> None:
    """Each resource at once: what it is set to, then its changes, layer by layer as they are heard.

    A layer's changes that would leave less than nothing are refused whole; nobody can spend what is not there.
    """
    asked: dict[str, list[Move]] = {}
    for move in merged.of("resources"):
        asked.setdefault(name_in(move.args["name"]).casefold(), []).append(move)
    for moves in asked.values():
        sets = [move for move in moves if "set" in move.args or "bound" in move.args]
        if sets:
            chosen = [move for move in sets if move.layer == sets[0].layer]
            args = {k: v for move in chosen for k, v in move.args.items() if k in ("set", "bound", "name")}
            sheet.attempt("resources", args["name"], sets[0].layer, lambda args=args: _set(sheet, args))
        for layer in dict.fromkeys(move.layer for move in moves):
            changes = [move.args["change"] for move in moves if move.layer == layer and "change" in move.args]
            if changes:
                name, by = moves[0].args["name"], sum(changes)
                sheet.attempt("resources", name, layer, lambda name=name, by=by: _change(sheet, name, by))
        for move in moves:
            if len(move.args) == 1:
                sheet.attempt("resources", move.args["name"], move.layer, _nothing)


def _nothing() -> None:
    raise No("say by how much it changes, or what it is now")


def _readable(one: Resource) -> Number:
    if one.number is None:
        raise No(f"{one.row.text.strip()!r} cannot be read as a number")
    return one.number


def _set(sheet: Sheet, args: dict) -> None:
    old, bound = held(sheet.state, args["name"]), args.get("bound")
    if old is None:
        value = args.get("set", 0)
        if bound is not None and value > bound:
            raise No(f"{value} is more than {bound}")
        _new(sheet, args["name"], f"{value}/{bound}" if bound is not None else str(value))
        return
    number = _readable(old)
    text = number.text
    if bound is not None:
        if number.bound is not None:
            at = text.rindex(str(number.bound))
            text = f"{text[:at]}{bound}{text[at + len(str(number.bound)) :]}"
        else:
            text = f"{text[: number.end]}/{bound}{text[number.end :]}"
    most = bound if bound is not None else number.bound
    value = args.get("set", number.value)
    if most is not None and value > most and ("set" in args or bound is not None):
        value = most
    _put(sheet, old, f"{text[: number.start]}{value}{text[number.end :]}")


def _change(sheet: Sheet, name: str, by: int) -> None:
    old = held(sheet.state, name)
    if old is None:
        if by < 0:
            raise No(f"there is no {name_in(name)}")
        _new(sheet, name, str(by))
        return
    number = _readable(old)
    if by < 0 and number.value + by < 0:
        raise No(f"there are {number.value} {old.name}; {-by} cannot be spent")
    value = numbers.bounded(number.value + by, 0, number.bound, number.value)
    over = f" {number.value + by - value} more had no place." if number.value + by > value else ""
    _put(sheet, old, number.changed(value), over)


def _put(sheet: Sheet, old: Resource, text: str, more: str = "") -> None:
    sheet.put("row", STATE_FILE, HEADING, old.row.raw, old.row.with_text(text), reason="counted")
    now = held(sheet.state, old.name)
    words = f"{old.name}: {now.number.words if now and now.number else text}.{more}"
    sheet.say(words, about=f"resource {old.name.casefold()}")


def _new(sheet: Sheet, name: str, text: str) -> None:
    plain = name_in(name)
    if any(c.isdigit() or c in ":,/" for c in plain):
        raise No(f"{plain!r} is no name for something that is counted")
    sheet.put("row", STATE_FILE, HEADING, "", f"{bullet(sheet.state, HEADING)}{plain}: {text}", reason="counted")
    sheet.say(f"{plain}: {text.replace('/', ' of ')}.", about=f"resource {plain.casefold()}")
