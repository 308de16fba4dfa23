"""A minute of drawn inputs for all doors together, the same in every run; the nightly script draws others for ten minutes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from rolecall.campaign import effects
from rolecall.exchange import chat_json, formats
from rolecall.exchange.chat_reading import read_chat
from rolecall.tools import compendium, families, upkeep
from tests.fuzz import calls, exchange, notes
from tests.fuzz.matter import dumped
from tests.fuzz.targets import TARGETS

# About four seconds of one core each.
EXAMPLES = {
    "reading": 200, "edits": 300, "join": 150, "rename": 250, "effect": 250, "told again": 400, "lorebooks and cards": 450, "notes": 250,
    "chats": 400, "tools": 120, "directives": 160, "settings": 500, "records": 250, "commands": 40, "turns": 10,
}  # fmt: skip


@pytest.mark.parametrize("name", TARGETS)
def test_whatever_comes_in_is_taken_or_refused_by_our_own_errors(name: str) -> None:
    target, drawn = TARGETS[name]
    how = settings(
        max_examples=EXAMPLES[name],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    how(given(**drawn)(target))()


# -- what is drawn leaves nothing out


def test_every_tool_of_every_layer_is_drawn() -> None:
    every = {tool.name for layer in families.LAYERS for tool in families.callable_by(layer)}
    every |= {tool.name for tool in (*compendium.TOOLS, *upkeep.TOOLS, *upkeep.ALSO)}
    assert {tool.name for _, tool in calls.EVERY} == every


def test_every_reader_of_lorebooks_and_cards_has_a_seed_that_only_it_recognises_first() -> None:
    read = {next(reader for reader in formats.READERS if reader.recognises(seed)) for seed in exchange.SEEDS}
    assert read == set(formats.READERS)


def test_every_reader_of_chats_has_a_seed() -> None:
    read = {reader for talk in exchange.TALKS for _, _, reader in chat_json.conversations(talk)}
    assert {reader for _, reader in chat_json._SORTS} <= read and {chat_json._plain_list, chat_json._nested} <= read
    for talk in exchange.TALKS:
        assert read_chat(dumped(talk)).messages


def test_every_operation_of_an_effect_happens_in_what_is_drawn() -> None:
    assert set(notes.OPS) == effects.OPS
