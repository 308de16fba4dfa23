"""What is fuzzed: four doors through which text of others comes in, each with what is drawn for it and what must hold behind it.

A target is a function that Hypothesis calls with drawn values. It may meet our own errors and nothing else; what is told
apart from a refusal (a tool's answer that hides a fault of ours) is told as one. The drawn parts are those of the property
tests of each room; here they are cut, doubled and mixed as those tests, which know what they expect, cannot have them.
"""

from __future__ import annotations

import atexit
import json
import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from rolecall.campaign import documents
from rolecall.campaign.documents import parse
from rolecall.campaign.effects import Effect, edit_of
from rolecall.campaign.folder import open_campaign
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.text import clean_line
from rolecall.errors import DocumentError, ExchangeError, RoleCallError
from rolecall.exchange import formats, planning, receipt
from rolecall.exchange.chat_reading import read_chat
from rolecall.models.messages import ToolCall
from rolecall.search.searcher import Search
from rolecall.tools import families
from rolecall.tools.toolbox import Table, Toolbox
from tests.campaign.game import saltmarsh
from tests.campaign.game.test_directives import anything, fragments
from tests.campaign.writing import keys, notes, values, words
from tests.exchange import foreign, test_chats
from tests.exchange.test_generated_files import SEEDS, changed
from tests.tools import table

ODD = ["\ud800", "\0", "---\n", "\n- T0001 x", "\u2028", "\x1b[31m", "[[", "]]", "../x", "CON", "1e999", "{", "\ufeff", "\r", "&a", "*a", "9" * 400]  # fmt: skip
texts = st.sampled_from(ODD) | st.text(max_size=20) | values
junk = st.sampled_from([one.encode("utf-8", "surrogatepass") for one in ODD]) | st.binary(max_size=12)
LONG_DATA = 20_000  # bytes


@st.composite
def torn(draw, whole: st.SearchStrategy[bytes]) -> bytes:
    """Bytes with up to four cuts, doublings and insertions."""
    data = draw(whole)
    for _ in range(draw(st.integers(0, 4))):
        at, to = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
        change = draw(st.sampled_from(("cut", "double", "insert")))
        middle = {"cut": b"", "double": data[at:to] * 2}.get(change)
        data = data[:at] + (draw(junk) + data[at:to] if middle is None else middle) + data[to:]
    return data[:LONG_DATA]


# -- the document layer

OPS = ("journal", "arc", "history", "promise", "kept", "field", "forget", "revive", "section", "value", "todo", "tick", "dated",
       "summary", "summary_revised", "summary_retired", "brought")  # fmt: skip
cleaned = texts.map(clean_line)  # as every layer hands it on
documents_torn = torn(notes().map(lambda note: note.data) | st.sampled_from([x.encode() for x in table.FILES.values()]))
effects = st.builds(
    Effect,
    st.sampled_from(OPS),
    st.sampled_from(["a.md", STATE_FILE, "arcs/a.md", "characters/a.md", "dm/seeds.md"]),
    st.integers(1, 9999),
    text=cleaned,
    key=st.sampled_from(["name", "status", "hit_points", "inventory", "done", "x"]),
    title=cleaned,
    was=cleaned,
)


def document(data: bytes, key: str, value: str, item: str | dict[str, str], effect: Effect) -> None:
    """Read a file that may be anything, and make every edit in it that there is."""
    edits: tuple[Callable[[], bytes], ...] = (
        lambda: documents.set_field(data, "a.md", key, value),
        lambda: documents.set_field(data, "a.md", key, value, typed=True),
        lambda: documents.remove_field(data, "a.md", key),
        lambda: documents.add_item(data, "a.md", key, item),
        lambda: documents.set_item(data, "a.md", key, 0, item),
        lambda: documents.remove_item(data, "a.md", key, 0),
        lambda: documents.append_to_section(data, "a.md", value, value, create=2),
        lambda: edit_of(effect)(data),
        lambda: edit_of(effect)(None),
    )
    for edit in edits:
        with suppress(DocumentError):
            parse(edit(), "a.md")


# -- the importers

CHATS = (
    test_chats.jsonl(test_chats.HEAD, test_chats.KIT, test_chats.SERA),
    json.dumps({"messages": [test_chats.KIT, test_chats.SERA], "mapping": {"a": {"message": None, "children": ["a"]}}}).encode(),
    json.dumps({"histories": {"histories": [{"msgs": [{"src": {"name": "K"}, "text": "x"}]}]}}).encode(),
    json.dumps({"data": [["I knock.", "She opens."]], "internal": [], "data_visible": [["a", "b"]]}).encode(),
    b"Kit: I knock.\n\nSera: She opens.\n> I go in.\nYou: \xe2\x80\x9cWell?\xe2\x80\x9d\n",
)  # fmt: skip


@st.composite
def _exports(draw) -> bytes:
    value = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 3))):
        value = changed(value, draw(st.lists(st.integers(0, 40), min_size=1, max_size=5)), draw(anything | texts))
    data = json.dumps(value).encode()
    return foreign.png(foreign.squeezed("chara", value)) if draw(st.booleans()) else data


imported = torn(_exports() | st.sampled_from(CHATS) | notes().map(lambda note: note.data))


def importer(data: bytes, which: int, player: str) -> None:
    """Bring in a file that may be anything: as a lorebook or card, and as a chat."""
    with tempfile.TemporaryDirectory() as folder, suppress(ExchangeError):
        place = Path(folder) / "export.json"
        place.write_bytes(data)
        read, parcel = formats.load(place)
        plan = planning.plan(parcel, place.name, read, taken=lambda _: False, names=())
        for made in plan.made:
            parse(made.data, made.path)
        receipt.write(plan).encode()
    with suppress(ExchangeError):
        for message in read_chat(data, which=which, player=player).messages:
            message.text.encode()


# -- what models call and say

NAMES = [re.search(r"(?m)^name: (.*?)\r?$", text)[1] for text in table.FILES.values() if "\nname: " in text]
_HIDES_A_FAULT = re.compile(r"That did not work \(\w+\)\.")


def _drawn(shape: dict) -> st.SearchStrategy:
    for choice in ("anyOf", "oneOf"):
        if choice in shape:
            return st.one_of([_drawn(one) for one in shape[choice]])
    if "enum" in shape:
        return st.sampled_from(shape["enum"])
    if shape.get("type") == "array":
        return st.lists(_drawn(shape.get("items", {})), min_size=shape.get("minItems", 0), max_size=3)
    if shape.get("type") == "object":
        inner = {key: _drawn(one) for key, one in shape.get("properties", {}).items()}
        needed = {key: one for key, one in inner.items() if key in shape.get("required", ())}
        return st.fixed_dictionaries(needed, optional={k: v for k, v in inner.items() if k not in needed})
    if shape.get("type") == "integer":
        near = st.integers(max(shape.get("minimum", -9), -9), min(shape.get("maximum", 30), 30))
        return near | st.integers(shape.get("minimum"), shape.get("maximum"))
    if shape.get("type") == "boolean":
        return st.booleans()
    said = [
        "bring the ledger",
        "find bronze",
        "the bell is cracked",
        "silver",
        "2d6+1",
        "20 Frostmoon 1492",
        "14:30",
        "7/9",
    ]
    texts_of_it = st.sampled_from([*NAMES, *said]) | texts
    return texts_of_it.filter(lambda text: shape.get("minLength", 0) <= len(text) <= shape.get("maxLength", 300))


@st.composite
def calls(draw) -> tuple[str, bool, list[ToolCall]]:
    """(layer, whether a fight is under way, up to four calls): nearly all as the schema has them, or of any shape at all."""
    layer = draw(st.sampled_from(families.LAYERS))
    tools = families.callable_by(layer)
    made = []
    for number in range(draw(st.integers(1, 4))):
        tool = draw(st.sampled_from(tools))
        arguments = draw(_drawn(tool.schema))
        if draw(st.integers(0, 4)) == 0:
            arguments = {**arguments, draw(st.sampled_from([*tool.schema["properties"], "x"])): draw(anything | texts)}
        made.append(ToolCall(f"call_{number}", tool.name, arguments))
    return layer, draw(st.booleans()), made


@cache
def _tale(fight: bool) -> Path:
    place = tempfile.mkdtemp(prefix="fuzz-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    root = Path(place) / "tale"
    table.play(root, fight=fight)
    return root


def tools(drawn: tuple[str, bool, list[ToolCall]]) -> None:
    """Call tools as a model may: each answers in words, and what they made can be written, twice as well as once."""
    layer, fight, made = drawn
    root = _tale(fight)
    campaign = open_campaign(root, here_only=True)
    search = Search(campaign)
    search.refresh()
    found = Table(campaign, search, table.TURN, campaign.document(STATE_FILE), layer=layer, seed="seed")
    box: Toolbox = families.toolbox(layer, found)
    for call, result in zip(made, box.run(made), strict=True):
        assert not _HIDES_A_FAULT.search(result.text), f"{call.name} {call.arguments!r}: {result.text}"
    with suppress(RoleCallError):
        table.Play(root, found, box).written()


directives = fragments() | anything


def directive(data: object, layer: str) -> None:
    """Say a directive of any shape: it is read or refused in words, and what it asks for can be carried out twice."""
    said = saltmarsh.Table()
    result = said.play(data, layer=layer)
    assert all(str(one) and one.why for one in result.refused)


# name: (target, what is drawn for it)
TARGETS: dict[str, tuple[Callable[..., None], dict[str, st.SearchStrategy]]] = {
    "document": (document, {"data": documents_torn, "key": keys | cleaned, "value": cleaned,
                            "item": cleaned | st.dictionaries(keys, words, max_size=2), "effect": effects}),
    "importer": (importer, {"data": imported, "which": st.integers(-1, 3), "player": st.sampled_from(["", "Kit", "x"])}),
    "tools": (tools, {"drawn": calls()}),
    "directive": (directive, {"data": directives, "layer": st.sampled_from(saltmarsh.directives.LAYERS)}),
}  # fmt: skip
