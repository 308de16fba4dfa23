"""OpenAI's Responses API through the real SDK: for the models that want it, found by name or by the endpoint's refusal."""

from __future__ import annotations

import pytest

from rolecall.errors import NoModel
from rolecall.models.calls import ARGUMENTS
from rolecall.models.messages import Message, Request, Text, ToolCall, ToolResult
from rolecall.models.openai_sdk import OpenAI
from rolecall.models.provider import Limits
from rolecall.models.specs import parse
from tests.loopback import storyteller
from tests.loopback.replies import Reply
from tests.loopback.server import Loopback
from tests.models.asking import JOURNAL, SCHEMA, calls_of, chain, request, say, stop_of, text_of, usage_of

SPEC = "openai/gpt-6.2-astra"
WANTS = "Function tools are not supported for this model in /v1/chat/completions. Please use /v1/responses instead."


def wanting(then: Reply) -> object:
    """An endpoint whose model takes no Chat Completions."""
    return lambda body: then if "input" in body else Reply(status=400, message=WANTS)


def paths(loopback: Loopback) -> list[str]:
    return [seen.path for seen in loopback.requests]


def test_a_model_that_wants_responses_gets_it_once_and_for_all(loopback: Loopback) -> None:
    loopback.answer(wanting(Reply(text="Rain. The door is open.", chunk=5)))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        assert text_of(say(narrator)) == text_of(say(narrator)) == "Rain. The door is open."
    chat, wanted = "POST /v1/chat/completions", "POST /v1/responses"
    assert paths(loopback) == [chat, wanted, wanted]


@pytest.mark.parametrize(("name", "first"), [("gpt-6.2-astra", True), ("gpt-6-sol", True), ("gpt-5.5-pro", True),
                                             ("gpt-6.1-terra", False), ("gpt-5.4-mini", False)])  # fmt: skip
def test_at_openai_itself_the_largest_are_asked_so_from_the_start(name: str, first: bool) -> None:
    assert ("chat" in OpenAI(parse(f"openai/{name}"), {"OPENAI_API_KEY": "sk-x"}).dropped) is first


def test_history_tools_and_measure_are_told_in_its_words(loopback: Loopback) -> None:
    loopback.answer(wanting(Reply(text="Rain.")))
    history = (
        Message("user", (Text("Go."),)),
        Message("assistant", (Text("Wait."), ToolCall("a:1", "search", {"query": "Ворота"}))),
        Message("user", (Text("Hurry."), ToolResult("a:1", "no such gate", is_error=True))),
        Message("assistant", (Text("The door"),)),
    )
    asked = Request((Text("One."), Text("Two.", cache=True)), history, (JOURNAL,), 700, no_calls=True)
    with chain(SPEC, environ=loopback.environ()) as narrator:
        say(narrator, asked)
    body = loopback.bodies[-1]
    assert body["instructions"] == "One.\n\nTwo." and body["store"] is False and body["tool_choice"] == "none"
    assert body["input"] == [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "Wait."},
        {"type": "function_call", "call_id": "a_1", "name": "search", "arguments": '{"query": "Ворота"}'},
        {"type": "function_call_output", "call_id": "a_1", "output": "Error: no such gate"},
        {"role": "user", "content": "Hurry."},
        {"role": "assistant", "content": "The door"},
        {"role": "user", "content": "Go on exactly where you stopped."},
    ]
    assert body["tools"] == [
        {"type": "function", "name": "append_journal", "description": JOURNAL.description, "strict": False,
         "parameters": JOURNAL.schema}
    ]  # fmt: skip
    assert (body["reasoning"], body["max_output_tokens"]) == ({"effort": "low"}, 4700)


def test_text_and_tool_calls_come_then_what_was_used_then_the_stop(loopback: Loopback) -> None:
    counts = {"input_tokens": 1000, "output_tokens": 90, "input_tokens_details": {"cached_tokens": 900},
              "output_tokens_details": {"reasoning_tokens": 60}}  # fmt: skip
    lines = [{"line": "Marta lied about the ledger, „twice“."}, {"line": "Sera left."}]
    tools = tuple(("append_journal", line) for line in lines)
    loopback.answer(wanting(Reply(text="She lies.", thinking="canary", tools=tools, usage=counts)))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        events = say(narrator, request(tools=(JOURNAL,)))
    assert text_of(events) == "She lies." and [call.arguments for call in calls_of(events)] == lines
    used = usage_of(events)
    assert (used.fresh, used.cached, used.out, used.reasoning) == (100, 900, 90, 60)
    assert used.request_id == "req_000002" and not used.estimated
    assert stop_of(events).reason == "tool_use" and "canary" not in repr(events)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(text="Rain."), "end"),
        (Reply(text="Rain.", stop="max_output_tokens"), "max_tokens"),
        (Reply(text="Rain.", stop="content_filter"), "refusal"),
        (Reply(text="Rain.", refusal=True), "refusal"),
        (Reply(text="Rain.", finish=False), "cut"),
        (Reply(text="Rain on the door. " * 40, cut_after=1600), "cut"),
    ],
)
def test_every_way_to_stop_is_told(loopback: Loopback, reply: Reply, reason: str) -> None:
    loopback.answer(wanting(reply))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        assert stop_of(say(narrator)).reason == reason


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(refusal=True), "declined to answer"),
        (Reply(), "gave a blank answer"),
        (Reply(stream_error="server_error", message="It fell over."), "failed: It fell over"),
        (Reply(malformed=True), "cannot be read"),
        (Reply(status=429, headers={"retry-after": "3600"}), "too many requests"),
        (Reply(tools=(("append_journal", '{"line": "' + "x" * ARGUMENTS),), chunk=100_000), "without end"),
    ],
    ids=["refusal", "blank", "failed", "malformed", "429", "endless"],
)
def test_what_goes_wrong_before_a_word_is_told_in_one_line(loopback: Loopback, reply: Reply, said: str) -> None:
    loopback.answer(wanting(reply))
    with chain(SPEC, environ=loopback.environ()) as narrator, pytest.raises(NoModel, match=said):
        say(narrator, request(tools=(JOURNAL,)))


def test_broken_arguments_are_told_to_the_model_and_end_nothing(loopback: Loopback) -> None:
    loopback.answer(wanting(Reply(tools=(("append_journal", '{"line": "Marta'),))))
    with chain(SPEC, environ=loopback.environ()) as narrator:
        (call,) = calls_of(say(narrator, request(tools=(JOURNAL,))))
    assert call.arguments == {} and "not valid JSON" in call.fault


def test_a_structured_answer_is_held_to_its_shape(loopback: Loopback) -> None:
    loopback.answer(wanting(Reply(text='{"mood": "grim", "place": null}')))
    with chain(SPEC, environ=loopback.environ(), role="sidecar") as sidecar:
        assert sidecar.typed(lambda profile: request(answer_schema=SCHEMA)).value == {"mood": "grim"}
    form = loopback.bodies[-1]["text"]["format"]
    assert (form["type"], form["strict"], form["schema"]["required"]) == ("json_schema", True, ["mood", "place"])


def test_a_silent_stream_is_left_and_hung_up_on(loopback: Loopback) -> None:
    loopback.answer(wanting(Reply(text="Rain on the door.", chunk=4, chunk_delay=30)))
    with chain(SPEC, environ=loopback.environ(), limits=Limits(10, 0.3, 20)) as narrator:
        events = say(narrator)
    assert text_of(events) == "Rain" and "between two pieces" in stop_of(events).raw
    assert loopback.requests[-1].finished.wait(5) and loopback.requests[-1].state == "gone"


def test_a_story_is_told_in_it_with_its_look_ups(loopback: Loopback) -> None:
    def reply(body: dict) -> Reply:
        return storyteller.reply(body) if "input" in body else Reply(status=404, message=WANTS)

    loopback.answer(reply)
    history = (Message("user", (Text("Turn: T0007\n\nI wait."),)),)
    with chain(SPEC, environ=loopback.environ()) as narrator:
        events = say(narrator, Request((), history, (JOURNAL,)))
        assert text_of(events) == storyteller.prose(7) and calls_of(events)[0].name == "append_journal"
        more = (
            Message("assistant", tuple(calls_of(events))),
            Message("user", (ToolResult(calls_of(events)[0].id, "Ok."),)),
        )
        again = say(narrator, Request((), (*history, *more), (JOURNAL,)), may_be_blank=True)
    assert text_of(again) == "" and stop_of(again).reason == "end"
