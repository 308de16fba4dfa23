"""The way back: what was imported is found again, unchanged where it is unchanged, and changed only where it was changed."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from rolecall.campaign import documents
from rolecall.campaign.folder import open_campaign
from rolecall.exchange import held
from tests.conftest import SHARED
from tests.exchange import foreign

FULL = foreign.world(
    {"comment": "Sera Vane", "content": "A smuggler.\n", "key": ["Sera", "/gull,s?/i", " smuggler "], "constant": True},
    {"comment": "", "content": "Grey water.", "key": [], "disable": True},
)


def edited(campaign: Path, path: str, old: bytes, new: bytes) -> None:
    data = (campaign / path).read_bytes()
    assert data.count(old) == 1
    (campaign / path).write_bytes(data.replace(old, new))


def of(campaign: Path) -> held.Held:
    (one,) = held.imports(open_campaign(campaign))
    return one


def entries_now(campaign: Path) -> list:
    one = of(campaign)
    return [held.entry_now(open_campaign(campaign), one, e) for book in one.parcel.books for e in book.entries]


def cards_now(campaign: Path) -> list:
    one = of(campaign)
    return [held.card_now(open_campaign(campaign), one, card) for card in one.parcel.cards]


def test_what_nobody_touched_is_the_very_entry(campaign, take):
    take(FULL)
    one = of(campaign)
    for book in one.parcel.books:
        for entry in book.entries:
            assert held.entry_now(open_campaign(campaign), one, entry) is entry
            assert entry.raw == FULL["entries"][entry.at.removeprefix("entries/")]


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        (b"A smuggler.\n", b"A captain.\n\nNow.\n", "text", "A captain.\n\nNow."),
        (b"name: Sera Vane", b"name: Sera Varr", "title", "Sera Varr"),
        (b"pinned: true\n", b"", "constant", False),
        (b"kind: ", b"forgotten: she left\nkind: ", "enabled", False),
        (b"  - smuggler\n", b"", "keys", ("Sera", "/gull,s?/i")),
        (b"  - smuggler\n", b"  - smuggler\n  - cutter\n", "keys", ("Sera", "/gull,s?/i", "smuggler", "cutter")),
    ],
)
def test_one_change_changes_one_field(campaign, take, old, new, field, value):
    path = take(FULL)["made"][0]["path"]
    edited(campaign, path, old, new)
    first, second = of(campaign).parcel.books[0].entries
    now = entries_now(campaign)
    assert held.changed(first, now[0]) == {field} and getattr(now[0], field) == value
    assert now[1] == second


def test_a_field_that_the_game_added_changes_nothing(campaign, take):
    path = take(FULL)["made"][0]["path"]
    data = (campaign / path).read_bytes()
    (campaign / path).write_bytes(documents.set_field(data, path, "status", "hiding"))
    assert entries_now(campaign) == list(of(campaign).parcel.books[0].entries)


def test_a_file_that_is_gone_is_gone(campaign, take):
    (campaign / take(FULL)["made"][0]["path"]).unlink()
    assert entries_now(campaign)[0] is None


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        (b"A smuggler with a limp.", b"Retired.", "description", "Retired."),
        (b"Dry, loyal.", b"Tired.\n\n## Of old\n\nLoyal.", "personality", "Tired.\n\n## Of old\n\nLoyal."),
        (b"Sit.", b"Sit.\n\n***\n\nOut.", "greetings", ("Not you again.", "Sit.", "Out.")),
        (b"## Scenario\n\nA wet quay.\n\n", b"", "scenario", ""),
        (b"  - smuggler\n", b"  - smuggler\n  - old\n", "tags", ("smuggler", "old")),
        (b"name: Sera Vane", b"name: Sera", "name", "Sera"),
    ],
)
def test_one_change_changes_one_text_of_a_card(campaign, take, old, new, field, value):
    path = take(foreign.card())["made"][0]["path"]
    edited(campaign, path, old, new)
    (card,), (now,) = of(campaign).parcel.cards, cards_now(campaign)
    assert held.changed(card, now) == {field} and getattr(now, field) == value


def test_history_that_the_game_wrote_under_a_card_is_not_the_cards(campaign, take):
    path = take(foreign.card())["made"][0]["path"]
    data = (campaign / path).read_bytes()
    (campaign / path).write_bytes(documents.append_to_section(data, path, "History", "- T0001 She fell.", create=2))
    assert cards_now(campaign) == list(of(campaign).parcel.cards)


def test_a_description_with_headings_of_its_own_is_one_text(campaign, take):
    path = take(foreign.card(description="One.\n\n## Looks\n\nTall."))["made"][0]["path"]
    edited(campaign, path, b"Tall.", b"Small.")
    (now,) = cards_now(campaign)
    assert now.description == "One.\n\n## Looks\n\nSmall." and held.changed(of(campaign).parcel.cards[0], now) == {
        "description"
    }


@pytest.mark.skipif(not SHARED.is_dir(), reason="the strangers' files are not here")
@pytest.mark.parametrize(
    "name", ["cards/st_content/character/contest_Assistant_Sakana.png", "cards/tavernkit/full_v3_card.json"]
)
def test_a_touched_file_of_a_real_card_with_no_change_in_it_changes_nothing(name, campaign, take):
    for row in take(SHARED / name)["made"]:
        place = campaign / row["path"]
        place.write_bytes(documents.set_field(place.read_bytes(), row["path"], "status", "well"))
    one = of(campaign)
    assert cards_now(campaign) == list(one.parcel.cards)
    assert entries_now(campaign) == [entry for book in one.parcel.books for entry in book.entries]
    assert all(dataclasses.is_dataclass(card) for card in one.parcel.cards)
