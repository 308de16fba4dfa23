"""Folding: a Chronicle holds its stretch word for word, its facts keep what the prose lost, and nothing else leaves the Journal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.campaign import chronicles, documents, journal, template
from rolecall.campaign.text import clean_prose
from rolecall.errors import Malformed
from tests.campaign.writing import bounded

PATH = "campaign-state.md"
MEMORY = {"fold_at": 300, "journal_limit": 900, "keep_lines": 2}


def state(*texts: str, head: str = "## Journal\n\n") -> bytes:
    return (head + "".join(f"- T{n:04d} {text}\n" for n, text in enumerate(texts, 1))).encode()


def stretch_of(data: bytes, **memory: int) -> chronicles.Stretch | None:
    return chronicles.plan_fold(documents.parse(data, PATH), [], {**MEMORY, **memory}, asked=True)


def folded(data: bytes, prose: str, known: tuple[str, ...] = (), promised: tuple[int, ...] = (), **memory: int):
    """(path, Chronicle, state) of a fold that goes all the way."""
    stretch = stretch_of(data, **memory)
    path, chronicle = chronicles.compose(stretch, prose, list(known), set(promised))
    assert chronicles.holds(chronicle, path, stretch)
    return path, chronicle, chronicles.without(data, stretch.lines)


def facts_of(chronicle: bytes) -> list[str]:
    return [line for line in documents.parse(chronicle, "c.md").lines("Facts") if line.startswith("- ")]


def test_a_fold_covers_exactly_the_oldest_lines_and_keeps_the_newest():
    data = state("a", "b", "c", "d", "e")
    path, chronicle, rest = folded(data, "All of it.")
    document = documents.parse(chronicle, path)
    assert path == "chronicles/0001-t0001-t0003.md"
    assert document.text("covers") == "T0001-T0003"
    assert [line.turn for line in journal.lines_of(document)] == [1, 2, 3]
    assert rest == b"## Journal\n\n- T0004 d\n- T0005 e\n"
    assert document.sections[-1].heading == "Journal"


def test_a_chronicle_is_sealed_with_the_hash_of_what_is_below_its_front_matter():
    path, chronicle, _ = folded(state("a", "b", "c"), "Told.")
    document = documents.parse(chronicle, path)
    assert document.text("seal") == chronicles.seal_of(document)
    touched = documents.parse(chronicle + b" ", path)
    assert touched.text("seal") != chronicles.seal_of(touched)
    assert not chronicles.holds(chronicle.replace(b"Told.", b"Told!"), path, stretch_of(state("a", "b", "c")))


def test_a_line_the_prose_lost_is_a_fact_word_for_word():
    data = state("Sera found 3 silver keys in the well.", "Rain fell on Saltholm.", "x", "y")
    _, chronicle, _ = folded(data, "In Saltholm the rain fell all day.", ("Sera", "Saltholm"))
    assert facts_of(chronicle) == ["- T0001 Sera found 3 silver keys in the well."]


def test_a_promise_is_always_a_fact():
    data = state("Valen promised Sera the ledger.", "Rain fell.", "Valen walked.", "x", "y")
    prose = "Valen promised Sera the ledger. Rain fell. Valen walked."
    _, chronicle, _ = folded(data, prose, ("Valen", "Sera"), promised=(3,))
    assert facts_of(chronicle) == ["- T0001 Valen promised Sera the ledger.", "- T0003 Valen walked."]


def test_without_a_model_the_chronicle_is_made_of_the_journals_own_lines():
    data = state("We met at the inn", "Marta lied!", "x", "y")
    stretch = stretch_of(data)
    prose = chronicles.own_words(stretch)
    assert prose == "We met at the inn. Marta lied!"
    _, chronicle, _ = folded(data, prose)
    assert facts_of(chronicle) == []
    assert b"All of it is told above." in chronicle


def test_a_line_the_writer_changed_meanwhile_stays_in_the_journal():
    data = state("a", "b", "c", "d")
    stretch = stretch_of(data)
    edited = data.replace(b"- T0001 a", b"- T0001 a, by hand")
    assert chronicles.without(edited, stretch.lines) == b"## Journal\n\n- T0001 a, by hand\n- T0003 c\n- T0004 d\n"


def test_a_note_the_writer_adds_meanwhile_keeps_its_line_in_the_journal():
    data = state("a", "b", "c", "d")
    stretch = stretch_of(data)
    edited = data.replace(b"- T0001 a\n", b"- T0001 a\n  new thought\n")
    assert b"- T0001 a\n  new thought\n" in chronicles.without(edited, stretch.lines)


def test_notes_under_a_line_travel_with_it():
    data = state("a", "b", "c").replace(b"- T0001 a\n", b"- T0001 a\n  - note \xff\n\n  more\n")
    path, chronicle, rest = folded(data, "Told.", keep_lines=2)
    assert b"- T0001 a\n  - note \xff\n\n  more\n" in chronicle
    assert b"note" not in rest
    assert facts_of(chronicle) == ["- T0001 a"]
    assert path == "chronicles/0001-t0001-t0001.md"


def test_a_crlf_state_is_folded_and_keeps_its_line_ends():
    data = state("a", "b", "c", "d").replace(b"\n", b"\r\n")
    _, chronicle, rest = folded(data, "Told.")
    assert b"\r" not in chronicle
    assert rest == b"## Journal\r\n\r\n- T0003 c\r\n- T0004 d\r\n"


def test_the_writers_headings_in_the_journal_stay_and_stop_no_fold():
    data = b"## Journal\n### Day one\n- T0001 a\n- T0002 b\n   ### Day two\nprose\n- T0003 c\n- T0004 d\n"
    _, chronicle, rest = folded(data, "Told.")
    assert rest == b"## Journal\n### Day one\n   ### Day two\nprose\n- T0003 c\n- T0004 d\n"
    assert b"Day" not in chronicle


@pytest.mark.parametrize(
    "note",
    [
        "```",
        "---",
        "===",
        "> quote",
        "<!--",
        "| a |",
        "- T12 x",
        "    # code",
        "#tag",
        "\tx",
        "* * *",
    ],
)
def test_a_note_that_looks_like_structure_stops_no_fold(note):
    data = state("a", "b", "c", "d").replace(b"- T0001 a\n", f"- T0001 a\n{note}\n".encode())
    _, chronicle, rest = folded(data, "Told.")
    assert [line.turn for line in journal.lines_of(documents.parse(rest, PATH))] == [3, 4]
    assert f"- T0001 a\n{note}\n- T0002 b\n".encode() in chronicle


def test_a_code_fence_that_a_fold_cuts_in_two_stops_no_fold():
    data = b"## Journal\n- T0001 a\n```\n### in code\n- T0002 b\n```\n- T0003 c\n- T0004 d\n"
    path, chronicle = chronicles.compose(stretch := stretch_of(data, keep_lines=3), "Told.", [])
    assert chronicles.holds(chronicle, path, stretch)


LINE = (
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
    .map(lambda t: " ".join(t.split()))
    .filter(bool)
)
SMUGGLED = st.sampled_from(
    ["# Secret", "## Journal", "- T0099 x", "```", "~~~", "---", "name: x", "--", "-", "===", "Facts\n--", "> q", ""]
)


@bounded
@given(st.lists(LINE, min_size=3, max_size=8), st.lists(st.one_of(SMUGGLED, LINE), max_size=8))
def test_whatever_was_told_every_line_stands_exactly_once_after_a_fold(texts, prose):
    data = state(*texts)
    path, chronicle, rest = folded(data, "\n".join(prose))
    document = documents.parse(chronicle, path)
    before = [line.raw for line in journal.lines_of(documents.parse(data, PATH))]
    after = [line.raw for line in (*journal.lines_of(document), *journal.lines_of(documents.parse(rest, PATH)))]
    assert after == before
    assert [s.heading for s in document.sections] == ["", "Facts", "Journal"]
    assert list(document.fields) == ["name", "kind", "covers", "seal"]


@bounded
@given(st.lists(LINE, min_size=3, max_size=12))
def test_the_model_free_chronicle_reads_back_whatever_the_lines(texts):
    data = state(*texts)
    stretch = stretch_of(data)
    path, chronicle, _ = folded(data, chronicles.own_words(stretch))
    assert [s.heading for s in documents.parse(chronicle, path).sections] == ["", "Facts", "Journal"]
    assert clean_prose(chronicles.own_words(stretch)) == chronicles.own_words(stretch)


# -- when to fold --------------------------------------------------------------------------------------------------------


def planned(data: bytes, **options: bool) -> str | None:
    stretch = chronicles.plan_fold(documents.parse(data, PATH), [(4, "chronicles/0004-x.md")], MEMORY, **options)
    return f"{stretch.number} {stretch.covers}" if stretch else None


def test_the_fold_line_is_not_the_cap():
    assert planned(state(*["x" * 90] * 3)) is None
    assert planned(state(*["x" * 90] * 4)) == "5 T0001-T0002"
    assert planned(state(*["x"] * 4)) is None
    assert planned(state(*["x"] * 4), asked=True) == "5 T0001-T0002"
    assert planned(state("x", "y"), asked=True) is None


def test_one_line_is_folded_only_past_the_cap():
    assert planned(state("x" * 400, "y", "z")) is None
    assert planned(state("x" * 900, "y", "z")) == "5 T0001-T0001"
    assert planned(state("x" * 900, "y")) == "5 T0001-T0001"
    assert planned(state("x" * 2000)) is None


def test_lines_out_of_order_are_covered_by_their_lowest_and_highest_turn():
    data = b"## Journal\n- T0002 b\n- T0001 a\n- T0003 c\n- T0004 d\n"
    path, chronicle, _ = folded(data, "Told.")
    assert chronicles.covers_of(documents.parse(chronicle, path)) == (1, 2)


@pytest.mark.parametrize(
    ("said", "turns"), [("T0001-T0031", (1, 31)), ("T0007", (7, 7)), ("T0001 – T12345", (1, 12345))]
)
def test_covers_is_a_stretch_of_turns(said, turns):
    assert chronicles.covers_of(documents.parse(f"---\ncovers: {said}\n---\n".encode(), "c.md")) == turns


@pytest.mark.parametrize("said", ["", "T1-T2", "T0001-", "x", "[T0001]"])
def test_a_covers_that_says_something_else_is_refused_with_its_line(said):
    with pytest.raises(Malformed) as refused:
        chronicles.covers_of(documents.parse(f"---\nname: x\ncovers: {said}\n---\n".encode(), "c.md"))
    assert refused.value.line == 3


def test_a_conflict_copy_of_a_chronicle_is_no_chronicle(tmp_path):
    campaign = template.new(tmp_path / "c")
    (campaign.root / "chronicles").mkdir()
    for name in (
        "0001-a.md",
        "0002-b.md",
        "0002-b (Ann's conflicted copy 2026-01-01).md",
        "0003-c.sync-conflict-20260101.md",
    ):
        (campaign.root / "chronicles" / name).write_bytes(b"---\ncovers: T0001-T0002\n---\n")
    assert [path for _, path in chronicles.paths(campaign)] == ["chronicles/0001-a.md", "chronicles/0002-b.md"]
    assert chronicles.last_covered(campaign) == 2
