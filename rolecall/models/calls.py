"""Tool calls put together from the fragments in which they are streamed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .faults import unavailable
from .messages import ToolCall
from .specs import Spec

# What both vendors accept as the id of a call; ids of a model that was asked before may hold other characters.
_NOT_ID = re.compile(r"[^A-Za-z0-9_-]")

# Characters the arguments of all calls of one answer may have, and what is said of more. The longest honest ones hold
# a document of some tens of thousands.
ARGUMENTS, ENDLESS = 2_000_000, "sent a tool call without end"
# What a piece of a call counts for besides its characters, so that pieces without any come to an end too.
PIECE = 16
# Calls of one answer that are handed on. No layer carries out as many, but each tells how many it left out.
MOST = 256
# How deep arguments may nest. The deepest schema of a tool here has five; Python's JSON gives up at some hundreds, and not
# everywhere at the same.
DEEPEST = 64
# Bytes of one answer, all that is said around its words with it.
LARGEST = 128 << 20


def bounded(spec: Spec, stream: Any) -> None:
    """Let this stream of an SDK's end with `ModelUnavailable` after so many bytes: the SDK gathers a line as long as it goes on."""
    given = stream.response.iter_bytes

    def blocks(*size: int) -> Iterator[bytes]:
        left = LARGEST
        for block in given(*size):
            left -= len(block)
            if left < 0:
                raise unavailable(spec, "sent an answer without end")
            yield block

    stream.response.iter_bytes = blocks


def safe_id(id: str) -> str:
    """The id in the characters that every endpoint accepts; the same id always gives the same."""
    return _NOT_ID.sub("_", id) or "_"


def read_arguments(text: str) -> tuple[dict[str, Any], str]:
    """The arguments in this JSON text and nothing, or no arguments and what is wrong with it. Nothing is `{}`."""
    if not text.strip():
        return {}, ""
    try:
        value = json.loads(text)
    except ValueError as error:
        return {}, f"the arguments are not valid JSON: {error}"
    except RecursionError:
        return {}, "the arguments are nested too deeply"
    if isinstance(value, dict | list) and _is_deep(value, text):
        return {}, "the arguments are nested too deeply"
    if isinstance(value, str):  # some servers encode twice
        return read_arguments(value) if value.lstrip().startswith("{") else ({}, "the arguments are no JSON object")
    if "\\ud" in text.lower():  # half a character, which no request could carry back
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return (value, "") if isinstance(value, dict) else ({}, "the arguments are no JSON object")


def _is_deep(value: Any, text: str) -> bool:
    """Whether a value, read from this text, nests deeper than `DEEPEST`."""
    level = [value] if text.count("[") + text.count("{") > DEEPEST else []
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: dict | list) -> list[dict | list]:
    """The objects and lists that stand in an object or a list."""
    held = value.values() if isinstance(value, dict) else value
    return [inner for inner in held if isinstance(inner, dict | list)]


class Fragments:
    """The tool calls of one OpenAI-style stream.

    By the book a fragment carries the call's index, and the first one its id and name. Servers also repeat the name,
    leave out the index or the id, give every call the index 0, or send the arguments as an object.
    """

    def __init__(self) -> None:
        self._open: list[dict[str, Any]] = []

    def add(self, fragment: Any) -> int:
        """One fragment, as the SDK hands it on; what it counts for, in characters."""
        function = getattr(fragment, "function", None)
        index, id = getattr(fragment, "index", None), getattr(fragment, "id", None) or ""
        name, arguments = getattr(function, "name", None) or "", getattr(function, "arguments", None)
        call = self._call(index, id, name)
        if name and name != call["name"]:
            call["name"] += name
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        arguments = arguments if isinstance(arguments, str) else ""
        call["text"] += arguments
        return PIECE + len(arguments) + len(name)

    def _call(self, index: int | None, id: str, name: str) -> dict[str, Any]:
        same = [call for call in self._open if index is not None and call["index"] == index]
        call = same[-1] if same else (self._open[-1] if self._open and index is None and not (id or name) else None)
        if call is not None and id and call["id"] and call["id"] != id:
            call = None  # the same index, but another call
        if call is not None and id and not call["id"]:
            call["id"] = id
        if call is None:
            call = {"index": index, "id": id, "name": "", "text": ""}
            if len(self._open) <= MOST:
                self._open.append(call)
        return call

    def __bool__(self) -> bool:
        return bool(self._open)

    def calls(self) -> Iterator[ToolCall]:
        """The calls, complete. One without a name is no call."""
        for number, call in enumerate(self._open):
            if call["name"]:
                arguments, fault = read_arguments(call["text"])
                yield ToolCall(call["id"] or f"call_{number}", call["name"], arguments, fault)
