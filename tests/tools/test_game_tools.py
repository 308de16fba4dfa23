"""Game tools: each call changes just the lines of the game's state that it is about, and answers what stands now."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.campaign import documents
from rolecall.tools import families
from rolecall.tools.toolbox import DM, NARRATOR
from tests.tools.table import CANARY, FILES, play

# A call, whether a fight lasts, what is answered, and every line that goes or comes.
CASES = [
    (
        "start_combat",
        {"combatants": [{"name": "Kit"}, {"name": "Bandit", "hit_points": "7/7", "initiative": 3}]},
        False,
        "A fight: Kit (20), Bandit (3).",
        [
            "campaign-state.md +## Combat",
            "campaign-state.md +- round: 1",
            "campaign-state.md +- turn: Kit",
            "campaign-state.md +- Kit: initiative 20",
            "campaign-state.md +- Bandit: initiative 3, hit points 7/7",
        ],
    ),
    (
        "damage",
        {"who": "Kit", "amount": 3, "by": "Bandit"},
        True,
        "Kit has 5 of 12 hit points.",
        ["characters/kit.md -hit_points: 8/12", "characters/kit.md +hit_points: 5/12"],
    ),
    (
        "damage",
        {"who": "Bandit", "amount": 3},
        True,
        "Bandit has 2 of 7 hit points.",
        [
            "campaign-state.md -- Bandit: initiative 12, hit points 5/7",
            "campaign-state.md +- Bandit: initiative 12, hit points 2/7",
        ],
    ),
    (
        "heal",
        {"who": "Kit", "amount": 30},
        True,
        "Kit has 12 of 12 hit points.",
        ["characters/kit.md -hit_points: 8/12", "characters/kit.md +hit_points: 12/12"],
    ),
    (
        "next_in_order",
        {},
        True,
        "It is Bandit's turn, round 2.",
        ["campaign-state.md -- turn: Kit", "campaign-state.md +- turn: Bandit"],
    ),
    (
        "join_combat",
        {"name": "Wolf", "initiative": 20, "hit_points": "4/4"},
        True,
        "Wolf joins the fight at 20.",
        ["campaign-state.md +- Wolf: initiative 20, hit points 4/4"],
    ),
    (
        "leave_combat",
        {"name": "Bandit", "why": "fled"},
        True,
        "Bandit is out of the fight.",
        [
            "campaign-state.md -- Bandit: initiative 12, hit points 5/7",
            "campaign-state.md +  (Bandit: Left the fight in round 2: fled, 5 of 7 hit points.)",
        ],
    ),
    (
        "set_initiative",
        {"name": "Bandit", "initiative": 30},
        True,
        "Bandit acts at 30.",
        [
            "campaign-state.md -- Bandit: initiative 12, hit points 5/7",
            "campaign-state.md +- Bandit: initiative 30, hit points 5/7",
        ],
    ),
    (
        "set_hit_points",
        {"who": "Kit", "to": 12},
        True,
        "Kit has 12 of 12 hit points.",
        ["characters/kit.md -hit_points: 8/12", "characters/kit.md +hit_points: 12/12"],
    ),
    (
        "end_combat",
        {"outcome": "The bandit yielded"},
        True,
        "The fight is over after 2 rounds; nobody fell.",
        [
            "campaign-state.md -## Combat",
            "campaign-state.md -- round: 2",
            "campaign-state.md -- turn: Kit",
            "campaign-state.md -- Kit: initiative 17",
            "campaign-state.md -- Bandit: initiative 12, hit points 5/7",
            "characters/kit.md +## History",
            "characters/kit.md +- T0042 Fought at Skerrow (Kit, Bandit), 2 rounds; nobody fell; hit points left: Bandit 5 of 7. The bandit yielded",
        ],
    ),
    (
        "combat_order",
        {},
        True,
        "Round 2, Kit's turn.\n- Kit: initiative 17, 8/12 hit points\n- Bandit: initiative 12, 5 of 7 hit points",
        [],
    ),
    (
        "add_condition",
        {"who": "Sera", "condition": "bleeding", "turns": 3},
        False,
        "Sera: bleeding until T0045.",
        ["campaign-state.md +- Sera: bleeding (until T0045)"],
    ),
    (
        "extend_condition",
        {"who": "Kit", "condition": "poisoned", "turns": 10},
        False,
        "Kit: poisoned until T0055.",
        ["campaign-state.md -- Kit: poisoned (until T0045)", "campaign-state.md +- Kit: poisoned (until T0055)"],
    ),
    (
        "remove_condition",
        {"who": "Kit", "condition": "poisoned", "why": "the antidote"},
        False,
        "Kit is no longer poisoned.",
        [
            "campaign-state.md -- Kit: poisoned (until T0045)",
            "characters/kit.md +## History",
            "characters/kit.md +- T0042 No longer poisoned (until T0045): the antidote.",
        ],
    ),
    ("list_conditions", {}, False, "- Kit: poisoned (until T0045)", []),
    ("set_resource", {"name": "arrows", "amount": 20}, False, "arrows: 20.", ["campaign-state.md +- arrows: 20"]),
    (
        "gain",
        {"name": "silver", "amount": 3},
        False,
        "silver: 12.",
        ["campaign-state.md -- silver: 9", "campaign-state.md +- silver: 12"],
    ),
    (
        "spend",
        {"name": "silver", "amount": 3},
        False,
        "silver: 6.",
        ["campaign-state.md -- silver: 9", "campaign-state.md +- silver: 6"],
    ),
    (
        "pay",
        {"coin": "silver", "amount": 3, "to": "Varr", "for": "a pass"},
        False,
        "silver: 6.",
        [
            "campaign-state.md -- silver: 9",
            "campaign-state.md +- silver: 6",
            "characters/varr.md +## History\r",
            "characters/varr.md +- T0042 Was paid 3 silver for a pass.\r",
        ],
    ),
    (
        "earn",
        {"coin": "silver", "amount": 3, "from": "Varr", "for": "work"},
        False,
        "silver: 12.",
        [
            "campaign-state.md -- silver: 9",
            "campaign-state.md +- silver: 12",
            "characters/varr.md +## History\r",
            "characters/varr.md +- T0042 Paid the party 3 silver for work.\r",
        ],
    ),
    (
        "buy",
        {"who": "Kit", "item": "rope", "price": 2, "coin": "silver"},
        False,
        "Kit has 1 rope. silver: 7.",
        ["campaign-state.md -- silver: 9", "campaign-state.md +- silver: 7", "characters/kit.md +  - {item: rope}"],
    ),
    (
        "sell",
        {"who": "Kit", "item": "torch", "price": 2, "coin": "silver", "count": 2},
        False,
        "Kit has 1 torch. silver: 11.",
        [
            "campaign-state.md -- silver: 9",
            "campaign-state.md +- silver: 11",
            "characters/kit.md -  - {item: torch, count: 3}",
            "characters/kit.md +  - {item: torch, count: 1}",
        ],
    ),
    ("give_item", {"who": "Kit", "item": "key"}, False, "Kit has 1 key.", ["characters/kit.md +  - {item: key}"]),
    (
        "take_item",
        {"who": "Kit", "item": "torch"},
        False,
        "Kit has 2 torch.",
        ["characters/kit.md -  - {item: torch, count: 3}", "characters/kit.md +  - {item: torch, count: 2}"],
    ),
    (
        "transfer_item",
        {"from": "Kit", "to": "Sera", "item": "torch", "count": 2},
        False,
        "Kit has 1 torch. Sera has 2 torch.",
        [
            "characters/kit.md -  - {item: torch, count: 3}",
            "characters/kit.md +  - {item: torch, count: 1}",
            "characters/sera.md +inventory:",
            "characters/sera.md +  - {item: torch, count: 2}",
        ],
    ),
    (
        "equip",
        {"who": "Kit", "item": "torch", "where": "left hand"},
        False,
        "Kit wears torch (left hand).",
        [
            "characters/kit.md -  - {item: torch, count: 3}",
            "characters/kit.md +  - {item: torch, count: 3, worn: left hand}",
        ],
    ),
    (
        "unequip",
        {"who": "Kit", "item": "sword"},
        False,
        "Kit no longer wears sword.",
        ["characters/kit.md -  - {item: sword, worn: hand}", "characters/kit.md +  - {item: sword}"],
    ),
    ("list_inventory", {"who": "Kit"}, False, "- 3 torch\n- sword (hand)", []),
    ("list_resources", {}, False, "- silver: 9\n- rations: 4/10", []),
    (
        "advance_time",
        {"hours": 10},
        False,
        "It is 13 Frostmoon 1492, Moonday, 00:30.",
        [
            "campaign-state.md -date: 12 Frostmoon 1492   # the writer's comment",
            "campaign-state.md +date: 13 Frostmoon 1492   # the writer's comment",
            "campaign-state.md -time: 14:30",
            "campaign-state.md +time: 00:30",
        ],
    ),
    (
        "set_date",
        {"date": "13 Frostmoon 1492", "time": "dusk"},
        False,
        "It is 13 Frostmoon 1492, Moonday, dusk.",
        [
            "campaign-state.md -date: 12 Frostmoon 1492   # the writer's comment",
            "campaign-state.md +date: 13 Frostmoon 1492   # the writer's comment",
            "campaign-state.md -time: 14:30",
            "campaign-state.md +time: dusk",
        ],
    ),
    (
        "set_weather",
        {"weather": "sleet"},
        False,
        "weather: sleet.",
        ["campaign-state.md -weather: fog", "campaign-state.md +weather: sleet"],
    ),
    (
        "schedule_event",
        {"event": "The trial", "date": "15 Frostmoon 1492", "text": "Varr is tried."},
        False,
        "The trial is on 15 Frostmoon 1492.",
        [
            "events/the-trial.md +---",
            "events/the-trial.md +name: The trial",
            "events/the-trial.md +kind: event",
            "events/the-trial.md +date: 15 Frostmoon 1492",
            "events/the-trial.md +status: scheduled",
            "events/the-trial.md +source: T0042",
            "events/the-trial.md +---",
            "events/the-trial.md +Varr is tried.",
        ],
    ),
    (
        "reschedule_event",
        {"event": "The fair", "date": "21 Frostmoon 1492"},
        False,
        "The fair is on 21 Frostmoon 1492 now.",
        [
            "events/fair.md -date: 20 Frostmoon 1492",
            "events/fair.md +date: 21 Frostmoon 1492",
            "events/fair.md +## History",
            "events/fair.md +- T0042 date: 20 Frostmoon 1492 → 21 Frostmoon 1492",
        ],
    ),
    (
        "cancel_event",
        {"event": "The fair", "why": "the fog"},
        False,
        "The fair is cancelled.",
        [
            "events/fair.md -status: scheduled",
            "events/fair.md +status: cancelled",
            "events/fair.md +## History",
            "events/fair.md +- T0042 status: scheduled → cancelled",
            "events/fair.md +- T0042 Cancelled: the fog.",
        ],
    ),
    ("upcoming", {}, False, "- The fair (20 Frostmoon 1492, in 8 days)", []),
    ("what_day", {"date": "1 Thawmoon 1492"}, False, "1 Thawmoon 1492, Moonday, Winter. In 19 days.", []),
    ("discover", {"place": "Ford"}, False, "Ford is discovered (T0042).", ["locations/ford.md +discovered: T0042"]),
    (
        "connect",
        {"from": "Ford", "to": "Skerrow", "way": "a ferry", "days": 1},
        False,
        "A way from Ford to Skerrow.",
        ["locations/ford.md +connections:", "locations/ford.md +  - {to: Skerrow, way: a ferry, days: 1}"],
    ),
    (
        "move_party",
        {"to": "Ford"},
        False,
        "The party is at Ford.",
        [
            "campaign-state.md -location: Skerrow",
            "campaign-state.md +location: Ford",
            "characters/kit.md -location: Skerrow",
            "characters/kit.md +location: Ford",
            "characters/kit.md +## History",
            "characters/kit.md +- T0042 location: Skerrow → Ford",
            "locations/ford.md +discovered: T0042",
        ],
    ),
    (
        "move_character",
        {"who": "Sera", "to": "Ford"},
        False,
        "Sera is at Ford.",
        ["characters/sera.md +location: Ford"],
    ),
    (
        "travel",
        {"to": "Ford"},
        False,
        "It is 14 Frostmoon 1492, Towerday, 14:30. The party is at Ford.",
        [
            "campaign-state.md -date: 12 Frostmoon 1492   # the writer's comment",
            "campaign-state.md +date: 14 Frostmoon 1492   # the writer's comment",
            "campaign-state.md -location: Skerrow",
            "campaign-state.md +location: Ford",
            "characters/kit.md -location: Skerrow",
            "characters/kit.md +location: Ford",
            "characters/kit.md +## History",
            "characters/kit.md +- T0042 location: Skerrow → Ford",
            "locations/ford.md +discovered: T0042",
        ],
    ),
    ("places_near", {}, False, "From Skerrow:\n- Ford: the ridge path, 2 days", []),
    (
        "start_quest",
        {"name": "Find Varr", "question": "Where is he?", "objectives": ["ask at the inn"]},
        False,
        "The quest Find Varr is open.",
        [
            "arcs/find-varr.md +---",
            "arcs/find-varr.md +name: Find Varr",
            "arcs/find-varr.md +kind: quest",
            "arcs/find-varr.md +question: Where is he?",
            "arcs/find-varr.md +status: open",
            "arcs/find-varr.md +source: T0042",
            "arcs/find-varr.md +---",
            "arcs/find-varr.md +## Objectives",
            "arcs/find-varr.md +- [ ] ask at the inn",
        ],
    ),
    (
        "advance_quest",
        {"quest": "Mend the bell", "stage": "casting"},
        False,
        "Mend the bell: casting.",
        [
            "arcs/bell.md -stage: looking for bronze",
            "arcs/bell.md +stage: casting",
            "arcs/bell.md +## History",
            "arcs/bell.md +- T0042 stage: looking for bronze → casting",
        ],
    ),
    (
        "add_objective",
        {"quest": "Mend the bell", "objective": "light the kiln"},
        False,
        "Mend the bell: still to do: light the kiln.",
        ["arcs/bell.md +- [ ] light the kiln"],
    ),
    (
        "complete_objective",
        {"quest": "Mend the bell", "objective": "find bronze"},
        False,
        "Mend the bell: done: find bronze; 0 left to do.",
        ["arcs/bell.md -- [ ] find bronze", "arcs/bell.md +- [x] find bronze (T0042)"],
    ),
    (
        "finish_quest",
        {"quest": "Mend the bell", "text": "It rings."},
        False,
        "The quest Mend the bell is completed.",
        [
            "arcs/bell.md -status: open",
            "arcs/bell.md +status: completed",
            "arcs/bell.md +latest: T0042 It rings.",
            "arcs/bell.md +## History",
            "arcs/bell.md +- T0042 status: open → completed",
        ],
    ),
    (
        "fail_quest",
        {"quest": "Mend the bell", "text": "It cracked."},
        False,
        "The quest Mend the bell is failed.",
        [
            "arcs/bell.md -status: open",
            "arcs/bell.md +status: failed",
            "arcs/bell.md +latest: T0042 It cracked.",
            "arcs/bell.md +## History",
            "arcs/bell.md +- T0042 status: open → failed",
        ],
    ),
    ("list_quests", {}, False, "- Mend the bell · looking for bronze\n  - [ ] find bronze\n  - [x] find a founder", []),
    (
        "change_affinity",
        {"who": "Sera", "change": 2},
        False,
        "Sera's affinity to the party is 5.",
        ["characters/sera.md -affinity: 3", "characters/sera.md +affinity: 5"],
    ),
    (
        "set_relationship",
        {"who": "Sera", "with": "Varr", "nature": "owes", "status": "afraid", "affinity": -2},
        False,
        "Sera to Varr: owes, afraid, affinity -2.",
        [
            "characters/sera.md -  - {with: Varr, nature: hunted_by, status: wary}",
            "characters/sera.md +  - {with: Varr, nature: owes, status: afraid, affinity: -2}",
            "characters/sera.md +## History",
            "characters/sera.md +- T0042 relationships, Varr: nature hunted_by → owes",
            "characters/sera.md +- T0042 relationships, Varr: status wary → afraid",
        ],
    ),
    (
        "set_status",
        {"who": "Varr", "status": "injured"},
        False,
        "Varr: injured.",
        ["characters/varr.md +status: injured\r"],
    ),
    (
        "relationships",
        {"who": "Sera"},
        False,
        "towards the party: 3\nrelationships: with: Varr, nature: hunted_by, status: wary",
        [],
    ),
    (
        "join_party",
        {"who": "Varr", "note": "as a prisoner"},
        False,
        "Varr is in the party.",
        ["campaign-state.md +- [[Varr]], as a prisoner"],
    ),
    (
        "leave_party",
        {"who": "Sera", "why": "angry"},
        False,
        "Sera is no longer in the party.",
        [
            "campaign-state.md -- [[Sera]]",
            "characters/sera.md +## History",
            "characters/sera.md +- T0042 Left the party (angry).",
        ],
    ),
]


@pytest.mark.parametrize(
    ("tool", "given", "fight", "answer", "changes"), CASES, ids=[f"{c[0]}-{n}" for n, c in enumerate(CASES)]
)
def test_a_call_changes_just_these_lines_and_says_what_stands_now(tool, given, fight, answer, changes, tmp_path: Path):
    at = play(tmp_path / "tale", fight=fight)
    assert at.said(tool, **given) == answer
    assert at.changes() == changes


def test_every_game_tool_stands_in_the_table_above():
    planning = {"lookup", "memory", "promises", "arcs", "threads", "chapters", "seeds", "intentions", "agendas", "dice"}
    tools = {tool.name for family in families.FAMILIES if family.name not in planning for tool in family.tools}
    assert tools == {case[0] for case in CASES}


# -- what cannot be

REFUSED = [
    ("start_combat", {"combatants": [{"name": "Kit"}]}, True, "fight"),
    ("start_combat", {"combatants": []}, False, "combatants"),
    ("join_combat", {"name": "Kit"}, True, "Kit"),
    ("join_combat", {"name": "Wolf", "hit_points": "many"}, True, "hit_points"),
    ("leave_combat", {"name": "Varr"}, True, "Varr"),
    ("next_in_order", {}, False, "no fight"),
    ("combat_order", {}, False, "no fight"),
    ("damage", {"who": "Serra", "amount": 3}, False, "Near names: Sera"),
    ("damage", {"who": "Kit", "amount": -3}, False, "amount"),
    ("damage", {"who": "Kit", "amount": 10**9}, False, "amount"),
    ("damage", {"who": "Varr", "amount": 2}, False, "hit points"),
    ("heal", {"who": "Nobody at all", "amount": 3}, False, "Nobody at all"),
    ("set_hit_points", {"who": "Serra", "to": 13}, False, "Near names: Sera"),
    ("set_initiative", {"name": "Sera", "initiative": 3}, True, "Sera"),
    ("end_combat", {}, False, "no fight"),
    ("add_condition", {"who": "Kitt", "condition": "poisoned", "turns": 2}, False, "Near names: Kit"),
    ("extend_condition", {"who": "Sera", "condition": "poisoned", "turns": 2}, False, "has no such condition"),
    ("remove_condition", {"who": "Kit", "condition": "blind"}, False, "has: poisoned"),
    ("list_conditions", {"who": 3}, False, "who"),
    ("set_resource", {"name": "rations", "amount": -1}, False, "amount"),
    ("gain", {"name": "silver", "amount": 0}, False, "amount"),
    ("spend", {"name": "silver", "amount": 30}, False, "9 silver"),
    ("spend", {"name": "gold", "amount": 1}, False, "gold"),
    ("list_resources", {"name": "silver"}, False, "name"),
    ("pay", {"coin": "silver", "amount": 3, "to": "Varrr"}, False, "Varr"),
    ("pay", {"coin": "silver", "amount": 30, "to": "Varr"}, False, "9 silver"),
    ("earn", {"coin": "...", "amount": 3}, False, "no name"),
    ("buy", {"who": "Kit", "item": "boat", "price": 90, "coin": "silver"}, False, "9 silver"),
    ("sell", {"who": "Kit", "item": "boat", "price": 9, "coin": "silver"}, False, "boat"),
    ("give_item", {"who": "Kitt", "item": "key"}, False, "Kit"),
    ("take_item", {"who": "Kit", "item": "torch", "count": 4}, False, "3"),
    ("transfer_item", {"from": "Sera", "to": "Kit", "item": "torch"}, False, "torch"),
    ("equip", {"who": "Kit", "item": "crown"}, False, "crown"),
    ("unequip", {"who": "Kit", "item": "torch"}, False, "torch"),
    ("list_inventory", {"who": "Skerow"}, False, "Skerrow"),
    ("advance_time", {}, False, "No time passes"),
    ("advance_time", {"days": -1}, False, "days"),
    ("set_date", {"date": "1 Frostmoon 1492"}, False, "before today"),
    ("set_weather", {"weather": "***"}, False, "says nothing"),
    ("schedule_event", {"event": "The trial", "date": "1 Frostmoon 1492"}, False, "past"),
    ("schedule_event", {"event": "The trial", "date": "20 Frostmoon 1492", "hidden": True}, False, "DM"),
    ("reschedule_event", {"event": "The wedding", "date": "20 Frostmoon 1492"}, False, "The wedding"),
    ("cancel_event", {"event": "The fairs"}, False, "The fair"),
    ("upcoming", {"who": "me"}, False, "who"),
    ("what_day", {"date": "the night of the long ebb"}, False, "count"),
    ("discover", {"place": "The Hidden Cave"}, False, "Hidden Cave"),
    ("connect", {"from": "Ford", "to": "Ford"}, False, "one and the same"),
    ("move_party", {"to": "Fjord"}, False, "Ford"),
    ("move_character", {"who": "The Grey Monk", "to": "Ford"}, False, "Grey Monk"),
    ("travel", {"to": "Nowhere"}, False, "Nowhere"),
    ("places_near", {"place": "Kit"}, False, "Kit"),
    ("start_quest", {"name": "Mend the bell"}, False, "already"),
    ("advance_quest", {"quest": "Mend the bel", "stage": "x y"}, False, "Mend the bell"),
    ("add_objective", {"quest": "Mend the bell", "objective": "find bronze"}, False, "already"),
    ("complete_objective", {"quest": "Mend the bell", "objective": "find a founder"}, False, "done already"),
    ("finish_quest", {"quest": "Who burned the ledger"}, False, "Who burned the ledger"),
    ("fail_quest", {"quest": "The flood"}, False, "The flood"),
    ("list_quests", {"all": True}, False, "all"),
    ("change_affinity", {"who": "Sera", "change": 5000}, False, "change"),
    ("set_relationship", {"who": "Sera", "with": "Sera", "nature": "herself"}, False, "one and the same"),
    ("set_status", {"who": "The Grey Monk", "status": "seen"}, False, "Grey Monk"),
    ("relationships", {"who": "The Grey Monk"}, False, "No entry is named"),
    ("join_party", {"who": "Kit"}, False, "Kit"),
    ("leave_party", {"who": "Varr"}, False, "Varr"),
]


@pytest.mark.parametrize(("tool", "given", "fight", "why"), REFUSED, ids=[f"{c[0]}-{n}" for n, c in enumerate(REFUSED)])
def test_what_cannot_be_is_refused_in_words_and_changes_nothing(tool, given, fight, why, tmp_path: Path):
    at = play(tmp_path / "tale", fight=fight)
    said = at.refused(tool, **given)
    assert why in said and CANARY not in said
    assert at.changes() == []


def test_every_game_tool_is_refused_at_least_once():
    assert {case[0] for case in CASES} == {case[0] for case in REFUSED}


# -- together


def test_calls_of_one_turn_see_what_the_earlier_ones_did(tmp_path: Path):
    at = play(tmp_path / "tale")
    assert at.said("damage", who="Kit", amount=3) == "Kit has 5 of 12 hit points."
    assert at.said("damage", who="Kit", amount=4) == "Kit has 1 of 12 hit points."
    at.said("spend", name="silver", amount=5)
    assert "cannot be spent" in at.refused("pay", coin="silver", amount=5)
    assert at.said("pay", coin="silver", amount=4) == "silver: 0."
    assert at.said("list_resources").startswith("- silver: 0")
    assert at.changes() == [
        "campaign-state.md -- silver: 9",
        "campaign-state.md +- silver: 0",
        "characters/kit.md -hit_points: 8/12",
        "characters/kit.md +hit_points: 1/12",
    ]


def test_a_purchase_is_made_whole_or_not_at_all(tmp_path: Path):
    at = play(tmp_path / "tale")
    at.refused("buy", who="Nobody", item="rope", price=2, coin="silver")
    at.refused("buy", who="Kit", item="boat", price=20, coin="silver")
    assert at.changes() == []


def test_what_the_writer_locked_becomes_a_proposal(tmp_path: Path):
    from rolecall.campaign.game import resolving
    from rolecall.tools import directing

    at = play(tmp_path / "tale")
    assert at.said("set_status", who="Orm", status="back") == "Orm is locked by the writer; the change is proposed."
    assert at.changes() == []
    (proposal,) = resolving.proposed(directing.resolution(at.table), at.root)
    assert proposal.op == "proposal" and "Orm" in proposal.text


def test_what_is_secret_is_there_for_the_dm_alone(tmp_path: Path):
    at = play(tmp_path / "tale", DM)
    assert at.said("set_status", who="The Grey Monk", status="near") == "The Grey Monk: near."
    assert at.changes() == ["characters/monk.md +status: near"]
    hidden = at.said("schedule_event", event="The ambush", date="14 Frostmoon 1492", hidden=True)
    assert "14 Frostmoon" in hidden
    assert "visibility: secret" in at.written()["events/the-ambush.md"]
    assert "The ambush" in at.said("upcoming")


def test_the_narrators_look_ups_show_nothing_secret(tmp_path: Path):
    at = play(tmp_path / "tale", NARRATOR, fight=True)
    said = [
        at.said(tool, **given)
        for tool, given, *_ in CASES
        if tool.startswith("list_") or tool in ("upcoming", "places_near")
    ]
    said += [at.said("relationships", who="Sera"), at.said("combat_order"), at.said("read", name="Sera")]
    said += [at.said("search", query=CANARY + "2 smuggler Grey Monk Hidden Cave")]
    assert not [text for text in said if CANARY in text or "Grey Monk" in text or "Hidden Cave" in text]


SMUGGLED = [
    "x\n## Secret\ny",
    "x\r\n- T0001 y",
    "x\n```\ny",
    "x\n---\ny: z",
    "x\u2028- [ ] y",
    "## x",
    "- T0001 x",
    "- [x] y (T0001)",
    "\x1b[31mred\x07 x",
]


@pytest.mark.parametrize("value", SMUGGLED)
@pytest.mark.parametrize(
    ("tool", "given", "key"),
    [
        ("set_weather", {}, "weather"),
        ("set_status", {"who": "Varr"}, "status"),
        ("add_condition", {"who": "Sera"}, "condition"),
        ("start_quest", {"name": "Find Varr", "objectives": ["ask"]}, "question"),
        ("add_objective", {"quest": "Mend the bell"}, "objective"),
        ("schedule_event", {"event": "The trial", "date": "15 Frostmoon 1492"}, "text"),
        ("set_relationship", {"who": "Sera", "with": "Kit"}, "nature"),
        ("pay", {"coin": "silver", "amount": 1, "to": "Varr"}, "for"),
        ("join_party", {"who": "Varr"}, "note"),
        ("give_item", {"who": "Kit"}, "item"),
    ],
)
def test_no_value_smuggles_structure_into_a_file(tool, given, key, value, tmp_path: Path):
    at = play(tmp_path / "tale")
    before = {p: (at.root / p).read_bytes() for p in FILES}
    if at.call(tool, **given, **{key: value}).is_error:
        return  # a name of several lines is none
    made = {"History", "Objectives", "Combat"}  # sections that these tools make themselves
    for path, text in at.written().items():
        old, new = documents.parse(before.get(path, b""), path), documents.parse(text.encode(), path)
        assert {s.heading for s in new.sections} <= {s.heading for s in old.sections} | made
        lines = [line for line in text.splitlines() if line not in old.data.decode().splitlines()]
        assert not [line for line in lines if line.startswith(("- T0001", "```", "## x", "## Secret", "- [x] y"))], (
            lines
        )
        assert "\x1b" not in text and "\x07" not in text
