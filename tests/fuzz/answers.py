"""Whole turns whose every layer answers anything: texts, JSON of its schema and of any other, calls of its tools, nothing."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from rolecall.agents import afterwork, dm_stream, historian, tunnelvision, turn_dm
from rolecall.campaign import journal, records
from rolecall.campaign.documents import parse
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.errors import DocumentError, RoleCallError
from rolecall.models.chain import Models
from rolecall.models.events import Event, Stopped, TextDelta, ToolCalled, Used
from rolecall.models.messages import Request, ToolCall
from rolecall.models.provider import Limits, Profile
from rolecall.models.usage import Usage
from rolecall.tools.toolbox import DM, NARRATOR, SCRIBE
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.fuzz.calls import HIDES_A_FAULT, TOOLS, arguments, said
from tests.fuzz.matter import bent, of_schema, pieces, texts
from tests.tools import table
from tests.turn import world

SETTINGS = """\
format: 1
name: The Tale
language: en
models: {default: "scripted:never-read.yaml"}
timeouts: {turn_dm: 60, dm: 60, sidecar: 60}
memory: {fold_at: 200, keep_lines: 1, historian_every: 1}
music: on
continuity: report
"""
SCHEMAS = {
    "retriever": tunnelvision.SCHEMA,
    "turn_dm": turn_dm.SCHEMA,
    "historian": historian.SCHEMA,
    "afterwork": afterwork.SCHEMA,
}
PROSE = "The fog lifts, and Sera puts the ledger on the table. “Marta lied,” she says; Varr has gone to Ford.\n\nNobody speaks."
DIRECT = ToolCall(
    "call_d",
    dm_stream.DIRECT,
    {"narrator": "Let the fog lift.", "immersion": {"resources": [{"name": "silver", "change": -1}]}},
)


@dataclass
class Anybody:
    """Every model of a turn, with its answers by layer: a text and calls a round, the last one again and again."""

    answers: dict[str, list[tuple[str, list[ToolCall]]]]
    asked: dict[str, int] = field(default_factory=dict)
    profile: Profile = field(default_factory=lambda: Profile("scripted:never-read.yaml", free=True))

    def prepare(self) -> None:
        """Nothing to do."""

    def check(self) -> str:
        """Nothing is missing."""
        return ""

    def close(self) -> None:
        """Nothing to close."""

    def stream(self, request: Request, limits: Limits) -> Iterator[Event]:
        """The next answer of the layer that asks."""
        layer = layer_of(request)
        rounds = self.answers[layer]
        number = self.asked[layer] = self.asked.get(layer, -1) + 1
        text, calls = rounds[min(number, len(rounds) - 1)]
        if text:
            yield TextDelta(text)
        for call in calls if request.tools else ():
            yield ToolCalled(call)
        yield Used(Usage(fresh=10, out=5))
        yield Stopped("tool_use" if calls and request.tools else "end")


def layer_of(request: Request) -> str:
    """Which layer a request comes from, by what it asks for."""
    offered = {tool.name for tool in request.tools}
    if request.answer_schema is not None:
        asked = set(request.answer_schema["properties"])
        return max(SCHEMAS, key=lambda layer: len(asked & set(SCHEMAS[layer]["properties"])))
    if dm_stream.DIRECT in offered:
        return DM
    if any(name.startswith("record_") for name in offered):
        return SCRIBE
    return NARRATOR if offered else "chronicler"


@st.composite
def _called(draw, layer: str) -> list[ToolCall]:
    chosen = draw(st.lists(st.sampled_from(TOOLS[layer]), max_size=3))
    calls = [ToolCall(f"call_{n}", tool.name, draw(arguments(tool))) for n, tool in enumerate(chosen)]
    if layer == DM and draw(st.booleans()):
        given = draw(
            of_schema(dm_stream.DIRECT_TOOL.schema, said)
            | st.dictionaries(st.just("narrator"), pieces)
            | st.just(DIRECT.arguments)
        )
        calls.append(ToolCall("call_d", dm_stream.DIRECT, given))
    if draw(st.integers(0, 9)) == 0:
        calls.append(ToolCall("call_x", draw(texts), {}, "not JSON"))
    return calls


def _rounds(layer: str) -> st.SearchStrategy:
    shown = st.just(PROSE) | texts if layer == NARRATOR else st.just("") | texts
    return st.lists(st.tuples(shown, _called(layer)), min_size=1, max_size=2)


@st.composite
def _typed(draw, layer: str) -> list[tuple[str, list]]:
    """JSON of the layer's schema, with parts of another shape now and then, or a text that is none."""
    value = draw(of_schema(SCHEMAS[layer], said))
    how = draw(st.integers(0, 5))
    if how == 0:
        value = draw(bent([value]))
    return [(draw(texts) if how == 1 else json.dumps(value), [])]


answers = st.fixed_dictionaries(
    {
        **{layer: _typed(layer) for layer in SCHEMAS},
        **{layer: _rounds(layer) for layer in (DM, NARRATOR, SCRIBE)},
        "chronicler": st.just([("Retold: the ledger, the promise, the lie.", [])])
        | texts.map(lambda text: [(text, [])]),
    }
)
plain = {"retriever": [("{}", [])], "turn_dm": [("{}", [])], "historian": [('{"summaries": []}', [])], "afterwork": [("{}", [])],
         DM: [("", [DIRECT])], NARRATOR: [(PROSE, [])], SCRIBE: [("Nothing.", [])], "chronicler": [("Retold.", [])]}  # fmt: skip
# Mostly a few layers at a time are beside themselves, so that what one of them costs is not hidden by another's.
some = st.tuples(answers, st.sets(st.sampled_from(sorted(plain)), max_size=6)).map(
    lambda drawn: {layer: plain[layer] if layer in drawn[1] else drawn[0][layer] for layer in plain}
)


@cache
def _tale(fight: bool) -> Path:
    place = tempfile.mkdtemp(prefix="fuzz-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    root = Path(place) / "tale"
    table.play(root, fight=fight)
    (root / "rolecall.yaml").write_text(SETTINGS)
    return root


def turn(answered: dict[str, list[tuple[str, list[ToolCall]]]], action: str, fight: bool) -> None:
    """A turn is told or refused in words; told, it stands once, its files can be read, and taking it back gives the old ones."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        root = Path(place) / "tale"
        shutil.copytree(_tale(fight), root)
        before, model, shared = world.text(root), Anybody(answered), Models({})
        for role in ("narrator", "turn_dm", "dm", "sidecar"):
            shared._open[model.profile.spec, role] = model
        game = Game(root, command="test", models=(model.profile.spec,), wait=1.0, _shared=shared)
        try:
            result = game.tell(action, Listener())
        except RoleCallError:
            assert world.text(root) == before
            return
        finally:
            game.settle()
        said = [f"{one.layer}: {one.reason}" for one in result.degraded if HIDES_A_FAULT.search(one.reason)]
        assert not said, said
        json.dumps(result.to_json()).encode()
        campaign = open_campaign(root, here_only=True)
        told = world.told(campaign)
        assert told[journal.turn_number(result.turn)] == (result.journal, 1)
        readable(campaign)
        game.undo(Listener())
        after = world.text(root)
        left = {path for path in before | after if before.get(path) != after.get(path)}
        assert all(path.startswith("chronicles/") or path == "campaign-state.md" for path in left), left
        assert records.newest_open(root) is None


def readable(campaign: Campaign) -> None:
    """No file of the campaign was made malformed."""
    broken = []
    for path in campaign.names():
        try:
            parse(campaign.read(path), path)
        except DocumentError as error:
            broken.append(str(error))
    assert not broken, broken


TARGETS = {
    "turns": (turn, {"answered": some, "action": texts.filter(str.strip) | st.just("I wait."), "fight": st.booleans()})
}
