"""What comes back from a model, piece by piece.

A chain's stream is: any number of `Skipped`, one `Answered`, then text and tool calls as they come, `Used`, and
`Stopped` as the very last. What a model merely thinks is no event: it is neither shown nor kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from . import messages, usage
from .messages import ToolCall
from .usage import Usage

Reason = Literal["end", "max_tokens", "stop_sequence", "tool_use", "pause", "refusal", "context_full", "cut"]
REASONS: tuple[str, ...] = get_args(Reason)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A model of the chain that did not answer, and why, in one line. `cooling`: it was not even asked this time."""

    spec: str
    reason: str
    cooling: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """The model of the chain that speaks from here on."""

    spec: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A complete tool call."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Used:
    """What the call used."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Stopped:
    """The answer is over.

    `reason` is one of `REASONS`: the model was done (`end`), reached its limit (`max_tokens`), a stop string
    (`stop_sequence`), waits for tools (`tool_use`), wants to be asked to go on (`pause`), declined (`refusal`), has no
    room left (`context_full`), or the stream broke after the first visible token (`cut`). `raw` is the endpoint's own
    word for it, or what cut it.
    """

    reason: Reason
    raw: str = ""


Event = Skipped | Answered | TextDelta | ToolCalled | Used | Stopped

# The stop reasons of all three protocols; what is not here counts as "end", with the raw word kept.
_NEUTRAL: dict[str, Reason] = {
    "end_turn": "end",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_use",
    "pause_turn": "pause",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_full",
    "stop": "end",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
    "completed": "end",
    "max_output_tokens": "max_tokens",
}


def stopped(raw: str | None, *, calls: bool = False) -> Stopped:
    """The neutral stop for an endpoint's own word. With `calls` an "end" means that tools are waited for."""
    reason = _NEUTRAL.get(raw or "", "end")
    if calls and reason == "end":
        reason = "tool_use"
    return Stopped(reason, raw or "")


def encode(event: Event) -> dict[str, Any]:
    """The event as plain JSON data; `type` tells which. One line of a turn's record each."""
    match event:
        case Skipped(spec, reason, cooling):
            return {"type": "skipped", "spec": spec, "reason": reason, **({"cooling": True} if cooling else {})}
        case Answered(spec):
            return {"type": "answered", "spec": spec}
        case TextDelta(text):
            return {"type": "text", "text": text}
        case ToolCalled(call):
            return messages.encode_part(call)
        case Used(used):
            return {"type": "used", **usage.encode(used)}
        case Stopped(reason, raw):
            return {"type": "stopped", "reason": reason, **({"raw": raw} if raw else {})}
    raise ValueError(f"not an event: {event!r}")


def decode(data: dict[str, Any]) -> Event:
    """The event that `encode` wrote. Raises `ValueError` on anything else."""
    try:
        match data["type"]:
            case "skipped":
                return Skipped(data["spec"], data["reason"], data.get("cooling", False))
            case "answered":
                return Answered(data["spec"])
            case "text":
                return TextDelta(data["text"])
            case "call":
                return ToolCalled(ToolCall(data["id"], data["name"], data["arguments"], data.get("fault", "")))
            case "used":
                return Used(usage.decode({key: value for key, value in data.items() if key != "type"}))
            case "stopped" if data["reason"] in REASONS:
                return Stopped(data["reason"], data.get("raw", ""))
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a saved event: {error!r}") from error
    raise ValueError(f"not a saved event: {data!r}")
