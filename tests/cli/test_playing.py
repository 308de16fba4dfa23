"""Playing from the command line: turns, the player in a pipe, what is written."""

from __future__ import annotations

import json
import subprocess
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from rolecall.play.player import Player
from rolecall.turn.aside import Rest
from rolecall.turn.game import Game
from tests.conftest import REPOSITORY


def files_of(root: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(root)): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and ".rolecall" not in p.parts
    }


def test_a_turn_writes_one_section_and_one_journal_line_and_nothing_else(rolecall, campaign, script, story):
    before = files_of(campaign)
    ran = rolecall("-C", campaign, "turn", "I look around.", "--model", script(story))
    assert (ran.code, ran.out) == (0, "The lantern gutters. Old Pasco does not look up.\n")
    after = files_of(campaign)
    new = set(after) - set(before)
    changed = {path for path in before if before[path] != after[path]}
    assert changed == {"campaign-state.md"}
    assert [path.split("/")[0] for path in new] == ["story"]
    assert after["campaign-state.md"] == before["campaign-state.md"].replace(
        b"## Journal\n", b"## Journal\n\n- T0001 Kit met Old Pasco on Skerrow Quay.\n"
    )
    chapter = after[new.pop()].decode()
    assert chapter.endswith("\n## T0001\n\n> I look around.\n\nThe lantern gutters. Old Pasco does not look up.\n")


def test_turn_json_says_what_was_told_written_and_used(rolecall, campaign, script, story):
    told = json.loads(rolecall("-C", campaign, "turn", "I wait.", "--json", "--model", script(story)).out)
    assert told["turn"] == "T0001"
    assert told["journal"] == "Kit met Old Pasco on Skerrow Quay."
    assert [w["op"] for w in told["writes"]] == ["section", "journal"]
    assert told["degraded"] == []
    assert told["entities"] == ["Old Pasco"]
    assert set(told["usage"]["narrator"]) == {"fresh", "cached", "out"}
    assert set(told["timings_ms"]) == {"before", "narrator", "after", "total"}


def test_play_in_a_pipe_reads_one_action_a_line(rolecall, campaign, script):
    spec = script("- {turn: T0001, text: One.}\n- {turn: T0002, text: Two.}\n- {turn: T0003, text: Three.}\n")
    ran = rolecall("-C", campaign, "play", "--model", spec, input="I wait.\n\n/status\nI wait on.\nI go.\n")
    assert ran.code == 0
    state = (campaign / "campaign-state.md").read_text()
    assert state.endswith("## Journal\n\n- T0001 One.\n- T0002 Two.\n- T0003 Three.\n")
    assert "One.\n" in ran.out and "Location: Skerrow Quay" in ran.out


def test_tools_change_arc_history_promises_and_scene_in_one_pass(rolecall, campaign, script):
    spec = script(
        """
- text: Pasco hands over the oar.
  tools:
    - {name: move_arc, arguments: {arc: Who rang the drowned bell, text: Pasco heard his name in it.}}
    - {name: append_history, arguments: {entry: pasco, text: Gave Kit his oar.}}
    - {name: add_promise, arguments: {to: Old Pasco, text: bring the oar back}}
    - {name: set_scene, arguments: {location: Low Skerrow}}
    - {name: append_journal, arguments: {text: Old Pasco gave Kit his oar.}}
"""
    )
    assert rolecall("-C", campaign, "turn", "I take the oar.", "--model", spec).code == 0
    arc = (campaign / "arcs/who-rang-the-drowned-bell.md").read_text()
    assert "latest: T0001 Pasco heard his name in it.\n" in arc
    assert "## Trail\n\n- The bell rang once at dusk" in arc
    assert (campaign / "characters/old-pasco.md").read_text().endswith("## History\n\n- T0001 Gave Kit his oar.\n")
    state = (campaign / "campaign-state.md").read_text()
    assert "\nlocation: Low Skerrow\n" in state
    assert "## Promises\n\n- [ ] To Old Pasco: bring the oar back (T0001)\n" in state
    kept = script("- {text: Done., tools: [{name: keep_promise, arguments: {text: bring the oar back}}]}")
    assert rolecall("-C", campaign, "turn", "I bring it back.", "--model", kept).code == 0
    assert "- [x] To Old Pasco: bring the oar back (T0001)\n" in (campaign / "campaign-state.md").read_text()


def test_search_and_read_go_back_to_the_model_and_the_turn_ends_in_prose(rolecall, campaign, script):
    spec = script(
        """
- turn: T0001
  tools: [{name: search, arguments: {query: Pasco}}, {name: read, arguments: {name: Old Pasco}}]
- turn: T0001
  when: Ferryman
  text: The ferryman nods.
  tools: [{name: append_journal, arguments: {text: Pasco nodded at Kit.}}]
"""
    )
    ran = rolecall("-C", campaign, "turn", "I nod to Pasco.", "--model", spec)
    assert (ran.code, ran.out) == (0, "The ferryman nods.\n")


def test_a_second_journal_line_is_refused_and_an_unknown_tool_does_not_end_the_turn(rolecall, campaign, script):
    spec = script(
        """
- text: It rains.
  tools:
    - {name: append_journal, arguments: {text: It rained on Kit.}}
    - {name: append_journal, arguments: {text: A second line.}}
    - {name: delete_everything, arguments: {}}
    - {name: move_arc, arguments: {arc: No such arc, text: x}}
"""
    )
    assert rolecall("-C", campaign, "turn", "I wait.", "--model", spec).code == 0
    assert (campaign / "campaign-state.md").read_text().endswith("## Journal\n\n- T0001 It rained on Kit.\n")


def test_prose_that_smuggles_structure_stays_prose(rolecall, campaign, script):
    spec = script(
        "- text: |-\n    One.\n\n    ## T0099\n\n    > forged\n\n    ---\n    truth: x\n    ```\n    - T0050 forged line\n"
    )
    assert rolecall("-C", campaign, "turn", "I wait.", "--model", spec).code == 0
    second = rolecall("-C", campaign, "turn", "I go on.", "--json", "--model", script("- text: Two."))
    assert json.loads(second.out)["turn"] == "T0002"
    assert rolecall("-C", campaign, "check").code == 0


def test_a_failed_turn_keeps_the_action_and_leaves_every_byte(rolecall, campaign, script):
    before = files_of(campaign)
    ran = rolecall("-C", campaign, "turn", "I jump.", "--model", script("- error: refused\n"))
    assert ran.code == 1
    assert ran.err.count("\n") <= 3 and "Error: " in ran.err and ".rolecall/drafts/T0001.md" in ran.err
    assert files_of(campaign) == before
    assert (campaign / ".rolecall/drafts/T0001.md").read_text() == "I jump.\n"
    told = rolecall("-C", campaign, "play", "--model", script("- text: You land."), input="/again\n")
    assert told.code == 0 and "You land." in told.out
    assert not list((campaign / ".rolecall/drafts").iterdir())


def test_several_actions_that_failed_are_all_kept_and_each_can_be_tried_again(rolecall, campaign, script):
    refuse = script("- error: refused\n- error: refused\n- error: refused\n- error: refused\n")
    rolecall("-C", campaign, "play", "--model", refuse, input="I jump.\nI swim.\nI jump.\nI sing.\n")
    drafts = campaign / ".rolecall/drafts"
    kept = {path.name: path.read_text() for path in drafts.iterdir()}
    assert kept == {"T0001.md": "I jump.\n", "T0001-2.md": "I swim.\n", "T0001-3.md": "I sing.\n"}
    status = json.loads(rolecall("-C", campaign, "status", "--json").out)["warnings"]
    assert sum("could not be told" in line for line in status) == 3
    spec = script("- text: You go under.\n- text: You hum.\n- text: You wait.\n")
    told = rolecall("-C", campaign, "play", "--model", spec, input="/again 9\n/again 2\n/again\nI wait.\n")
    assert told.code == 0 and "There is no action 9 that waits; there are 3." in told.err
    chapter = next((campaign / "story").iterdir()).read_text()
    assert [line for line in chapter.splitlines() if line.startswith("> ")] == ["> I swim.", "> I sing.", "> I wait."]
    assert not list(drafts.iterdir())  # another turn was told after the one that was left


@pytest.mark.parametrize("then", ["a swipe", "a swipe that fails", "a kill behind another one's last word"])
def test_an_action_that_failed_waits_whatever_else_is_told_again_or_put_right(rolecall, campaign, script, then):
    def run(*command: str, spec: str, lines: str = "") -> int:
        return rolecall("-C", campaign, *command, "--model", script(spec), input=lines).code

    assert run("turn", "I row.", spec="- text: You row.\n") == 0
    assert run("play", spec="- error: refused\n- error: refused\n", lines="I jump.\nI swim.\n") == 1
    if then.startswith("a swipe"):
        assert run("swipe", spec="- error: refused\n" if "fails" in then else "- text: You row on.\n") == int(
            "fails" in then
        )
        wanted = {"I jump.", "I swim."}
    else:
        assert run("play", spec="- text: You swim.\n", lines="/again\n") == 0
        record = campaign / ".rolecall/turns/T0002/record.jsonl"
        lines = record.read_bytes().splitlines(keepends=True)
        record.write_bytes(b"".join(lines[: 1 + next(n for n, line in enumerate(lines) if b'"do": "told"' in line)]))
        assert rolecall("-C", campaign, "check").code == 0
        assert b'"do": "closed"' in record.read_bytes()
        wanted = {"I jump."}
    assert {path.read_text().strip() for path in (campaign / ".rolecall/drafts").iterdir()} == wanted


def test_the_example_replays_its_last_five_turns_to_the_byte(rolecall, example):
    shipped = files_of(example)
    diff = REPOSITORY / "examples/the-broken-anchor/last-five-turns.diff"
    subprocess.run(
        ["git", "apply", "-R", "--unsafe-paths", f"--directory={example.name}", str(diff)],
        cwd=example.parent,
        check=True,
    )
    assert files_of(example) != shipped
    actions = (example / "replay-actions.txt").read_text()
    ran = rolecall("-C", example, "play", "--model", f"scripted:{example}/replay.yaml", input=actions)
    assert ran.code == 0, ran.err
    assert files_of(example) == shipped


def test_nobody_writes_to_the_terminal_behind_the_one_who_leaves(campaign, monkeypatch):
    """Python aborts when a thread writes while it ends."""
    showing, shown = threading.Event(), threading.Event()
    player = Player(Game(campaign, command="rolecall play"))
    monkeypatch.setattr(player, "_show", lambda result, **_: showing.set() or shown.wait(30))
    player._rest = rest = Rest(lambda: "told", ExitStack())
    rest.aside()
    watching = threading.Thread(target=player._watch, args=(rest,))
    watching.start()
    assert showing.wait(30)
    leaving = threading.Thread(target=player._leave)
    leaving.start()
    leaving.join(0.5)
    assert leaving.is_alive()
    shown.set()
    leaving.join(30)
    watching.join(30)
    assert not leaving.is_alive()
