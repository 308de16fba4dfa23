"""Headings and sections as Markdown has them, and what grows under them."""

from __future__ import annotations

import pytest

from rolecall.campaign import documents
from rolecall.errors import Unclear

PATH = "lore/note.md"


def headings(text: str) -> list[tuple[int, str]]:
    return [(s.level, s.heading) for s in documents.parse(text.encode(), PATH).sections if s.level]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A\n## B ##\n###\tC\n", [(1, "A"), (2, "B"), (3, "C")]),
        ("   ## indented\n    ## code\n", [(2, "indented")]),
        ("##no space\n#tag\n\\## escaped\n#######  seven\n", []),
        ("One\n===\nTwo\n---\nThree\n-\n", [(1, "One"), (2, "Two"), (2, "Three")]),
        ("**Secret**\n---\n", [(2, "**Secret**")]),
        ("#tag\n---\n", [(2, "#tag")]),
        ("- item\n---\n", []),
        ("- item\nstill the item\n---\n", []),
        ("- item\n\nits own paragraph\n---\n", [(2, "its own paragraph")]),
        ("> quote\nlazy\n===\n", []),
        ("* * *\nafter a rule\n---\n", [(2, "after a rule")]),
        ("| a |\n---\n", []),
        ("\n---\ntext\n", []),
        ("```\n## in code\n```\n## after\n", [(2, "after")]),
        ("~~~ `x`\n## in code\n~~~~\n## after\n", [(2, "after")]),
        ("```\n## an open fence hides nothing\n", [(2, "an open fence hides nothing")]),
        ("``` not ` a fence\n## seen\n```\n", [(2, "seen")]),
        ("## A\r\n\r\nText\r\n===\r\n", [(2, "A"), (1, "Text")]),
        ("## Ünïcode 日本 🐉\n", [(2, "Ünïcode 日本 🐉")]),
        ("##\n", [(2, "")]),
    ],
)  # fmt: skip
def test_headings_are_those_of_markdown(text, found):
    assert headings(text) == found


def test_a_section_runs_to_the_next_heading_of_its_level_nested_ones_included():
    document = documents.parse(b"intro\n## A\na\n### A1\na1\n## B\nb\n# C\n", PATH)
    section = document.section("a")
    assert document.data[section.start : section.end] == b"## A\na\n### A1\na1\n"
    assert section.text == "a\n"
    assert document.lines("A") == ["a", "### A1", "a1"]
    assert document.sections[0].text == "intro\n"


def test_lines_are_counted_from_the_top_of_the_file_underlined_headings_included():
    document = documents.parse(b"---\na: 1\n---\nText\n\nUnder\n=====\nfirst\n", PATH)
    section = document.section("Under")
    assert (section.line, section.body_line) == (6, 8)


def test_only_a_newline_ends_a_line():
    assert documents.parse("## A\nx\u2028y\u0085z\x0c!\r\n".encode(), PATH).lines("A") == ["x\u2028y\u0085z\x0c!"]


def test_two_sections_of_one_heading_are_refused_with_both_lines():
    data = b"## Trail\n- a\n## trail ##\n- b\n"
    for edit in (documents.append_to_section, documents.insert_on_top):
        with pytest.raises(Unclear) as refused:
            edit(data, PATH, "Trail", "- x")
        assert refused.value.line == 3 and "first on line 1" in refused.value.what


def test_a_missing_section_is_an_error_unless_it_may_be_made():
    with pytest.raises(Unclear, match="there is no section `History`"):
        documents.append_to_section(b"Text", PATH, "History", "- x")
    assert documents.append_to_section(b"Text", PATH, "History", "- x", create=2) == b"Text\n\n## History\n\n- x\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## A\n- a\n\n\n## B\n", "## A\n- a\n- x\n\n\n## B\n"),
        ("## A\n\n## B\n", "## A\n\n- x\n\n## B\n"),
        ("## A\n## B\n", "## A\n\n- x\n\n## B\n"),
        ("## A", "## A\n\n- x\n"),
        ("## A\n- a", "## A\n- a\n- x\n"),
        ("## A\n- a\n## B\n", "## A\n- a\n- x\n## B\n"),
        ("## A\n- a\nB\n---\n", "## A\n- a\nB\n---\n- x\n"),  # `B` goes on with the item: it is no heading
        ("## A\ntext\n\n- a\n\nB\n---\n", "## A\ntext\n\n- a\n- x\n\nB\n---\n"),
        ("## A\n### A1\n- a\n## B\n", "## A\n### A1\n- a\n- x\n## B\n"),
        ("## A\n```\n## no\n```\n## B\n", "## A\n```\n## no\n```\n- x\n## B\n"),
        ("## A\r\n- a\r\n", "## A\r\n- a\r\n- x\r\n"),
        ("## A\n----\nB\n---\n", "## A\n----\n- x\n\nB\n---\n"),
    ],
)  # fmt: skip
def test_a_line_is_appended_behind_the_last_text_of_its_section(before, after):
    assert documents.append_to_section(before.encode(), PATH, "A", "- x") == after.encode()


def test_what_is_appended_stays_outside_the_secret_sections_at_the_end():
    data = b"## History\n- T0001 a\n\n### Secrets\n- he lied\n#### Deeper\nworse\n## Next\n"
    assert documents.append_to_section(data, PATH, "History", "- T0002 b") == data.replace(
        b"- T0001 a\n", b"- T0001 a\n- T0002 b\n"
    )
    assert documents.append_to_section(data, PATH, "Secrets", "- more") == data.replace(b"worse\n", b"worse\n- more\n")
    inside = b"## History\n### GM only\nx\n### Later\n- T0001 a\n"
    assert documents.append_to_section(inside, PATH, "History", "- T0002 b") == inside + b"- T0002 b\n"


def test_the_newest_line_of_a_trail_is_put_above_the_others():
    data = b"## Trail\nNewest first.\n\n* T0002 b\n* T0001 a\n"
    assert documents.insert_on_top(data, PATH, "Trail", "- T0003 c") == data.replace(b"* T0002", b"- T0003 c\n* T0002")
    assert documents.insert_on_top(b"", PATH, "Trail", "- x", create=2) == b"## Trail\n\n- x\n"
