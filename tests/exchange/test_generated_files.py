"""Lorebooks, cards and rubbish that Hypothesis makes: nothing is lost, and nothing but a clear error is ever raised."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rolecall.campaign.documents import parse
from rolecall.campaign.text import clean, clean_line, fold
from rolecall.errors import ExchangeError
from rolecall.exchange import formats, jsonfile, planning, png, receipt
from rolecall.exchange.pages import MAX_KEY
from tests.campaign.writing import bounded
from tests.exchange import foreign

texts = st.text(st.characters(), max_size=60)
lines = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
entries = st.fixed_dictionaries(
    {"content": texts.filter(lambda t: clean(t).strip()), "key": st.lists(texts, max_size=5)},
    optional={
        "comment": texts, "keysecondary": st.lists(texts, max_size=3), "constant": st.booleans(), "disable": st.booleans(),
        "selective": st.booleans(), "selectiveLogic": st.integers(0, 3), "position": st.integers(0, 7), "order": st.integers(),
        "probability": st.integers(0, 100), "group": texts, "unknown": anything,
    },
)  # fmt: skip


def plan_of(value: object, name: str = "book.json") -> planning.Plan:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    parcel = formats.parcel(data, Path(name))
    return planning.plan(parcel, name, data, taken=lambda _: False, names=())


@bounded
@given(st.lists(entries, min_size=1, max_size=6))
def test_every_text_key_and_flag_of_a_world_info_is_found_again(rows):
    plan = plan_of(foreign.world(*rows))
    assert len(plan.made) + len(plan.refused) == len(rows)
    assert len({made.path.casefold() for made in plan.made}) == len(plan.made)
    kept = {row["at"]: row for row in json.loads(plan.map)["made"]}
    for number, row in enumerate(rows):
        made = next((m for m in plan.made if m.page.at == f"entries/{number}"), None)
        assert made is not None
        note = parse(made.data, made.path)
        assert note.body.decode() == clean(row["content"]).rstrip() + "\n"
        assert note.fields.get("pinned", "") == ("true" if row.get("constant") else "")
        assert ("forgotten" in note.fields) == bool(row.get("disable"))
        shown = {fold(k) for part in ("aliases", "keys", "keys_regex") for k in note.fields.get(part, ())}
        lost = {fold(clean_line(key, MAX_KEY + 1)) for key in row["key"]} - shown
        assert lost <= {fold(note.text("name")), ""}
        assert kept[made.page.at]["keys"] == [key.strip() for key in row["key"] if key.strip()]
        own = {"uid": number, **row}
        assert kept[made.page.at]["fields"] == {k: v for k, v in own.items() if v != row["content"]}
    receipt.write(plan).encode()


@bounded
@given(
    st.fixed_dictionaries(
        {"name": texts.filter(lambda t: t.strip()), "description": texts},
        optional={
            "personality": texts, "scenario": texts, "first_mes": texts, "mes_example": texts, "tags": st.lists(texts, max_size=3),
            "alternate_greetings": st.lists(texts, max_size=3), "nickname": texts, "creator": texts, "odd": anything,
        },
    )
)  # fmt: skip
def test_every_text_of_a_card_is_found_again_however_it_travels(fields):
    card = {"spec": "chara_card_v2", "spec_version": "2.0", "data": fields}
    for data in (json.dumps(card).encode(), foreign.png(foreign.squeezed("chara", card))):
        (made,) = plan_of(data, "card.png").made
        body = parse(made.data, made.path).body.decode()
        for key in ("description", "personality", "scenario", "first_mes", "mes_example"):
            assert clean(fields.get(key, "")).strip() in body
        for text in fields.get("alternate_greetings", ()):
            assert clean(text).strip() in body


@bounded
@given(st.binary(max_size=200) | texts.map(lambda t: t.encode("utf-8", "replace")))
def test_no_bytes_raise_anything_but_a_clear_error(data):
    for given_ in (data, foreign.SIGNATURE + data, b"PK\x03\x04" + data, b"\xff\xd8\xff" + data + b"PK\x05\x06" + data):
        with suppress(ExchangeError):
            formats.parcel(given_, Path("x"))


@bounded
@given(st.binary(max_size=80), st.sampled_from([b"tEXt", b"zTXt", b"iTXt"]), st.sampled_from(png.KEYWORDS))
def test_no_text_chunk_raises_anything_but_a_clear_error(body, kind, keyword):
    with suppress(ExchangeError):
        formats.parcel(foreign.png(foreign.chunk(kind, keyword.encode() + b"\0" + body)), Path("x"))


_ENTRY = {"comment": "Well", "name": "Well", "content": "Deep.", "text": "Deep.", "entry": "Deep.", "keys": ["a"], "key": "a, /b/",
          "keywords": ["a"], "secondary_keys": ["c"], "extensions": {"position": 4, "depth": 2}, "mode": "normal", "folder": "f",
          "extentions": {"risu_case_sensitive": True}, "contextConfig": {"budgetPriority": 1}, "category": "c1", "id": 1,
          "triggers": {"primary": [{"keyword": "a"}]}, "injection": {"depth": 1}, "grouping": {"categoryId": "c1"}}  # fmt: skip
_BOOK = {"name": "B", "entries": [_ENTRY], "categories": [{"id": "c1", "name": "Places"}]}
_PERSON = {
    "name": "Kit",
    "description": "Calm.",
    "base_attributes": {"age": "3"},
    "details": {"q": "a"},
    "example_dialogue": ["x"],
}
SEEDS = (
    {"entries": {"0": _ENTRY}, "name": "W"},
    foreign.card(character_book=_BOOK, assets=[{"type": "icon"}]),
    {"name": "V1", "description": "d", "personality": "p", "first_mes": "f"},
    {"spec": "rolecall_persona", "data": {"name": "K", "content": "c", "sections": {"body": "b"}}},
    {"spec": "lorebook_v3", "data": _BOOK},
    {"type": "risu", "ver": 1, "data": [_ENTRY, {**_ENTRY, "mode": "folder", "key": "f"}]},
    {"type": "risuModule", "module": {"name": "M", "lorebook": [_ENTRY], "cjs": "x"}},
    {"kind": "memory", **_BOOK},
    {"kind": "character", "name": "I", "persona": {"kind": "text", "attributes": {"text": ["t"]}}, "characterBook": _BOOK},
    {"lorebookVersion": 5, **_BOOK},
    {"scenarioVersion": 1, "title": "S", "prompt": "p", "context": [{"text": "m"}], "lorebook": _BOOK},
    {"storyContainerVersion": 1, "metadata": {"title": "S"}, "content": {"context": [{"text": "m"}], "lorebook": _BOOK}},
    {"gamestarted": True, "actions": ["a"], "memory": "m", "worldinfo": [_ENTRY], "wifolders_d": {"f": {"name": "F"}},
     "savedsettings": {"key": "x"}},
    {"name": "T", "intro": "i", "environment": "scene", "character_data": {"Kit": _PERSON}, "archived_history": [{"text": "h", "ts": "P1"}],
     "world_state": {"manual_context": {"e": {"id": "e", "text": "t", "meta": {"typ": "x"}}}, "pins": {"e": {"active": True}}}},
    {"schemaVersion": "1", "lorebook": _BOOK},
)  # fmt: skip


def changed(value: object, choices: list[int], new: object) -> object:
    """The value with the part that the choices lead to replaced."""
    if not choices or not isinstance(value, dict | list) or not value:
        return new
    if isinstance(value, dict):
        key = list(value)[choices[0] % len(value)]
        return {**value, key: changed(value[key], choices[1:], new)}
    at = choices[0] % len(value)
    return [*value[:at], changed(value[at], choices[1:], new), *value[at + 1 :]]


@settings(bounded, max_examples=400)
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.lists(st.integers(0, 40), min_size=1, max_size=5), anything), max_size=3),
)
def test_an_export_with_any_part_of_it_replaced_is_taken_or_refused_clearly(value, changes):
    for choices, new in changes:
        value = changed(value, choices, new)
    try:
        plan = plan_of(value)
    except ExchangeError:
        assert changes
        return
    assert len(plan.made) + len(plan.refused) == plan.parcel.count
    for made in plan.made:
        parse(made.data, made.path)
    receipt.write(plan).encode()
    json.dumps(receipt.to_json(plan)).encode()


@bounded
@given(st.lists(st.tuples(lines, scalars), max_size=6))
def test_a_key_that_stands_twice_is_always_seen(pairs):
    keys = [key for key, _ in pairs]
    data = "{" + ",".join(f"{json.dumps(key)}:{json.dumps(value)}" for key, value in pairs) + "}"
    value = jsonfile.loads(data.encode(), "x")
    doubled = len(set(keys)) < len(keys)
    assert isinstance(value, jsonfile.Doubled) == doubled
    assert bool(jsonfile.twice([{"in": value}])) == bool(doubled and jsonfile.twice(value))
