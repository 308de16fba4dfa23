"""Events survive a turn's record."""

from __future__ import annotations

import json

import pytest

from rolecall.models import events
from rolecall.models.events import Answered, Skipped, Stopped, TextDelta, ToolCalled, Used, stopped
from rolecall.models.messages import ToolCall
from rolecall.models.usage import Usage

EVERY = [
    Skipped("openai/x", "openai/x failed (500)"),
    Skipped("openai/x", "openai/x failed (500)", cooling=True),
    Answered("anthropic/y"),
    TextDelta("Regen, „leise“ …\n"),
    ToolCalled(ToolCall("1", "search", {"query": "Ворота", "limit": 3})),
    ToolCalled(ToolCall("2", "search", {}, "the arguments are not valid JSON")),
    Used(Usage(10, 20, 30, 40, 5, "m", "req", True)),
    Stopped("end"),
    Stopped("cut", "the wire broke"),
]


@pytest.mark.parametrize("event", EVERY, ids=lambda event: type(event).__name__)
def test_an_event_written_as_a_line_of_json_is_the_same_event_when_read(event: events.Event) -> None:
    line = json.dumps(events.encode(event))
    assert "\n" not in line
    assert events.decode(json.loads(line)) == event


@pytest.mark.parametrize("data", [{}, {"type": "applause"}, {"type": "text"}, {"type": "stopped", "reason": "bored"}])
def test_what_is_no_saved_event_is_refused(data: dict) -> None:
    with pytest.raises(ValueError):
        events.decode(data)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("end_turn", "end"),
        ("max_tokens", "max_tokens"),
        ("stop_sequence", "stop_sequence"),
        ("tool_use", "tool_use"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context_full"),
        ("stop", "end"),
        ("length", "max_tokens"),
        ("tool_calls", "tool_use"),
        ("content_filter", "refusal"),
    ],
)
def test_every_stop_reason_of_both_protocols_has_a_neutral_name(raw: str, reason: str) -> None:
    assert stopped(raw) == Stopped(reason, raw)  # type: ignore[arg-type]


def test_an_unknown_stop_reason_counts_as_the_end_and_is_kept() -> None:
    assert stopped("tired") == Stopped("end", "tired")
    assert stopped(None) == Stopped("end", "")


def test_a_server_that_says_stop_after_tool_calls_still_waits_for_tools() -> None:
    assert stopped("stop", calls=True) == Stopped("tool_use", "stop")
    assert stopped("length", calls=True) == Stopped("max_tokens", "length")
