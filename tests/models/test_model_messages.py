"""Requests are plain data: written, read back, told apart by their digest."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rolecall.models import schemas
from rolecall.models.messages import Message, Request, Text, Tool, ToolCall, ToolResult, decode, digest, encode

texts = some.text(some.characters(exclude_categories=["Cs"]), max_size=40)
arguments = some.dictionaries(texts, some.one_of(texts, some.integers(), some.booleans(), some.none()), max_size=3)
parts = some.one_of(
    some.builds(Text, texts, some.booleans()),
    some.builds(ToolCall, texts, texts, arguments, texts),
    some.builds(ToolResult, texts, texts, some.booleans()),
)
requests = some.builds(
    Request,
    system=some.lists(some.builds(Text, texts, some.booleans()), max_size=3).map(tuple),
    messages=some.lists(
        some.builds(Message, some.sampled_from(["user", "assistant"]), some.lists(parts, max_size=3).map(tuple)),
        max_size=3,
    ).map(tuple),
    tools=some.lists(some.builds(Tool, texts, texts, arguments), max_size=2).map(tuple),
    max_tokens=some.integers(1, 9999),
    answer_schema=some.one_of(some.none(), arguments),
)


@given(requests)
def test_a_request_written_as_json_is_the_same_request_when_read(request: Request) -> None:
    written = json.dumps(encode(request))
    assert decode(json.loads(written)) == request


@given(requests)
def test_the_same_request_has_the_same_digest_in_any_order_of_keys(request: Request) -> None:
    shuffled = json.loads(json.dumps(encode(request), sort_keys=True))
    assert digest(decode(shuffled)) == digest(request)
    assert len(digest(request)) == 64


def test_any_change_changes_the_digest() -> None:
    one = Request((Text("a"),), (Message("user", (Text("b"),)),))
    others = [
        Request((Text("a", cache=True),), one.messages),
        Request((Text("a "),), one.messages),
        Request(one.system, (Message("assistant", (Text("b"),)),)),
        Request(one.system, one.messages, max_tokens=1501),
        Request(one.system, one.messages, answer_schema={"type": "object"}),
    ]
    assert len({digest(each) for each in [one, *others]}) == 6


def test_a_lone_surrogate_has_a_digest_too() -> None:
    assert digest(Request((Text("\ud800"),), ()))


@pytest.mark.parametrize("data", [{}, {"system": 1}, {"system": [], "messages": [{"role": "user", "parts": [{}]}]}])
def test_what_is_no_saved_request_is_refused(data: dict) -> None:
    with pytest.raises(ValueError):
        decode({"max_tokens": 1, **data})


def test_a_message_knows_its_text() -> None:
    message = Message("user", (ToolResult("1", "hidden"), Text("I wait"), Text(" and listen.")))
    assert message.text == "I wait and listen."


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here it is:\n```json\n{"a": {"b": 2}}\n```\nDone.', {"a": {"b": 2}}),
        ('{oops} {"a": 1} {"a": 2}', {"a": 1}),
        ("none at all", None),
        ('{"a":' * 5000, None),
    ],
)
def test_the_first_object_in_an_answer_is_found_however_it_is_wrapped(said, found):
    assert schemas.object_in(said) == found
