"""Text and query meet in the same terms."""

from __future__ import annotations

import unicodedata

import pytest

from rolecall.search.analysis import Analyzer, fold, words
from rolecall.search.index import language_tools


@pytest.fixture(scope="module")
def english() -> Analyzer:
    return Analyzer(*language_tools("en"))


def meets(analyzer: Analyzer, text: str, query: str) -> bool:
    """Whether every term of the query stands in the text."""
    counts = analyzer.counts(text)
    asked = analyzer.ask(query)
    return bool(asked) and all(term in counts for term in asked)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Ka'el drew his blade", "kael"),
        ("Ka’el drew his blade", "ka'el"),
        ("Kael drew his blade", "Ka’el"),
        ("Sera’s ledger", "sera"),
        ("Sera's ledger", "SERA LEDGER"),
        ("the homme said l'homme est mort", "homme"),
        ("D'Artagnan rides", "artagnan"),
        ("Éowyn of the mark", "eowyn"),
        ("Eowyn of the mark", "Éowyn"),
        (unicodedata.normalize("NFD", "Éowyn of the mark"), "Éowyn"),
        ("Éowyn of the mark", unicodedata.normalize("NFD", "éowyn")),
        ("Straße nach Norden", "STRASSE"),
        ("romantic_tension between them", "romantic tension"),
        ("they were walking home", "walked"),
        ("the well-keeper's boy", "well keeper"),
        ("Łukasz and Øyvind", "lukasz oyvind"),
    ],
)
def test_a_word_is_found_however_it_is_spelled(english: Analyzer, text: str, query: str) -> None:
    assert meets(english, text, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Вален вошёл в таверну", "таверну"),
        ("カエルは剣を抜いた", "剣"),
        ("勇者カエルは剣を抜いた", "カエル"),
        ("王小明走进了酒馆", "酒馆"),
        ("카엘은 검을 뽑았다", "카엘"),
        ("สมชายเดินเข้าไปในโรงเตี๊ยม", "สมชาย"),
        ("ຂ້ອຍຮັກເຈົ້າ", "ຮັກ"),
        ("ព្រះរាជា", "រាជា"),
        ("မြန်မာနိုင်ငံ", "နိုင်ငံ"),
        ("वालेन सराय में आया", "सराय"),
        ("דוד הלך הביתה", "הביתה"),
        ("ذهب سعيد إلى البيت", "البيت"),
        ("Ο Βάλεν μπήκε στην ταβέρνα", "ταβέρνα"),
    ],
)
def test_every_script_is_searchable(english: Analyzer, text: str, query: str) -> None:
    assert meets(english, text, query)


def test_combining_marks_stay_inside_their_word(english: Analyzer) -> None:
    assert [w.text for w in words("हिन्दी भाषा")] == ["हिन्दी", "भाषा"]
    assert not meets(english, "हिन्दी भाषा", "हि")


def test_a_script_without_spaces_next_to_latin_is_cut_where_it_changes(english: Analyzer) -> None:
    assert meets(english, "Kaelは剣を抜いた", "kael")
    assert meets(english, "Kaelは剣を抜いた", "剣")


def test_question_words_are_dropped(english: Analyzer) -> None:
    assert english.ask("Who was it that poisoned the well?") == english.ask("poisoned well")


@pytest.mark.parametrize("query", ["who is it", "The Who", "to be or not to be", "was wird"])
def test_a_query_of_stop_words_alone_asks_for_them(english: Analyzer, query: str) -> None:
    assert meets(english, f"and then {query} indeed", query)


@pytest.mark.parametrize("query", ["", "   ", "?!", "'", "’’", "_", "-- --", "\0"])
def test_a_query_without_words_asks_for_nothing(english: Analyzer, query: str) -> None:
    assert english.ask(query) == []


@pytest.mark.parametrize(
    ("language", "text", "query"),
    [
        ("de", "die vergifteten Brunnen", "vergifteter Brunnen"),
        ("fr", "les portes fermées", "porte fermée"),
        ("ru", "закрытые двери", "закрытая дверь"),
        ("es", "las puertas cerradas", "puerta cerrada"),
        ("de-AT", "die Häuser", "haus"),
        ("english", "walking", "walked"),
    ],
)
def test_the_language_of_the_campaign_picks_the_stemmer(language: str, text: str, query: str) -> None:
    assert meets(Analyzer(*language_tools(language)), text, query)


def test_a_language_nobody_knows_still_finds_words_as_written() -> None:
    stem, stops = language_tools("tlh")
    assert stem is None and stops == frozenset()
    assert meets(Analyzer(stem, stops), "Qapla' batlh", "qapla batlh")


def test_words_stand_where_they_say() -> None:
    text = "“Ka’el’s here,” said 王小明 — twice."
    found = list(words(text))
    assert [text[w.start : w.end] for w in found] == ["Ka’el’s", "here", "said", "王", "小", "明", "twice"]
    assert (found[0].text, found[0].stem) == ("kaels", "kael")


def test_folding_is_stable() -> None:
    for text in ("ẞÉ’İ", "ǅungla", "ᾳ", "Ω"):
        assert fold(fold(text)) == fold(text)
