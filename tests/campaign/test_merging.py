"""What the story established is merged into an entry by rules: the writer's words stay, and every change is one of a few lines."""

from __future__ import annotations

import difflib
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.campaign import documents, kinds, merging
from rolecall.campaign.effects import Effect, decode, edit_of, encode
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.errors import DocumentError, Malformed, Unclear
from tests.campaign.writing import bounded, notes, one_line

VALEN = b"""\
---
# the writer's note
name: Valen
kind: character
aliases:
  - Valen the Shadow
location: "Greywater"   # for now
status: injured, hiding
voice: Dry
appearance:
relationships:
  - {with: Sera, nature: 'romantic_tension', status: complicated}   # tender
  - {with: "[[Shadow Guild]]", nature: former_member}
organizations: [Brothers in Arms]
secret: He sold the route.
---
Former operative.

## History

- T0003 Met the party.

## Notes

The writer's own.
"""


def diff(before: bytes, after: bytes) -> list[str]:
    """The lines taken out and put in, in order."""
    rows = difflib.ndiff(before.decode().splitlines(), after.decode().splitlines())
    return [row for row in rows if row[:2] in ("- ", "+ ")]


def merged(facts: dict, turn: int = 42, data: bytes = VALEN, kind: str = "character", **more: bool) -> list[str]:
    after = merging.merge(data, "v.md", kind, facts, turn, **more)
    assert merging.merge(after, "v.md", kind, facts, turn, **more) == after
    return diff(data, after)


# -- single fields


def test_a_state_field_takes_the_new_value_and_history_keeps_the_old_one_with_its_turn():
    assert merged({"location": "Northern Wastes"}) == [
        '- location: "Greywater"   # for now',
        '+ location: "Northern Wastes"   # for now',
        "+ - T0042 location: Greywater → Northern Wastes",
    ]


def test_a_text_that_the_writer_filled_stays_and_the_new_fact_becomes_a_line_of_history():
    assert merged({"voice": "Hoarse since the fire"}) == ["+ - T0042 voice: Hoarse since the fire"]


def test_an_empty_field_is_filled_and_a_missing_one_is_added():
    assert merged({"appearance": "A white scar", "age": "30"}) == [
        "- appearance:",
        "+ appearance: A white scar",
        '+ age: "30"',
    ]


@pytest.mark.parametrize("same", ["greywater", " GREYWATER ", "[[Greywater]]", "[[locations/greywater.md|town]]"])
def test_the_same_place_spelled_otherwise_changes_nothing(same):
    assert merged({"location": same}) == []


def test_a_fact_that_a_filled_text_says_already_is_not_noted():
    assert merged({"voice": "dry"}) == []


def test_a_fact_noted_in_an_earlier_turn_is_not_noted_again():
    once = merging.merge(VALEN, "v.md", "character", {"voice": "Hoarse"}, 40)
    assert merging.merge(once, "v.md", "character", {"voice": "Hoarse"}, 42) == once


def test_a_change_and_its_way_back_both_stand_in_history():
    away = merging.merge(VALEN, "v.md", "character", {"location": "Wastes"}, 42)
    back = merging.merge(away, "v.md", "character", {"location": "Greywater"}, 43)
    lines = documents.parse(back, "v.md").lines("History")
    assert lines[-3:-1] == ["- T0042 location: Greywater → Wastes", "- T0043 location: Wastes → Greywater"]


def test_a_change_undone_by_hand_is_not_forced_again_by_the_same_turn():
    done = merging.merge(VALEN, "v.md", "character", {"status": "well"}, 42)
    by_hand = done.replace(b"status: well", b"status: feverish")
    assert merging.merge(by_hand, "v.md", "character", {"status": "well"}, 42) == by_hand


def test_a_key_is_found_however_it_is_capitalised():
    data = b"---\nname: Ann\nLocation: Inn\n---\n"
    assert merged({"location": "Quay"}, data=data) == [
        "- Location: Inn",
        "+ Location: Quay",
        "+ ",
        "+ ## History",
        "+ ",
        "+ - T0042 Location: Inn → Quay",
    ]


def test_a_state_written_over_several_lines_is_kept_whole_in_history():
    data = b"---\nname: Ann\nstatus: >-\n  very\n  tired\n---\n"
    assert "+ - T0042 status: very tired → asleep" in merged({"status": "asleep"}, data=data)


# -- lists


@pytest.mark.parametrize("same", ["brothers in arms", "Brothers  in Arms", "BROTHERS IN ARMS", "[[Brothers in Arms]]"])
def test_a_list_takes_a_name_once_whatever_its_case_and_spacing(same):
    assert merged({"organizations": [same]}) == []


@pytest.mark.parametrize(
    ("has", "new", "one"),
    [
        ("Éowyn", "eowyn", True),
        ("Éowyn", "E\u0301OWYN", True),
        ("Σωκράτης", "ΣΩΚΡΑΤΗΣ", True),
        ("Straße", "STRASSE", True),
        ("Марта", "марта", True),
        ("がく", "かく", False),
        ("पुत्र", "पत्र", False),
        ("Anna", "Ann", False),
    ],
)
def test_accents_count_only_where_they_make_another_letter(has, new, one):
    data = f"---\nname: X\naliases:\n  - {has}\n---\n".encode()
    assert (merging.merge(data, "x.md", "character", {"aliases": [new]}, 1) == data) is one


def test_a_new_name_adds_one_line_or_one_item():
    assert merged({"aliases": ["The Grey Knife"], "organizations": ["The Watch"]}) == [
        "+   - The Grey Knife",
        "- organizations: [Brothers in Arms]",
        "+ organizations: [Brothers in Arms, The Watch]",
    ]


def test_a_list_written_as_one_text_is_left_and_the_fact_noted():
    data = b"---\nname: X\nmembers: Ann, Bo\n---\n"
    assert merged({"members": ["bo"]}, data=data, kind="organization") == []
    assert "+ - T0042 members: Cy" in merged({"members": ["Cy"]}, data=data, kind="organization")


def test_a_new_fact_about_an_old_relationship_changes_that_one_line():
    assert merged({"relationships": [{"with": "sera", "status": "reconciled"}]}) == [
        "-   - {with: Sera, nature: 'romantic_tension', status: complicated}   # tender",
        "+   - {with: Sera, nature: 'romantic_tension', status: reconciled}   # tender",
        "+ - T0042 relationships, Sera: status complicated → reconciled",
    ]


def test_what_an_old_relationship_lacks_is_added_to_its_line_without_a_line_of_history():
    assert merged({"relationships": [{"with": "Shadow Guild", "status": "hunted"}]}) == [
        '-   - {with: "[[Shadow Guild]]", nature: former_member}',
        '+   - {with: "[[Shadow Guild]]", nature: former_member, status: hunted}',
    ]


def test_a_new_relationship_is_one_new_line():
    assert merged({"relationships": [{"with": "Marta", "nature": "owes her, twice: rent"}]}) == [
        '+   - {with: Marta, nature: "owes her, twice: rent"}'
    ]


def test_an_item_that_was_only_a_name_gets_what_is_said_of_it():
    data = b"---\nname: X\nrelationships:\n  - Sera\n---\n"
    assert merged({"relationships": [{"with": "Sera", "nature": "friend"}]}, data=data) == [
        "-   - Sera",
        "+   - {with: Sera, nature: friend}",
    ]


def test_a_way_that_the_writer_described_is_noted_beside_not_rewritten():
    data = b"---\nname: Inn\nconnections:\n  - {to: The Well, way: across the square}\n---\n"
    assert merged({"connections": [{"to": "The Well", "way": "by the cellar"}]}, data=data, kind="location")[-1] == (
        "+ - T0042 connections, The Well: way by the cellar"
    )


def test_values_without_words_are_dropped_so_that_no_flow_item_has_an_empty_key():
    assert merged({"relationships": [{"with": "Bo", "nature": "", "status": "new"}]}) == [
        "+   - {with: Bo, status: new}"
    ]


# -- what is not to be set


@pytest.mark.parametrize(
    "key",
    [
        "secret",
        "Truth",
        "locked",
        "pinned",
        "visibility",
        "name",
        "kind",
        "source",
        "forgotten",
        *sorted(kinds.COUNTED),
    ],
)
def test_the_writers_own_fields_secrets_and_numbers_are_refused(key):
    with pytest.raises(Unclear, match="not set by the story"):
        merging.merge(VALEN, "v.md", "character", {key: "x"}, 42)


def test_a_broken_file_is_refused_and_untouched():
    with pytest.raises(Malformed):
        merging.merge(b"---\nname: a: b\n---\n", "v.md", "character", {"status": "x"}, 1)


def test_two_histories_are_unclear_and_nothing_is_merged():
    data = b"---\nname: X\nstatus: a\n---\n## History\n\n- T0001 x\n\n## History\n"
    with pytest.raises(Unclear, match="a second time"):
        merging.merge(data, "x.md", "character", {"status": "b"}, 2)


def test_front_matter_in_one_pair_of_braces_keeps_its_form_and_the_fact_is_noted():
    data = b"---\n{name: X, status: a}\n---\n"
    assert "+ - T0042 age: 30" in merged({"age": "30"}, data=data)


@bounded
@given(
    notes(),
    st.fixed_dictionaries(
        {},
        optional={
            "location": one_line,
            "status": one_line,
            "voice": one_line,
            "aliases": st.lists(one_line, max_size=3),
            "relationships": st.lists(st.fixed_dictionaries({"with": one_line, "status": one_line}), max_size=2),
        },
    ),
)
def test_on_any_note_merging_twice_is_merging_once_and_prose_and_other_fields_stay(note, facts):
    try:
        once = merging.merge(note.data, "n.md", "character", facts, 7)
    except DocumentError:
        return
    assert merging.merge(once, "n.md", "character", facts, 7) == once
    was, now = documents.parse(note.data, "n.md"), documents.parse(once, "n.md")
    for key, value in was.fields.items():
        assert now.fields[key] == value or key.casefold() in facts
    rest = iter(now.body.splitlines())
    assert all(any(have == line for have in rest) for line in was.body.splitlines())


# -- new entries


def test_a_new_entry_stands_in_its_kinds_folder_with_the_fields_in_their_order_and_its_turn():
    facts = {
        "location": "Quay",
        "name": "Dorrit Vane",
        "relationships": [{"with": "Sera", "nature": "aunt"}],
        "aliases": ["Crow"],
        "age": "30",
    }
    path, data = merging.new_entry("character", facts, "A pedlar.\n\nShe limps.", 41)
    assert path == "characters/dorrit-vane.md"
    assert data.decode() == (
        '---\nname: Dorrit Vane\nkind: character\naliases:\n  - Crow\nlocation: Quay\nage: "30"\n'
        "relationships:\n  - {with: Sera, nature: aunt}\nsource: T0041\n---\nA pedlar.\n\nShe limps.\n"
    )


def test_a_name_that_is_taken_gets_the_next_number():
    has = {"characters/valen.md", "characters/valen-2.md"}
    path, _ = merging.new_entry("character", {"name": "Valen"}, "", 1, taken=has.__contains__)
    assert path == "characters/valen-3.md"


@pytest.mark.parametrize("kind", ENTRY_KINDS)
@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "CON",
        "nul.md",
        "...",
        "a/b\\c",
        "名前",
        "---",
        "x" * 300,
        ".hidden",
        "a\nb: c",
        "[[X]]",
        "🐉",
    ],
)
def test_whatever_the_name_the_file_lies_in_its_folder_and_reads_back(kind, name):
    path, data = merging.new_entry(kind, {"name": " ".join(name.split())}, "---\n# x\n```\ny", 3)
    assert PurePosixPath(path).parts[0] == ENTRY_KINDS[kind].folder and len(PurePosixPath(path).parts) == 2
    stem = PurePosixPath(path).stem
    assert stem and not stem.startswith(".") and stem.casefold() not in ("con", "nul") and len(path) < 100
    document = documents.parse(data, path)
    assert document.fields == {"name": " ".join(name.split()), "kind": kind, "source": "T0003"}
    assert [s.heading for s in document.sections if s.level] == []


@bounded
@given(st.dictionaries(st.sampled_from(["status", "role", "voice", "age"]), one_line), one_line)
def test_any_facts_are_written_so_that_they_read_back(facts, name):
    try:
        _, data = merging.new_entry("character", {"name": name, **facts}, "", 1)
    except DocumentError:
        return
    assert {k: documents.parse(data, "x").fields[k] for k in facts} == facts


# -- as effects


def applied(effect: Effect, data: bytes | None) -> bytes:
    """The effect, through its JSON, applied twice."""
    edit = edit_of(decode(encode(effect)))
    after = edit(data)
    assert edit(after) == after
    return after


def test_an_effect_says_where_it_comes_from_and_keeps_it_through_json():
    effect = Effect(
        "facts", "v.md", 3, key="item", facts={"holder": "Ann"}, phase="post-gen", model="m/x", reason="r", source="s"
    )
    assert decode(encode(effect)) == effect
    assert effect.why == {"phase": "post-gen", "model": "m/x", "reason": "r", "source": "s"}
    assert decode({"op": "journal", "path": "p", "turn": 1, "text": "t", "key": "", "title": ""}).why == {}


def test_a_recorded_entry_is_made_once_even_when_it_has_changed_since():
    effect = Effect(
        "record", "characters/ann.md", 5, "A cook.", key="character", facts={"name": "Ann", "status": "well"}
    )
    made = applied(effect, None)
    later = applied(Effect("facts", "characters/ann.md", 5, key="character", facts={"status": "dead"}), made)
    assert edit_of(effect)(later) == later


def test_where_the_writer_made_the_same_entry_meanwhile_the_facts_are_merged_into_it():
    effect = Effect("record", "characters/ann.md", 5, "A cook.", key="character", facts={"name": "Ann", "role": "Cook"})
    assert diff(
        b"---\nname: Ann\nvoice: Low\n---\nHers.\n", applied(effect, b"---\nname: Ann\nvoice: Low\n---\nHers.\n")
    ) == [
        "+ role: Cook",
        "+ ",
        "+ ## History",
        "+ ",
        "+ - T0005 A cook.",
    ]


def test_where_another_thing_took_the_name_meanwhile_nothing_is_written():
    effect = Effect("record", "characters/ann.md", 5, "", key="character", facts={"name": "Ann"})
    with pytest.raises(Unclear, match="made meanwhile"):
        edit_of(effect)(b"---\nname: Annabel\n---\n")


def test_forgetting_marks_the_file_with_turn_and_reason_and_nothing_else():
    after = applied(Effect("forget", "v.md", 42, "she  left\nfor good"), VALEN)
    assert diff(VALEN, after) == ["+ forgotten: T0042 she left for good"]
    assert edit_of(Effect("forget", "v.md", 50, "again"))(after) == after


def test_what_is_remembered_again_loses_its_mark_and_history_keeps_it():
    gone = edit_of(Effect("forget", "v.md", 42, "left"))(VALEN)
    assert diff(VALEN, applied(Effect("revive", "v.md", 50), gone)) == ["+ - T0050 forgotten: T0042 left → none"]


def test_another_kind_is_said_in_one_line_and_history():
    assert diff(VALEN, applied(Effect("kind", "v.md", 42, "creature"), VALEN)) == [
        "- kind: character",
        "+ kind: creature",
        "+ - T0042 kind: character → creature",
    ]


def test_an_entry_absorbs_another_without_losing_or_overwriting_anything():
    facts = {"aliases": ["The Stranger"], "status": "limping", "age": "40", "organizations": ["brothers in arms"]}
    lines = ("T0001 Came by night.", "T0003 Met the party.")
    after = applied(Effect("absorb", "v.md", 42, key="character", facts=facts, lines=lines), VALEN)
    assert diff(VALEN, after) == [
        "+   - The Stranger",
        '+ age: "40"',
        "+ - T0001 Came by night.",
        "+ - T0042 status: limping",
    ]


def test_an_effect_on_a_file_that_is_gone_is_refused_in_words():
    with pytest.raises(Unclear, match="no such file any more"):
        edit_of(Effect("facts", "v.md", 1, key="character", facts={"status": "x"}))(None)
