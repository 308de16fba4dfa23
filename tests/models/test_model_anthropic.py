"""The Messages API through the real SDK, against a loopback server that speaks it."""

from __future__ import annotations

import pytest

from rolecall.models.events import Answered, Skipped, TextDelta
from rolecall.models.messages import Message, Request, Text, ToolCall, ToolResult
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.models.asking import JOURNAL, SCHEMA, calls_of, chain, request, say, stop_of, text_of, usage_of

SPEC = "anthropic/claude-sonnet-5-5"


def test_text_comes_in_pieces_then_what_was_used_then_the_stop(loopback: Loopback) -> None:
    loopback.answer(Reply(text="Rain. The door is open.", chunk=5))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert events[0] == Answered(SPEC)
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["Rain.", " The ", "door ", "is op", "en."]
    assert stop_of(events).reason == "end"
    used = usage_of(events)
    assert (used.model, used.request_id, used.estimated) == ("claude-sonnet-5-5", "req_000001", False)
    assert loopback.bodies[0]["stream"] is True


def test_cached_tokens_are_told_apart(loopback: Loopback) -> None:
    counts = {"input_tokens": 40, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 60, "output_tokens": 7}
    loopback.answer(Reply(text="Rain.", usage=counts))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        used = usage_of(say(narrator))
    assert (used.fresh, used.cached, used.cache_write, used.out, used.prompt) == (40, 900, 60, 7, 1000)


def test_the_cache_is_marked_where_the_request_says_and_at_most_four_times(loopback: Loopback) -> None:
    system = tuple(Text(f"part {number}", cache=number != 2) for number in range(6))
    asked = Request(system, (Message("user", (Text("Go."),)),))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        say(narrator, asked)
    marked = [part["text"] for part in loopback.bodies[0]["system"] if "cache_control" in part]
    assert marked == ["part 1", "part 3", "part 4", "part 5"]


def test_a_tool_call_comes_whole(loopback: Loopback) -> None:
    line = {"line": "Marta lied about the ledger, „twice“."}
    loopback.answer(Reply(text="She lies.", tools=(("append_journal", line), ("append_journal", {}))))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        events = say(narrator, request(tools=(JOURNAL,)))
    assert [call.arguments for call in calls_of(events)] == [line, {}]
    assert len({call.id for call in calls_of(events)}) == 2
    assert stop_of(events).reason == "tool_use"
    assert loopback.bodies[0]["tools"][0]["input_schema"] == JOURNAL.schema


@pytest.mark.parametrize("broken", ['{"line": "Marta', "[1]", '"text"', "}{"])
def test_broken_arguments_are_told_to_the_model_and_end_nothing(loopback: Loopback, broken: str) -> None:
    loopback.answer(Reply(tools=(("append_journal", broken),)))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        (call,) = calls_of(say(narrator, request(tools=(JOURNAL,))))
    assert call.arguments == {}
    assert call.fault.startswith("the arguments are ")


def test_all_results_of_a_round_go_back_in_one_user_message_before_any_text(loopback: Loopback) -> None:
    history = (
        Message("user", (Text("Go."),)),
        Message("assistant", (Text("  "), ToolCall("a:1", "search", {"query": "x"}), ToolCall("b", "search", {}))),
        Message("user", (Text("And hurry."), ToolResult("a:1", "nothing", is_error=True), ToolResult("b", ""))),
    )
    with chain(SPEC, environ=loopback.environ()) as narrator:
        say(narrator, Request((), history))
    body = loopback.bodies[0]
    assert "system" not in body
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert [block["type"] for block in body["messages"][1]["content"]] == ["tool_use", "tool_use"]
    assert body["messages"][1]["content"][0]["id"] == "a_1"
    assert body["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a_1", "content": "nothing", "is_error": True},
        {"type": "tool_result", "tool_use_id": "b", "content": "(nothing)"},
        {"type": "text", "text": "And hurry."},
    ]


def test_a_conversation_that_ends_with_the_models_words_asks_it_to_go_on(loopback: Loopback) -> None:
    history = (Message("user", (Text("Go."),)), Message("assistant", (Text("The door"),)))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        say(narrator, Request((), history))
    assert loopback.bodies[0]["messages"][-1]["role"] == "user"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("end_turn", "end"),
        ("max_tokens", "max_tokens"),
        ("stop_sequence", "stop_sequence"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context_full"),
        ("something_new", "end"),
    ],
)
def test_every_way_to_stop_is_told(loopback: Loopback, raw: str, reason: str) -> None:
    loopback.answer(Reply(text="Rain.", stop=raw))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        stop = stop_of(say(narrator))
    assert (stop.reason, stop.raw) == (reason, raw)


def test_what_is_thought_is_neither_shown_nor_counted_as_speech(loopback: Loopback) -> None:
    loopback.answer([Reply(text="Rain.", thinking="The canary knows the traitor."), Reply(thinking="canary")])
    with chain(SPEC, "anthropic/other", environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert text_of(events) == "Rain."
    assert "canary" not in repr(events)


def test_models_that_think_are_told_to_do_it_little(loopback: Loopback) -> None:
    for name in ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-4-5-20251001", "house-model"):
        with chain(f"anthropic/{name}", environ=loopback.environ()) as narrator:
            say(narrator)
    sonnet, opus, haiku, other = loopback.bodies
    assert (sonnet["thinking"], sonnet["output_config"], sonnet["max_tokens"]) == (
        {"type": "between_tools"},
        {"effort": "low"},
        1500,
    )
    assert ("thinking" in opus, opus["output_config"], opus["max_tokens"]) == (False, {"effort": "low"}, 5500)
    for plain in (haiku, other):
        assert "thinking" not in plain and "output_config" not in plain and plain["max_tokens"] == 1500


def test_what_the_endpoint_does_not_know_is_left_out_from_then_on(loopback: Loopback) -> None:
    def picky(body: dict) -> Reply:
        if "thinking" in body:
            return Reply(status=400, kind="invalid_request_error", message="thinking: extra inputs are not permitted")
        if "effort" in body.get("output_config", {}):
            return Reply(status=400, kind="invalid_request_error", message="output_config: unknown field effort")
        return Reply(text="Rain.")

    loopback.answer(picky)
    with chain(SPEC, environ=loopback.environ()) as narrator:
        assert text_of(say(narrator)) == text_of(say(narrator)) == "Rain."
    assert len(loopback.bodies) == 4


def test_a_structured_answer_is_asked_for_by_its_schema(loopback: Loopback) -> None:
    loopback.answer(Reply(text='{"mood": "grim"}'))
    with chain(SPEC, environ=loopback.environ(), role="sidecar") as sidecar:
        answer = sidecar.typed(lambda profile: request(answer_schema=SCHEMA))
    assert answer.value == {"mood": "grim"}
    assert loopback.bodies[0]["output_config"]["format"] == {"type": "json_schema", "schema": SCHEMA}


def test_an_endpoint_without_structured_answers_is_told_the_shape_in_words(loopback: Loopback) -> None:
    def old(body: dict) -> Reply:
        if "format" in body.get("output_config", {}):
            message = "output_config.format: structured outputs are not supported"
            return Reply(status=400, kind="invalid_request_error", message=message)
        return Reply(text='Here you are:\n```json\n{"mood": "grim"}\n```')

    loopback.answer(old)
    with chain("anthropic/house-model", environ=loopback.environ(), role="sidecar") as sidecar:
        assert sidecar.typed(lambda profile: request(answer_schema=SCHEMA)).value == {"mood": "grim"}
    assert '"mood"' in loopback.bodies[1]["system"][-1]["text"]


@pytest.mark.parametrize("kind", ["overloaded_error", "api_error", "rate_limit_error"])
def test_an_error_told_inside_the_stream_sends_the_chain_on(loopback: Loopback, kind: str) -> None:
    loopback.answer([Reply(stream_error=kind), Reply(text="Rain.")])
    with chain("anthropic/a", "anthropic/b", environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert text_of(events) == "Rain."
    assert isinstance(events[0], Skipped) and "anthropic/a" in events[0].reason


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": "many", "output_tokens": [], "cache_read_input_tokens": {"a": 1}},
        {"input_tokens": float("inf"), "output_tokens": -3},
    ],
)
def test_a_usage_that_makes_no_sense_is_left_aside(loopback: Loopback, usage: dict) -> None:
    loopback.answer(Reply(text="Rain. " * 40, usage=usage))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert text_of(events) == "Rain. " * 40 and stop_of(events).reason == "end"
    assert usage_of(events).out <= 60 and usage_of(events).fresh < 1000
