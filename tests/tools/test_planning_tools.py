"""Planning: seeds, intentions, agendas, the unseen world, who knows what, arcs and chapters; each line by line, each taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.campaign import checklists, documents, effects, plans, records, reversal, story
from rolecall.campaign.effects import Effect, edit_of
from rolecall.errors import Unclear
from rolecall.tools.toolbox import DM, NARRATOR
from tests.tools.table import CANARY, play

# A call, what is answered, and every line that goes or comes.
CASES = [
    ("plant_seed", {"text": "Maren hums a tune"}, "The seed is planted.", ["dm/seeds.md +- [ ] Maren hums a tune (T0042)"]),
    ("water_seed", {"seed": "the boy's coin"}, "Watered: the boy's coin", ["dm/seeds.md -- [ ] the boy's coin (T0010)", "dm/seeds.md +- [ ] the boy's coin (T0010, watered T0042)"]),
    ("pay_off_seed", {"seed": "coin"}, "Paid off: the boy's coin", ["dm/seeds.md -- [ ] the boy's coin (T0010)", "dm/seeds.md +- [x] the boy's coin (T0010, paid T0042)"]),
    ("drop_seed", {"seed": "coin", "reason": "it (never) came up in T0033"}, "Dropped: the boy's coin", ["dm/seeds.md -- [ ] the boy's coin (T0010)", "dm/seeds.md +- [-] the boy's coin (T0010, dropped T0042, it never came up in)"]),
    ("list_seeds", {}, f"- the bell is cracked {CANARY}7 (planted T0003)\n- the boy's coin (planted T0010)", []),
    ("stage_encounter", {"text": "A beggar knows her name", "when": "when it rains"}, "Intended. Encounter: A beggar knows her name, when it rains", ["dm/intentions.md +- [ ] Encounter: A beggar knows her name, when it rains (T0042)"]),
    ("add_event", {"text": "The tide comes early"}, "Intended. Event: The tide comes early", ["dm/intentions.md +- [ ] Event: The tide comes early (T0042)"]),
    ("withdraw", {"intention": "search the inn"}, "Withdrawn. Encounter: Varr's men search the inn, when the party sleeps", ["dm/intentions.md -- [ ] Encounter: Varr's men search the inn, when the party sleeps (T0012)", "dm/intentions.md +- [-] Encounter: Varr's men search the inn, when the party sleeps (T0012, withdrawn T0042)"]),
    ("fulfil", {"intention": "search the inn"}, "Fulfilled. Encounter: Varr's men search the inn, when the party sleeps", ["dm/intentions.md -- [ ] Encounter: Varr's men search the inn, when the party sleeps (T0012)", "dm/intentions.md +- [x] Encounter: Varr's men search the inn, when the party sleeps (T0012, fulfilled T0042)"]),
    ("list_intentions", {}, "- Encounter: Varr's men search the inn, when the party sleeps", []),
    ("set_agenda", {"who": "sera", "wants": "a ship", "next": "borrow silver"}, "Sera wants a ship; next: borrow silver.", ["dm/agendas.md +- T0042 Sera: wants a ship; next: borrow silver"]),
    ("advance_agenda", {"who": "the captain", "did": "bribed the clerk", "next": "burn the book"}, "Varr moves on; next: burn the book.", ["dm/agendas.md +- T0042 Varr: bribed the clerk; next: burn the book"]),
    ("agendas", {}, "- T0012 Varr: wants the ledger; next: bribe the clerk", []),
    ("act_offscreen", {"who": "Varr", "did": "burns the customs house", "date": "13 Frostmoon"}, "Unseen, Varr: burns the customs house (13 Frostmoon).", ["dm/shadow-world.md +- T0042 Varr: burns the customs house (13 Frostmoon)"]),
    ("offscreen", {"who": "Varr"}, "- T0013 Varr: bought the clerk", []),
    ("let_know", {"who": "Kit", "what": "Varr holds the ledger"}, "Kit knows it now.", ["dm/knowledge.md +- T0042 Kit: Varr holds the ledger"]),
    ("who_knows", {"what": "the ledger"}, "- T0012 Sera: Varr holds the ledger", []),
    ("note_plan", {"text": "the second night is Maren's"}, "Noted in the plan.", ["dm/plan.md +- T0042 the second night is Maren's"]),
    ("move_arc", {"arc": "Who burned the ledger", "text": "Ashes were found."}, "The arc 'Who burned the ledger' moves on.", ["arcs/ledger.md -latest: T0041 Marta lied about it.", "arcs/ledger.md +latest: T0042 Ashes were found.", "arcs/ledger.md +- T0041 Marta lied about it."]),
    ("open_arc", {"name": "The debt", "question": "Who pays?", "truth": "Nobody", "text": "A letter came."}, "The arc 'The debt' is open.", ["arcs/the-debt.md +---", "arcs/the-debt.md +name: The debt", "arcs/the-debt.md +kind: arc", "arcs/the-debt.md +question: Who pays?", "arcs/the-debt.md +status: open", "arcs/the-debt.md +latest: T0042 A letter came.", "arcs/the-debt.md +truth: Nobody", "arcs/the-debt.md +source: T0042", "arcs/the-debt.md +---", "arcs/the-debt.md +## Trail", "arcs/the-debt.md +## Summaries"]),
    ("close_arc", {"arc": "Who burned the ledger", "text": "Varr did."}, "The arc 'Who burned the ledger' is resolved.", ["arcs/ledger.md -status: open", "arcs/ledger.md -latest: T0041 Marta lied about it.", "arcs/ledger.md +status: resolved", "arcs/ledger.md +latest: T0042 Varr did.", "arcs/ledger.md +- T0041 Marta lied about it."]),
    ("reopen_arc", {"arc": "The flood", "text": "It rises again."}, "The arc 'The flood' is open again.", ["arcs/flood.md -status: resolved", "arcs/flood.md -latest: T0020 The water fell.", "arcs/flood.md +status: open", "arcs/flood.md +latest: T0042 It rises again.", "arcs/flood.md +## Trail", "arcs/flood.md +- T0020 The water fell."]),
    ("raise_stakes", {"arc": "Who burned the ledger", "stakes": "the whole town"}, "At stake in 'Who burned the ledger' now: the whole town", ["arcs/ledger.md -stakes: the harvest", "arcs/ledger.md +stakes: the whole town", "arcs/ledger.md -latest: T0041 Marta lied about it.", "arcs/ledger.md +latest: \"T0042 The stakes rise: the whole town (before: the harvest)\"", "arcs/ledger.md +- T0041 Marta lied about it."]),
    ("list_arcs", {}, f"- Mend the bell · looking for bronze\n- Who burned the ledger · Who burned it? · at stake: the harvest · T0041 Marta lied about it. · hidden: {CANARY}5", []),
    ("close_chapter", {"next": "The ford"}, "The chapter ends with this turn; the next one begins a new file.", ["story/001-the-quay.md +closed: T0042", "story/001-the-quay.md +next: The ford"]),
    ("name_chapter", {"name": "Ashes"}, "The chapter is called Ashes.", ["story/001-the-quay.md -name: The quay", "story/001-the-quay.md +name: Ashes"]),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "given", "answer", "changes"), CASES, ids=[case[0] for case in CASES])
def test_a_plan_is_one_line_of_its_file(tool, given, answer, changes, tmp_path: Path):
    at = play(tmp_path / "tale", DM)
    assert at.said(tool, **given) == answer
    assert sorted(at.changes()) == sorted(changes)


REFUSED = [
    ("plant_seed", {"text": "the boy's coin"}, "planted already"),
    ("plant_seed", {"text": "# - [ ] (T0003)"}, "says nothing"),
    ("water_seed", {"seed": "the girl's coin"}, "Standing: the bell"),
    ("pay_off_seed", {"seed": "the"}, "More than one"),
    ("drop_seed", {"seed": "coin"}, "reason"),
    ("list_seeds", {"seed": "coin"}, "seed"),
    ("stage_encounter", {"text": "Varr's men search the inn", "when": "the party sleeps"}, "intended already"),
    ("add_event", {"text": ""}, "text"),
    ("withdraw", {"intention": "burn the inn"}, "Standing: Encounter"),
    ("fulfil", {"intention": "..."}, "No open intention"),
    ("list_intentions", {"all": 1}, "all"),
    ("set_agenda", {"who": "Serra", "wants": "a ship"}, "Near names: Sera"),
    ("advance_agenda", {"who": "Kit", "did": "slept"}, "no agenda yet"),
    ("agendas", {"who": "Serra"}, "Near names: Sera"),
    ("act_offscreen", {"who": "../../x", "did": "..."}, "says nothing"),
    ("offscreen", {"who": "|"}, "no name"),
    ("let_know", {"who": "Sera", "what": "varr holds the LEDGER"}, "knows that already"),
    ("who_knows", {"what": "of it"}, "telling words"),
    ("note_plan", {"text": "***"}, "says nothing"),
    ("move_arc", {"arc": "The flood", "text": "Rain."}, "resolved"),
    ("open_arc", {"name": "who burned the ledger", "question": "Who?"}, "is there already"),
    ("close_arc", {"arc": "The flod", "text": "Done."}, "Near names"),
    ("reopen_arc", {"arc": "Who burned the ledger", "text": "Again."}, "is open"),
    ("raise_stakes", {"arc": "The flood", "stakes": "all"}, "resolved"),
    ("list_arcs", {"kind": "arc"}, "kind"),
    ("close_chapter", {"next": "##"}, "says something"),
    ("name_chapter", {"name": "T0001"}, "says something"),
]


@pytest.mark.parametrize(("tool", "given", "why"), REFUSED, ids=[f"{c[0]}-{n}" for n, c in enumerate(REFUSED)])
def test_a_plan_that_cannot_be_is_refused_in_words(tool, given, why, tmp_path: Path):
    at = play(tmp_path / "tale", DM)
    assert why in at.refused(tool, **given)
    assert at.changes() == []


def test_every_planning_tool_is_done_once_and_refused_once():
    assert {case[0] for case in CASES} == {case[0] for case in REFUSED}


@pytest.mark.parametrize(
    "again",
    ["plant_seed", "water_seed", "set_agenda", "act_offscreen", "let_know", "note_plan", "move_arc", "close_chapter"],
)
def test_saying_the_same_twice_in_a_turn_is_refused(again, tmp_path: Path):
    at = play(tmp_path / "tale", DM)
    given = next(case[1] for case in CASES if case[0] == again)
    at.said(again, **given)
    at.refused(again, **given)


def test_files_of_the_dm_are_made_when_first_needed(tmp_path: Path):
    at = play(tmp_path / "tale", DM)
    for path in plans.FILES:
        (at.root / path).unlink()
    at.table.search.refresh()
    at.said("list_seeds")
    at.said("plant_seed", text="a coin")
    at.said("plant_seed", text="a bell")
    at.said("act_offscreen", who="Varr", did="sails")
    assert {p: t for p, t in at.written().items() if p.startswith("dm/")} == {
        "dm/seeds.md": "- [ ] a coin (T0042)\n- [ ] a bell (T0042)\n",
        "dm/shadow-world.md": "- T0042 Varr: sails\n",
    }


def test_what_the_dm_looks_up_is_noted_for_the_curtain(tmp_path: Path):
    at = play(tmp_path / "tale", DM)
    assert f"{CANARY}1" in at.said("read", name="Sera") and f"{CANARY}3" in at.said("read", name="The Grey Monk")
    at.said("list_arcs")
    shown = " ".join(seen.text for seen in at.table.seen)
    assert all(f"{CANARY}{n}" in shown for n in (1, 2, 3, 5))
    assert {seen.path for seen in at.table.seen} == {"characters/sera.md", "characters/monk.md", "arcs/ledger.md"}


def test_the_narrator_hears_no_truth_of_an_arc(tmp_path: Path):
    at = play(tmp_path / "tale", NARRATOR)
    assert CANARY not in at.said("list_arcs")
    assert at.said("look_back", turn="41") == "> I ask for the ledger.\n\nShe looks away."
    assert "no turn 'T0040'" in at.refused("look_back", turn="T0040")


def test_a_broken_promise_stands_no_more_and_is_never_gone(tmp_path: Path):
    at = play(tmp_path / "tale", NARRATOR)
    assert at.said("break_promise", text="the ledger", how="sold it") == "The promise is broken."
    assert "Standing: none" in at.refused("keep_promise", text="the ledger")
    assert at.changes() == [
        "campaign-state.md -- [ ] To Sera: bring the ledger (T0012)",
        "campaign-state.md +- [-] To Sera: bring the ledger (T0012, broken T0042, sold it)",
    ]
    document = documents.parse(at.written()["campaign-state.md"].encode(), "campaign-state.md")
    assert effects.promises_of(document) == ()


# -- the lists themselves


def test_lists_are_read_however_a_hand_writes_them():
    data = b"# Mine\r\n* [ ] a seed\r\n+ [X] paid (T0003, paid T0031)\r\n- [-] given up (T0004)\r\n- T0003 no item\r\n  - [ ] (odd) one (in blue)\r\n"
    items = checklists.items_of(documents.parse(data, "dm/seeds.md"))
    assert [(i.words, i.box, i.turn, i.last) for i in items] == [
        ("a seed", " ", 0, 0),
        ("paid", "x", 3, 31),
        ("given up", "-", 4, 4),
        ("(odd) one (in blue)", " ", 0, 0),
    ]
    once = checklists.mark(data, "dm/seeds.md", 42, "a seed", "paid", box="x")
    assert once == data.replace(b"* [ ] a seed", b"* [x] a seed (paid T0042)")
    assert checklists.mark(once, "dm/seeds.md", 42, "a seed", "paid", box="x") == once
    more = checklists.add(data, "dm/seeds.md", 42, "a bell")
    assert more == data + b"- [ ] a bell (T0042)\r\n"
    with pytest.raises(effects.Unclear, match="no open line"):
        checklists.mark(data, "dm/seeds.md", 42, "paid", "dropped", box="-")


def test_dated_lines_are_read_however_a_hand_writes_them():
    data = b"Some words.\n\n- [[Varr]]: wants it all\n- T0012 Sera: a ship: the Gannet\n- [ ] no dated line\n- T0013 it rains\n"
    lines = plans.dated_of(documents.parse(data, "dm/agendas.md"))
    assert [(line.turn, line.who, line.text) for line in lines] == [
        (0, "[[Varr]]", "wants it all"),
        (12, "Sera", "a ship: the Gannet"),
        (13, "", "it rains"),
    ]
    assert [line.text for line in plans.about(lines, "varr")] == ["wants it all"]


@pytest.mark.parametrize(
    ("op", "path", "key", "words"),
    [
        (plans.TODO, plans.SEEDS, "", "a bell"),
        (plans.TICK, plans.SEEDS, "paid", "the boy's coin"),
        (plans.DATED, plans.AGENDAS, "", "Varr: rests"),
    ],
)
def test_a_plan_is_taken_back_and_what_the_writer_did_meanwhile_stays(op, path, key, words):
    before = b"- [ ] the boy's coin (T0010)\n- T0012 Varr: wants it\n\nThe writer's.\n"
    after = edit_of(Effect(op, path, 42, words, key=key))(before)
    write = {"path": path, "op": op, "turn": 42, **records.splice(before, after)}
    assert reversal.taken_back(after, write, after).data == before
    found = reversal.taken_back(b"- a line of mine\n" + after + b"more\n", write, after)
    assert (found.data, found.clashes) == (b"- a line of mine\n" + before + b"more\n", ())


# -- chapters


def test_the_turn_after_a_closed_chapter_begins_a_new_file(tmp_path: Path):
    at = play(tmp_path / "tale", DM)
    at.said("close_chapter", next="The ford: by night")
    (at.root / "story/001-the-quay.md").write_text(at.written()["story/001-the-quay.md"])
    assert story.place(at.table.campaign, 42, "Elsewhere") == ("story/001-the-quay.md", "")
    assert story.place(at.table.campaign, 43, "Elsewhere") == ("story/002-the-ford-by-night.md", "The ford: by night")


@pytest.mark.parametrize(
    ("closed", "new"), [("", False), ("T0041", True), ("T0050", False), ("yes", True), ("no", False)]
)
def test_a_hand_may_close_a_chapter_too(closed, new, tmp_path: Path):
    text = f"---\nname: The quay\nkind: story\nclosed: {closed}\n---\n\n## T0041\n\nShe looks away.\n"
    at = play(tmp_path / "tale", DM, **{"story/001-the-quay.md": text})
    assert (story.place(at.table.campaign, 42, "Next")[1] == "Next") == new


# -- what the writer changes while the model is still thinking


@pytest.mark.parametrize(
    ("tool", "given", "path", "old", "new"),
    [
        ("close_arc", {"arc": "Who burned the ledger", "text": "Varr did."}, "arcs/ledger.md", "status: open", "status: waits for spring"),
        ("reopen_arc", {"arc": "The flood", "text": "It rises."}, "arcs/flood.md", "status: resolved", "status: failed"),
        ("raise_stakes", {"arc": "Who burned the ledger", "stakes": "the town"}, "arcs/ledger.md", "stakes: the harvest", "stakes: my own words"),
        ("name_chapter", {"name": "Ashes"}, "story/001-the-quay.md", "name: The quay", "name: My own title"),
        ("set_scene", {"scene": "Night on the river"}, "campaign-state.md", "", "scene: My own scene"),
    ],
)  # fmt: skip
def test_a_value_the_writer_sets_meanwhile_stays(tool, given, path, old, new, tmp_path: Path):
    at = play(tmp_path / "tale", NARRATOR if tool == "set_scene" else DM)
    at.said(tool, **given)
    before = (at.root / path).read_text()
    old = old or next(line for line in before.split("\n") if line.startswith("scene:"))
    assert before.count(old) == 1
    mine = before.replace(old, new).encode()
    effect = next(one for one in at.table.effects if one.path == path and one.op == "value")
    with pytest.raises(Unclear, match="changed meanwhile"):
        edit_of(effect)(mine)
    assert old.encode() not in edit_of(effect)(before.encode())


def test_the_first_chapter_may_be_named_while_its_first_turn_is_told(tmp_path: Path):
    at = play(tmp_path / "tale", DM)
    (at.root / "story/001-the-quay.md").unlink()
    at.table.search.refresh()
    at.said("name_chapter", name="Ashes")
    (named,) = at.table.effects
    told = Effect("section", named.path, 42, "It burns.", key="I look.", title=named.was)
    assert b"\nname: Ashes\n" in b"\n" + edit_of(named)(edit_of(told)(None))
