"""How an answer looks on the wire of OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from tests.loopback.replies import Reply, pieces, sse, tool_texts


def responses_stream(reply: Reply, body: dict[str, Any], number: int, prompt: int) -> Iterator[bytes]:
    """The events of `POST /v1/responses` with `stream: true`."""
    numbers = count()

    def event(kind: str, **more: Any) -> bytes:
        return sse({"type": kind, "sequence_number": next(numbers), **more}, kind)

    head = {"id": f"resp_{number:06d}", "object": "response", "created_at": 0, "model": body.get("model", "")}
    yield event("response.created", response={**head, "status": "in_progress", "output": []})
    if reply.stream_error:
        error = {"code": reply.stream_error, "message": reply.message or "The server had an error."}
        yield event("response.failed", response={**head, "status": "failed", "output": [], "error": error})
        return
    place = 0
    if reply.thinking:
        item = {"id": f"rs_{number}", "type": "reasoning", "summary": []}
        yield event("response.output_item.added", output_index=place, item=item)
        yield event(
            "response.reasoning_text.delta", output_index=place, content_index=0, item_id=item["id"],
            delta=reply.thinking,
        )  # fmt: skip
        yield event("response.output_item.done", output_index=place, item=item)
        place += 1
    if reply.text or reply.refusal:
        yield from _message(reply, event, f"msg_{number}", place)
        place += 1
    if reply.malformed:
        yield sse('{"type": "response.output_text.del', "response.output_text.delta")
    for n, (name, text) in enumerate(tool_texts(reply)):
        item = {"id": f"fc_{number}_{n}", "type": "function_call", "call_id": f"call_{number:06d}_{n}", "name": name}
        yield event("response.output_item.added", output_index=place, item={**item, "arguments": ""})
        for part in pieces(text, reply.chunk):
            yield event("response.function_call_arguments.delta", output_index=place, item_id=item["id"], delta=part)
        yield event("response.output_item.done", output_index=place, item={**item, "arguments": text})
        place += 1
    if reply.finish:
        yield _end(reply, event, head, prompt)


def _message(reply: Reply, event: Any, id: str, place: int) -> Iterator[bytes]:
    item = {"id": id, "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    yield event("response.output_item.added", output_index=place, item=item)
    where = {"output_index": place, "content_index": 0, "item_id": id}
    for part in pieces(reply.text, reply.chunk):
        yield event("response.output_text.delta", **where, delta=part, logprobs=[])
    if reply.refusal:
        yield event("response.refusal.delta", **where, delta="I cannot help with that.")
    kind = {"type": "output_text", "text": reply.text, "annotations": []}
    yield event(
        "response.output_item.done", output_index=place, item={**item, "status": "completed", "content": [kind]}
    )


def _end(reply: Reply, event: Any, head: dict[str, Any], prompt: int) -> bytes:
    counts = {"input_tokens": prompt // 4, "output_tokens": len(reply.text) // 4 + 1}
    usage = None if reply.usage is None else {**counts, **reply.usage}
    cut = reply.stop if reply.stop not in ("", "completed") else ""
    status = "incomplete" if cut else "completed"
    details = {"reason": cut} if cut else None
    response = {**head, "status": status, "output": [], "usage": usage, "incomplete_details": details}
    return event(f"response.{status}", response=response)
