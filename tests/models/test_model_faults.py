"""Every fault is one line that names the model and what to do, and never holds a key."""

from __future__ import annotations

import socket
import traceback
from contextlib import suppress

import pytest

from rolecall.errors import ModelError, ModelSettings, ModelUnavailable, NoModel
from rolecall.models.chain import Models
from rolecall.models.faults import scrub
from rolecall.models.roles import describe
from rolecall.models.specs import parse
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.models.asking import PATIENT, chain, request, say, text_of

PROTOCOLS = ("anthropic", "openai")


def fault_of(loopback: Loopback, spec: str, reply: Reply | list[Reply]) -> ModelError:
    """The error of one model asked on its own, not yet turned into the chain's."""
    loopback.answer(reply)
    models = Models(loopback.environ())
    try:
        provider = models.provider(parse(spec), "narrator")
        with pytest.raises(ModelError) as caught:
            list(provider.stream(request(), PATIENT))
    finally:
        models.close()
    return caught.value


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (400, "check the model's name and what it can do"),
        (401, "check {key}"),
        (402, "check the account's credit"),
        (403, "check {key}"),
        (404, "check the model's name and {url}"),
        (413, "or choose another"),
        (422, "or choose another"),
    ],
)
def test_a_fault_of_the_settings_names_the_remedy(loopback: Loopback, protocol: str, status: int, remedy: str) -> None:
    fault = fault_of(loopback, f"{protocol}/some-model", Reply(status=status, message="the reason, plainly"))
    assert isinstance(fault, ModelSettings)
    told = str(fault)
    names = {"key": f"{protocol.upper()}_API_KEY", "url": f"{protocol.upper()}_BASE_URL"}
    assert remedy.format(**names) in told
    assert f"{protocol}/some-model" in told and "the reason, plainly" in told and "\n" not in told


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_what_is_busy_is_asked_once_more_and_then_unavailable(loopback: Loopback, protocol: str, status: int) -> None:
    busy = Reply(status=status, message="later", headers={"retry-after-ms": "1"})
    fault = fault_of(loopback, f"{protocol}/some-model", busy)
    assert isinstance(fault, ModelUnavailable)
    assert str(status) in str(fault) and "later" in str(fault)
    assert len(loopback.bodies) == 2


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_busy_for_a_moment_answers_the_second_time(loopback: Loopback, protocol: str) -> None:
    loopback.answer([Reply(status=429, headers={"retry-after": "0"}), Reply(text="Rain.")])
    with chain(protocol, environ=loopback.environ()) as narrator:
        assert text_of(say(narrator)) == "Rain."


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("wait", ["86400", "4000000", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_wish_to_be_left_alone_for_long_is_not_waited_for(loopback: Loopback, protocol: str, wait: str) -> None:
    fault = fault_of(loopback, f"{protocol}/some-model", Reply(status=429, headers={"retry-after": wait}))
    assert isinstance(fault, ModelUnavailable) and "asks to wait" in str(fault)
    assert len(loopback.bodies) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_server_that_forbids_a_second_try_gets_none(loopback: Loopback, protocol: str) -> None:
    fault_of(loopback, f"{protocol}/some-model", Reply(status=500, headers={"x-should-retry": "false"}))
    assert len(loopback.bodies) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "reply",
    [Reply(malformed=True), Reply(cut_after=30), Reply(cut_after=0), Reply(), Reply(text=" \n "), Reply(thinking="x")],
    ids=["malformed", "cut", "cut at once", "blank", "white space", "thoughts only"],
)
def test_what_cannot_be_read_is_unavailable(loopback: Loopback, protocol: str, reply: Reply) -> None:
    loopback.answer(reply)
    with chain(protocol, environ=loopback.environ()) as narrator, pytest.raises(NoModel) as caught:
        say(narrator)
    assert "\n" not in str(caught.value) and protocol in str(caught.value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_refusal_without_a_word_is_unavailable_and_with_words_is_told(loopback: Loopback, protocol: str) -> None:
    loopback.answer([Reply(refusal=True), Reply(text="I would rather not.", refusal=True)])
    with chain(f"{protocol}/a", f"{protocol}/b", environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert "declined to answer" in events[0].reason  # type: ignore[union-attr]
    assert text_of(events) == "I would rather not." and events[-1].reason == "refusal"  # type: ignore[union-attr]


@pytest.mark.parametrize("protocol", [*PROTOCOLS, "ollama"])
def test_a_refused_connection_says_where_and_which_variable(protocol: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    variable = "OLLAMA_HOST" if protocol == "ollama" else f"{protocol.upper()}_BASE_URL"
    with chain(f"{protocol}/x", environ={variable: address}) as narrator, pytest.raises(NoModel) as caught:
        say(narrator)
    assert address in str(caught.value) and variable in str(caught.value) and "refused" in str(caught.value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_address_that_is_none_is_a_fault_of_the_settings(protocol: str) -> None:
    variable = f"{protocol.upper()}_BASE_URL"
    with chain(protocol, environ={variable: "gopher//nowhere"}) as narrator, pytest.raises(ModelSettings) as caught:
        say(narrator)
    assert variable in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "variables"),
    [
        ("anthropic/x", "ANTHROPIC_API_KEY"),
        ("openai/x", "OPENAI_API_KEY"),
        ("openrouter/x", "OPENROUTER_API_KEY"),
        ("gemini/x", "GEMINI_API_KEY or GOOGLE_API_KEY"),
    ],
)
def test_a_missing_key_names_its_own_variable(spec: str, variables: str) -> None:
    with chain(spec, environ={}) as narrator, pytest.raises(ModelSettings) as caught:
        say(narrator)
    assert str(caught.value) == f"{spec} has no key; set {variables} in the environment"


@pytest.mark.parametrize("key", ["sk-“curly”", "sk-a b", "sk-\x07bell"])
def test_a_key_no_header_can_carry_is_told_without_showing_it(key: str) -> None:
    with chain("openai/x", environ={"OPENAI_API_KEY": key}) as narrator, pytest.raises(ModelSettings) as caught:
        say(narrator)
    assert "check OPENAI_API_KEY" in str(caught.value) and key not in str(caught.value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_key_the_server_echoes_is_in_no_error_no_trace_and_no_cause(
    loopback: Loopback, protocol: str, status: int
) -> None:
    key = loopback.environ()[f"{protocol.upper()}_API_KEY"]
    echo = Reply(status=status, message=f"bad key {key} (header Bearer {key})", headers={"x-should-retry": "false"})
    fault = fault_of(loopback, f"{protocol}/x", echo)
    assert fault.__cause__ is None and fault.__context__ is None
    everything = "".join(traceback.format_exception(fault)) + repr(fault) + repr(vars(fault))
    assert key not in everything and key[3:] not in everything


def test_no_key_is_in_the_repr_of_anything_nor_in_the_description(loopback: Loopback) -> None:
    environ = loopback.environ()
    keys = [value for name, value in environ.items() if name.endswith("_KEY")]
    setting = {"default": ["openai", "anthropic"]}
    with chain("openai", "anthropic", environ=environ) as narrator:
        seen = repr([narrator, narrator.specs, narrator.models.provider(narrator.specs[0], "")])
        seen += repr(describe(setting, [], environ))
    assert not [key for key in keys if key in seen]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "address",
    [
        "http://ann:hunterpass@127.0.0.1:9/v1?key=hunterquery",
        "http://ann:hunter@pass@127.0.0.1:9",
        "http://ann:hunterpass@[::1",
        "http://ann:hunterpass@127.0.0.1:99999",
        "ftp://ann:hunterpass@host",
        "//ann:hunterpass@host",
        "http://hunterpass@bad host",
    ],
)
def test_a_login_in_an_address_is_in_no_error(protocol: str, address: str) -> None:
    environ = {f"{protocol.upper()}_BASE_URL": address, f"{protocol.upper()}_API_KEY": "hunterkey"}
    with chain(protocol, environ=environ) as narrator, pytest.raises(ModelError) as caught:
        say(narrator)
    assert "hunter" not in str(caught.value)
    assert "hunter" not in repr(describe({"default": protocol}, [], environ))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_redirect_takes_no_key_to_another_server(loopback: Loopback, protocol: str) -> None:
    with Loopback() as other:
        loopback.answer(Reply(status=307, headers={"location": f"{other.url}/v1/messages"}))
        with chain(protocol, environ=loopback.environ(protocol)) as narrator, suppress(ModelError):
            say(narrator)
        assert other.requests
        assert "sk-loopback" not in repr([seen.headers for seen in other.requests])


def test_anything_shaped_like_a_key_is_taken_out() -> None:
    assert scrub("Incorrect API key sk-proj-abcdef123456 given\nsee") == "Incorrect API key ••• given see"
    assert scrub("Authorization: Bearer abcdefgh.ijk") == "Authorization: •••"
    assert scrub("pass swordfish now", ["swordfish"]) == "pass ••• now"
    assert len(scrub("long " * 200)) == 240


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_page_of_html_is_not_quoted(loopback: Loopback, protocol: str) -> None:
    fault = fault_of(loopback, f"{protocol}/x", Reply(status=404, message="<html><body>lost</body></html>"))
    assert "<" not in str(fault)
