"""A small part of the ingest benchmark, where its data is at hand: evidence by the commands a user types, and a cast."""

from __future__ import annotations

import json

import pytest

from rolecall.campaign.folder import open_campaign
from tests.benchmarks import ingest
from tests.benchmarks.locomo import questions
from tests.conftest import SHARED

pytestmark = pytest.mark.skipif(not SHARED.exists(), reason="the talks and episodes are not at hand")


def test_the_turn_with_the_answer_is_among_the_first_ten_that_search_prints(tmp_path):
    chat = SHARED / "chats" / "locomo_conv-26.jsonl"
    talk = json.loads((SHARED / "locomo" / "locomo5.json").read_text("utf-8"))[0]
    ingest.ingest(tmp_path / "tale", chat)
    numbers = ingest.turns_of(open_campaign(tmp_path / "tale"), chat)
    asked = questions(talk, numbers)[::8]
    found = [at10 for _, _, at10 in ingest.recall(tmp_path / "tale", asked)]
    assert len(numbers) == 419 and len(found) >= 20
    assert sum(found) >= 0.76 * len(found)


def test_of_an_episode_the_speakers_all_have_an_entry_and_so_have_those_who_are_spoken_of(tmp_path):
    path = SHARED / "crd3" / "cleaned" / "C1E009.json"
    ingest.ingest(tmp_path / "tale", path)
    given = json.loads((SHARED / "crd3" / "featured_characters.json").read_text("utf-8"))["C1E009"]["featured"]
    featured = [one["name"] for group in given.values() for one in group]
    count = ingest.measure(json.loads(path.read_text("utf-8")), featured, ingest.cast(open_campaign(tmp_path / "tale")))
    assert count["speaks and has one"] == count["speakers"] > 8
    assert count["has an entry"] >= 0.9 * count["featured"] > 5
    assert count["right"] >= 0.6 * count["entries"]
