"""The curtain: what gives a hidden truth away does not pass, however it is cut up; what is open or merely planned does."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.agents.curtain import Curtain, Hidden
from rolecall.campaign.effects import Effect
from rolecall.search import leaks
from tests.agents.asking import campaign_in, search_of

TRUTH = "Old Pasco burned the old mill because Marta paid him forty marks in silver"
FILES = {
    "arcs/the-mill.md": (
        "---\nname: Who burned the mill\nquestion: Who burned the old mill, and for whom?\nstatus: open\n"
        f"truth: {TRUTH}.\n---\n\n## Trail\n"
    ),
    "characters/sera.md": "---\nname: Sera\nsecret: She is Marta's twin.\n---\nShe sails.\n",
    "characters/nobody.md": "---\nname: Ilse Harrow\nvisibility: secret\n---\nShe is the founder's heir.\n",
    "dm/plan.md": "The second night the bell ringer shows Kit a drowned door under the quay.\n",
    "lore/songs.md": "---\nname: Songs\n---\nThey sing how the herring went away from Skerrow for nine years.\n",
    "dm/songs.md": "The herring went away from Skerrow for nine years.\n",
}


@pytest.fixture
def curtain(tmp_path: Path) -> Curtain:
    search = search_of(campaign_in(tmp_path / "tale", **FILES))
    files = leaks.hidden_by_file("Old Pasco, Marta, Sera, Kit, Ilse Harrow", search)
    return Curtain(search, Hidden.from_files(files), "scene: The quay at dusk")


def passed(curtain: Curtain, *texts: str) -> str:
    return " | ".join(curtain.draw(texts)[0])


def runs(text: str, length: int = 6) -> list[str]:
    words = text.split()
    return [" ".join(words[at : at + length]) for at in range(len(words) - length + 1)]


@pytest.mark.parametrize("run", runs(TRUTH))
def test_any_six_words_of_a_truth_are_withheld(curtain, run):
    assert passed(curtain, f"Rain falls. They say that {run}, or so. A gull cries.") == "Rain falls. A gull cries."


@pytest.mark.parametrize(
    "said",
    [
        TRUTH.upper(),
        "Old Pasco burned -- the _old_ mill; because... Marta (paid) him!",
        "Old-Pasco/burned/the*old*mill*because",
        "OLD PASCO\u200b BUR\u00adNED the\u2060 old mill because",
        "“Old Pasco burned,” she says, “nothing.” The old mill because Marta paid him forty marks",
        "[[Old Pasco]] burned the old mill because",
        "Marta paid him forty marks in",
    ],
)
def test_other_marks_capitals_and_what_cannot_be_seen_hide_nothing(curtain, said):
    left = passed(curtain, said)
    assert not any(run in " ".join(left.split()).casefold() for run in map(str.casefold, runs(TRUTH)))
    assert left != said and curtain.draw([said])[1]


DISGUISES = {
    "letters from the end": TRUTH[::-1],
    "letters of each word from the end": " ".join(word[::-1] for word in TRUTH.split()),
    "words from the end": " ".join(TRUTH.split()[::-1]),
    "letters of another script": TRUTH.translate(str.maketrans("aeopcx", "аеорсх")),
    "one letter of another script": TRUTH.replace("a", "а"),
    "wide letters": "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalpha() else c for c in TRUTH),
    "bold letters": "".join(chr(0x1D41A + ord(c) - 97) if "a" <= c <= "z" else c for c in TRUTH),
    "circled letters": "".join(chr(0x24D0 + ord(c) - 97) if "a" <= c <= "z" else c for c in TRUTH),
    "small capitals": TRUTH.translate(str.maketrans("aoe", "ᴀᴏᴇ")),
    "accents": TRUTH.replace("a", "á").replace("o", "ö"),
    "struck through": "".join(f"{c}\u0336" if c != " " else c for c in TRUTH),
    "entities": "".join(f"&#x{ord(c):x};" for c in TRUTH),
    "entities of entities": TRUTH.replace("a", "&amp;#97;"),
    "entities between words": TRUTH.replace(" ", "&nbsp;"),
    "entities in words": TRUTH.replace("a", "a&#8203;"),
    "percent signs": TRUTH.replace(" ", "%20"),
    "emphasis in words": TRUTH.replace("rn", "r**n**").replace("sc", "s*c*").replace("ar", "a_r_"),
    "backslashes": TRUTH.replace("a", "\\a"),
    "tags": TRUTH.replace("a", "<b>a</b>"),
    "comments in words": TRUTH.replace("a", "a<!-- -->"),
    "comments between words": TRUTH.replace(" ", " <!-- x y z --> "),
    "letters apart": " ".join(" ".join(word) for word in TRUTH.split()),
    "letters joined by hyphens": " ".join("-".join(word) for word in TRUTH.split()),
    "letters joined by dots": " ".join(".".join(word) for word in TRUTH.split()),
    "no spaces": "".join(TRUTH.split()),
    "capitals for spaces": "".join(word.title() for word in TRUTH.split()),
    "letters nobody sees": "".join(c + chr(0xE0000 + ord(c)) if c == "a" else c for c in TRUTH),
    "fillers": TRUTH.replace("a", "a\u3164"),
}


@pytest.mark.parametrize("said", DISGUISES.values(), ids=DISGUISES)
def test_a_truth_in_disguise_is_withheld(curtain, said):
    assert passed(curtain, f"Rain falls.\n\n{said}.\n\nA gull cries.").split() == [
        "Rain",
        "falls.",
        "A",
        "gull",
        "cries.",
    ]


def test_what_only_nobody_sees_does_not_pass_with_a_sentence(curtain):
    tagged = "".join(chr(0xE0000 + ord(char)) for char in TRUTH)
    assert passed(curtain, f"Rain falls{tagged}. <!-- {TRUTH} -->A gull cries.") == "Rain falls. A gull cries."


@pytest.mark.parametrize(
    "said",
    [
        "Снег идёт над гаванью, и Sera поёт.",
        "Η θάλασσα είναι ήσυχη απόψε.",
        "Tom & Kit drink 50% beer at 3 < 4 bells; H₂O, m², ½ and №5 stay.",
        "*Quietly*, she **waits**: an _old_ habit.",
    ],
)
def test_a_text_without_disguise_passes_to_the_letter(curtain, said):
    assert passed(curtain, said) == said


@pytest.mark.parametrize("said", ["Marta is Sera's twin.", "Sera and Marta are twins.", "Sera is the twin of Marta."])
def test_who_is_tied_to_whom_is_withheld_however_it_is_put(curtain, said):
    assert passed(curtain, f"Rain falls. {said}") == "Rain falls."


def test_two_sentences_that_tell_a_truth_only_together_both_go(curtain):
    assert passed(curtain, "Did Old Pasco burn the old mill? Yes, Marta paid him forty marks.") == ""


def test_a_truth_cut_up_over_sentences_and_fields_is_put_together_again(curtain):
    assert (
        passed(curtain, "Old Pasco burned", "the old mill.", "Because Marta paid.")
        != "Old Pasco burned | the old mill. | Because Marta paid."
    )
    words = TRUTH.split()
    left = " ".join(curtain.draw(words)[0]).split()
    assert not any(run.split() == left[at : at + 6] for run in runs(TRUTH) for at in range(len(left)))


def test_what_is_left_is_looked_at_again_until_nothing_is_found(curtain):
    between = f"Old Pasco burned the old. {TRUTH}. Mill because Marta paid him forty."
    left = passed(curtain, between)
    assert not any(run in left.replace(".", "") for run in runs(TRUTH))


def test_a_truth_told_in_other_words_is_withheld(curtain):
    assert passed(curtain, "Let it show: Marta gave Old Pasco silver for the mill.") == ""


def test_a_short_secret_counts_whole(curtain):
    assert passed(curtain, "She is Marta's twin. The tide is out.") == "The tide is out."


def test_the_name_of_a_secret_entry_does_not_pass(curtain):
    assert passed(curtain, "Ilse Harrow knocks. The lamp is lit.") == "The lamp is lit."


def test_open_questions_names_and_places_pass(curtain):
    said = "Who burned the old mill, and for whom? Let Old Pasco meet Sera at Skerrow Quay, with Kit looking on."
    assert passed(curtain, said) == said


def test_a_plan_may_be_carried_out_in_other_words_but_not_quoted(curtain):
    said = "The bell ringer waves to Kit; below him a door stands open."
    assert passed(curtain, said) == said
    assert passed(curtain, "The bell ringer shows Kit a drowned door.") == ""


def test_what_an_open_file_says_in_the_same_words_is_no_secret(curtain):
    said = "Somebody hums that the herring went away from Skerrow for nine years."
    assert passed(curtain, said) == said


def test_of_a_directive_the_item_goes_that_gives_something_away_and_the_rest_stays(curtain):
    fragment = {
        "quests": [{"name": "Find the ledger", "stage": "begun"}, {"name": "The mill", "stage": f"{TRUTH}."}],
        "effects": [{"who": "Kit", "condition": "Old Pasco burned the", "until": "old mill because Marta"}],
        "resources": [{"name": "silver", "change": -3}],
    }
    found = curtain.pass_on([], [fragment]).fragments[0]
    assert found["quests"] == [{"name": "Find the ledger", "stage": "begun"}]
    assert found["effects"] == [] and found["resources"] == [{"name": "silver", "change": -3}]


def test_truths_in_the_keys_of_a_directive_do_not_pass_either(curtain):
    found = curtain.pass_on([], [{"map": {TRUTH: "x", "discover": ["The Salt Cave"]}}]).fragments[0]
    assert found == {"map": {"discover": ["The Salt Cave"]}}


def test_effects_on_open_files_go_whole_and_the_dms_own_files_may_hold_it_all(curtain):
    effects = [
        Effect("arc", "arcs/the-mill.md", 5, f"It was seen: {TRUTH}."),
        Effect("arc", "arcs/the-well.md", 5, "The rope is cut."),
        Effect("dated", "dm/shadow-world.md", 5, TRUTH),
        Effect("todo", "dm/intentions.md", 5, f"Event: {TRUTH}"),
        Effect("todo", "dm/intentions.md", 5, "Event: the bell ringer shows Kit a drowned door"),
    ]
    found = curtain.pass_on(["The tide is out."], [], effects)
    assert list(found.effects) == [effects[1], effects[2], effects[4]]
    assert found.lines == ("The tide is out.",) and len(found.withheld) >= 2


def test_a_truth_that_begins_in_the_directive_and_ends_in_an_arcs_line_is_found(curtain):
    found = curtain.pass_on(
        ["Old Pasco burned the"], [], [Effect("arc", "arcs/the-well.md", 5, "old mill because Marta")]
    )
    said = " ".join([*found.lines, *(effect.text for effect in found.effects)])
    assert "burned the old mill because" not in " ".join(said.split())


def test_an_arc_whose_name_gives_something_away_is_not_opened(curtain):
    facts = {"question": "What comes of it?", "truth": "Nothing does."}
    said, plain = (
        Effect("arc_opened", f"arcs/{n}.md", 5, "It begins.", key=name, facts=facts)
        for n, name in enumerate(("Old Pasco burned the old mill because", "The cut rope"))
    )
    found = curtain.pass_on([], [], [said, plain])
    assert found.effects == (plain,) and len(found.withheld) == 1
