"""OpenAI's models and every compatible endpoint, through the `openai` SDK. The only module that imports it.

Chat Completions is the one protocol they all speak: OpenAI, OpenRouter, Gemini's compatible endpoint, Ollama, llama.cpp,
LM Studio. What one of them does not know is found by its refusal and left out from then on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from . import schemas
from .calls import ARGUMENTS, ENDLESS, Fragments, safe_id
from .events import Event, TextDelta, ToolCalled, Used, stopped
from .faults import check_key, unavailable
from .messages import Message, Request, Text, ToolCall, ToolResult
from .provider import Limits, Profile, Stop, timed
from .specs import ENDPOINTS, Spec
from .usage import counts_of, from_openai
from .wire import GO_ON, THINKING_ROOM, Talk, Wire, quiet_timeout


class OpenAI:
    """The provider for every OpenAI-compatible endpoint."""

    def __init__(self, spec: Spec, environ: Mapping[str, str]) -> None:
        self.profile = Profile(str(spec), free=spec.provider == "ollama")
        self._spec = spec
        self._key = check_key(spec, environ)
        endpoint = ENDPOINTS[spec.provider]
        self._url = endpoint.base_url(environ)
        self._official = spec.provider == "openai" and not endpoint.moved(environ)
        self._wire = Wire(spec, environ, self._sdk)
        self._dropped: set[str] = set()
        self._thinks = False

    def prepare(self) -> None:
        """Import the SDK, which takes about half a second, before the clock runs."""
        import openai  # noqa: F401

    def check(self) -> str:
        """Nothing if the endpoint lists its models for this key, else what is wrong."""
        from rolecall.errors import ModelError

        try:
            listed = self._wire.call(lambda sdk: sdk.models.list(timeout=3.0))
        except ModelError as error:
            return str(error)
        names = [str(getattr(model, "id", "")) for model in listed.data or ()]
        if self._spec.provider == "ollama" and names and self._spec.name not in names:
            return f"Ollama has no {self._spec.name}; it has {', '.join(names[:5])}"
        return ""

    def stream(self, request: Request, limits: Limits) -> Iterator[Event]:
        """The answer as it comes. See `provider.Provider`."""
        return timed(str(self._spec), lambda stop: self._events(request, limits, stop), limits)

    def close(self) -> None:
        """Close the connections kept open between calls."""
        self._wire.close()

    def _sdk(self, http: Any) -> Any:
        import openai

        return openai.OpenAI(api_key=self._key, base_url=self._url, http_client=http, max_retries=0)

    def _events(self, request: Request, limits: Limits, stop: Stop) -> Iterator[Event | None]:
        def ask(sdk: Any) -> Talk:
            body = self._body(request)
            with sdk.chat.completions.create(**body, stream=True, timeout=quiet_timeout(limits)) as stream:
                reader = _Reader(self._spec)
                last = yield from reader.read(stream)
                self._thinks = self._thinks or reader.thought
                return last

        return self._wire.talk(stop, ask, self._adapt)

    def _adapt(self, status: int, text: str) -> bool:
        """Leave out, or say otherwise, what this endpoint does not know, found by its refusal's words; once each."""
        if status not in (400, 404, 422, 501):
            return False
        words = {
            "max_tokens": "max_tokens|max_completion_tokens",
            "stream_options": "stream_options|include_usage",
            "reasoning_effort": "reasoning_effort|reasoning.effort|thinking_level|thinking_budget",
            "response_format": "response_format|json_schema|structured|schema",
            "cache_control": "cache_control",
            "tool_choice": "tool_choice",
        }
        for name, pattern in words.items():
            if name not in self._dropped and re.search(pattern, text):
                self._dropped.add(name)
                return True
        return False

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._spec.name}
        if "stream_options" not in self._dropped:
            body["stream_options"] = {"include_usage": True}
        system = [part for part in request.system if part.text.strip()]
        if request.answer_schema is not None:
            if "response_format" in self._dropped:
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
            if request.no_calls and "tool_choice" not in self._dropped:
                body["tool_choice"] = "none"
        self._measure(request, body)
        return body

    def _measure(self, request: Request, body: dict[str, Any]) -> None:
        """How much may be written, and how much thought.

        OpenAI's reasoning models take tools in Chat Completions only with no reasoning at all (its model pages), want
        `max_completion_tokens`, and count what they think towards it. Others know `max_tokens`.
        """
        room = request.max_tokens
        reasons = self._official and re.match(r"gpt-([5-9]|\d\d)|o\d", self._spec.name) is not None
        effort = ("none" if request.tools else "low") if reasons else ""
        if self._spec.provider in ("gemini", "openrouter"):
            effort = "low"
        if effort and "reasoning_effort" not in self._dropped:
            body["reasoning_effort"] = effort
        if (effort and body.get("reasoning_effort") != "none") or self._thinks:
            room += THINKING_ROOM
        name = "max_completion_tokens" if self._official != ("max_tokens" in self._dropped) else "max_tokens"
        body[name] = room

    def _content(self, parts: list[Text]) -> str | list[dict[str, Any]]:
        """Plain text for all; only OpenRouter is told the cache marks, which it hands on to models that need them."""
        marked = any(part.cache for part in parts) and self._spec.provider == "openrouter"
        if not marked or "cache_control" in self._dropped:
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
        self._refusal = ""
        self._room = ARGUMENTS
        self._tail, self._done = b"", False
        self.thought = False

    def read(self, stream: Any) -> Talk:
        """Text as it comes; returns tool calls, usage and stop, for calls are known to be whole only at the end.

        A server may forget its stop reason or its end mark `[DONE]`; without either the answer broke off, which is
        `ModelUnavailable`.
        """
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
        if self._refusal and self._stop in (None, "stop"):
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
            self._refusal += getattr(delta, "refusal", None) or ""
            if getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None):
                self.thought = True
            content = getattr(delta, "content", None)
            if isinstance(content, str) and (text := self._thoughts.add(content)):
                yield TextDelta(text)
            for fragment in getattr(delta, "tool_calls", None) or ():
                self._room -= self._fragments.add(fragment)
                if self._room < 0:
                    raise unavailable(self._spec, ENDLESS)
                yield None


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
