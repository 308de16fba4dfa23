"""The toolbox: which tools a model is offered, and what happens when it calls one.

A tool is a small verb with a schema, a safety class and an effect. A `read` looks something up; a `mutation` puts an
`Effect` on the table, to be written when the turn is told. Whatever goes wrong inside a tool goes back to the model
in plain words, and the turn goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect
from rolecall.campaign.folder import Campaign
from rolecall.errors import RoleCallError
from rolecall.models.messages import Tool, ToolCall, ToolResult
from rolecall.search.searcher import Search

MAX_CALLS = 16  # tool calls of one answer that are looked at


class ToolFault(Exception):
    """What the model should hear about its call instead of a result."""


@dataclass(slots=True)
class Seen:
    """A passage that entered the conversation by a tool: the price list of search while writing."""

    path: str
    line: int
    owner: str
    reason: str
    text: str


@dataclass(slots=True)
class Table:
    """What the tools of one turn share: the campaign as the turn found it, and the effects put down so far."""

    campaign: Campaign
    search: Search
    turn: int
    state: Document
    effects: list[Effect] = field(default_factory=list)
    journal: str = ""
    seen: list[Seen] = field(default_factory=list)


Run = Callable[[Table, dict], str]


@dataclass(frozen=True, slots=True)
class ToolType:
    """A tool as RoleCall knows it: what the model sees, its safety class, and what it does."""

    name: str
    description: str
    schema: dict
    safety: Literal["read", "mutation"]
    run: Run

    def offer(self) -> Tool:
        """The tool as a request carries it."""
        return Tool(self.name, self.description, self.schema)


def schema(required: Sequence[str] = (), **properties: dict) -> dict:
    """The JSON Schema of a tool's arguments: an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def text(description: str, limit: int = 300, **more: object) -> dict:
    """A string property of at most `limit` characters."""
    return {"type": "string", "description": description, "minLength": 1, "maxLength": limit, **more}


class Toolbox:
    """The tools on offer to one model in one turn."""

    def __init__(self, tools: Sequence[ToolType], table: Table) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.table = table

    def offers(self) -> tuple[Tool, ...]:
        """The tools as a request carries them, always in the same order (the prompt cache counts on it)."""
        return tuple(tool.offer() for tool in self.tools.values())

    def is_read(self, call: ToolCall) -> bool:
        """Whether a call only looks something up."""
        tool = self.tools.get(call.name)
        return tool is not None and tool.safety == "read"

    def run(self, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        """The results in the order of the calls: reads side by side, then mutations one by one."""
        results: dict[int, ToolResult] = {}
        reads = [n for n, call in enumerate(calls) if self.is_read(call) and n < MAX_CALLS]
        if len(reads) > 1:
            with ThreadPoolExecutor(max_workers=4, thread_name_prefix="tool") as pool:
                for n, result in zip(reads, pool.map(self._one, [calls[n] for n in reads]), strict=True):
                    results[n] = result
        for n, call in enumerate(calls):
            if n >= MAX_CALLS:
                results[n] = ToolResult(call.id, f"Not run: at most {MAX_CALLS} calls an answer.", is_error=True)
            elif n not in results:
                results[n] = self._one(call)
        return tuple(results[n] for n in range(len(calls)))

    def _one(self, call: ToolCall) -> ToolResult:
        try:
            tool = self.tools.get(call.name)
            if call.fault:
                raise ToolFault(call.fault)
            if tool is None:
                raise ToolFault(f"There is no tool {call.name!r}. Tools: {', '.join(self.tools)}.")
            _check(tool, call.arguments)
            return ToolResult(call.id, tool.run(self.table, call.arguments))
        except ToolFault as fault:
            return ToolResult(call.id, str(fault), is_error=True)
        except RoleCallError as error:
            return ToolResult(call.id, f"That did not work: {error}", is_error=True)


_VALIDATORS: dict[int, tuple[ToolType, Callable]] = {}  # by the tool itself: two layers may know one name differently


def _check(tool: ToolType, arguments: dict) -> None:
    """Hold the arguments against the tool's schema; the validator is compiled once a process."""
    import fastjsonschema

    held = _VALIDATORS.get(id(tool))
    if held is None or held[0] is not tool:
        held = _VALIDATORS[id(tool)] = (tool, fastjsonschema.compile(tool.schema))
    try:
        held[1](arguments)
    except fastjsonschema.JsonSchemaValueException as error:
        raise ToolFault(f"{tool.name}: {error.message.replace('data.', '')}") from None
