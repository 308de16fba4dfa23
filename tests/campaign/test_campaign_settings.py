"""`rolecall.yaml`: defaults, values as typed, and errors that name the line."""

from __future__ import annotations

import pytest

from rolecall.campaign.settings import Settings, read_settings
from rolecall.errors import SettingsError


def test_one_line_is_enough_and_gives_the_published_numbers():
    settings = read_settings(b"format: 1\n")
    assert settings == Settings()
    assert settings.memory == {
        "fold_at": 3500, "journal_limit": 9000, "keep_lines": 6, "historian_every": 20, "historian_lookback": 30, "recent_turns": 5,
    }  # fmt: skip
    assert settings.timeouts == {"turn_dm": 5, "dm": 8, "sidecar": 8, "narrator": 60}
    assert settings.context == {"budget": 8000}
    assert (settings.language, settings.git, settings.continuity) == ("en", "off", "report")


def test_every_setting_is_read_whatever_the_line_ends():
    text = (
        "\ufeff---\nformat: 1\nname: 'The: Anchor' # mine\nlanguage: de\nmodels:\n  default: anthropic/a\n"
        "  narrator: [openai/b, local/c]\n  turn_dm: off\ntimeouts: {dm: 2.5}\nmemory:\n  fold_at: 400\n"
        "context: {budget: 2000}\ngit: auto\ncontinuity: repair\n"
    )
    for data in (text.encode(), text.replace("\n", "\r\n").encode()):
        settings = read_settings(data)
        assert settings.name == "The: Anchor"
        assert settings.models == {"default": "anthropic/a", "narrator": ["openai/b", "local/c"], "turn_dm": "off"}
        assert (settings.timeouts["dm"], settings.memory["fold_at"], settings.context["budget"]) == (2.5, 400, 2000)
        assert (settings.language, settings.git, settings.continuity, settings.unknown) == ("de", "auto", "repair", ())


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "the file is empty"),
        ("# only a comment\n", 1, "the file is empty"),
        ("name: x\n", 1, "`format:` is missing"),
        ("name: x\nformat: 2\n", 2, "`format: 2` is not a format"),
        ("format: 1\nname: a: b\n", 2, "a colon inside an unquoted value"),
        ("format: 1\nname: a\n\nname: b\n", 4, "first on line 2"),
        ("format: 1\nname: [a]\n", 2, "`name` is not one value"),
        ("format: 1\nmodels: x\n", 2, "`models` is not a mapping"),
        ("format: 1\nmodels:\n  narator: x\n", 3, "`narator` is not a role"),
        ("format: 1\nmodels:\n  narator: x\n", 3, "did you mean `narrator`?"),
        ("format: 1\nmodels:\n  narrator: x\n  turndm: x\n", 4, "did you mean `turn_dm`?"),
        ("format: 1\ngit: atuo\n", 2, "did you mean `auto`?"),
        ("format: 1\ncontinuity: repiar\n", 2, "did you mean `repair`?"),
        ("format: 1\nceiling: {sesion: 3}\n", 2, "did you mean `session`?"),
        ("format: 1\nprices:\n  openai/a: {fresh: 1, out: 2, cache: 3}\n", 3, "did you mean `cached`?"),
        ("format: 1\ncurrency: [a]\n", 2, "`currency` is not one value"),
        ("format: 1\nlanguage: {a: b}\n", 2, "`language` is not one value"),
        ("format: [1]\n", 1, "`format` is not one value"),
        ("format: 1\ntimeouts: soon\n", 2, "`timeouts` is not a mapping"),
        ("format: 1\ncontext: 8000\n", 2, "`context` is not a mapping"),
        ("format: 1\nceiling: 3\n", 2, "`ceiling` is not a mapping"),
        ("format: 1\nprices:\n  openai/a: 3\n", 3, "`prices.openai/a` is not a mapping"),
        ("format: 1\nmodels:\n  narrator: {a: b}\n", 3, "not a model, a list of models or `off`"),
        ("format: 1\nmodels:\n  narrator: [a, [b]]\n", 3, "not a model"),
        ("format: 1\nmemory:\n  fold_at: soon\n", 3, "not a number from 200 to 100000"),
        ("format: 1\nmemory:\n  fold_at: 12\n", 3, "not a number from 200"),
        ("format: 1\nmemory: {keep_lines: 2.5}\n", 2, "`memory.keep_lines` is not a number"),
        ("format: 1\nmemory: {fold_at: nan}\n", 2, "not a number"),
        ("format: 1\nmemory: {fold_at: [1]}\n", 2, "not a number"),
        ("format: 1\nmemory: [1]\n", 2, "`memory` is not a mapping"),
        ("format: 1\ntimeouts: {narrator: 0}\n", 2, "not a number from 0.1 to 3600"),
        ("format: 1\ngit: on\n", 2, "`git: on` is not a choice"),
        ("format: 1\ncontinuity: maybe\n", 2, "write `report` or `repair`"),
        ("format: 1\na:\n\tb: c\n", 3, "a tab"),
        ("format: 1\nmusic: loud\n", 2, "write `off` or `on`"),
        ("format: 1\nprices: 3\n", 2, "`prices` is not a mapping"),
        ("format: 1\nprices:\n  openai/a: {fresh: 1}\n", 3, "needs `fresh` and `out`"),
        ("format: 1\nprices:\n  openai/a: {fresh: 1, out: dear}\n", 3, "`prices.openai/a.out` is not an amount"),
        ("format: 1\nprices:\n  openai/a: {fresh: 1, out: 2, outt: 3}\n", 3, "`prices.openai/a.outt` is not known"),
        ("format: 1\nceiling: {turn: -1}\n", 2, "`ceiling.turn` is not an amount"),
        ("format: 1\nceiling: {turn: .nan}\n", 2, "`ceiling.turn` is not an amount"),
        ("format: 1\nceiling: {night: 3}\n", 2, "`ceiling.night` is not known"),
        ("- format: 1\n", 1, "not a list of `key: value`"),
        ("format: 1\nname: &a x\n", 2, "anchors"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_its_line(text, line, words):
    with pytest.raises(SettingsError) as refused:
        read_settings(text.encode())
    assert refused.value.line == line
    assert words in str(refused.value) and refused.value.remedy
    assert str(refused.value).startswith(f"rolecall.yaml:{line}: ")


KEY = "sk-ant-api03-0123456789abcdefghij"


@pytest.mark.parametrize("line", [f"api_key: {KEY}", f"models: {{narrator: {KEY}}}", f"# OPENAI_API_KEY={KEY}", f"git: {KEY}",
                                  f"{KEY}: x", f"name: [{KEY}", "key: AIzaSyA0123456789abcdefghijklmnopqrstuv"])  # fmt: skip
def test_a_key_is_refused_wherever_it_stands_and_not_repeated(line):
    with pytest.raises(SettingsError) as caught:
        read_settings(f"format: 1\n\n{line}\n".encode())
    assert caught.value.line == 3 and "key" in str(caught.value) and line[5:] not in str(caught.value)
    assert KEY not in str(caught.value) and "environment" in str(caught.value)


def test_settings_that_are_not_utf_8_are_refused():
    with pytest.raises(SettingsError, match="not UTF-8"):
        read_settings(b"format: 1\nname: caf\xe9\n")


def test_what_nobody_knows_is_kept_for_check_with_its_line():
    settings = read_settings(b"format: 1\nmemroy: {}\nmemory:\n  fold_att: 3\n  fold_at: 500\n")
    assert settings.unknown == (("memroy", 2), ("memory.fold_att", 4))
    assert settings.memory["fold_at"] == 500


def test_an_empty_group_or_model_means_its_defaults():
    settings = read_settings(b"format: 1\nmodels:\n  dm:\nmemory:\ncontext: {}\n")
    assert settings == Settings()


def test_prices_a_ceiling_and_music_are_read():
    settings = read_settings(
        b"format: 1\ncurrency: $\nprices:\n  anthropic/claude-a: {fresh: 3, cached: 0.3, out: 15.0}\n"
        b"  openai/b:\n    fresh: 1\n    out: 2\nceiling: {turn: 0.05, session_tokens: 500000}\nmusic: on\n"
    )
    assert settings.prices == {
        "anthropic/claude-a": {"fresh": 3, "cached": 0.3, "out": 15}, "openai/b": {"fresh": 1, "out": 2},
    }  # fmt: skip
    assert settings.ceiling == {"turn": 0.05, "session_tokens": 500_000}
    assert (settings.currency, settings.music, settings.unknown) == ("$", "on", ())


def test_what_is_shown_of_the_settings_brings_nothing_into_a_terminal():
    settings = read_settings(b'format: 1\nname: "The \\e[31mTale\\a"\ncurrency: "\\e]0;x\\a$\\u202e"\n')
    assert (settings.name, settings.currency) == ("The Tale", "$")
