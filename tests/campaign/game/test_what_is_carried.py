"""Resources, inventories, conditions: counted by code, one line or item at a time."""

from __future__ import annotations

import pytest

from tests.campaign.game.saltmarsh import STATE, Table, changed_lines, why

VALEN, SERA = "characters/valen.md", "characters/sera.md"


# -- resources


def test_a_resource_changes_by_its_digits_alone():
    table = Table()
    before = table.text(STATE)
    result = table.play(
        {
            "resources": [
                {"name": "Silver", "change": -3},
                {"name": "arrows", "change": 5},
                {"name": "rations", "change": 2},
            ]
        }
    )
    gone, came = changed_lines(before, table.text(STATE))
    assert gone == ["- silver: 9", "* 30 arrows", "- rations: 4/10"]
    assert came == ["- silver: 6", "* 35 arrows", "- rations: 6/10"]
    assert result.said == ("silver: 6.", "arrows: 35.", "rations: 6 of 10.")


def test_what_goes_over_the_bound_has_no_place_and_what_is_not_there_cannot_be_spent():
    table = Table()
    result = table.play(
        {
            "resources": [
                {"name": "rations", "change": 9},
                {"name": "silver", "change": -10},
                {"name": "gold", "change": -1},
            ]
        }
    )
    assert table.section("Resources")[:3] == ["- silver: 9", "* 30 arrows", "- rations: 10/10"]
    assert result.said == ("rations: 10 of 10. 3 more had no place.",)
    assert why(result) == ["there are 9 silver; 10 cannot be spent", "there is no gold"]


def test_set_comes_before_change_and_the_layer_nearest_the_scene_sets():
    table = Table()
    table.play(
        ("turn_dm", {"resources": [{"name": "silver", "set": 100}]}),
        ("dm", {"resources": [{"name": "silver", "change": 4}]}),
        ("narrator", {"resources": [{"name": "silver", "change": -5}, {"name": "silver", "set": 20}]}),
    )
    assert table.line(STATE, "- silver") == "- silver: 19"


def test_a_layer_further_off_that_would_overspend_is_refused_and_the_narrators_word_stands():
    table = Table()
    result = table.play(
        ("dm", {"resources": [{"name": "silver", "change": -8}]}),
        ("narrator", {"resources": [{"name": "silver", "change": -5}]}),
    )
    assert table.line(STATE, "- silver") == "- silver: 4"
    assert [(one.layer, one.why) for one in result.refused] == [("dm", "there are 4 silver; 8 cannot be spent")]


def test_a_new_resource_is_a_new_row_and_a_bound_can_be_given_later():
    table = Table()
    table.play(
        {
            "resources": [
                {"name": "pearls", "change": 2},
                {"name": "water", "set": 3, "bound": 5},
                {"name": "silver", "bound": 50},
            ]
        }
    )
    assert table.section("Resources") == [
        "- silver: 9/50",
        "* 30 arrows",
        "- rations: 4/10",
        "- hope: some",
        "- pearls: 2",
        "- water: 3/5",
    ]


def test_what_cannot_be_read_as_a_number_is_told_and_left_alone():
    table = Table()
    for hand in ("- hope: some", "- hope: 3 or 4", "- hope: 1,200", "- hope: 2.5", "- hope: 9999999999"):
        table.put(STATE, table.text(STATE).replace("- hope: some", hand))
        before = dict(table.files)
        assert why(table.play({"resources": [{"name": "hope", "change": 1}]})) == [
            f"{hand[2:]!r} cannot be read as a number"
        ]
        assert table.files == before
        table.put(STATE, table.text(STATE).replace(hand, "- hope: some"))


def test_a_campaign_state_without_any_section_gets_the_one_it_needs():
    table = Table()
    table.put(STATE, "---\nname: Campaign State\n---\r\nProse without an end")
    table.play({"resources": [{"name": "silver", "change": 2}]})
    assert (
        table.text(STATE) == "---\nname: Campaign State\n---\r\nProse without an end\n\n## Resources\n\n- silver: 2\n"
    )


# -- inventory


def test_things_are_given_taken_and_passed_on_item_by_item():
    table = Table()
    before, sera = table.text(VALEN), table.text(SERA)
    result = table.play(
        {"inventory": {"give": [{"who": "Valen", "item": "ledger"}], "take": [{"who": "Valen", "item": "torches", "count": 2}],
                       "transfer": [{"from": "Valen", "to": "Sera", "item": "rope"}, {"from": "Sera", "to": "Valen", "item": "pennies", "count": 1}]}}
    )  # fmt: skip
    assert changed_lines(before, table.text(VALEN)) == (
        ["  - {item: torch, count: 3}", "  - rope"],
        ["  - {item: torch, count: 1}", "  - {item: Ledger}", "  - {item: pennies}"],
    )
    assert changed_lines(sera, table.text(SERA)) == (
        ["inventory: [oar, 2 pennies]"],
        ["inventory: [oar, 1 pennies, {item: rope}]"],
    )
    assert table.line("items/ledger.md", "holder") == "holder: Valen"
    assert result.said == (
        "Valen has 1 Ledger.", "Valen has 1 torch.", "Valen has no rope.", "Sera has 1 rope.", "Sera has 1 pennies.", "Valen has 1 pennies.",
    )  # fmt: skip


def test_a_thing_with_an_entry_says_who_holds_it_and_who_held_it_before():
    table = Table()
    table.play({"inventory": {"give": [{"who": "Valen", "item": "Ledger"}]}})
    table.play({"inventory": {"transfer": [{"from": "Valen", "to": "Sera", "item": "[[Ledger]]"}]}}, turn=43)
    assert table.line("items/ledger.md", "holder") == "holder: Sera"
    assert table.text("items/ledger.md").endswith("## History\n\n- T0043 holder: Valen → Sera\n")
    table.play({"inventory": {"take": [{"who": "Sera", "item": "Ledger"}]}}, turn=44)
    assert "holder:" not in table.text("items/ledger.md").split("---")[1]


def test_things_are_put_on_and_off_one_in_a_place():
    table = Table()
    result = table.play(
        {
            "inventory": {
                "equip": [
                    {"who": "Valen", "item": "torch", "where": "hand"},
                    {"who": "Valen", "item": "rope", "where": "belt"},
                ]
            }
        }
    )
    assert why(result) == ["Valen wears sword there"]
    table.play({"inventory": {"unequip": [{"who": "Valen", "item": "sword"}]}}, turn=43)
    table.play({"inventory": {"equip": [{"who": "Valen", "item": "torch", "where": "hand"}]}}, turn=44)
    assert "  - {item: torch, count: 3, worn: hand}\n  - {item: sword}\n  - {item: rope, worn: belt}\n" in table.text(
        VALEN
    )


@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        ({"give": [{"who": "Hob", "item": "rope"}]}, "Hob is dead"),
        ({"give": [{"who": "Nobody", "item": "rope"}]}, "no entry, or more than one, is named 'Nobody'"),
        (
            {"give": [{"who": "Valen", "item": "silver", "count": 3}]},
            "silver is one of the party's resources; change it there",
        ),
        ({"take": [{"who": "Valen", "item": "torch", "count": 4}]}, "Valen has 3 torch"),
        ({"take": [{"who": "Valen", "item": "boat"}]}, "Valen has no boat"),
        ({"transfer": [{"from": "Valen", "to": "Valen", "item": "rope"}]}, "it stays with the same one"),
        ({"transfer": [{"from": "Valen", "to": "Hob", "item": "rope"}]}, "Hob is dead"),
        ({"equip": [{"who": "Valen", "item": "hat"}]}, "Valen has no hat"),
        ({"unequip": [{"who": "Valen", "item": "rope"}]}, "Valen does not wear rope"),
        ({"give": [{"who": "Saltmarsh", "item": "rope"}]}, "no entry, or more than one, is named 'Saltmarsh'"),
    ],
)
def test_what_nobody_has_is_refused_in_words_and_changes_nothing(moves, reason):
    table = Table()
    before = dict(table.files)
    assert why(table.play({"inventory": moves})) == [reason]
    assert table.files == before


def test_an_inventory_that_is_no_list_is_left_alone():
    table = Table()
    table.put(SERA, table.text(SERA).replace("[oar, 2 pennies]", "an oar and two pennies"))
    before = dict(table.files)
    assert why(table.play({"inventory": {"give": [{"who": "Sera", "item": "rope"}]}})) == ["`inventory` is not a list"]
    assert table.files == before


# -- conditions


def test_a_condition_lasts_its_turns_and_then_goes_to_the_history():
    table = Table()
    before = table.text(STATE)
    table.play({"effects": {"add": [{"who": "Valen", "effect": "poisoned", "turns": 2}]}})
    assert table.section("Effects") == ["- Valen: poisoned (until T0044)"]
    assert table.play({}, turn=43).effects == ()
    result = table.play({}, turn=44)
    assert table.section("Effects") == []
    assert table.text(STATE).replace("## Effects\n\n\n", "") == before
    assert table.text(VALEN).endswith("- T0044 No longer poisoned (until T0044).\n")
    assert result.said == ("Valen is no longer poisoned.",)


def test_a_condition_until_a_date_goes_when_the_day_has_come():
    table = Table()
    table.play(
        {
            "effects": {
                "add": [
                    {"who": "Valen", "effect": "marked", "until": "5 Frostmoon 1492"},
                    {"who": "Sera", "effect": "hidden", "until": "the tide turns"},
                ]
            }
        }
    )
    table.play({"calendar": {"advance": {"days": 1}}}, turn=43)
    assert table.section("Effects") == [
        "- Valen: marked (until 5 Frostmoon 1492)",
        "- Sera: hidden (until the tide turns)",
    ]
    table.play({"calendar": {"advance": {"days": 1}}}, turn=44)
    assert table.section("Effects") == ["- Sera: hidden (until the tide turns)"]
    assert "- T0044 No longer marked (until 5 Frostmoon 1492)." in table.text(VALEN)


def test_a_condition_until_a_round_goes_when_that_round_begins_or_the_fight_ends():
    table = Table()
    two = [{"name": "Valen", "initiative": 9}, {"name": "Wolf", "initiative": 5, "hit_points": "4/4"}]
    table.play(
        {
            "combat": {"start": {"combatants": two}},
            "effects": {
                "add": [
                    {"who": "Wolf", "effect": "stunned", "rounds": 1},
                    {"who": "Valen", "effect": "hasted", "rounds": 9},
                ]
            },
        }
    )
    assert table.section("Effects") == ["- Wolf: stunned (until round 2)", "- Valen: hasted (until round 10)"]
    table.play({"combat": {"next": 2}}, turn=43)
    assert table.section("Effects") == ["- Valen: hasted (until round 10)"]
    assert table.section("Journal")[-1] == "  (Wolf: No longer stunned (until round 2).)"
    table.play({"combat": {"end": {}}}, turn=44)
    assert table.section("Effects") == []


def test_conditions_are_extended_and_taken_away_by_their_words():
    table = Table()
    table.put(
        STATE,
        table.text(STATE).replace(
            "## Promises", "## Effects\n* [[Valen]]: cursed by the sea (until T0050)\n* a note\n\n## Promises"
        ),
    )
    table.play({"effects": {"extend": [{"who": "Valen the Shadow", "effect": "cursed", "turns": 5}]}})
    assert table.section("Effects") == ["* [[Valen]]: cursed by the sea (until T0055)", "* a note"]
    table.play(
        {"effects": {"remove": [{"who": "Valen", "effect": "cursed by the sea", "why": "Ansa prayed"}]}}, turn=43
    )
    assert table.section("Effects") == ["* a note"]
    assert table.text(VALEN).endswith("- T0043 No longer cursed by the sea (until T0055): Ansa prayed.\n")


@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        ({"add": [{"who": "Hob", "effect": "cold"}]}, "Hob is dead"),
        ({"add": [{"who": "Nobody", "effect": "cold"}]}, "nobody is named 'Nobody'"),
        ({"add": [{"who": "Valen", "effect": "cold", "rounds": 2}]}, "there is no fight whose rounds could be counted"),
        ({"add": [{"who": "Valen", "effect": "cold", "until": "1 Frostmoon 1492"}]}, "1 Frostmoon 1492 is not to come"),
        (
            {"add": [{"who": "Valen", "effect": "cold", "turns": 1, "until": "spring"}]},
            "give only one of turns, rounds and until",
        ),
        ({"remove": [{"who": "Valen", "effect": "cold"}]}, "Valen has no such condition (has: none)"),
        ({"extend": [{"who": "Valen", "effect": "cold", "turns": 2}]}, "Valen has no such condition (has: none)"),
    ],
)
def test_conditions_that_cannot_be_are_refused_in_words(moves, reason):
    table = Table()
    before = dict(table.files)
    assert why(table.play({"effects": moves})) == [reason]
    assert table.files == before


def test_a_condition_of_a_locked_entry_ends_all_the_same_and_is_kept_under_the_journals_line():
    table = Table()
    table.put(STATE, table.text(STATE).replace("## Promises", "## Effects\n- Orla: cold (until T0042)\n\n## Promises"))
    before = table.text("characters/orla.md")
    result = table.play({})
    assert (table.section("Effects"), result.locked, result.refused) == ([], (), ())
    assert table.section("Journal")[-1] == "  (Orla: No longer cold (until T0042).)"
    assert table.text("characters/orla.md") == before
