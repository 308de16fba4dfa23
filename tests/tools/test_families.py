"""Families: what is offered follows from the situation alone, fits into a request, and everything can be reached."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecall.models import tokens
from rolecall.models.messages import ToolCall
from rolecall.tools import catalogue, compendium, families, situation
from rolecall.tools.families import FAMILIES, LAYERS, offered
from rolecall.tools.situation import Situation
from rolecall.tools.toolbox import DM, NARRATOR, brief
from tests.conftest import REPOSITORY
from tests.tools.table import STATE, play

situations = st.builds(Situation, **{f.name: st.booleans() for f in fields(Situation)})
layers = st.sampled_from(LAYERS)
opened = st.lists(st.sampled_from([family.name for family in FAMILIES]), max_size=4, unique=True)
EVERYTHING = Situation(**{f.name: True for f in fields(Situation)})


def price(tools) -> int:
    return sum(tokens.estimate_tool(tool.name, tool.description, brief(tool.schema)) for tool in tools)


@settings(max_examples=300, deadline=None)
@given(layers, situations, opened)
def test_at_most_fifteen_tools_in_one_order_whatever_the_situation(layer, found, families_opened):
    tools = offered(layer, found, families_opened)
    assert len(tools) <= families.ROOM[layer] <= 15
    names = [tool.name for tool in tools]
    assert len(set(names)) == len(names)
    order = [tool.name for tool in families.callable_by(layer)]
    assert names == sorted(names, key=order.index)
    assert tools == offered(layer, found, families_opened)
    assert {"search", "read", "open_tools"} <= set(names)
    assert layer != NARRATOR or "append_journal" in names


@settings(max_examples=300, deadline=None)
@given(layers, situations)
def test_a_tool_is_offered_unasked_only_where_its_condition_holds(layer, found):
    by_condition = {c.said: c for c in vars(families).values() if isinstance(c, families.Condition)}
    for tool in offered(layer, found):
        said = families.condition_of(layer, tool)
        assert said != families.OPENED and by_condition[said].holds(found), tool.name


@settings(max_examples=200, deadline=None)
@given(situations)
def test_the_narrators_tools_cost_at_most_1500_tokens(found):
    assert price(offered(NARRATOR, found)) <= 1500


@pytest.mark.parametrize("layer", LAYERS)
def test_every_tool_of_a_layer_can_be_reached_by_opening_its_family(layer):
    reached = {tool.name for tool in offered(layer, EVERYTHING)}
    for name in families.families_of(layer):
        tools = offered(layer, EVERYTHING, [name])
        family = next(one for one in FAMILIES if one.name == name)
        assert {tool.name for tool in family.tools} <= {tool.name for tool in tools}
        assert price(tools) <= 2000
        reached |= {tool.name for tool in tools}
    assert reached == {tool.name for tool in families.callable_by(layer)}


def test_the_families_opened_last_have_the_room():
    every = families.families_of(NARRATOR)
    tools = {tool.name for tool in offered(NARRATOR, EVERYTHING, every)}
    last = next(one for one in FAMILIES if one.name == every[-1])
    assert {tool.name for tool in last.tools} <= tools


def test_there_are_more_than_66_tools_each_with_a_name_a_line_a_schema_and_a_safety_class():
    tools = {tool.name: tool for family in FAMILIES for tool in family.tools}
    assert len(tools) >= 66
    for tool in tools.values():
        assert tool.name.isidentifier() and len(tool.name) <= 24
        assert tool.description.endswith(".") and len(tool.description) <= 130 and "\n" not in tool.description
        assert tool.safety in ("read", "mutation")
        assert tool.schema["additionalProperties"] is False
        for name, shape in tool.schema["properties"].items():
            assert "enum" in shape or "maxLength" in shape or "pattern" in shape or shape["type"] != "string", (
                tool.name,
                name,
            )
            assert shape["type"] != "integer" or ("minimum" in shape and "maximum" in shape)
            assert shape["type"] != "array" or "maxItems" in shape


def test_one_name_is_one_tool_and_nobody_but_the_scribe_records_lore():
    seen = {}
    for family in FAMILIES:
        for tool in family.tools:
            assert seen.setdefault(tool.name, tool) is tool
            assert family.layers
    assert not seen.keys() & {tool.name for tool in compendium.TOOLS}
    assert {"append_journal", "append_history"}.isdisjoint(tool.name for tool in families.callable_by(DM))


# -- the situation


def test_the_situation_is_read_from_the_files(tmp_path: Path):
    at = play(tmp_path / "tale", DM, fight=True)
    found = situation.read(at.table)
    assert found == EVERYTHING
    bare = dict.fromkeys(("dm/seeds.md", "dm/intentions.md", "dm/agendas.md", "dm/knowledge.md"), "")
    state = STATE.split("## Party")[0].replace("date:", "day:").replace("location:", "place:") + "\n## Journal\n"
    at = play(tmp_path / "bare", DM, **bare, **{"campaign-state.md": state, "arcs/ledger.md": "", "arcs/bell.md": ""})
    found = situation.read(at.table)
    assert found == replace(Situation(), arcs=True, told=True)


def test_what_is_offered_holds_still_while_the_turn_changes_things(tmp_path: Path):
    at = play(tmp_path / "tale", fight=True)
    before = at.box.offers()
    at.said("end_combat")
    at.said("keep_promise", text="bring the ledger")
    assert at.box.offers() == before
    assert [tool.name for tool in before if tool.name in ("damage", "start_combat")] == ["damage"]


def test_a_family_that_was_opened_is_offered_from_then_on(tmp_path: Path):
    at = play(tmp_path / "tale")
    assert "connect" not in [tool.name for tool in at.box.offers()]
    assert "- connect: Note a way between two places." in at.said("open_tools", family="map")
    names = [tool.name for tool in at.box.offers()]
    assert "connect" in names and len(names) <= 15
    assert at.table.opened == ["map"]
    at.said("open_tools", family="map")
    assert at.table.opened == ["map"]
    assert "family" in at.refused("open_tools", family="seeds")


def test_a_tool_is_run_though_it_is_not_on_offer_but_not_one_of_another_layer(tmp_path: Path):
    at = play(tmp_path / "tale")
    assert "set_weather" not in [tool.name for tool in at.box.offers()]
    at.said("set_weather", weather="sleet")
    assert "There is no tool 'plant_seed'" in at.refused("plant_seed", text="the bell is cracked")
    assert "seed" not in at.refused("list_seeds").split("Tools:")[1]


def test_reads_run_first_and_side_by_side_and_mutations_in_their_order(tmp_path: Path):
    at = play(tmp_path / "tale")
    calls = [
        ToolCall("1", "damage", {"who": "Kit", "amount": 3}),
        ToolCall("2", "list_resources", {}),
        ToolCall("3", "spend", {"name": "silver", "amount": 4}),
        ToolCall("4", "damage", {"who": "Kit", "amount": 4}),
        ToolCall("5", "list_conditions", {}),
    ]
    texts = [result.text for result in at.box.run(calls)]
    assert texts == [
        "Kit has 5 of 12 hit points.",
        "- silver: 9\n- rations: 4/10",  # a read of the same answer is made before what changes it
        "silver: 5.",
        "Kit has 1 of 12 hit points.",
        "- Kit: poisoned (until T0045)",
    ]


def test_the_page_of_the_tools_is_what_the_code_says():
    assert (REPOSITORY / "docs" / "tools.md").read_text(encoding="utf-8") == catalogue.page(), (
        "run `python -m rolecall.tools.catalogue > docs/tools.md`"
    )
