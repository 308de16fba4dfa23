"""Swipes and undo: a turn's own changes go, what the writer changed since stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_playing import files_of

RICH = """
- turn: T0001
  text: Pasco hands over the oar.
  tools:
    - {{name: move_arc, arguments: {{arc: Who rang the drowned bell, text: Pasco heard his name in it.}}}}
    - {{name: append_history, arguments: {{entry: pasco, text: Gave Kit his oar.}}}}
    - {{name: add_promise, arguments: {{to: Old Pasco, text: bring the oar back}}}}
    - {{name: set_scene, arguments: {{location: Low Skerrow}}}}
    - {{name: append_journal, arguments: {{text: {line}}}}}
"""


def rich(line: str) -> str:
    return RICH.format(line=line)


def test_undo_leaves_every_file_byte_equal_to_before(rolecall, campaign, script):
    before = files_of(campaign)
    assert (
        rolecall("-C", campaign, "turn", "I take the oar.", "--model", script(rich("Pasco gave Kit an oar."))).code == 0
    )
    assert files_of(campaign) != before
    ran = rolecall("-C", campaign, "undo")
    assert (ran.code, ran.out) == (0, "T0001 is taken back: I take the oar.\n")
    assert files_of(campaign) == before
    assert rolecall("-C", campaign, "undo").code == 1  # there is nothing more to take back


def test_undo_takes_several_turns_and_the_number_is_free_again(rolecall, campaign, script):
    first = files_of(campaign)
    for n in range(3):
        assert rolecall("-C", campaign, "turn", f"I go on, {n}.", "--model", script(f"- text: Scene {n}.")).code == 0
    assert rolecall("-C", campaign, "undo", "3").code == 0
    assert files_of(campaign) == first
    told = rolecall("-C", campaign, "turn", "I stay.", "--json", "--model", script("- text: Stay."))
    assert json.loads(told.out)["turn"] == "T0001"


def test_undo_of_one_turn_keeps_later_ones(rolecall, campaign, script):
    for n in (1, 2, 3):
        assert rolecall("-C", campaign, "turn", f"I go, {n}.", "--model", script(f"- text: Scene {n}.")).code == 0
    assert rolecall("-C", campaign, "undo", "--turn", "T0002").code == 0
    state = (campaign / "campaign-state.md").read_text()
    assert state.endswith("- T0001 Scene 1.\n- T0003 Scene 3.\n")
    chapter = next((campaign / "story").iterdir()).read_text()
    assert "Scene 2" not in chapter and "## T0001" in chapter and "## T0003" in chapter


def test_swipe_tells_the_same_action_again_and_switches_back_without_a_model(rolecall, campaign, script):
    assert rolecall("-C", campaign, "turn", "I take the oar.", "--model", script(rich("One."))).code == 0
    one = files_of(campaign)
    ran = rolecall("-C", campaign, "swipe", "--model", script("- text: Pasco keeps his oar."))
    assert (ran.code, ran.out) == (0, "Pasco keeps his oar.\n")
    two = files_of(campaign)
    assert "keeps" in next((campaign / "story").iterdir()).read_text()
    assert "oar back" not in (campaign / "campaign-state.md").read_text()
    listed = json.loads(rolecall("-C", campaign, "swipe", "--list", "--json").out)
    assert [(row["swipe"], row["current"], row["journal"]) for row in listed] == [
        (1, False, "One."),
        (2, True, "Pasco keeps his oar."),
    ]
    assert rolecall("-C", campaign, "swipe", "--to", "1").code == 0
    assert files_of(campaign) == one
    assert rolecall("-C", campaign, "swipe", "--to", "2").code == 0
    assert files_of(campaign) == two
    assert rolecall("-C", campaign, "swipe", "--to", "7").code == 1


def test_an_answer_put_back_says_what_it_leaves_out(rolecall, campaign, script):
    assert rolecall("-C", campaign, "turn", "I take the oar.", "--model", script(rich("One."))).code == 0
    one = files_of(campaign)
    assert rolecall("-C", campaign, "swipe", "--model", script("- text: Pasco keeps his oar.")).code == 0
    pasco = "characters/old-pasco.md"
    (campaign / pasco).unlink()
    ran = rolecall("-C", campaign, "swipe", "--to", "1")
    assert ran.code == 0 and "Pasco hands over the oar." in ran.out
    assert ran.err.startswith("Left out: ") and pasco in ran.err and ran.err.count("\n") == 1, ran.err
    del one[pasco]
    assert files_of(campaign) == one


MOVED = """
- text: Scene {n}.
  tools:
    - {{name: move_arc, arguments: {{arc: Who rang the drowned bell, text: Line {n}.}}}}
    - {{name: append_journal, arguments: {{text: Journal {n}.}}}}
"""


def test_a_trail_that_undo_shortened_is_not_told_as_shrunk_whichever_answer_stands(rolecall, campaign, script):
    for n in (1, 2, 3):
        assert rolecall("-C", campaign, "turn", f"I go, {n}.", "--model", script(MOVED.format(n=n))).code == 0
    assert rolecall("-C", campaign, "undo", "--turn", "T0001").code == 0
    assert rolecall("-C", campaign, "check").code == 0
    assert rolecall("-C", campaign, "swipe", "--model", script(MOVED.format(n=4))).code == 0
    assert rolecall("-C", campaign, "undo", "--turn", "T0002").code == 0
    assert (
        rolecall("-C", campaign, "swipe", "--to", "1").code == 0
    )  # it was noted before that T0001 was gone, not T0002
    ran = rolecall("-C", campaign, "check")
    assert (ran.code, ran.out) == (0, "")


def test_a_trail_that_was_cut_is_told_after_an_undo_too(rolecall, campaign, script):
    for n in (1, 2):
        assert rolecall("-C", campaign, "turn", f"I go, {n}.", "--model", script(MOVED.format(n=n))).code == 0
    assert rolecall("-C", campaign, "undo", "--turn", "T0001").code == 0
    arc = campaign / "arcs/who-rang-the-drowned-bell.md"
    text = arc.read_text()
    arc.write_text(text.replace("- The bell rang once at dusk, and half the town pretended not to hear.\n", ""))
    assert (
        text != arc.read_text()
        and "the trail has 0 lines; T0002 left it with 1" in rolecall("-C", campaign, "check").out
    )


def test_a_swipe_that_finds_no_model_leaves_the_answer_before_it(rolecall, campaign, script):
    assert rolecall("-C", campaign, "turn", "I take the oar.", "--model", script(rich("One."))).code == 0
    before = files_of(campaign)
    ran = rolecall("-C", campaign, "swipe", "--model", script("- error: refused"))
    assert ran.code == 1 and "stands again" in ran.err
    assert files_of(campaign) == before
    assert rolecall("-C", campaign, "status").err == ""  # nothing is left to put right, no draft


EDITS = {
    "a new promise": ("campaign-state.md", "## Promises\n\n", "## Promises\n\n- [ ] To Hesper: be quiet\n"),
    "the state's head": ("campaign-state.md", "name: Campaign State", "name: Campaign State # mine"),
    "the entry's body": ("characters/old-pasco.md", "swears by its planks", "swears by every plank"),
    "the arc's stakes": ("arcs/who-rang-the-drowned-bell.md", "stakes: ", "stakes: Everything, and "),
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_the_writer_changed_since_stays(rolecall, campaign, script, edit):
    path, old, new = EDITS[edit]
    clean = files_of(campaign)
    assert rolecall("-C", campaign, "turn", "I take the oar.", "--model", script(rich("One."))).code == 0
    file = campaign / path
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    assert rolecall("-C", campaign, "undo").code == 0
    assert file.read_text() == clean[path].decode().replace(old, new, 1)
    assert {p: d for p, d in files_of(campaign).items() if p != path} == {p: d for p, d in clean.items() if p != path}


def test_a_true_conflict_keeps_the_writers_words_and_says_where(rolecall, campaign, script):
    assert rolecall("-C", campaign, "turn", "I take the oar.", "--model", script(rich("One."))).code == 0
    state = campaign / "campaign-state.md"
    state.write_text(state.read_text().replace("location: Low Skerrow", "location: The Bell Tower"))
    ran = rolecall("-C", campaign, "undo")
    assert ran.code == 1
    assert "campaign-state.md:" in ran.err and "your words stay" in ran.err and "Skerrow Quay" in ran.err
    assert "location: The Bell Tower\n" in state.read_text()
    assert "T0001" not in state.read_text()


def test_a_folded_turn_is_taken_back_with_a_note(rolecall, campaign, script):
    settings = campaign / "rolecall.yaml"
    settings.write_text(
        settings.read_text().replace("fold_at: 3500", "fold_at: 200").replace("keep_lines: 6", "keep_lines: 2")
    )
    for n in range(1, 9):
        text = f"- text: Scene {n} goes on for quite a while, with Old Pasco and the bell, until it is over."
        assert rolecall("-C", campaign, "turn", f"I go, {n}.", "--model", script(text)).code == 0
    chronicles = {p: d for p, d in files_of(campaign).items() if p.startswith("chronicles/")}
    assert chronicles
    ran = rolecall("-C", campaign, "undo", "--turn", "T0001")
    assert ran.code == 0 and "stands in a Chronicle" in ran.err
    assert {p: d for p, d in files_of(campaign).items() if p.startswith("chronicles/")} == chronicles
    assert "(T0001, told in a Chronicle, was taken back.)" in (campaign / "campaign-state.md").read_text()


def test_turns_are_taken_back_past_a_fold_when_the_journal_is_empty_by_then(rolecall, campaign, script):
    settings = campaign / "rolecall.yaml"
    settings.write_text(
        settings.read_text().replace("fold_at: 3500", "fold_at: 200").replace("keep_lines: 6", "keep_lines: 2")
    )
    begun = (campaign / "campaign-state.md").read_text()
    for n in range(1, 9):
        text = f"- text: Scene {n} goes on for quite a while, with Old Pasco and the bell, until it is over."
        assert rolecall("-C", campaign, "turn", f"I go, {n}.", "--model", script(text)).code == 0
    (*_, newest) = sorted((campaign / "chronicles").glob("*.md"))
    folded = int(newest.stem.rsplit("-t", 1)[1])
    ran = rolecall("-C", campaign, "undo", 8)
    assert ran.code == 0 and "your words stay" not in ran.err, ran.err
    notes = [f"  (T{n:04d}, told in a Chronicle, was taken back.)" for n in range(folded, 0, -1)]
    now = (campaign / "campaign-state.md").read_text()
    assert [line for line in now.splitlines() if line] == [line for line in begun.splitlines() if line] + notes
    assert rolecall("-C", campaign, "check").code == 0


def test_without_records_undo_says_so(rolecall, example):
    ran = rolecall("-C", example, "undo")
    assert ran.code == 1 and "record" in ran.err and "git" in ran.err


def test_a_rollback_killed_at_any_step_is_finished_by_the_next_command(
    rolecall, campaign, script, monkeypatch, tmp_path
):
    import shutil

    from rolecall.campaign import files
    from tests.turn.faults import Faulty, Killed

    assert rolecall("-C", campaign, "turn", "I wait.", "--model", script("- text: Still.")).code == 0
    before = files_of(campaign)
    assert (
        rolecall(
            "-C", campaign, "turn", "I take the oar.", "--model", script(rich("One.").replace("T0001", "T0002"))
        ).code
        == 0
    )
    told = files_of(campaign)
    saved = tmp_path / "saved"
    shutil.copytree(campaign, saved)
    step = 0
    while True:
        step += 1
        shutil.rmtree(campaign)
        shutil.copytree(saved, campaign)
        monkeypatch.setattr(files, "fs", Faulty(campaign, step, "kill"))
        try:
            from rolecall.turn.game import Game
            from rolecall.turn.lifecycle import Listener

            Game(Path(campaign), environ={}).undo(Listener())
            done = True
        except Killed:
            done = False
        finally:
            monkeypatch.setattr(files, "fs", files.FileSystem())
        assert rolecall("-C", campaign, "status").code == 0
        now = files_of(campaign)
        assert now in (before, told), step  # whole or not at all
        if done:
            assert now == before
            break
    assert step > 10


def test_before_the_first_turn_there_is_nothing_to_take_back_or_tell_anew(rolecall, campaign, script):
    for command in (("undo",), ("swipe", "--model", script("- text: Other.\n"))):
        ran = rolecall("-C", campaign, *command)
        assert ran.code == 1 and ran.err == "Error: no turn has been told yet\n"


def test_a_kill_anywhere_in_a_switch_leaves_one_of_the_answers_whole(rolecall, campaign, script, monkeypatch, tmp_path):
    import shutil

    from rolecall.campaign import files
    from rolecall.turn.game import Game
    from rolecall.turn.lifecycle import Listener
    from tests.turn.faults import Faulty, Killed

    assert rolecall("-C", campaign, "turn", "I take the oar.", "--model", script(rich("One."))).code == 0
    one = files_of(campaign)
    assert rolecall("-C", campaign, "swipe", "--model", script("- text: Pasco keeps his oar.")).code == 0
    two = files_of(campaign)
    shutil.copytree(campaign, saved := tmp_path / "saved")
    step, done = 0, False
    while not done:
        step += 1
        shutil.rmtree(campaign)
        shutil.copytree(saved, campaign)
        monkeypatch.setattr(files, "fs", Faulty(campaign, step, "kill"))
        try:
            Game(Path(campaign), environ={}).switch(1, Listener())
            done = True
        except Killed:
            pass
        finally:
            monkeypatch.setattr(files, "fs", files.FileSystem())
        assert rolecall("-C", campaign, "status").code == 0
        assert files_of(campaign) in (one, two), step
    assert files_of(campaign) == one and step > 20


COUNTS = """
- turn: {turn}
  tools:
    - {{name: {verb}, arguments: {{name: silver, amount: {amount}}}}}
- turn: {turn}
  text: Scene of {verb} {amount}.
"""


def silver(campaign: Path) -> int:
    rows = (campaign / "campaign-state.md").read_text().split("\n")
    return int(next(row for row in rows if row.startswith("- silver: ")).rpartition(" ")[2])


def set_silver(campaign: Path, value: int) -> None:
    state = campaign / "campaign-state.md"
    state.write_text(state.read_text().replace(f"- silver: {silver(campaign)}\n", f"- silver: {value}\n"))


@pytest.fixture
def counting(rolecall, campaign, script):
    """Silver is 100; the first turn makes it 105, the second 108."""
    state = campaign / "campaign-state.md"
    state.write_text(state.read_text().replace("## Promises\n", "## Resources\n\n- silver: 100\n\n## Promises\n", 1))
    for turn, amount in (("T0001", 5), ("T0002", 3)):
        model = script(COUNTS.format(turn=turn, verb="gain", amount=amount))
        assert rolecall("-C", campaign, "turn", "I count.", "--model", model).code == 0
    assert silver(campaign) == 108
    return campaign


def other(script) -> str:
    return script(COUNTS.format(turn="T0002", verb="spend", amount=4))


def test_answers_are_switched_after_a_turn_before_them_was_taken_back(rolecall, counting, script):
    assert rolecall("-C", counting, "undo", "--turn", "T0001").code == 0
    assert silver(counting) == 103
    assert rolecall("-C", counting, "swipe", "--model", other(script)).code == 0
    assert silver(counting) == 96
    for wanted, value in ((1, 103), (2, 96), (1, 103)):
        assert rolecall("-C", counting, "swipe", "--to", wanted).code == 0
        assert silver(counting) == value
    assert rolecall("-C", counting, "undo").code == 0
    assert silver(counting) == 100


def test_an_answer_put_back_adds_to_the_number_as_it_stands(rolecall, counting, script):
    assert rolecall("-C", counting, "swipe", "--model", script("- text: Nothing is paid.")).code == 0
    assert silver(counting) == 105
    set_silver(counting, 50)
    assert rolecall("-C", counting, "swipe", "--to", "1").code == 0
    assert silver(counting) == 53
    assert rolecall("-C", counting, "swipe", "--to", "2").code == 0
    assert silver(counting) == 50


def test_another_answer_is_refused_where_the_writer_set_its_number_and_nothing_changes(rolecall, counting, script):
    assert rolecall("-C", counting, "swipe", "--model", other(script)).code == 0
    set_silver(counting, 7)
    before = files_of(counting)
    for command in (("swipe", "--to", "1"), ("swipe", "--model", script("- text: Other."))):
        ran = rolecall("-C", counting, *command)
        assert ran.code == 1 and "you changed what swipe 2 of T0002 wrote" in ran.err and ran.err.count("\n") == 1
        assert files_of(counting) == before
    assert not (counting / ".rolecall/rollback.json").exists()


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnhandledThreadExceptionWarning"
)  # the kill reaches the turn's threads too
@pytest.mark.parametrize("hand", ["undo of the first", "switch", "swipe without a model"])
def test_a_kill_anywhere_counts_no_number_twice(rolecall, counting, script, monkeypatch, tmp_path, hand):
    import shutil

    from rolecall.campaign import files
    from rolecall.errors import RoleCallError
    from rolecall.turn.game import Game
    from rolecall.turn.lifecycle import Listener
    from tests.turn.faults import Faulty, Killed

    model = script(COUNTS.format(turn="T0003", verb="gain", amount=1))
    assert rolecall("-C", counting, "turn", "I count.", "--model", model).code == 0
    assert rolecall("-C", counting, "swipe", "--model", script("- text: Other.")).code == 0
    assert rolecall("-C", counting, "swipe", "--to", "1").code == 0
    assert rolecall("-C", counting, "undo", "--turn", "T0001").code == 0  # the record of T0003 says other numbers now
    assert silver(counting) == 104
    ends = {"undo of the first": 101, "switch": 103, "swipe without a model": 104}
    shutil.copytree(counting, saved := tmp_path / "saved")
    step, done = 0, False
    while not done:
        step += 5 if hand.startswith("swipe") else 3  # the steps between are drawn by `machine.py`
        shutil.rmtree(counting)
        shutil.copytree(saved, counting)
        monkeypatch.setattr(files, "fs", Faulty(counting, step, "kill"))
        game = Game(Path(counting), models=[script("- error: refused")], environ={})
        try:
            match hand:
                case "undo of the first":
                    game.undo(Listener(), turn=2)
                case "switch":
                    game.switch(2, Listener())
                case _:
                    with pytest.raises(RoleCallError):
                        game.swipe(Listener())
            done = True
        except Killed:
            pass
        finally:
            monkeypatch.setattr(files, "fs", files.FileSystem())
        assert rolecall("-C", counting, "status").code == 0
        assert silver(counting) in (104, ends[hand]), step
    assert silver(counting) == ends[hand] and step > 10
