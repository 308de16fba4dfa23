"""The embedded model on the real engine. What needs its weights runs where they were fetched before."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from importlib import util
from pathlib import Path

import pytest

from rolecall.errors import ModelSettings, NoModel
from rolecall.models import embedded, specs, weights
from rolecall.models.embedded import Embedded, Telling
from rolecall.models.events import Answered, TextDelta
from rolecall.models.messages import Message, Request, Text, ToolCall, ToolResult
from rolecall.models.specs import parse
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.models.asking import PATIENT, chain, request, say, stop_of, text_of, usage_of

needs_engine = pytest.mark.skipif(util.find_spec("xllamacpp") is None, reason="llama.cpp is not installed")
needs_weights = pytest.mark.skipif(
    util.find_spec("xllamacpp") is None or not (weights.folder() / weights.KNOWN["smollm2"].file).exists(),
    reason="the embedded model was not fetched",
)


@needs_weights
def test_it_tells_a_story_and_counts_its_tokens() -> None:
    with chain("local", environ={}) as narrator:
        events = say(narrator, request("I open the door of the tavern and look for Sera."))
    assert events[0] == Answered("local/smollm2")
    assert len(text_of(events).split()) > 5
    used = usage_of(events)
    assert not used.estimated and used.prompt > 20 and used.out > 5
    assert stop_of(events).reason in ("end", "max_tokens")


@needs_weights
def test_it_stops_at_the_limit_and_never_goes_past_its_own() -> None:
    with chain("local", environ={}) as narrator:
        short = say(narrator, request("Tell of the sea.", max_tokens=5))
        long = say(narrator, request("Tell of the sea at great length.", max_tokens=5000))
    assert stop_of(short).reason == "max_tokens" and usage_of(short).out <= 5
    assert usage_of(long).out <= embedded.LIMIT


@needs_weights
def test_a_prompt_it_has_no_room_for_is_one_line() -> None:
    with chain("local", environ={}) as narrator, pytest.raises(NoModel, match="has no room for this prompt"):
        say(narrator, request("Слово за слово. " * 4000))


@needs_weights
def test_closing_the_stream_stops_it_and_the_next_call_works() -> None:
    with chain("local", environ={}) as narrator:
        stream = narrator.stream(lambda profile: request("Tell of the sea at great length."))
        next(event for event in stream if isinstance(event, TextDelta))
        stream.close()  # type: ignore[attr-defined]
        assert text_of(say(narrator, request("Hello.", max_tokens=20)))


@needs_weights
def test_its_port_wants_a_key_and_shows_nothing_else() -> None:
    provider = Embedded(parse("local"))
    list(provider.stream(request(max_tokens=3), PATIENT))
    engine = embedded.engine(weights.folder() / weights.KNOWN["smollm2"].file, embedded.CONTEXT)
    address = engine._server.listening_address
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address)
    body = json.dumps({"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}).encode()
    for path, data in (
        ("/v1/chat/completions", body),
        ("/completion", b"{}"),
        ("/slots", None),
        ("/metrics", None),
        ("/props", None),
        ("/", None),
        ("/index.html", None),
    ):
        asked = urllib.request.Request(address + path, data, {"content-type": "application/json"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=10)
        with refused.value as error:
            assert error.code in (401, 403, 404, 501), path


RUN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from tests.models.asking import chain, request
from rolecall.models.events import TextDelta
with chain({spec!r}, environ={{}}) as narrator:
    try:
        for event in narrator.stream(lambda profile: request({action!r})):
            if isinstance(event, TextDelta):
                print(event.text, end="", flush=True)
    except KeyboardInterrupt:
        print("HEARD", flush=True)
    except Exception as error:
        print("Error:", error, flush=True)
"""


def run(spec: str, action: str) -> subprocess.Popen:
    """A process of its own that asks this model and prints what it says."""
    code = RUN.format(spec=spec, action=action)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@needs_weights
def test_a_process_that_told_a_story_ends_well_and_says_nothing_else() -> None:
    process = run("local", "Hello.")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "") and out.strip()


@needs_weights
@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process there")
def test_ctrl_c_stops_it_at_once_and_quietly() -> None:
    process = run("local", "Tell of the sea at great length.")
    assert process.stdout is not None
    assert process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "") and out.endswith("HEARD\n")


@needs_engine
@pytest.mark.parametrize("content", [b"GGUF", b"GGUF" + b"\xff" * 5000, b"not weights", b""])
def test_a_file_that_is_no_weights_is_one_line_and_no_noise(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    out, err = run(f"gguf:{path}", "Hello.").communicate(timeout=60)
    assert err == "" and out.startswith("Error: ") and out.count("\n") == 1 and str(path) in out


@needs_engine
@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "link to a pipe"])
def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "odd.gguf"
    if kind == "folder":
        path.mkdir()
    elif kind == "device":
        path = Path("/dev/zero")
    else:
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to(tmp_path / "pipe")
        path = path if kind.startswith("link") else tmp_path / "pipe"
    assert "not a file of weights" in Embedded(parse(f"gguf:{path}")).check()
    with chain(f"gguf:{path}", environ={}) as narrator, pytest.raises(ModelSettings, match="not a file of weights"):
        say(narrator)


@needs_engine
def test_weights_that_are_not_there_are_one_line(tmp_path: Path) -> None:
    spec = f"gguf:{tmp_path / 'none.gguf'}"
    with chain(spec, environ={}) as narrator, pytest.raises(ModelSettings, match="the weights cannot be read"):
        say(narrator)


@needs_engine
def test_broken_embedded_weights_name_the_file_and_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "folder", lambda: tmp_path)
    known = weights.KNOWN["smollm2"]
    (tmp_path / known.file).write_bytes(b"GGUF half of it")
    with chain("local", environ={}) as narrator, pytest.raises(ModelSettings) as caught:
        say(narrator)
    assert str(tmp_path / known.file) in str(caught.value) and "rolecall models pull" in str(caught.value)
    assert "rolecall models pull" in Embedded(parse("local")).check()
    (tmp_path / known.file).unlink()
    assert "not fetched yet (93 MB" in Embedded(parse("local")).check()


@needs_engine
def test_as_a_stand_in_it_is_not_fetched_in_the_middle_of_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loopback: Loopback
) -> None:
    monkeypatch.setattr(weights, "folder", lambda: tmp_path)
    loopback.answer(Reply(status=500, headers={"x-should-retry": "false"}))
    with chain("openai/a", "local", environ=loopback.environ()) as narrator, pytest.raises(NoModel) as caught:
        say(narrator)
    assert "local/smollm2: not fetched yet (93 MB" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_without_the_engine_the_extra_is_named_and_the_default_chain_does_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name, *more: None if name == "xllamacpp" else real(name, *more))
    with pytest.raises(ModelSettings, match=r"install `rolecall\[local\]`"):
        Embedded(parse("local"))
    assert specs.default_chain({"OLLAMA_HOST": "127.0.0.1:9"}) == []


@needs_engine
def test_it_says_what_it_can_do_and_is_asked_in_plain_words_that_take_turns() -> None:
    provider = Embedded(parse("local"))
    profile = provider.profile
    assert (profile.tools, profile.budget, profile.helpers, profile.free) == (False, 1500, False, True)
    history = (
        Message("user", (Text("One."),)),
        Message("user", (Text("Two."),)),
        Message("assistant", (ToolCall("1", "search", {}),)),
        Message("user", (ToolResult("1", "Three."),)),
    )
    body = provider._body(Request((Text("A."), Text(" "), Text("B.")), history))
    assert body["messages"] == [
        {"role": "system", "content": "A.\n\nB."},
        {"role": "user", "content": "One.\n\nTwo.\n\nThree."},
    ]


def chunk(text: str, finish: str | None = None) -> dict:
    """A chunk as the engine sends it."""
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


def test_it_has_said_enough_when_it_says_a_sentence_again() -> None:
    telling = Telling(small=True)
    for text in (
        "The tide comes in",
        " over the long wall.",
        " Marta waits.",
        " The tide comes in",
        " over the long wall.",
    ):
        assert not telling.enough
        assert telling.take(chunk(text)) == text
    assert telling.enough and telling.stopped().reason == "end"


def test_it_has_said_enough_at_the_end_of_a_late_sentence() -> None:
    telling = Telling(small=True)
    for number in range(embedded.ENOUGH):
        telling.take(chunk(f" word{number}"))
    assert not telling.enough
    telling.take(chunk(" end."))
    assert telling.enough


def test_ones_own_model_says_as_much_as_it_likes() -> None:
    telling = Telling(small=False)
    for _ in range(embedded.ENOUGH):
        telling.take(chunk(" The same sentence, over and over."))
    assert not telling.enough
    telling.take(chunk("", "length"))
    assert telling.stopped().reason == "max_tokens"
