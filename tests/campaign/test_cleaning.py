"""Text from models, players and imports: harmless to terminals, files and every later reader, and otherwise itself."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.campaign import documents, journal, story
from rolecall.campaign.text import blemishes, clean, clean_line, clean_prose, fold, slug
from tests.campaign.writing import bounded

every = st.text(st.characters(), max_size=80)  # lone surrogates included
hostile = st.lists(
    st.one_of(
        st.sampled_from(["\x1b[31m", "\x1b]0;t\x07", "\x1b]8;;x", "\x9b1m", "\x00", "\x7f", "\ud800", "\u202e", "\ufeff", "\r\n", "\r", "\u2028",
                         "\n", "# ", "## T0001", "---", "--", "-", "===", "```", "~~~", "- T0042 x", "...", "    ", "\t", "\u00a0", "\u3000", "\u1fef" * 3]),
        st.text(max_size=8),
    ),
    max_size=12,
).map("".join)  # fmt: skip


@bounded
@given(st.one_of(every, hostile))
def test_clean_text_can_be_written_and_shown(text):
    cleaned = clean(text)
    cleaned.encode()
    assert blemishes(cleaned) == []
    assert not any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in cleaned)
    assert not any(c in cleaned for c in "\u2028\u2029\u202e\u2066\ufeff")
    assert unicodedata.is_normalized("NFC", cleaned)
    assert clean(cleaned) == cleaned


@bounded
@given(st.one_of(every, hostile))
def test_cleaned_prose_holds_no_structure_and_cleaning_it_again_changes_nothing(text):
    prose = clean_prose(text)
    assert clean_prose(prose) == prose
    for data in (prose.encode(), b"Above\n" + prose.encode() + b"\nBelow\n", b"## T0001\n\n" + prose.encode()):
        document = documents.parse(data, "story/001-a.md")
        assert document.block is None
        assert [s.heading for s in document.sections if s.level] == (["T0001"] if data.startswith(b"##") else [])
    read = documents.parse(f"## Journal\n{prose}\n".encode(), "s.md")
    assert journal.lines_of(read) == ()
    assert story.split(story.section(1, "act", prose).split("\n\n", 1)[1]) == ("act", prose)


@bounded
@given(st.one_of(every, hostile))
def test_a_clean_line_is_one_line(text):
    line = clean_line(text)
    assert len(line.split("\n")) == 1 and line == line.strip() and len(line) <= 2000
    assert clean_line(line) == line


def test_a_long_line_is_cut_at_a_word_with_an_ellipsis():
    assert clean_line("word " * 100, 23) == "word word word word…"
    assert len(clean_line("x" * 5000)) == 2000


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("red \x1b[1;31mword\x1b[0m", "red word"),
        ("\x1b]0;title\x07story", "story"),
        ("\x1b]0;no end\nthe story goes on", "\nthe story goes on"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("half \ud83d smile", "half  smile"),
        ("E\u0301owyn 🐉 日本語 ไทย", "Éowyn 🐉 日本語 ไทย"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_what_is_taken_out_is_only_what_harms(text, cleaned):
    assert clean(text) == cleaned


def test_blemishes_are_told_in_words():
    assert blemishes("\x1b[1m\ud800\u202e\x00") == [
        "terminal escapes", "lone surrogates", "direction overrides", "control characters",
    ]  # fmt: skip
    assert blemishes("Plain, with\nlines and a tab\t.") == []


@pytest.mark.parametrize(
    ("prose", "written"),
    [
        ("# Secret\ntext", "\\# Secret\ntext"),
        ("Secret\n--\ntext", "Secret\n* * *\ntext"),
        ("Secret\n-\ntext", "Secret\n* * *\ntext"),
        ("Secret\n= =\n===", "Secret\n* * *\n* * *"),
        ("```\ncode\n```", "\\```\ncode\n\\```"),
        ("- T0042 x", "\\- T0042 x"),
        ("a\n\n\n\nb  \n", "a\n\nb"),
        ("She said #hope - and left.", "She said #hope - and left."),
        ("- one\n- two", "- one\n- two"),
        ("    # Secret\ntext", "\\# Secret\ntext"),
        ("Secret\n---\u00a0\ntext", "Secret\n* * *\ntext"),
    ],
)
def test_structure_in_prose_is_escaped_and_prose_is_left_alone(prose, written):
    assert clean_prose(prose) == written


@bounded
@given(every, st.text(max_size=200))
def test_any_title_gives_a_usable_file_name(text, longer):
    for title in (text, longer):
        stem = slug(title)
        assert stem and len(stem) <= 60 and len(stem.encode()) <= 200
        assert not set(stem) & set('/\\:*?"<>|\0. \n') and not stem.startswith("-")
        assert slug(stem) == stem


@pytest.mark.parametrize(
    ("title", "stem"),
    [("The Well-Keeper's Boy", "the-well-keepers-boy"), ("CON", "con-1"), ("...", "untitled"), ("Éowyn", "éowyn"), ("E\u0301owyn", "éowyn"), ("日本 語", "日本-語"), ("../../etc/passwd", "etc-passwd"), ("🐉", "untitled"), ("กำ", "กำ")],
)  # fmt: skip
def test_a_slug_is_readable_in_every_script(title, stem):
    assert slug(title) == unicodedata.normalize("NFC", stem)


def test_two_spellings_of_a_name_fold_to_one():
    assert fold("E\u0301owyn") == fold("ÉOWYN ")
    assert fold("Ka’el") == fold("KA'EL")
    assert fold("Brothers  in\nArms") == fold("brothers in arms")
