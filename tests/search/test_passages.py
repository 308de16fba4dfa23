"""From files to passages."""

from __future__ import annotations

import unicodedata

import pytest

from rolecall.search.passages import LONGEST, FilePassages, Ref, passages_of

VALEN = b"""---
name: Valen
kind: character
aliases: [Valen the Shadow]
location: Northern Wastes
keys: [shadow, exile]
relationships:
  - {with: Sera, nature: romantic_tension, secret: canary loves}
  - {with: Shadow Guild, nature: former_member}
secret: He sold the Gannet's canary route to [[Varr]].
---
Former [[Shadow Guild|guild]] operative.

## History
- T0003 Met the party at The Broken Anchor.

### Secret
canary hidden

#### Deeper
canary deeper

## Ways
Open again.
"""


def open_text(file: FilePassages) -> str:
    return "\n".join(f"{p.heading}\n{p.body}" for p in file.passages if not p.secret)


def test_a_short_entry_is_one_passage_with_its_fields() -> None:
    file = passages_of("characters/valen.md", VALEN)
    first = file.passages[0]
    assert (file.name, file.kind, file.aliases, file.keys) == (
        "Valen",
        "character",
        ("Valen the Shadow",),
        ("shadow", "exile"),
    )
    assert "Former [[Shadow Guild|guild]] operative." in first.body
    assert "location: Northern Wastes" in first.body
    assert "Open again." in first.body
    assert [p.secret for p in file.passages].count(False) == 1


def test_what_is_secret_stands_in_passages_of_its_own() -> None:
    file = passages_of("characters/valen.md", VALEN)
    assert "canary" not in open_text(file)
    hidden = [(p.line, p.body) for p in file.passages if p.secret]
    assert hidden == [
        (7, "canary loves"),
        (10, "He sold the Gannet's canary route to [[Varr]]."),
        (18, "canary hidden"),
        (21, "canary deeper"),
    ]


def test_ties_come_from_fields_and_links_and_know_whether_they_are_secret() -> None:
    assert passages_of("characters/valen.md", VALEN).refs == (
        Ref("location", "Northern Wastes"),
        Ref("relationships", "Sera"),
        Ref("relationships", "Shadow Guild"),
        Ref("secret", "Varr", True),
        Ref("link", "Shadow Guild"),
    )


@pytest.mark.parametrize("path", ["dm/plan.md", "DM/plan.md", "characters/x.md"])
def test_a_secret_file_has_only_secret_passages(path: str) -> None:
    data = b"---\nvisibility: secret\n---\nIntro.\n\n## One\nText.\n"
    file = passages_of(path, data)
    assert file.secret and all(p.secret for p in file.passages)


def test_a_long_entry_is_cut_by_section_and_each_piece_knows_its_line() -> None:
    lines = ["---", "name: Long", "---", "Intro."]
    for number in range(40):
        lines += ["", f"## Part {number}", f"Text of part {number}. " + "word " * 40]
    data = "\r\n".join(lines).encode()
    file = passages_of("lore/long.md", data)
    for passage in file.passages:
        if passage.heading:
            assert f"Text of part {passage.heading.split()[1]}." in data.decode().split("\r\n")[passage.line - 1]
            assert "\r" not in passage.body
    assert [p.heading for p in file.passages if p.heading] == [f"Part {n}" for n in range(40)]
    assert [p.order for p in file.passages] == list(range(len(file.passages)))


def test_no_word_of_a_huge_section_is_lost_and_no_piece_is_huge() -> None:
    text = "\n\n".join(f"Paragraph {n} " + "lorem " * 120 for n in range(150)) + "\n\nuniqueword at the end"
    assert len(text) > 100_000
    file = passages_of("lore/huge.md", text.encode())
    assert "uniqueword" in file.passages[-1].body
    assert max(len(p.body) for p in file.passages) <= LONGEST
    assert sum(p.body.count("lorem") for p in file.passages) == text.count("lorem")


@pytest.mark.parametrize("unit", ["剣", "x", "word "])
def test_one_endless_paragraph_is_cut(unit: str) -> None:
    file = passages_of("lore/endless.md", (unit * 20_000).encode())
    assert max(len(p.body) for p in file.passages) <= LONGEST
    assert sum(p.body.count(unit.strip()) for p in file.passages) == 20_000


def test_an_underlined_heading_takes_two_lines() -> None:
    data = ("Intro.\n\nTitle\n=====\n\nBelow. " + "word " * 400).encode()
    passage = passages_of("lore/x.md", data).passages[-1]
    assert (passage.heading, passage.line) == ("Title", 6)


def test_a_chapter_has_a_passage_for_each_turn() -> None:
    data = b"""---
name: The Gannet
date: 3 Thaw
---
A chapter begins.

## T0007

> I wait.

Rain.

### Later
More rain.

## T0008 (4 Thaw)

Sun.

## Interlude
Between.
"""
    file = passages_of("story/001-the-gannet.md", data)
    assert [(p.turn, p.heading, p.line, p.date) for p in file.passages] == [
        (None, "", 5, ""),
        (7, "T0007", 7, "3 Thaw"),
        (8, "T0008 (4 Thaw)", 16, "3 Thaw"),
        (None, "Interlude", 21, ""),
    ]
    assert "More rain." in file.passages[1].body
    assert file.passages[2].body == "Sun."


def test_a_chronicle_has_a_passage_for_each_paragraph_and_line() -> None:
    data = b"""---
covers: T0001-T0003
seal: abc
---
First paragraph
goes on.

Second paragraph.

## Facts
- Sera owes 30 marks.
- T0002 The mill burned
  to the ground.

## Journal
- T0001 They met.
- T0002 The mill burned.
"""
    file = passages_of("chronicles/0001-start.md", data)
    assert [(p.line, p.heading, p.turn, p.body) for p in file.passages] == [
        (1, "", None, "covers: T0001-T0003"),
        (5, "", None, "First paragraph\ngoes on."),
        (8, "", None, "Second paragraph."),
        (11, "Facts", None, "- Sera owes 30 marks."),
        (12, "Facts", 2, "- T0002 The mill burned\n  to the ground."),
        (16, "Journal", 1, "- T0001 They met."),
        (17, "Journal", 2, "- T0002 The mill burned."),
    ]


def test_the_state_has_a_passage_for_each_promise_and_journal_line() -> None:
    data = (
        b"---\nname: Test\nscene: The quay\n---\n## Party\n- Sera\n\n## Promises\n- [ ] To Sera: bring the ledger\n\n"
        b"## Journal\n- T0041 Marta lied.\n- T0042 They left.\n"
    )
    file = passages_of("campaign-state.md", data)
    assert file.kind == "state"
    assert [(p.heading, p.turn) for p in file.passages] == [
        ("", None),
        ("Party", None),
        ("Promises", None),
        ("Journal", 41),
        ("Journal", 42),
    ]


def test_the_truth_of_an_arc_is_a_secret_passage() -> None:
    data = b"---\nname: The well\nquestion: Who?\ntruth: canary did\n---\n\n## Trail\n- T0001 Iron.\n"
    file = passages_of("arcs/the-well.md", data)
    assert "canary" not in open_text(file)
    assert [p.body for p in file.passages if p.secret] == ["canary did"]


@pytest.mark.parametrize(
    "data",
    [
        b"---\nname: [unclosed\n---\nbody canary\n",
        b"---\nname: X\nname: Y\n---\nbody canary\n",
        b"---\nname: X\nbody canary\n",
        b"---\n\xff\xfe: x\n---\nbody canary\n",
    ],
)
def test_a_file_with_broken_front_matter_is_one_secret_passage_with_its_reason(data: bytes) -> None:
    file = passages_of("characters/x.md", data)
    assert file.broken.startswith("characters/x.md:")
    assert file.secret and all(p.secret for p in file.passages)
    assert "body canary" in file.passages[0].body


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf---\nname: Bom\n---\nBody.",
        b"plain \xff\xfe bytes and word",
        b"nul \x00 inside",
        b"---\nname:\n---\n",
        b"# Only a heading",
        "## \u2028\u0085odd\n".encode(),
        b"```\n## not a heading\n",
    ],
)
def test_odd_bytes_give_passages_and_no_error(data: bytes) -> None:
    file = passages_of("lore/odd.md", data)
    assert file.passages and not file.broken and file.name


def test_a_byte_order_mark_hides_nothing() -> None:
    assert passages_of("lore/odd.md", b"\xef\xbb\xbf---\nname: Bom\nsecret: canary\n---\nBody.").name == "Bom"


def test_text_and_names_are_in_composed_form() -> None:
    data = unicodedata.normalize("NFD", "---\nname: Éowyn\naliases: [Dernhélm]\n---\nDer Tür.\n").encode()
    file = passages_of("characters/eowyn.md", data)
    assert (file.name, file.aliases) == ("Éowyn", ("Dernhélm",))
    assert "Tür" in file.passages[0].body
    assert passages_of(unicodedata.normalize("NFD", "lore/Éire.md"), b"x").name == "Éire"


def test_forgotten_and_pinned_are_known() -> None:
    file = passages_of("lore/x.md", b"---\npinned: true\nforgotten: T0042 gone\n---\nx\n")
    assert file.pinned and file.forgotten == "T0042 gone"


def test_pieces_name_their_lines_however_many_there_are() -> None:
    rows = [f"row {n} " + "word " * 60 for n in range(400)]
    file = passages_of("lore/long.md", ("---\nname: Long\n---\n\n" + "\n\n".join(rows) + "\n").encode())
    assert len(file.passages) > 50
    lines = ["", "---", "name: Long", "---", "", *(line for row in rows for line in (row, ""))]
    for passage in file.passages:
        first = passage.body.split("\n", 1)[0].strip()
        assert lines[passage.line].strip() == first, "the line is where its piece begins"


def test_of_many_headings_those_under_a_secret_one_are_hidden() -> None:
    parts = [
        f"## {'Secret' if n % 3 == 0 else f'Part {n}'}\n\nword{n} {'x' * 300}\n\n### Below {n}\n\nunder{n}\n"
        for n in range(60)
    ]
    file = passages_of("lore/many.md", ("---\nname: Many\n---\n" + "\n".join(parts)).encode())
    opened = " ".join(p.body for p in file.passages if not p.secret)
    hidden = " ".join(p.body for p in file.passages if p.secret)
    for n in range(60):
        told, other = (hidden, opened) if n % 3 == 0 else (opened, hidden)
        assert f"word{n} " in told and f"under{n}" in told.split()
        assert f"word{n} " not in other and f"under{n}" not in other.split()
