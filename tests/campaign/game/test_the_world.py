"""Relationships, map, quests, calendar, party and status; what is locked and what is secret."""

from __future__ import annotations

import pytest

from rolecall.campaign.effects import edit_of
from rolecall.errors import Unclear
from tests.campaign.game.saltmarsh import STATE, Table, changed_lines, why

VALEN, SERA, WELL = "characters/valen.md", "characters/sera.md", "arcs/the-well.md"


# -- relationships


def test_affinity_towards_the_party_is_a_number_of_the_entry():
    table = Table()
    before = table.text(VALEN)
    result = table.play(
        {"relationships": [{"who": "Valen", "change": -5}, {"who": "Valen", "with": "the party", "change": 1}]}
    )
    assert changed_lines(before, table.text(VALEN)) == (["affinity: 3"], ["affinity: -1"])
    assert result.said == ("Valen's affinity to the party is -1.",)


def test_ties_between_two_keep_what_they_were_in_the_history():
    table = Table()
    before = table.text(VALEN)
    table.play(
        {
            "relationships": [
                {"who": "Valen", "with": "[[Sera]]", "status": "broken", "change": -2},
                {"who": "Sera", "with": "Valen", "nature": "betrayed by him"},
            ]
        }
    )
    assert changed_lines(before, table.text(VALEN)) == (
        ["  - {with: Sera, nature: romance, status: complicated}"],
        [
            "  - {with: Sera, nature: romance, status: broken, affinity: -2}",
            "- T0042 relationships, Sera: status complicated → broken",
        ],
    )
    assert "relationships:\n  - {with: Valen, nature: betrayed by him}\n" in table.text(SERA)


def test_of_two_layers_the_narrators_word_on_a_tie_counts_and_changes_add_up():
    table = Table()
    table.play(
        ("dm", {"relationships": [{"who": "Valen", "with": "Sera", "status": "sworn", "change": 2}]}),
        ("narrator", {"relationships": [{"who": "Valen", "with": "Sera", "status": "broken", "set": 5}]}),
    )
    assert "{with: Sera, nature: romance, status: broken, affinity: 7}" in table.text(VALEN)


def test_a_rule_can_bound_affinity():
    table = Table()
    table.put("rules/hearts.md", "---\nname: Hearts\nkind: rule\naffinity_lowest: -5\naffinity_highest: 5\n---\n")
    table.play({"relationships": [{"who": "Valen", "change": 9}, {"who": "Sera", "set": -50}]})
    assert (table.line(VALEN, "affinity"), table.line(SERA, "affinity")) == ("affinity: 5", "affinity: -5")


# -- the map


def test_the_party_moves_and_takes_along_who_was_there():
    table = Table()
    table.put(SERA, table.text(SERA).replace("location: Saltmarsh", "location: Gull Rock"))
    state, sera = table.text(STATE), table.text(SERA)
    result = table.play({"map": {"move": [{"who": "party", "to": "gull rock"}]}})
    assert changed_lines(state, table.text(STATE)) == (['location: "[[Saltmarsh]]"'], ['location: "[[Gull Rock]]"'])
    assert table.line(VALEN, "location") == "location: '[[Gull Rock]]'   # since T0040"
    assert table.text(VALEN).endswith("- T0042 location: [[Saltmarsh]] → [[Gull Rock]]\n")
    assert table.text(SERA) == sera
    assert table.line("locations/gull-rock.md", "discovered") == "discovered: T0042"
    assert result.said == ("The party is at Gull Rock.",)


def test_places_are_connected_both_ways_and_what_the_writer_said_of_a_way_stays():
    table = Table()
    table.play(
        {"map": {"connect": [{"from": "Saltmarsh", "to": "Gull Rock", "way": "over the sand at ebb", "days": 2}]}}
    )
    assert "connections:\n  - {to: Gull Rock, way: over the sand at ebb, days: 2}\n" in table.text(
        "locations/saltmarsh.md"
    )
    assert "  - {to: Saltmarsh, way: by boat, days: 2}\n" in table.text("locations/gull-rock.md")


@pytest.mark.parametrize(
    ("moves", "layer", "reason"),
    [
        ({"discover": [{"place": "Atlantis"}]}, "narrator", "no location, or more than one, is named 'Atlantis'"),
        ({"discover": [{"place": "The Cellar"}]}, "narrator", "no location, or more than one, is named 'The Cellar'"),
        ({"discover": [{"place": "The Cellar"}]}, "dm", "it is hidden: the writer has to open it first"),
        ({"move": [{"who": "party", "to": "The Cellar"}]}, "dm", "the party cannot be where nobody may know of"),
        ({"move": [{"who": "Valen", "to": "The Cellar"}]}, "dm", "an open entry would show a hidden place"),
        ({"move": [{"who": "Hob", "to": "Gull Rock"}]}, "narrator", "Hob is dead"),
        ({"connect": [{"from": "Saltmarsh", "to": "Saltmarsh"}]}, "narrator", "that is one and the same place"),
        ({"connect": [{"from": "Saltmarsh", "to": "The Cellar"}]}, "dm", "an open place would show a hidden one"),
    ],
)
def test_ways_that_cannot_be_gone_are_refused(moves, layer, reason):
    table = Table()
    before = dict(table.files)
    result = table.play({"map": moves}, layer=layer)
    assert why(result) == [reason]
    assert table.files == before
    assert result.refused[0].secret == (layer == "dm")


# -- quests


def test_a_quest_runs_from_its_beginning_to_its_end():
    table = Table()
    table.play(
        {
            "quests": {
                "start": [
                    {
                        "name": "The Ferry",
                        "question": "Who cut the rope?",
                        "stakes": "Sera's licence",
                        "objectives": ["See the rope", "Ask Marta"],
                    }
                ]
            }
        }
    )
    path = "arcs/the-ferry.md"
    assert table.text(path) == (
        "---\nname: The Ferry\nkind: quest\nquestion: Who cut the rope?\nstakes: Sera's licence\nstatus: open\nsource: T0042\n---\n\n"
        "## Objectives\n\n- [ ] See the rope\n- [ ] Ask Marta\n"
    )
    table.play({"quests": {"complete": [{"quest": "the ferry", "objective": "see the rope"}], "stage": [{"quest": "The Ferry", "stage": "a clue"}],
                           "objective": [{"quest": "The Ferry", "objective": "Find the knife"}]}}, turn=43)  # fmt: skip
    assert table.section("Objectives", path) == [
        "- [x] See the rope (T0043)",
        "- [ ] Ask Marta",
        "- [ ] Find the knife",
    ]
    result = table.play(
        {
            "quests": {
                "stage": [{"quest": "The Ferry", "stage": "known"}],
                "finish": [{"quest": "The Ferry", "text": "Varr's man confessed."}],
            }
        },
        turn=44,
    )
    assert "status: completed\nsource: T0042\nstage: known\nlatest: T0044 Varr's man confessed.\n" in table.text(path)
    assert table.section("History", path) == ["- T0044 stage: a clue → known", "- T0044 status: open → completed"]
    assert result.said[-1] == "The quest The Ferry is completed."
    assert why(table.play({"quests": {"stage": [{"quest": "The Ferry", "stage": "again"}]}}, turn=45)) == [
        "the quest The Ferry is over (completed)"
    ]


def test_a_failed_quest_moves_its_latest_line_onto_the_trail():
    table = Table()
    table.play({"quests": {"fail": [{"quest": "The Well", "text": "It was filled in."}]}})
    assert table.line(WELL, "latest") == "latest: T0042 It was filled in."
    assert table.section("Trail", WELL) == ["- T0030 The boy has coin.", "- T0012 Iron."]
    assert table.line(WELL, "status") == "status: failed"


@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        ({"stage": [{"quest": "The Old War", "stage": "x"}]}, "the quest The Old War is over (completed)"),
        ({"stage": [{"quest": "Nothing", "stage": "x"}]}, "no quest is named 'Nothing'"),
        ({"complete": [{"quest": "The Well", "objective": "Draw water"}]}, "that is done already"),
        ({"complete": [{"quest": "The Well", "objective": "Fly"}]}, "it has no such objective (open: Find the boy)"),
        ({"objective": [{"quest": "The Well", "objective": "find the boy"}]}, "that is one of its objectives already"),
        ({"start": [{"name": "The Well"}]}, "there is a quest or an arc of that name already (arcs/the-well.md)"),
    ],
)
def test_quests_that_are_over_or_unknown_are_refused(moves, reason):
    table = Table()
    before = dict(table.files)
    assert why(table.play({"quests": moves})) == [reason]
    assert table.files == before


# -- time


def test_time_passes_over_midnight_and_the_season_turns():
    table = Table()
    before = table.text(STATE)
    result = table.play({"calendar": {"advance": {"hours": 3, "minutes": 15}, "weather": "thaw"}})
    gone, came = changed_lines(before, table.text(STATE))
    assert gone == ["date: 3 Frostmoon 1492  # by the harbour's reckoning", 'time: "22:30"']
    assert came == ["date: 4 Frostmoon 1492  # by the harbour's reckoning", 'time: "01:45"', "weather: thaw"]
    assert result.said == ("weather: thaw.", "It is 4 Frostmoon 1492, Moonday, 01:45.")
    assert table.play({"calendar": {"advance": {"months": 1, "weeks": 2}}}, turn=43).said[:2] == (
        "It is 10 Thawmoon 1492, Moonday, 01:45.", "It is Spring now.")  # fmt: skip


def test_a_date_and_an_hour_set_together_are_told_together():
    table = Table()
    result = table.play({"calendar": {"date": "5 Frostmoon 1492", "time": "06:00"}})
    assert (table.line(STATE, "date:"), table.line(STATE, "time:")) == (
        "date: 5 Frostmoon 1492  # by the harbour's reckoning",
        'time: "06:00"',
    )
    assert [line for line in result.said if "22:30" in line] == []
    assert any(line.startswith("It is 5 Frostmoon 1492") and line.endswith("06:00.") for line in result.said)


def test_of_two_layers_that_let_time_pass_the_narrators_counts_and_does_not_add_up():
    table = Table()
    table.play(("dm", {"calendar": {"advance": {"days": 5}}}), ("narrator", {"calendar": {"advance": {"days": 1}}}))
    assert table.line(STATE, "date:").startswith("date: 4 Frostmoon 1492")


def test_an_event_is_due_on_its_day_and_past_on_the_next():
    table = Table()
    assert table.play({"calendar": {"advance": {"days": 2}}}).said[-1] == "Today: Harvest Fair."
    result = table.play({"calendar": {"advance": {"days": 1}}}, turn=43)
    assert result.said[-1] == "Harvest Fair (5 Frostmoon 1492) was due and is past."
    assert table.line("events/fair.md", "status") == "status: past"
    assert table.play({}, turn=44).effects == ()


def test_events_are_scheduled_moved_and_cancelled():
    table = Table()
    table.play(
        {"calendar": {"schedule": [{"event": "The Hearing", "date": "9 Frostmoon 1492", "text": "The Bench sits."}]}}
    )
    assert table.text("events/the-hearing.md") == (
        "---\nname: The Hearing\nkind: event\ndate: 9 Frostmoon 1492\nstatus: scheduled\nsource: T0042\n---\nThe Bench sits.\n"
    )
    table.play(
        {
            "calendar": {
                "reschedule": [{"event": "The Hearing", "date": "12 Frostmoon 1492"}],
                "cancel": [{"event": "Harvest Fair", "why": "plague"}],
            }
        },
        turn=43,
    )
    assert table.section("History", "events/the-hearing.md") == ["- T0043 date: 9 Frostmoon 1492 → 12 Frostmoon 1492"]
    assert table.section("History", "events/fair.md") == [
        "- T0043 status: scheduled → cancelled",
        "- T0043 Cancelled: plague.",
    ]


@pytest.mark.parametrize(
    ("date", "moves", "reason"),
    [
        ("3 Frostmoon 1492", {"cancel": [{"event": "Wake"}]}, "Wake is cancelled"),
        (
            "3 Frostmoon 1492",
            {"reschedule": [{"event": "Harvest Fair", "date": "1 Frostmoon 1492"}]},
            "1 Frostmoon 1492 is past",
        ),
        ("3 Frostmoon 1492", {"date": "2 Frostmoon 1492"}, "it lies before today (3 Frostmoon 1492)"),
        (
            "3 Frostmoon 1492",
            {"schedule": [{"event": "X", "date": "9 Frostmoon 1492", "hidden": True}]},
            "only the DM keeps events hidden",
        ),
        (
            "First night of the Long Ebb",
            {"advance": {"days": 1}},
            "nobody can count on from 'First night of the Long Ebb'; set `date` instead",
        ),
        ("", {"advance": {"days": 1}}, "nobody said what day it is; set `date`"),
        ("3 Frostmoon 1492", {"advance": {}}, ""),
    ],
)
def test_dates_that_cannot_be_counted_are_told_and_left_alone(date, moves, reason):
    table = Table()
    table.put(STATE, table.text(STATE).replace("3 Frostmoon 1492", date))
    before = dict(table.files)
    assert why(table.play({"calendar": moves})) == ([reason] if reason else ["no time passes"])
    assert table.files == before


def test_hours_of_a_day_told_in_words_are_not_counted_but_whole_days_are():
    table = Table()
    table.put(STATE, table.text(STATE).replace('"22:30"', "late evening"))
    assert why(table.play({"calendar": {"advance": {"hours": 3}}})) == [
        "`late evening` is no hour that can be counted; set `time` instead"
    ]
    table.play({"calendar": {"advance": {"hours": 50}}}, turn=43)
    assert table.line(STATE, "date:").startswith("date: 5 Frostmoon 1492")
    assert table.line(STATE, "time:") == "time: late evening"


# -- party and status


def test_who_joins_and_leaves_the_party_is_a_row_and_what_it_said_is_kept():
    table = Table()
    result = table.play({"party": {"leave": [{"who": "Valen", "why": "his leg"}, {"who": "Sera"}, {"who": "Hob"}]}})
    assert table.section("Party") == []
    assert table.text(VALEN).endswith("- T0042 Left the party (his leg); it said of them: [[Valen]], limping.\n")
    assert table.text(SERA).endswith("## History\n\n- T0042 Left the party; it said of them: Sera: at the oars.\n")
    assert why(result) == ["Hob is not in the party"]
    result = table.play(
        {"party": {"join": [{"who": "Valen the Shadow", "note": "on a crutch"}, {"who": "Hob"}, {"who": "Varr"}]}},
        turn=43,
    )
    assert table.section("Party") == ["- Valen, on a crutch"]
    assert why(result) == ["Hob is dead", "no entry, or more than one, is named 'Varr'"]


def test_a_death_is_a_status_and_the_dead_do_not_come_back_by_the_narrator():
    table = Table()
    table.play({"status": [{"who": "Valen", "status": "dead, fell from the wall"}]})
    assert table.line(VALEN, "status") == "status: dead, fell from the wall"
    assert table.text(VALEN).endswith("- T0042 status: injured → dead, fell from the wall\n")
    assert why(table.play({"status": [{"who": "Valen", "status": "well"}]}, turn=43)) == [
        "Valen is dead; only the DM can bring somebody back"
    ]
    assert not table.play({"status": [{"who": "Valen", "status": "well"}]}, turn=44, layer="dm").refused


def test_of_two_layers_that_say_how_somebody_stands_the_narrator_is_heard():
    table = Table()
    result = table.play(
        ("dm", {"status": [{"who": "Valen", "status": "captured"}]}),
        ("narrator", {"status": [{"who": "valen", "status": "free"}]}),
    )
    assert table.line(VALEN, "status") == "status: free"
    assert why(result) == ["the narrator said otherwise"]


# -- locked, secret, changed meanwhile


def test_a_locked_entry_is_only_proposed_to_and_nothing_of_that_change_is_made():
    table = Table()
    before = dict(table.files)
    result = table.play({"combat": {"damage": [{"who": "Orla", "amount": 2}]}, "relationships": [{"who": "Orla", "change": 1}],
                         "inventory": {"transfer": [{"from": "Valen", "to": "Orla", "item": "rope"}]}})  # fmt: skip
    assert table.files == before
    assert [(one.about, one.line, [e.text for e in one.effects]) for one in result.locked] == [
        ("Orla", "Orla has 4 of 6 hit points.", ["4/6"]),
        ("Orla", "Valen has no rope.; Orla has 1 rope.", ["", '{"item": "rope"}']),
        ("Orla", "Orla's affinity to the party is 2.", ["2"]),
    ]
    assert set(why(result)) == {"Orla is locked by the writer; the change is proposed"}


def test_what_is_secret_is_changed_by_the_dm_alone_and_told_to_nobody_else():
    table = Table()
    before = dict(table.files)
    for layer in ("narrator", "turn_dm"):
        assert why(table.play({"combat": {"damage": [{"who": "Varr", "amount": 3}]}}, layer=layer)) == [
            "nobody is named 'Varr'"
        ]
    assert table.files == before
    result = table.play({"combat": {"damage": [{"who": "Varr", "amount": 3}]}}, layer="dm", turn=43)
    assert table.line("characters/varr.md", "hit_points") == "hit_points: 17/20"
    assert (result.said, result.hidden) == ((), ("Varr has 17 of 20 hit points.",))
    shown = table.play({"relationships": [{"who": "Valen", "with": "Varr", "change": 1}]}, layer="dm", turn=44)
    assert [(one.why, one.secret) for one in shown.refused] == [("an open entry would show what is hidden", True)]


def test_the_name_of_something_secret_is_free_for_whoever_does_not_know_of_it():
    table = Table()
    table.put("arcs/the-plot.md", "---\nname: The Plot\nkind: quest\nvisibility: secret\nstatus: open\n---\n")
    table.put(
        "events/the-coup.md",
        "---\nname: The Coup\nkind: event\nvisibility: secret\nstatus: scheduled\ndate: 9 Frostmoon 1492\n---\n",
    )
    asked = {
        "quests": {"start": [{"name": "The Plot"}]},
        "calendar": {"schedule": [{"event": "The Coup", "date": "8 Frostmoon 1492"}]},
    }
    before = dict(table.files)
    result = table.play(asked)
    assert (result.refused, result.hidden) == ((), ())
    assert sorted(set(table.files) - set(before)) == ["arcs/the-plot-2.md", "events/the-coup-2.md"]
    assert all(table.files[path] == data for path, data in before.items())
    assert why(Table().resolve({"quests": {"start": [{"name": "New"}, {"name": "new"}]}, "calendar": {"schedule": [
        {"event": "Duel", "date": "8 Frostmoon 1492"}, {"event": "duel", "date": "9 Frostmoon 1492"}]}})) == [
        "there is a quest or an arc of that name already (arcs/new.md)", "duel is scheduled already"]  # fmt: skip


def test_an_open_entry_is_found_though_a_secret_one_has_its_name():
    table = Table()
    table.put("characters/other.md", "---\nname: Valen\nkind: character\nvisibility: secret\nhit_points: 1/1\n---\n")
    for layer, left in (("narrator", "7/12"), ("dm", "6/12")):
        table.play({"combat": {"damage": [{"who": "Valen", "amount": 1}]}}, layer=layer)
        assert table.line(VALEN, "hit_points") == f"hit_points: {left}"


@pytest.mark.parametrize(
    ("fragment", "path", "old", "hand"),
    [
        ({"resources": [{"name": "silver", "change": -1}]}, STATE, "- silver: 9", "- silver: 12"),
        ({"combat": {"damage": [{"who": "Valen", "amount": 1}]}}, VALEN, "hit_points: 8/12", "hit_points: 9/12"),
        ({"inventory": {"take": [{"who": "Valen", "item": "torch"}]}}, VALEN, "{item: torch, count: 3}", "{item: torch, count: 5}"),
        ({"inventory": {"give": [{"who": "Sera", "item": "hat"}]}}, SERA, "[oar, 2 pennies]", "[oar, 2 pennies, {item: hat, count: 4}]"),
        ({"calendar": {"weather": "rain"}}, STATE, "scene:", "weather: snow\nscene:"),
    ],
)  # fmt: skip
def test_what_the_writer_changed_meanwhile_stays_and_the_change_is_left_out(fragment, path, old, hand):
    table = Table()
    result = table.resolve(fragment, ticks=False)
    changed = table.text(path).replace(old, hand).encode()
    effect = next(e for e in result.effects if e.path == path)
    with pytest.raises(Unclear, match="changed meanwhile"):
        edit_of(effect)(changed)
