"""Before something is recorded, it is seen whether the campaign has it already."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.search import titles
from rolecall.search.catalogue import Entry
from rolecall.search.readings import folded
from rolecall.search.twins import Candidate, Content, Twins, near_names, twin_of
from tests.conftest import SHARED
from tests.search.twins import labelled
from tests.search.twins.labelled import known

GRANARY = "The granary of Greywater burned in the night and half the winter grain was lost."
COVE = (
    "A narrow cove below the cliffs east of Greywater, reached by a rope ladder, where contraband is landed at night."
)


def person(name: str, *aliases: str, text: str = "") -> Candidate:
    return Candidate(name, aliases, "character", text)


def found(candidate: Candidate, *things: Candidate) -> str | None:
    """The name of the twin among some things."""
    twin = twin_of(candidate, known({str(number): thing for number, thing in enumerate(things)}))
    return things[int(twin.path)].name if twin else None


# -- the labelled pairs


def test_what_is_found_to_be_one_is_one_and_nine_of_ten_are_found_on_the_half_nobody_tuned_on():
    result = labelled.score(labelled.pairs("held out"))
    assert result.pairs >= 200
    assert result.precision >= 0.98, [str(pair) for pair in result.wrong if not pair.one]
    assert result.recall >= 0.90


def test_the_labelled_pairs_are_many_half_of_them_are_two_things_and_they_are_in_many_scripts():
    pairs = labelled.pairs()
    assert len(pairs) >= 260
    assert sum(not pair.one for pair in pairs) >= len(pairs) / 2
    scripts = Counter(unicodedata.name(c).split()[0] for pair in pairs for c in set(pair.a.name) if c.isalpha())
    for script in (
        "CYRILLIC",
        "GREEK",
        "ARABIC",
        "HEBREW",
        "DEVANAGARI",
        "THAI",
        "CJK",
        "HIRAGANA",
        "KATAKANA",
        "HANGUL",
    ):
        assert scripts[script] >= 3, script


def test_the_halves_are_about_as_large_and_no_pair_is_in_both():
    tuned, held = labelled.pairs("tuned"), labelled.pairs("held out")
    assert len(tuned) + len(held) == len(labelled.pairs())
    assert 0.8 < len(tuned) / len(held) < 1.25
    names = [{(pair.a.name, pair.b.name) for pair in half} for half in (tuned, held)]
    assert names[0].isdisjoint(names[1])


def test_it_does_not_matter_which_of_two_was_there_first():
    different = [str(p) for p in labelled.pairs() if (p.judged() is None) != (p.turned.judged() is None)]
    assert different == []


# -- by name


@pytest.mark.parametrize("name", ["Valen", "valen", "Valen the Shadow", "Valen (Northern Wastes)", "Captain Valen"])
def test_a_name_with_a_title_an_epithet_or_parentheses_is_the_same_name(name):
    assert found(person(name), person("Marta"), person("Valen")) == "Valen"


@pytest.mark.parametrize(
    ("a", "b"), [("Ann", "Anna"), ("Marta", "Martin"), ("Elder Brother", "Younger Brother"), ("Aldric I", "Aldric II")]
)
def test_people_whose_names_are_only_close_are_two(a, b):
    assert found(person(a), person(b)) is None


@pytest.mark.parametrize(
    ("a", "b"), [("The North Gate", "The South Gate"), ("Tower I", "Tower II"), ("Room 3", "Room 4"), ("北门", "南门")]
)
def test_places_that_differ_in_direction_or_number_are_two_even_with_one_text(a, b):
    assert found(Candidate(a, (), "location", COVE), Candidate(b, (), "location", COVE)) is None


@given(st.sampled_from([pair.b.name for pair in labelled.pairs()]))
def test_a_name_is_found_in_capitals_and_in_another_normal_form(name):
    for spelling in (name.upper(), unicodedata.normalize("NFD", name), f"  {name} "):
        assert found(Candidate(spelling, (), "item"), Candidate(name, (), "item")) == name


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(["character", "location", "event", "lore"]))
def test_any_text_may_be_a_name_and_is_one_with_itself_unless_it_is_blank(a, b, kind):
    things = known({"a.md": Candidate(a, (), kind, b, b)})
    twin = twin_of(Candidate(a, (b,), kind, b, b), things)
    assert twin is not None if a.strip() else True
    twin_of(Candidate(b, (a,), kind, a, a), things)
    near_names(b, things)


def test_names_of_signs_alone_are_told_apart():
    assert found(person("!!!"), person("???")) is None
    assert found(person("???"), person("???")) == "???"


def test_a_name_of_endless_length_or_digits_does_no_harm():
    long = Candidate("9" * 20_000, (), "item", "7" * 20_000, "5" * 20_000)
    assert found(long, long, Candidate("Sword", (), "item")) == long.name


def test_a_full_name_and_a_given_name_are_one_when_nobody_else_has_it():
    assert found(person("Marta"), person("Marta Kell"), person("Renn")) == "Marta Kell"
    assert found(person("Marta"), person("Marta Kell"), person("Marta Holt")) is None
    assert found(person("Varr"), person("Captain Varr"), person("Lady Varr")) is None


def test_the_exact_name_goes_before_one_with_something_beside_it():
    assert found(person("Valen"), person("Valen the Shadow"), person("Valen")) == "Valen"


def test_an_alias_of_either_is_a_name_but_a_bare_title_both_have_is_none():
    assert found(person("The Shadow"), person("Valen", "the Shadow")) == "Valen"
    assert found(person("Valen", "the Shadow"), person("The Shadow")) == "The Shadow"
    assert found(person("Joren", "the Captain"), person("Ilse", "The Captain")) is None


def test_the_reason_and_the_certainty_are_said():
    things = known({"v.md": person("Valen", "the Needle"), "b.md": Candidate("Brothers in Arms", (), "organization")})
    exact = twin_of(person("VALEN"), things)
    beside = twin_of(person("Captain Valen"), things)
    alias = twin_of(person("Needle"), things)
    slip = twin_of(Candidate("Brotherss in arms", (), "organization"), things)
    assert [twin.path for twin in (exact, beside, alias, slip)] == ["v.md", "v.md", "v.md", "b.md"]
    assert exact.score == 1 and exact.score > alias.score > beside.score > slip.score > 0
    assert alias.why == "known as the Needle" and slip.why == "written almost as Brothers in Arms"


def test_every_word_of_the_tables_is_spelled_as_names_are_compared():
    before, after = titles.attached()
    tables = (titles.titles(), titles.contrasts(), titles.numbers(), before, after, titles.ARTICLES, titles.LINKS)
    tables += (titles.EPITHET, titles.ALSO, titles.SETTLEMENTS, titles.HOUSES, titles.LAND, titles.SMALL)
    assert [word for table in tables for word in table if folded(word) != word] == []


# -- kinds, dates, withheld entries


def test_a_character_and_a_place_of_one_name_are_two_but_plain_lore_is_either():
    assert found(person("Marin"), Candidate("Marin", (), "location")) is None
    assert found(Candidate("Marin"), Candidate("Marin", (), "location")) == "Marin"
    assert found(person("Marin"), Candidate("Marin", (), "lore"), person("Marin the Pilot")) == "Marin"


@pytest.mark.parametrize(
    ("then", "now", "same"),
    [
        ("1492-03-01", "1492-3-1", True),
        ("12 Frostmoon", "12 Frostmoon 1492", True),
        ("2nd of Reaping, 1492", "1492, Reaping 2", True),
        ("", "1492-03-01", True),
        ("1492-03-01", "1492-01-03", False),
        ("1492-03-03", "1492-03-01", False),
        ("day 12", "day 40", False),
        ("三月初一", "四月初一", False),
    ],
)
def test_two_visits_on_two_dates_stay_two_whatever_is_said_of_them(then, now, same):
    text = "The party came to Greywater, slept at the Broken Anchor and left before the bells."
    first = Candidate("Visit to Greywater", (), "event", text, then)
    assert (found(Candidate("Visit to Greywater", (), "event", text, now), first) is not None) == same
    assert (found(Candidate("The Visit to Greywater", (), "event", text, now), first) is not None) == same


def test_events_told_alike_are_one_only_on_one_date():
    then = Candidate("The Granary Burns", (), "event", GRANARY, "3 Frostmoon")
    told = "In the night the granary of Greywater burned; half of the winter grain was lost."
    assert found(Candidate("Fire in the Granary", (), "event", told, "3 Frostmoon"), then) == then.name
    assert found(Candidate("Fire in the Granary", (), "event", told, "4 Frostmoon"), then) is None
    assert found(Candidate("Fire in the Granary", (), "event", told), then) is None


def test_a_forgotten_entry_is_found_only_where_no_other_is():
    entries = {
        "a.md": Entry("a.md", "1", "character", "Valen", forgotten="T0012 a mistake"),
        "b.md": Entry("b.md", "2", "character", "Valen"),
    }
    assert twin_of(person("Valen"), Twins(entries, lambda _: Content())).path == "b.md"
    del entries["b.md"]
    assert twin_of(person("Valen"), Twins(entries, lambda _: Content())).path == "a.md"


def test_files_that_are_no_things_are_nobodys_twin():
    entries = {
        f"{k}.md": Entry(f"{k}.md", k, k, "Valen")
        for k in ("story", "chronicle", "state", "dm", "instruction", "prose")
    }
    assert twin_of(Candidate("Valen"), Twins(entries, lambda _: Content(GRANARY))) is None


# -- by what is said


def test_a_thing_under_another_name_is_known_by_what_is_said_of_it():
    old = Candidate("The Hidden Cove", (), "location", COVE)
    told = "Narrow cove below the cliffs east of Greywater. Contraband is landed here at night; the only way up is a rope ladder."
    assert found(Candidate("Smugglers' Cove", (), "location", told), old) == old.name
    assert found(Candidate("Smugglers' Cove", (), "item", told), old) is None


def test_an_entry_that_has_grown_is_still_known_by_how_it_begins():
    grown = COVE + "\n\nA boat is hidden in the reeds.\n\n## History\n" + "- T0004 The tide took the ladder.\n" * 40
    assert found(Candidate("Smugglers' Cove", (), "location", COVE), Candidate("Hidden Cove", (), "location", grown))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (
            "Стоит на холме над рекой, и в нём никто не живёт со времён потопа.",
            "Торговка рыбой с дурным нравом и тремя сыновьями из порта.",
        ),
        (
            "灰水镇东边悬崖下面的一个狭窄洞穴，走私者夜里在这里卸货，只能靠绳梯上下。",
            "广场上的一家小店，绿色的门，门上有铃铛，由一家人经营，只卖面包。",
        ),
        (
            "كهف ضيق تحت الجرف شرق البلدة ينزل إليه المهربون بسلم من الحبال ليلا.",
            "حداد من الجبل له ابنتان ويخاف من البحر ولا ينام في الليل.",
        ),
        ("ชาวประมงในเมือง มีลูกสามคน อาศัยอยู่ริมแม่น้ำใกล้ท่าเรือ", "ช่างตีเหล็กบนภูเขา มีลูกสองคน ไม่เคยเห็นทะเลมาก่อน"),
        ("गाँव के बीच का पुराना कुआँ जिसका पानी बाढ़ के बाद से कड़वा है।", "पहाड़ का लोहार जिसकी दो बेटियाँ हैं और जो समुद्र से डरता है।"),
    ],
)
def test_texts_in_any_script_are_not_alike_for_being_in_one_script(a, b):
    one, other = Candidate("Alpha of the Hill", (), "location", a), Candidate("Beta on the Hill", (), "location", b)
    assert found(one, other) is None
    assert found(Candidate("The Alpha Hill House", (), "location", a), one) == one.name


def test_texts_are_read_once_and_only_of_the_kinds_in_question():
    things = {f"{kind}/{n}.md": Candidate(f"{kind} {n}", (), kind, COVE) for kind in ("item", "rule") for n in (1, 2)}
    reads: list[str] = []

    def read(path: str) -> Content:
        reads.append(path)
        return Content(things[path].text)

    twins = Twins(labelled.entries(things), read)
    twin_of(Candidate("item 1", (), "item", GRANARY), twins)
    assert reads == []  # the name was enough
    for _ in range(2):
        twin_of(Candidate("Lantern", (), "item", GRANARY), twins)
    assert reads == ["item/1.md", "item/2.md"]
    entries = labelled.entries(things)
    entries["item/2.md"] = Entry("item/2.md", "changed", "item", "item 2")
    twin_of(Candidate("Lantern", (), "item", GRANARY), Twins(entries, read, twins))
    assert reads == ["item/1.md", "item/2.md", "item/2.md"]


def test_what_has_just_been_recorded_is_known_before_the_catalogue_has_it():
    twins = known({})
    assert twin_of(person("Valen"), twins) is None
    twins.add("characters/valen.md", person("Valen", text=GRANARY))
    assert twin_of(person("Valen the Shadow"), twins).path == "characters/valen.md"


# -- many real names


@pytest.mark.skipif(not (SHARED / "srd5").is_dir(), reason="the rule book is not here")
def test_of_hundreds_of_things_of_a_rule_book_hardly_one_is_taken_for_another():
    twins, wrong = known({}), []
    files = [(kind, path) for kind, folder in (("creature", "Monsters"), ("power", "Spells"), ("item", "Treasure"))
             for path in sorted((SHARED / "srd5" / folder).rglob("*.md")) if not path.name.startswith("#")]  # fmt: skip
    for kind, path in files:
        text = re.sub(r"\A---.*?^---$", "", path.read_text("utf-8"), flags=re.S | re.M)
        thing = Candidate(path.stem, (), kind, text)
        if twin := twin_of(thing, twins):
            wrong.append((path.stem, twin))
        twins.add(str(path), thing)
    assert len(files) > 800
    assert len(wrong) <= 4, wrong


# -- close names


@pytest.mark.parametrize("word", ["Greywatter", "Graywater", "Greywtaer", "Greywatter's"])
def test_an_unknown_word_close_to_one_known_name_is_reported(word):
    things = known({"g.md": Candidate("Greywater", (), "location"), "c.md": Candidate("Carrow", (), "location")})
    assert [(near.path, near.name) for near in near_names(word, things)] == [("g.md", "Greywater")]


@pytest.mark.parametrize(
    "word", ["Greywater", "greywater", "Greywater's", "Sera", "Blackwoods", "Captain Varr", "Varr"]
)
def test_a_known_name_a_word_of_one_and_its_plural_are_not_close_but_known(word):
    things = known({"g.md": Candidate("Greywater"), "s.md": person("Sera Blackwood"), "v.md": person("Captain Varr")})
    assert near_names(word, things) == []


@pytest.mark.parametrize("word", ["Anna", "Maria", "Martin", "Alexander", "Tower II", "Southgate"])
def test_other_names_are_not_close(word):
    things = [person("Ann"), person("Marta"), person("Alexandra"), Candidate("Tower I"), Candidate("Northgate")]
    assert near_names(word, known({str(n): thing for n, thing in enumerate(things)})) == []


def test_a_word_of_a_longer_name_is_close_too_and_every_entry_it_may_be_is_given():
    things = known({"s.md": person("Sera Blackwood"), "h.md": Candidate("Blackwood Hall", (), "location")})
    assert [near.path for near in near_names("Blackwod", things)] == ["h.md", "s.md"]
    assert [near.path for near in near_names("Sera Blackwod", things)] == ["s.md"]
