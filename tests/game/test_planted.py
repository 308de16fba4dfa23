"""Facts that were told once are in the prompt when they are asked for again, with no model (the long version is a benchmark)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from rolecall.agents import recollection
from rolecall.campaign.folder import open_campaign
from rolecall.models import messages
from rolecall.search.searcher import Search
from tests.benchmarks.planted import LAST, LEAST, LOREBOOK, OURS, Simulation, Tally, run, text_of
from tests.benchmarks.planted_world import STYLES, World, begin

TURNS, FACTS, DISTANCES = 120, 24, (1, 50, 100)


@pytest.fixture(scope="module")
def world() -> World:
    return World(11, TURNS, FACTS, DISTANCES)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, world: World) -> tuple[Path, Path, Tally]:
    """A campaign told to its end (root and cache), and what came of the questions on the way."""
    place, tally = tmp_path_factory.mktemp("planted"), Tally()
    run(place / "campaign", place / "cache", world, tally)
    return place / "campaign", place / "cache", tally


def reopened(place: tuple[Path, Path], world: World) -> Simulation:
    """The told campaign as another process finds it."""
    simulation = Simulation.__new__(Simulation)
    simulation.world, simulation.told = world, TURNS
    simulation.campaign = open_campaign(place[0])
    simulation.search = Search(simulation.campaign, cache=place[1])
    simulation.search.refresh()
    return simulation


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_fact_told_once_is_in_the_prompt_when_it_is_asked_for_again(told, distance):
    tally = told[2]
    assert tally.asked[OURS, distance] >= 24
    assert tally.share(OURS, distance) >= LEAST


@pytest.mark.parametrize("style", STYLES)
def test_it_does_not_matter_how_the_player_remembers_it(told, style):
    assert told[2].share(OURS, style) >= 90  # a small sample


def test_a_window_of_turns_and_a_lorebook_do_not_remember_as_much(told):
    assert told[2].share(LAST, 50) == 0
    assert told[2].share(LOREBOOK, 50) < told[2].share(OURS, 50)


def test_no_prompt_is_above_the_budget(told):
    assert max(told[2].sizes) <= 8000


def test_the_same_files_and_the_same_action_give_the_same_bytes(told, world):
    one, two = reopened(told[:2], world), reopened(told[:2], world)
    for question in world.questions[:6]:
        first, _ = one.ask(question.action)
        one.ask("I ask about something else: the herring licence and the duelling pistols.")
        again, _ = one.ask(question.action)
        other, _ = two.ask(question.action)
        assert messages.encode(first.request) == messages.encode(again.request) == messages.encode(other.request)


def test_an_action_that_says_next_to_nothing_is_understood_from_the_scene(told, world, tmp_path):
    root = tmp_path / "scene"
    shutil.copytree(told[0], root)
    state = root / "campaign-state.md"
    fact = next(f for f in world.facts if f.turn < TURNS - 20 and f.kind == "hiding")
    rows = [f"scene: {fact.who.name}" if row.startswith("scene:") else row for row in state.read_text().split("\n")]
    state.write_text("\n".join(rows))
    prompt, _ = reopened((root, tmp_path / "cache"), world).ask(f"Where is that {fact.noun}?")
    assert fact.is_in(text_of(prompt))
    assert len([p for p in prompt.passages if p.reason == "told before"]) <= 12


def test_a_sentence_said_again_and_again_is_shown_twice_at_most(told, world):
    prompt, _ = reopened(told[:2], world).ask("I show Varr my drawing of the coast.")
    said = re.findall(r"T\d{4}: (I show \w+ my drawing of the coast\.)", text_of(prompt))
    assert max(map(said.count, said), default=0) <= recollection.ALIKE


def test_a_story_that_has_not_begun_has_no_past(tmp_path, world):
    root = tmp_path / "empty"
    begin(root)
    prompt, _ = reopened((root, tmp_path / "cache"), world).ask("I ask Varr about the ledger and the mule.")
    assert [p for p in prompt.passages if p.reason == "told before"] == []


def test_what_was_told_before_is_the_first_to_go_when_the_budget_is_small(told, world, tmp_path):
    root = tmp_path / "small"
    shutil.copytree(told[0], root)
    settings = root / "rolecall.yaml"
    settings.write_text(settings.read_text().replace("budget: 8000", "budget: 4000"))
    question = next(q for q in world.questions if q.style == "named")
    prompt, _ = reopened((root, tmp_path / "cache"), world).ask(question.action)
    assert prompt.tokens <= 4000
    lost = [p.owner for p in prompt.passages if not p.kept]
    assert lost and set(lost) <= {"enrichment", "anticipatory"}


@pytest.mark.parametrize(
    ("action", "entries"),
    [
        ("I look for Varr.", {"ysolde-varr"}),
        ("I look for varr.", set()),
        ("I ask the Finch family about it.", {"della-finch", "orrin-finch"}),
        ("I walk with Crake's apprentice.", {"tobin-crake"}),
        ("Pell is late.", {"jory-pell"}),
        ("Watch your step, I say.", set()),
    ],
)
def test_a_part_of_a_name_brings_the_entries_it_may_mean(told, world, action, entries):
    prompt, _ = reopened(told[:2], world).ask(action)
    named = {Path(p.path).stem for p in prompt.passages if p.reason == "named in the action"}
    assert named == entries


# -- reading the story by itself ---------------------------------------------------------------------------------------

CHAPTER = """\
---
name: The quay
kind: story
chapter: 1
---

## T0001

> I promise Sera the ledger.

She nods. The gull laughs.

## T0002

> I pay.

Marta counts twice. The copper kettle boils over. Nobody minds.
"""


def pieces(tmp_path: Path, chapter: str, action: str, **files: str) -> list[recollection.Piece]:
    root = tmp_path / "tale"
    for path, data in {"rolecall.yaml": "format: 1\nname: Tale\n", "story/001-quay.md": chapter, **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data.encode())
    search = Search(open_campaign(root), cache=tmp_path / "cache")
    search.refresh()
    return recollection.recall(search, recollection.wanted(action, []))


@pytest.mark.parametrize(
    ("above", "newline"),
    [("", "\n"), ("", "\r\n"), ("# Part one\n\nA word before.\n\n", "\n"), ("```\n## T0009\n```\n\n", "\r\n")],
)
def test_a_turn_found_by_its_words_names_the_line_of_its_heading(tmp_path, above, newline):
    chapter = CHAPTER.replace("## T0001", f"{above}## T0001").replace("\n", newline)
    (found,) = pieces(tmp_path, chapter, "I polish the copper kettle.")
    assert (found.turn, found.parts[found.at]) == (2, "The copper kettle boils over.")
    assert chapter.split(newline)[found.line - 1] == "## T0002"
    assert recollection.around(found, 50) == "T0002: … The copper kettle boils over. Nobody minds."
    assert (
        recollection.around(found, 400)
        == "T0002: I pay. Marta counts twice. The copper kettle boils over. Nobody minds."
    )


def test_an_endless_sentence_is_cut(tmp_path):
    (found,) = pieces(
        tmp_path, CHAPTER.replace("boils over.", "boils " + "over and " * 400), "I polish the copper kettle."
    )
    text = recollection.around(found, 200)
    assert "copper kettle" in text and text.endswith("…") and len(text) < 420


@pytest.mark.parametrize(
    "chapter",
    [
        CHAPTER.replace("## T0002", "# Secret\n\n## T0002"),
        CHAPTER.replace("## T0002", "Secret\n======\n\n## T0002"),
        CHAPTER.replace("kind: story", "kind: story\nvisibility: secret"),
        CHAPTER.replace("Marta counts", "### GM only\n\nMarta counts"),
        CHAPTER.replace("chapter: 1", "chapter: [1"),
    ],
    ids=[
        "under a secret heading",
        "under an underlined one",
        "a secret chapter",
        "a secret part of a turn",
        "a broken front matter",
    ],
)
def test_what_is_secret_or_withheld_is_not_remembered(tmp_path, chapter):
    assert pieces(tmp_path, chapter, "I polish the copper kettle.") == []


def test_words_are_found_in_any_script_and_case(tmp_path):
    chapter = CHAPTER.replace(
        "The gull laughs.", "ΤΟ ΜΑΧΑΙΡΙ ΤΗΣ ΕΛΕΝΗΣ. 古い提灯が燃えた。 İZMİR lies far off; the Straßenlaterne is out."
    )
    for number, action in enumerate(("Παίρνω το μαχαιρι της Ελενης.", "提灯を探す", "I look at the strassenlaterne.")):
        assert [piece.turn for piece in pieces(tmp_path / str(number), chapter, action)] == [1]
