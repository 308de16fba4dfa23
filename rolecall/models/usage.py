"""What a call used, in tokens, in one form for every provider.

Anthropic reports input without what came from the cache; OpenAI reports it with. Here the parts never overlap:
`fresh + cache_write + cached` is the whole prompt.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# No call has so many tokens: a count beyond it is a fault of the server's.
_TOO_MANY = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, or of several added up.

    `fresh`, `cache_write` and `cached` are the prompt's tokens that were read anew, written to the cache, and read from
    it; `out` are all tokens written, `reasoning` those of them that were thought and not said. `estimated` is true
    when any of the numbers is our own estimate and not the provider's count.
    """

    fresh: int = 0
    cache_write: int = 0
    cached: int = 0
    out: int = 0
    reasoning: int = 0
    model: str = ""
    request_id: str = ""
    estimated: bool = False

    @property
    def prompt(self) -> int:
        """All tokens of the prompt."""
        return self.fresh + self.cache_write + self.cached

    def __add__(self, other: Usage) -> Usage:
        """The sum. Model and request id are kept where both agree or only one has it, else the later one's."""
        return Usage(
            self.fresh + other.fresh,
            self.cache_write + other.cache_write,
            self.cached + other.cached,
            self.out + other.out,
            self.reasoning + other.reasoning,
            other.model or self.model,
            other.request_id or self.request_id,
            self.estimated or other.estimated,
        )


def encode(usage: Usage) -> dict[str, Any]:
    """The usage as plain JSON data."""
    return asdict(usage)


def decode(data: dict[str, Any]) -> Usage:
    """The usage that `encode` wrote."""
    return Usage(**data)


def counts_of(reported: Any) -> dict[str, Any]:
    """What an endpoint reported as its usage, as plain data; nothing if that is no mapping, whatever its parts are."""
    if isinstance(reported, dict):
        return reported
    dump = getattr(reported, "model_dump", None)  # the SDK's models hold what came, right or wrong
    return dump(exclude_none=True, warnings=False) if dump else {}


def from_anthropic(counts: dict[str, Any], *, model: str, request_id: str) -> Usage:
    """From the `usage` of the Messages API, where `input_tokens` leaves out what was cached.

    `counts` may be the merged usage of `message_start` and `message_delta`; missing or null counts are nothing.
    """
    return Usage(
        fresh=_count(counts, "input_tokens"),
        cache_write=_count(counts, "cache_creation_input_tokens"),
        cached=_count(counts, "cache_read_input_tokens"),
        out=_count(counts, "output_tokens"),
        reasoning=_count(counts.get("output_tokens_details"), "thinking_tokens", "reasoning_tokens"),
        model=model,
        request_id=request_id,
    )


def from_openai(counts: dict[str, Any], *, model: str, request_id: str) -> Usage:
    """From the `usage` of Chat Completions or of Responses (the second names), where the prompt includes what was cached.

    Compatible servers fill in only part of it; what they leave out is nothing.
    """
    details = counts.get("prompt_tokens_details") or counts.get("input_tokens_details")
    prompt = _count(counts, "prompt_tokens", "input_tokens")
    cached = min(_count(details, "cached_tokens"), prompt)
    written = min(_count(details, "cache_write_tokens"), prompt - cached)
    return Usage(
        fresh=prompt - cached - written,
        cache_write=written,
        cached=cached,
        out=_count(counts, "completion_tokens", "output_tokens"),
        reasoning=_count(
            counts.get("completion_tokens_details") or counts.get("output_tokens_details"), "reasoning_tokens"
        ),
        model=model,
        request_id=request_id,
    )


def _count(counts: Any, *names: str) -> int:
    """The first of these numbers that is there, else 0; servers send null, floats, infinities and nonsense."""
    if isinstance(counts, dict):
        for name in names:
            value = counts.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _TOO_MANY:
                return int(value)
    return 0
