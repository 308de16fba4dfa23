"""Timelines: plain branches, each with its own memory, however one comes to it."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

from rolecall.campaign import journal, records
from rolecall.campaign.checks import check
from rolecall.campaign.effects import Effect, edit_of, encode
from rolecall.campaign.folder import open_campaign
from rolecall.errors import CampaignError, Conflict, GitTrouble, TurnError, UnknownName
from rolecall.search.searcher import Search
from rolecall.turn import swipes
from tests.game.repositories import NEEDS_GIT, Table, line, script, table

pytestmark = [NEEDS_GIT, pytest.mark.skipif(sys.platform == "win32", reason="paths as posix has them")]


@pytest.fixture
def tale(tmp_path, monkeypatch, clean_environment) -> Table:
    return table(tmp_path, monkeypatch)


@pytest.fixture
def rain(tmp_path) -> str:
    return script(tmp_path, " in the rain")


def journal_of(tale: Table) -> list[str]:
    lines = journal.lines_of(open_campaign(tale.root).document("campaign-state.md"))
    return [one.text.removeprefix("Kit met Old Pasco on the quay").removesuffix(".") for one in lines]


def turns(tale: Table, tell: list[str], model: str = "") -> None:
    for action in tell:
        assert tale.tell(action, model).degraded == ()


def test_a_branch_goes_its_own_way_and_the_old_one_stays_as_it_was(tale, rain):
    turns(tale, ["I wait.", "I stay."])
    tale.game().branch("what-if", tale.listener)
    turns(tale, ["I run.", "I hide."], rain)
    assert journal_of(tale) == [", hour 1", ", hour 2", " in the rain, hour 3", " in the rain, hour 4"]
    assert tale.game().go("main", tale.listener) is True and tale.game().go("main", tale.listener) is False
    assert journal_of(tale) == [", hour 1", ", hour 2"]
    assert tale.tell("I walk.").turn == "T0003"
    assert (
        tale.subjects("what-if")[0] == f"T0004 {line(4, ' in the rain')}" and tale.subjects()[0] == f"T0003 {line(3)}"
    )
    assert check(open_campaign(tale.root)) == []


def test_a_branch_from_an_earlier_turn_has_that_turns_present(tale):
    turns(tale, ["I wait.", "I stay.", "I go."])
    tale.game().swipe(tale.listener)
    tale.game().branch("what-if", tale.listener, at=2)
    assert journal_of(tale) == [", hour 1", ", hour 2"] and "## T0003" not in tale.read(tale.files_of()[1])
    with pytest.raises(UnknownName, match="T0009"):
        tale.game().branch("never", tale.listener, at=9)


def test_swipe_and_undo_know_the_timeline_one_is_in(tale, rain, tmp_path):
    turns(tale, ["I wait.", "I stay.", "I go."])
    tale.game(script(tmp_path, " at night")).swipe(tale.listener)
    tale.game().branch("what-if", tale.listener, at=1)
    turns(tale, ["I run.", "I hide."], rain)
    assert [row["journal"] for row in swipes.listed(open_campaign(tale.root))] == [line(3, " in the rain")]
    tale.game().go("main", tale.listener)
    rows = swipes.listed(open_campaign(tale.root))
    assert [(row["journal"], row["current"]) for row in rows] == [(line(3), False), (line(3, " at night"), True)]
    tale.game().switch(1, tale.listener)
    assert journal_of(tale) == [", hour 1", ", hour 2", ", hour 3"]
    assert [undone.action for undone in tale.game().undo(tale.listener, count=3)] == ["I go.", "I stay.", "I wait."]
    tale.game().go("what-if", tale.listener)
    assert [undone.action for undone in tale.game().undo(tale.listener, count=2)] == ["I hide.", "I run."]
    assert journal_of(tale) == [", hour 1"]
    assert [undone.action for undone in tale.game().undo(tale.listener)] == [
        "I wait."
    ]  # undone in main, yet it stands here
    assert tale.git("status", "--porcelain") == "" and check(open_campaign(tale.root)) == []


def test_switching_by_hand_is_as_good(tale, rain):
    turns(tale, ["I wait.", "I stay.", "I go."])
    tale.git("checkout", "-qb", "what-if", "HEAD~2")
    turns(tale, ["I run."], rain)
    assert journal_of(tale) == [", hour 1", " in the rain, hour 2"]
    tale.git("checkout", "-q", "main")
    assert [undone.action for undone in tale.game().undo(tale.listener, count=2)] == ["I go.", "I stay."]
    tale.git("checkout", "-q", "what-if")
    assert [undone.action for undone in tale.game().undo(tale.listener)] == ["I run."]
    assert journal_of(tale) == [", hour 1"] and tale.git("status", "--porcelain") == ""


def test_a_file_that_two_timelines_call_by_two_names_is_found_in_each(tale, tmp_path):
    noted = "{name: append_history, arguments: {entry: pasco, text: Gave Kit his oar.}}"
    (tmp_path / "noting.yaml").write_text(f"- text: He nods.\n  tools: [{noted}]\n" * 3)
    tale.tell("I wait.", f"scripted:{tmp_path}/noting.yaml")
    elder, younger = "characters/pasco-the-elder.md", "characters/pasco-the-younger.md"
    tale.game().rename("Old Pasco", "Pasco the Elder", tale.listener)
    tale.git("checkout", "-qb", "what-if", "HEAD~1")
    tale.game().rename("Old Pasco", "Pasco the Younger", tale.listener)
    for path, branch in ((younger, "main"), (elder, "what-if")):
        assert "Gave Kit his oar." in tale.read(path)
        assert [undone.action for undone in tale.game().undo(tale.listener)] == ["I wait."]
        assert "Gave Kit his oar." not in tale.read(path)
        tale.git("checkout", "-q", branch)


def test_after_a_reset_undo_takes_back_what_stands_and_after_a_merge_what_came(tale, rain):
    turns(tale, ["I wait.", "I stay.", "I go."])
    tale.git("checkout", "-qb", "side")
    turns(tale, ["I run."], rain)
    tale.git("checkout", "-q", "main")
    assert len(swipes.listed(open_campaign(tale.root))) == 1
    tale.git("merge", "-q", "--ff-only", "side")
    assert [undone.action for undone in tale.game().undo(tale.listener)] == ["I run."]
    tale.git("reset", "-q", "--hard", "HEAD~2")  # before the undo and the turn
    assert [undone.action for undone in tale.game().undo(tale.listener)] == ["I go."]
    assert journal_of(tale) == [", hour 1", ", hour 2"]


def test_what_another_machine_told_is_refused_and_not_mistaken(tale, rain):
    turns(tale, ["I wait.", "I stay."])
    tale.git("checkout", "-qb", "hers", "HEAD~1")
    turns(tale, ["I stay."], rain)  # the very action, another answer
    for folder in (tale.root / ".rolecall/turns").iterdir():
        if folder.name.startswith("T0002") and "rain" in (folder / "record.jsonl").read_text():
            folder.rename(tale.root.parent / folder.name)
    before = tale.read("campaign-state.md")
    with pytest.raises(TurnError, match="no record of T0002"):
        tale.game().undo(tale.listener)
    assert tale.read("campaign-state.md") == before
    tale.git("checkout", "-q", "main")
    assert [undone.action for undone in tale.game().undo(tale.listener)] == ["I stay."]


def test_a_line_reworded_by_hand_keeps_its_record(tale):
    turns(tale, ["I wait.", "I stay."])
    tale.replace("campaign-state.md", line(2), "Nothing at all.")
    tale.tell("I go.")
    tale.replace("campaign-state.md", line(3), "Nothing either.")
    assert [undone.turn for undone in tale.game().undo(tale.listener)] == [3]
    assert not [folder for folder in records.aside(tale.root, 3) if ".other-" in folder]


def test_pending_edits_are_committed_before_one_leaves_and_staged_ones_are_refused(tale):
    turns(tale, ["I wait."])
    tale.game().branch("what-if", tale.listener)
    tale.write("lore/tides.md", "The ebb is long.\n")
    tale.game().go("main", tale.listener)
    assert tale.subjects("what-if")[0].startswith("By hand") and not (tale.root / "lore/tides.md").exists()
    tale.write("lore/winds.md", "West.\n")
    tale.git("add", "lore/winds.md")
    with pytest.raises(GitTrouble, match=r"you have staged lore/winds\.md"):
        tale.game().go("what-if", tale.listener)
    tale.git("restore", "--staged", "lore/winds.md")
    tale.write("map.png", "not a campaign file")
    tale.game().go("what-if", tale.listener)
    assert (tale.root / "map.png").exists() and (tale.root / "lore/tides.md").exists()


def test_names_that_will_not_do_are_refused_with_one_that_will(tale):
    turns(tale, ["I wait."])
    with pytest.raises(CampaignError, match="try `what-if-she-stayed`"):
        tale.game().branch("what if she stayed?", tale.listener)
    with pytest.raises(CampaignError):
        tale.game().branch("-D", tale.listener)
    with pytest.raises(Conflict, match="already"):
        tale.game().branch("main", tale.listener)
    with pytest.raises(UnknownName, match="did you mean `main`"):
        tale.game().go("mian", tale.listener)
    assert tale.git("branch", "--list").split() == ["*", "main"]


def test_from_a_head_on_no_branch_a_branch_is_the_way_out(tale):
    turns(tale, ["I wait.", "I stay."])
    tale.git("checkout", "-q", "--detach", "HEAD~1")
    assert [d.layer for d in tale.tell("I run.").degraded] == ["git"]
    tale.game().branch("found", tale.listener)
    assert tale.subjects()[0] == f"T0002 {line(2)}" and tale.tell("I go.").degraded == ()
    assert tale.git("status", "--porcelain") == ""


def test_the_index_follows_the_timeline(tale, rain):
    turns(tale, ["I wait."])
    tale.game().branch("what-if", tale.listener)
    tale.write("lore/kraken.md", "The kraken sleeps below Skerrow.\n")
    turns(tale, ["I run."], rain)
    tale.game().go("main", tale.listener)
    search = Search(open_campaign(tale.root))
    search.refresh()
    assert not [hit for hit in search.find("kraken sleeps") if "kraken" in hit.path]
    tale.game().go("what-if", tale.listener)
    search.refresh()
    assert [hit for hit in search.find("kraken sleeps") if "kraken" in hit.path]


def test_timeline_lists_every_branch_that_holds_the_campaign(tale, rain, rolecall):
    turns(tale, ["I wait."])
    assert rolecall("-C", tale.root, "branch", "what-if").code == 0
    turns(tale, ["I run."], rain)
    tale.git("checkout", "-q", "--orphan", "pages")
    tale.git("rm", "-rqf", ".")
    tale.write("index.html", "<p>")
    tale.git("add", "index.html")
    tale.git("commit", "-qm", "Pages")
    tale.git("checkout", "-q", "what-if")
    rows = json.loads(rolecall("-C", tale.root, "timeline", "--json").out)
    assert {row["name"]: (row["current"], row["turn"], row["journal"], row["subject"]) for row in rows} == {
        "what-if": (True, "T0002", line(2, " in the rain"), f"T0002 {line(2, ' in the rain')}"),
        "main": (False, "T0001", line(1), f"T0001 {line(1)}"),
    }
    ran = rolecall("-C", tale.root, "timeline")
    assert ran.out.split()[:3] == ["*", "what-if", "T0002"]
    assert rolecall("-C", tale.root, "timeline", "main").err.endswith("You are in the timeline main.\n")
    assert (
        rolecall("-C", tale.root, "branch", "x y").code == 1
        and rolecall("-C", tale.root, "branch", "x", "--at", "y").code == 2
    )


def test_the_player_is_told_no_subject_that_may_name_a_secret(tale, rolecall):
    turns(tale, ["I wait."])
    told = f"T0001 {line(1)}"
    tale.write("lore/the-drowned-heir.md", "---\nname: The Drowned Heir\nvisibility: secret\n---\nIt is Pasco.\n")
    tale.game().branch("what-if", tale.listener)  # the hand edit is committed on the way
    assert tale.subjects()[0] == "By hand before T0002: lore/the-drowned-heir.md"
    tale.git("checkout", "-qb", "mine")
    tale.git(
        "commit", "-q", "--allow-empty", "-m", "T0002 Pasco is the drowned heir"
    )  # the writer's, whatever it looks like
    tale.git("checkout", "-qb", "renamed")
    tale.game().rename("The Drowned Heir", "The Drowned Prince", tale.listener)
    for arguments in (("timeline",), ("timeline", "--json")):
        ran = rolecall("-C", tale.root, *arguments)
        assert "drowned" not in (ran.out + ran.err).casefold() and told[6:] in ran.out
        assert (
            "by hand before t0002: lore/the-drowned-heir.md"
            in rolecall("-C", tale.root, *arguments, "--secrets").out.casefold()
        )
    rows = json.loads(rolecall("-C", tale.root, "timeline", "--json").out)
    assert {row["name"]: row["subject"] for row in rows} == {"main": "", "what-if": "", "mine": "", "renamed": ""}


def test_where_git_is_off_or_no_repository_is_they_say_so(rolecall, campaign):
    ran = rolecall("-C", campaign, "branch", "what-if")
    assert ran.code == 1 and "rolecall.yaml: git is off for this campaign; write `git: auto`" in ran.err
    ran = rolecall("-C", campaign, "timeline")
    assert ran.code == 1 and "there is no repository here" in ran.err and ran.out == ""


MOVES = """
- text: Scene {n}.
  tools:
    - {{name: move_arc, arguments: {{arc: Who rang the drowned bell, text: Line {n}.}}}}
    - {{name: append_journal, arguments: {{text: Journal {n}.}}}}
"""


def test_a_trail_is_as_long_as_the_turns_of_the_timeline_one_is_in_left_it(tale, tmp_path):
    for n in (1, 2, 3):
        (tmp_path / f"{n}.yaml").write_text(MOVES.format(n=n))
        tale.tell(f"I go, {n}.", f"scripted:{tmp_path / f'{n}.yaml'}")
    tale.git("checkout", "-qb", "older", "HEAD~1")
    assert check(open_campaign(tale.root)) == []  # the record of T0003 is of the other timeline
    tale.git("checkout", "-q", "main")
    tale.game().branch("without", tale.listener)
    tale.game().undo(tale.listener, turn=1)
    tale.game().go("main", tale.listener)
    tale.game(script(tmp_path, " in the rain")).swipe(tale.listener)
    tale.game().switch(1, tale.listener)  # T0003 is written down anew, where T0001 stands
    tale.game().go("without", tale.listener)
    assert check(open_campaign(tale.root)) == []
    tale.replace("arcs/who-rang-the-drowned-bell.md", "- T0002 Line 2.\n", "")
    assert "T0003 left it with 2" in str(check(open_campaign(tale.root))[0])


def test_an_answer_that_was_swiped_away_is_the_current_one_where_it_stands(tale, rain, tmp_path):
    turns(tale, ["I wait.", "I stay."])
    tale.game(rain).swipe(tale.listener)
    tale.git("checkout", "-qb", "older", "HEAD~1")  # before the swipe
    told = tale.read(tale.files_of()[1])
    rows = {row["journal"]: row["current"] for row in swipes.listed(open_campaign(tale.root))}
    assert rows == {line(2): False, line(2, " in the rain"): True}  # nobody has written since
    tale.game().recover(tale.listener)
    rows = {row["journal"]: row["current"] for row in swipes.listed(open_campaign(tale.root))}
    assert rows == {line(2): True, line(2, " in the rain"): False}
    tale.game().switch(2, tale.listener)
    assert journal_of(tale) == [", hour 1", " in the rain, hour 2"]
    tale.game().switch(1, tale.listener)
    assert journal_of(tale) == [", hour 1", ", hour 2"] and tale.read(tale.files_of()[1]) == told
    tale.git("checkout", "-q", "main")
    assert [undone.action for undone in tale.game().undo(tale.listener)] == ["I stay."]
    assert journal_of(tale) == [", hour 1"] and check(open_campaign(tale.root)) == []
    tale.git("checkout", "-q", "older")
    assert [undone.action for undone in tale.game().undo(tale.listener)] == ["I stay."]
    assert journal_of(tale) == [", hour 1"] and tale.git("status", "--porcelain") == ""


def test_a_turn_taken_back_in_one_timeline_is_no_gap_there_though_it_stands_in_another(tale):
    turns(tale, ["I wait.", "I stay.", "I go."])
    tale.game().branch("without", tale.listener)
    tale.game().undo(tale.listener, turn=2)
    tale.git("checkout", "-q", "main")
    tale.game().undo(tale.listener, count=2)
    tale.git("reset", "-q", "--hard", "HEAD~2")
    tale.game().recover(tale.listener)
    assert journal_of(tale) == [", hour 1", ", hour 2", ", hour 3"] and check(open_campaign(tale.root)) == []
    tale.game().go("without", tale.listener)
    assert journal_of(tale) == [", hour 1", ", hour 3"] and check(open_campaign(tale.root)) == []
    tale.game().undo(tale.listener, turn=1)
    tale.game().go("main", tale.listener)  # its last turn is the same: T0001 and T0002 alone are known again
    assert [undone.action for undone in tale.game().undo(tale.listener, turn=1)] == ["I wait."]
    assert journal_of(tale) == [", hour 2", ", hour 3"] and tale.git("status", "--porcelain") == ""


def test_a_turn_taken_back_is_no_gap_in_a_clone_nor_without_records(tale, tmp_path):
    turns(tale, ["I wait.", "I stay.", "I go.", "I run."])
    tale.game().undo(tale.listener, turn=2)
    tale.git("clone", "-q", ".", str(tmp_path / "clone"))
    assert check(open_campaign(tmp_path / "clone")) == []
    shutil.rmtree(tale.root / ".rolecall")
    assert check(open_campaign(tale.root)) == []
    with pytest.raises(TurnError, match="no record of a turn"):
        tale.game().undo(tale.listener)
    tale.replace("campaign-state.md", f"- T0003 {line(3)}\n", "")  # this one was lost, not taken back
    assert [(p.rule, p.message[:5]) for p in check(open_campaign(tale.root))] == [("turn-gap", "T0003")]


def test_a_turn_that_one_timeline_has_taken_back_is_not_known_there(tale):
    turns(tale, ["I wait.", "I stay.", "I go."])
    tale.game().branch("without", tale.listener)
    tale.game().undo(tale.listener, turn=2)
    tale.game().go("main", tale.listener)
    assert [records.turn_of(folder) for folder in records.folders(tale.root)] == [1, 2, 3]
    tale.game().go("without", tale.listener)
    assert [records.turn_of(folder) for folder in records.folders(tale.root)] == [1, 3]
    assert check(open_campaign(tale.root)) == []
    assert [undone.turn for undone in tale.game().undo(tale.listener, count=2)] == [3, 1]
    assert journal_of(tale) == []


def test_each_timeline_counts_its_own_numbers(tale, tmp_path):
    def silver() -> str:
        return tale.read("campaign-state.md").partition("- silver: ")[2].partition("\n")[0]

    tale.replace("campaign-state.md", "## Promises\n", "## Resources\n\n- silver: 100\n\n## Promises\n")
    for turn, amount in ((1, 5), (2, 3), (3, 1)):
        said = [
            {"turn": f"T{turn:04d}", "tools": [{"name": "gain", "arguments": {"name": "silver", "amount": amount}}]},
            {"turn": f"T{turn:04d}", "text": f"Scene {turn}."},
        ]
        (tmp_path / f"{turn}.yaml").write_text(json.dumps(said))
        tale.tell(f"I go, {turn}.", f"scripted:{tmp_path / f'{turn}.yaml'}")
    tale.game().branch("without", tale.listener)
    tale.game().undo(tale.listener, turn=1)
    assert silver() == "104"
    tale.game().go("main", tale.listener)
    assert silver() == "109"
    tale.game().undo(tale.listener, turn=2)
    assert silver() == "106"
    tale.game().undo(tale.listener)
    assert silver() == "105"
    tale.game().go("without", tale.listener)
    assert [undone.clashes for undone in tale.game().undo(tale.listener, turn=2)] == [()]
    assert silver() == "101"
    assert [undone.clashes for undone in tale.game().undo(tale.listener)] == [()]
    assert silver() == "100"


def test_a_turn_cut_off_in_one_timeline_is_not_finished_in_another(tale, rain):
    turns(tale, ["I wait."])
    tale.git("checkout", "-qb", "other")
    turns(tale, ["I stay."], rain)
    tale.git("checkout", "-q", "main")
    chapter = tale.files_of()[1]
    effects = [
        Effect("section", chapter, 2, "I left.", key="I go."),
        Effect("journal", "campaign-state.md", 2, "Kit left."),
        Effect("history", "characters/old-pasco.md", 2, "Saw Kit leave."),
    ]
    record = records.begin(tale.root, 2, "I go.")
    record.note("plan", effects=[encode(effect) for effect in effects], model="m")
    record.write(chapter, "section", edit_of(effects[0]), turn=2)  # and the machine stops
    tale.git("checkout", "-qf", "other")
    there = {path: tale.read(path) for path in tale.files_of()}
    tale.game().recover(tale.listener)
    assert {path: tale.read(path) for path in tale.files_of()} == there
    assert records.drafts(tale.root)[-1][1] == "I go."
    assert [undone.action for undone in tale.game().undo(tale.listener)] == ["I stay."]
