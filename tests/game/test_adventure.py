"""An adventure of fifty turns, played with `rolecall play`: what it leaves is what a careful hand would have written down.

`adventure_end/` holds every entry, the DM's files and the Campaign State as they must be at the end.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rolecall.agents.calls import read_round, saved_events
from rolecall.agents.scribe import OFFERED
from rolecall.campaign import chronicles, journal, records, story
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.models import messages
from rolecall.models.messages import ToolResult
from rolecall.tools import families
from tests.game import adventure_world
from tests.game.adventure import TURNS
from tests.turn.world import text

LEGS = (
    9,
    31,
    45,
    50,
)  # the evenings: in the midst of the first fight, of the second, before the last five turns, the end
END = Path(__file__).with_name("adventure_end")
OURS = ("story", "chronicles")  # folders whose files are not told in `adventure_end`


@dataclass(frozen=True)
class Played:
    """The campaign after fifty turns, a copy of it from the end of each evening, and what was said on the error stream."""

    root: Path
    at: dict[int, Path]
    said: list[str]

    @property
    def campaign(self) -> Campaign:
        return open_campaign(self.root, here_only=True)

    def state(self, leg: int) -> dict[str, list[str]]:
        """The sections of the Campaign State at the end of an evening, their lines; the front matter under ''."""
        state = open_campaign(self.at[leg], here_only=True).document(STATE_FILE)
        sections = {s.heading: [line for line in s.text.splitlines() if line] for s in state.sections if s.level}
        return {"": [f"{key}: {value}" for key, value in state.fields.items()], **sections}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """Fifty turns, each evening another process."""
    place = tmp_path_factory.mktemp("adventure")
    root, spec = adventure_world.make(place / "tale"), adventure_world.script(place / "script.yaml")
    environ = {**os.environ, "XDG_CACHE_HOME": str(place / "cache")}
    at, said, told = {}, [], 0
    for leg in LEGS:
        typed = "".join(f"{turn.action}\n" for turn in TURNS[told:leg])
        command = [sys.executable, "-m", "rolecall", "-C", str(root), "play", "--model", spec]
        ran = subprocess.run(command, input=typed, capture_output=True, encoding="utf-8", env=environ, timeout=600)
        assert ran.returncode == 0, ran.stderr
        said += [line for line in ran.stderr.splitlines() if line.strip()]
        at[leg] = Path(shutil.copytree(root, place / f"at-{leg}"))
        told = leg
    yield Played(root, at, said)


# -- the layers did their work


def test_nothing_was_degraded_left_out_or_withheld_and_no_layer_was_asked_twice(played: Played):
    banner = "The Bell Road · narrated by scripted:"
    assert [line for line in played.said if not line.startswith(banner)] == [] and len(played.said) == len(LEGS)
    feed = (played.root / ".rolecall/activity.jsonl").read_text(encoding="utf-8")
    assert "withheld" not in feed and "left out" not in feed
    for number, turn in enumerate(TURNS, 1):
        asked = Counter(call.layer for call in calls(played, number))
        wanted = {"turn_dm": 1, "dm": len(turn.plans) + 1, "retriever": 1, "narrator": len(turn.looks) + 1}
        wanted |= {"scribe": 1, "afterwork": 1} | ({"historian": 1} if number in (20, 40) else {})
        assert asked == wanted, number  # a scribe is asked again where one of its tools was refused


def test_every_tool_of_the_catalogue_was_used(played: Played):
    used = set()
    for number in range(1, len(TURNS) + 1):
        for call in calls(played, number):
            used |= {one.name for one in read_round(saved_events(call)).calls}
    there = {tool.name for layer in families.LAYERS for tool in families.callable_by(layer)}
    assert used == there | {tool.name for tool in OFFERED} | {"direct"}
    assert len(used) > 90


def test_the_one_thing_that_cannot_be_is_the_one_that_was_refused(played: Played):
    assert [(turn, tool, said) for turn, tool, said, wrong in results(played) if wrong] == [
        ("T0034", "heal", "Osk Varn is dead.")
    ]


ANSWERS = (
    ("T0001", "list_resources", "- silver: 60\n- rations: 6/10"),
    ("T0001", "list_inventory", "- sword (hand)\n- 2 torch"),
    ("T0001", "list_arcs", "- Who holds the pass · Whose is the High Pass? · at stake: the price of salt"),
    ("T0001", "list_conditions", "No condition lasts."),
    ("T0001", "agendas", "Nobody has an agenda."),
    ("T0001", "who_knows", "Nobody is noted as knowing that."),
    ("T0002", "earn", "silver: 57."),  # 60 - 4 - 3 + 1 - 2 + 5
    ("T0002", "advance_time", "It is Millday, 17 Reaping 311, 10:00."),
    ("T0003", "upcoming", "- The Winter Fair (8 Rime 311, in 11 days)"),  # three of Reaping, eight of Rime
    (
        "T0004",
        "list_quests",
        "- A Bell for the Abbey · Will the abbey's bell ring before the year turns? · asked for\n  - [x] Find the healer\n"
        "  - [ ] Carry the key over the pass\n  - [ ] Hang the bell in the belfry",
    ),
    ("T0006", "places_near", "From Hallow Ford:\n- The High Pass: the old road, 3 days"),
    ("T0006", "what_day", "8 Rime 311, Fairday, Winter. In 11 days."),
    ("T0006", "travel", "It is Restday, 20 Reaping 311, 10:00. The party is at The High Pass."),
    ("T0007", "advance_time", "It is Ashday, 1 Rime 311, 10:00. It is Winter now."),
    ("T0007", "list_conditions", "- Ilka Thorn: chilled (until 3 Rime 311)\n- Bram Oster: snow-blind (until T0011)"),
    (
        "T0008",
        "combat_order",
        "Round 1, Ilka Thorn's turn.\n- Ilka Thorn: initiative 15, 11/14 hit points\n"
        "- Grey Wolf: initiative 13, 7 of 7 hit points\n- Bram Oster: initiative 12, 10/10 hit points\n"
        "- Sister Maud: initiative 9, 8/8 hit points\n- Old Wolf: initiative 6, 9 of 9 hit points",
    ),
    ("T0010", "next_in_order", "It is Ilka Thorn's turn, round 2."),
    ("T0012", "look_back", "> I draw my sword.\n\nTwo shapes come out of the white."),
    (
        "T0013",
        "travel",
        "It is Saltday, 4 Rime 311, 10:00. The party is at Winter Abbey. Ilka Thorn is no longer chilled.",
    ),
    (
        "T0015",
        "relationships",
        "towards the party: 4\nrelationships: with: Ilka Thorn, nature: friends, status: loyal, affinity: 1\nstatus: cheerful",
    ),
    ("T0016", "offscreen", "- T0016 Bram Oster: sends a rider down the frozen river (4 Rime 311)"),
    ("T0016", "who_knows", "- T0016 Osk Varn: the travellers carry what he seeks"),
    ("T0017", "advance_time", "It is Saltday, 4 Rime 311, 19:30."),
    ("T0026", "change_affinity", "Bram Oster's affinity to the party is -5."),  # 4 - 12, and the rule's bound
    (
        "T0027",
        "list_seeds",
        "- Sister Maud's cracked handbell hums when somebody lies; Bram's hand makes it hum (planted T0001, last T0012)",
    ),
    (
        "T0028",
        "travel",
        "It is Ashday, 11 Rime 311, 06:00. The party is at Varn's Keep. The Winter Fair (10 Rime 311) was due and is past.",
    ),
    ("T0029", "advance_time", "It is Millday, 12 Rime 311, 06:00. Party is no longer blessed."),
    ("T0030", "advance_time", "It is Fairday, 13 Rime 311, 06:00."),  # of the hidden event the narrator hears nothing
    ("T0033", "damage", "Osk Varn is down at 0 of 16 hit points."),
    ("T0037", "travel", "It is Fairday, 3 Sowing 312, 06:00. It is Spring now. The party is at Winter Abbey."),
    ("T0038", "buy", "Ilka Thorn has 2 sack of salt. silver: 121."),  # 57 + 30 + 40 - 6
    (
        "T0050",
        "advance_time",
        "It is Ashday, 11 Reaping 312, 16:00. It is Autumn now. The Salt Fair (1 Reaping 312) was due and is past.",
    ),
)


def test_the_tools_answered_with_what_was_true_then(played: Played):
    said: dict[tuple[str, str], str] = {
        (turn, tool): answer for turn, tool, answer, _ in results(played)
    }  # the last one
    assert [(turn, tool, said.get((turn, tool))) for turn, tool, _ in ANSWERS] == list(ANSWERS)


# -- what stands in the files


def test_at_the_end_every_file_says_what_it_must_and_there_is_no_other(played: Played):
    wanted = {path.relative_to(END).as_posix(): path.read_text(encoding="utf-8") for path in END.rglob("*.md")}
    folders = {path.split("/")[0] for path in wanted}
    there = {path: data.decode() for path, data in text(played.root).items() if path.split("/")[0] in folders}
    assert sorted(there) == sorted(wanted)
    assert {path for path in wanted if there[path] != wanted[path]} == set()
    made = {p for p in text(played.root) if not p.startswith(OURS)} - set(text(played.at[9]))
    assert made <= set(wanted)


def test_in_the_midst_of_the_first_fight_the_state_holds_round_order_points_and_conditions(played: Played):
    state = played.state(9)
    assert state["Combat"] == [
        "- round: 1",
        "- turn: Bram Oster",
        "- Ilka Thorn: initiative 15",
        "- Grey Wolf: initiative 13, hit points 2/7",
        "- Bram Oster: initiative 12",
        "- Sister Maud: initiative 9",
        "- Old Wolf: initiative 6, hit points 9/9",
        "- Young Wolf: initiative 10, hit points 4/4",
    ]
    assert state["Effects"] == [
        "- Ilka Thorn: chilled (until 3 Rime 311)",
        "- Bram Oster: snow-blind (until T0011)",
        "- Grey Wolf: limping (until round 3)",
    ]
    assert state["Party"] == [
        "- [[Ilka Thorn]], sell-sword",
        "- [[Bram Oster]]: her oldest friend",
        "- [[Sister Maud]], a healer",
    ]
    assert state["Resources"] == ["- silver: 57", "- rations: 2/10"]
    assert points(played, 9) == {"ilka-thorn": "11/14", "bram-oster": "6/10", "sister-maud": "8/8", "osk-varn": "16/16"}


def test_in_the_midst_of_the_second_the_initiative_nobody_gave_was_rolled(played: Played):
    state = played.state(31)
    *others, guard = state["Combat"]
    assert others == [
        "- round: 1",
        "- turn: Osk Varn",
        "- Osk Varn: initiative 18",
        "- Ilka Thorn: initiative 14",
        "- Bram Oster: initiative 11",
        "- Sister Maud: initiative 8",
    ]
    rolled = re.fullmatch(r"- Keep Guard: initiative (\d+), hit points 5/5", guard)
    assert rolled and 1 <= int(rolled[1]) <= 20
    assert state.get("Effects", []) == [] and "date: Fairday, 13 Rime 311" in state[""]
    assert points(played, 31) == {
        "ilka-thorn": "10/14",
        "bram-oster": "8/10",
        "sister-maud": "8/8",
        "osk-varn": "16/16",
    }


def test_before_the_last_five_turns_the_hero_is_home(played: Played):
    state = played.state(45)
    assert state[""][1:] == [
        "date: Fairday, 8 Sowing 312",
        "time: 16:00",
        "weather: thaw",
        "scene: A cell in the abbey",
        "location: Hallow Ford",
    ]
    assert state["Resources"] == ["- silver: 111", "- rations: 1/10", "- lamp oil: 1/3"]
    assert state["Party"] == ["- [[Ilka Thorn]], sell-sword"] and "Combat" not in state


def test_every_journal_line_stands_once_with_what_ran_out_below_it(played: Played):
    campaign = played.campaign
    places = [*(path for _, path in chronicles.paths(campaign)), STATE_FILE]
    lines = [one for path in places for one in journal.lines_of(campaign.document(path))]
    assert [(one.turn, one.text) for one in lines] == [(n, turn.line) for n, turn in enumerate(TURNS, 1)]
    notes = {one.turn: one.raw.split("\n")[1:] for one in lines if "\n" in one.raw.strip()}
    assert notes == {
        10: ["  (Young Wolf: Left the fight in round 1: fled into the trees, 4 of 4 hit points.)"],
        11: ["  (Grey Wolf: No longer limping (until round 3).)"],
        29: ["  (Party: No longer blessed (until 12 Rime 311).)"],
    }
    assert [path for _, path in chronicles.paths(campaign)] == [
        "chronicles/0001-t0001-t0018.md",
        "chronicles/0002-t0019-t0040.md",
    ]


CHAPTERS = {
    "story/001-market-day.md": ("Market day", range(1, 13), "T0012", "Snow on the Stair"),
    "story/002-snow-on-the-stair.md": ("The House Without a Bell", range(13, 40), "T0039", "The Way Home"),
    "story/003-the-way-home.md": ("The Way Home", range(40, 50), "T0049", "The Long Road"),
    "story/004-the-long-road.md": ("The Long Road", range(50, 51), "", ""),
}


def test_the_story_tells_every_turn_once_in_chapters_that_end_where_the_dm_ended_them(played: Played):
    campaign = played.campaign
    assert [path for _, path in story.chapters(campaign)] == list(CHAPTERS)
    for path, (name, turns, closed, after) in CHAPTERS.items():
        chapter = campaign.document(path)
        assert (chapter.text("name"), chapter.text("closed"), chapter.text("next")) == (name, closed, after)
        told = [(one.turn, one.action, without_dice(one.prose)) for one in story.turns_of(chapter)]
        assert told == [(n, TURNS[n - 1].action, TURNS[n - 1].prose) for n in turns]


def without_dice(prose: str) -> str:
    return "\n\n".join(part for part in prose.split("\n\n") if not re.fullmatch(r"\*.*\*", part))


def test_the_dice_stand_in_the_story_and_their_sums_are_right(played: Played):
    told = {
        one.turn: one for _, p in story.chapters(played.campaign) for one in story.turns_of(played.campaign.document(p))
    }
    lines = {n: re.findall(r"^\*(.*)\*$", one.prose, re.M) for n, one in told.items()}
    assert {n: len(found) for n, found in lines.items() if found} == {5: 4, 19: 1}
    bluff, pot, arms, card = lines[5]
    n, total = map(int, re.fullmatch(r"Bluff, d20\+2: (\d+) \+ 2 = (\d+), against 12: \w+", bluff).groups())
    assert 1 <= n <= 20 and total == n + 2 and bluff.endswith("success" if total >= 12 else "failure")
    a, b, total = map(int, re.fullmatch(r"the pot, 2d6\+1: \((\d) \+ (\d)\) \+ 1 = (\d+)", pot).groups())
    assert {a, b} <= set(range(1, 7)) and total == a + b + 1
    found = re.fullmatch(r"Ilka, d20\+3: (\d+) \+ 3 = (\d+); Bram, d20\+1: (\d+) \+ 1 = (\d+); (\w+) prevails", arms)
    mine, my_total, his, his_total = map(int, found.groups()[:4])
    assert {mine, his} <= set(range(1, 21)) and (my_total, his_total) == (mine + 3, his + 1)
    assert found[5] == ("Ilka" if my_total > his_total else "Bram")
    colour, at = re.fullmatch(r"the last card: (\w+) \(d3: (\d)\)", card).groups()
    assert ("red", "black", "white")[int(at) - 1] == colour
    (manners,) = lines[19]
    n = int(re.fullmatch(r"Manners, d20: (\d+), against 10: \w+", manners)[1])
    assert 1 <= n <= 20 and manners.endswith("success" if n >= 10 else "failure")


# -- what can be done with it afterwards


def test_the_campaign_checks_clean_and_why_explains_its_numbers(played: Played, rolecall):
    checked = rolecall("-C", played.root, "check")
    assert (checked.code, checked.out + checked.err) == (0, "No problems.\n")
    for path, line, turn, why in (
        ("characters/ilka-thorn.md", "hit_points: 12/14", "T0048", "hit points"),
        ("characters/bram-oster.md", "affinity: -5", "T0026", "affinity"),
        (STATE_FILE, "- silver: 106", "T0046", "counted"),
        ("items/the-bell-key.md", "holder: Sister Maud", "T0038", "who has it"),
    ):
        number = (played.root / path).read_text(encoding="utf-8").splitlines().index(line) + 1
        told = rolecall("-C", played.root, "why", f"{path}:{number}")
        assert told.code == 0 and turn in told.out and why in told.out and line in told.out, told.out


def test_the_last_five_turns_are_taken_back_to_the_byte(played: Played, rolecall, tmp_path):
    root = shutil.copytree(played.root, tmp_path / "tale")
    before, kept = text(root), text(played.at[45])
    assert before.keys() - kept.keys() == {
        "arcs/the-carters-trail.md",
        "events/the-salt-fair.md",
        "story/004-the-long-road.md",
    }
    ran = rolecall("-C", root, "undo", 5)
    assert ran.code == 0, ran.err
    assert text(root) == kept


def test_the_whole_adventure_is_taken_back_but_for_what_stands_in_chronicles(played: Played, rolecall, tmp_path):
    root, begun = shutil.copytree(played.root, tmp_path / "tale"), text(adventure_world.make(tmp_path / "new"))
    ran = rolecall("-C", root, "undo", len(TURNS))
    assert ran.code == 0 and "your words stay" not in ran.err, ran.err
    now = {path: data for path, data in text(root).items() if not path.startswith("chronicles/")}
    notes = [f"  (T{n:04d}, told in a Chronicle, was taken back.)" for n in range(40, 0, -1)]
    there = [line for line in now.pop(STATE_FILE).decode().splitlines() if line]
    assert there == [line for line in begun.pop(STATE_FILE).decode().splitlines() if line] + notes
    assert now == begun


def test_told_again_from_its_records_the_whole_adventure_is_the_same_to_the_byte(played: Played, rolecall, tmp_path):
    root = adventure_world.make(tmp_path / "tale")
    for number in range(1, len(TURNS) + 1):
        ran = rolecall("-C", root, "turn", "--replay", played.root / records.TURNS / turn_id(number))
        assert (ran.code, ran.err.strip()) == (0, ""), (number, ran.err)
        if number == 31:
            assert text(root) == text(played.at[31])
    assert text(root) == text(played.root)


# -- reading the records


def calls(played: Played, turn: int) -> tuple[records.Call, ...]:
    """The model calls of a turn."""
    return records.calls(played.root, f"{records.TURNS}/{turn_id(turn)}")


def results(played: Played) -> list[tuple[str, str, str, bool]]:
    """(turn, tool, answer, whether it was refused) of every result a model was shown, in order."""
    found: dict[tuple[str, str, str], tuple[str, str, str, bool]] = {}
    for number in range(1, len(TURNS) + 1):
        named: dict[str, str] = {}
        for call in calls(played, number):
            for message in messages.decode(call.request).messages:
                for part in message.parts:
                    if isinstance(part, ToolResult):
                        key = (turn_id(number), call.layer, part.call_id)
                        found[key] = (turn_id(number), named[f"{call.layer} {part.call_id}"], part.text, part.is_error)
            named |= {f"{call.layer} {one.id}": one.name for one in read_round(saved_events(call)).calls}
    return list(found.values())


def points(played: Played, leg: int) -> dict[str, str]:
    """The hit points of those who have an entry, at the end of an evening."""
    campaign = open_campaign(played.at[leg], here_only=True)
    names = ("ilka-thorn", "bram-oster", "sister-maud", "osk-varn")
    return {name: campaign.document(f"characters/{name}.md").text("hit_points") for name in names}
