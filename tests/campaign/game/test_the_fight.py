"""Fights and hit points: rows in the Campaign State while they last, dated lines of the entries when they are over."""

from __future__ import annotations

import pytest

from tests.campaign.game.saltmarsh import STATE, Table, changed_lines, why

FIGHT = {
    "combat": {
        "start": {
            "combatants": [
                {"name": "Valen", "initiative": 15},
                {"name": "Bandit 1", "initiative": 18, "hit_points": "7/7"},
                {"name": "Bandit 2", "initiative": 4, "hit_points": "6"},
            ]
        }
    }
}


def test_a_fight_begins_as_a_section_above_the_journal_and_nothing_else_changes():
    table = Table()
    before = table.text(STATE)
    result = table.play(FIGHT)
    new = """## Combat

- round: 1
- turn: Bandit 1
- Bandit 1: initiative 18, hit points 7/7
- Valen: initiative 15
- Bandit 2: initiative 4, hit points 6/6

"""
    assert table.text(STATE) == before.replace("## Journal", new + "## Journal")
    assert result.said == ("A fight: Bandit 1 (18), Valen (15), Bandit 2 (4).",)
    assert not result.refused


def test_hit_points_go_to_the_entry_that_has_them_and_else_to_the_row():
    table = Table()
    table.play(FIGHT)
    before = table.text("characters/valen.md")
    result = table.play(
        {
            "combat": {
                "damage": [{"who": "Valen the Shadow", "amount": 3}, {"who": "bandit 1", "amount": 5, "by": "Valen"}]
            }
        },
        turn=43,
    )
    assert changed_lines(before, table.text("characters/valen.md")) == (["hit_points: 8/12"], ["hit_points: 5/12"])
    assert table.line(STATE, "- Bandit 1") == "- Bandit 1: initiative 18, hit points 2/7"
    assert result.said == ("Valen has 5 of 12 hit points.", "Bandit 1 has 2 of 7 hit points.")


def test_changes_of_hit_points_are_summed_after_what_they_are_set_to_and_bounded_once():
    table = Table()
    table.play(
        {
            "combat": {
                "damage": [{"who": "Valen", "amount": 30}],
                "heal": [{"who": "Valen", "amount": 25}],
                "hit_points": [{"who": "Valen", "to": 10}],
            }
        }
    )
    assert table.line("characters/valen.md", "hit_points") == "hit_points: 5/12"
    table.play({"combat": {"damage": [{"who": "Valen", "amount": 99}]}}, turn=43)
    assert table.line("characters/valen.md", "hit_points") == "hit_points: 0/12"
    result = table.play({"combat": {"heal": [{"who": "Valen", "amount": 99}]}}, turn=44)
    assert table.line("characters/valen.md", "hit_points") == "hit_points: 12/12"
    assert result.said == ("Valen has 12 of 12 hit points.",)


@pytest.mark.parametrize(
    ("rule", "damage", "heal", "left"),
    [
        ("", 20, 0, "0/12"),
        ("hit_points_lowest: -10", 15, 0, "-7/12"),
        ("hit_points_lowest: -10", 90, 0, "-10/12"),
        ("hit_points_lowest: none", 90, 0, "-82/12"),
        ("hit_points_over: 5", 0, 90, "17/12"),
        ("hit_points_over: none", 0, 90, "98/12"),
        ("hit_points_over: a lot", 0, 90, "12/12"),
    ],
)
def test_hit_points_leave_their_bounds_only_where_a_rule_says_so(rule, damage, heal, left):
    table = Table()
    table.put("rules/blood.md", f"---\nname: Blood\nkind: rule\n{rule}\n---\n")
    moves = {"damage": [{"who": "Valen", "amount": damage}]} if damage else {"heal": [{"who": "Valen", "amount": heal}]}
    table.play({"combat": moves})
    assert table.line("characters/valen.md", "hit_points") == f"hit_points: {left}"


def test_what_the_writer_put_above_the_maximum_is_not_pulled_in():
    table = Table()
    table.put("characters/valen.md", table.text("characters/valen.md").replace("8/12", "15/12"))
    table.play({"combat": {"heal": [{"who": "Valen", "amount": 2}]}})
    assert table.line("characters/valen.md", "hit_points") == "hit_points: 15/12"
    table.play({"combat": {"damage": [{"who": "Valen", "amount": 2}]}}, turn=43)
    assert table.line("characters/valen.md", "hit_points") == "hit_points: 13/12"


def test_hit_points_without_a_maximum_have_none():
    table = Table()
    table.play({"combat": {"heal": [{"who": "Sera", "amount": 9}]}})
    assert table.line("characters/sera.md", "hit_points") == "hit_points: 14"


def test_the_turn_passes_on_in_order_over_those_who_are_down_and_counts_rounds():
    table = Table()
    table.play(FIGHT)
    table.play({"combat": {"damage": [{"who": "Bandit 2", "amount": 6}], "next": 1}}, turn=43)
    assert table.section("Combat")[:2] == ["- round: 1", "- turn: Valen"]
    result = table.play({"combat": {"next": 1}}, turn=44)  # Bandit 2 is down: the round is over
    assert table.section("Combat")[:2] == ["- round: 2", "- turn: Bandit 1"]
    assert result.said == ("It is Bandit 1's turn, round 2.",)


def test_next_of_one_layer_adds_up_and_of_several_the_narrators_counts():
    table = Table()
    table.play(FIGHT)
    table.play(
        ("dm", {"combat": {"next": 7}}),
        ("narrator", {"combat": {"next": 1}}),
        ("narrator", {"combat": {"next": 1}}),
        turn=43,
    )
    assert table.section("Combat")[:2] == ["- round: 1", "- turn: Bandit 2"]


def test_a_new_initiative_changes_the_order_and_one_who_leaves_passes_the_turn_on():
    table = Table()
    table.play(FIGHT)
    table.play(
        {
            "combat": {
                "initiative": [{"name": "Bandit 2", "initiative": 17}],
                "leave": [{"name": "Bandit 1", "why": "he ran"}],
            }
        },
        turn=43,
    )
    assert table.section("Combat") == [
        "- round: 1",
        "- turn: Bandit 2",
        "- Valen: initiative 15",
        "- Bandit 2: initiative 17, hit points 6/6",
    ]
    assert table.section("Journal")[-1] == "  (Bandit 1: Left the fight in round 1: he ran, 7 of 7 hit points.)"


def test_when_a_fight_ends_its_section_goes_and_what_matters_stands_in_the_entries():
    table = Table()
    before = table.text(STATE)
    table.play(FIGHT)
    table.play({"combat": {"damage": [{"who": "Bandit 1", "amount": 7}], "next": 2}}, turn=43)
    result = table.play({"combat": {"end": {"outcome": "The other one ran."}}}, turn=44)
    assert table.text(STATE) == before
    line = table.text("characters/valen.md").split("\n")[-2]
    assert line == (
        "- T0044 Fought at Saltmarsh (Bandit 1, Valen, Bandit 2), 1 round; fell: Bandit 1; "
        "hit points left: Bandit 1 0 of 7, Bandit 2 6 of 6. The other one ran."
    )
    assert result.said == ("The fight is over after 1 round; fell: Bandit 1.",)


def test_a_fight_that_begins_and_ends_in_one_turn_leaves_only_its_traces():
    table = Table()
    before = table.text(STATE)
    table.play(
        {
            "combat": {
                **FIGHT["combat"],
                "damage": [{"who": "Bandit 1", "amount": 9}, {"who": "Valen", "amount": 1}],
                "end": {},
            }
        }
    )
    assert table.text(STATE) == before
    assert table.line("characters/valen.md", "hit_points") == "hit_points: 7/12"
    assert "- T0042 Fought at Saltmarsh" in table.text("characters/valen.md")


def test_a_fight_of_strangers_is_noted_under_the_turns_line_of_the_journal():
    table = Table()
    two = [{"name": "Rat", "initiative": 2, "hit_points": "1/1"}, {"name": "Cat", "initiative": 3}]
    table.play({"combat": {"start": {"combatants": two}}})
    table.put(STATE, table.text(STATE) + "- T0043 The cat got it.\n")
    table.play({"combat": {"damage": [{"who": "Rat", "amount": 1}], "end": {}}}, turn=43)
    assert table.text(STATE).endswith(
        "- T0043 The cat got it.\n  (Fought at Saltmarsh (Cat, Rat), 1 round; fell: Rat; hit points left: Rat 0 of 1.)\n"
    )


def test_notes_of_the_writer_in_the_fight_stay_when_it_is_over():
    table = Table()
    table.play(FIGHT)
    table.put(
        STATE,
        table.text(STATE).replace("- turn: Bandit 1\n", "- turn: Bandit 1\n- the bridge is burning\nand it rains\n"),
    )
    table.play({"combat": {"end": {}}}, turn=43)
    assert table.section("Combat") == ["- the bridge is burning", "and it rains"]
    assert why(table.play({"combat": {"next": 1}}, turn=44)) == ["there is no fight"]


def test_a_fight_written_by_hand_is_read_as_it_stands_and_only_its_digits_change():
    table = Table()
    hand = "## Combat\r\n\r\n* Round 2\r\n* Turn of [[Valen]]\r\n* [[Valen]], initiative: 12\r\n* Wolf: HP 4 / 9, Initiative 15, lame\r\n\r\n"
    text = table.text(STATE).replace("\n", "\r\n").replace("## Journal", hand + "## Journal")
    table.put(STATE, text)
    before = table.text(STATE)
    table.play(
        {"combat": {"damage": [{"who": "wolf", "amount": 1}], "next": 1, "join": [{"name": "Sera", "initiative": 1}]}}
    )
    gone, came = changed_lines(before, table.text(STATE))
    assert gone == ["* Turn of [[Valen]]\r", "* Wolf: HP 4 / 9, Initiative 15, lame\r"]
    assert came == ["* Turn of [[Sera]]\r", "* Wolf: HP 3 / 9, Initiative 15, lame\r", "* Sera: initiative 1\r"]
    assert table.text(STATE).count("\n") == table.text(STATE).count("\r\n")


@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        ({"damage": [{"who": "Nobody", "amount": 1}]}, "nobody is named 'Nobody'"),
        ({"damage": [{"who": "Hob", "amount": 1}]}, "Hob is dead"),
        ({"heal": [{"who": "Hob", "amount": 1}]}, "Hob is dead"),
        ({"damage": [{"who": "Valen", "amount": 1, "by": "Hob"}]}, "Hob is dead"),
        ({"damage": [{"who": "Varr", "amount": 1}]}, "nobody is named 'Varr'"),
        ({"next": 1}, "there is no fight"),
        ({"end": {}}, "there is no fight"),
        ({"round": 3}, "there is no fight"),
        ({"join": [{"name": "Sera"}]}, "there is no fight"),
        ({"leave": [{"name": "Valen"}]}, "there is no fight"),
        ({"start": {"combatants": [{"name": "Hob"}, {"name": "Valen"}]}}, "Hob is dead"),
        ({"start": {"combatants": [{"name": "A: b"}]}}, "'A: b' is no name for a combatant"),
    ],
)
def test_what_cannot_be_is_refused_in_words_and_changes_nothing(moves, reason):
    table = Table()
    before = dict(table.files)
    assert why(table.play({"combat": moves})) == [reason]
    assert table.files == before


def test_stale_combatants_and_second_fights_are_refused_while_the_rest_applies():
    table = Table()
    table.play(FIGHT)
    table.play({"combat": {"leave": [{"name": "Bandit 2"}]}}, turn=43)
    result = table.play(
        {"combat": {**FIGHT["combat"], "join": [{"name": "Valen"}], "leave": [{"name": "Bandit 2"}], "round": 2,
                    "damage": [{"who": "Bandit 2", "amount": 1}, {"who": "Valen", "amount": 1}]}},
        turn=44,
    )  # fmt: skip
    assert why(result) == [
        "a fight is under way already; more combatants join it",
        "Valen is in the fight already",
        "nobody is named 'Bandit 2'",
        "Bandit 2 is not in the fight",
    ]
    assert table.section("Combat")[0] == "- round: 2"
    assert table.line("characters/valen.md", "hit_points") == "hit_points: 7/12"


def test_initiative_that_nobody_gives_is_rolled_under_the_seed_the_same_each_time():
    rolled = {"combat": {"start": {"combatants": [{"name": "Valen"}, {"name": "Wolf"}]}}}
    one, other = Table(), Table()
    assert one.play(rolled).said == other.play(rolled).said
    assert one.files == other.files
    ruled = Table()
    ruled.put("rules/speed.md", "---\nname: Speed\nkind: rule\ninitiative: 1d2+100\n---\n")
    numbers = [int(row.split()[-1]) for row in (ruled.play(rolled), ruled.section("Combat"))[1][2:]]
    assert all(101 <= number <= 102 for number in numbers)


TWINS = """## Combat

- round: 1
- turn: Wolf
- Wolf: initiative 12, hit points 3/7
- Wolf: initiative 9, hit points 7/7
- Valen: initiative 5

"""


def test_two_of_one_name_have_one_place_in_the_order_so_that_the_others_get_their_turn():
    table = Table()
    table.put(STATE, table.text(STATE).replace("## Journal", TWINS + "## Journal"))
    for turn, name in enumerate(("Valen", "Wolf", "Valen"), 42):
        table.play({"combat": {"next": 1}}, turn=turn)
        assert table.line(STATE, "- turn") == f"- turn: {name}"
    assert table.line(STATE, "- round") == "- round: 2"


@pytest.mark.parametrize(
    "verb", [{"damage": {"who": "Wolf", "amount": 3}}, {"leave": {"name": "wolf"}}, {"initiative": {"name": "Wolf", "initiative": 3}}]
)  # fmt: skip
def test_which_of_two_with_one_name_is_meant_is_not_guessed(verb):
    table = Table()
    table.put(STATE, table.text(STATE).replace("## Journal", TWINS + "## Journal"))
    before = table.text(STATE)
    assert why(table.play({"combat": verb})) == ["2 in the fight are named Wolf: give each a name of its own"]
    assert table.text(STATE) == before


def test_of_two_rows_that_are_the_same_to_the_letter_it_is_said_that_they_are_two():
    table = Table()
    row = "- Wolf: stunned (until T0041)\n"
    table.put(
        STATE,
        table.text(STATE).replace("## Journal", f"## Effects\n\n{row}{row}- : nobody (until T0001)\n\n## Journal"),
    )
    before = table.text(STATE)
    said = why(table.play({}))
    assert set(said) == {"`- Wolf: stunned (until T0041)` stands in Effects more than once"}
    assert table.text(STATE) == before


def test_what_two_lines_count_is_not_guessed():
    table = Table()
    table.put(STATE, table.text(STATE).replace("- silver: 9\n", "- silver: 9\n- 4 Silver\n"))
    before = table.text(STATE)
    assert why(table.play({"resources": [{"name": "silver", "change": -3}]})) == [
        "2 lines of Resources count silver: make one of them"
    ]
    assert table.text(STATE) == before
