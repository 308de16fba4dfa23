"""Arcs, promises, dated lines and the story: each effect is one small change, and applying it twice changes nothing more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.campaign import arcs, documents, effects, story, template
from rolecall.campaign.effects import Effect
from rolecall.campaign.text import clean_prose
from rolecall.errors import DocumentError, Unclear
from tests.campaign.writing import bounded, notes, words

ARC = (
    b"---\nname: The well # mine\nstatus: open\nlatest: T0002 The boy is gone.\ntruth: 'Varr did it'\n---\n"
    b"Who?\n\n## Trail\n- T0001 Iron in the water.\n\n## Summaries\n"
)


def done(op: str, data: bytes | None, turn: int, text: str, **more: str) -> bytes:
    """The file after an effect that was applied twice, as recovery may do."""
    effect = effects.decode(effects.encode(Effect(op, "a/001-b.md", turn, text, **more)))
    once = effects.edit_of(effect)(data)
    assert effects.edit_of(effect)(once) == once
    return once


# -- arcs ------------------------------------------------------------------------------------------------------------------


def test_one_write_promotes_the_latest_line_and_puts_the_new_one_in_its_place():
    new = arcs.move(ARC, "arcs/a.md", 5, "Marta lied.")
    assert new == ARC.replace(b"latest: T0002 The boy is gone.", b"latest: T0005 Marta lied.").replace(
        b"## Trail\n", b"## Trail\n- T0002 The boy is gone.\n"
    )


def test_a_move_made_twice_is_made_once_even_after_a_later_one():
    one = arcs.move(ARC, "a.md", 5, "Marta lied.")
    two = arcs.move(one, "a.md", 6, "The ledger burns.")
    assert arcs.move(one, "a.md", 5, "Marta lied.") == one
    assert arcs.move(two, "a.md", 5, "Marta lied.") == two
    assert arcs.trail_of(documents.parse(two, "a.md"))[0] == "T0005 Marta lied."


@pytest.mark.parametrize("latest", ["", "latest:\n", "latest: ''\n"])
def test_the_first_move_leaves_no_empty_line_on_the_trail(latest):
    new = arcs.move(f"---\nname: A\n{latest}---\n".encode(), "a.md", 1, "It begins.")
    assert arcs.read(documents.parse(new, "a.md")).latest == "T0001 It begins."
    assert arcs.trail_of(documents.parse(new, "a.md")) == ()


def test_a_latest_of_several_lines_becomes_one_line_of_the_trail():
    new = arcs.move(b"---\nlatest: |\n  T0001 one\n  ## two\n---\n", "a.md", 2, "next\nline")
    assert arcs.trail_of(documents.parse(new, "a.md")) == ("T0001 one ## two",)
    assert documents.parse(new, "a.md").fields == {"latest": "T0002 next line"}


def test_a_latest_that_is_a_list_or_a_second_trail_is_refused():
    with pytest.raises(Unclear):
        arcs.move(b"---\nlatest: [a]\n---\n", "a.md", 2, "x")
    with pytest.raises(Unclear):
        arcs.move(ARC + b"## Trail\n", "a.md", 2, "x")


@bounded
@given(notes(), st.lists(words, min_size=1, max_size=5))
def test_a_trail_is_never_shorter_than_before_whatever_note_the_arc_is(note, texts):
    data, length = note.data, None
    for turn, text in enumerate(texts, 1):
        try:
            data = arcs.move(data, "arcs/a.md", turn, text)
        except DocumentError:
            return  # `latest` is a list in this note
        now = arcs.read(documents.parse(data, "arcs/a.md"))
        assert now.latest == f"T{turn:04d} {' '.join(text.split())}"
        assert length is None or now.trail == length + 1
        length = now.trail


# -- dated lines, promises, fields ----------------------------------------------------------------------------------------------


def test_a_dated_line_goes_to_the_end_of_the_history():
    data = b"---\nname: A\n---\nText.\n\n## History\n### Year one\n- T0001 born\n\n## Secret\nx\n"
    assert done("history", data, 3, "Met us.") == data.replace(b"- T0001 born\n", b"- T0001 born\n- T0003 Met us.\n")
    assert done("history", b"Text.", 3, "Met us.") == b"Text.\n\n## History\n\n- T0003 Met us.\n"


def test_a_promise_is_made_and_kept():
    data = b"## Party\n- Valen\n\n## Promises\n\n## Journal\n- T0001 x\n"
    made = done("promise", data, 2, "To Sera: bring the ledger")
    assert made == data.replace(b"## Promises\n", b"## Promises\n\n- [ ] To Sera: bring the ledger (T0002)\n")
    assert effects.promises_of(documents.parse(made, "s.md"))[0].turn == 2
    kept = done("kept", made, 3, "To Sera: bring the ledger")
    assert kept == made.replace(b"- [ ]", b"- [x]")
    assert done("promise", kept, 2, "To Sera: bring the ledger") == kept


def test_a_state_without_promises_gets_them_above_the_journal():
    new = done("promise", b"## Party\r\n- Valen\r\n\r\n## Journal\r\n- T0001 x\r\n", 2, "To Sera: come back")
    assert new == (
        b"## Party\r\n- Valen\r\n\r\n## Promises\r\n\r\n- [ ] To Sera: come back (T0002)\r\n\r\n## Journal\r\n- T0001 x\r\n"
    )


def test_promises_the_writer_sorted_under_headings_are_all_read():
    data = b"## Promises\n- [ ] To A: x (T0001)\n### Kept\n- [X] To B: y\n  - [ ] To C: (z)\n"
    found = effects.promises_of(documents.parse(data, "s.md"))
    assert [(p.words, p.turn, p.kept) for p in found] == [
        ("To A: x", 1, False),
        ("To B: y", 0, True),
        ("To C: (z)", 0, False),
    ]


@pytest.mark.parametrize("text", ["x\n## Secret", "x\n- T0099 y", "x\n```", "x\r\n---"])
@pytest.mark.parametrize("op", ["history", "promise", "journal", "arc"])
def test_a_text_of_several_lines_smuggles_nothing(op, text):
    data = b"---\nlatest: T0001 a\n---\n## Promises\n- [ ] a (T0001)\n\n## History\n- T0001 a\n\n## Trail\n\n## Journal\n- T0001 a\n"
    new = documents.parse(done(op, data, 2, text), "s.md")
    assert [s.heading for s in new.sections] == [s.heading for s in documents.parse(data, "s.md").sections]
    assert new.data.count(b"\n") <= data.count(b"\n") + 2
    assert not any(line.startswith("- T0099") for line in new.data.decode().split("\n"))


def test_a_field_is_set_and_a_file_that_is_gone_is_not_made():
    assert done("field", ARC, 2, "closed", key="status") == ARC.replace(b"status: open", b"status: closed")
    for op in ("journal", "arc", "history", "promise", "kept", "field"):
        with pytest.raises(Unclear, match="no such file"):
            effects.edit_of(Effect(op, "a.md", 1, "x", key="k"))(None)


# -- the story -----------------------------------------------------------------------------------------------------------------


def test_a_turn_is_a_section_with_the_action_as_a_quote():
    new = done("section", None, 1, "The door opens.", key="I knock.\nTwice.", title="One: a start")
    assert new == (
        b'---\nname: "One: a start"\nkind: story\nchapter: 1\n---\n\n## T0001\n\n> I knock.\n> Twice.\n\nThe door opens.\n'
    )
    told = story.turns_of(documents.parse(done("section", new, 2, "It is dark.", key="I look."), "s.md"))
    assert [(t.turn, t.action, t.prose, t.line) for t in told] == [
        (1, "I knock.\nTwice.", "The door opens.", 7), (2, "I look.", "It is dark.", 14)
    ]  # fmt: skip


def test_prose_that_begins_with_a_quote_is_not_taken_for_the_action():
    new = done("section", None, 1, "> A letter.\n\nIt burns.", title="One")
    (told,) = story.turns_of(documents.parse(new, "s.md"))
    assert (told.action, told.prose) == ("", "> A letter.\n\nIt burns.")


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n", b"\r\n", b"\r\n\r\n"])
def test_a_turn_is_never_glued_to_the_text_above(end):
    newline = b"\r\n" if b"\r" in end else b"\n"
    old = newline.join([b"## T0001", b"", b"One."]) + end
    new = done("section", old, 2, "Two.")
    assert new.startswith(old)
    assert [t.prose for t in story.turns_of(documents.parse(new, "s.md"))] == ["One.", "Two."]


PROSE = st.lists(
    st.one_of(
        st.sampled_from(["## T0099", "T0099\n--", "T0099\n-", "Secret\n===", "```", "~~~~", "---", "...", "- T0042 x", "> q", "# Journal",
                         "  ## x", "a\u2028## b", "a\r## b", "\x1b[31mred\x1b[0m", "name: x", "***", "\u1fef\u1fef\u1fef", "a\x85---"]),
        st.text(st.characters(), max_size=30),
    ),
    max_size=8,
).map("\n".join)  # fmt: skip


@bounded
@given(st.lists(PROSE.map(clean_prose).filter(bool), min_size=1, max_size=4))
def test_no_prose_makes_a_turn_a_heading_a_fence_or_a_journal_line_of_its_own(proses):
    data = None
    for turn, prose in enumerate(proses, 1):
        data = done("section", data, turn, prose, title="One", key="" if turn % 2 else "I act.\n## T0098")
    document = documents.parse(data, "story/001-one.md")
    assert [s.heading for s in document.sections if s.level] == [f"T{n:04d}" for n in range(1, len(proses) + 1)]
    assert [told.prose for told in story.turns_of(document)] == proses
    assert not [line for line in data.decode().split("\n") if line.startswith("- T")]


def test_a_chapter_closes_at_fifty_turns(tmp_path):
    campaign = template.new(tmp_path / "c")
    for turn in range(1, 102):
        path, title = story.place(campaign, turn, "")
        place = campaign.root / path
        place.parent.mkdir(exist_ok=True)
        old = place.read_bytes() if place.exists() else None
        place.write_bytes(story.add(old, path, title, turn, "", f"Prose {turn}."))
        assert story.place(campaign, turn, "")[0] == path  # a turn told already stays where it is
    told = [len(story.turns_of(campaign.document(path))) for _, path in story.chapters(campaign)]
    assert told == [50, 50, 1]
    assert [t.turn for t in story.recent(campaign, 3)] == [99, 100, 101]
    assert story.recent(campaign, 0) == ()


def test_a_chapter_of_any_name_can_be_written_again():
    assert b"chapter: 7\n" in story.add(None, "story/007 The start.md", "x", 1, "", "y")


def test_a_promise_counts_however_a_hand_wrote_its_line_and_a_broken_one_does_not():
    data = "## Promises\n* [ ] To A: x (T0001, reminded T0004)\n- [X] To B: y (T0002)\n- [-] To C: z (T0003, broken T0005)\n"
    found = effects.promises_of(documents.parse(data.encode(), "s.md"))
    assert [(p.words, p.turn, p.kept) for p in found] == [("To A: x", 1, False), ("To B: y", 2, True)]
    kept = done("kept", data.encode(), 6, "To A: x")
    assert kept == data.replace("* [ ]", "* [x]").encode()
