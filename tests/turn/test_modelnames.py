"""Names in `models:` and `prices:` that are no model's: told in one line with its place, by whatever command meets them."""

from __future__ import annotations

import json

import pytest

BAD = [
    ("models: {default: antropic/claude-a}", "`models`: 'antropic/claude-a' is no model; did you mean anthropic/NAME?"),
    ("models:\n  turn_dm: off\n  dm: [openai/a, gpt-5]", "`models`: 'gpt-5' is no model"),
    ("models: {narrator: local/smolm2}", "`models`: 'local/smolm2' is no embedded model; there is local/smollm2"),
    ("models: {narrator: 'scripted:'}", "names no file; write scripted:PATH"),
    ("prices:\n  opnai/a: {fresh: 1, out: 2}", "`prices`: 'opnai/a' is no model; did you mean openai/NAME?"),
    ("prices:\n  openai/a: {fresh: 1, out: 2}\n  claude-a: {fresh: 1, out: 2}", "`prices`: 'claude-a' is no model"),
]


@pytest.fixture
def settings(campaign):
    def write(text: str) -> int:
        path = campaign / "rolecall.yaml"
        held = path.read_text()
        path.write_text(f"{held}\n{text}\n")
        return held.count("\n") + 1 + text.count("\n") + 1

    return write


@pytest.mark.parametrize(("text", "words"), BAD)
def test_a_name_that_is_no_models_is_told_with_its_line_and_nothing_is_begun(rolecall, campaign, settings, text, words):
    line, state = settings(text), (campaign / "campaign-state.md").read_bytes()
    for arguments in (("turn", "I wait."), ("models",)):
        ran = rolecall("-C", campaign, *arguments)
        assert ran.code == 1 and ran.err.startswith(f"Error: rolecall.yaml:{line}: ") and words in ran.err
        assert ran.err.count("\n") == 1 and "Traceback" not in ran.err
    found = json.loads(rolecall("-C", campaign, "check", "--json").out)
    assert [(one["path"], one["line"], one["rule"]) for one in found] == [("rolecall.yaml", line, "no-model")]
    assert (campaign / "campaign-state.md").read_bytes() == state


def test_every_form_of_a_model_may_stand_there(rolecall, campaign, settings):
    settings(
        "models: {narrator: [openai/a, openrouter/b, gemini, ollama/c, local/smollm2], turn_dm: off, dm: OFF, sidecar: 'gguf:m.gguf'}\n"
        "prices:\n  openai: {fresh: 1, out: 2}\n  'scripted:a.yaml': {fresh: 1, out: 2}"
    )
    assert rolecall("-C", campaign, "check").code == 0


OUTSIDE = [
    "models: {narrator: 'scripted:../answers.yaml'}",
    "models: {narrator: 'scripted: /etc/hosts'}",
    "models: {narrator: 'scripted:~/answers.yaml'}",
    "models: {default: [openai/a, 'scripted:link/answers.yaml']}",
    "models: {sidecar: 'scripted:answers-link.yaml'}",
    "models: {dm: 'record:../tale/../other/.rolecall/turns/T0001'}",
    "models: {dm: 'record:/tmp'}",
]


@pytest.mark.parametrize("text", OUTSIDE)
def test_settings_read_no_answers_from_outside_the_campaign(rolecall, campaign, settings, tmp_path, text):
    (tmp_path / "answers.yaml").write_text("- text: The words of a file outside.\n")
    (campaign / "link").symlink_to(tmp_path)
    (campaign / "answers-link.yaml").symlink_to(tmp_path / "answers.yaml")
    line = settings(text)
    for arguments in (("turn", "I wait."), ("models",), ("fold",)):
        ran = rolecall("-C", campaign, *arguments)
        if arguments[0] != "fold":
            assert ran.code == 1 and ran.err.count("\n") == 1
            assert ran.err.startswith(f"Error: rolecall.yaml:{line}: ") and "leads out of the campaign" in ran.err
        assert "words of a file" not in ran.out + ran.err
    found = json.loads(rolecall("-C", campaign, "check", "--json").out)
    assert [(one["path"], one["line"], one["rule"]) for one in found] == [("rolecall.yaml", line, "no-model")]


def test_inside_it_they_do_wherever_the_command_runs_and_the_user_may_name_any(
    rolecall, campaign, settings, tmp_path, monkeypatch
):
    (campaign / "dm/answers.yaml").write_text("- text: The bell rings.\n")
    settings("models: {narrator: 'scripted: dm/answers.yaml', turn_dm: off, dm: off, sidecar: off}")
    monkeypatch.chdir(tmp_path)
    told = json.loads(rolecall("-C", campaign, "models", "--json").out)
    assert [link["ready"] for role in told if role["role"] == "narrator" for link in role["links"]] == [True]
    assert rolecall("-C", campaign, "turn", "I wait.").out.strip() == "The bell rings."
    (tmp_path / "mine.yaml").write_text("- text: The bell is silent.\n")
    ran = rolecall("-C", campaign, "turn", "I wait.", "--model", "narrator=scripted:mine.yaml")
    assert ran.out.strip() == "The bell is silent."
