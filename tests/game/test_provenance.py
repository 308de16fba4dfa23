"""`rolecall why`: every line a turn wrote says so, every other is the template's or written by hand."""

from __future__ import annotations

import json

SCENE = """
- text: Pasco hands over the oar.
  tools:
    - {name: move_arc, arguments: {arc: Who rang the drowned bell, text: Pasco heard his name in it.}}
    - {name: append_history, arguments: {entry: pasco, text: Gave Kit his oar.}}
    - {name: append_journal, arguments: {text: Old Pasco gave Kit his oar.}}
"""


def origins(rolecall, campaign, path: str, *more: str) -> dict[str, dict]:
    ran = rolecall("-C", campaign, "why", path, "--json", *more)
    assert ran.code == 0, ran.err
    return {row["text"]: row for row in json.loads(ran.out)}


def test_lines_of_a_turn_name_it_and_lines_of_the_writer_do_not(rolecall, campaign, script):
    assert rolecall("-C", campaign, "turn", "I take the oar.", "--model", script(SCENE)).code == 0
    state = origins(rolecall, campaign, "campaign-state.md")
    line = state["- T0001 Old Pasco gave Kit his oar."]
    assert (line["turn"], line["op"]) == ("T0001", "journal") and line["by"].startswith("scripted:")
    assert state["## Promises"]["by"] == "the template"
    arc = origins(rolecall, campaign, "arcs/who-rang-the-drowned-bell.md")
    assert arc["latest: T0001 Pasco heard his name in it."]["turn"] == "T0001"
    assert arc["status: open"]["by"] == "the template"
    pasco = origins(rolecall, campaign, "characters/old-pasco.md")
    assert pasco["- T0001 Gave Kit his oar."]["op"] == "history"


def test_a_line_changed_by_hand_is_the_writers(rolecall, campaign, script):
    assert rolecall("-C", campaign, "turn", "I take the oar.", "--model", script(SCENE)).code == 0
    pasco = campaign / "characters/old-pasco.md"
    pasco.write_text(pasco.read_text().replace("Gave Kit his oar.", "Lent Kit his oar."))
    assert (
        origins(rolecall, campaign, "characters/old-pasco.md")["- T0001 Lent Kit his oar."]["by"] == "written by hand"
    )


def test_one_line_by_its_number_and_faults_in_one_line(rolecall, campaign, script):
    assert rolecall("-C", campaign, "turn", "I take the oar.", "--model", script(SCENE)).code == 0
    number = (campaign / "campaign-state.md").read_text().splitlines().index("- T0001 Old Pasco gave Kit his oar.") + 1
    assert "T0001" in rolecall("-C", campaign, "why", f"campaign-state.md:{number}").out
    assert rolecall("-C", campaign, "why", "campaign-state.md:999").code == 1
    assert rolecall("-C", campaign, "why", "../outside.md").code == 1


def test_secret_lines_are_the_writers_alone(rolecall, campaign):
    shown = origins(rolecall, campaign, "arcs/who-rang-the-drowned-bell.md")
    assert not any(text.startswith("truth:") for text in shown)
    assert any(
        text.startswith("truth:")
        for text in origins(rolecall, campaign, "arcs/who-rang-the-drowned-bell.md", "--secrets")
    )
    assert origins(rolecall, campaign, "dm/plan.md") == {}


def test_lines_of_a_chronicle_come_from_its_fold(rolecall, campaign, script):
    for n in range(1, 9):
        assert (
            rolecall("-C", campaign, "turn", f"I go, {n}.", "--model", script(f"- text: Scene {n} with Pasco.")).code
            == 0
        )
    folded = json.loads(rolecall("-C", campaign, "fold", "--json", "--model", "sidecar=off").out)
    assert {row["op"] for row in origins(rolecall, campaign, folded["path"]).values()} == {"chronicle"}
