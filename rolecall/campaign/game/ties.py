"""What people think of each other: `affinity` of an entry towards the party, and of an item of `relationships` towards another."""

from __future__ import annotations

from rolecall.campaign.frontmatter import Value
from rolecall.campaign.game import edits, numbers
from rolecall.campaign.game.directives import Merged, Move
from rolecall.campaign.game.rows import name_in, same_name
from rolecall.campaign.game.sheet import PARTY, No, Sheet
from rolecall.campaign.game.world import is_secret
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.campaign.merging import ARROW
from rolecall.campaign.references import names_of

AFFINITY, FIELD = "affinity", "relationships"


def resolve_ties(sheet: Sheet, merged: Merged) -> None:
    """Each tie at once: of values that are set those of the first layer heard, then the sum of the changes."""
    asked: dict[tuple[str, str], list[Move]] = {}
    for move in merged.of("relationships"):
        who = sheet.look(move.args["who"], move.layer, *ENTRY_KINDS) or name_in(move.args["who"]).casefold()
        other = move.args.get("with", "party")
        other = (
            ""
            if other.strip().casefold() in PARTY
            else sheet.look(other, move.layer, *ENTRY_KINDS) or name_in(other).casefold()
        )
        asked.setdefault((who, other), []).append(move)
    for (_, other), moves in asked.items():
        args, layer = _one(moves), moves[0].layer
        what = f"{args['who']}, {args.get('with', 'the party')}"
        change = _towards_party if not other else _towards
        sheet.attempt(
            "relationships", what, layer, lambda change=change, args=args, layer=layer: change(sheet, args, layer)
        )


def _one(moves: list[Move]) -> dict:
    """The moves about one tie as one: set before change."""
    args: dict = {}
    said_by: dict[str, str] = {}
    for move in moves:
        for key, value in move.args.items():
            if key == "change":
                args[key] = args.get(key, 0) + value
            elif said_by.setdefault(key, move.layer) == move.layer:
                args[key] = value
    return args


def _affinity(sheet: Sheet, old: str, args: dict, whose: str) -> tuple[int, str]:
    """(the affinity from now on, its text)."""
    number = numbers.read(old) if old.strip() else None
    if old.strip() and number is None:
        raise No(f"the affinity of {whose} cannot be read: {old!r}")
    rules, now = sheet.world.rules(), number.value if number else 0
    start = args.get("set", now)
    was = now if "set" not in args else None
    value = numbers.bounded(start + args.get("change", 0), rules.affinity_lowest, rules.affinity_highest, was)
    return value, number.changed(value) if number and number.text[number.start - 1 : number.start] != "+" else str(
        value
    )


def _counts(args: dict) -> bool:
    return "set" in args or "change" in args


def _towards_party(sheet: Sheet, args: dict, layer: str) -> None:
    path = sheet.find(args["who"], layer, *ENTRY_KINDS)
    name = sheet.name(path)
    if "nature" in args or "status" in args:
        raise No("nature and status are said of ties to somebody: name them in `with`")
    if not _counts(args):
        raise No("say by how much the affinity changes, or what it is now")
    value, text = _affinity(sheet, sheet.doc(path).text(AFFINITY), args, name)
    sheet.value(path, AFFINITY, text, reason="affinity")
    sheet.say(f"{name}'s affinity to the party is {value}.", path)


def _towards(sheet: Sheet, args: dict, layer: str) -> None:
    path, other = (sheet.find(args[key], layer, *ENTRY_KINDS) for key in ("who", "with"))
    if path == other:
        raise No("that is one and the same")
    if is_secret(sheet.doc(other)) and not is_secret(sheet.doc(path)):
        raise No("an open entry would show what is hidden", secret=True)
    name, towards = sheet.name(path), sheet.name(other)
    if not any(key in args for key in ("change", "set", "nature", "status")):
        raise No("say what of it changes")
    document = sheet.doc(path)
    listed = document.fields.get(edits.held_key(document, FIELD), "")
    old = (
        next((one for one in listed if _is_with(one, towards, args["with"])), None)
        if isinstance(listed, list)
        else None
    )
    new, lines = _changed(sheet, old, towards, args, f"{name} to {towards}")
    if new != old:
        sheet.put("item", path, FIELD, edits.item_text(old or ""), edits.item_text(new), *lines, reason="a tie")
    said = [str(new[key]) for key in ("nature", "status") if new.get(key)] + (
        [f"affinity {new[AFFINITY]}"] if new.get(AFFINITY) else []
    )
    sheet.say(f"{name} to {towards}: {', '.join(said)}.", path)


def _is_with(item: Value, *names: str) -> bool:
    return any(same_name(known, name) for known in names_of(item)[:1] for name in names)


def _changed(sheet: Sheet, old: Value | None, towards: str, args: dict, whose: str) -> tuple[dict, list[str]]:
    """(the item from now on, lines that keep what its words said before)."""
    item: dict[str, Value] = dict(old) if isinstance(old, dict) else {"with": old or towards}
    lines = []
    for key in ("nature", "status"):
        held = next((k for k in item if k.casefold() == key), key)
        before = item.get(held, "")
        if key in args and before != args[key]:
            item[held] = args[key]
            if isinstance(before, str) and before.strip():
                lines.append(f"{FIELD}, {towards}: {key} {before}{ARROW}{args[key]}")
    if _counts(args):
        held = next((k for k in item if k.casefold() == AFFINITY), AFFINITY)
        before = item.get(held, "")
        item[held] = _affinity(sheet, before if isinstance(before, str) else "?", args, whose)[1]
    return item, lines
