"""What somebody carries: the items of an entry's `inventory`, `{item: torch, count: 3}`, `{item: sword, worn: hand}`, or `3 torches`.

A thing with an entry of its own says in `holder` who has it; that follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rolecall.campaign.documents import Document
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.game import edits, numbers, resources
from rolecall.campaign.game.company import LIVING, members
from rolecall.campaign.game.directives import Merged, Move
from rolecall.campaign.game.rows import name_in, same_name
from rolecall.campaign.game.sheet import No, Sheet
from rolecall.campaign.kinds import TRUE
from rolecall.campaign.merging import key_of

FIELD = "inventory"
_TEXT = re.compile(r"(?P<n>[0-9]{1,7})\s*[x×]?\s+(?P<a>\D+)|(?P<b>\D+?)\s*(?:[x×]\s*|\()(?P<m>[0-9]{1,7})\)?")
_NOT_WORN = {"", "no", "false", "off", "0"}


@dataclass(frozen=True, slots=True)
class Carried:
    """A thing somebody carries: what it is, how many (None where that cannot be read), where it is worn, the item itself."""

    name: str
    count: int | None
    worn: str
    item: Value

    def with_count(self, count: int) -> Value:
        """The item with another count; "" for none of it."""
        if count < 1:
            return ""
        if isinstance(self.item, dict):
            key = next((k for k in self.item if k.casefold() == "count"), "count")
            number = numbers.read(self.item[key]) if key in self.item else None
            return {**self.item, key: number.changed(count) if number else str(count)}
        number = numbers.read(self.item)
        return number.changed(count) if number else {"item": self.item, "count": str(count)}

    def worn_at(self, where: str) -> Value:
        """The item worn somewhere, or ("") no longer worn."""
        item = (
            dict(self.item)
            if isinstance(self.item, dict)
            else {"item": self.name, **({"count": str(self.count)} if self.count != 1 else {})}
        )
        key = next((k for k in item if k.casefold() == "worn"), "worn")
        if where:
            return {**item, key: where}
        item.pop(key, None)
        return item


def carried_by(document: Document) -> list[Carried]:
    """The things of an entry's inventory in order."""
    listed = document.fields.get(edits.held_key(document, FIELD), "")
    return [one for item in listed if (one := _carried(item))] if isinstance(listed, list) else []


def _carried(item: Value) -> Carried | None:
    if isinstance(item, str):
        found = _TEXT.fullmatch(item.strip())
        if found and numbers.read(item):
            return Carried(name_in((found["a"] or found["b"]).strip()), int(found["n"] or found["m"]), "", item)
        return Carried(name_in(item), None if any(c.isdigit() for c in item) else 1, "", item) if item.strip() else None
    if not isinstance(item, dict) or not all(isinstance(value, str) for value in item.values()):
        return None
    fields = {key.casefold(): value for key, value in item.items()}
    name = fields.get("item") or next(iter(item.values()), "")
    number = numbers.read(fields["count"]) if fields.get("count", "").strip() else None
    count = number.value if number else None if fields.get("count", "").strip() else 1
    worn = fields.get("worn", "").strip()
    return Carried(name_in(name), count, "" if worn.casefold() in _NOT_WORN else worn, item)


def same_thing(one: str, other: str) -> bool:
    """Whether two words for a thing are one, singular and plural aside."""
    a, b = key_of(one), key_of(other)
    return bool(a) and (a == b or any(x + end == y for x, y in ((a, b), (b, a)) for end in ("s", "es")))


def resolve_inventory(sheet: Sheet, merged: Merged) -> None:
    """Things given, taken, passed on, put on and put off, in that order."""
    verbs = {"give": _give, "take": _take, "transfer": _transfer, "equip": _equip, "unequip": _unequip}
    for verb, change in verbs.items():
        for move in merged.of("inventory", verb):
            what = f"{move.args.get('who') or move.args['from']}, {move.args['item']}"
            sheet.attempt(f"inventory.{verb}", what, move.layer, lambda move=move, change=change: change(sheet, move))


def _bearer(sheet: Sheet, name: str, layer: str, *, acting: bool = True) -> str:
    path = sheet.find(name, layer, *LIVING)
    if acting:
        sheet.alive(path)
    return path


def _held(sheet: Sheet, path: str, name: str) -> Carried | None:
    every = carried_by(sheet.doc(path))
    exact = [one for one in every if same_name(one.name, name)]
    found = exact or [one for one in every if same_thing(one.name, name)]
    if len(found) > 1:
        raise No(f"{sheet.name(path)} has {len(found)} entries for {name_in(name)}")
    if found and found[0].count is None:
        raise No(f"how many {found[0].name} {sheet.name(path)} has cannot be read")
    return found[0] if found else None


def _money(sheet: Sheet, path: str, name: str) -> None:
    """No where a thing is one of the party's resources."""
    own = sheet.name(path)
    if any(same_name(one, own) for one, _ in members(sheet.state)):
        counted = next((r.name for r in resources.resources_of(sheet.state) if same_thing(r.name, name)), None)
        if counted:
            raise No(f"{counted} is one of the party's resources; change it there")


def _add(sheet: Sheet, path: str, name: str, count: int, like: Carried | None = None) -> None:
    old = _held(sheet, path, name)
    if old is not None:
        new = old.with_count(old.count + count)
        sheet.put("item", path, FIELD, edits.item_text(old.item), edits.item_text(new), reason="has it now")
        return
    own = sheet.look(name, "", "item")
    word = sheet.name(own) if own else like.name if like else name_in(name)
    new = {"item": word, **({"count": str(count)} if count != 1 else {})}
    sheet.put("item", path, FIELD, "", edits.item_text(new), reason="has it now")


def _less(sheet: Sheet, path: str, name: str, count: int) -> Carried:
    old = _held(sheet, path, name)
    if old is None or old.count < count:
        raise No(f"{sheet.name(path)} has {old.count if old else 'no'} {name_in(name)}")
    sheet.put(
        "item",
        path,
        FIELD,
        edits.item_text(old.item),
        edits.item_text(old.with_count(old.count - count)),
        reason="has it no more",
    )
    return old


def _holder(sheet: Sheet, name: str, layer: str, who: str, before: str) -> None:
    """An item's own entry says who has it: `who`, or nobody where it had `before`."""
    path = sheet.look(name, layer, "item")
    if path is None:
        return
    old = sheet.doc(path).text("holder")
    if who and not same_name(old, who):
        sheet.value(path, "holder", f"[[{who}]]" if old.startswith("[[") else who, noted=True, reason="who has it")
    elif not who and same_name(old, before):
        sheet.value(path, "holder", "", noted=True, reason="who has it")


def _say(sheet: Sheet, path: str, name: str) -> None:
    held = _held(sheet, path, name)
    words = f"{sheet.name(path)} has {held.count if held else 'no'} {held.name if held else name_in(name)}."
    sheet.say(words, path, about=f"{path}: {key_of(held.name if held else name)}")


def _give(sheet: Sheet, move: Move) -> None:
    path = _bearer(sheet, move.args["who"], move.layer)
    _money(sheet, path, move.args["item"])
    _add(sheet, path, move.args["item"], move.args.get("count", 1))
    _holder(sheet, move.args["item"], move.layer, sheet.name(path), "")
    _say(sheet, path, move.args["item"])


def _take(sheet: Sheet, move: Move) -> None:
    path = _bearer(sheet, move.args["who"], move.layer, acting=False)
    _less(sheet, path, move.args["item"], move.args.get("count", 1))
    if _held(sheet, path, move.args["item"]) is None:
        _holder(sheet, move.args["item"], move.layer, "", sheet.name(path))
    _say(sheet, path, move.args["item"])


def _transfer(sheet: Sheet, move: Move) -> None:
    giver = _bearer(sheet, move.args["from"], move.layer, acting=False)
    taker = _bearer(sheet, move.args["to"], move.layer)
    if giver == taker:
        raise No("it stays with the same one")
    item, count = move.args["item"], move.args.get("count", 1)
    _money(sheet, taker, item)
    old = _less(sheet, giver, item, count)
    _add(sheet, taker, item, count, old)
    _holder(sheet, item, move.layer, sheet.name(taker), "")
    _say(sheet, giver, item)
    _say(sheet, taker, item)


def _equip(sheet: Sheet, move: Move) -> None:
    path = _bearer(sheet, move.args["who"], move.layer)
    old = _held(sheet, path, move.args["item"])
    if old is None:
        raise No(f"{sheet.name(path)} has no {name_in(move.args['item'])}")
    where = move.args.get("where", "yes")
    there = next(
        (one for one in carried_by(sheet.doc(path)) if one != old and one.worn and same_name(one.worn, where)), None
    )
    if there and where.casefold() not in TRUE:
        raise No(f"{sheet.name(path)} wears {there.name} there")
    sheet.put("item", path, FIELD, edits.item_text(old.item), edits.item_text(old.worn_at(where)), reason="puts it on")
    sheet.say(f"{sheet.name(path)} wears {old.name}{'' if where.casefold() in TRUE else f' ({where})'}.", path)


def _unequip(sheet: Sheet, move: Move) -> None:
    path = _bearer(sheet, move.args["who"], move.layer, acting=False)
    old = _held(sheet, path, move.args["item"])
    if old is None or not old.worn:
        raise No(f"{sheet.name(path)} does not wear {name_in(move.args['item'])}")
    sheet.put(
        "item", path, FIELD, edits.item_text(old.item), edits.item_text(replace(old).worn_at("")), reason="takes it off"
    )
    sheet.say(f"{sheet.name(path)} no longer wears {old.name}.", path)
