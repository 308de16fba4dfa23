"""The map: places found, the ways between them, and who goes where."""

from __future__ import annotations

from rolecall.campaign.frontmatter import Value
from rolecall.campaign.game import edits
from rolecall.campaign.game.company import LIVING, members
from rolecall.campaign.game.directives import Merged, Move
from rolecall.campaign.game.rows import name_in, same_name
from rolecall.campaign.game.sheet import PARTY, No, Sheet
from rolecall.campaign.game.world import is_secret
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.references import names_of

FIELD, DISCOVERED = "connections", "discovered"


def resolve_map(sheet: Sheet, merged: Merged) -> None:
    """Places discovered, connected, moved to; who is moved twice by one layer is where it said last, else where the first heard said."""
    for move in merged.of("map", "discover"):
        sheet.attempt("map.discover", move.args["place"], move.layer, lambda move=move: _discover(sheet, move))
    for move in merged.of("map", "connect"):
        what = f"{move.args['from']}, {move.args['to']}"
        sheet.attempt("map.connect", what, move.layer, lambda move=move: _connect(sheet, move))
    moved: dict[str, str] = {}
    for move in merged.of("map", "move"):
        who = (
            "party"
            if move.args["who"].strip().casefold() in PARTY
            else sheet.look(move.args["who"], move.layer, *LIVING) or ""
        )
        by = moved.setdefault(who, move.layer)
        what = f"{move.args['who']}, {move.args['to']}"
        sheet.attempt("map.move", what, move.layer, lambda move=move, by=by: _move(sheet, move, by))


def _place(sheet: Sheet, name: str, layer: str) -> str:
    return sheet.find(name, layer, "location")


def _discover(sheet: Sheet, move: Move) -> None:
    path = _place(sheet, move.args["place"], move.layer)
    if is_secret(sheet.doc(path)):
        raise No("it is hidden: the writer has to open it first", secret=True)
    _found(sheet, path)
    sheet.say(f"{sheet.name(path)} is discovered ({sheet.doc(path).text(DISCOVERED)}).")


def _found(sheet: Sheet, path: str) -> None:
    if not sheet.doc(path).text(DISCOVERED).strip():
        sheet.value(path, DISCOVERED, turn_id(sheet.turn), reason="discovered")


def _connect(sheet: Sheet, move: Move) -> None:
    one, other = _place(sheet, move.args["from"], move.layer), _place(sheet, move.args["to"], move.layer)
    if one == other:
        raise No("that is one and the same place")
    both = [(one, other)] if move.args.get("one_way") else [(one, other), (other, one)]
    for start, end in both:
        if is_secret(sheet.doc(end)) and not is_secret(sheet.doc(start)):
            if len(both) == 2 and start == other:
                continue  # the hidden place knows the way; the open one keeps silent
            raise No("an open place would show a hidden one", secret=True)
        _way(sheet, start, sheet.name(end), move.args)
    sheet.say(f"A way from {sheet.name(one)} to {sheet.name(other)}.", one, other)


def _way(sheet: Sheet, path: str, to: str, args: dict) -> None:
    document = sheet.doc(path)
    listed = document.fields.get(edits.held_key(document, FIELD), "")
    old = (
        next((one for one in listed if any(same_name(n, to) for n in names_of(one)[:1])), "")
        if isinstance(listed, list)
        else ""
    )
    new: dict[str, Value] = dict(old) if isinstance(old, dict) else {"to": old or to}
    for key in ("way", "days"):
        if key in args and not new.get(key):  # what the writer wrote of a way stays
            new[key] = str(args[key])
    if new != old and not (isinstance(old, str) and old and len(new) == 1):
        sheet.put("item", path, FIELD, edits.item_text(old), edits.item_text(new), reason="a way")


def _move(sheet: Sheet, move: Move, by: str) -> None:
    if by != move.layer:
        raise No(f"the {by.replace('_', ' ')} moved them already")
    place = _place(sheet, move.args["to"], move.layer)
    name = sheet.name(place)
    if move.args["who"].strip().casefold() in PARTY:
        if is_secret(sheet.doc(place)):
            raise No("the party cannot be where nobody may know of", secret=True)
        _party(sheet, name)
        _found(sheet, place)
        sheet.say(f"The party is at {name}.")
        return
    path = sheet.find(move.args["who"], move.layer, *LIVING)
    sheet.alive(path)
    if is_secret(sheet.doc(place)) and not is_secret(sheet.doc(path)):
        raise No("an open entry would show a hidden place", secret=True)
    _go(sheet, path, name)
    sheet.say(f"{sheet.name(path)} is at {name}.", path, place)


def _party(sheet: Sheet, name: str) -> None:
    """The scene's place changes; those of the party who were there come along, those who were elsewhere stay."""
    old = sheet.state.text("location")
    if not same_name(old, name):
        sheet.value(STATE_FILE, "location", _like(old, name), reason="the party moved")
    for member, _ in members(sheet.state):
        path = sheet.look(member, "", *LIVING)
        here = sheet.doc(path).text("location") if path else ""
        if here and old and same_name(here, old) and not sheet.is_dead(path):
            _go(sheet, path, name)


def _go(sheet: Sheet, path: str, name: str) -> None:
    old = sheet.doc(path).text("location")
    if not same_name(old, name):
        sheet.value(path, "location", _like(old, name), noted=True, reason="went there")


def _like(old: str, name: str) -> str:
    """A name as the field has names: in brackets where the old one stood in brackets."""
    return f"[[{name}]]" if old.strip().startswith("[[") else name_in(name)
