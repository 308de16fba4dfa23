"""OpenAI's Responses API: the dialect in which its largest models take tools. Requests and events, no SDK.

The shapes are those of the `openai` SDK's `types/responses`. Nothing is stored at the endpoint; what a model thought is
neither shown nor sent back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from . import schemas
from .calls import ARGUMENTS, ENDLESS, PIECE, bounded, read_arguments, safe_id
from .events import Event, TextDelta, ToolCalled, Used, stopped
from .faults import unavailable
from .messages import Message, Request, Text, ToolCall, ToolResult
from .specs import Spec
from .usage import counts_of, from_openai
from .wire import GO_ON, THINKING_ROOM, Talk


def body_of(request: Request, name: str, dropped: set[str]) -> dict[str, Any]:
    """The request for this model, without the parts the endpoint does not know (`dropped`, by the names of Chat Completions)."""
    items = [item for message in request.messages for item in _items(message)]
    if items and items[-1].get("role") == "assistant":
        items.append({"role": "user", "content": GO_ON})
    body: dict[str, Any] = {"model": name, "input": items, "store": False}
    body["max_output_tokens"] = request.max_tokens
    if "reasoning_effort" not in dropped:
        body["reasoning"] = {"effort": "low"}
        body["max_output_tokens"] += THINKING_ROOM
    system = [part.text for part in request.system if part.text.strip()]
    if request.answer_schema is not None and "response_format" in dropped:
        system.append(schemas.instruction(request.answer_schema))
    elif request.answer_schema is not None:
        schema = schemas.strict(request.answer_schema, all_required=True)
        body["text"] = {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}}
    if system:
        body["instructions"] = "\n\n".join(system)
    if request.tools:
        body["tools"] = [
            {"type": "function", "name": t.name, "description": t.description, "parameters": t.schema, "strict": False}
            for t in request.tools
        ]
        if request.no_calls and "tool_choice" not in dropped:
            body["tool_choice"] = "none"
    return body


def _items(message: Message) -> Iterator[dict[str, Any]]:
    """One message of ours as theirs: calls and results are items of their own, results before the text."""
    for part in message.parts:
        if isinstance(part, ToolResult):
            text = f"Error: {part.text}" if part.is_error else part.text
            yield {"type": "function_call_output", "call_id": safe_id(part.call_id), "output": text or "(nothing)"}
    text = "".join(part.text for part in message.parts if isinstance(part, Text) and part.text.strip())
    if text:
        yield {"role": message.role, "content": text}
    for part in message.parts:
        if isinstance(part, ToolCall):
            arguments = json.dumps(part.arguments, ensure_ascii=False)
            yield {"type": "function_call", "call_id": safe_id(part.id), "name": part.name, "arguments": arguments}


class Reader:
    """One stream of typed events read into ours. What is thought is passed over."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._model, self._id = spec.name, ""
        self._counts: dict[str, Any] = {}
        self._stop: str | None = None
        self._refused = self._called = False
        self._room = ARGUMENTS

    def read(self, stream: Any) -> Talk:
        """Text and tool calls as they come; returns usage and stop. Raises `ModelUnavailable` if it broke off."""
        bounded(self._spec, stream)
        self._id = stream.response.headers.get("x-request-id") or ""
        for event in stream:
            yield from self._event(event)
        if self._stop is None:
            raise unavailable(self._spec, "broke off before the end")
        used = from_openai(self._counts, model=self._model, request_id=self._id)
        last: list[Event] = [Used(used)] if used.prompt or used.out else []
        raw = "content_filter" if self._refused and self._stop == "completed" else self._stop
        return [*last, stopped(raw, calls=self._called)]

    def _event(self, event: Any) -> Iterator[Event | None]:
        match event.type:
            case "response.output_text.delta" if isinstance(event.delta, str) and event.delta:
                yield TextDelta(event.delta)
            case "response.refusal.delta":
                self._refused = True
            case "response.function_call_arguments.delta":
                self._room -= PIECE + len(event.delta)
                if self._room < 0:
                    raise unavailable(self._spec, ENDLESS)
                yield None
            case "response.output_item.done" if event.item.type == "function_call":
                arguments, fault = read_arguments(event.item.arguments)
                self._called = True
                yield ToolCalled(ToolCall(event.item.call_id, event.item.name, arguments, fault))
            case "response.completed" | "response.incomplete":
                self._end(event.response)
            case "response.failed":
                raise unavailable(self._spec, f"failed: {getattr(event.response.error, 'message', '') or 'no reason'}")
            case "error":
                raise unavailable(self._spec, f"failed: {event.message}")
            case _:  # what it thinks, and the comings and goings of parts: a sign of life
                yield None

    def _end(self, response: Any) -> None:
        self._model = response.model or self._model
        self._id = self._id or response.id or ""
        self._counts = counts_of(response.usage)
        details = getattr(response, "incomplete_details", None)
        self._stop = getattr(details, "reason", None) or response.status or "completed"
