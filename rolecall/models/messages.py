"""What is said to a language model, in words of our own that no SDK knows.

A `Request` is plain data: it can be written as JSON, read back, and compared by its digest. The adapters turn it into
what their endpoint expects. Order matters to the prompt cache: system parts, tools, messages, and in each the stable
parts first.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text. `cache=True` puts a cache mark after it: all up to here is the same next time."""

    text: str
    cache: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model asks for a tool.

    `arguments` is always an object. What could not be read as one leaves it empty and is told in `fault`, which goes
    back to the model as the tool's error instead of ending the turn.
    """

    id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the tool said to the call with this id."""

    call_id: str
    text: str
    is_error: bool = False


Part = Text | ToolCall | ToolResult


@dataclass(frozen=True, slots=True)
class Message:
    """One side's words. Text and tool results are the user's, text and tool calls the assistant's."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool on offer: `schema` is the JSON Schema of its arguments (an object)."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """Everything one call of a model needs.

    `max_tokens` bounds the visible answer, in tokens. With `answer_schema` (a JSON Schema whose root is an object) the
    answer is to be JSON of that shape. With `no_calls` no tool may be called, though those on offer stay in sight: the
    conversation has calls of them, and the prompt cache counts on their place.
    """

    system: tuple[Text, ...]
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    max_tokens: int = 1500
    answer_schema: dict[str, Any] | None = None
    no_calls: bool = False


def encode(request: Request) -> dict[str, Any]:
    """The request as plain JSON data; the same request always gives the same data."""
    data: dict[str, Any] = {
        "system": [encode_part(part) for part in request.system],
        "messages": [
            {"role": message.role, "parts": [encode_part(part) for part in message.parts]}
            for message in request.messages
        ],
        "max_tokens": request.max_tokens,
    }
    if request.tools:
        data["tools"] = [{"name": t.name, "description": t.description, "schema": t.schema} for t in request.tools]
    if request.answer_schema is not None:
        data["answer_schema"] = request.answer_schema
    if request.no_calls:
        data["no_calls"] = True
    return data


def decode(data: dict[str, Any]) -> Request:
    """The request that `encode` wrote. Raises `ValueError` on anything else."""
    try:
        return Request(
            system=tuple(_text(part) for part in data["system"]),
            messages=tuple(
                Message(message["role"], tuple(decode_part(part) for part in message["parts"]))
                for message in data["messages"]
            ),
            tools=tuple(Tool(t["name"], t["description"], t["schema"]) for t in data.get("tools", ())),
            max_tokens=data["max_tokens"],
            answer_schema=data.get("answer_schema"),
            no_calls=data.get("no_calls", False),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a saved request: {error!r}") from error


def encode_part(part: Part) -> dict[str, Any]:
    """One part as JSON data; `type` tells which."""
    match part:
        case Text(text, cache):
            return {"type": "text", "text": text, **({"cache": True} if cache else {})}
        case ToolCall(id, name, arguments, fault):
            data = {"type": "call", "id": id, "name": name, "arguments": arguments}
            return {**data, "fault": fault} if fault else data
        case ToolResult(call_id, text, is_error):
            return {"type": "result", "call_id": call_id, "text": text, **({"is_error": True} if is_error else {})}
    raise ValueError(f"not a part of a message: {part!r}")


def decode_part(data: dict[str, Any]) -> Part:
    """The part that `encode_part` wrote. Raises `ValueError` or `KeyError` on anything else."""
    match data.get("type"):
        case "text":
            return _text(data)
        case "call":
            return ToolCall(data["id"], data["name"], data["arguments"], data.get("fault", ""))
        case "result":
            return ToolResult(data["call_id"], data["text"], data.get("is_error", False))
    raise ValueError(f"not a part of a message: {data!r}")


def digest(request: Request) -> str:
    """SHA-256 (hexadecimal) of the request's canonical JSON: sorted keys, no spaces, UTF-8."""
    canonical = json.dumps(encode(request), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _text(data: dict[str, Any]) -> Text:
    return Text(data["text"], data.get("cache", False))
