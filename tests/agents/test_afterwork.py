"""What a turn leaves for the player: by one call or by code, and never a word of what is hidden."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rolecall.agents import afterwork
from rolecall.agents.afterwork import Afterwork, Mentioned, Told
from rolecall.agents.calls import Desk
from rolecall.campaign import arcs
from rolecall.campaign.folder import Campaign
from rolecall.models.chain import Chain, Models
from rolecall.models.provider import Limits
from tests.agents.asking import CANARY, asked, campaign_in, desk, search_of

PROSE = "Marta wipes the counter and looks at Sera. At the door Nan Quill drops a blue coin, and nobody laughs."
PARTY_PROMISE = "## Promises\n\n- [ ] To Sera: bring the ledger (T0001)\n- [x] To Marta: pay (T0002)\n\n## Journal"


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    made = campaign_in(tmp_path)
    state = tmp_path / "campaign-state.md"
    state.write_text(state.read_text("utf-8").replace("## Journal", PARTY_PROMISE), "utf-8")
    return made


def told(campaign: Campaign, prose: str = PROSE, *, scene_changed: bool = False, music: str = "") -> Told:
    state, open_ = campaign.document("campaign-state.md"), arcs.read(campaign.document("arcs/the-well.md"))
    return Told(5, "I ask about the ledger.", prose, "Kit asked.", state, [open_], scene_changed, music)


def answer(**given: object) -> dict:
    return {"entities": [], "suggestions": [], "scene_changed": False, **given}


def after(campaign: Campaign, script, *answers: object, prose: str = PROSE, **more) -> tuple[Afterwork, Desk]:
    lines = [{"role": "afterwork", "text": a if isinstance(a, str) else json.dumps(a)} for a in answers]
    chain = Chain([script(json.dumps(lines))], Limits(5, 5, 5), Models({}), "sidecar")
    mine = desk(campaign, 5)
    return afterwork.after(chain, mine, campaign, search_of(campaign), told(campaign, prose, **more)), mine


def test_by_code_names_are_known_or_new_and_there_is_always_something_to_do(campaign):
    left = afterwork.after(None, desk(campaign, 5), campaign, search_of(campaign), told(campaign, scene_changed=True))
    assert [(one.name, one.kind, one.state) for one in left.mentioned] == [
        ("Marta", "person", "known"), ("Sera", "person", "known"), ("Nan Quill", "thing", "new"),
    ]  # fmt: skip
    assert left.suggestions == (
        "I see to my promise: To Sera: bring the ledger",
        "I look into it: Who poisoned the well?",
        "I speak with Marta.",
        "I speak with Sera.",
    )
    assert (left.scene_changed, left.music, left.why) == (True, "", "")


def test_one_call_gives_all_of_it_and_what_has_an_entry_is_that_entry(campaign, script):
    given = answer(
        entities=[
            {"name": "the smuggler", "kind": "thing", "state": "new"},
            {"name": "Nan Quill", "kind": "person", "state": "new"},
            {"name": "the man at the door", "kind": "person", "state": "suggested"},
        ],
        suggestions=["1. I pick up the coin.", "- I ask Marta about the ledger.", "I follow Nan Quill outside."],
        scene_changed=True,
    )
    left, mine = after(campaign, script, given)
    assert [(one.name, one.state, one.path) for one in left.mentioned] == [
        ("Marta", "known", "characters/marta.md"), ("Sera", "known", "characters/sera.md"),
        ("Nan Quill", "new", ""), ("the man at the door", "suggested", ""),
    ]  # fmt: skip
    assert left.suggestions == (
        "I pick up the coin.", "I ask Marta about the ledger.", "I follow Nan Quill outside.",
    )  # fmt: skip
    assert (left.scene_changed, left.why) == (True, "") and set(mine.usage) == {"afterwork"}


def test_too_few_suggestions_are_filled_up_by_code_and_too_many_are_cut(campaign, script):
    few, _ = after(campaign, script, answer(suggestions=["I pick up the coin."]))
    assert few.suggestions[0] == "I pick up the coin." and len(few.suggestions) == 3
    many, _ = after(campaign, script, answer(suggestions=[f"I try door {n}." for n in range(50)]))
    assert many.suggestions == ("I try door 0.", "I try door 1.", "I try door 2.", "I try door 3.")


def test_nothing_hidden_goes_in_and_nothing_hidden_comes_out(campaign, script):
    given = answer(
        entities=[
            {"name": "The Xyzzycanary", "kind": "place", "state": "new"},
            {"name": "Nan Quill", "kind": "person", "state": "new"},
        ],
        suggestions=["I go to The Xyzzycanary.", "I ask Sera about The Xyzzycanary Plot.", "I wait for Sera."],
    )
    left, _ = after(campaign, script, given)
    shown = json.dumps([left.suggestions, [one.name for one in left.mentioned]])
    assert CANARY not in shown.casefold() and "I wait for Sera." in left.suggestions
    assert CANARY not in asked(campaign, "afterwork").casefold() and "Who poisoned the well?" in asked(
        campaign, "afterwork"
    )


@pytest.mark.parametrize("bad", ["no JSON at all", '{"suggestions": "one"}', '{"entities": [], "suggestions": []}'])
def test_an_answer_that_cannot_be_used_leaves_what_code_found_and_says_why(campaign, script, bad):
    free = afterwork.after(None, desk(campaign, 5), campaign, search_of(campaign), told(campaign))
    left, _ = after(campaign, script, bad)
    assert left.why and (left.mentioned, left.suggestions) == (free.mentioned, free.suggestions)


def test_a_script_without_lines_for_it_is_not_asked_and_that_is_no_fault(campaign, script):
    chain = Chain([script("- {role: sidecar, text: kept for the scribe}")], Limits(5, 5, 5), Models({}), "sidecar")
    mine = desk(campaign, 5)
    left = afterwork.after(chain, mine, campaign, search_of(campaign), told(campaign))
    assert (left.why, mine.usage) == ("", {})


def test_music_is_asked_for_only_when_it_is_on_and_stays_as_it_was_without_a_model(campaign, script):
    left, _ = after(campaign, script, answer(music="tense"), music="calm")
    assert left.music == "" and "tense" not in asked(campaign, "afterwork")
    settings = campaign.root / "rolecall.yaml"
    settings.write_text(settings.read_text("utf-8") + "music: on\n", "utf-8")
    from rolecall.campaign.folder import open_campaign

    on = open_campaign(campaign.root, here_only=True)
    left, _ = after(on, script, answer(music="tense"), music="calm")
    assert left.music == "tense" and "name the one mood" in asked(on, "afterwork")
    left, _ = after(on, script, answer(), music="calm")
    assert (left.music, left.why) == ("calm", "")
    left, _ = after(on, script, "nothing", music="calm")
    assert left.music == "calm" and left.why


def test_what_a_mention_is_said_to_be_is_one_of_three():
    assert {Mentioned("a", kind, "new").kind for kind in afterwork.KINDS} == {"person", "place", "thing"}
