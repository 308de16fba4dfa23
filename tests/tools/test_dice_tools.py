"""Dice: under the turn's seed the same calls throw the same numbers, and each throw is one italic line of the story."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rolecall.tools.toolbox import DM
from tests.tools.table import play


def test_a_throw_is_a_line_of_the_story_and_the_same_again_under_its_seed(tmp_path: Path):
    def throw(seed: str, number: int) -> tuple[list[str], list[str]]:
        at = play(tmp_path / f"tale-{seed}-{number}")
        at.table.seed = seed
        said = [
            at.said("check", what="Perception", difficulty=15, bonus=3),
            at.said("roll", dice="2d6+3", what="hail"),
            at.said("opposed_roll", who="Kit", against="Varr", bonus=2, their_bonus=-1),
            at.said("choose", options=["rain", "snow"], what="weather"),
            at.said("check", what="Perception", difficulty=15, bonus=3),
        ]
        assert at.table.rolls == [f"*{line}*" for line in said]
        assert at.changes() == []
        return said, at.table.rolls

    once, _ = throw("abc", 1)
    assert throw("abc", 2)[0] == once != throw("abd", 3)[0]
    assert re.fullmatch(r"Perception, d20\+3: \d+ \+ 3 = \d+, against 15: (success|failure)", once[0])
    total = int(re.search(r"= (\d+),", once[0])[1])
    assert once[0].endswith("success" if total >= 15 else "failure")
    assert re.fullmatch(r"hail, 2d6\+3: \(\d \+ \d\) \+ 3 = \d+", once[1])
    assert re.fullmatch(r"Kit, d20\+2: .*; Varr, d20-1: .*; (Kit|Varr) prevails", once[2])
    assert once[3] in ("weather: rain (d2: 1)", "weather: snow (d2: 2)")
    assert once[4] != once[0]  # the same check a second time is another throw


@pytest.mark.parametrize(
    ("tool", "given", "why"),
    [
        ("roll", {"dice": "7"}, "no dice"),
        ("roll", {"dice": "1000d6"}, "100 dice"),
        ("roll", {"dice": "__import__('os')"}, "no dice"),
        ("check", {"what": "*", "difficulty": 15}, "says nothing"),
        ("check", {"what": "Luck", "difficulty": 0}, "difficulty"),
        ("opposed_roll", {"who": "Kit", "against": "#"}, "says nothing"),
        ("choose", {"options": ["rain"]}, "options"),
        ("choose", {"options": ["rain", "**"]}, "says nothing"),
    ],
)
def test_what_is_no_throw_is_refused_and_throws_nothing(tool, given, why, tmp_path: Path):
    at = play(tmp_path / "tale")
    assert why in at.refused(tool, **given)
    assert (at.table.rolls, at.table.rolled) == ([], 0)


def test_the_dms_own_dice_stay_unseen(tmp_path: Path):
    at = play(tmp_path / "tale", DM)
    assert "against 10" in at.said("check", what="Maren's courage", difficulty=10)
    assert at.table.rolls == []


PLAY = """
- text: You listen at the door.
  tools:
    - {name: check, arguments: {what: "Perception", difficulty: 12, bonus: 3}}
- text: Something breathes behind it.
  tools:
    - {name: change_affinity, arguments: {who: Old Pasco, change: 2}}
    - {name: append_journal, arguments: {text: Kit listened at the door.}}
"""


def test_the_line_stands_where_it_was_thrown_and_a_swipe_keeps_it(campaign, script, rolecall):
    models = [part for role in ("sidecar", "dm", "turn_dm") for part in ("--model", f"{role}=off")]
    models += ["--model", f"narrator={script(PLAY)}"]
    ran = rolecall("-C", campaign, "turn", "I listen.", *models)
    assert ran.code == 0
    assert "\naffinity: 2\n" in (campaign / "characters/old-pasco.md").read_text()
    told = next((campaign / "story").glob("*.md")).read_text()
    found = re.search(
        r"You listen at the door\.\n\n(\*Perception, d20\+3: .* against 12: \w+\*)\n\nSomething breathes", told
    )
    assert found and found[0] in ran.out  # the player saw it fall in the same place
    models[-1] = f"narrator={script(PLAY)}"
    assert rolecall("-C", campaign, "swipe", *models).code == 0
    assert found[1] in next((campaign / "story").glob("*.md")).read_text()
    assert "\naffinity: 2\n" in (campaign / "characters/old-pasco.md").read_text()
    assert rolecall("-C", campaign, "undo").code == 0
    assert "affinity" not in (campaign / "characters/old-pasco.md").read_text()


def test_a_turn_told_again_from_its_saved_answers_throws_and_writes_the_same(campaign, script, rolecall, tmp_path):
    models = [part for role in ("sidecar", "dm", "turn_dm") for part in ("--model", f"{role}=off")]
    before = {p.relative_to(campaign): p.read_bytes() for p in campaign.rglob("*.md")}
    assert rolecall("-C", campaign, "turn", "I listen.", *models, "--model", f"narrator={script(PLAY)}").code == 0
    after = {p.relative_to(campaign): p.read_bytes() for p in campaign.rglob("*.md")}
    for path in after:  # as if it had been killed between the last answer and the plan: nothing is written yet
        if path in before:
            (campaign / path).write_bytes(before[path])
        elif ".rolecall" not in path.parts:
            (campaign / path).unlink()
    record = campaign / ".rolecall/turns/T0001/record.jsonl"
    lines = record.read_bytes().splitlines(keepends=True)
    cut = next(n for n, line in enumerate(lines) if b'"do": "plan"' in line)
    record.write_bytes(b"".join(lines[:cut]))
    assert rolecall("-C", campaign, "fold").code in (0, 1)  # any command that writes puts it right first
    assert {p.relative_to(campaign): p.read_bytes() for p in campaign.rglob("*.md")} == after
