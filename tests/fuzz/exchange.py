"""Other people's files: lorebooks, cards and notes in every wrapping, and chats of every program, whole and bent."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hypothesis import strategies as st

from rolecall.campaign.documents import parse
from rolecall.errors import ExchangeError
from rolecall.exchange import formats, notes, planning, png, receipt
from rolecall.exchange.chat_reading import read_chat
from rolecall.exchange.chat_story import scenes_of
from tests.campaign import writing
from tests.exchange import foreign
from tests.exchange.test_generated_files import SEEDS
from tests.fuzz.matter import bent, dumped, texts, torn

# -- lorebooks, cards and notes

KEYWORDS = st.sampled_from(png.KEYWORDS)


def wrapped(value: object, how: str, keyword: str) -> bytes:
    """A card as it travels."""
    packed = {
        "plain": lambda: dumped(value),
        "tEXt": lambda: foreign.png(foreign.plain(keyword, value)),
        "zTXt": lambda: foreign.png(foreign.squeezed(keyword, value)),
        "iTXt": lambda: foreign.png(foreign.international(keyword, value)),
        "charx": lambda: foreign.zipped({"card.json": dumped(value), "module.risum": b"o\0", "assets/a.png": b"x"}),
        "jpeg": lambda: b"\xff\xd8\xff\xe0\xff\xd9" + foreign.zipped({"card.json": dumped(value)}),
        "utf-16": lambda: json.dumps(value).encode("utf-16"),
    }
    return packed[how]()


WRAPPINGS = ("plain", "plain", "plain", "tEXt", "zTXt", "iTXt", "charx", "jpeg", "utf-16")
exports = st.builds(wrapped, bent(SEEDS), st.sampled_from(WRAPPINGS), KEYWORDS)
imported = exports | torn(exports)


@contextmanager
def _placed(name: str, data: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / name
        place.write_bytes(data)
        yield place


def book(data: bytes) -> None:
    """A lorebook, card or save is planned and received, or refused; what was read can be written back in its own format."""
    with _placed("export.json", data) as place, suppress(ExchangeError):
        read, parcel = formats.load(place)
        plan = planning.plan(parcel, place.name, read, taken=lambda _: False, names=("Sera",))
        assert len(plan.made) + len(plan.refused) == parcel.count
        for made in plan.made:
            parse(made.data, made.path)
        receipt.write(plan).encode()
        json.dumps(receipt.to_json(plan)).encode()
        formats.value(read, place)


def note(data: bytes, name: str) -> None:
    """A Markdown note is planned as it is, or refused."""
    with _placed(f"{name}.md", data) as place, suppress(ExchangeError):
        plan = notes.plan(notes.read(place.parent), taken=lambda _: False)
        receipt.write(plan).encode()


# -- chats

_HEAD = {"user_name": "Kit", "character_name": "Sera", "create_date": "2024-1-1@00h00m00s", "chat_metadata": {}}
_KIT = {"name": "Kit", "is_user": True, "is_system": False, "mes": "I knock.", "send_date": "June 19, 2023 2:20pm"}
_SERA = {"name": "Sera", "is_user": False, "is_system": True, "mes": "She opens.", "swipes": ["She opens.", "She hides."], "send_date": 1687184460000,
         "extra": {"type": "narrator"}}  # fmt: skip
_NODE = {"parent": None, "children": ["b"], "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi"]},
                                                          "create_time": 1687184460.5}}  # fmt: skip
_TURN = {"author": {"name": "Sera", "is_human": False}, "create_time": "2024-05-02T10:00:00Z", "primary_candidate_id": "b",
         "candidates": [{"candidate_id": "a", "raw_content": "No."}, {"candidate_id": "b", "raw_content": "Yes."}]}  # fmt: skip
_CRD3 = [
    {"NAMES": ["SAM", "LIAM"], "UTTERANCES": ["No!", "Yes."], "NUMBER": 1},
    {"NAMES": ["MATT"], "UTTERANCES": ["A door."], "NUMBER": 2},
]
_SAVE = {"gamestarted": True, "prompt": "A quay."}
LINES = [[_HEAD, _KIT, _SERA], [_KIT, {**_SERA, "mes": {"message": {"message": "She opens."}}}]]
TALKS = (
    {"type": "risuChat", "ver": 2, "data": {"name": "x", "message": [{"role": "user", "data": "Hello", "time": 1687184460000}, {"role": "char", "data": "Hi", "name": "Sera"}]}},
    {"type": "risuAllChats", "ver": 1, "data": [{"message": [{"role": "user", "data": "Hello"}]}] * 2},
    {"name": "Sera", "greeting": "You see Sera.", "messages": [{"_id": "1", "userId": "u", "msg": "Hello", "createdAt": "2024-05-02"}, {"handle": "x", "msg": "Hi"}]},
    {"internal": [], "visible": [["<|BEGIN-VISIBLE-CHAT|>", "Well met."], ["Hello", "Hi"]]},
    {"data": [["I knock.", "She opens."]], "internal": [], "data_visible": [["a", "b"]]},
    {"histories": {"histories": [{"msgs": [{"src": {"is_human": True, "name": "Kit"}, "text": "Hello", "created": "2024-05-02"}]}] * 2}},
    {"turns": [_TURN, {**_TURN, "create_time": "2024-05-01T10:00:00Z", "primary_candidate_id": None}]},
    [{"title": "The quay", "mapping": {"a": _NODE, "b": {**_NODE, "parent": "a", "children": []}}, "current_node": "b"}, {"mapping": {"a": _NODE}}],
    {"name": "The quay", "chat_messages": [{"sender": "human", "text": "Hello", "created_at": "2024-05-01T10:00:00Z"}, {"content": [{"type": "text", "text": "Hi"}]}]},
    {**_SAVE, "actions": ["\n> I wait.\nRain falls.\n"]},
    {**_SAVE, "actions": ["{{[INPUT]}}I wait.{{[OUTPUT]}}Rain."]},
    {**_SAVE, "actions": ["\nKit: I wait.", "\nSera: Then wait."], "savedsettings": {"chatname": "Kit", "chatopponent": "Sera||$||Marta"}},
    {"name": "quay", "intro": "A quay.", "history": [{"message": "Sera: Well met.", "typ": "character", "source": "player"}, {"message": "Rain.", "typ": "narrator"}], "character_data": {}},
    {"METADATA": {}, "TURNS": _CRD3},
    [{"CHUNK": "x", "TURNS": _CRD3}, {"CHUNK": "y", "TURNS": _CRD3[1:]}],
    [{"role": "user", "content": [{"type": "text", "text": "Hello"}], "created": 5}, {"role": {"name": "assistant"}, "content": "Hi"}],
    {"log": {"part_1": [{"speaker": "Ann", "text": "One.", "date": "1 May 2023"}], "part_2": [{"speaker": "Bob", "text": "Two."}]}},
    {"chats": [{"messages": [{"speaker": "Ann", "text": "One."}]}]},
)  # fmt: skip
TRANSCRIPTS = (
    b"Kit: I knock.\n\nSera: She opens.\n> I go in.\nYou: \xe2\x80\x9cWell?\xe2\x80\x9d\n",
    b"---\ntitle: X\n---\n# The quay\n\nIt was late.\n\n> I wait.\n> And wait.\n\nRain: it fell.\n",
    b"The tide is out.\n\n**Kit:** I look.\n\n[12:30] Old Tobin: There: a bell.\nKIT: I go.\nOld Tobin: Wait.\n",
)


def lines(rows: object) -> bytes:
    """Rows as JSON lines."""
    return b"\n".join(map(dumped, rows if isinstance(rows, list) else [rows]))


chats = bent(TALKS).map(dumped) | bent(LINES).map(lines) | torn(st.sampled_from(TRANSCRIPTS))
chats = chats | chats | torn(chats) | torn(writing.notes().map(lambda note: note.data))


def chat(data: bytes, which: int, player: str) -> None:
    """A chat is read and becomes scenes, every message in one; or it is refused."""
    with suppress(ExchangeError):
        read = read_chat(data, which=which, player=player)
        told = [message for scene in scenes_of(read) for message in scene.messages]
        assert told == list(read.messages)
        for message in told:
            f"{message.speaker}{message.text}".encode()


TARGETS = {
    "lorebooks and cards": (book, {"data": imported}),
    "notes": (note, {"data": torn(writing.notes().map(lambda note: note.data)), "name": st.sampled_from(["a", "CON", "x (conflict)", "😀", " "])}),
    "chats": (chat, {"data": chats, "which": st.integers(0, 3), "player": st.sampled_from(["", "", "Kit", "You", "x"]) | texts}),
}  # fmt: skip
