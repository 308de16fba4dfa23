"""The TurnDM: what it chooses is resolved exactly, its intentions become lines of its file, and nothing secret is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rolecall.agents import retriever, turn_dm
from rolecall.agents.retriever import AFTER, BEFORE, BESIDE
from rolecall.agents.turn_dm import Choice
from rolecall.campaign import story
from rolecall.campaign.effects import edit_of
from rolecall.campaign.folder import Campaign
from rolecall.errors import ModelError
from rolecall.models.chain import Chain, Models
from rolecall.models.provider import Limits
from tests.agents.asking import CANARY, asked, campaign_in, desk, search_of
from tests.loopback import storyteller
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback

ACTION = "I ask Marta about the boy."
NOTHING: dict = {
    "entries": [],
    "prose": [],
    "guidance": {"goals": [], "introduce": [], "threads": []},
    "hints": {"tone": "", "beats": [], "stress": [], "avoid": []},
    "intentions": {"add": [], "withdraw": [], "fulfil": []},
}
INTENDED = "# Intentions\n\n- [ ] Encounter: two riders, at dusk (T0002)\n- [x] Event: the fog lifts (T0001, fulfilled T0003)\n"


@pytest.fixture
def tale(tmp_path: Path) -> Campaign:
    return campaign_in(tmp_path / "tale")


def choose(campaign: Campaign, server: Loopback, reply: object, protocol: str = "openai", seconds: float = 5) -> Choice:
    server.answer(reply if callable(reply) else Reply(text=json.dumps(reply)))
    search, state, told = search_of(campaign), campaign.document("campaign-state.md"), story.recent(campaign, 3)
    pool = retriever.pick(search, state, ACTION, told)
    question = turn_dm.Question(campaign, search, state, told, 5, ACTION, pool)
    chain = Chain([f"{protocol}/loopback-1"], Limits(9, 9, 9), Models(server.environ(protocol)), "turn_dm")
    return turn_dm.choose(chain, desk(campaign, 5), question, seconds=seconds)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_entries_modules_guidance_and_hints_come_back_resolved_in_either_protocol(tale, loopback, protocol):
    given = {
        **NOTHING,
        "entries": [
            {"name": "the smuggler", "place": "beside"},
            {"name": "characters/marta.md", "place": "before"},
            {"name": "[[The Tally Ledger]]", "place": "after"},
        ],
        "prose": [{"module": "Wonder", "place": "opening"}, {"module": "dialogue.md", "place": "middle"}],
        "guidance": {
            "goals": ["Marta  lets\nsomething slip"],
            "introduce": ["old pasco"],
            "threads": ["Who poisoned the well"],
        },
        "hints": {"tone": "wary", "beats": ["doubt", "relief"], "stress": ["the cold"], "avoid": ["the cellar"]},
    }
    choice = choose(tale, loopback, given, protocol)
    assert [(p.path, p.position, p.group) for p in choice.picks] == [
        ("characters/sera.md", BESIDE, "active"),
        ("characters/marta.md", BEFORE, "active"),
        ("items/ledger.md", AFTER, "active"),
    ]
    assert [(place, module.name) for place, module in choice.styles] == [("opening", "Wonder"), ("middle", "Dialogue")]
    assert choice.goals == ("Marta lets something slip",) and choice.introduce == ("Old Pasco",)
    assert choice.threads == ("Who poisoned the well",) and choice.tone == "wary"
    assert (choice.beats, choice.stress, choice.avoid) == (("doubt", "relief"), ("the cold",), ("the cellar",))


def test_unknown_secret_withheld_and_forgotten_names_are_dropped_and_noted(tale, loopback):
    names = ["The Xyzzycanary", "Gone Gil", "Broken", "dm/plan.md", "Nobody At All", "Marta"]
    given = {
        **NOTHING,
        "entries": [{"name": name, "place": "before"} for name in names],
        "guidance": {"goals": [], "introduce": names, "threads": ["The Xyzzycanary Plot", "Marta"]},
        "prose": [{"module": "Purple", "place": "middle"}],
    }
    choice = choose(tale, loopback, given)
    assert [p.path for p in choice.picks] == ["characters/marta.md"]
    assert choice.introduce == ("Marta",) and choice.threads == () and choice.styles == ()
    assert set(choice.unknown) == {*names[:5], "The Xyzzycanary Plot", "Purple"}


def test_the_pinned_and_open_arcs_stand_in_the_prompt_anyway_and_more_than_four_are_too_many(tale, loopback):
    names = ["Kit", "Who poisoned the well", "Marta", "Sera", "Old Pasco", "The Salt Cave", "Saltfolk"]
    choice = choose(tale, loopback, {**NOTHING, "entries": [{"name": n, "place": "before"} for n in names]})
    assert [p.path for p in choice.picks] == [
        "characters/marta.md", "characters/sera.md", "characters/pasco.md", "locations/the-salt-cave.md",
    ]  # fmt: skip


def test_an_answer_that_chooses_nothing_is_an_answer(tale, loopback):
    choice = choose(tale, loopback, NOTHING)
    assert (choice.picks, choice.styles, choice.effects, choice.unknown) == ((), (), (), ())


def test_names_of_which_none_is_known_are_nonsense(tale, loopback):
    given = {**NOTHING, "entries": [{"name": "Zorblax", "place": "before"}, {"name": "Quux", "place": "after"}]}
    with pytest.raises(ModelError, match="none of them is known"):
        choose(tale, loopback, given)


@pytest.mark.parametrize(
    "reply",
    [Reply(text="I would pick Marta."), Reply(text="{}"), Reply(text='{"entries": "all"}'), Reply(status=500), Reply()],
    ids=["prose", "empty", "wrong types", "500", "blank"],
)
def test_anything_else_is_a_fault_of_the_model(tale, loopback, reply):
    with pytest.raises(ModelError):
        choose(tale, loopback, lambda _: reply)


def test_its_time_is_for_the_whole_chain(tale, loopback):
    with pytest.raises(ModelError, match=r"0\.3 s"):
        choose(tale, loopback, lambda _: Reply(text="{}", headers_delay=3), seconds=0.3)


def test_it_is_shown_the_pool_the_modules_and_its_own_intentions_and_nothing_else_that_is_secret(tmp_path, loopback):
    tale = campaign_in(tmp_path / "tale", **{"dm/intentions.md": INTENDED, "dm/seeds.md": f"- [ ] {CANARY} (T0001)\n"})
    choose(tale, loopback, NOTHING)
    said = asked(tale, "turn_dm")
    assert CANARY not in said.replace("Xyzzycanary", "")
    assert "Marta (character): innkeeper; Keeps the inn." in said and "Wonder (opening)" in said
    assert "two riders, at dusk (T0002)" in said and "the fog lifts" not in said
    (body,) = loopback.bodies
    assert storyteller.schema_of(body)["properties"].keys() == turn_dm.SCHEMA["properties"].keys()


def test_intentions_are_added_marked_and_kept_within_their_number(tmp_path, loopback):
    tale = campaign_in(tmp_path / "tale", **{"dm/intentions.md": INTENDED})
    given = {"add": ["the bridge gives way", "Encounter: two riders, at dusk", "Encounter: a pedlar"], "withdraw": ["nonsense"],
             "fulfil": ["encounter: TWO riders, at dusk"]}  # fmt: skip
    choice = choose(tale, loopback, {**NOTHING, "intentions": given})
    data = (tmp_path / "tale/dm/intentions.md").read_bytes()
    for effect in (*choice.effects, *choice.effects):  # twice is as good as once
        data = edit_of(effect)(data)
    assert data.decode() == (
        "# Intentions\n\n- [x] Encounter: two riders, at dusk (T0002, fulfilled T0005)\n"
        "- [x] Event: the fog lifts (T0001, fulfilled T0003)\n"
        "- [ ] Event: the bridge gives way (T0005)\n- [ ] Encounter: a pedlar (T0005)\n"
    )


def test_the_first_intention_makes_its_file(tale, loopback):
    choice = choose(
        tale, loopback, {**NOTHING, "intentions": {"add": ["Event: rain"], "withdraw": [], "fulfil": ["x"]}}
    )
    (effect,) = choice.effects
    assert edit_of(effect)(None) == b"- [ ] Event: rain (T0005)\n"


def test_a_list_of_intentions_that_is_full_takes_no_more(tmp_path, loopback):
    lines = "".join(f"- [ ] Event: thing {n} (T0001)\n" for n in range(turn_dm.OPEN))
    tale = campaign_in(tmp_path / "tale", **{"dm/intentions.md": lines})
    given = {"add": ["Event: one more"], "withdraw": [], "fulfil": []}
    assert choose(tale, loopback, {**NOTHING, "intentions": given}).effects == ()
    assert "is full" in asked(tale, "turn_dm")
