"""The DM stream: it is shown what is hidden, has two rounds of tools, and ends in a directive; it is offered no lore."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.agents import dm_stream, pacing
from rolecall.agents.dm_stream import Directive
from rolecall.campaign import story
from rolecall.campaign.folder import Campaign
from rolecall.errors import ModelError
from rolecall.models.chain import Chain, Models
from rolecall.models.provider import Limits
from rolecall.tools import families
from rolecall.tools.toolbox import DM
from tests.agents.asking import CANARY, asked, campaign_in, desk, search_of
from tests.loopback import storyteller
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback

ACTION = "I ask Marta about the boy."
DIRECT = ("direct", {"narrator": "Marta drops a cup.", "immersion": {"resources": [{"name": "silver", "change": -1}]}})
LORE = (
    "record_",
    "update_entry",
    "append_history",
    "append_journal",
    "merge_entries",
    "split_entry",
    "forget",
    "revive",
)


@pytest.fixture
def tale(tmp_path: Path) -> Campaign:
    return campaign_in(tmp_path / "tale")


def plan(
    campaign: Campaign, server: Loopback, reply: object, protocol: str = "openai", seconds: float = 5
) -> Directive:
    server.answer(reply)
    search, state, told = search_of(campaign), campaign.document("campaign-state.md"), story.recent(campaign, 3)
    question = dm_stream.Question(campaign, search, state, told, 5, ACTION)
    chain = Chain([f"{protocol}/loopback-1"], Limits(9, 9, 9), Models(server.environ(protocol)), "dm")
    return dm_stream.plan(chain, desk(campaign, 5), question, seconds=seconds)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_it_directs_by_its_tool_in_either_protocol(tale, loopback, protocol):
    directive = plan(tale, loopback, Reply(tools=(DIRECT,)), protocol)
    assert directive.narrator == "Marta drops a cup."
    assert directive.fragments == ({"resources": [{"name": "silver", "change": -1}]},)
    assert directive.effects == () and directive.spec == f"{protocol}/loopback-1"


@pytest.mark.parametrize("text", [json.dumps(DIRECT[1]), f"Here it is:\n```json\n{json.dumps(DIRECT[1])}\n```"])
def test_the_same_object_as_plain_json_is_as_good(tale, loopback, text):
    assert plan(tale, loopback, Reply(text=text)).narrator == "Marta drops a cup."


def test_it_is_shown_every_kind_of_secret_the_figures_and_the_action(tale, loopback):
    plan(tale, loopback, Reply(tools=(DIRECT,)))
    said = asked(tale, "dm")
    for hidden in (
        "Who poisoned the well: xyzzycanary did.",
        "Marta. xyzzycanary",
        "## dm/plan.md",
        "The reeve is xyzzycanary",
    ):
        assert hidden in said
    assert "turns since a beat: 1" in said and "arc 'Who poisoned the well': moved 1 turns ago, 2 lines so far" in said
    assert "I ask Marta about the boy." in said and "Turn: T0005" in said
    assert f"secret: {CANARY}: x" not in said  # a broken file is withheld from everybody


def test_what_its_tools_plan_and_change_comes_with_the_directive(tale, loopback):
    calls = (
        ("plant_seed", {"text": "The rope is new."}),
        ("move_arc", {"arc": "Who poisoned the well", "text": "A goat died."}),
    )
    directive = plan(tale, loopback, [Reply(tools=calls), Reply(tools=(DIRECT,))])
    assert [(e.op, e.path) for e in directive.effects] == [("todo", "dm/seeds.md"), ("arc", "arcs/the-well.md")]
    assert not (tale.root / "dm/seeds.md").exists()  # nothing is written yet


def test_tools_called_in_the_same_breath_as_direct_count_too(tale, loopback):
    directive = plan(tale, loopback, Reply(tools=(("plant_seed", {"text": "The rope is new."}), DIRECT)))
    assert [e.path for e in directive.effects] == ["dm/seeds.md"] and directive.narrator


def test_after_two_rounds_of_tools_only_direct_is_offered_and_a_third_round_is_no_directive(tale, loopback):
    search = Reply(tools=(("search", {"query": "ledger"}),))
    with pytest.raises(ModelError, match="gave no directive"):
        plan(tale, loopback, lambda _: search)
    offered = [list(storyteller.tools_of(body)) for body in loopback.bodies]
    assert len(offered) == 3 and "search" in offered[1] and offered[2] == ["direct"]
    assert "your last round of tools" in asked(tale, "dm")


def test_it_sees_by_its_tools_what_is_secret_and_that_is_remembered(tale, loopback):
    look = Reply(tools=(("search", {"query": "xyzzycanary"}),))
    directive = plan(tale, loopback, [look, Reply(tools=(DIRECT,))])
    assert "characters/marta.md" in directive.seen


def test_a_wrong_call_is_told_what_is_wrong_and_may_be_made_again(tale, loopback):
    directive = plan(tale, loopback, [Reply(tools=(("direct", {"narrator": 7}),)), Reply(tools=(DIRECT,))])
    assert directive.narrator == "Marta drops a cup." and "`narrator` is to be a text" in asked(tale, "dm")


@pytest.mark.parametrize(
    "reply",
    [Reply(text="I think Marta should drop a cup."), Reply(text="{}"), Reply(status=500), Reply(), Reply(refusal=True),
     Reply(text='{"narrator": "Marta dr', cut_after=300)],
    ids=["prose", "empty", "500", "blank", "refusal", "cut"],
)  # fmt: skip
def test_anything_else_is_a_fault_of_the_model(tale, loopback, reply):
    with pytest.raises(ModelError):
        plan(tale, loopback, lambda _: reply)


def test_its_time_is_for_all_its_calls(tale, loopback):
    slow = Reply(tools=(("search", {"query": "ledger"}),), headers_delay=1.0)
    with pytest.raises(ModelError):
        plan(tale, loopback, lambda _: slow, seconds=1.8)
    assert len(loopback.bodies) == 2


def test_a_long_directive_is_cut_at_a_word(tale, loopback):
    directive = plan(tale, loopback, Reply(tools=(("direct", {"narrator": "The bell rings. " * 400}),)))
    assert len(directive.narrator) <= dm_stream.DIRECTIVE and directive.narrator.endswith("…")


def test_no_tool_of_the_dm_writes_lore():
    names = [tool.name for tool in families.callable_by(DM)]
    assert names and not [name for name in names if name.startswith(LORE)]


def test_the_bounds_of_the_immersion_schema_are_left_out_and_its_shape_is_not():
    schema = dm_stream.DIRECT_TOOL.schema["properties"]["immersion"]
    text = json.dumps(schema)
    assert {"combat", "resources", "calendar"} <= set(schema["properties"]) and "maxLength" not in text
    assert len(text) < 13_000  # a request carries it every turn


# -- pace


def figures(root: Path, turn: int, **more: str) -> pacing.Pace:
    tale = campaign_in(root, **more)
    return pacing.of(tale, search_of(tale), tale.document("campaign-state.md"), turn)


def test_the_figures_count_beats_seeds_intentions_promises_and_the_chapter(tmp_path):
    seeds = "- [ ] the rope is new (T0003, watered T0004)\n- [x] a coin (T0001, paid T0004)\n- [ ] a door\n"
    pace = figures(tmp_path / "tale", 30, **{"dm/seeds.md": seeds, "dm/intentions.md": "- [ ] Event: rain (T0020)\n"})
    assert pace.since_beat == 26 and pace.chapter == 4
    assert pace.seeds == (("a door", 30), ("the rope is new", 27)) and pace.intentions == (("Event: rain", 10),)
    assert [(a.name, a.since) for a in pace.arcs][:1] == [("Who poisoned the well", 26)]
    assert pace.conditions == {"still", "old-seed"}


@pytest.mark.parametrize(
    ("told", "files", "condition"),
    [
        (lambda: 12, {}, "still"),
        (lambda: 30, {"dm/seeds.md": "- [ ] the rope (T0003)\n"}, "old-seed"),
        (lambda: 5, {"story/001-quay.md": "---\nkind: story\n---\n" + "".join(f"## T{n:04d}\n\nx\n\n" for n in range(1, 37))}, "long-chapter"),
    ],
)  # fmt: skip
def test_each_condition_has_an_instruction_of_its_own(
    tmp_path, loopback, told: Callable[[], int], files: dict, condition: str
):
    tale = campaign_in(tmp_path / "tale", **files)
    search, state = search_of(tale), tale.document("campaign-state.md")
    question = dm_stream.Question(tale, search, state, (), told(), ACTION)
    pace = pacing.of(tale, search, state, told())
    request = dm_stream.request_for(question, pace)
    assert condition in pace.conditions
    words = {
        "still": "No story line has moved",
        "old-seed": "A seed has waited",
        "long-chapter": "The chapter has run long",
    }
    assert words[condition] in request.system[0].text
