"""What a directive wrote is in the turn's record like everything else: undo takes it back to the byte, and spares the writer's hand."""

from __future__ import annotations

import shutil
from itertools import permutations
from pathlib import Path

import pytest

from rolecall.campaign import files as storage
from rolecall.campaign import records
from rolecall.campaign.effects import Effect, edit_of, encode
from rolecall.campaign.folder import open_campaign
from rolecall.campaign.game import directives, resolving
from rolecall.campaign.game.directives import merge, read
from rolecall.turn import rollback
from tests.campaign.game import whole
from tests.campaign.game.saltmarsh import FILES, STATE
from tests.turn.faults import Faulty, Killed

FULL = {
    "combat": {
        "start": {"combatants": [{"name": "Valen", "initiative": 9}, {"name": "Wolf", "initiative": 3, "hit_points": "4/4"}]},
        "damage": [{"who": "Wolf", "amount": 1}, {"who": "Valen", "amount": 3}],
    },
    "relationships": [{"who": "Valen", "with": "Sera", "status": "broken", "change": -1}, {"who": "Sera", "change": 2}],
    "resources": [{"name": "silver", "change": -2}, {"name": "pearls", "change": 1}],
    "effects": {"add": [{"who": "Valen", "effect": "poisoned", "turns": 2}]},
    "map": {"move": [{"who": "party", "to": "Gull Rock"}], "connect": [{"from": "Saltmarsh", "to": "Gull Rock"}]},
    "quests": {"start": [{"name": "The Ferry", "objectives": ["Look"]}], "complete": [{"quest": "The Well", "objective": "find"}], "fail": [{"quest": "The Well"}]},
    "inventory": {"transfer": [{"from": "Valen", "to": "Sera", "item": "rope"}], "take": [{"who": "Valen", "item": "torch", "count": 3}]},
    "calendar": {"advance": {"days": 2, "hours": 2}, "schedule": [{"event": "The Hearing", "date": "9 Frostmoon 1492"}]},
    "party": {"leave": [{"who": "Sera"}]},
    "status": [{"who": "Sera", "status": "angry"}],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rolecall.yaml").write_text("format: 1\nname: Saltmarsh\ngit: off\n")
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    return tmp_path


def told(root: Path, turn: int, fragment: dict) -> list[tuple[str, str]]:
    """A turn as it is written: its plan kept, story section and journal line, then what the directive asks for."""
    campaign = open_campaign(root)
    merged = merge([read(fragment, "narrator", turn)[0]], turn)
    found = resolving.resolve(merged, whole.of_folder(campaign, turn))
    record = records.begin(root, turn, "I act.")
    first = [
        Effect("section", "story/001-tale.md", turn, f"Turn {turn}.", key="I act.", title="Tale"),
        Effect("journal", STATE, turn, f"It was turn {turn}."),
    ]
    effects = [*first, *found.effects]
    record.note("plan", effects=[encode(e) for e in effects], model="m")
    record.note(directives.NOTE, digest=merged.digest)
    for effect in effects:
        record.write(effect.path, effect.op, edit_of(effect), turn=turn)
    record.note("told")
    record.note("closed")
    return record.written


def files(root: Path) -> dict[str, bytes]:
    found = (p for p in root.rglob("*.md") if ".rolecall" not in p.parts)
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in found}


def test_undo_takes_back_every_number_item_and_row_to_the_byte(folder):
    before = files(folder)
    assert len(told(folder, 42, FULL)) > 25
    assert files(folder) != before
    done = rollback.undo(open_campaign(folder), 42)
    assert (files(folder), done.clashes) == (before, ())


def test_undo_of_the_end_of_a_fight_brings_the_fight_back(folder):
    told(folder, 42, FULL)
    during = files(folder)
    told(folder, 43, {"combat": {"damage": [{"who": "Wolf", "amount": 9}], "end": {"outcome": "It ran."}}})
    assert b"## Combat" not in (folder / STATE).read_bytes()
    rollback.undo(open_campaign(folder), 43)
    assert files(folder) == during


def test_undo_spares_what_the_writer_changed_around_it(folder):
    told(folder, 42, FULL)
    hand = {
        "characters/valen.md": (b"A thief.", b"A thief, and a liar."),
        STATE: (b"* 30 arrows", b"* 31 arrows"),
        "arcs/the-well.md": (b"- T0012 Iron.", b"- T0012 Iron, or lead."),
    }
    for path, (old, new) in hand.items():
        (folder / path).write_bytes((folder / path).read_bytes().replace(old, new))
    done = rollback.undo(open_campaign(folder), 42)
    assert done.clashes == ()
    for path, (old, new) in hand.items():
        assert (folder / path).read_bytes() == FILES[path].encode().replace(old, new), path


def test_a_number_the_writer_has_set_since_stays_and_it_is_said_where(folder):
    told(folder, 42, {"resources": [{"name": "silver", "change": -2}]})
    (folder / STATE).write_bytes((folder / STATE).read_bytes().replace(b"- silver: 7", b"- silver: 70"))
    done = rollback.undo(open_campaign(folder), 42)
    assert b"- silver: 70\n" in (folder / STATE).read_bytes()
    assert [(path, clash.yours, clash.before) for path, clash in done.clashes] == [
        (STATE, "- silver: 70", "- silver: 9")
    ]


def test_a_turn_in_between_is_taken_back_and_what_later_ones_counted_stays(folder):
    told(
        folder,
        42,
        {
            "resources": [{"name": "silver", "change": -2}],
            "effects": {"add": [{"who": "Valen", "effect": "cold", "turns": 9}]},
        },
    )
    told(
        folder,
        43,
        {"resources": [{"name": "silver", "change": -1}], "inventory": {"give": [{"who": "Sera", "item": "hat"}]}},
    )
    done = rollback.undo(open_campaign(folder), 42)
    state = (folder / STATE).read_text()
    assert done.clashes == ()
    assert "- silver: 8\n" in state and "cold" not in state
    assert "hat" in (folder / "characters/sera.md").read_text()


COUNTED = {
    "money": [{"resources": [{"name": "silver", "change": by}]} for by in (-2, 5, -4)],
    "points down to nothing and up to the most": [
        {"combat": {"damage": [{"who": "Valen", "amount": 9}]}},
        {"combat": {"heal": [{"who": "Valen", "amount": 4}]}},
        {"combat": {"heal": [{"who": "Valen", "amount": 9}]}},
    ],
    "what somebody thinks": [{"relationships": [{"who": "Sera", "change": by}]} for by in (2, -3, 4)],
    "words": [{"status": [{"who": "Valen", "status": word}]} for word in ("angry", "asleep", "gone")],
}


@pytest.mark.parametrize("order", [*permutations((42, 43, 44))], ids=str)
@pytest.mark.parametrize("asked", COUNTED.values(), ids=COUNTED)
def test_turns_taken_back_in_any_order_leave_what_was_there_before_them(folder, asked, order):
    told(folder, 41, {})
    before = files(folder)
    for turn, fragment in enumerate(asked, 42):
        told(folder, turn, fragment)
    assert files(folder) != before
    for turn in order:
        assert rollback.undo(open_campaign(folder), turn).clashes == ()
    assert files(folder) == before


ROWS = {
    "came and went": ({"party": {"join": [{"who": "Orla"}]}}, {"party": {"leave": [{"who": "Orla"}]}}),
    "left and came": ({"party": {"leave": [{"who": "Sera"}]}}, {"party": {"join": [{"who": "Sera"}]}}),
    "there and back": [{"inventory": {"transfer": [{"from": a, "to": b, "item": "rope"}]}} for a, b in (("Valen", "Sera"), ("Sera", "Valen"))],
    "taken and given": [{"inventory": {verb: [{"who": "Valen", "item": "rope"}]}} for verb in ("take", "give")],
    "given and taken": [{"inventory": {verb: [{"who": "Sera", "item": "hat"}]}} for verb in ("give", "take")],
    "cold and warm": [{"effects": {verb: [{"who": "Valen", "effect": "cold", "turns": 9}]}} for verb in ("add", "remove")],
    "a fight": [{"combat": FULL["combat"]}, {"combat": {"end": {"outcome": "It ran."}}}],
    "a quest": [{"quests": {"start": [{"name": "The Ferry", "objectives": ["Look"]}]}}, {"quests": {"complete": [{"quest": "The Ferry", "objective": "Look"}]}}],
    "a day": [{"calendar": {"schedule": [{"event": "The Hearing", "date": "9 Frostmoon 1492"}]}}, {"calendar": {"advance": {"days": 40}}}],
}  # fmt: skip


@pytest.mark.parametrize("order", [(42, 43, 44), (42, 44, 43), (44, 42, 43)], ids=str)
@pytest.mark.parametrize("asked", ROWS.values(), ids=ROWS)
def test_rows_items_and_files_that_later_turns_changed_are_as_they_were_once_all_are_taken_back(folder, asked, order):
    told(folder, 41, {})
    before = files(folder)
    for turn, fragment in enumerate((asked[0], asked[1], {"resources": [{"name": "silver", "change": -1}]}), 42):
        told(folder, turn, fragment)
    for turn in order:
        rollback.undo(open_campaign(folder), turn)
    assert files(folder) == before


@pytest.mark.parametrize("wet", [b"", b", wet"], ids=["a later turn's", "the writer's"])
def test_whose_words_stand_in_the_place_of_a_line_is_told_by_the_line(folder, wet):
    state = folder / STATE
    for turn, verb in ((42, "leave"), (43, "join")):
        told(folder, turn, {"party": {verb: [{"who": "Sera"}]}})
    state.write_bytes(state.read_bytes().replace(b"- [[Sera]]\n", b"- [[Sera]]%s\n" % wet))
    done = rollback.undo(open_campaign(folder), 42)
    assert [clash.yours for _, clash in done.clashes] == ["- [[Sera]], wet"] * bool(wet)
    assert b"- [[Valen]], limping\n- [[Sera]]%s\n\n" % wet in state.read_bytes()


def test_the_writers_change_of_what_a_later_turn_held_stays_once_that_is_taken_back(folder):
    state = folder / STATE
    for turn, verb in ((42, "leave"), (43, "join")):
        told(folder, turn, {"party": {verb: [{"who": "Sera"}]}})
    state.write_bytes(state.read_bytes().replace(b"- [[Sera]]\n", b"- [[Sera]], wet\n"))
    for turn in (42, 43):
        rollback.undo(open_campaign(folder), turn)
    assert b"- [[Valen]], limping\n- [[Sera]], wet\n\n## Resources" in state.read_bytes()


def test_a_kill_anywhere_takes_out_what_was_hindered_once(folder, tmp_path_factory, monkeypatch):
    told(folder, 41, {})
    before = files(folder)
    for turn, verb in ((42, "leave"), (43, "join")):
        told(folder, turn, {"party": {verb: [{"who": "Sera"}]}})
    saved = tmp_path_factory.mktemp("saved") / "tale"
    shutil.copytree(folder, saved)
    step, done = 0, False
    while not done:
        step += 4
        shutil.rmtree(folder)
        shutil.copytree(saved, folder)
        monkeypatch.setattr(storage, "fs", Faulty(folder, step, "kill"))
        try:
            for turn in (42, 43):
                rollback.undo(open_campaign(folder), turn)
            done = True
        except Killed:
            monkeypatch.setattr(storage, "fs", storage.FileSystem())
            if rollback.pending(folder):
                rollback.recover(open_campaign(folder))
            for one in records.folders(folder)[1:]:
                rollback.undo(open_campaign(folder), records.turn_of(one))
        assert files(folder) == before, step
    assert step > 20


def test_what_is_left_counts_as_if_the_turn_had_never_been_told(folder):
    def points() -> bytes:
        return (folder / "characters/valen.md").read_bytes().partition(b"hit_points: ")[2].split(b"\n")[0]

    for turn, (verb, amount) in enumerate((("damage", 9), ("heal", 6), ("damage", 1)), 42):
        told(folder, turn, {"combat": {verb: [{"who": "Valen", "amount": amount}]}})
    assert points() == b"5/12"  # of 8: down to 0, 6, 5
    rollback.undo(open_campaign(folder), 42)
    assert points() == b"11/12"  # of 8: up to 12, 11
    rollback.undo(open_campaign(folder), 44)
    assert points() == b"12/12"
    rollback.undo(open_campaign(folder), 43)
    assert points() == b"8/12"


def test_from_a_number_the_writer_has_set_only_what_came_after_is_taken_back(folder):
    state = folder / STATE
    for turn, by in ((42, -2), (43, -1)):
        told(folder, turn, {"resources": [{"name": "silver", "change": by}]})
    state.write_bytes(state.read_bytes().replace(b"- silver: 6", b"- silver: 60"))
    told(folder, 44, {"resources": [{"name": "silver", "change": 5}]})
    assert [clash.yours for _, clash in rollback.undo(open_campaign(folder), 42).clashes] == ["- silver: 65"]
    assert rollback.undo(open_campaign(folder), 44).clashes == ()
    assert b"- silver: 60\n" in state.read_bytes()
    assert [clash.yours for _, clash in rollback.undo(open_campaign(folder), 43).clashes] == ["- silver: 60"]
    assert b"- silver: 60\n" in state.read_bytes()


def test_the_plan_of_a_turn_that_was_cut_off_is_finished_by_doing_it_again(folder):
    campaign = open_campaign(folder)
    found = resolving.resolve(merge([read(FULL, "narrator", 42)[0]], 42), whole.of_folder(campaign, 42))
    for cut in range(0, len(found.effects), 3):
        record = records.begin(folder, 42, "I act.")
        for effect in [*found.effects[:cut], *found.effects]:
            record.write(effect.path, effect.op, edit_of(effect), turn=42)
        record.note("closed")
    once = files(folder)
    for effect in found.effects:
        assert edit_of(effect)(once[effect.path]) == once[effect.path]


def test_locked_entries_become_proposals_that_can_be_accepted(folder):
    from rolecall.campaign import proposals

    campaign = open_campaign(folder)
    asked = {"combat": {"damage": [{"who": "Orla", "amount": 2}]}}
    found = resolving.resolve(merge([read(asked, "narrator", 42)[0]], 42), whole.of_folder(campaign, 42))
    effects = resolving.proposed(found, folder)
    assert found.effects == () and [e.op for e in effects] == ["proposal"]
    record = records.begin(folder, 42, "I act.")
    for effect in effects:
        record.write(effect.path, effect.op, edit_of(effect), turn=42)
    assert [one.line for one in proposals.listed(folder)] == ["Orla: Orla has 4 of 6 hit points."]
    assert resolving.proposed(found, folder) == ()  # it lies there already
    proposals.accept(folder, 1)
    assert (folder / "characters/orla.md").read_text() == FILES["characters/orla.md"].replace("6/6", "4/6")


def test_who_left_is_back_in_the_party_though_others_left_since(folder):
    told(folder, 42, {"party": {"leave": [{"who": "Sera"}]}})
    told(folder, 43, {"party": {"leave": [{"who": "Valen"}]}})
    assert b"## Party\n\n\n## Resources" in (folder / STATE).read_bytes()
    assert rollback.undo(open_campaign(folder), 42).clashes == ()
    assert b"## Party\n\n- Sera: at the oars\n\n## Resources" in (folder / STATE).read_bytes()


def test_a_thing_that_was_taken_is_there_again_though_what_lay_beside_it_is_gone(folder):
    valen = folder / "characters/valen.md"
    told(folder, 42, {"inventory": {"take": [{"who": "Valen", "item": "sword"}]}})
    told(
        folder,
        43,
        {"inventory": {"take": [{"who": "Valen", "item": "torch", "count": 3}, {"who": "Valen", "item": "rope"}]}},
    )
    assert rollback.undo(open_campaign(folder), 42).clashes == ()
    assert b"inventory:\n  - {item: sword, worn: hand}\nrelationships:" in valen.read_bytes()


def test_what_the_writer_put_in_the_place_of_a_line_stays_alone(folder):
    state = folder / STATE
    told(folder, 42, {"party": {"leave": [{"who": "Sera"}]}})
    state.write_bytes(state.read_bytes().replace(b"- [[Valen]], limping\n", b"- Valen and Sera, reconciled\n"))
    done = rollback.undo(open_campaign(folder), 42)
    assert [clash.yours for _, clash in done.clashes] == ["- Valen and Sera, reconciled"]
    assert b"at the oars" not in state.read_bytes()


def test_what_a_turn_put_above_lines_of_later_turns_stays_above_them(folder):
    valen = folder / "characters/valen.md"
    valen.write_bytes(valen.read_bytes().replace(b"\n## History\n- T0003 Met the party.\n", b""))
    told(
        folder,
        42,
        {"effects": {"add": [{"who": "Valen", "effect": "wet"}]}, "status": [{"who": "Valen", "status": "ill"}]},
    )
    told(
        folder,
        43,
        {"effects": {"add": [{"who": "Sera", "effect": "cold"}]}, "status": [{"who": "Valen", "status": "well"}]},
    )
    assert rollback.undo(open_campaign(folder), 42).clashes == ()
    assert b"## Effects\n\n- Sera: cold\n\n## Journal\n" in (folder / STATE).read_bytes()
    assert valen.read_bytes().count(b"## History\n") == 1 and b"- T0043 status: ill" in valen.read_bytes()


def test_a_list_keeps_its_key_for_the_items_of_later_turns(folder):
    told(folder, 42, {"map": {"connect": [{"from": "Saltmarsh", "to": "Gull Rock"}]}})
    (folder / "locations/weir.md").write_bytes(b"---\nname: Weir\nkind: location\n---\n")
    told(folder, 43, {"map": {"connect": [{"from": "Saltmarsh", "to": "Weir"}]}})
    assert rollback.undo(open_campaign(folder), 42).clashes == ()
    assert (folder / "locations/saltmarsh.md").read_bytes() == (
        b"---\nname: Saltmarsh\nkind: location\ndiscovered: T0001\nconnections:\n  - {to: Weir}\n---\n"
    )


def test_a_place_that_a_later_turn_came_back_to_stays(folder):
    for turn, place in ((42, "Gull Rock"), (43, "Saltmarsh"), (44, "Gull Rock")):
        told(folder, turn, {"map": {"move": [{"who": "party", "to": place}]}})
    there = (folder / STATE).read_bytes()
    assert b'location: "[[Gull Rock]]"' in there
    rollback.undo(open_campaign(folder), 42)
    assert (folder / STATE).read_bytes() == there.replace(b"- T0042 It was turn 42.\n", b"")
    assert b"location: '[[Gull Rock]]'" in (folder / "characters/valen.md").read_bytes()


WORDS = ("ill, day 3", "ill, day 4", "well", "ill, day 5")


@pytest.mark.parametrize("order", [*permutations(range(42, 46))], ids=str)
def test_words_with_a_number_in_them_are_words_whatever_order_their_turns_go_in(folder, order):
    before = files(folder)["characters/sera.md"]
    for turn, words in enumerate(WORDS, 42):
        told(folder, turn, {"status": [{"who": "Sera", "status": words}]})
    left = list(range(42, 46))
    for turn in order:
        assert rollback.undo(open_campaign(folder), turn).clashes == ()
        left.remove(turn)
        said = WORDS[left[-1] - 42].encode() if left else b""
        assert said in (folder / "characters/sera.md").read_bytes()
    assert (folder / "characters/sera.md").read_bytes().removesuffix(b"\n## History\n\n") == before
