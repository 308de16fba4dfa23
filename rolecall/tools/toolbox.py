"""The toolbox: which tools a model is offered, and what happens when it calls one.

A tool is a small verb with a schema, a safety class and an effect. A `read` looks something up; a `mutation` puts an
`Effect` on the table, to be written when the turn is told. Whatever goes wrong inside a tool goes back to the model
in plain words, and the turn goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

from rolecall.campaign import documents
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect, edit_of, laid_over
from rolecall.campaign.folder import Campaign
from rolecall.campaign.game import edits
from rolecall.errors import DocumentError, RoleCallError, StorageError
from rolecall.models.messages import Tool, ToolCall, ToolResult
from rolecall.search.searcher import Search

MAX_CALLS = 16  # tool calls of one answer that are looked at
DM, NARRATOR, SCRIBE = "dm", "narrator", "scribe"  # the layers that call tools


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
    """What the tools of one layer share in one turn: the campaign as the turn found it, and what was put down so far.

    `fragments` are directives that game tools made, to be merged when the turn is told, and `beside` those of the layers before
    this one; `rolls` are the lines of its dice, thrown under `seed`; `opened` the families that `open_tools` added to what is
    on offer.
    """

    campaign: Campaign
    search: Search
    turn: int
    state: Document
    effects: list[Effect] = field(default_factory=list)
    journal: str = ""
    seen: list[Seen] = field(default_factory=list)
    layer: str = NARRATOR
    opened: list[str] = field(default_factory=list)
    fragments: list[dict] = field(default_factory=list)
    beside: tuple = ()
    seed: str = ""
    rolled: int = 0
    rolls: list[str] = field(default_factory=list)
    held: dict = field(default_factory=dict, repr=False)  # what was worked out of all this, for as long as it holds

    @property
    def secrets(self) -> bool:
        """Whether what is secret exists for this layer."""
        return self.layer == DM

    def now(self, path: str) -> Document | None:
        """A file as it will be after what this table holds for it; None where there is none yet.

        The Campaign State is taken as the turn found it: an editor may have it moved away just now.
        """
        data = laid_over(self._found(path), self.effects, path)
        return None if data is None else documents.parse(data, path)

    def _found(self, path: str) -> bytes | None:
        if path == self.state.path:
            return self.state.data
        known = path in self.search.catalogue or self.campaign.exists(path)
        return patiently(self.campaign, path) if known else None

    def direct(self, fragment: dict) -> str:
        """Ask for a change of the game's numbers (`campaign/game`); what stands now, in words. ToolFault when it is refused."""
        from rolecall.tools import directing  # it is made of tools itself

        return directing.direct(self, fragment)

    def replacing(self, path: str, key: str, words: str, *, reason: str = "", made_with: str = "") -> Effect:
        """The effect that gives a field another value. It carries the value it replaces, so that what the writer changes
        meanwhile stays; `made_with` is that value in a file that this turn is about to make.
        """
        document = self.now(path)
        key = edits.held_key(document, key) if document else key
        was = document.fields.get(key, "") if document else made_with
        if not isinstance(was, str):
            raise ToolFault(f"`{key}` holds more than one line there; it is the writer's to change.")
        return Effect("value", path, self.turn, words, key=key, was=was, reason=reason)

    def put(self, *effects: Effect) -> None:
        """Put effects on the table, all or none; ToolFault where one cannot be made."""
        held = list(self.effects)
        for effect in effects:
            document = self.now(effect.path)
            try:
                edit_of(effect)(document.data if document else None)
            except DocumentError as error:
                self.effects[:] = held
                raise ToolFault(f"That cannot be written: {error.what}.") from None
            self.effects.append(effect)


def patiently(campaign: Campaign, path: str) -> bytes:
    """A file's bytes, with a moment's patience for an editor that is just saving it."""
    for pause in (0.05, 0.1, 0.2):
        try:
            data = campaign.read(path)
            documents.parse(data, path)
            return data
        except (DocumentError, StorageError):
            time.sleep(pause)
    return campaign.read(path)


Run = Callable[[Table, dict], str]


@dataclass(frozen=True, slots=True)
class ToolType:
    """A tool as RoleCall knows it: what the model sees, its safety class, and what it does."""

    name: str
    description: str
    schema: dict
    safety: Literal["read", "mutation"]
    run: Run
    awaited: bool = False  # the scene goes on with its result, as with a look-up's

    def offer(self) -> Tool:
        """The tool as a request carries it."""
        return Tool(self.name, self.description, brief(self.schema))


def brief(schema: dict) -> dict:
    """A schema as it is offered: bounds are left to the check of a call; said in every field they double the request."""
    kept = {k: v for k, v in schema.items() if k in ("type", "description", "enum", "required") and v}
    if "properties" in schema:
        kept["properties"] = {key: brief(one) for key, one in schema["properties"].items()}
    if "items" in schema:
        kept["items"] = brief(schema["items"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            kept[key] = [brief(one) for one in schema[key]]
    return kept


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
    """The tools of one model in one turn: those it may call, and those of them that are on offer just now.

    A tool that may be called is run whether it is on offer or not: a model that knows it from an earlier turn is not
    turned away, and a crash's recovery gets the same results from the same answers.
    """

    def __init__(
        self, tools: Sequence[ToolType], table: Table, offered: Callable[[], Sequence[ToolType]] | None = None
    ) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.table = table
        self._offered = offered or self.tools.values

    def offers(self) -> tuple[Tool, ...]:
        """The tools as a request carries them, always in the same order (the prompt cache counts on it)."""
        return tuple(tool.offer() for tool in self._offered())

    def is_read(self, call: ToolCall) -> bool:
        """Whether a call only looks something up."""
        tool = self.tools.get(call.name)
        return tool is not None and tool.safety == "read"

    def is_awaited(self, call: ToolCall) -> bool:
        """Whether the scene waits for a call's result: a look-up's, or what the dice say."""
        tool = self.tools.get(call.name)
        return self.is_read(call) or (tool is not None and tool.awaited)

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
        before = (list(self.table.effects), list(self.table.fragments))
        try:
            tool = self.tools.get(call.name)
            if call.fault:
                raise ToolFault(call.fault)
            if tool is None:
                offered = ", ".join(tool.name for tool in self._offered())
                raise ToolFault(f"There is no tool {call.name!r}. Tools: {offered}.")
            _check(tool, call.arguments)
            return ToolResult(call.id, tool.run(self.table, call.arguments))
        except ToolFault as fault:
            return ToolResult(call.id, str(fault), is_error=True)
        except RoleCallError as error:
            return ToolResult(call.id, f"That did not work: {error}", is_error=True)
        except Exception as error:  # a fault of ours in a tool: the model hears of it, and the turn goes on
            if not self.is_read(call):
                self.table.effects[:], self.table.fragments[:] = before
            return ToolResult(call.id, f"That did not work ({type(error).__name__}).", is_error=True)


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
