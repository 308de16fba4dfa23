"""Which program a file comes from, told by what is in it and never by its name; and the file read, within bounds."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from rolecall.campaign.files import refused
from rolecall.errors import ExchangeError
from rolecall.exchange import (
    agnai,
    characterbook,
    charactercard,
    jsonfile,
    kobold,
    loose,
    novelai,
    png,
    risu,
    rolecallbook,
    talemate,
    worldinfo,
    zips,
)
from rolecall.exchange.card import Parcel

MAX_FILE = 64 * 1024 * 1024  # bytes: a card with its pictures
JPEG = b"\xff\xd8\xff"
RISUM = b"\x6f\x00"
# In this order: the more telling signs first.
READERS = (charactercard, rolecallbook, novelai, agnai, risu, characterbook, worldinfo, kobold, talemate)
KNOWN = (
    "lorebooks of SillyTavern, V3, RisuAI, Agnai, NovelAI and RoleCall, character cards (JSON, PNG, .charx), scenarios of "
    "NovelAI, saves of KoboldAI, scenes of Talemate, and folders of Markdown"
)
_CONTAINERS = ("data", "entries", "lorebook", "module", "character_data", "content", "world_state")
_CHAT = ("mes", "chat_metadata", "is_user")  # of one line of a chat
_CHATS = (
    *_CHAT,
    "messages",
    "histories",
    "data_visible",
    "mapping",
)  # of a chat in one object, by one program or another


def load(place: Path) -> tuple[bytes, Parcel]:
    """(bytes, what they hold) of a file; ExchangeError, with the file's name, when it cannot be taken."""
    data = contents(place)
    try:
        return data, parcel(data, place)
    except ExchangeError as error:
        error.path = error.path or str(place)
        raise


def value(data: bytes, place: Path) -> object:
    """The JSON value that the bytes of a file hold, however it is wrapped: what `parcel` reads, and an export writes back."""
    if data.startswith(png.SIGNATURE):
        found = png.card(data, place)
    elif zips.is_zip(data) and data.lstrip()[:1] != b"{":
        found = zips.read(data, place).card
    else:
        found = jsonfile.loads(data, place)
    return {"entries": found} if isinstance(found, list) else found


def contents(place: Path, limit: int = MAX_FILE) -> bytes:
    """All bytes of a plain file of at most `limit` bytes."""
    try:
        fd = os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise refused(error, place) from None
    with os.fdopen(fd, "rb") as stream:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise ExchangeError("this is not a plain file", path=place, remedy="name a file, or a folder of Markdown")
        if info.st_size > limit:
            what = f"the file is larger than {limit // 1024 // 1024} MiB"
            raise ExchangeError(what, path=place, remedy="this is more than any card or lorebook needs")
        data = stream.read(info.st_size + 1)
    if not data:
        raise ExchangeError("the file is empty", path=place, remedy="export it again")
    return data


def parcel(data: bytes, place: Path) -> Parcel:
    """What the bytes of a file hold. Its name gives a title where the file itself has none."""
    title = _title(place)
    if data.startswith(png.SIGNATURE):
        return _of_json(png.card(data, place), title, place, " in a PNG")
    if zips.is_zip(data) and data.lstrip()[:1] != b"{":
        return _of_zip(data, title, place)
    if data.startswith(JPEG):
        raise ExchangeError(
            "there is no card in this picture", path=place, remedy="only a JPEG with a card behind it is one"
        )
    if data.startswith(RISUM):
        what = "this is a RisuAI module in RisuAI's packed form, which only RisuAI reads"
        raise ExchangeError(what, path=place, remedy="export its lorebook from RisuAI, and import that")
    if b"\0" in data[:64] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ExchangeError("this is no text", path=place, remedy=f"what can be imported: {KNOWN}")
    return _of_json(_loaded(data, place), title, place)


def _loaded(data: bytes, place: Path) -> object:
    try:
        return jsonfile.loads(data, place)
    except ExchangeError:
        head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
        first = data.split(b"\n", 1)[0]
        if head[:1] == b"{" and first.rstrip().endswith(b"}") and any(f'"{key}"'.encode() in first for key in _CHAT):
            raise _is_chat(place) from None
        if head[:1] not in (b"{", b"["):
            raise ExchangeError(
                "this is no export that is known here", path=place, remedy=f"known are {KNOWN}"
            ) from None
        raise


def _of_json(value: object, title: str, place: Path, wrapped: str = "") -> Parcel:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        if any(key in value[0] for key in _CHAT):
            raise _is_chat(place)
        value = {"entries": value}  # a bare list of entries
    if not isinstance(value, dict):
        raise ExchangeError("the JSON holds no object", path=place, remedy=f"known are {KNOWN}")
    _refuse_twice(value, place)
    reader = next((one for one in READERS if one.recognises(value)), None)
    if reader is None and (any(key in value for key in _CHATS) or value.get("type") in ("risuChat", "risuAllChats")):
        raise _is_chat(place)
    if reader is None:
        raise ExchangeError("this is JSON, but no export that is known here", path=place, remedy=f"known are {KNOWN}")
    found = reader.read(value, title)
    if wrapped:
        found = Parcel(found.format + wrapped, found.title, found.books, found.cards, found.refused, found.left)
    return found


def _of_zip(data: bytes, title: str, place: Path) -> Parcel:
    packed = zips.read(data, place)
    wrapped = " behind a JPEG" if data.startswith(JPEG) else " in a .charx"
    found = _of_json(packed.card, title, place, wrapped)
    left = list(found.left)
    if packed.module:
        left.append(
            "The RisuAI module in it (scripts, and a copy of the lorebook) stays in the original; nothing is run."
        )
    if packed.others > packed.module:
        left.append(
            f"What else is in the zip ({packed.others - packed.module} pictures, sounds) stays in the original."
        )
    return Parcel(found.format, found.title, found.books, found.cards, found.refused, tuple(left))


def _refuse_twice(value: dict, place: Path) -> None:
    """An object that holds entries and has a key twice: which of the two counts cannot be known."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, jsonfile.Doubled):
            raise ExchangeError(f"the key `{one.twice[:80]}` stands twice", path=place, remedy="remove one of the two")
        waiting += [one[key] for key in _CONTAINERS if isinstance(one.get(key), dict)]


def _is_chat(place: Path) -> ExchangeError:
    return ExchangeError("this is a chat, not lore", path=place, remedy="take it in with `rolecall ingest`")


def _title(place: Path) -> str:
    """A title out of a file's name: without its ending, underscores as spaces."""
    stem = place.name.lstrip(".").split(".")[0] or place.name
    return " ".join(re.sub(r"[_]+", " ", stem).split()) or loose.text(place.name) or "Import"
