"""The party, as `## Party` of the Campaign State names it, and how people stand: who joins, who leaves, who is hurt or dead."""

from __future__ import annotations

import re

from rolecall.campaign import deaths
from rolecall.campaign.documents import Document
from rolecall.campaign.game.directives import Merged, Move
from rolecall.campaign.game.rows import Row, bullet, loose_of, name_in, same_name
from rolecall.campaign.game.sheet import DM, No, Sheet
from rolecall.campaign.kinds import ENTRY_KINDS, STATE_FILE

HEADING = "Party"
LIVING = ("character", "creature")
_LINK = re.compile(r"\[\[[^\[\]]+\]\]")
_END = re.compile(r"[,:;(]| [-–—] |[.]$")


def member_of(row: Row) -> str:
    """The name a row of the party begins with: its first link if it begins with one, else the words before a comma or colon."""
    linked = _LINK.match(row.text)
    found = _END.search(row.text)
    return name_in(linked[0] if linked else row.text[: found.start()] if found else row.text)


def members(document: Document) -> list[tuple[str, Row]]:
    """(name, row) of everybody in the party."""
    rows = loose_of(document, HEADING)
    return [(name, row) for row in rows if (name := member_of(row))]


def resolve_party(sheet: Sheet, merged: Merged) -> None:
    """Who joins and who leaves."""
    for move in merged.of("party", "join"):
        sheet.attempt("party.join", move.args["who"], move.layer, lambda move=move: _join(sheet, move))
    for move in merged.of("party", "leave"):
        sheet.attempt("party.leave", move.args["who"], move.layer, lambda move=move: _leave(sheet, move))


def _join(sheet: Sheet, move: Move) -> None:
    path = sheet.find(move.args["who"], "", *LIVING)  # the party stands in the open: nobody secret joins it
    sheet.alive(path)
    name, state = sheet.name(path), sheet.state
    there = members(state)
    if any(same_name(one, name) or same_name(one, move.args["who"]) for one, _ in there):
        raise No(f"{name} is in the party already")
    linked = any(row.text.startswith("[[") for _, row in there)
    text = (f"[[{name}]]" if linked else name) + (f", {move.args['note']}" if "note" in move.args else "")
    sheet.put("row", STATE_FILE, HEADING, "", bullet(state, HEADING) + text, reason="joined the party")
    sheet.say(f"{name} is in the party.")


def _leave(sheet: Sheet, move: Move) -> None:
    who = name_in(move.args["who"])
    path = sheet.look(who, "", *LIVING)
    names = [who, sheet.name(path)] if path else [who]
    row = next((row for one, row in members(sheet.state) if any(same_name(one, name) for name in names)), None)
    if row is None:
        raise No(f"{who} is not in the party")
    why = f" ({move.args['why']})" if "why" in move.args else ""
    said = row.text.strip()
    about = f"Left the party{why}" + (f"; it said of them: {said}" if not same_name(said, names[-1]) else "")
    sheet.keep(path, who, f"{about}.", "left the party")
    sheet.put("row", STATE_FILE, HEADING, row.raw, "", reason="left the party")
    sheet.say(f"{names[-1]} is no longer in the party.")


def resolve_status(sheet: Sheet, merged: Merged) -> None:
    """How somebody or something stands: of two layers the first heard counts, of one layer its last word."""
    told: dict[str, Move] = {}
    for move in merged.of("status"):
        path = sheet.look(move.args["who"], move.layer, *ENTRY_KINDS) or move.args["who"]
        if path in told and told[path].layer != move.layer:
            told_by = told[path].layer
            sheet.attempt("status", move.args["who"], move.layer, lambda by=told_by: _beaten(by))
            continue
        told[path] = move
    for move in told.values():
        sheet.attempt("status", move.args["who"], move.layer, lambda move=move: _status(sheet, move))


def _beaten(layer: str) -> None:
    raise No(f"the {layer.replace('_', ' ')} said otherwise")


def _status(sheet: Sheet, move: Move) -> None:
    path = sheet.find(move.args["who"], move.layer, *ENTRY_KINDS)
    if sheet.is_dead(path) and not deaths.is_dead(move.args["status"]) and move.layer != DM:
        raise No(f"{sheet.name(path)} is dead; only the DM can bring somebody back")
    sheet.value(path, "status", move.args["status"], noted=True, reason="how they stand")
    sheet.say(f"{sheet.name(path)}: {move.args['status']}.", path)
