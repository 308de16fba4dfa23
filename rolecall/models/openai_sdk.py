"""OpenAI's models and every compatible endpoint, through the `openai` SDK. The only module that imports it.

Chat Completions is the one protocol they all speak: OpenAI, OpenRouter, Gemini's compatible endpoint, Ollama, llama.cpp,
LM Studio. What one of them does not know is found by its refusal and left out from then on; a model that wants OpenAI's
Responses API gets that (`openai_responses`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

from . import openai_responses, schemas
from .calls import ARGUMENTS, ENDLESS, Fragments, bounded, safe_id
from .events import Event, TextDelta, ToolCalled, Used, stopped
from .faults import unavailable
from .messages import Message, Request, Text, ToolCall, ToolResult
from .remote import Remote
from .specs import Spec
from .usage import counts_of, from_openai
from .wire import GO_ON, THINKING_ROOM, Talk

# OpenAI's models that speak only Responses (the SDK's `ResponsesModel` names them apart), and the tiers above Terra, which
# take tools nowhere else. Any other that wants it says so in its refusal.
_RESPONSES = re.compile(r"gpt-[\d.]+-(?:pro|codex|sol|astra)|o\d-pro")


class OpenAI(Remote):
    """The provider for every OpenAI-compatible endpoint.

    Chat Completions until the endpoint says that this model wants Responses (`chat` is dropped then).
    """

    unknown: ClassVar[Mapping[str, str]] = {
        "chat": r"v1/responses|Responses API|not a chat model",
        "max_tokens": "max_tokens|max_completion_tokens",
        "stream_options": "stream_options|include_usage",
        "reasoning_effort": "reasoning_effort|reasoning.effort|thinking_level|thinking_budget",
        "response_format": "response_format|json_schema|structured|schema",
        "cache_control": "cache_control",
        "tool_choice": "tool_choice",
    }
    refusing = (400, 404, 422, 501)

    def __init__(self, spec: Spec, environ: Mapping[str, str]) -> None:
        super().__init__(spec, environ, free=spec.provider == "ollama")
        self._official = spec.provider == "openai" and not self.endpoint.moved(environ)
        self._thinks = False
        if self._official and _RESPONSES.match(spec.name):
            self.dropped.add("chat")

    def prepare(self) -> None:
        """Import the SDK, which takes about half a second, before the clock runs."""
        import openai  # noqa: F401

    def listed(self, models: Any) -> str:
        """Ollama lists what it has; others list what they sell, not what this key may use."""
        names = [str(getattr(model, "id", "")) for model in models.data or ()]
        if self.spec.provider == "ollama" and names and self.spec.name not in names:
            return f"Ollama has no {self.spec.name}; it has {', '.join(names[:5])}"
        return ""

    def client(self, http: Any) -> Any:
        """The SDK's client."""
        import openai

        return openai.OpenAI(api_key=self.key, base_url=self.url, http_client=http, max_retries=0)

    def ask(self, sdk: Any, request: Request, timeout: Any) -> Talk:
        """One call, in the dialect this model speaks."""
        if "chat" in self.dropped:
            body = openai_responses.body_of(request, self.spec.name, self.dropped)
            with sdk.responses.create(**body, stream=True, timeout=timeout) as stream:
                return (yield from openai_responses.Reader(self.spec).read(stream))
        with sdk.chat.completions.create(**self._body(request), stream=True, timeout=timeout) as stream:
            reader = _Reader(self.spec)
            last = yield from reader.read(stream)
            self._thinks = self._thinks or reader.thought
            return last

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.spec.name}
        if "stream_options" not in self.dropped:
            body["stream_options"] = {"include_usage": True}
        system = [part for part in request.system if part.text.strip()]
        if request.answer_schema is not None:
            if "response_format" in self.dropped:
                system.append(Text(schemas.instruction(request.answer_schema)))
            else:
                schema = schemas.strict(request.answer_schema, all_required=True)
                form = {"name": "answer", "strict": True, "schema": schema}
                body["response_format"] = {"type": "json_schema", "json_schema": form}
        messages: list[dict[str, Any]] = []
        if system:
            messages.append({"role": "system", "content": self._content(system)})
        for message in request.messages:
            messages.extend(self._messages(message))
        if messages and messages[-1]["role"] == "assistant":
            messages.append({"role": "user", "content": GO_ON})
        body["messages"] = messages
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
                }
                for tool in request.tools
            ]
            if request.no_calls and "tool_choice" not in self.dropped:
                body["tool_choice"] = "none"
        self._measure(request, body)
        return body

    def _measure(self, request: Request, body: dict[str, Any]) -> None:
        """How much may be written, and how much thought.

        OpenAI's reasoning models take tools in Chat Completions only with no reasoning at all (its model pages), want
        `max_completion_tokens`, and count what they think towards it. Others know `max_tokens`.
        """
        room = request.max_tokens
        reasons = self._official and re.match(r"gpt-([5-9]|\d\d)|o\d", self.spec.name) is not None
        effort = ("none" if request.tools else "low") if reasons else ""
        if self.spec.provider in ("gemini", "openrouter"):
            effort = "low"
        if effort and "reasoning_effort" not in self.dropped:
            body["reasoning_effort"] = effort
        if (effort and body.get("reasoning_effort") != "none") or self._thinks:
            room += THINKING_ROOM
        name = "max_completion_tokens" if self._official != ("max_tokens" in self.dropped) else "max_tokens"
        body[name] = room

    def _content(self, parts: list[Text]) -> str | list[dict[str, Any]]:
        """Plain text for all; only OpenRouter is told the cache marks, which it hands on to models that need them."""
        marked = any(part.cache for part in parts) and self.spec.provider == "openrouter"
        if not marked or "cache_control" in self.dropped:
            return "\n\n".join(part.text for part in parts)
        return [
            {"type": "text", "text": part.text, **({"cache_control": {"type": "ephemeral"}} if part.cache else {})}
            for part in parts
        ]

    def _messages(self, message: Message) -> Iterator[dict[str, Any]]:
        """One message of ours as theirs: each tool result is a message of its own, before the text."""
        texts = [part for part in message.parts if isinstance(part, Text) and part.text.strip()]
        for part in message.parts:
            if isinstance(part, ToolResult):
                text = f"Error: {part.text}" if part.is_error else part.text
                yield {"role": "tool", "tool_call_id": safe_id(part.call_id), "content": text or "(nothing)"}
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        if message.role == "assistant":
            said: dict[str, Any] = {"role": "assistant"}
            if texts:
                said["content"] = "".join(part.text for part in texts)
            if calls:
                said["tool_calls"] = [_call(call) for call in calls]
            if len(said) > 1:
                yield said
        elif texts:
            yield {"role": "user", "content": self._content(texts)}


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": safe_id(call.id), "type": "function", "function": {"name": call.name, "arguments": arguments}}


_DONE = re.compile(rb"(?:\A|[\r\n])data: ?\[DONE\]")


class _Reader:
    """One stream read into events, whichever server it is from."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._model = spec.name
        self._id = ""
        self._counts: dict[str, Any] = {}
        self._stop: str | None = None
        self._fragments = Fragments()
        self._thoughts = Thoughts()
        self._refused = False
        self._room = ARGUMENTS
        self._tail, self._done = b"", False
        self.thought = False

    def read(self, stream: Any) -> Talk:
        """Text as it comes; returns tool calls, usage and stop, for calls are known to be whole only at the end.

        A server may forget its stop reason or its end mark `[DONE]`; without either the answer broke off, which is
        `ModelUnavailable`.
        """
        bounded(self._spec, stream)
        given = stream.response.iter_bytes
        stream.response.iter_bytes = lambda *size: self._watched(given(*size))  # the SDK keeps the end mark to itself
        self._id = stream.response.headers.get("x-request-id") or ""
        for chunk in stream:
            yield from self._chunk(chunk)
        last: list[Event] = [TextDelta(rest)] if (rest := self._thoughts.rest()) else []
        if self._stop is None and not self._done:
            yield from last
            raise unavailable(self._spec, "broke off before the end")
        self.thought = self.thought or self._thoughts.found
        calls = [ToolCalled(call) for call in self._fragments.calls()]
        last.extend(calls)
        used = from_openai(self._counts, model=self._model, request_id=self._id)
        if used.prompt or used.out:
            last.append(Used(used))
        if self._refused and self._stop in (None, "stop"):
            return [*last, stopped("content_filter")]
        return [*last, stopped(self._stop, calls=bool(calls))]

    def _watched(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        for block in blocks:
            self._done = self._done or _DONE.search(self._tail + block) is not None
            self._tail = block[-32:] if len(block) >= 32 else (self._tail + block)[-32:]
            yield block

    def _chunk(self, chunk: Any) -> Iterator[Event | None]:
        self._model = getattr(chunk, "model", None) or self._model
        self._id = self._id or getattr(chunk, "id", None) or ""
        self._counts = counts_of(getattr(chunk, "usage", None)) or self._counts
        for choice in getattr(chunk, "choices", None) or ():
            self._stop = getattr(choice, "finish_reason", None) or self._stop
            delta = getattr(choice, "delta", None)
            if delta is None:
                continue
            self._refused = self._refused or bool(getattr(delta, "refusal", None))
            if getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None):
                self.thought = True
            content = getattr(delta, "content", None)
            if isinstance(content, str) and (text := self._thoughts.add(content)):
                yield TextDelta(text)
            for fragment in self._called(delta):
                self._room -= self._fragments.add(fragment)
                if self._room < 0:
                    raise unavailable(self._spec, ENDLESS)
                yield None

    def _called(self, delta: Any) -> Iterator[Any]:
        """The fragments of tool calls in this piece; old servers send one call in a field of its own."""
        yield from getattr(delta, "tool_calls", None) or ()
        if (function := getattr(delta, "function_call", None)) is not None:
            yield SimpleNamespace(index=0, id="", function=function)


class Thoughts:
    """Takes a leading `<think>…</think>` out of a text that comes in pieces, as some local models write it."""

    OPEN, CLOSE = "<think>", "</think>"

    def __init__(self) -> None:
        self._held = ""
        self._state = "before"
        self.found = False

    def add(self, text: str) -> str:
        """The visible part of the next piece, as far as it is known."""
        if self._state == "after":
            return text
        self._held += text
        if self._state == "before":
            start = self._held.lstrip()
            if start.startswith(self.OPEN):
                self._state, self.found = "inside", True
            elif self.OPEN.startswith(start) and len(self._held) < 4096:
                return ""  # cannot be told yet
            else:
                return self._release()
        thought, found, after = self._held.partition(self.CLOSE)
        if not found:
            self._held = self._held[-len(self.CLOSE) :] if len(thought) > 4096 else self._held
            return ""
        self._held = after.lstrip()
        return self._release()

    def rest(self) -> str:
        """What was held back when the stream ended; an unclosed thought is not told."""
        return self._release() if self._state == "before" else ""

    def _release(self) -> str:
        self._state, text, self._held = "after", self._held, ""
        return text
