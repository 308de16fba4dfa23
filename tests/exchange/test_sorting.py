"""Which kind an entry is of, and which of its keys are names."""

from __future__ import annotations

import pytest

from rolecall.exchange import pages, sorting
from rolecall.exchange.book import Entry

KINDS = [
    ("Eldoria", "Eldoria is a vast magical forest in the north.", "", "location"),
    ("Eldoria", "[Eldoria: a forest]", "Places", "location"),
    ("Sera Vane", "She runs the port. Her limp is old, and she hides it.", "", "character"),
    ("Captain Varr", "He rules the port. He has a limp.", "", "character"),
    ("Thing", '[Character("Sera"); Age("30")]', "", "character"),
    ("Ysel", "Type: city\nOld and grey.", "", "location"),
    ("The Gulls", "The Gulls are a guild of thieves.", "", "organization"),
    ("Moonblade", "The Moonblade is an ancient sword.", "", "item"),
    ("Varr", "Varr is a knight of the realm.", "", "character"),
    ("Frostmaw", "Frostmaw was a white dragon.", "", "creature"),
    ("Magic", "Magic costs blood.", "", "lore"),
    ("Money", "He spends money as he likes; money means nothing to him.", "", "lore"),
    ("Arthur", "A boat is a vessel.", "", "lore"),
    ("Anything", "Nothing is said.", "NPC", "character"),
    ("Fireball", "It burns.", "Spells", "power"),
    ("Ungvid", "[ Ungvid description:< age ≡ 62y>/< race ≡ Nord>. Ungvid traits:< stubborn>.]", "", "character"),
    ("Amy", 'Amy\nAge("20")\nhair = red\n"personality": shy', "", "character"),
    ("Riften", "[ Riften climate:< warm>. Riften culture:< fishing>. Riften ruler:< king≡ Argo>.]", "", "location"),
    ("Rule", "Note: age: 3", "", "lore"),
    ("", "", "", "lore"),
]
TITLES = [
    ("Ungvid,Jarl of Winterhold", ["Ungvid", "Jarl of Winterhold", "x"], "Ungvid"),
    ("Salt, and Iron", ["salt"], "Salt, and Iron"),
    ("", ["Katariah|(|the )emp(ress|eror)#[t=5l=5]"], "Katariah"),
    ("", ["(white( |)run)"], "Grey walls."),
    ("", ["/a+/"], "Grey walls."),
    ("", [], "Grey walls."),
]
NAMES = [
    ("Sera", "Sera Vane", "character", True),
    ("Vane", "Sera Vane", "character", True),
    ("Varr", "Captain Varr", "character", True),
    ("Captain", "Captain Varr", "character", False),
    ("sera", "Sera Vane", "character", False),
    ("smuggler", "Sera Vane", "character", False),
    ("Gannet", "The Gannet", "item", True),
    ("Skerrow", "Skerrow Town", "location", True),
    ("Airport", "Belgrade Airport", "lore", False),
    ("Night", "The Night of Terror", "lore", False),
    ("Prestige", "The Prestige (film)", "lore", True),
    ("/Sera/i", "Sera Vane", "character", False),
    ("Sera, Vane", "Sera Vane", "character", False),
    ("of", "The Order of Salt", "organization", False),
    ("日本語", "日本語", "lore", True),
]


@pytest.mark.parametrize(("title", "text", "folder", "kind"), KINDS)
def test_an_entry_is_of_the_kind_that_plain_signs_say(title, text, folder, kind):
    assert sorting.kind_of(title, text, folder) == kind


@pytest.mark.parametrize(("key", "title", "kind", "is_name"), NAMES)
def test_a_key_is_a_name_only_when_it_surely_is_one(key, title, kind, is_name):
    assert sorting.is_name(key, title, "", kind) == is_name


@pytest.mark.parametrize(("title", "keys", "name"), TITLES)
def test_an_entry_is_called_by_its_title_or_by_what_comes_nearest(title, keys, name):
    assert pages.title_of(Entry("e", title, "[ Grey walls.", tuple(keys)), 1) == name


def test_what_several_entries_share_is_nobodys_name():
    assert sorting.unique([["Varr", "port"], ["varr", "quay"], ["quay", "Quay", "sea"]]) == {"port", "sea"}
