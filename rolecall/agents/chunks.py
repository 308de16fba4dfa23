"""A chat in chunks, and the three questions a model is asked about each: what exists, what is established, how it is told.

The model sees its own notes of the chunks before: what it recorded, and why. Scenes are numbered within the chat, so that an
answer that is paid for holds whatever turns they become.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rolecall.agents import scribe
from rolecall.campaign.folder import Campaign
from rolecall.campaign.instructions import instructions
from rolecall.exchange.chat_story import Scene
from rolecall.models.messages import Message, Request, Text

LAYER = "ingest"
COARSE, MODERATE, DETAILED = "coarse", "moderate", "detailed"
SEARCH, FACTS, NARRATIVE = "search", "facts", "narrative"


@dataclass(frozen=True, slots=True)
class Budget:
    """How closely a chat is read: characters of a chunk, rounds of tools in each, whether what exists is asked for."""

    size: int
    rounds: int
    asks: bool


BUDGETS = {COARSE: Budget(24_000, 1, False), MODERATE: Budget(12_000, 2, True), DETAILED: Budget(6_000, 3, True)}
MAX_TOKENS = {SEARCH: 500, FACTS: 2500, NARRATIVE: 2500}
NOTES = 2400  # characters of its own notes that a model is shown
THOUGHT = 300  # characters of a chunk's reasoning that are kept

_TEXT = {"type": "string"}
LOOK_UP = {
    "type": "object",
    "properties": {
        "look_up": {"type": "array", "items": _TEXT, "description": "names, or short questions to the campaign"},
        "reasoning": {"type": "string", "description": "one sentence for your own notes"},
    },
    "required": ["look_up"],
}


def _objects(about: str, required: Sequence[str], **properties: dict) -> dict:
    items = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "array", "items": items, "description": about}


TELLING = {
    "type": "object",
    "properties": {
        "journal": _objects("one line for each scene", ("scene", "text"), scene={"type": "integer"}, text=_TEXT),
        "retelling": {"type": "string", "description": "the whole stretch as prose in past tense"},
        "arcs": _objects(
            "the open questions that moved, by plot thread",
            ("arc", "scene", "text"),
            arc=_TEXT,
            question=_TEXT,
            stakes=_TEXT,
            scene={"type": "integer"},
            text=_TEXT,
            summary=_TEXT,
            status=_TEXT,
        ),
        "reasoning": {"type": "string", "description": "two sentences for your own notes: what matters later, and why"},
    },
    "required": ["journal", "retelling", "arcs"],
}


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of scenes: numbers count from 1; `first` and `last` are scenes, counted from 1 in the whole chat."""

    number: int
    first: int
    scenes: tuple[Scene, ...]

    @property
    def last(self) -> int:
        """Its last scene."""
        return self.first + len(self.scenes) - 1

    def has(self, number: object) -> bool:
        """Whether this is the number of one of its scenes."""
        return type(number) is int and self.first <= number <= self.last

    @property
    def text(self) -> str:
        """The scenes as a model reads them."""
        return "\n\n".join(self.told(number) for number in range(self.first, self.last + 1))

    def told(self, number: int) -> str:
        """One scene under its number."""
        scene = self.scenes[number - self.first]
        action = "\n".join(f"> {line}".rstrip() for line in scene.action.split("\n")) if scene.action else ""
        return "\n\n".join(part for part in (f"Scene {number}", action, scene.prose) if part)


def chunks_of(scenes: Sequence[Scene], rounds: str) -> tuple[Chunk, ...]:
    """The chunks of a chat for a budget; each holds at least one scene, whole."""
    size = BUDGETS[rounds].size
    chunks: list[Chunk] = []
    part: list[Scene] = []
    length = 0
    for number, scene in enumerate(scenes, 1):
        more = len(scene.action) + len(scene.prose)
        if part and length + more > size:
            chunks.append(Chunk(len(chunks) + 1, number - len(part), tuple(part)))
            part, length = [], 0
        part.append(scene)
        length += more
    if part:
        chunks.append(Chunk(len(chunks) + 1, len(scenes) - len(part) + 1, tuple(part)))
    return tuple(chunks)


@dataclass(slots=True)
class Notes:
    """A model's own results and reasoning of the chunks before, compact: the oldest go first when there is no more room."""

    rows: list[str] = field(default_factory=list)

    def add(self, chunk: Chunk, results: Sequence[str], reasoning: str) -> None:
        """What came of a chunk."""
        done = "; ".join(results) or "nothing recorded"
        thought = " ".join(reasoning.split())[:THOUGHT]
        self.rows.append(f"- Scenes {chunk.first}-{chunk.last}: {done}." + (f" {thought}" if thought else ""))

    @property
    def text(self) -> str:
        """The newest rows that fit."""
        kept: list[str] = []
        for row in reversed(self.rows):
            if sum(map(len, kept)) + len(row) > NOTES:
                break
            kept.append(row)
        return "\n".join(reversed(kept))


# -- the questions


def request(
    campaign: Campaign, phase: str, chunk: Chunk, total: int, notes: Notes, cast: str, parts: Sequence[str] = ()
) -> Request:
    """The question of a phase about a chunk. `parts` are what the campaign has on it."""
    spoken = [i.text for i in instructions(campaign, LAYER) if i.when == f"{LAYER}-{phase}"]
    offered, schema = (), None
    if phase == FACTS:
        spoken.append(scribe.kinds_in_brief())
        offered = tuple(scribe.offer(tool) for tool in scribe.OFFERED)
    else:
        schema = LOOK_UP if phase == SEARCH else TELLING
    head = [f"Chunk {chunk.number} of {total}.", f"Who speaks: {cast}." if cast else ""]
    if notes.text:
        head.append(f"Your own notes on the chunks before:\n{notes.text}")
    said = "\n\n---\n\n".join(part for part in (*head, *parts, chunk.text) if part)
    system = (Text("\n\n".join(spoken), cache=True),)
    return Request(system, (Message("user", (Text(said),)),), offered, MAX_TOKENS[phase], schema)
