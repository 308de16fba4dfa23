"""What gives a hidden text away, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.campaign import story
from rolecall.campaign.folder import open_campaign
from rolecall.search.leaks import given_away, hidden_near
from rolecall.search.searcher import Search


@pytest.fixture
def search(example: Path) -> Search:
    """The search of the example campaign."""
    made = Search(open_campaign(example))
    made.refresh()
    return made


def sentences(text: str, hidden: str, search: Search, known: str = "") -> list[str]:
    """The sentences of a text that give a hidden text away."""
    return [leak.sentence.text for leak in given_away(text, [hidden], search, known)]


def test_six_words_in_a_row_give_it_away_five_do_not(search):
    hidden = "The cellar under the tithe barn holds nine barrels of lamp oil."
    assert sentences("It is dry. The cellar under the tithe barn is dry.", hidden, search) != []
    assert sentences("It is dry. A cellar under the tithe barn is dry.", hidden, search) == []


def test_six_words_that_say_nothing_give_nothing_away(search):
    assert sentences("She was not there when he was.", "He knew she was not there when he was asked.", search) == []


def test_all_names_and_a_third_of_the_words_in_two_neighbouring_sentences_give_it_away(search):
    hidden = "Marta buried a silver casket beneath the floor of the Broken Anchor."
    two = "Marta says nothing. Something silver lies buried under the floor of the Broken Anchor."
    assert sentences(two, hidden, search) == ["Marta says nothing."]
    assert sentences(two.replace("nothing.", "nothing. Rain falls. Rain falls again."), hidden, search) == []
    assert sentences(two.replace("Marta", "Hob"), hidden, search) == []


def test_an_alias_is_as_good_as_the_name(search):
    hidden = "Captain Varr burned the letters of the Reeve in his grate."
    assert sentences("The captain burned her letters, the reeve's, in a grate.", hidden, search) != []


def test_the_name_before_a_hidden_text_counts_for_each_of_its_sentences(search):
    hidden = "Valen. He speaks the tongue of the north. He stole the amber comb from the chapel."
    assert sentences("Valen stole a comb of amber.", hidden, search) != []
    assert sentences("Somebody stole a comb of amber.", hidden, search) == []


def test_what_everybody_may_know_is_no_secret(search):
    hidden = "Wat Pell died at noon with black lines under his nails."
    assert sentences("They say Wat Pell died at noon with black lines under his nails.", hidden, search) == []
    other = "Sister Ansa drowned a grey cat behind the chapel last winter."
    assert sentences("Sister Ansa drowned a grey cat last winter.", other, search) != []
    assert sentences("Sister Ansa drowned a grey cat last winter.", other, search, known=other) == []


def test_scripts_without_spaces_are_compared_by_twice_as_many_characters(search):
    hidden = "王大娘把钥匙藏在井边的第三块石头下面"
    assert sentences("夜里，把钥匙藏在井边的第三块石头，没有人知道。", hidden, search) != []
    assert sentences("钥匙在井边。", hidden, search) == []


def test_the_hidden_texts_of_what_a_prose_speaks_of_are_gathered_from_the_files(example, search):
    gathered = hidden_near("Valen waits at the Old Well.", search)
    assert "Valen. He sold the Gannet's route." in gathered
    assert "Who poisoned the well, and for whom: Captain Varr did, for the Guild." in gathered
    assert any("second key of the well gate" in text for text in gathered)  # the DM's own seeds
    assert not any("212 marks on the roof" in text for text in gathered)  # Marta is not spoken of
    file = example / "characters" / "valen.md"
    file.write_bytes(file.read_bytes().replace(b"He sold the Gannet's route.", b"He is the Grey Monk."))
    search.refresh()
    assert "Valen. He is the Grey Monk." in hidden_near("Valen waits.", search)


def test_what_is_hidden_is_read_anew_where_another_file_gives_it_its_names(example, search):
    valen, state = example / "characters" / "valen.md", example / "campaign-state.md"
    valen.write_bytes(valen.read_bytes().replace(b"He sold", b"With {{user}} he sold"))
    search.refresh()
    assert "Valen. With Tamsin Roe he sold the Gannet's route." in hidden_near("Valen waits.", search)
    state.write_bytes(state.read_bytes().replace(b"- [[Tamsin Roe]]", b"- [[Marta]]"))
    search.refresh()
    assert "Valen. With Marta he sold the Gannet's route." in hidden_near("Valen waits.", search)


def test_what_a_save_held_between_two_looks_is_not_kept_for_what_stood_before(example, search):
    valen = example / "characters" / "valen.md"
    before = valen.read_bytes()
    valen.write_bytes(before.replace(b"He sold", b"He never sold"))
    hidden_near("Valen waits.", search)  # the catalogue does not know of the save yet
    valen.write_bytes(before)
    search.refresh()
    assert "Valen. He sold the Gannet's route." in hidden_near("Valen waits.", search)


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: Orrin\nSECRET: {hidden}\n---\nA clerk.\n",
        "---\nname: Orrin\n\u017fecret: {hidden}\n---\nA clerk.\n",
        '---\nname: Orrin\n"s\\u0065cret": {hidden}\n---\nA clerk.\n',
        '---\nname: Orrin\n"\\x74ruth": {hidden}\n---\nA clerk.\n',
        "---\nname: Orrin\n---\nA clerk.\n\n## **GM-only**\n\n{hidden}\n",
        "---\nname: Orrin\n---\nA clerk.\n\nSecrets\n-------\n\n{hidden}\n",
        '---\nname: Orrin\nvisibility: "\\x73ecret"\n---\n{hidden}\n',
    ],
)
def test_what_is_hidden_is_found_however_its_key_or_heading_is_written(example, search, text):
    hidden = "He weighs the harvest with a false stone."
    (example / "characters" / "orrin.md").write_text(text.format(hidden=hidden))
    search.refresh()
    assert any(hidden in one for one in hidden_near("Orrin weighs the harvest.", search))


def test_an_arc_s_truth_is_read_with_its_question(search):
    said = "It was Captain Varr who poisoned the well, and it was for the Guild."
    assert [leak.sentence.text for leak in given_away(said, hidden_near(said, search), search)] == [said]


def test_the_hidden_texts_raise_no_alarm_in_the_story_as_it_was_told(search):
    campaign = search.campaign
    for _, path in story.chapters(campaign):
        for turn in story.turns_of(campaign.document(path)):
            assert given_away(turn.prose, hidden_near(turn.prose, search), search) == []
