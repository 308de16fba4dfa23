"""Lines of records that anybody may have damaged: an effect of another shape is none, and none is read twice differently."""

from __future__ import annotations

import json

import pytest

from rolecall.campaign import plans, recordlines, records, summaries
from rolecall.campaign.effects import Effect, decode, edit_of, encode
from rolecall.campaign.files import create

SOUND = {
    "op": "record",
    "path": "characters/sera.md",
    "turn": 4,
    "key": "character",
    "facts": {"name": "Sera", "aliases": ["Sera Vane"]},
}


@pytest.mark.parametrize(
    "damage",
    [
        {"op": []}, {"op": {}}, {"op": None}, {"op": "nothing"}, {"text": 5}, {"facts": {"name": "Sera", "age": 7}}, {"facts": {"name": "Sera", "x": [None]}},
        {"facts": {"name": ["Sera"]}}, {"facts": {}}, {"facts": []}, {"key": "nobody"}, {"op": "facts", "key": ""}, {"op": "absorb", "key": "arc"},
        {"op": "item", "text": "{"}, {"op": "item", "was": "7"}, {"op": "item", "text": "[" * 100_000}, {"lines": [3]}, {"turn": True}, {"more": 1},
    ],
    ids=", ".join,
)  # fmt: skip
def test_an_effect_of_another_shape_is_none(damage: dict) -> None:
    assert recordlines.is_effect(SOUND)
    assert not recordlines.is_effect({**SOUND, **damage})


@pytest.mark.parametrize(
    "effects", [5, [5], [{"op": "summary"}], [{"op": [], "path": "arcs/a.md", "turn": 1}], None], ids=str
)
def test_a_damaged_note_of_the_historian_is_none(effects: object, campaign) -> None:
    line = {"do": "historian", "first": 1, "last": 3, "why": "", "effects": effects}
    create(campaign, f"{records.TURNS}/T0003/record.jsonl", json.dumps(line).encode() + b"\n")
    assert summaries.notes(campaign, f"{records.TURNS}/T0003") == []
    assert summaries.own(campaign) == frozenset()


@pytest.mark.parametrize(
    ("op", "path"), [("arc", "arcs/a.md"), (plans.DATED, plans.SHADOW), ("history", "characters/a.md")]
)
def test_a_line_without_words_is_written_once_as_any_other(op: str, path: str) -> None:
    effect = decode(encode(Effect(op, path, 7)))
    once = edit_of(effect)(b"---\nname: A\n---\n")
    assert edit_of(effect)(once) == once
