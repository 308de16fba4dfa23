"""`rolecall status`: what a player wants to know between two turns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from rolecall.campaign import template
from rolecall.cli.main import cli

STATE = b"""---
name: Campaign State
time: 22:30
weather: snow
location: "[[Skerrow Quay]]"
---
It burns.

## Party

- [[Kit Sallow]], limping
Old Pasco: at the oars

## Resources

- silver: 9
30 arrows

## Effects

- [[Kit Sallow]]: poisoned (until T0045)

## Combat

- round: 2
- turn: Kit Sallow
- Wolf: initiative 12, hit points 3/7
- Kit Sallow: initiative 17
- The Shade: initiative 3

## Journal
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = template.new(tmp_path / "tale").root
    (root / "campaign-state.md").write_bytes(STATE)
    kit = root / "characters/kit-sallow.md"
    kit.write_bytes(kit.read_bytes().replace(b"kind: character\n", b"kind: character\nhit_points: 8/12\n", 1))
    (root / "characters/shade.md").write_bytes(
        b"---\nname: The Shade\nkind: character\nvisibility: secret\nhit_points: 99/99\n---\n"
    )
    return root


def run(root: Path, *arguments: str) -> str:
    done = CliRunner().invoke(cli, ["-C", str(root), "status", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_status_tells_the_fight_the_numbers_and_the_hour_and_names_without_brackets(root: Path):
    said = run(root)
    assert "Location: Skerrow Quay\nTime: 22:30\nWeather: snow\n" in said
    assert "  Kit Sallow, limping · hit points 8/12\n  Old Pasco: at the oars\n" in said
    assert (
        "A fight: round 2, Kit Sallow to act\n  Kit Sallow, hit points 8/12\n  Wolf, hit points 3/7\n  The Shade\n"
        in said
    )
    assert "Resources\n  silver: 9\n  30 arrows\n" in said
    assert "Effects\n  Kit Sallow: poisoned (until T0045)\n" in said
    assert "[[" not in said and "99" not in said


def test_a_quest_is_told_with_its_stage_and_what_is_to_be_done(root: Path):
    (root / "arcs/ferry.md").write_text(
        "---\nname: The Ferry\nkind: quest\nquestion: Who cut the rope?\nstatus: open\nstage: a clue\n---\n\n"
        "## Objectives\n\n- [x] See the rope (T0043)\n- [ ] Ask [[Marta]]\n"
    )
    assert "  The Ferry (open)\n    a clue\n    [x] See the rope\n    [ ] Ask Marta\n" in run(root)
    (quest,) = [arc for arc in json.loads(run(root, "--json"))["arcs"] if arc["name"] == "The Ferry"]
    assert quest["objectives"] == [{"text": "See the rope", "done": True}, {"text": "Ask [[Marta]]", "done": False}]


def test_the_numbers_are_in_the_json_and_what_is_secret_only_for_the_writer(root: Path):
    now = json.loads(run(root, "--json"))
    assert now["hit_points"] == {"Kit Sallow": "8/12"} and now["resources"] == ["silver: 9", "30 arrows"]
    assert now["combat"]["fighters"][2] == {"name": "The Shade", "initiative": 3, "hit_points": ""}
    shown = json.loads(run(root, "--json", "--secrets"))
    assert shown["combat"]["fighters"][2]["hit_points"] == "99/99"


def test_two_sections_of_a_name_are_read_as_none_and_the_rest_is_told(root: Path):
    (root / "campaign-state.md").write_bytes(STATE + b"\n## Combat\n\n- round: 9\n")
    said = run(root)
    assert "A fight" not in said and "  silver: 9\n" in said and "hit points 8/12" in said
    checked = CliRunner().invoke(cli, ["-C", str(root), "check"])
    assert checked.exit_code == 1 and "the heading `Combat` stands here a second time" in checked.stdout


def test_a_quest_is_listed_among_the_arcs_and_by_itself(rolecall, campaign):
    (campaign / "arcs" / "the-oar.md").write_text("---\nname: The Oar\nkind: quest\nstage: looking\n---\n")
    arcs = json.loads(rolecall("-C", campaign, "list", "arc", "--json").out)
    assert [(row["kind"], row["name"]) for row in arcs] == [("arc", "Who rang the drowned bell"), ("quest", "The Oar")]
    assert [row["name"] for row in json.loads(rolecall("-C", campaign, "list", "quest", "--json").out)] == ["The Oar"]


@pytest.mark.parametrize("asked", [["status"], ["list"], ["show", "Old Pasco"], ["search", "bell"]])
def test_a_command_that_reads_imports_nothing_that_tells_a_turn(asked, campaign):
    code = (
        "import sys; from rolecall.cli.main import main; sys.argv = ['rolecall', *sys.argv[1:]]\n"
        "try: main()\nexcept SystemExit: pass\n"
        "late = ('rolecall.tools', 'rolecall.turn.lifecycle', 'rolecall.turn.recovery', 'rolecall.agents.narrator')\n"
        "print([name for name in sys.modules if name.startswith(late)], file=sys.stderr)"
    )
    line = [sys.executable, "-c", code, "-C", str(campaign), *asked]
    ran = subprocess.run(line, capture_output=True, text=True, check=True)
    assert ran.stdout and ran.stderr.strip() == "[]"
