"""Retrieval by model: what a sidecar names is resolved exactly, joined with the scene's own, and never costs the turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rolecall.agents import overview, retriever, tunnelvision
from rolecall.agents.retriever import ACTIVE, AFTER, ANTICIPATORY, BEFORE, BESIDE, ENRICHMENT, Pick
from rolecall.campaign import story
from rolecall.campaign.folder import Campaign
from rolecall.models.chain import Chain
from rolecall.models.tokens import estimate
from tests.agents.asking import CANARY, Script, answers, asked, campaign_in, chain_of, desk, search_of
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback

NOTHING: dict = {"active": [], "anticipatory": [], "enrichment": [], "wild": []}
ACTION = "I ask Marta about the boy."


def chosen(campaign: Campaign, chain: Chain | None, action: str = ACTION) -> tuple[list[Pick], str]:
    state, told = campaign.document("campaign-state.md"), story.recent(campaign, 3)
    return tunnelvision.retrieve(
        chain, desk(campaign, 5), campaign, search_of(campaign), state, told, action, seconds=5
    )


def free(campaign: Campaign, action: str = ACTION) -> list[Pick]:
    state, told = campaign.document("campaign-state.md"), story.recent(campaign, 3)
    return retriever.pick(search_of(campaign), state, action, tuple(told))


def added(campaign: Campaign, picks: list[Pick]) -> list[tuple[str, str, str]]:
    """(path, group, position) of what a model added."""
    before = free(campaign)
    return [(p.path, p.group, p.position) for p in picks if p not in before]


@pytest.fixture
def tale(tmp_path: Path) -> Campaign:
    return campaign_in(tmp_path / "tale")


# -- what a model chooses


def test_names_aliases_paths_and_folders_become_picks_in_their_groups_and_places(tale, script: Script):
    given = {
        "active": ["the smuggler", "locations/the-salt-cave.md"],
        "anticipatory": ["[[The Tally Ledger]]"],
        "enrichment": ["cultures/"],
        "wild": ["Old Pasco"],
    }
    picks, why = chosen(tale, chain_of(script(answers(given))))
    assert why == ""
    assert added(tale, picks) == [
        ("characters/sera.md", ACTIVE, BESIDE),
        ("locations/the-salt-cave.md", ACTIVE, BEFORE),
        ("items/ledger.md", ANTICIPATORY, AFTER),
        ("cultures/saltfolk.md", ENRICHMENT, AFTER),
        ("characters/pasco.md", tunnelvision.WILD, AFTER),
    ]
    assert {p.path: p.reason for p in picks}["cultures/saltfolk.md"] == "gives the scene depth, with all of cultures/"


def test_the_scene_is_never_lost_because_a_model_overlooked_it(tale, script: Script):
    picks, _ = chosen(tale, chain_of(script(answers({**NOTHING, "active": ["The Salt Cave"]}))))
    scene = [p for p in free(tale) if p.group == ACTIVE]
    assert "characters/marta.md" in [p.path for p in scene]
    assert picks[: len(scene)] == scene and picks[len(scene)].path == "locations/the-salt-cave.md"


def test_what_the_model_calls_active_is_active_even_where_code_thought_less_of_it(tale, script: Script):
    assert {p.path: p.group for p in free(tale)}["characters/sera.md"] != ACTIVE  # she is only tied to Marta
    picks, _ = chosen(tale, chain_of(script(answers({**NOTHING, "active": ["Sera"]}))))
    assert [p.group for p in picks if p.path == "characters/sera.md"] == [ACTIVE]


def test_an_answer_that_chooses_nothing_leaves_the_model_free_choice_and_is_no_failure(tale, script: Script):
    assert chosen(tale, chain_of(script(answers(NOTHING)))) == (free(tale), "")


def test_no_path_stands_twice_and_the_pinned_and_the_open_arcs_stand_elsewhere(tale, script: Script):
    names = [
        "Kit",
        "Old Pasco",
        "old pasco",
        "characters/pasco.md",
        "Who poisoned the well",
        "Where is the boy",
        "Marta",
    ]
    picks, why = chosen(tale, chain_of(script(answers({**NOTHING, "enrichment": names, "wild": ["Old Pasco"]}))))
    assert why == ""
    assert added(tale, picks) == [("characters/pasco.md", ENRICHMENT, AFTER), ("arcs/the-boy.md", ENRICHMENT, AFTER)]
    whole = [p.path for p in picks if not p.text]
    assert len(whole) == len(set(whole))


def test_searches_add_past_turns_that_are_not_shown_anyway(tmp_path, script: Script):
    tale = campaign_in(tmp_path / "tale", turns=12)
    chapter = tmp_path / "tale/story/001-quay.md"
    chapter.write_text(chapter.read_text().replace("for the 2th time", "and Sera hides the brass key under a barrel"))
    given = {**NOTHING, "queries": ["brass key barrel", "", "x" * 5000]}
    picks, why = chosen(tale, chain_of(script(answers(given))), "I sit down.")
    found = [p for p in picks if p.reason == "searched for 'brass key barrel'"]
    assert why == "" and [(p.path, p.group) for p in found][:1] == [("story/001-quay.md", ANTICIPATORY)]
    assert "brass key" in found[0].text and found[0].line > 1


# -- limits


def test_a_model_that_wants_everything_gets_twelve_entries_and_two_wild_cards(tmp_path, script: Script):
    crowd = {f"lore/l{n:02d}.md": f"---\nname: Lore {n:02d}\n---\nThe {n}th.\n" for n in range(60)}
    tale = campaign_in(tmp_path / "tale", **crowd)
    every = [f"Lore {n:02d}" for n in range(60)]
    given = {"active": every[:5], "anticipatory": every[5:30], "enrichment": every[30:], "wild": every[::-1]}
    picks, _ = chosen(tale, chain_of(script(answers(given))))
    groups = [group for _, group, _ in added(tale, picks)]
    assert groups == [ACTIVE] * 5 + [ANTICIPATORY] * 7 + [tunnelvision.WILD] * 2


def test_of_a_large_folder_those_near_the_scene_come_first(tmp_path, script: Script):
    crowd = {f"lore/l{n:02d}.md": f"---\nname: Lore {n:02d}\n---\nThe {n}th.\n" for n in range(60)}
    crowd["lore/zz.md"] = "---\nname: The Reckoning\n---\nOf [[Marta]].\n"
    tale = campaign_in(tmp_path / "tale", **crowd)
    picks, _ = chosen(tale, chain_of(script(answers({**NOTHING, "enrichment": ["lore/"]}))))
    inside = {p.path for p in picks if p.path.startswith("lore/")} - {p.path for p in free(tale)}
    assert inside - {"lore/zz.md"} == {"lore/l00.md", "lore/l01.md", "lore/l02.md"}
    assert "lore/zz.md" in {p.path for p in picks}


# -- nonsense and failure


@pytest.mark.parametrize(
    "given",
    [
        "The scene is set, my liege.",
        "",
        "[]",
        '{"active": "Sera", "anticipatory": [], "enrichment": [], "wild": []}',
        '{"active": [{"name": "Sera"}], "anticipatory": [], "enrichment": [], "wild": []}',
        '{"active": [3, null], "anticipatory": [], "enrichment": [], "wild": []}',
        '{"picks": ["Sera"]}',
        '{"active": ["Sera"',
    ],
)
def test_an_answer_that_is_no_choice_leaves_the_model_free_picks_and_says_so(tale, script: Script, given: str):
    picks, why = chosen(tale, chain_of(script(answers(given))))
    assert picks == free(tale) and why and "\n" not in why


def test_names_nobody_bears_are_dropped_and_told_only_when_nothing_is_left(tale, script: Script):
    strange = ["Zzyzx", "../../etc/passwd", "/etc/", "dm/", "dm/plan.md", "characters/nobody.md", "a\nb", "x" * 9000]
    picks, why = chosen(tale, chain_of(script(answers({**NOTHING, "active": strange}))))
    assert picks == free(tale)
    assert why.startswith("none of the 8 names the model gave is known ('Zzyzx', '../../etc/passwd', '/etc/')")
    picks, why = chosen(tale, chain_of(script(answers({**NOTHING, "active": [*strange, "The Salt Cave"]}))))
    assert why == "" and [path for path, _, _ in added(tale, picks)] == ["locations/the-salt-cave.md"]


def test_what_is_secret_forgotten_or_broken_is_not_picked_however_it_is_named(tale, script: Script):
    names = [
        "The Xyzzycanary",
        "locations/hidden.md",
        "Gone Gil",
        "lore/broken.md",
        "lore/",
        "The Xyzzycanary Plot",
        "dm/",
    ]
    picks, _ = chosen(
        tale, chain_of(script(answers({**NOTHING, "active": names, "queries": ["the reeve is", "dm plan"]})))
    )
    assert picks == free(tale)
    assert CANARY not in "".join(p.path + p.text for p in picks)


@pytest.mark.parametrize("error", ["refused", "429", "500", "blank"])
def test_a_model_that_fails_costs_its_choice_and_nothing_else(tale, script: Script, error: str):
    picks, why = chosen(tale, chain_of(script(f"- error: '{error}'")))
    assert picks == free(tale) and why


def test_a_model_that_takes_too_long_is_not_waited_for(tale, script: Script):
    state, told = tale.document("campaign-state.md"), story.recent(tale, 3)
    chain = chain_of(script("- error: timeout"), seconds=60)
    picks, why = tunnelvision.retrieve(chain, desk(tale, 5), tale, search_of(tale), state, told, ACTION, seconds=0.2)
    assert picks == free(tale) and "0.2 s" in why


def test_with_no_model_or_only_a_small_one_it_is_a_choice_and_not_a_failure(tale, tmp_path):
    weights = tmp_path / "small.gguf"
    weights.write_bytes(b"GGUF")
    assert chosen(tale, None) == (free(tale), "")
    assert chosen(tale, chain_of(f"gguf:{weights}")) == (free(tale), "")


def test_a_small_stand_in_is_not_asked_when_the_first_model_fails(tale, script: Script, tmp_path):
    weights = tmp_path / "small.gguf"
    weights.write_bytes(b"GGUF")
    picks, why = chosen(tale, chain_of(script("- error: '500'"), f"gguf:{weights}"))
    assert picks == free(tale) and "500" in why and "gguf" not in why


def test_the_next_model_of_the_chain_answers_for_one_that_talks_nonsense(tale, script: Script):
    nonsense, good = script(answers("Forsooth.")), script(answers({**NOTHING, "active": ["The Salt Cave"]}))
    picks, why = chosen(tale, chain_of(nonsense, good))
    assert why == "" and [path for path, _, _ in added(tale, picks)] == ["locations/the-salt-cave.md"]


def test_ctrl_c_is_the_players_and_is_not_swallowed(tale, script: Script, monkeypatch: pytest.MonkeyPatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Chain, "typed", stop)
    with pytest.raises(KeyboardInterrupt):
        chosen(tale, chain_of(script(answers(NOTHING))))


# -- what the model is shown


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_over_the_wire_it_sees_tree_turns_and_action_and_no_secret(tale, loopback: Loopback, protocol: str):
    loopback.answer(Reply(text=json.dumps({**NOTHING, "wild": ["The Tally Ledger"]})))
    picks, why = chosen(tale, chain_of(f"{protocol}/loopback-1", environ=loopback.environ(protocol)))
    assert why == "" and ("items/ledger.md", tunnelvision.WILD, AFTER) in added(tale, picks)
    (body,) = loopback.bodies
    sent = json.dumps(body, ensure_ascii=False)
    for wanted in (
        "characters/marta.md  Marta (innkeeper; The Broken Anchor)",
        "Turn: T0005",
        ACTION,
        "for the 4th time",
        "wild",
    ):
        assert wanted in sent
    assert CANARY not in sent.casefold() and "Gone Gil" not in sent


def test_the_call_is_in_the_turns_record_and_is_not_paid_for_twice(tale, script: Script):
    chosen(tale, chain_of(script(answers({**NOTHING, "wild": ["The Salt Cave"]}))))
    assert "librarian" not in asked(tale, "narrator") and "characters/marta.md" in asked(tale, "retriever")
    from rolecall.campaign import records

    records.set_aside(tale.root, ".rolecall/turns/T0005", "draft")
    again = desk(tale, 5)
    again.paid = records.paid_answers(tale.root, 5)
    state, told = tale.document("campaign-state.md"), story.recent(tale, 3)
    dry = chain_of(script("[]"))
    picks, why = tunnelvision.retrieve(dry, again, tale, search_of(tale), state, told, ACTION, seconds=5)
    assert why == "" and ("locations/the-salt-cave.md", tunnelvision.WILD, AFTER) in added(tale, picks)


# -- the tree


def test_the_tree_has_a_line_for_each_open_file_and_none_for_a_hidden_one(tale):
    tree = overview.tree(search_of(tale)).split("\n")
    assert "characters/ (4)" in tree and "characters/sera.md  Sera (smuggler)" in tree
    assert "characters/pasco.md  Old Pasco (net-mender)" in tree  # where he is, only a secret entry's name says
    assert "arcs/the-boy.md  Where is the boy (resolved)" in tree
    assert "story/ (T0001-T0004; found by `queries`)" in tree
    assert not any(
        word in "\n".join(tree).casefold() for word in (CANARY, "gone gil", "dm/", "broken.md", "campaign-state")
    )


@pytest.mark.parametrize("budget", [0, 20, 60, 200, 1500])
def test_the_tree_of_a_large_campaign_keeps_its_budget_and_shows_what_is_near(tmp_path, budget: int):
    crowd = {
        f"lore/d{n % 70}/l{n:03d}.md": f"---\nname: The long-named lore number {n:03d}\n---\nThe {n}th.\n"
        for n in range(400)
    }
    tale = campaign_in(tmp_path / "tale", **crowd)
    search = search_of(tale)
    near = overview.near(search, tale.document("campaign-state.md"), story.recent(tale, 3), ACTION)
    assert near[:2] == ["locations/skerrow-quay.md", "characters/marta.md"]
    tree = overview.tree(search, budget, near)
    assert estimate(tree) <= budget
    assert tree == overview.tree(search_of(tale), budget, near)
    if budget >= 200:
        assert "lore/ (400)" in tree and "characters/marta.md  Marta" in tree


def test_the_tree_follows_a_change_of_a_file(tale):
    search = search_of(tale)
    assert "Sera (smuggler)" in overview.tree(search)
    place = tale.root / "characters/sera.md"
    place.write_text(place.read_text().replace("role: smuggler", "role: captain"))
    search.refresh()
    assert "Sera (captain)" in overview.tree(search)
