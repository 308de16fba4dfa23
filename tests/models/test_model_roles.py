"""Which chain each role gets, from settings, options and what is there."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from rolecall.errors import ModelSettings
from rolecall.models.roles import ROLES, chains_for, describe, limits_for
from rolecall.models.specs import default_name
from tests.loopback.server import Loopback

NOWHERE = {"OLLAMA_HOST": "127.0.0.1:9"}


def specs_of(setting: dict, overrides: list[str] | None = None, environ: dict[str, str] | None = None) -> dict:
    """Per role the specs as text, or None."""
    chains = chains_for(setting, overrides or [], environ if environ is not None else NOWHERE)
    return {role: chain and [str(spec) for spec in chain.specs] for role, chain in chains.items()}


def test_default_serves_the_roles_that_are_not_named() -> None:
    setting = {"default": "openai/a", "narrator": ["anthropic/b", "openai/c"], "turn_dm": "off", "dm": False}
    assert specs_of(setting) == {
        "narrator": ["anthropic/b", "openai/c"],
        "turn_dm": None,
        "dm": None,
        "sidecar": ["openai/a"],
    }


def test_with_nothing_chosen_every_role_takes_what_is_there() -> None:
    embedded = ["local/smollm2"] if find_spec("xllamacpp") else []
    expected = [f"openai/{default_name('openai')}", *embedded]
    assert specs_of({}, environ={**NOWHERE, "OPENAI_API_KEY": "a"}) == dict.fromkeys(ROLES, expected)


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["openai/x"], {"narrator": ["openai/x"], "turn_dm": None, "dm": ["openai/x"], "sidecar": ["openai/x"]}),
        (["narrator=openai/x"], {"narrator": ["openai/x"]}),
        (["openai/x", "dm=off"], {"narrator": ["openai/x"], "dm": None}),
        (["turn_dm=openai/x"], {"turn_dm": ["openai/x"]}),
        (["turn-dm=openai/x"], {"turn_dm": ["openai/x"]}),
        (["default=openai/x"], {"narrator": ["anthropic/b"], "sidecar": ["openai/x"], "turn_dm": None}),
        (["scripted:a=b.yaml"], {"narrator": ["scripted:a=b.yaml"]}),
        (["off"], {"narrator": None, "sidecar": None}),
    ],
)
def test_options_win_over_settings(overrides: list[str], expected: dict) -> None:
    found = specs_of({"default": "openai/a", "narrator": "anthropic/b", "turn_dm": "off"}, overrides)
    assert {role: found[role] for role in expected} == expected


@pytest.mark.parametrize(
    ("setting", "overrides", "told"),
    [
        ({"narator": "off"}, [], "did you mean narrator?"),
        ({}, ["side_car=openai/x"], "did you mean sidecar?"),
        ({}, ["bard=openai/x"], "the roles are narrator, turn_dm, dm, sidecar"),
        ({"dm": 3}, [], "models: dm is no spec"),
        ({"dm": []}, [], "models: dm is no spec"),
        ({"dm": [1]}, [], "models: dm is no spec"),
        ({"dm": "antropic/x"}, [], "did you mean anthropic/NAME?"),
    ],
)
def test_what_cannot_be_meant_is_answered_with_what_could(setting: dict, overrides: list[str], told: str) -> None:
    with pytest.raises(ModelSettings) as caught:
        chains_for(setting, overrides, NOWHERE)
    assert told in str(caught.value)


def test_limits_come_from_the_settings_and_the_narrators_are_between_words() -> None:
    assert limits_for("narrator").first == limits_for("narrator").between == 60
    assert limits_for("narrator").total > 60
    dm = limits_for("dm", {"dm": 3})
    assert (dm.first, dm.between, dm.total) == (3, 3, 3)


def test_the_description_tells_what_would_answer_and_what_is_missing(loopback: Loopback, tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text("- text: a\n", "utf-8")
    setting = {
        "narrator": ["anthropic/a", "openai/b", "gemini/c", f"scripted:{tmp_path / 'script.yaml'}", "ollama/missing"],
        "turn_dm": "off",
    }
    environ = {**loopback.environ("anthropic"), "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    environ["OLLAMA_HOST"] = f"127.0.0.1:{loopback.port}"
    described = {description.role: description for description in describe(setting, [], environ)}
    assert list(described) == list(ROLES)
    assert described["turn_dm"].off and described["turn_dm"].links == ()
    assert described["narrator"].chosen and not described["dm"].chosen
    states = {link.spec.partition("/")[0]: link for link in described["narrator"].links}
    assert states["anthropic"].ready and not states["anthropic"].reason
    assert not states["openai"].ready and "cannot be reached at http://127.0.0.1:9/v1" in states["openai"].reason
    assert not states["gemini"].ready and "GEMINI_API_KEY" in states["gemini"].reason
    assert not states["ollama"].ready and "it has loopback-1" in states["ollama"].reason
    assert described["narrator"].links[3].ready


def test_the_description_can_be_had_without_asking_anyone(loopback: Loopback) -> None:
    (narrator, *_) = describe({"default": "anthropic/a"}, [], loopback.environ("anthropic"), ask=False)
    assert narrator.links[0].ready and loopback.requests == []


def test_a_model_inside_the_program_tells_and_leaves_the_other_roles_to_code() -> None:
    described = describe({"default": "local/smollm2", "dm": ["openai/a", "local/smollm2"]}, [], NOWHERE, ask=False)
    idle = {(role.role, link.spec): link.idle for role in described for link in role.links}
    assert not idle["narrator", "local/smollm2"] and not idle["dm", "openai/a"]
    assert idle["dm", "local/smollm2"] and idle["sidecar", "local/smollm2"] and idle["turn_dm", "local/smollm2"]
