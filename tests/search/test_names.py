"""Names in running text."""

from __future__ import annotations

import unicodedata

import pytest

from rolecall.search.analysis import Analyzer
from rolecall.search.index import language_tools
from rolecall.search.names import Name, NameTable, did_you_mean


def table(*names: str | Name) -> NameTable:
    made = [name if isinstance(name, Name) else Name(f"{name}.md", name) for name in names]
    return NameTable(made, Analyzer(*language_tools("en")))


def found(names: NameTable, text: str, **options: bool) -> list[str]:
    return [m.name for m in names.mentions(text, **options)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Valen", "VALEN laughed"),
        ("Valen", "that was Valen's horse"),
        ("Valen", "that was Valen’s horse"),
        ("Ka'el", "then Ka’el left"),
        ("Ka’el", "then kael left"),
        ("Sera's Locket", "she opened Sera’s locket."),
        ("The Broken Anchor", "at the broken   anchor, late"),
        ("Éowyn", unicodedata.normalize("NFD", "with Éowyn, alone")),
        (unicodedata.normalize("NFD", "Éowyn"), "with Éowyn, alone"),
        ("Вален", "и Вален вошёл"),
        ("王小明", "昨天王小明走进了酒馆"),
        ("カエル", "勇者カエルは剣を抜いた"),
        ("สมชาย", "วันนี้สมชายเดินเข้ามา"),
        ("वालेन", "फिर वालेन आया"),
        ("Kael", "Kaelは剣を抜いた"),
        ("Jean-Luc", "said jean luc to them"),
    ],
)
def test_a_name_is_found_in_running_text(name: str, text: str) -> None:
    assert found(table(name), text) == [name]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Ann", "Anna and Hannah spoke"),
        ("Valen", "the equivalence of it"),
        ("Broken Anchor", "the broken chain and the anchor"),
        ("王小明", "王 小 明"),
        ("Ser", "Sera's ledger"),
        ("X", "x marks the spot"),
    ],
)
def test_a_part_of_a_word_is_no_mention(name: str, text: str) -> None:
    assert found(table(name), text) == []


def test_the_longest_name_wins_and_nothing_is_found_inside_it() -> None:
    names = table("Sera", "Sera Vane", "Vane", "The Guild of Sera Vane")
    text = "Sera met Sera Vane of the guild of sera vane, and Vane"
    assert found(names, text) == ["Sera", "Sera Vane", "The Guild of Sera Vane", "Vane"]


def test_a_mention_says_where_it_stands() -> None:
    text = "“Ka’el’s gone,” said Sera."
    mentions = table("Ka'el", "Sera").mentions(text)
    assert [text[m.start : m.end] for m in mentions] == ["Ka’el’s", "Sera"]
    assert [m.path for m in mentions] == ["Ka'el.md", "Sera.md"]


def test_two_entries_of_one_name_are_both_found() -> None:
    names = table(Name("a.md", "Rook"), Name("b.md", "rook", alias=True))
    assert [(m.path, m.alias) for m in names.mentions("the Rook")] == [("a.md", False), ("b.md", True)]


def test_a_hidden_name_is_found_only_with_secrets() -> None:
    names = table(Name("dm/x.md", "The Hollow King", hidden=True), "King")
    assert found(names, "the hollow king comes") == ["King"]
    assert found(names, "the hollow king comes", secrets=True) == ["The Hollow King"]


def test_a_name_that_is_a_common_word_counts_only_with_its_capital() -> None:
    names = table("Will")
    assert found(names, "they will see") == []
    assert found(names, "and Will saw it") == ["Will"]


def test_the_lists_of_names_join_only_when_they_cover_most_of_the_question() -> None:
    names = table(Name("well.md", "Saltmere"), Name("v.md", "Valen"), Name("v.md", "The Shadow", alias=True))
    assert names.named("Saltmere") == (["well.md"], [])
    assert names.named("where is Saltmere?") == (["well.md"], [])
    assert names.named("the shadow") == ([], ["v.md"])
    assert names.named("Valen, the Shadow") == (["v.md"], [])
    assert names.named("who poisoned the old well of Saltmere with iron") == ([], [])
    assert names.named("") == ([], [])
    assert table("The Who").named("the who") == (["The Who.md"], [])
    assert table("Who poisoned the well").named("who poisoned the bread and the salt of the mill") == ([], [])


def test_a_wrong_name_suggests_the_like() -> None:
    known = ["Valen", "Sera Vane", "The Broken Anchor", "Marta"]
    assert did_you_mean("valin", known)[0] == "Valen"
    assert did_you_mean("brokn anchor", known)[0] == "The Broken Anchor"
    assert did_you_mean("qqqq", known) == []
