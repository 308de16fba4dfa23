"""A character card written, V2 or V3, as JSON or in a PNG. An imported one is laid over its original.

Where original and card have the same spec, what nobody changed goes back field for field. From another spec its fields go
over whole, unknown ones too; what the new spec demands and the old one had not is filled in empty.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from rolecall.campaign import files
from rolecall.campaign.folder import Campaign
from rolecall.errors import ExchangeError
from rolecall.exchange import bookmaking, characterbook, charactercard, formats, held, loose, png
from rolecall.exchange.card import Card
from rolecall.exchange.held import Held
from rolecall.exchange.selection import Item, Person

SPECS = {2: "chara_card_v2", 3: "chara_card_v3"}
# A card's text: its field in every spec.
FIELDS = {
    "name": "name", "description": "description", "personality": "personality", "scenario": "scenario",
    "first_message": "first_mes", "examples": "mes_example", "greetings": "alternate_greetings", "tags": "tags",
    "group_greetings": "group_only_greetings",
}  # fmt: skip
_NEW = {
    "name": "", "description": "", "personality": "", "scenario": "", "first_mes": "", "mes_example": "",
    "creator_notes": "", "system_prompt": "", "post_history_instructions": "", "alternate_greetings": [], "tags": [],
    "creator": "", "character_version": "", "extensions": {},
}  # fmt: skip
_NOTES = "creatorcomment"  # what V1 called `creator_notes`, in SillyTavern's own copies


def value(campaign: Campaign, person: Person, items: Sequence[Item], more: Sequence[Item], version: int) -> dict:
    """The JSON object of a card. `items` are the entries of its import, `more` others that shall be in its book."""
    one = person.held
    if one is not None and bookmaking.shape_of(one.parcel.format) is characterbook:
        whole = bookmaking.original(campaign, one)
        if bookmaking.over(whole, one, items, characterbook):
            _forget_copies(whole, one)
        _lay(whole, person.now, held.changed(person.old, person.now))
        if whole.get("spec") != SPECS[version] or not isinstance(whole.get("data"), dict):
            whole = _converted(whole, person.now, version)
    else:
        whole = _whole(_fields(person.now), version)
        more = [*items, *more]
    if more:
        bookmaking.add(_entries(whole["data"], person.now.name), bookmaking.rows(more, characterbook), characterbook)
    return whole


def encoded(whole: object) -> bytes:
    """JSON as bytes: UTF-8 as it reads, or ASCII where a lone surrogate of the source must be kept."""
    try:
        text = json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False)
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(whole, ensure_ascii=True, indent=2).encode() + b"\n"
    except ValueError:
        raise ExchangeError(
            "a number in the original is past all measure", remedy="mend it, and import it anew"
        ) from None


def in_png(whole: dict, picture: bytes, place: object, version: int) -> bytes:
    """A PNG that carries the card: `chara`, and for V3 `ccv3` beside a `chara` for programs that read V2 alone."""
    if version == 2:
        return png.with_cards(picture, {"chara": encoded(whole)}, place)
    older = {**whole, "spec": SPECS[2], "spec_version": "2.0"}
    return png.with_cards(picture, {"chara": encoded(older), "ccv3": encoded(whole)}, place)


def picture_of(campaign: Campaign, person: Person) -> tuple[bytes, str]:
    """(PNG, what it is) for a card nobody named a picture for: the one it came in, else a plain one."""
    if person.held is not None:
        place = files.locate(campaign.root, person.held.original)
        data = formats.contents(place)
        if data.startswith(png.SIGNATURE):
            return data, "the picture it came in"
    return png.plain(person.now.name), "a plain picture"


def _lay(whole: dict, now: Card, names: frozenset[str]) -> None:
    """Write the changed texts into the card, and into copies of the old ones that stand beside `data`."""
    fields = whole["data"] if isinstance(whole.get("data"), dict) else whole
    for name in names & FIELDS.keys():
        own = FIELDS[name]
        new = getattr(now, name)
        new = list(new) if isinstance(new, tuple) else new
        if own in whole:
            whole[own] = new
        fields[own] = new
        if name == "description":
            fields.pop("content", None)  # of a persona: it is part of the description


def _forget_copies(whole: dict, one: Held) -> None:
    """Take out further copies of a book that was changed: they would bring back what is gone."""
    read = next((entry.at for book in one.parcel.books for entry in book.entries), "")
    data = whole["data"] if isinstance(whole.get("data"), dict) else {}
    for under, box in (("data/", data), ("", whole)):
        for more, place in (("", box), ("extensions/", loose.mapping(box.get("extensions")))):
            if not read.startswith(f"{under}{more}character_book/"):
                place.pop("character_book", None)


def _converted(whole: dict, now: Card, version: int) -> dict:
    """The card under another spec."""
    if isinstance(whole.get("data"), dict):
        fields = dict(whole["data"])
    else:
        known = {*_NEW, "character_book", "nickname", "group_only_greetings", "spec", "spec_version", _NOTES}
        fields = {key: held_ for key, held_ in whole.items() if key in known - {"spec", "spec_version", _NOTES}}
        fields["creator_notes"] = whole.get("creator_notes") or whole.get(_NOTES) or ""
        extra = {key: held_ for key, held_ in whole.items() if key not in known}
        fields["extensions"] = {**extra, **loose.mapping(whole.get("extensions"))}
    if "content" in fields and whole.get("spec") == charactercard.PERSONA:
        fields.pop("content")
        fields["description"] = now.description
    if now.is_player:
        more = loose.mapping(fields.get("extensions"))
        kind = {**loose.mapping(more.get("rolecall")), "type": "persona"}
        fields["extensions"] = {**more, "rolecall": kind}
    return _whole(fields, version)


def _whole(fields: dict, version: int) -> dict:
    data = {key: list(held_) if isinstance(held_, list) else held_ for key, held_ in _NEW.items()}
    data["extensions"] = {}
    data |= fields
    if version == 3:
        data.setdefault("group_only_greetings", [])
    return {"spec": SPECS[version], "spec_version": f"{version}.0", "data": data}


def _fields(card: Card) -> dict:
    """The fields of a card from elsewhere, or of the campaign's own character."""
    made: dict[str, object] = {}
    for name, own in FIELDS.items():
        held_ = getattr(card, name)
        if held_ or own in _NEW:
            made[own] = list(held_) if isinstance(held_, tuple) else held_
    told = "\n".join(f"{label}: {text}" for label, text in card.attributes)
    made["description"] = "\n\n".join(filter(None, (card.description, told)))
    made["creator"] = card.creator
    if card.nickname:
        made["nickname"] = card.nickname
    if card.is_player:
        made["extensions"] = {"rolecall": {"type": "persona"}}
    return made


def _entries(data: dict, name: str) -> dict | list:
    """The entries of a card's book, which is made where there is none."""
    for box in (data, loose.mapping(data.get("extensions"))):
        book = box.get("character_book")
        if isinstance(book, dict) and isinstance(book.get("entries"), dict | list):
            return book["entries"]
    data["character_book"] = {"name": name, "extensions": {}, "entries": []}
    return data["character_book"]["entries"]
