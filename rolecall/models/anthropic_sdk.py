"""Anthropic's models, through the `anthropic` SDK and its Messages API. The only module that imports it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from . import schemas, tokens
from .calls import ARGUMENTS, ENDLESS, PIECE, bounded, read_arguments, safe_id
from .events import Event, TextDelta, ToolCalled, Used, stopped
from .faults import unavailable
from .messages import Message, Request, Text, ToolCall, ToolResult
from .remote import Remote
from .specs import Spec
from .usage import counts_of, from_anthropic
from .wire import GO_ON, THINKING_ROOM, Talk

# The Messages API takes no more cache marks than this in a request; the last ones cover the most.
MARKS = 4


class Anthropic(Remote):
    """The provider for `anthropic/NAME`. Models that think are told to do so as little as they can."""

    unknown: ClassVar[Mapping[str, str]] = {
        "thinking": "thinking",
        "format": r"output_config\.format|output_format|structured|json_schema",
        "effort": "effort|output_config",
        "tool_choice": "tool_choice",
    }

    def prepare(self) -> None:
        """Import the SDK, which takes about a second, before the clock runs."""
        import anthropic  # noqa: F401

    def client(self, http: Any) -> Any:
        """The SDK's client."""
        import anthropic

        return anthropic.Anthropic(api_key=self.key, base_url=self.url, http_client=http, max_retries=0)

    def ask(self, sdk: Any, request: Request, timeout: Any) -> Talk:
        """One call of the Messages API."""
        with sdk.messages.create(**self._body(request), stream=True, timeout=timeout) as stream:
            return (yield from _Reader(self.spec).read(stream))

    def _body(self, request: Request) -> dict[str, Any]:
        system = [_text(part) for part in request.system if part.text.strip()]
        body: dict[str, Any] = {"model": self.spec.name, "max_tokens": request.max_tokens}
        config: dict[str, Any] = {}
        if request.answer_schema is not None:
            if "format" in self.dropped:
                system.append({"type": "text", "text": schemas.instruction(request.answer_schema)})
            else:
                schema = schemas.strict(request.answer_schema, all_required=False)
                config["format"] = {"type": "json_schema", "schema": schema}
        self._thinking(body, config)
        if config:
            body["output_config"] = config
        messages = [one for message in request.messages if (one := _message(message))]
        if messages and messages[-1]["role"] == "assistant":  # newer models refuse to be given their own first words
            messages.append({"role": "user", "content": [{"type": "text", "text": GO_ON}]})
        if system:
            body["system"] = system
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
                for tool in request.tools
            ]
            if request.no_calls and "tool_choice" not in self.dropped:
                body["tool_choice"] = {"type": "none"}
        _limit_marks([*system, *(part for message in messages for part in message["content"])])
        body["messages"] = messages
        return body

    def _thinking(self, body: dict[str, Any], config: dict[str, Any]) -> None:
        """As little thinking as the model allows: a player waits for the first word.

        By Anthropic's migration guides, models from 5 on think unless told otherwise; 5.5's Sonnet and Haiku can be
        told to think between tools only, the others only to make less effort.
        """
        match = re.match(r"claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?!\d)", self.spec.name)
        version = (int(match[1]), int(match[2] or 0)) if match else (0, 0)
        if version < (5, 0):
            return
        if "effort" not in self.dropped:
            config["effort"] = "low"
        if version >= (5, 5) and re.match("claude-(sonnet|haiku)-", self.spec.name) and "thinking" not in self.dropped:
            body["thinking"] = {"type": "between_tools"}
        else:
            body["max_tokens"] += THINKING_ROOM


class _Reader:
    """One stream read into events. What is thought is passed over."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._counts: dict[str, Any] = {}
        self._model = spec.name
        self._stop: str | None = None
        self._tools: dict[int, dict[str, str]] = {}
        self._called = False
        self._text: list[str] = []
        self._room = ARGUMENTS

    def read(self, stream: Any) -> Talk:
        """Text and tool calls; returns usage and stop. Raises what the SDK raises, or `ModelUnavailable` if cut."""
        bounded(self._spec, stream)
        request_id = stream.response.headers.get("request-id") or ""
        try:
            for event in stream:
                yield from self._event(event)
            if self._stop is None:
                raise unavailable(self._spec, "broke off before the end")
        except Exception:
            if self._counts and self._text:
                counts = {**self._counts, "output_tokens": tokens.estimate("".join(self._text))}
                usage = from_anthropic(counts, model=self._model, request_id=request_id)
                yield Used(replace(usage, estimated=True))
            raise
        used = from_anthropic(self._counts, model=self._model, request_id=request_id)
        last: list[Event] = [Used(used)] if used.prompt or used.out else []
        return [*last, stopped(self._stop, calls=self._called)]

    def _event(self, event: Any) -> Iterator[Event | None]:
        match event.type:
            case "message_start":
                self._model = event.message.model or self._model
                self._count(event.message.usage)
            case "content_block_start" if event.content_block.type == "tool_use":
                block = event.content_block
                self._spend(PIECE + len(block.name))
                self._tools[event.index] = {"id": block.id, "name": block.name, "text": "", "given": ""}
                yield None
            case "content_block_start" if event.content_block.type == "text" and event.content_block.text:
                self._text.append(event.content_block.text)
                yield TextDelta(event.content_block.text)
            case "content_block_delta" if event.delta.type == "text_delta" and event.delta.text:
                self._text.append(event.delta.text)
                yield TextDelta(event.delta.text)
            case "content_block_delta" if event.delta.type == "input_json_delta" and event.index in self._tools:
                self._spend(PIECE + len(event.delta.partial_json))
                self._tools[event.index]["text"] += event.delta.partial_json
                yield None
            case "content_block_stop" if event.index in self._tools:
                tool = self._tools.pop(event.index)
                arguments, fault = read_arguments(tool["text"])
                self._called = True
                yield ToolCalled(ToolCall(tool["id"], tool["name"], arguments, fault))
            case "message_delta":
                self._stop = event.delta.stop_reason or self._stop
                self._count(event.usage)

    def _spend(self, characters: int) -> None:
        self._room -= characters
        if self._room < 0:
            raise unavailable(self._spec, ENDLESS)

    def _count(self, usage: Any) -> None:
        self._counts.update(counts_of(usage))


def _text(part: Text) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": part.text}
    if part.cache:
        block["cache_control"] = {"type": "ephemeral"}
    return block


def _message(message: Message) -> dict[str, Any] | None:
    """The message, tool results first (the API wants them before any text), blank text left out; None if empty."""
    parts = sorted(message.parts, key=lambda part: not isinstance(part, ToolResult))
    content = [block for part in parts if (block := _block(part))]
    return {"role": message.role, "content": content} if content else None


def _block(part: Text | ToolCall | ToolResult) -> dict[str, Any] | None:
    match part:
        case Text(text):
            return _text(part) if text.strip() else None
        case ToolCall(id, name, arguments):
            return {"type": "tool_use", "id": safe_id(id), "name": name, "input": arguments}
        case ToolResult(call_id, text, is_error):
            block = {"type": "tool_result", "tool_use_id": safe_id(call_id), "content": text or "(nothing)"}
            return {**block, "is_error": True} if is_error else block


def _limit_marks(blocks: list[dict[str, Any]]) -> None:
    marked = [block for block in blocks if "cache_control" in block]
    for block in marked[:-MARKS]:
        del block["cache_control"]
