"""The quick reader of plain front matter never reads a block otherwise than the YAML parsers do, and takes the usual ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecall.campaign import frontmatter, plainblock

USUAL = [
    "name: Valen\nkind: character\naliases: [Valen the Shadow, 'The Wolf', \"Old V.\"]\nstatus: injured, hiding\n",
    "relationships:\n  - {with: Sera, nature: romantic_tension, status: complicated}\n  - {with: Shadow Guild}\nlocation: x\n",
    "# a comment\nname: A\ntags:\n- one\n- two words\n\nempty:\nlast: T0041 Marta lied about the ledger.\n",
    "format: 1\nmodels:\n  default: anthropic/claude\n  narrator: [openai/a, local/b]\ngit: off\n",
    "date: 1492-13-01\ntime: 12:30\ncovers: T0001-T0025\nseal: 9f86d081884c7d659a2feaa0c55ad015\nname: Éowyn und Jörg\n",
    "имя: Вален\n",
    "key:",
]

# Pieces that mean something to YAML beside words that mean nothing.
PIECES = [
    *(
        "name",
        "a",
        "x y",
        "T0003",
        "12:30",
        "no",
        "1,200",
        "é",
        "имя",
        "竜",
        "-5",
        "- ",
        "-",
        "--",
        "---",
        "...",
        ": ",
        ":",
        " :",
    ),
    *(
        " #",
        "#",
        "# c",
        "[",
        "]",
        "{",
        "}",
        "[[Sera]]",
        ", ",
        ",",
        "'",
        '"',
        "\\",
        "''",
        "'a'",
        '"b"',
        "|",
        ">",
        "|\n  x",
        "&a",
        "*a",
    ),
    *(
        "!t",
        "%",
        "@",
        "`",
        "?",
        "? ",
        "<<",
        "~",
        "=",
        "_",
        " ",
        "  ",
        "    ",
        "\t",
        "\r",
        "\x85",
        "\u2028",
        "\xa0",
        "\ufeff",
        "\U0001f409",
    ),
    *(
        "\n",
        "\n  ",
        "\n  - ",
        "\n- ",
        "\n    ",
        "key: ",
        "with: ",
        "{with: a, n: b}",
        "[a, b]",
        "[a b, ]",
        "{a: 'b'}",
        "\n# c\n",
        "\n\n",
    ),
]
KEYS = st.sampled_from(["name", "a", "two words", "Ü", "_x", "1", "null", "-k", "k ", "a.b", "'q'", "<<"])
VALUES = st.one_of(
    st.sampled_from(
        [
            "",
            " x",
            " [a, b]",
            " {k: v, l: w}",
            " 'q'",
            ' "q"',
            "  y",
            " z ",
            " a:b",
            " a #b",
            " a#b",
            " [[S]]",
            " x # c",
        ]
    ),
    st.lists(st.sampled_from(PIECES), max_size=6).map(lambda parts: " " + "".join(parts)),
    st.text(st.characters(codec="utf-8"), max_size=12).map(lambda text: f" {text}"),
)
LINES = st.builds(
    lambda indent, dash, key, value: f"{indent}{dash}{key}{value}",
    st.sampled_from(["", "", "", " ", "  ", "    "]),
    st.sampled_from(["", "", "- ", "-  ", "-"]),
    st.one_of(st.just(""), KEYS.map(lambda key: f"{key}:")),
    VALUES,
)  # fmt: skip
BLOCKS = st.one_of(
    st.lists(LINES, max_size=6).map("\n".join),
    st.lists(LINES, max_size=6).map(lambda lines: "\n".join([*lines, ""])),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
)


def by_yaml(text: str) -> object:
    try:
        return frontmatter.parse_yaml(text)
    except frontmatter.Fault as fault:
        return fault


@pytest.mark.parametrize("block", USUAL)
def test_what_people_usually_write_needs_no_yaml_parser(block):
    assert plainblock.read(block) == by_yaml(block) is not None


@settings(max_examples=400, deadline=None)
@given(BLOCKS)
def test_a_block_is_read_as_the_yaml_parsers_read_it_or_left_to_them(block):
    plain = plainblock.read(block)
    assert plain is None or plain == by_yaml(block)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(USUAL), st.data())
def test_a_usual_block_with_something_put_in_is_read_the_same_or_left(block, data):
    at = data.draw(st.integers(0, len(block)))
    put = data.draw(st.one_of(st.sampled_from(PIECES), st.characters(codec="utf-8")))
    block = block[:at] + put + block[at:]
    plain = plainblock.read(block)
    assert plain is None or plain == by_yaml(block)
