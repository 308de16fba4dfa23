"""Small requests, and chains to put them to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rolecall.models.chain import Chain, Models
from rolecall.models.events import Event, Stopped, TextDelta, ToolCalled, Used
from rolecall.models.messages import Message, Request, Text, Tool, ToolCall
from rolecall.models.provider import Limits
from rolecall.models.usage import Usage

PATIENT = Limits(first=10, between=10, total=30)
JOURNAL = Tool(
    "append_journal",
    "Say in one line what happened.",
    {"type": "object", "properties": {"line": {"type": "string"}}, "required": ["line"]},
)
SCHEMA = {
    "type": "object",
    "properties": {"mood": {"type": "string"}, "place": {"type": "string"}},
    "required": ["mood"],
    "additionalProperties": False,
}


def request(action: str = "I open the door.", **more: Any) -> Request:
    """A request with one action."""
    system = (Text("You are the game master.", cache=True),)
    return Request(system, (Message("user", (Text(action),)),), **more)


@contextmanager
def chain(
    *specs: str,
    environ: Mapping[str, str],
    limits: Limits = PATIENT,
    role: str = "narrator",
    models: Models | None = None,
) -> Iterator[Chain]:
    """A chain whose connections are closed in the end."""
    shared = models or Models(environ)
    try:
        yield Chain(specs, limits, shared, role)
    finally:
        shared.close()


def say(chain: Chain, asked: Request | None = None, **more: Any) -> list[Event]:
    """All events of a stream."""
    asked = asked or request()
    return list(chain.stream(lambda profile: asked, **more))


def text_of(events: list[Event]) -> str:
    """The visible text."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def calls_of(events: list[Event]) -> list[ToolCall]:
    """The tool calls."""
    return [event.call for event in events if isinstance(event, ToolCalled)]


def stop_of(events: list[Event]) -> Stopped:
    """The stop, which is the last event and the only one."""
    stops = [event for event in events if isinstance(event, Stopped)]
    assert stops == events[-1:]
    return stops[0]


def usage_of(events: list[Event]) -> Usage:
    """What was used, told once."""
    used = [event.usage for event in events if isinstance(event, Used)]
    assert len(used) == 1
    return used[0]
