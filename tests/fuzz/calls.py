"""What models call and say: the arguments of every tool of every layer, directives, and whole answers of any shape."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from rolecall.agents import scribe
from rolecall.campaign.folder import open_campaign
from rolecall.campaign.game import directives
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import RoleCallError
from rolecall.models.messages import ToolCall
from rolecall.search.searcher import Search
from rolecall.tools import families, ledger, upkeep
from rolecall.tools.toolbox import SCRIBE, Table, Toolbox, ToolType
from tests.campaign.game import saltmarsh
from tests.campaign.game.test_directives import anything, fragments
from tests.fuzz.matter import of_schema, pieces, texts
from tests.tools import table

NAMES = [re.search(r"(?m)^name: (.*?)\r?$", text)[1] for text in table.FILES.values() if "\nname: " in text]
SAID = [
    "bring the ledger",
    "find bronze",
    "the bell is cracked",
    "silver",
    "2d6+1",
    "20 Frostmoon 1492",
    "14:30",
    "7/9",
    "torch",
    "poisoned",
    "Bandit",
]
HIDES_A_FAULT = re.compile(r"That did not work \(\w+\)\.|made a mistake")
said = st.sampled_from(NAMES) | st.sampled_from(SAID) | texts

# (layer, tool), every one there is
EVERY: tuple[tuple[str, ToolType], ...] = (
    *((layer, tool) for layer in families.LAYERS for tool in families.callable_by(layer)),
    *((SCRIBE, tool) for tool in (*scribe.OFFERED, *upkeep.ALSO)),
)
TOOLS = {layer: [tool for mine, tool in EVERY if mine == layer] for layer in (*families.LAYERS, SCRIBE)}
_DRAWN = {id(tool): of_schema(tool.schema, said) for _, tool in EVERY}
called: set[str] = set()  # the tools that took what they were given


@st.composite
def arguments(draw, tool: ToolType) -> dict:
    """Arguments as the schema has them, and now and then of any shape at all."""
    arguments = draw(_DRAWN[id(tool)])
    if draw(st.integers(0, 4)) == 0:
        arguments = {**arguments, draw(st.sampled_from([*tool.schema["properties"], "x"])): draw(pieces)}
    return arguments


@st.composite
def calls(draw) -> tuple[str, bool, list[ToolCall]]:
    """(layer, whether a fight is under way, up to four calls), the first of any of all tools."""
    layer, first = draw(st.sampled_from(EVERY))
    chosen = [first, *draw(st.lists(st.sampled_from(TOOLS[layer]), max_size=3))]
    made = [ToolCall(f"call_{n}", tool.name, draw(arguments(tool))) for n, tool in enumerate(chosen)]
    return layer, draw(st.booleans()), made


@cache
def _tale(fight: bool) -> Path:
    place = tempfile.mkdtemp(prefix="fuzz-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    root = Path(place) / "tale"
    table.play(root, fight=fight)
    return root


def _table(layer: str, fight: bool) -> Table:
    campaign = open_campaign(_tale(fight), here_only=True)
    search = Search(campaign)
    search.refresh()
    sort = ledger.Ledger if layer == SCRIBE else Table
    return sort(campaign, search, table.TURN, campaign.document(STATE_FILE), layer=layer, seed="seed")


def tools(drawn: tuple[str, bool, list[ToolCall]]) -> None:
    """Call tools as a model may: each answers in words, and what they made can be written, twice as well as once."""
    layer, fight, made = drawn
    found = _table(layer, fight)
    box = Toolbox(TOOLS[SCRIBE], found) if layer == SCRIBE else families.toolbox(layer, found)
    if layer == SCRIBE:
        made = [scribe.eased(box, call) for call in made]
    for call, result in zip(made, box.run(made), strict=True):
        assert not HIDES_A_FAULT.search(result.text), f"{call.name} {call.arguments!r}: {result.text}"
        result.text.encode()
        if not result.is_error:
            called.add(call.name)
    with suppress(RoleCallError):
        table.Play(found.campaign.root, found, box).written()


def directive(data: object, layer: str, more: object) -> None:
    """Directives of any shape, of one layer and of another beside it: read or refused in words, and carried out twice as once."""
    result = saltmarsh.Table().play(data, layer=layer)
    assert all(str(one) and one.why for one in result.refused)
    read = [directives.read(one, by, 42) for by in directives.LAYERS for one in (data, more)]
    merged = directives.merge([found for found, _ in read])
    assert directives.read(merged.data, layer, 42)[0].data == merged.data


TARGETS = {
    "tools": (tools, {"drawn": calls()}),
    "directives": (directive, {"data": fragments() | anything | pieces, "layer": st.sampled_from(directives.LAYERS),
                               "more": fragments() | anything}),
}  # fmt: skip
