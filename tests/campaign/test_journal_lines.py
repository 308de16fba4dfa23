"""The Journal: exactly one line a turn, at the end of the Campaign State, the writer's notes where the writer put them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.campaign import documents, journal
from rolecall.campaign.text import clean_line
from rolecall.errors import DocumentError, Malformed, Unclear
from tests.campaign.writing import bounded

PATH = "campaign-state.md"
STATE = b"---\nname: State\n---\n\n## Party\n\n- Valen\n\n## Journal\n\n- T0001 We met.\n  - a note\n- T0002 We left.\n"


def lines(data: bytes) -> list[tuple[int, str]]:
    return [(line.turn, line.text) for line in journal.lines_of(documents.parse(data, PATH))]


def test_a_turn_adds_one_line_at_the_end():
    new = journal.append_line(STATE, PATH, 3, "The bell rang.")
    assert new == STATE + b"- T0003 The bell rang.\n"
    assert lines(new) == [(1, "We met."), (2, "We left."), (3, "The bell rang.")]


def test_a_turn_that_has_its_line_gets_no_second_one():
    new = journal.append_line(STATE, PATH, 3, "The bell rang.")
    assert journal.append_line(new, PATH, 3, "Something else.") == new


def test_a_line_that_says_nothing_is_refused():
    with pytest.raises(Malformed):
        journal.append_line(STATE, PATH, 3, "  \n ")


@bounded
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(clean_line),
        min_size=1,
        max_size=6,
    )
)
def test_whatever_the_texts_every_turn_has_exactly_one_line_and_they_read_back(texts):
    data, wanted = b"## Journal\n", []
    for turn, text in enumerate(texts, 1):
        data = journal.append_line(data, PATH, turn, clean_line(text))
        wanted.append((turn, " ".join(clean_line(text).split())))
    assert lines(data) == wanted
    assert data.count(b"\n- T") == len(texts)


@pytest.mark.parametrize(
    "text",
    [
        "one\n- T0099 two",
        "one\n## Secret",
        "one\n```",
        "one\n---\nkind: x",
        "one\r\n- T0001 again",
        "one\u2028- T0099 two",
    ],
)
def test_a_text_of_several_lines_becomes_one_line(text):
    new = journal.append_line(STATE, PATH, 3, text)
    assert new.count(b"\n") == STATE.count(b"\n") + 1
    assert [turn for turn, _ in lines(new)] == [1, 2, 3]


def test_crlf_and_a_missing_last_newline_are_kept_apart():
    state = STATE.replace(b"\n", b"\r\n").removesuffix(b"\r\n")
    new = journal.append_line(state, PATH, 3, "The bell rang.")
    assert new == state + b"\r\n- T0003 The bell rang.\r\n"
    assert lines(new)[-1] == (3, "The bell rang.")


def test_a_state_without_a_journal_gets_one_and_a_state_with_two_is_refused():
    assert journal.append_line(b"# State\n", PATH, 1, "x") == b"# State\n\n## Journal\n\n- T0001 x\n"
    with pytest.raises(Unclear, match="second time"):
        journal.append_line(STATE + b"## Journal\n", PATH, 3, "x")


def test_a_broken_state_is_refused_and_not_mended():
    with pytest.raises(DocumentError):
        journal.append_line(STATE.replace(b"name: State", b"name: A: B"), PATH, 3, "x")


def test_notes_under_a_line_belong_to_it_and_a_heading_does_not():
    data = b"## Journal\n- T0001 a\n  indented\nplain\n\nafter a gap\n### Day two\nunder it\n- T0002 b\n"
    first, second = journal.lines_of(documents.parse(data, PATH))
    assert first.raw == "- T0001 a\n  indented\nplain\n\nafter a gap"
    assert data[first.start : first.end] == b"- T0001 a\n  indented\nplain\n\nafter a gap\n"
    assert (second.raw, second.line) == ("- T0002 b", 9)


def test_a_rule_under_a_note_does_not_end_the_journal():
    data = b"## Journal\n- T0001 a\nnote\n---\n- T0002 b\n"
    assert lines(data) == [(1, "a"), (2, "b")]


def test_a_line_is_added_below_the_writers_own_days():
    data = b"## Journal\n### Day one\n- T0001 a\n### Day two\n- T0002 b\n"
    assert journal.append_line(data, PATH, 3, "c") == data + b"- T0003 c\n"


@pytest.mark.parametrize("line", ["- T12 x", "- T0012: x", "* T0012 x", "T0012 x", "- t0012 x", "- [ ] T0012 x"])
def test_what_is_no_journal_line_is_a_note(line):
    data = f"## Journal\n- T0001 a\n{line}\n".encode()
    assert lines(data) == [(1, "a")]
    assert journal.lines_of(documents.parse(data, PATH))[0].raw.endswith(line)


def test_length_counts_code_points_with_their_notes():
    found = journal.lines_of(documents.parse("## Journal\n- T0001 🐉é\nnote\n- T0002 x\n".encode(), PATH))
    assert journal.length(found) == len("- T0001 🐉é\nnote") + len("- T0002 x")


def test_turn_numbers_need_four_digits_and_may_have_more():
    assert (journal.turn_id(7), journal.turn_id(12345)) == ("T0007", "T12345")
    assert journal.turn_number(" T12345 rest") == 12345
    assert journal.turn_number("T12") is None
