"""A script's answers, told by the request and not by a counter."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rolecall.errors import ModelSettings, NoModel
from rolecall.models import scripted
from rolecall.models.events import Stopped, TextDelta
from rolecall.models.messages import Message, Request, Text, ToolCall, ToolResult
from rolecall.models.provider import Limits
from tests.models.asking import calls_of, chain, request, say, stop_of, text_of, usage_of

SCRIPT = """\
# The last two turns, and one for whoever asks.
answers:
  - turn: T0036
    role: narrator
    text: |
      The lantern gutters. Marta does not look up.
    tools:
      - name: append_journal
        arguments: {line: Marta hid the ledger}
    chunk: 10
  - turn: T0036
    role: narrator
    text: The tide turns.
  - turn: T0036
    role: sidecar
    text: "{}"
  - turn: T0037
    error: 429
  - turn: T0037
    text: Dawn.
  - when: the ledger
    text: It is gone.
  - text: Nothing stirs.
    stop: max_tokens
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    """The spec of the script above, in a file that no process has read before."""
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT, "utf-8")
    return f"scripted:{path}"


@pytest.fixture(autouse=True)
def another_process(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Each test begins as a process that has used nothing; `begin_again` does so in the middle of one."""
    monkeypatch.setattr(scripted, "_scripts", {})
    return monkeypatch


def begin_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a new process would know of scripts: nothing."""
    monkeypatch.setattr(scripted, "_scripts", {})


def turn(number: int, *later: Message) -> Request:
    """A request in that turn, with what was said since."""
    return Request((), (Message("user", (Text(f"Go on.\nTurn: T{number:04d}\n> I wait."),)), *later))


ROUND = (Message("assistant", (ToolCall("1", "append_journal", {}),)), Message("user", (ToolResult("1", "noted"),)))


def test_a_turns_rounds_follow_each_other_by_the_request_alone(
    script: str, another_process: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        with chain(script, environ={}) as narrator:
            second = say(narrator, turn(36, *ROUND))
            first = say(narrator, turn(36))
        assert text_of(first) == "The lantern gutters. Marta does not look up.\n"
        assert [call.arguments for call in calls_of(first)] == [{"line": "Marta hid the ledger"}]
        assert (stop_of(first).reason, stop_of(second).reason) == ("tool_use", "end")
        assert text_of(second) == "The tide turns."
        begin_again(another_process)


def test_text_comes_in_pieces_of_the_size_that_is_set(script: str) -> None:
    with chain(script, environ={}) as narrator:
        pieces = [event.text for event in say(narrator, turn(36)) if isinstance(event, TextDelta)]
    assert pieces[0] == "The lanter" and {len(piece) for piece in pieces[:-1]} == {10}


def test_each_role_hears_its_own_answers(script: str) -> None:
    with chain(script, environ={}, role="sidecar") as sidecar:
        assert text_of(say(sidecar, turn(36))) == "{}"


def test_an_error_happens_once_and_then_the_answer_comes(script: str) -> None:
    with chain(script, environ={}) as narrator:
        with pytest.raises(NoModel, match="429"):
            say(narrator, turn(37))
        assert text_of(say(narrator, turn(37))) == text_of(say(narrator, turn(37))) == "Dawn."


def test_answers_without_a_turn_are_given_once_in_order_or_by_what_they_wait_for(script: str) -> None:
    with chain(script, environ={}) as narrator:
        events = say(narrator, request("I listen."))
        assert text_of(events) == "Nothing stirs." and stop_of(events) == Stopped("max_tokens", "max_tokens")
        assert text_of(say(narrator, request("I look for the ledger."))) == "It is gone."
        with pytest.raises(NoModel, match="the script has no further answer"):
            say(narrator, request("I look for the ledger again."))
        with pytest.raises(NoModel, match="the script has no further answer"):
            say(narrator, turn(99))


def test_usage_is_estimated_and_says_so(script: str) -> None:
    with chain(script, environ={}) as narrator:
        used = usage_of(say(narrator, turn(36)))
    assert used.estimated and used.fresh > 0 and used.out >= 11


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("error: refused", "refused the connection"),
        ("error: 429", "429"),
        ("error: 500", "500"),
        ("error: blank", "blank answer"),
        ("error: timeout", "took more than 0.2 s to begin"),
        ("{text: Never seen, cut-after: 0}", "broke off"),
    ],
)
def test_every_scripted_failure_is_one(tmp_path: Path, answer: str, told: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(f"- {answer}\n", "utf-8")
    hasty = chain(f"scripted:{path}", environ={}, limits=Limits(0.2, 5, 5))
    with hasty as narrator, pytest.raises(NoModel) as caught:
        say(narrator)
    assert told in str(caught.value)


def test_a_scripted_cut_comes_after_so_many_characters(tmp_path: Path) -> None:
    path = tmp_path / "cut.yaml"
    path.write_text("- {text: The rest is lost, cut-after: 8, delay: 0.001}\n", "utf-8")
    with chain(f"scripted:{path}", environ={}) as narrator:
        events = say(narrator)
    assert text_of(events) == "The rest" and stop_of(events).reason == "cut"


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("- text: [\n", 2, "not YAML"),
        ("just words\n", 1, "a list of answers"),
        ("- text: a\n- txt: b\n", 2, "'txt' is unknown"),
        ("- text: a\n\n- turn: T0001\n", 3, "neither text nor tools nor error"),
        ("- error: tired\n", 1, "error 'tired' is unknown"),
        ("- {text: a, stop: bored}\n", 1, "stop 'bored' is unknown"),
        ("- {text: a, chunk: 0}\n", 1, "chunk is no number from 1 up"),
        ("- {text: a, delay: soon}\n", 1, "delay is no number from 0 up"),
        ("- tools: [{name: a, arguments: [1]}]\n", 1, "the arguments of a are no mapping"),
        ("- tools: [search]\n", 1, "a tool is"),
        ("- words\n", 1, "an answer is a mapping"),
        ("- {text: a, tools: 5}\n", 1, "tools is no list"),
        ("- text: a\n- {text: a, chunk: .inf}\n", 2, "chunk is no number from 1 up"),
        ("- {text: a, delay: .inf}\n", 1, "delay is no number from 0 up"),
        ("- {text: a, delay: .nan}\n", 1, "delay is no number from 0 up"),
        ("- tools: [{name: a, arguments: &a {b: *a}}]\n", 1, "cannot be said in JSON"),
        ("- text: a\n- text: " + "[" * 3000, 2, "nested too deeply"),
        ("- text: 2020-99-99\n", 1, "not a script"),
    ],
)
def test_a_script_that_cannot_be_read_names_its_line(tmp_path: Path, text: str, line: int, told: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ModelSettings) as caught:
        scripted.read(path)
    assert str(caught.value).startswith(f"{path}:{line}: ") and told in str(caught.value)


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.write_bytes(b"- text: \xff\n")])
def test_a_script_that_is_not_there_or_no_text_is_one_line(tmp_path: Path, make) -> None:
    path = tmp_path / "none.yaml"
    make(path)
    with pytest.raises(ModelSettings, match="the script cannot be read") as caught:
        scripted.read(path)
    assert "\n" not in str(caught.value)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(scripted.LARGEST + 1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")
@pytest.mark.parametrize(
    ("make", "told"), [(fifo, "not a regular file"), (endless, "not a regular file"), (huge, "larger than 8 MiB")]
)
def test_only_a_file_of_bearable_size_is_read_as_a_script(tmp_path: Path, make, told: str) -> None:
    path = tmp_path / "script.yaml"
    make(path)
    with pytest.raises(ModelSettings, match=told):
        scripted.read(path)


def test_an_empty_script_has_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text("", "utf-8")
    assert scripted.read(path) == ()
