"""Time limits hold whatever the server does, and hanging up is heard at once."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from rolecall.errors import ModelUnavailable, NoModel
from rolecall.models import calls
from rolecall.models.calls import ARGUMENTS, DEEPEST, MOST, Fragments
from rolecall.models.events import Answered, TextDelta
from rolecall.models.provider import Limits, Stop, timed
from tests.loopback import replies
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.models.asking import JOURNAL, calls_of, chain, request, say, stop_of, text_of

PROTOCOLS = ("anthropic", "openai")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("reply", [Reply(text="late", headers_delay=30), Reply(text="late", delay=30)])
def test_a_first_token_that_does_not_come_in_time_is_not_waited_for(
    loopback: Loopback, protocol: str, reply: Reply
) -> None:
    loopback.answer(reply)
    hasty = chain(protocol, environ=loopback.environ(), limits=Limits(0.3, 10, 20))
    with hasty as narrator, pytest.raises(NoModel, match=r"took more than 0\.3 s to begin"):
        say(narrator)
    assert loopback.requests[0].finished.wait(5)
    assert loopback.requests[0].state == "gone", "the server was hung up on"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pause_between_two_pieces_cuts_the_stream(loopback: Loopback, protocol: str) -> None:
    loopback.answer(Reply(text="Rain on the door.", chunk=4, chunk_delay=30))
    with chain(protocol, environ=loopback.environ(), limits=Limits(10, 0.3, 20)) as narrator:
        events = say(narrator)
    assert stop_of(events).reason == "cut" and "between two pieces" in stop_of(events).raw
    assert text_of(events) == "Rain"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_that_takes_too_long_in_all_is_cut(loopback: Loopback, protocol: str) -> None:
    loopback.answer(Reply(text="Rain on the door. " * 50, chunk=4, chunk_delay=0.05))
    with chain(protocol, environ=loopback.environ(), limits=Limits(10, 10, 1.0)) as narrator:
        events = say(narrator)
    assert stop_of(events).reason == "cut" and "1 s in all" in stop_of(events).raw
    assert text_of(events).startswith("Rain")


def test_the_whole_chain_can_be_bounded(loopback: Loopback) -> None:
    loopback.answer(Reply(text="late", headers_delay=30))
    specs = [f"openai/{name}" for name in "abcdef"]
    hasty = chain(*specs, environ=loopback.environ(), limits=Limits(0.6, 10, 20), role="dm")
    with hasty as dm, pytest.raises(NoModel, match="were over"):
        dm.answer(lambda profile: request(), within=1.5)
    assert len(loopback.bodies) <= 3


def test_a_connection_that_is_taken_and_never_answered_is_left(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        address = {"OPENAI_BASE_URL": f"http://127.0.0.1:{silent.getsockname()[1]}/v1"}
        hasty = chain("openai", environ=address, limits=Limits(0.3, 10, 20))
        with hasty as narrator, pytest.raises(NoModel, match=r"took more than 0\.3 s"):
            say(narrator)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_closing_the_stream_hangs_up(loopback: Loopback, protocol: str) -> None:
    loopback.answer(Reply(text="Rain on the door. " * 100, chunk=4, chunk_delay=0.05))
    with chain(protocol, environ=loopback.environ()) as narrator:
        stream: Iterator = narrator.stream(lambda profile: request())
        assert isinstance(next(stream), Answered) and isinstance(next(stream), TextDelta)
        stream.close()  # type: ignore[attr-defined]
        assert loopback.requests[0].finished.wait(5)
    assert loopback.requests[0].state == "gone"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_after_hanging_up_the_next_call_works(loopback: Loopback, protocol: str) -> None:
    loopback.answer([Reply(text="Rain on the door. " * 100, chunk=4, chunk_delay=0.05), Reply(text="Dry again.")])
    with chain(protocol, environ=loopback.environ()) as narrator:
        stream = narrator.stream(lambda profile: request())
        next(stream)
        stream.close()  # type: ignore[attr-defined]
        assert text_of(say(narrator)) == "Dry again."


def test_a_proxy_in_the_environment_is_not_asked_for_this_machine(
    loopback: Loopback, clean_environment: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        clean_environment.setenv(name, "http://127.0.0.1:9")
    for protocol in PROTOCOLS:
        with chain(protocol, environ=loopback.environ()) as narrator:
            assert text_of(say(narrator))


def test_a_finished_call_leaves_its_connection_for_the_next(loopback: Loopback) -> None:
    with chain("anthropic", environ=loopback.environ()) as narrator:
        for _ in range(5):
            say(narrator)
    assert (loopback.connections, len(loopback.bodies)) == (1, 5)


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process there")
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("reply", [Reply(text="a", headers_delay=60), Reply(text="bc", chunk=1, chunk_delay=60)])
def test_ctrl_c_is_heard_while_a_model_is_waited_for(loopback: Loopback, protocol: str, reply: Reply) -> None:
    loopback.answer(reply)
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from tests.models.asking import JOURNAL, calls_of, chain, say\n"
        f"with chain({protocol!r}, environ={loopback.environ()!r}) as narrator:\n"
        "    try: say(narrator)\n"
        "    except KeyboardInterrupt: print('heard')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not loopback.requests:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (out.strip(), err, process.returncode) == ("heard", "", 0)
    assert loopback.requests[0].finished.wait(5) and loopback.requests[0].state == "gone"


def test_stop_runs_its_hooks_once_and_late_ones_at_once() -> None:
    stop, ran = Stop(), []
    stop.hook(lambda: ran.append("early"))
    undone = ran.clear
    stop.hook(undone)
    stop.unhook(undone)
    assert not stop.said and not stop.wait(0)
    stop.say()
    stop.say()
    stop.hook(lambda: ran.append("late"))
    assert ran == ["early", "late"] and stop.said and stop.wait(0)


def endless(body: dict, text: str) -> Iterator[bytes]:
    piece = {"choices": [{"index": 0, "delta": {"content": text}}], "model": "m", "id": "a"}
    while True:
        yield replies.sse(piece)


def test_an_answer_without_end_is_stopped_at_its_measure(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "openai_stream", lambda reply, body, number, prompt: endless(body, "word "))
    with chain("openai", environ=loopback.environ()) as narrator:
        events = say(narrator, request(max_tokens=100))
    assert stop_of(events).reason == "max_tokens"
    assert text_of(events).startswith("word word ") and 16_000 <= len(text_of(events)) <= 16_010
    assert loopback.requests[0].finished.wait(5)
    assert loopback.requests[0].state == "gone", "the server was hung up on"


def test_blanks_without_end_are_no_answer(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "openai_stream", lambda reply, body, number, prompt: endless(body, "  "))
    with chain("openai", environ=loopback.environ()) as narrator, pytest.raises(NoModel, match="before the first word"):
        say(narrator)


def test_the_limit_in_all_holds_for_a_stream_that_never_pauses() -> None:
    def babble(stop: Stop) -> Iterator[TextDelta]:
        while True:
            yield TextDelta("word ")

    with pytest.raises(ModelUnavailable, match=r"took more than 0\.2 s in all"):
        for _ in timed("openai/m", babble, Limits(5, 5, 0.2)):
            pass


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_tool_call_without_end_is_no_answer(loopback: Loopback, protocol: str) -> None:
    loopback.answer(Reply(tools=(("append_journal", '{"line": "' + "x" * ARGUMENTS),), chunk=100_000))
    with chain(protocol, environ=loopback.environ()) as narrator, pytest.raises(NoModel, match="without end"):
        say(narrator, request(tools=(JOURNAL,)))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_of_hundreds_of_calls_no_more_are_handed_on_than_anybody_looks_at(loopback: Loopback, protocol: str) -> None:
    loopback.answer(Reply(text="Rain.", tools=(("append_journal", '{"line": "It rained."}'),) * 500, chunk=100_000))
    with chain(protocol, environ=loopback.environ()) as narrator:
        events = say(narrator, request(tools=(JOURNAL,)))
    assert text_of(events) == "Rain." and len(calls_of(events)) == MOST
    assert stop_of(events).reason in ("tool_use", "max_tokens")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("depth", [DEEPEST + 2, 300, 900, 100_000])
def test_arguments_that_nest_without_end_are_a_fault_of_the_call(loopback: Loopback, protocol: str, depth: int) -> None:
    loopback.answer(Reply(tools=(("append_journal", '{"line": ' + "[" * depth + "]" * depth + "}"),), chunk=1_000_000))
    with chain(protocol, environ=loopback.environ()) as narrator:
        (call,) = calls_of(say(narrator, request(tools=(JOURNAL,))))
    assert call.arguments == {} and call.fault == "the arguments are nested too deeply"


def test_a_line_without_end_is_no_answer(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    def long(reply: Reply, body: dict, number: int, prompt: int) -> Iterator[bytes]:
        yield b'data: {"id": "'
        while True:
            yield b"a" * 65_536

    monkeypatch.setattr(calls, "LARGEST", 1 << 20)
    monkeypatch.setattr(replies, "openai_stream", long)
    with chain("openai", environ=loopback.environ()) as narrator, pytest.raises(NoModel, match="an answer without end"):
        say(narrator)


def test_pieces_of_calls_that_hold_nothing_come_to_an_end_too() -> None:
    fragments = Fragments()
    spent = sum(fragments.add(SimpleNamespace(index=n, id=f"c{n}", function=None)) for n in range(10_000))
    assert spent >= 10_000 and len(list(fragments.calls())) <= MOST + 1
