"""A turn's dice fall under a seed in its record: the same for a swipe and for an action that is tried again, new on request."""

from __future__ import annotations

from pathlib import Path

from rolecall.campaign import records, seeds

ANSWER = "- text: It rolls and stops."


def seed_of(campaign: Path, name: str = "T0001") -> str:
    return seeds.of(campaign, f"{records.TURNS}/{name}")


def test_a_swipe_keeps_the_dice_and_reroll_throws_anew(rolecall, campaign, script):
    assert rolecall("-C", campaign, "turn", "I throw.", "--model", script(ANSWER)).code == 0
    first = seed_of(campaign)
    assert len(first) == 16
    assert rolecall("-C", campaign, "swipe", "--model", script("- text: Again.")).code == 0
    assert (seed_of(campaign), seed_of(campaign, "T0001.swipe-1")) == (first, first)
    assert rolecall("-C", campaign, "swipe", "--reroll", "--model", script("- text: Anew.")).code == 0
    anew = seed_of(campaign)
    assert len(anew) == 16 and anew != first
    assert rolecall("-C", campaign, "swipe", "--model", script("- text: Once more.")).code == 0
    assert seed_of(campaign) == anew
    assert rolecall("-C", campaign, "swipe", "--to", "1").code == 0
    assert seed_of(campaign) == first


def test_each_turn_has_a_seed_of_its_own(rolecall, campaign, script):
    for action in ("I throw.", "I throw."):
        assert rolecall("-C", campaign, "turn", action, "--model", script(ANSWER)).code == 0
    assert seed_of(campaign) != seed_of(campaign, "T0002")


def test_reroll_is_for_a_new_answer_only(rolecall, campaign, script):
    assert rolecall("-C", campaign, "turn", "I throw.", "--model", script(ANSWER)).code == 0
    ran = rolecall("-C", campaign, "swipe", "--to", "1", "--reroll")
    assert ran.code == 2 and "--reroll is for a new answer" in ran.err


def test_an_action_kept_as_a_draft_finds_its_dice_again_and_another_action_does_not(tmp_path):
    record = records.begin(tmp_path, 5, "I throw.")
    first = seeds.of(tmp_path, record.folder)
    records.set_aside(tmp_path, record.folder, "draft")
    again = records.begin(tmp_path, 5, "I throw.")
    assert seeds.of(tmp_path, again.folder) == first
    records.set_aside(tmp_path, again.folder, "draft")
    assert seeds.of(tmp_path, records.begin(tmp_path, 5, "I wait.").folder) != first


def test_a_record_older_than_dice_has_a_seed_that_stays(tmp_path):
    record = records.Record(tmp_path, f"{records.TURNS}/T0007")
    record.note("begin", turn=7, action="I throw.")
    assert seeds.of(tmp_path, record.folder) == "T0007"
