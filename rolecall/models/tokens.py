"""How many tokens a text is, estimated from its characters, and the estimate corrected by what providers report.

No tokenizer is asked: there is one per provider, they are not public for most, and a prompt is weighed passage by
passage many times a turn. Characters are told apart by the length of their UTF-8 form, which separates scripts well
enough and costs a few microseconds per kilobyte:

    1 byte   ASCII: Latin letters, digits, Markdown                    4 characters a token
    2 bytes  accented Latin, Greek, Cyrillic, Hebrew, Arabic         2.5 characters a token
    3 bytes  CJK, kana, Hangul, Thai, Indic scripts, “ ” … —           1 character a token
    4 bytes  emoji, rare ideographs                                  2.5 tokens a character

The first is the rule of thumb of the providers' own documentation for English; the others are rules of thumb for
vocabularies of 100,000 to 200,000 pieces. They only need to be of the right size: `Correction` learns the rest.
"""

from __future__ import annotations

import json
import math
import threading

from .messages import Request, Text, ToolCall, ToolResult

_ASCII, _TWO, _THREE, _FOUR = 1 / 4.0, 1 / 2.5, 1.0, 2.5
_NOT_ASCII = bytes(range(0x80, 0x100))
_NOT_TWO = bytes([*range(0xC0), *range(0xE0, 0x100)])
_NOT_THREE = bytes([*range(0xE0), *range(0xF0, 0x100)])

# What a message, and a tool, cost beyond their text: role marks, braces, names of fields.
MESSAGE_OVERHEAD = 4
TOOL_OVERHEAD = 12


def estimate(text: str) -> int:
    """Tokens of this text, rounded up; nothing is 0. Longer text is never estimated lower."""
    if text.isascii():
        return math.ceil(len(text) * _ASCII)
    data = text.encode("utf-8", "surrogatepass")
    ascii_count = len(data.translate(None, _NOT_ASCII))
    two = len(data.translate(None, _NOT_TWO))
    three = len(data.translate(None, _NOT_THREE))
    four = len(text) - ascii_count - two - three
    return math.ceil(ascii_count * _ASCII + two * _TWO + three * _THREE + four * _FOUR)


def estimate_request(request: Request) -> int:
    """Tokens of a whole prompt: system parts, messages, tool schemas and the answer's schema."""
    total = sum(estimate(part.text) for part in request.system) + MESSAGE_OVERHEAD
    for message in request.messages:
        total += MESSAGE_OVERHEAD + sum(_part(part) for part in message.parts)
    total += sum(estimate_tool(tool.name, tool.description, tool.schema) for tool in request.tools)
    if request.answer_schema is not None:
        total += _data(request.answer_schema)
    return total


def estimate_tool(name: str, description: str, schema: dict) -> int:
    """Tokens of one tool on offer."""
    return TOOL_OVERHEAD + estimate(name) + estimate(description) + _data(schema)


def _part(part: Text | ToolCall | ToolResult) -> int:
    if isinstance(part, ToolCall):
        return TOOL_OVERHEAD + estimate(part.name) + _data(part.arguments)
    return estimate(part.text) + (MESSAGE_OVERHEAD if isinstance(part, ToolResult) else 0)


def _data(data: object) -> int:
    return estimate(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


class Correction:
    """What each model's reported prompts taught about the estimate: a ratio per spec, kept in this process.

    A ratio moves a third of the way to each new observation and stays between 0.5 and 2, so that one odd report
    (a server that counts nothing, or counts the cache twice) cannot empty or flood a prompt.
    """

    LOW, HIGH, PACE = 0.5, 2.0, 1 / 3

    def __init__(self) -> None:
        self._ratios: dict[str, float] = {}
        self._lock = threading.Lock()

    def learn(self, spec: str, estimated: int, reported: int) -> None:
        """A prompt estimated at so many tokens was reported by the provider as that many."""
        if estimated < 100 or reported <= 0:
            return  # too short to tell anything, or not reported
        seen = min(max(reported / estimated, self.LOW), self.HIGH)
        with self._lock:
            old = self._ratios.get(spec)
            self._ratios[spec] = seen if old is None else old + (seen - old) * self.PACE

    def ratio(self, spec: str) -> float:
        """Reported tokens for each estimated one; 1 while nothing is known."""
        return self._ratios.get(spec, 1.0)

    def budget(self, spec: str, tokens: int) -> int:
        """How many estimated tokens fit in a budget of so many real ones."""
        return int(tokens / self.ratio(spec))
