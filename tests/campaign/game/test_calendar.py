"""Dates counted in whatever calendar a campaign has; only the digits and names of a date change, and what nobody can count stays."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecall.campaign.game import calendar, clock
from rolecall.campaign.game.calendar import Calendar, Day
from tests.campaign.writing import bounded

PLAIN = Calendar()
OWN = calendar.of_fields(
    {
        "months": ["Frostmoon 30", "Thawmoon: 31 days", {"name": "Long Ebb", "days": "12"}],
        "weekdays": ["Moonday", "Towerday", "Starday"],
        "seasons": [{"season": "Winter", "from": "Frostmoon"}, "Spring from 10 Thawmoon"],
        "weekday_on": "1 Frostmoon 1492 = Moonday",
    }
)


@pytest.mark.parametrize(
    ("known", "date", "days", "months", "later"),
    [
        (PLAIN, "1492-12-30", 3, 0, "1493-01-02"),
        (PLAIN, "2024-02-28", 1, 0, "2024-02-29"),
        (PLAIN, "2023-1-31", 0, 1, "2023-2-28"),
        (PLAIN, "1492-13-12", 9, 0, "1492-13-21"),
        (PLAIN, "1492-13-27", 9, 0, None),  # nobody said how long the thirteenth month is
        (PLAIN, "1492-13-12", 0, 1, None),
        (PLAIN, "9999-12-31", 1, 0, None),
        (PLAIN, "Day 12, at dusk", 30, 0, "Day 42, at dusk"),
        (PLAIN, "第9日", 3, 0, "第12日"),
        (PLAIN, "the 3rd of March, 1999", 20, 0, "the 23rd of March, 1999"),
        (PLAIN, "Wednesday, 31 January 2024", 1, 0, "Thursday, 1 February 2024"),
        (OWN, "28 Frostmoon 1492", 5, 0, "3 Thawmoon 1492"),
        (OWN, "Moonday, the 28th of Frostmoon, 1492 AR", 5, 0, "Starday, the 3rd of Thawmoon, 1492 AR"),
        (OWN, "the third day of the Long Ebb 1492", 12, 0, "the third day of the Frostmoon 1493"),
        (OWN, "1492-03-09", 4, 0, "1493-01-01"),
        (OWN, "31 Thawmoon 1492", 0, 1, "12 Long Ebb 1492"),
        (OWN, "29 Frostmoon", 4, 0, "3 Thawmoon"),
    ],
)
def test_a_date_counts_on_in_its_own_words(known, date, days, months, later):
    day = known.read(date)
    moved = known.later(day, days=days, months=months)
    assert (known.write(moved, day) if moved else None) == later


@pytest.mark.parametrize(
    ("known", "date"),
    [
        (PLAIN, "First night of the Long Ebb"),
        (PLAIN, "3 Frostmoon 1492"),
        (PLAIN, "1492-02-30"),
        (PLAIN, "between Day 3 and Day 5"),
        (PLAIN, "1492-00-10"),
        (PLAIN, "harvest time"),
        (PLAIN, ""),
        (OWN, "First night of the Long Ebb"),
        (OWN, "31 Frostmoon 1492"),
        (OWN, "1492-04-01"),
        (OWN, "3 March 1492"),
    ],
)
def test_a_date_nobody_can_count_is_none(known, date):
    assert known.read(date) is None


def test_weekday_and_season_are_computed():
    assert [OWN.weekday(OWN.read(f"{day} Frostmoon 1492")) for day in (1, 2, 3, 4)] == [
        "Moonday",
        "Towerday",
        "Starday",
        "Moonday",
    ]
    assert OWN.weekday(OWN.read("12 Long Ebb 1491")) == "Starday"
    seasons = {
        date: OWN.season(OWN.read(date))
        for date in ("1 Frostmoon 1492", "9 Thawmoon 1492", "10 Thawmoon 1492", "12 Long Ebb")
    }
    assert list(seasons.values()) == ["Winter", "Winter", "Spring", "Spring"]
    assert PLAIN.weekday(PLAIN.read("2024-02-29")) == "Thursday"


@pytest.mark.parametrize(
    "months", ["", "later", ["Frostmoon"], ["Frostmoon 30", "frostmoon 31"], ["Frostmoon 0"], [["x"]], {"a": ["b"]}]
)
def test_an_entry_whose_months_cannot_be_read_is_no_calendar(months):
    assert calendar.of_fields({"months": months}) is None


names = st.lists(
    st.sampled_from(["Alder", "Birch Moon", "Мороз", "霜月", "Été", "Zwie-Licht", "Dust"]),
    min_size=1,
    max_size=6,
    unique=True,
)


@st.composite
def calendars(draw) -> Calendar:
    months = [f"{name} {draw(st.integers(1, 40))}" for name in draw(names)]
    weekdays = draw(st.lists(st.sampled_from(["One", "Two", "Three", "Four"]), max_size=4, unique=True))
    return calendar.of_fields({"months": months, "weekdays": weekdays})


def stepped(known: Calendar, day: Day) -> Day:
    """The next day, by hand."""
    date, month, year = day.day + 1, day.month, day.year
    if date > known.months[month - 1][1]:
        date, month = 1, month + 1
    if month > len(known.months):
        month, year = 1, year + 1
    return Day(date, month, year)


@bounded
@given(calendars(), st.integers(0, 4000), st.integers(0, 90), st.data())
def test_counting_days_agrees_with_stepping_through_them_one_by_one(known, year, days, data):
    month = data.draw(st.integers(1, len(known.months)))
    start = walked = Day(data.draw(st.integers(1, known.months[month - 1][1])), month, year)
    for _ in range(days):
        walked = stepped(known, walked)
    later = known.later(start, days=days)
    assert (later.day, later.month, later.year) == (walked.day, walked.month, walked.year)
    assert known.since(start, later) == days and known.since(later, start) == -days
    if known.weekdays:
        count = len(known.weekdays)
        assert known.weekdays.index(known.weekday(later)) == (known.weekdays.index(known.weekday(start)) + days) % count


@bounded
@given(calendars(), st.integers(0, 99999), st.integers(0, 5000), st.data())
def test_what_is_written_reads_back_as_the_day_meant(known, year, days, data):
    month = data.draw(st.integers(1, len(known.months)))
    date = data.draw(st.integers(1, known.months[month - 1][1]))
    text = data.draw(
        st.sampled_from(["{d} {m} {y}", "the {d} of {m}, {y}", "{d}. {m} {y} (by the reeve)", "{y}-{n:02d}-{d:02d}"])
    )
    day = known.read(text.format(d=date, m=known.months[month - 1][0], n=month, y=year))
    assert (day.day, day.month, day.year) == (date, month, year)
    later = known.later(day, days=days)
    again = known.read(known.write(later, day))
    assert (again.day, again.month, again.year) == (later.day, later.month, later.year)


@bounded
@given(st.dates(datetime.date(1, 1, 2), datetime.date(9990, 1, 1)), st.integers(0, 3000))
def test_the_gregorian_calendar_is_the_one_every_clock_has(date, days):
    day = PLAIN.read(date.isoformat())
    later = PLAIN.later(day, days=days)
    assert PLAIN.write(later, day) == (date + datetime.timedelta(days=days)).isoformat()
    assert PLAIN.weekday(later) == (date + datetime.timedelta(days=days)).strftime("%A")


def test_dates_without_a_year_compare_the_nearer_way_round():
    first, last = OWN.read("2 Frostmoon"), OWN.read("11 Long Ebb")
    assert OWN.since(last, first) == 3 and OWN.since(first, last) == -3
    assert OWN.since(first, OWN.read("2 Frostmoon 1492")) is None
    assert PLAIN.since(PLAIN.read("Day 3"), PLAIN.read("1492-01-01")) is None
    assert PLAIN.since(PLAIN.read("1492-13-02"), PLAIN.read("1492-13-09")) == 7
    assert PLAIN.since(PLAIN.read("1492-12-02"), PLAIN.read("1492-13-09")) == 1  # later, by how much nobody knows


@bounded
@given(st.text(max_size=60))
def test_any_text_is_a_date_or_none_and_a_time_or_none(text):
    for known in (PLAIN, OWN):
        day = known.read(text)
        assert day is None or known.write(day, day) == text
    time = clock.read(text)
    assert time is None or time.later(0) == (0, text) or text[time.start : time.end].startswith("0")


def test_hours_pass_over_midnight_and_words_are_nobodys_hour():
    assert clock.read("22:30").later(24 * 60 + 95) == (2, "00:05")
    assert clock.read("9:05, second bell").later(30) == (0, "9:35, second bell")
    assert [clock.read(text) for text in ("dusk", "24:00", "9:60", "2:30 p.m.", "9:00-10:00", "")] == [None] * 6
