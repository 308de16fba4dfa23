"""The page about the game's state says what is so: its examples are read, its verbs are the schema's."""

from __future__ import annotations

import json
import re

from rolecall.campaign.documents import parse
from rolecall.campaign.game import calendar, combat, company, conditions, resources, schema
from rolecall.campaign.game.directives import SCHEMA, read
from rolecall.campaign.game.world import Rules
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "game-state.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S)


def test_the_campaign_state_on_the_page_is_read_whole():
    state = parse(next(text for kind, text in BLOCKS if kind == "markdown").encode(), "campaign-state.md")
    assert [name for name, _ in company.members(state)] == ["Valen", "Sera"]
    assert [(r.name, r.number.value, r.number.bound) for r in resources.resources_of(state)] == [
        ("silver", 9, None), ("rations", 4, 10), ("arrows", 30, None),
    ]  # fmt: skip
    assert [(c.who, c.words, c.turn, c.round) for c in conditions.conditions_of(state)] == [
        ("Valen", "poisoned", 45, None), ("Sera", "hidden", None, None), ("Wolf", "stunned", None, 3), ("Party", "blessed by Sister Ansa", None, None),
    ]  # fmt: skip
    fight = combat.read(state)
    assert (fight.round, fight.turn) == (2, "Valen")
    assert [(one.name, one.initiative, one.hit_points and one.hit_points.words) for one in fight.order()] == [
        ("Valen", 17, None), ("Wolf", 12, "3 of 7"),
    ]  # fmt: skip


def test_the_calendar_and_the_dates_on_the_page_are_read():
    block = next(text for kind, text in BLOCKS if kind == "yaml")
    fields = parse(f"---\n{block}---\n".encode(), "x.md").fields
    known = calendar.of_fields(fields)
    said = [
        "3 Frostmoon 1492",
        "the third day of Frostmoon, 1492",
        "Starday, the 3rd of Frostmoon 1492 AR",
        "3 Frostmoon",
        "1492-01-03",
    ]
    for date in said:
        assert f"`{date}`" in PAGE
        assert (known.read(date).day, known.read(date).month) == (3, 1)
    assert known.weekday(known.read(said[0])) == "Starday" and known.season(known.read(said[0])) == "Winter"
    assert known.read("First night of the Long Ebb") is None


def test_every_verb_of_the_schema_is_on_the_page_and_its_example_is_sound():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.M))
    for part, verbs in schema.PARTS.items():
        named = re.findall(r"`(\w+)`", rows[part])
        if "" in verbs:
            assert set(named) == set(verbs[""]["properties"])
        else:
            assert {name for name in named if name in verbs} == set(verbs)
    data, refused = read(json.loads(next(text for kind, text in BLOCKS if kind == "json")), "narrator", 1)
    assert refused == () and set(data.data) <= set(SCHEMA["properties"])


def test_every_rule_the_game_knows_is_on_the_page():
    assert [key for key in Rules.__dataclass_fields__ if f"`{key}`" not in PAGE] == []
