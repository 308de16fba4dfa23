"""Directives as a whole: whatever a layer says is read or refused in words, merging asks for no order, applying twice changes nothing."""

from __future__ import annotations

import json
import re

import fastjsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.campaign import documents
from rolecall.campaign.effects import decode, encode
from rolecall.campaign.game import directives, numbers, schema
from rolecall.campaign.game.directives import LAYERS, SCHEMA, merge, noted_in, read, twice
from rolecall.campaign.recordlines import is_effect, is_sound
from tests.campaign.game.saltmarsh import FILES, STATE, Table, why
from tests.campaign.writing import bounded

# -- what is drawn: fragments as the schema has them, about people and things that are there, gone, dead, locked, secret or nobody

holds = fastjsonschema.compile(SCHEMA)
NAMES = ["Valen", "[[Sera]]", "valen the shadow", "Hob", "Orla", "Varr", "Bandit 1", "Nobody", "Saltmarsh", "Gull Rock", "The Cellar",
         "The Well", "The Old War", "Harvest Fair", "Wake", "party", "Ledger", "silver", "torch", "rope", "rations", "Find the boy"]  # fmt: skip
WORDS = [
    "poisoned",
    "5 Frostmoon 1492",
    "T0044",
    "14:30",
    "a: b",
    "- x",
    "# no heading",
    "---",
    "dead",
    "hand",
    "- [ ] x",
    "(until T0043)",
    "日本語",
    "x\ny",
]


def drawn(shape: dict) -> st.SearchStrategy:
    if shape["type"] == "object":
        needed = {k: drawn(v) for k, v in shape["properties"].items() if k in shape["required"]}
        return st.fixed_dictionaries(
            needed, optional={k: drawn(v) for k, v in shape["properties"].items() if k not in needed}
        )
    if shape["type"] == "array":
        return st.lists(drawn(shape["items"]), min_size=shape.get("minItems", 0), max_size=3)
    if shape["type"] == "integer":
        near = st.integers(max(shape["minimum"], -9), min(shape["maximum"], 30))
        return near | st.integers(shape["minimum"], shape["maximum"])
    if shape["type"] == "boolean":
        return st.booleans()
    if "pattern" in shape:
        return st.sampled_from(["7/7", "3", "9/4"])
    return st.sampled_from(NAMES if shape["maxLength"] == schema.NAME else [*WORDS, *NAMES])


@st.composite
def fragments(draw) -> dict:
    data: dict = {}
    for part in draw(st.lists(st.sampled_from(sorted(schema.PARTS)), min_size=1, max_size=3, unique=True)):
        for verb in draw(st.lists(st.sampled_from(sorted(schema.PARTS[part])), min_size=1, max_size=3, unique=True)):
            shape = schema.PARTS[part][verb]
            said = (
                draw(drawn(shape))
                if (part, verb) in schema.SINGLE
                else draw(st.lists(drawn(shape), min_size=1, max_size=3))
            )
            if verb:
                data.setdefault(part, {})[verb] = said
            else:
                data[part] = said
    return data


fighting = st.just(
    {
        "combat": {
            "start": {"combatants": [{"name": "Valen"}, {"name": "Bandit 1", "initiative": 3, "hit_points": "7/7"}]}
        }
    }
)
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(NAMES)
known = st.sampled_from(
    [*schema.PARTS, *(verb for verbs in schema.PARTS.values() for verb in verbs), "who", "amount", "item", "to"]
)
anything = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(known | st.text(max_size=5), inner, max_size=4),
    max_leaves=25,
)


# -- reading


def test_the_schema_is_one_every_validator_takes_and_holds_what_is_read():
    check = fastjsonschema.compile({"$schema": "http://json-schema.org/draft-07/schema#", **SCHEMA})
    check(
        {
            "combat": {"damage": [{"who": "Valen", "amount": 3}], "next": 1},
            "resources": [{"name": "silver", "change": -1}],
        }
    )
    assert set(SCHEMA["properties"]) == set(schema.PARTS)


@bounded
@given(fragments())
def test_a_fragment_the_schema_allows_is_read_whole_and_stays_itself(data):
    holds(data)
    directive, refused = read(data, "dm", 7)
    assert refused == ()
    assert read(directive.data, "dm", 7) == (directive, ())
    holds(directive.data)


@bounded
@given(anything)
def test_whatever_is_said_is_read_or_refused_in_words_and_raises_nothing(data):
    table = Table()
    directive, refused = read(data, "narrator", 42)
    holds(directive.data)
    assert all(str(one) and one.why for one in refused)
    json.dumps(directive.data)
    table.play(data)


def test_what_is_wrong_is_left_out_and_the_rest_stays():
    data = {
        "resources": [
            {"name": "silver", "change": "-3"},
            {"name": "gold"},
            {"change": 1},
            "silver",
            {"name": "x", "change": 1.5},
        ],
        "combat": {"damage": {"who": "Valen", "amount": 2.0}, "dance": 1, "next": "soon", "round": None},
        "weather": "rain",
        "map": 7,
        "calendar": {"advance": {"days": True}},
    }
    directive, refused = read(data, "turn_dm", 3)
    assert directive.data == {
        "resources": [{"name": "silver", "change": -3}, {"name": "gold"}],
        "combat": {"damage": [{"who": "Valen", "amount": 2}]},
    }
    assert [(one.part, one.what) for one in refused] == [
        ("resources", ""), ("resources", "silver"), ("resources", "x"), ("combat", "dance"), ("combat.next", "soon"),
        ("directive", "weather"), ("map", ""), ("calendar.advance", ""),
    ]  # fmt: skip
    assert read("a story", "dm", 3)[1][0].why == "it is no object"


# -- merging


@bounded
@given(st.lists(st.tuples(st.sampled_from(LAYERS), fragments()), max_size=4), st.randoms(use_true_random=False))
def test_layers_merge_to_the_same_in_whatever_order_they_come(told, shuffle):
    made = [read(data, layer, 42)[0] for layer, data in told]
    by_layer = {layer: [one for one in made if one.layer == layer] for layer in LAYERS}
    order = [one.layer for one in made]
    shuffle.shuffle(order)
    taken = {layer: iter(ones) for layer, ones in by_layer.items()}
    mixed = [next(taken[layer]) for layer in order]  # those of one layer stay in their own order
    one, other = merge(made, 42), merge(mixed, 42)
    assert (one, one.digest, one.data) == (other, other.digest, other.data)
    first, second = (Table().resolve(*((d.layer, d.data) for d in order)) for order in (made, mixed))
    assert (first.effects, first.refused, first.said) == (second.effects, second.refused, second.said)


def test_lists_concatenate_objects_merge_and_the_first_heard_wins():
    dm, _ = read(
        {"calendar": {"weather": "snow", "time": "dusk"}, "resources": [{"name": "silver", "change": 1}]}, "dm", 5
    )
    told, _ = read({"calendar": {"weather": "rain"}, "resources": [{"name": "silver", "change": 2}]}, "narrator", 5)
    turn_dm, _ = read({"combat": {"end": {"outcome": "they fled"}}}, "turn_dm", 5)
    merged = merge([turn_dm, dm, told])
    assert merged.data == {
        "calendar": {"weather": "rain", "time": "dusk"},
        "resources": [{"name": "silver", "change": 2}, {"name": "silver", "change": 1}],
        "combat": {"end": {"outcome": "they fled"}},
    }
    assert merged.turn == 5


def test_applying_twice_is_refused_by_the_digest_in_the_record():
    directive, _ = read({"resources": [{"name": "silver", "change": -1}]}, "narrator", 5)
    merged = merge([directive])
    line = {"do": directives.NOTE, "digest": merged.digest}
    assert is_sound(line) and not is_sound({"do": directives.NOTE})
    assert twice(merged, noted_in([{"do": "told"}])) is None
    assert twice(merged, noted_in([line])).why == "it was applied already"
    assert twice(merge([directive], turn=6), noted_in([line])) is None  # another turn may ask for the same
    assert twice(merge([]), {merge([]).digest}) is None


# -- carrying out


@bounded
@given(st.lists(st.tuples(st.sampled_from(LAYERS), fragments()), min_size=1, max_size=3), st.none() | fighting)
def test_carrying_out_twice_changes_nothing_and_every_effect_can_be_kept_in_a_record(told, fight):
    table = Table()
    if fight:
        table.play(fight, turn=41)
    result = table.play(*told)  # asserts that a second pass changes no byte
    for effect in result.effects:
        kept = json.loads(json.dumps(encode(effect)))
        assert is_effect(kept) and decode(kept) == effect
    assert all(one.why for one in result.refused)


@bounded
@given(st.lists(st.tuples(st.sampled_from(LAYERS), fragments()), min_size=1, max_size=3), st.none() | fighting)
def test_the_same_directive_gives_the_same_bytes_each_time(told, fight):
    one, other = Table(), Table()
    for table in (one, other):
        if fight:
            table.play(fight, turn=41)
        table.play(*told)
    assert one.files == other.files


changes = st.tuples(
    st.sampled_from(LAYERS),
    st.sampled_from(["damage", "heal", "hit_points"]),
    st.sampled_from(["Valen", "Sera", "Bandit 1"]),
    st.integers(0, 40),
)


@bounded
@given(st.lists(st.lists(changes, max_size=5), max_size=5))
def test_hit_points_never_leave_their_bounds(turns):
    table = Table()
    table.play(
        {"combat": {"start": {"combatants": [{"name": "Bandit 1", "initiative": 3, "hit_points": "7/7"}]}}}, turn=41
    )
    for number, moves in enumerate(turns, 42):
        told = [
            (
                layer,
                {"combat": {verb: [{"who": who, **({"to": n} if verb == "hit_points" else {"amount": max(n, 1)})}]}},
            )
            for layer, verb, who, n in moves
        ]
        assert not table.play(*told, turn=number).refused
        for path, most in (("characters/valen.md", 12), ("characters/sera.md", None)):
            now = numbers.read(documents.parse(table.files[path], path).text("hit_points"))
            assert now.value >= 0 and (most is None or now.value <= most) and now.bound == most
        row = numbers.read(table.line(STATE, "- Bandit 1").rpartition("hit points ")[2])
        assert 0 <= row.value <= row.bound == 7


# -- every other byte

OWN_FIELDS = ("date", "time", "weather", "location", "hit_points", "affinity", "inventory", "relationships", "connections", "discovered",
              "status", "stage", "latest", "holder")  # fmt: skip
OWN_SECTIONS = {"party", "resources", "effects", "combat", "objectives", "history", "trail"}


def residue(data: bytes) -> list[str]:
    """The lines of a file that no directive has any business with."""
    document = documents.parse(data, "x.md")
    kept, skipping = [], False
    for line in (document.block.text if document.block else "").split("\n"):
        key = re.match(r"([a-z_]+):", line)
        skipping = key[1] in OWN_FIELDS if key else skipping and line.startswith((" ", "\t"))
        kept += [] if skipping else [line]
    for section in document.sections:
        if section.heading.casefold() not in OWN_SECTIONS:
            kept += [section.heading, *(line for line in section.text.split("\n") if not line.startswith("  ("))]
    return [line for line in kept if line.strip()]


EXTRA = ("---\n", "# a comment: of the writer's\nmood: 'no'\nodd_list: [a, \"b\"]\n---\n")
NOTES = "\n## A note of mine\n\n* keep: this 3/4\n\n## Secrets\n\n- Valen: he lied (until T0042)\n"


@bounded
@given(
    st.lists(st.tuples(st.sampled_from(LAYERS), fragments()), min_size=1, max_size=3),
    st.booleans(),
    st.none() | fighting,
)
def test_every_byte_a_directive_is_not_about_stays(told, windows, fight):
    table = Table()
    for path, text in FILES.items():
        head, body = text.split("---\n", 2)[1:]
        text = f"---\n{EXTRA[1].removesuffix('---' + chr(10))}{head}---\n{body}"
        text = text.replace("## Journal", NOTES.lstrip("\n") + "\n## Journal") if path == STATE else text + NOTES
        table.put(path, text.replace("\n", "\r\n") if windows else text)
    before = dict(table.files)
    if fight:
        table.play(fight, turn=41)
    table.play(*told)
    for path, data in before.items():
        now = table.files[path]
        assert residue(now) == residue(data), path
        if windows:
            assert now.count(b"\n") == now.count(b"\r\n")
        if now != data:
            assert now.endswith(b"\n") or not data.endswith(b"\n")


@bounded
@given(
    st.lists(st.tuples(st.sampled_from(LAYERS), fragments()), min_size=1, max_size=3),
    st.sampled_from(["Party", "Resources", "Effects", "Combat", "Journal", "Objectives", "History", ""]),
)
def test_a_section_that_stands_twice_is_told_and_never_touched(told, heading):
    table = Table()
    twice_over = f"\n## {heading}\n\n- Valen: one (until T0001)\n\n## {heading}\n\n- round: 1\n- Valen: initiative 3\n"
    for path, text in FILES.items():
        table.put(
            path, text + twice_over if heading else text.replace("name:", "name: [", 1) if path == STATE else text
        )
    before = dict(table.files)
    result = table.play(*told)
    assert all(one.why for one in result.refused)
    if not heading:
        assert table.files[STATE] == before[STATE]
    for path in before if heading else ():
        ours = table.files[path].decode()
        assert ours.count(f"## {heading}\n") == before[path].decode().count(f"## {heading}\n")
        if heading not in ("Journal", "History"):
            assert "- Valen: one (until T0001)" in ours


@pytest.mark.parametrize("broken", ["---\nname: [Valen\n---\n", "---\nname: Valen\nname: Valen\n---\n"])
def test_an_entry_that_cannot_be_read_is_left_alone(broken):
    table = Table()
    table.put("characters/valen.md", broken)
    before = dict(table.files)
    assert why(table.play({"combat": {"damage": [{"who": "Valen", "amount": 1}]}, "relationships": [{"who": "Valen", "change": 1}]})) == [
        "nobody is named 'Valen'", "no entry, or more than one, is named 'Valen'",
    ]  # fmt: skip
    assert table.files == before
