"""The cast of a chat from the text alone: who speaks, who is spoken of, where it plays, and what is said of them."""

from __future__ import annotations

import pytest

from rolecall.agents.cast import Being, Said, cast_of
from rolecall.agents.castwords import journal_line, names_pattern, words_of
from tests.conftest import SHARED

TALE = """
GM|The mill at Hollow Ness has stood empty since spring. A woman named Marta Finch opens the door. "Come in," says Marta.
Ann|Thank you, Marta. Is Brannoch here?
GM|Marta shakes her head. "Brannoch went to Greywater. He never came back." Her eyes are red.
Bob|I ask Marta about Captain Varr.
GM|"Captain Varr?" Marta spits. "Varr took my brother. Everyone in Greywater knows Varr." She looks at Bob.
Ann|Bob, you should tell her about the ledger. We found Brannoch's ledger in Greywater, Marta.
GM|Marta Finch sits down. Brannoch was a miller, and a kind one. Brannoch's hands were never clean, she says.
Bob|And Varr? Where is Captain Varr now?
GM|"Sailing for Greywater on the Thursday tide. Varr comes back every Thursday, and the Gulls sing."
Ann|Okay. On Thursday we wait for Varr at the Broken Anchor Inn.
Bob|I like the Broken Anchor Inn. Marta, will you come to Greywater with us?
All|To Greywater!
Ann/Bob|Cheers!
"""


def speech(text: str = TALE) -> list[Said]:
    rows = [line.strip().split("|", 1) for line in text.strip().split("\n")]
    return [Said(turn, who, said) for turn, (who, said) in enumerate(rows, 1)]


def by_name(beings: tuple[Being, ...]) -> dict[str, Being]:
    return {being.name: being for being in beings}


def test_everyone_who_speaks_is_of_the_cast_with_counts_and_first_and_last_turn():
    found = by_name(cast_of(speech()).beings)
    assert (found["GM"].spoken, found["GM"].first, found["GM"].last) == (5, 1, 9)
    assert found["Ann"].spoken == 4 and found["Bob"].spoken == 4  # a joint line is spoken by both
    assert found["Bob"].named == 2 and found["Bob"].last == 13
    assert "Ann/Bob" not in found and found["All"].spoken == 1


def test_those_who_are_only_spoken_of_are_found_by_what_people_do_and_how_they_are_spoken_to():
    found = by_name(cast_of(speech()).beings)
    assert set(found) == {"GM", "Ann", "Bob", "All", "Marta Finch", "Brannoch", "Varr"}
    assert found["Brannoch"].named == 5 and (found["Brannoch"].first, found["Brannoch"].last) == (2, 7)


def test_forms_of_one_name_are_one_person():
    found = by_name(cast_of(speech()).beings)
    assert "Marta" in found["Marta Finch"].aliases and found["Marta Finch"].named == 9
    assert "Captain Varr" in found["Varr"].aliases


def test_places_are_told_from_people_and_days_are_neither():
    places = {place.name: place.named for place in cast_of(speech()).places}
    assert places == {"Greywater": 6, "Broken Anchor Inn": 2}


def test_a_short_name_cut_at_an_apostrophe_or_in_a_pet_form_is_the_same_person():
    text = """
    GM|Beside the door Vex'ahlia draws her bow. Vex, what do you do? Vex'ahlia says nothing.
    A|Hey Vex, look! Danielle nods. Danielle's face is pale.
    GM|Vex looks at Percival. "Percy, you fool," says Vex. Percival laughs. Percy shrugs.
    A|Percy, come here. Percival walks over to Danielle, and Danielle smiles. I ask Percy for his hand.
    """
    found = by_name(cast_of(speech(text)).beings)
    assert "Vex'ahlia" in found["Vex"].aliases
    assert len([being for being in found.values() if {"Percy", "Percival"} & {being.name, *being.aliases}]) == 1
    assert "Danielle" in found


def test_what_describes_somebody_goes_before_what_merely_names_them():
    lines = speech()
    cast = cast_of(lines)
    words = words_of([*cast.beings, *cast.places], lines)
    told = [one.text for one in words["Brannoch"]]
    assert "Brannoch was a miller, and a kind one." in told and words["Brannoch"][0].turn == 2
    assert all(one.text in "\n".join(line.text for line in lines) for found in words.values() for one in found)
    assert [one.turn for one in words["Marta Finch"]] == sorted(one.turn for one in words["Marta Finch"])


def test_a_scenes_line_is_a_sentence_of_it_that_names_somebody_and_promises_come_first():
    names = names_pattern(["Marta", "Varr"])
    scene = [
        Said(1, "Ann", "Well. Hm."),
        Said(1, "GM", "Rain falls on the empty yard. Marta gives Varr the last of her coins."),
        Said(1, "Bob", "Wow, Marta!"),
    ]
    assert journal_line(scene, names) == "GM: Marta gives Varr the last of her coins."
    assert journal_line(
        [*scene, Said(1, "Bob", "I promise Marta that I will bring her coins back.")], names
    ).startswith("Bob: I promise")
    assert journal_line([Said(1, "", "…")], names) == "The story went on."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "THE KING IS DEAD. LONG LIVE THE KING.",
        "雨が降る。彼は言った。",
        "a" * 50_000,
        "A. " * 5_000,
        "Aa Bb " * 5_000,
    ],
)
def test_text_of_any_kind_is_looked_through(text):
    cast = cast_of([Said(1, "", text), Said(2, "Ann", text)])
    assert "Ann" in by_name(cast.beings)
    words_of([*cast.beings, *cast.places], [Said(1, "", text)])


@pytest.mark.skipif(not SHARED.exists(), reason="the episodes are not at hand")
def test_an_episodes_cast_holds_every_speaker_and_those_who_are_named_most():
    from rolecall.exchange.chat_reading import read_chat

    chat = read_chat((SHARED / "crd3" / "cleaned" / "C1E007.json").read_bytes())
    cast = cast_of([Said(n // 12 + 1, m.speaker, m.text) for n, m in enumerate(chat.messages)])
    names = {name for being in cast.beings for name in (being.name, *being.aliases)}
    assert {
        "Matt",
        "Laura",
        "Liam",
        "Grog",
        "Kima",
        "Scanlan",
        "Pike",
        "Trinket",
        "Clarota",
        "Keyleth",
        "Murghol",
    } <= names
    assert not names & {"Kraghammer", "Fireball", "Thursday", "Evasion", "Dwarvish"}
