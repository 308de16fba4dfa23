"""What the loopback server answers, and how it looks on the wire in either protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One answer, good or bad.

    `tools` are (name, arguments) pairs; arguments given as a string are sent as they are, broken JSON included.
    `stop` is the protocol's own word, derived if empty. `usage=None` sends none, `{}` counts characters.
    `cut_after` breaks the connection after so many bytes of the body; `malformed` sends a line that is no JSON in the
    middle. `delay` passes before the first byte, `headers_delay` even before the status, `chunk_delay` before each
    piece of text (of `chunk` characters) but the first. `done=False` leaves out the end mark, `finish=False` the stop reason.
    `odd` sends OpenAI's tool fragments as sloppy servers do: "no-index", "same-index", "object" or "repeated-name", or in
    the field of before there were tools: "function_call". With "refusal-field" a refusal is told in its own field.
    """

    text: str = ""
    tools: tuple[tuple[str, Any], ...] = ()
    stop: str = ""
    status: int = 200
    message: str = ""
    kind: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    headers_delay: float = 0.0
    chunk_delay: float = 0.0
    chunk: int = 40
    cut_after: int | None = None
    malformed: bool = False
    thinking: str = ""
    refusal: bool = False
    usage: dict[str, Any] | None = field(default_factory=dict)
    done: bool = True
    finish: bool = True
    odd: str = ""
    stream_error: str = ""


def pieces(text: str, size: int) -> Iterator[str]:
    """The text in pieces of so many characters."""
    return (text[start : start + size] for start in range(0, len(text), size))


def sse(data: Any, event: str = "") -> bytes:
    """One server-sent event."""
    name = f"event: {event}\n" if event else ""
    body = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"{name}data: {body}\n\n".encode()


def is_text(event: bytes) -> bool:
    """Whether this server-sent event carries a piece of visible text."""
    if b'"response.output_text.delta"' in event:
        return True
    return b'"text_delta"' in event or (b'"content": "' in event and b'"content": ""' not in event)


def tool_texts(reply: Reply) -> list[tuple[str, str]]:
    """Name and argument text of each tool call."""
    return [(name, args if isinstance(args, str) else json.dumps(args)) for name, args in reply.tools]


def _size(reply: Reply) -> int:
    """Characters of a tool's arguments that are sent at once."""
    return 15 if reply.chunk <= 40 else reply.chunk


def anthropic_usage(reply: Reply, prompt: int) -> dict[str, Any]:
    """The counts of the Messages API."""
    counts = {"input_tokens": prompt // 4, "output_tokens": len(reply.text) // 4 + 1}
    return {**counts, **(reply.usage or {})}


def anthropic_stop(reply: Reply) -> str:
    """The stop reason of the Messages API."""
    return reply.stop or ("refusal" if reply.refusal else "tool_use" if reply.tools else "end_turn")


def anthropic_stream(reply: Reply, body: dict[str, Any], number: int, prompt: int) -> Iterator[bytes]:
    """The events of `POST /v1/messages` with `stream: true`."""
    usage = anthropic_usage(reply, prompt)
    message = {
        "id": f"msg_{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield sse({"type": "message_start", "message": message}, "message_start")
    yield sse({"type": "ping"}, "ping")
    if reply.stream_error:
        error = {"type": reply.stream_error, "message": reply.message or "Overloaded"}
        yield sse({"type": "error", "error": error}, "error")
        return
    index = 0
    if reply.thinking:
        yield from _anthropic_block(
            index, {"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking", [reply.thinking]
        )
        index += 1
    if reply.text:
        parts = list(pieces(reply.text, reply.chunk))
        yield from _anthropic_block(index, {"type": "text", "text": ""}, "text_delta", "text", parts)
        index += 1
    if reply.malformed:
        yield sse('{"type": "content_block_delta", "del', "content_block_delta")
    for number_of_tool, (name, text) in enumerate(tool_texts(reply)):
        block = {"type": "tool_use", "id": f"toolu_{number:06d}_{number_of_tool}", "name": name, "input": {}}
        yield from _anthropic_block(index, block, "input_json_delta", "partial_json", list(pieces(text, _size(reply))))
        index += 1
    if reply.finish:
        delta = {"stop_reason": anthropic_stop(reply), "stop_sequence": None}
        yield sse({"type": "message_delta", "delta": delta, "usage": usage}, "message_delta")
    if reply.done:
        yield sse({"type": "message_stop"}, "message_stop")


def _anthropic_block(index: int, block: dict[str, Any], kind: str, key: str, parts: list[str]) -> Iterator[bytes]:
    start = {"type": "content_block_start", "index": index, "content_block": block}
    yield sse(start, "content_block_start")
    for part in parts:
        delta = {"type": kind, key: part}
        yield sse({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
    yield sse({"type": "content_block_stop", "index": index}, "content_block_stop")


def anthropic_whole(reply: Reply, body: dict[str, Any], number: int, prompt: int) -> dict[str, Any]:
    """The answer of `POST /v1/messages` without a stream."""
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    for n, (name, text) in enumerate(tool_texts(reply)):
        content.append({"type": "tool_use", "id": f"toolu_{number:06d}_{n}", "name": name, "input": json.loads(text)})
    return {
        "id": f"msg_{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": content,
        "stop_reason": anthropic_stop(reply),
        "stop_sequence": None,
        "usage": anthropic_usage(reply, prompt),
    }


def openai_usage(reply: Reply, prompt: int) -> dict[str, Any]:
    """The counts of Chat Completions."""
    counts = {"prompt_tokens": prompt // 4, "completion_tokens": len(reply.text) // 4 + 1}
    return {**counts, "total_tokens": sum(counts.values()), **(reply.usage or {})}


def openai_stop(reply: Reply) -> str:
    """The finish reason of Chat Completions."""
    if reply.odd == "refusal-field":
        return "stop"
    called = "function_call" if reply.odd == "function_call" else "tool_calls"
    return reply.stop or ("content_filter" if reply.refusal else called if reply.tools else "stop")


def openai_stream(reply: Reply, body: dict[str, Any], number: int, prompt: int) -> Iterator[bytes]:
    """The chunks of `POST /v1/chat/completions` with `stream: true`."""

    def chunk(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> bytes:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        head = {"id": f"chatcmpl-{number:06d}", "object": "chat.completion.chunk", "created": 0}
        return sse({**head, "model": body.get("model", ""), "choices": choices, **more})

    if reply.stream_error:
        yield sse({"error": {"message": reply.message or "upstream failed", "code": reply.stream_error}})
        return
    yield chunk({"role": "assistant", "content": ""})
    if reply.thinking:
        yield chunk({"reasoning_content": reply.thinking})
    for part in pieces(reply.text, reply.chunk):
        yield chunk({"content": part})
    if reply.refusal and reply.odd == "refusal-field":
        yield chunk({"refusal": "I cannot help with that."})
    if reply.malformed:
        yield sse('{"choices": [{"delta": {"con')
    for index, (name, text) in enumerate(tool_texts(reply)):
        for fragment in _openai_fragments(reply, index, f"call_{number:06d}_{index}", name, text):
            yield chunk(fragment if reply.odd == "function_call" else {"tool_calls": [fragment]})
    if reply.finish:
        yield chunk({}, openai_stop(reply))
    if reply.usage is not None and (body.get("stream_options") or {}).get("include_usage"):
        yield chunk(None, usage=openai_usage(reply, prompt))
    if reply.done:
        yield sse("[DONE]")


def _openai_fragments(reply: Reply, index: int, id: str, name: str, text: str) -> Iterator[dict[str, Any]]:
    if reply.odd == "object":
        yield {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": json.loads(text)}}
        return
    if reply.odd == "function_call":
        yield {"function_call": {"name": name, "arguments": ""}}
        yield from ({"function_call": {"arguments": part}} for part in pieces(text, _size(reply)))
        return
    place = {} if reply.odd == "no-index" else {"index": 0 if reply.odd == "same-index" else index}
    again = {"name": name} if reply.odd == "repeated-name" else {}
    yield {**place, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
    for part in pieces(text, _size(reply)):
        yield {**place, "function": {**again, "arguments": part}}


def openai_whole(reply: Reply, body: dict[str, Any], number: int, prompt: int) -> dict[str, Any]:
    """The answer of `POST /v1/chat/completions` without a stream."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.tools:
        message["tool_calls"] = [
            {"id": f"call_{number:06d}_{n}", "type": "function", "function": {"name": name, "arguments": text}}
            for n, (name, text) in enumerate(tool_texts(reply))
        ]
    choice = {"index": 0, "message": message, "finish_reason": openai_stop(reply)}
    head = {"id": f"chatcmpl-{number:06d}", "object": "chat.completion", "created": 0, "model": body.get("model", "")}
    return {**head, "choices": [choice], "usage": openai_usage(reply, prompt)}


def error_body(reply: Reply, anthropic: bool) -> dict[str, Any]:
    """The body of an answer whose status is an error."""
    message = reply.message or f"status {reply.status}, as asked"
    kind = reply.kind or {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}.get(
        reply.status, "api_error"
    )
    if anthropic:
        return {"type": "error", "error": {"type": kind, "message": message}}
    return {"error": {"message": message, "type": kind, "code": None, "param": None}}
