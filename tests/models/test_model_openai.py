"""Chat Completions through the real SDK, against a loopback server that speaks it well and badly."""

from __future__ import annotations

import pytest

from rolecall.models.messages import Message, Request, Text, ToolCall, ToolResult
from rolecall.models.openai_sdk import OpenAI, Thoughts, _Reader
from rolecall.models.specs import parse
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.models.asking import JOURNAL, SCHEMA, calls_of, chain, request, say, stop_of, text_of, usage_of

SPEC = "openai/gpt-6.1-terra"


def test_text_comes_in_pieces_then_what_was_used_then_the_stop(loopback: Loopback) -> None:
    counts = {"prompt_tokens": 1000, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 900}}
    loopback.answer(Reply(text="Rain. The door is open.", chunk=5, usage=counts))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert text_of(events) == "Rain. The door is open."
    used = usage_of(events)
    assert (used.fresh, used.cached, used.out, used.request_id) == (100, 900, 7, "req_000001")
    assert stop_of(events).reason == "end"
    assert loopback.bodies[0]["stream_options"] == {"include_usage": True}


def test_a_server_that_never_tells_its_usage_gets_an_estimate(loopback: Loopback) -> None:
    loopback.answer(Reply(text="Rain. " * 40, usage=None))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        used = usage_of(say(narrator))
    assert used.estimated and used.out == 60 and used.fresh > 10


@pytest.mark.parametrize("reply", [Reply(text="Rain.", done=False), Reply(text="Rain.", finish=False)])
def test_a_server_that_forgets_to_say_it_is_done_is_believed(loopback: Loopback, reply: Reply) -> None:
    loopback.answer(reply)
    with chain(SPEC, environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert (text_of(events), stop_of(events).reason) == ("Rain.", "end")


@pytest.mark.parametrize("odd", ["", "no-index", "same-index", "object", "repeated-name"])
def test_tool_calls_come_whole_however_oddly_they_are_sent(loopback: Loopback, odd: str) -> None:
    lines = [{"line": "Marta lied about the ledger, „twice“."}, {"line": "Sera left."}]
    loopback.answer(Reply(text="She lies.", tools=tuple(("append_journal", line) for line in lines), odd=odd))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        events = say(narrator, request(tools=(JOURNAL,)))
    assert [(call.name, call.arguments, call.fault) for call in calls_of(events)] == [
        ("append_journal", line, "") for line in lines
    ]
    assert len({call.id for call in calls_of(events)}) == 2
    assert stop_of(events).reason == "tool_use"


def test_a_call_in_the_field_of_before_there_were_tools_is_a_call(loopback: Loopback) -> None:
    loopback.answer(Reply(text="She lies.", tools=(("append_journal", {"line": "Marta lied."}),), odd="function_call"))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        events = say(narrator, request(tools=(JOURNAL,)))
    (call,) = calls_of(events)
    assert (call.name, call.arguments, call.fault) == ("append_journal", {"line": "Marta lied."}, "")
    assert (stop_of(events).reason, stop_of(events).raw) == ("tool_use", "function_call")


def test_a_refusal_in_its_own_field_is_one_before_a_word_and_after(loopback: Loopback) -> None:
    loopback.answer([Reply(refusal=True, odd="refusal-field"), Reply(text="Rain.", refusal=True, odd="refusal-field")])
    with chain(SPEC, "openai/other", environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert "declined to answer" in events[0].reason and text_of(events) == "Rain."
    assert stop_of(events).reason == "refusal"


def test_broken_arguments_are_told_to_the_model_and_end_nothing(loopback: Loopback) -> None:
    loopback.answer(Reply(tools=(("append_journal", '{"line": "Marta'),)))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        (call,) = calls_of(say(narrator, request(tools=(JOURNAL,))))
    assert call.arguments == {} and "not valid JSON" in call.fault


def test_history_is_told_in_their_words(loopback: Loopback) -> None:
    history = (
        Message("user", (Text("Go."),)),
        Message(
            "assistant", (Text("Wait."), ToolCall("a:1", "search", {"query": "Ворота"}), ToolCall("b", "look", {}))
        ),
        Message("user", (ToolResult("a:1", "no such gate", is_error=True), ToolResult("b", ""), Text("Hurry."))),
        Message("assistant", (Text(" "),)),
    )
    with chain(SPEC, environ=loopback.environ()) as narrator:
        say(narrator, Request((Text("One."), Text("Two.", cache=True), Text(" ")), history))
    assert loopback.bodies[0]["messages"] == [
        {"role": "system", "content": "One.\n\nTwo."},
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": "Wait.",
            "tool_calls": [
                {"id": "a_1", "type": "function", "function": {"name": "search", "arguments": '{"query": "Ворота"}'}},
                {"id": "b", "type": "function", "function": {"name": "look", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a_1", "content": "Error: no such gate"},
        {"role": "tool", "tool_call_id": "b", "content": "(nothing)"},
        {"role": "user", "content": "Hurry."},
    ]


def test_only_openrouter_is_told_the_cache_marks(loopback: Loopback) -> None:
    with chain("openrouter/anthropic/claude", environ=loopback.environ("openrouter")) as narrator:
        say(narrator)
    (part,) = loopback.bodies[0]["messages"][0]["content"]
    assert part["cache_control"] == {"type": "ephemeral"}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [("stop", "end"), ("length", "max_tokens"), ("content_filter", "refusal"), ("eos", "end")],
)
def test_every_way_to_stop_is_told(loopback: Loopback, raw: str, reason: str) -> None:
    loopback.answer(Reply(text="Rain.", stop=raw))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        stop = stop_of(say(narrator))
    assert (stop.reason, stop.raw) == (reason, raw)


def test_what_is_thought_is_not_shown(loopback: Loopback) -> None:
    loopback.answer([Reply(text="Rain.", thinking="canary"), Reply(text="<think>canary\n</think>\n\nRain.", chunk=3)])
    with chain("ollama/qwen3", environ={"OLLAMA_HOST": f"127.0.0.1:{loopback.port}"}) as narrator:
        first, second = say(narrator), say(narrator)
    assert text_of(first) == text_of(second) == "Rain."
    assert "canary" not in repr([first, second])
    assert loopback.bodies[0]["max_tokens"] == 1500
    assert loopback.bodies[1]["max_tokens"] == 5500, "a model that thinks gets room for it"


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["<thi", "nk>a</th", "ink> b"], "b"),
        (["<b>bold</b>"], "<b>bold</b>"),
        ([" <", "3"], " <3"),
        (["<think>never closed"], ""),
        (["<"], "<"),
        (["a <think>kept</think>"], "a <think>kept</think>"),
    ],
)
def test_a_leading_thought_is_taken_out_of_a_text_in_pieces(pieces: list[str], shown: str) -> None:
    thoughts = Thoughts()
    assert "".join(thoughts.add(piece) for piece in pieces) + thoughts.rest() == shown


def test_a_structured_answer_is_asked_for_in_strict_form_and_its_nulls_taken_out(loopback: Loopback) -> None:
    loopback.answer(Reply(text='{"mood": "grim", "place": null}'))
    with chain(SPEC, environ=loopback.environ(), role="sidecar") as sidecar:
        answer = sidecar.typed(lambda profile: request(answer_schema=SCHEMA))
    assert answer.value == {"mood": "grim"}
    form = loopback.bodies[0]["response_format"]["json_schema"]
    assert form["strict"] is True
    assert form["schema"]["required"] == ["mood", "place"]
    assert form["schema"]["properties"]["place"] == {"type": ["string", "null"]}


def test_a_server_without_structured_answers_is_told_the_shape_in_words_once_and_for_all(loopback: Loopback) -> None:
    def simple(body: dict) -> Reply:
        if "response_format" in body:
            return Reply(status=400, message="'response_format.type' must be 'text'")
        return Reply(text='Sure!\n{"mood": "grim"}')

    loopback.answer(simple)
    with chain(SPEC, environ=loopback.environ(), role="sidecar") as sidecar:
        for _ in range(2):
            assert sidecar.typed(lambda profile: request(answer_schema=SCHEMA)).value == {"mood": "grim"}
    assert ["response_format" in body for body in loopback.bodies] == [True, False, False]
    assert '"mood"' in loopback.bodies[-1]["messages"][0]["content"]


def test_a_server_that_wants_another_name_for_the_limit_gets_it(loopback: Loopback) -> None:
    def newer(body: dict) -> Reply:
        if "max_tokens" in body:
            message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return Reply(status=400, message=message)
        return Reply(text="Rain.")

    loopback.answer(newer)
    with chain(SPEC, environ=loopback.environ()) as narrator:
        assert text_of(say(narrator)) == text_of(say(narrator)) == "Rain."
    assert [body.get("max_completion_tokens") for body in loopback.bodies] == [None, 1500, 1500]


def test_openais_own_reasoning_models_take_tools_without_reasoning_and_others_are_left_alone() -> None:
    def body(spec: str, **more: object) -> dict:
        return OpenAI(parse(spec), {"OPENAI_API_KEY": "sk-x", "GEMINI_API_KEY": "k"})._body(request(**more))

    terra = body("openai/gpt-6.1-terra", tools=(JOURNAL,))
    assert (terra["reasoning_effort"], terra["max_completion_tokens"]) == ("none", 1500)
    alone = body("openai/gpt-6.1-terra")
    assert (alone["reasoning_effort"], alone["max_completion_tokens"]) == ("low", 5500)
    old = body("openai/gpt-4.1", tools=(JOURNAL,))
    assert "reasoning_effort" not in old and old["max_completion_tokens"] == 1500
    gemini = body("gemini/gemini-flash-latest")
    assert (gemini["reasoning_effort"], gemini["max_tokens"]) == ("low", 5500)


def test_a_pointed_at_address_needs_no_key(loopback: Loopback) -> None:
    with chain("openai", environ={"OPENAI_BASE_URL": loopback.openai_url}) as narrator:
        assert len(text_of(say(narrator))) > 800
    assert loopback.requests[0].headers["authorization"] == "Bearer none"


def test_a_stream_that_ends_without_stop_reason_and_end_mark_is_cut(loopback: Loopback) -> None:
    loopback.answer(Reply(text="Rain. data: [DONE]", done=False, finish=False))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert text_of(events) == "Rain. data: [DONE]"
    assert stop_of(events).reason == "cut" and "broke off" in stop_of(events).raw


@pytest.mark.parametrize("tail", [b"data: [DONE]\n\n", b"data:[DONE]\r\n\r\n", b"data: [DONE]"])
def test_the_end_mark_is_known_however_it_arrives(tail: bytes) -> None:
    stream = b'data: {"choices": []}\n\n' + tail
    for cut in range(len(stream)):
        reader = _Reader(parse(SPEC))
        assert b"".join(reader._watched(iter([stream[:cut], stream[cut:]]))) == stream
        assert reader._done


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": "many", "completion_tokens": [], "prompt_tokens_details": "none"},
        {"prompt_tokens": float("inf"), "completion_tokens": float("nan")},
        {"prompt_tokens": -5, "completion_tokens": 10**30},
        {"prompt_tokens": None, "completion_tokens": {"a": 1}, "prompt_tokens_details": 4, "total_tokens": "x"},
    ],
)
def test_a_usage_that_makes_no_sense_is_left_aside(loopback: Loopback, usage: dict) -> None:
    loopback.answer(Reply(text="Rain. " * 40, usage=usage))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        events = say(narrator)
    assert usage_of(events).estimated and usage_of(events).out == 60
    assert stop_of(events).reason == "end"
