"""Prose read for what it claims: what is told and what is said, the day it is, and who died."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.campaign import dates, deaths
from rolecall.campaign.narration import BLANK, sentences, without_speech

# -- told and said


@pytest.mark.parametrize(
    ("prose", "told"),
    [
        ('"I was there," says Hob.', "says Hob."),
        ("“I was there,” says Hob.", "says Hob."),
        ("„Ich war da“, sagt Hob.", ", sagt Hob."),
        ("« J'y étais », dit Hob.", ", dit Hob."),
        ("»Ich war da«, sagt Hob.", ", sagt Hob."),
        ("「いた」とホブは言った。", "とホブは言った。"),
        ("‘I wasn’t there,’ says Hob.", "says Hob."),
        ("— Я был там, — сказал Хоб.", "сказал Хоб."),
        ("—Estuve allí —dijo Hob—. No vi nada.", "dijo Hob"),
    ],
)
def test_what_somebody_says_is_blanked_and_who_says_it_stays(prose, told):
    blanked = without_speech(prose)
    assert len(blanked) == len(prose)
    assert "".join(c for c in blanked if c not in BLANK + '"“”„«»「」‘’—').strip(" .") == told.strip(" .")


def test_an_apostrophe_opens_no_speech_and_an_open_mark_ends_with_its_paragraph():
    assert without_speech("Hob's bar is the captain’s too.") == "Hob's bar is the captain’s too."
    assert without_speech('"Go on,\nhe said.\n\nMarta waits.').endswith("\n\nMarta waits.")


def test_a_sentence_keeps_what_is_said_in_it_and_knows_where_it_stands():
    prose = 'Rain. "Stop. Go home," says Dr. Hale, and nods.\n\nThe lamp is out!'
    parts = sentences(prose)
    assert [part.text for part in parts] == ["Rain.", '"Stop. Go home," says Dr. Hale, and nods.', "The lamp is out!"]
    assert all(prose[part.start : part.end] == part.text for part in parts)


@given(st.text(alphabet='ab .!"“”«»‘’—\n「」。', max_size=60))
def test_every_word_of_any_prose_stands_in_exactly_one_sentence(prose):
    parts = sentences(prose)
    assert "".join("".join(part.text.split()) for part in parts) == "".join(prose.split())
    assert len(without_speech(prose)) == len(prose)


# -- the day


@pytest.mark.parametrize(
    ("sentence", "day"),
    [
        ("It is 1492-13-10, and raining.", "1492-13-10"),
        ("On the morning of Day 9 the rain stops.", "Day 9"),
        ("**Day 9**", "Day 9"),
        ("Day 9 dawns wet.", "Day 9"),
        ("It is the ninth of the thirteenth month.", "ninth of the thirteenth month"),
        ("The evening of 9 Frostmoon is still.", "9 Frostmoon"),
        ("On 1492-12-03 she had sailed.", None),
        ("The page of 1492-12-03 is gone.", None),
        ("It had rained since Day 3.", None),
        ("Nine guards stand there.", None),
    ],
)
def test_a_date_is_the_scene_s_own_only_where_it_is_said_to_be(sentence, day):
    found = dates.own_day(sentence)
    assert (found.text if found else None) == day


@pytest.mark.parametrize(
    ("one", "other", "before"),
    [
        ("1492-13-09", "1492-13-10", True),
        ("1491-13-12", "1492-01-01", True),
        ("Day 9", "Day 12", True),
        ("Day nine", "Day 12", True),
        ("第9日", "第12日", True),
        ("9 Frostmoon", "12 Frostmoon 1492", True),
        ("the ninth of the thirteenth month", "1492-13-12", True),
        ("1492-13-12", "1492-13-12", False),
        ("9 Frostmoon", "12 Harvestmoon", False),
        ("9 Frostmoon 1491", "12 Frostmoon 1492", False),
        ("Day 9", "1492-13-12", False),
        ("the ninth of the first month", "1492-13-12", False),
    ],
)
def test_dates_are_compared_only_where_no_calendar_is_needed(one, other, before):
    a, b = next(dates.in_text(one)), next(dates.in_text(other))
    assert dates.earlier(a, b) is before
    assert not dates.earlier(b, a) or not before


# -- the dead


@pytest.mark.parametrize("status", ["dead", "Killed at the ford", "drowned, never found", "tot", "mort au gué", "muerta", "погиб", "死亡"])  # fmt: skip
def test_a_status_says_that_somebody_is_dead(status):
    assert deaths.is_dead(status)


@pytest.mark.parametrize("status", ["", "alive", "undead", "presumed dead", "half-dead with cold", "left for dead", "wanted dead or alive", "dead tired", "dead?", "scheintot", "不死"])  # fmt: skip
def test_a_status_that_only_sounds_like_it_does_not(status):
    assert not deaths.is_dead(status)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Sister Ansa showed Tamsin fourteen sick; Wat Pell died at noon.", ["Wat Pell"]),
        ("A black ship lay there; Ned Sparrow and Col Bright drowned in chains.", ["Ned Sparrow", "Col Bright"]),
        ("Captain Varr killed Wat Pell in the square.", ["Wat Pell"]),
        ("Wat Pell was killed by the captain.", ["Wat Pell"]),
        ("Rime hounds killed the grey mule.", []),
        ("Sera nearly died of the cold.", []),
        ("Marta feared that Wat Pell died.", []),
        ("Valen killed a hound and Sera laughed.", []),
        ("Nobody died.", []),
    ],
)
def test_a_journal_line_kills_only_those_of_whom_it_plainly_says_so(line, names):
    assert list(deaths.died_in(line)) == names
