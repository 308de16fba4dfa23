"""Promises of a field edit, for any document a person may have written: its own bytes change, and no other."""

from __future__ import annotations

import difflib
import json

from hypothesis import assume, given
from hypothesis import strategies as st

from rolecall.campaign import documents, records
from rolecall.campaign.frontmatter import scalar
from rolecall.errors import Unclear
from tests.campaign.writing import STYLES, Note, bounded, double, keys, notes, single, values, words

SCALARS = ("plain", "'", '"', "|", ">", "empty", "reference")
PATH = "characters/a.md"
pick = st.integers(0, 99)


def edited_within(note: Note, new: bytes, number: int) -> bytes:
    """The new bytes of an entry, after seeing that every byte before and behind it is the old one."""
    start, end = note.spans[number]
    tail = len(note.data) - end
    assert new[:start] == note.data[:start]
    assert new[len(new) - tail :] == note.data[end:]
    return new[start : len(new) - tail]


def taken_back(old: bytes, new: bytes) -> bytes:
    """The bytes that a turn's record of this write restores, the record having been through its file."""
    line = json.dumps({"path": PATH, **records.splice(old, new)}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return records.unsplice(new, json.loads(line.decode("utf-8", "surrogatepass")))


@bounded
@given(notes())
def test_a_note_reads_as_what_was_written_in_it(note):
    document = documents.parse(note.data, PATH)
    assert document.fields == note.fields
    assert list(document.fields) == list(note.fields)
    assert document.body == note.body


@bounded
@given(notes(*SCALARS), pick, values)
def test_setting_a_field_changes_only_that_field(note, which, value):
    candidates = note.of(*SCALARS)
    number = candidates[which % len(candidates)]
    entry = note.entries[number]
    new = documents.set_field(note.data, PATH, entry.key, value)
    own = edited_within(note, new, number)
    assert documents.parse(new, PATH).fields == {**note.fields, entry.key: value}
    if entry.style not in "|>":
        assert own.count(b"\n") == entry.raw.count(b"\n")
        comment = entry.raw.partition(b"  # why")[1:]
        assert own.endswith(b"".join(comment)) or entry.style in "'\""  # quoted text may hold the same words
    assert taken_back(note.data, new) == note.data


@bounded
@given(notes())
def test_setting_every_field_to_what_it_holds_changes_nothing(note):
    for entry in note.entries:
        if isinstance(entry.value, str):
            assert documents.set_field(note.data, PATH, entry.key, entry.value) == note.data


@bounded
@given(notes("plain", "'", '"', "reference"), pick, values)
def test_setting_a_field_and_setting_it_back_is_as_if_nothing_happened(note, which, value):
    candidates = note.of("plain", "'", '"', "reference")
    entry = note.entries[candidates[which % len(candidates)]]
    style = {"plain": "plain", "reference": "[["}.get(entry.style, entry.style)
    assume(style != '"' or scalar(entry.value, '"') == double(entry.value))  # else it was escaped another way
    new = documents.set_field(note.data, PATH, entry.key, value)
    held = scalar(value, style)
    same_style = {"'": held[0] == "'", '"': True, "plain": held[0] not in "'\"", "[[": held[0] == "["}[style]
    assume(same_style)  # else the old quoting could not hold the new value
    assert documents.set_field(new, PATH, entry.key, entry.value) == note.data


@bounded
@given(notes(), keys, values)
def test_a_new_field_is_one_line_before_the_closing_fence(note, key, value):
    assume(key not in note.fields)
    new = documents.set_field(note.data, PATH, key, value)
    document = documents.parse(new, PATH)
    assert list(document.fields.items()) == [*note.fields.items(), (key, value)]
    old_end = documents.parse(note.data, PATH).block.end
    added = new[old_end : document.block.end]
    assert new == note.data[:old_end] + added + note.data[old_end:]
    assert added.endswith(note.newline.encode()) and added.count(b"\n") == 1
    assert documents.remove_field(new, PATH, key) == note.data
    assert taken_back(note.data, new) == note.data


@bounded
@given(notes(block=False), keys, values)
def test_a_note_without_front_matter_gets_one_above_its_text(note, key, value):
    new = documents.set_field(note.data, PATH, key, value)
    document = documents.parse(new, PATH)
    assert document.fields == {key: value}
    assert document.body == note.body
    assert new.startswith(note.data[: len(note.data) - len(note.body)] + b"---")
    assert taken_back(note.data, new) == note.data


@bounded
@given(notes(*STYLES), pick)
def test_removing_a_field_removes_its_lines_and_no_others(note, which):
    number = which % len(note.entries)
    new = documents.remove_field(note.data, PATH, note.entries[number].key)
    assert edited_within(note, new, number) == b""
    expected = {k: v for k, v in note.fields.items() if k != note.entries[number].key}
    assert documents.parse(new, PATH).fields == expected


@bounded
@given(
    notes("block", "flow", "maps", "flowmaps", "empty"),
    pick,
    st.one_of(words, values, st.fixed_dictionaries({"with": words, "nature": values})),
)
def test_adding_an_item_adds_one_line_or_one_flow_item(note, which, item):
    candidates = note.of("block", "flow", "maps", "flowmaps", "empty")
    number = candidates[which % len(candidates)]
    entry = note.entries[number]
    new = documents.add_item(note.data, PATH, entry.key, item)
    own = edited_within(note, new, number)
    old = entry.value or []
    assert documents.parse(new, PATH).fields == {**note.fields, entry.key: [*old, item]}
    lines = [d for d in difflib.ndiff(entry.raw.decode().split("\n"), own.decode().split("\n")) if d[0] in "+-"]
    assert len(lines) == (2 if entry.style == "flow" else 1)
    assert taken_back(note.data, new) == note.data
    if entry.style in ("block", "maps", "flowmaps"):
        assert documents.remove_item(new, PATH, entry.key, len(old)) == note.data


@bounded
@given(notes(), keys, words)
def test_adding_an_item_to_a_field_that_is_not_there_makes_a_list_of_it(note, key, item):
    assume(key not in note.fields)
    new = documents.add_item(note.data, PATH, key, item)
    assert documents.parse(new, PATH).fields == {**note.fields, key: [item]}
    assert documents.remove_field(new, PATH, key) == note.data


@bounded
@given(notes("maps", "flowmaps"), pick, pick, values)
def test_changing_one_value_of_a_mapping_in_a_list_leaves_the_others_alone(note, which, at, value):
    candidates = note.of("maps", "flowmaps")
    number = candidates[which % len(candidates)]
    entry, index = note.entries[number], at % len(note.entries[number].value)
    item = {**entry.value[index], "nature": value}
    new = documents.set_item(note.data, PATH, entry.key, index, item)
    own = edited_within(note, new, number)
    items = [*entry.value[:index], item, *entry.value[index + 1 :]]
    assert documents.parse(new, PATH).fields == {**note.fields, entry.key: items}
    changed = [a != b for a, b in zip(entry.raw.split(b"\n"), own.split(b"\n"), strict=True)]
    assert sum(changed) <= 1
    assert documents.set_item(note.data, PATH, entry.key, index, entry.value[index]) == note.data


@bounded
@given(notes("maps", "flowmaps"), pick, pick, words)
def test_a_new_key_of_a_mapping_in_a_list_is_added_at_its_end(note, which, at, value):
    candidates = note.of("maps", "flowmaps")
    number = candidates[which % len(candidates)]
    entry, index = note.entries[number], at % len(note.entries[number].value)
    item = {**entry.value[index], "since": value}
    new = documents.set_item(note.data, PATH, entry.key, index, item)
    own = edited_within(note, new, number)
    assert documents.parse(new, PATH).fields[entry.key][index] == item
    assert own.count(b"\n") == entry.raw.count(b"\n") + (entry.style == "maps")


@bounded
@given(notes("flow"), pick, pick)
def test_removing_an_item_of_a_list_on_one_line_removes_its_words_and_no_others(note, which, at):
    candidates = note.of("flow")
    number = candidates[which % len(candidates)]
    entry, index = note.entries[number], at % len(note.entries[number].value)
    new = documents.remove_item(note.data, PATH, entry.key, index)
    edited_within(note, new, number)
    rest = [*entry.value[:index], *entry.value[index + 1 :]]
    assert documents.parse(new, PATH).fields == {**note.fields, entry.key: rest}
    if rest:  # and back again, at the end
        assert documents.parse(documents.add_item(new, PATH, entry.key, "x"), PATH).fields[entry.key] == [*rest, "x"]


@bounded
@given(notes("block", "maps", "flowmaps"), pick, pick)
def test_removing_an_item_removes_its_lines_and_no_others(note, which, at):
    candidates = note.of("block", "maps", "flowmaps")
    number = candidates[which % len(candidates)]
    entry, index = note.entries[number], at % len(note.entries[number].value)
    new = documents.remove_item(note.data, PATH, entry.key, index)
    own = edited_within(note, new, number)
    rest = [*entry.value[:index], *entry.value[index + 1 :]]
    assert documents.parse(new, PATH).fields == {**note.fields, entry.key: rest or ""}
    assert all(line in entry.raw.split(b"\n") for line in own.split(b"\n"))


@bounded
@given(notes("block", "flow", "maps", "flowmaps", "map"), pick, values)
def test_a_list_or_mapping_is_not_overwritten_by_one_value(note, which, value):
    candidates = note.of("block", "flow", "maps", "flowmaps", "map")
    entry = note.entries[candidates[which % len(candidates)]]
    try:
        documents.set_field(note.data, PATH, entry.key, value)
    except Unclear as error:
        assert error.path == PATH and error.line and error.remedy
        return
    raise AssertionError("a list was overwritten")


def test_every_quote_style_keeps_itself_where_it_can():
    assert scalar("it's", "'") == single("it's")
    assert scalar("a: b", "plain") == '"a: b"'
    assert scalar("x\u2028y", "'") == '"x\\u2028y"'
    assert scalar("[[Sera]]", "[[") == "[[Sera]]"
    assert scalar("Sera", "[[") == "Sera"
