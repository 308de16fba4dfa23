"""A JSON Schema (draft 7, which every editor knows) for the front matter of each kind, for editors that complete and check while one types.

They lie in the template's `schemas/`, made from `kinds` by `files`. They forbid nothing that RoleCall allows: unknown fields are
welcome, and a text may be typed so that YAML takes it for a number, a date or a boolean.
"""

from __future__ import annotations

import json

from rolecall.campaign import kinds
from rolecall.campaign.kinds import ENTRY_KINDS

FOLDER = "schemas"
DRAFT = "http://json-schema.org/draft-07/schema#"

_TEXT = ["string", "number", "boolean", "null"]
_NOTES = {
    **kinds.FIELD_NOTES,
    "kind": "what sort of entry this is; it wins over the folder",
    "tags": "your own words for grouping",
    "pinned": "true: always before the game master's eyes",
    "locked": "true: the game only proposes changes",
    "forgotten": "a turn and a reason: out of play, still on disk",
    "visibility": "secret: hidden from the narrator and the player",
    "source": "where it comes from; the game writes the turn",
    "secret": "hidden from the narrator and the player",
}


def schema_of(kind: str) -> dict:
    """The schema of a kind's front matter."""
    own = ENTRY_KINDS[kind]
    fields = {**kinds.COMMON, **own.fields}
    return {
        "$schema": DRAFT,
        "title": f"{kind}: {own.about}",
        "type": "object",
        "properties": {key: _property(kind, key, type_) for key, type_ in fields.items()},
        "required": ["name"],
        "additionalProperties": True,
    }


def _property(kind: str, key: str, type_: str) -> dict:
    about = {"description": _NOTES[key]} if key in _NOTES else {}
    if key == "kind":
        return {**about, "enum": [kind]}
    if type_ == "flag":
        return {**about, "type": ["boolean", "string", "null"]}
    if type_ == "names":
        return {**about, "type": [*_TEXT, "array"], "items": {"type": [*_TEXT, "array"]}}
    if type_ == "items":
        order = (*kinds.ITEM_KEYS[key], *kinds.ITEM_NUMBERS.get(key, ()))
        item = {"type": ["object", "string", "array"], "properties": {k: {"type": [*_TEXT, "array"]} for k in order}}
        return {**about, "type": ["array", "null"], "items": {**item, "required": [order[0]]}}
    return {**about, "type": [*_TEXT, "array"] if type_ == "name" else _TEXT}  # an unquoted [[Sera]] is a list to YAML


def files() -> dict[str, bytes]:
    """What belongs into the template: path and bytes of each schema."""
    made = {}
    for kind in ENTRY_KINDS:
        text = json.dumps(schema_of(kind), ensure_ascii=False, indent=2) + "\n"
        made[f"{FOLDER}/{kind}.schema.json"] = text.encode()
    return made
