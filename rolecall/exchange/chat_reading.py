"""A chat out of a file's bytes: which format it is is told by what is in it, never by its name.

Bounded before anything is parsed (`jsonfile.py`). What cannot be read is one ExchangeError.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rolecall.campaign import macros
from rolecall.errors import ExchangeError
from rolecall.exchange import chat_json, chat_jsonl, jsonfile, transcripts
from rolecall.exchange.chat import MOST_TEXT, PLAYER, STORY, VOICE, Chat, Message, name_of

MAX_FILE = 64 * 1024 * 1024  # bytes of a file in lines


def read_chat(data: bytes, *, which: int = 0, player: str = "") -> Chat:
    """The chat in a file's bytes. `which` chooses one of several conversations, from 1 (0: the longest); `player` names

    the speaker who plays. ExchangeError when there is no chat in it, or it is past all measure.
    """
    if len(data) > MAX_FILE:
        raise ExchangeError(
            f"the file is over {MAX_FILE // 1024 // 1024} MB", remedy="split it, or export less at once"
        )
    text = _decoded(data)
    if chat_jsonl.is_chat(text):
        chat = chat_jsonl.read(text)
    elif text.lstrip()[:1] in ("{", "["):
        chat = _from_json(text, which)
    elif len(text) > MOST_TEXT:
        raise ExchangeError(f"more than {MOST_TEXT // 1024 // 1024} MB of text", remedy="split it into parts")
    else:
        chat = transcripts.read(text)
    return _with_names(_with_player(chat, name_of(player)) if player else _settled(chat))


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = data.decode("utf-16", "replace")
    else:
        if (
            data[:8] == b"\x89PNG\r\n\x1a\n"
            or data[:4] in (b"PK\x03\x04", b"%PDF")
            or data.count(b"\0") > len(data) // 20
        ):
            raise ExchangeError("this is no text", remedy="a card or lorebook is brought in by `rolecall import`")
        text = data.decode("utf-8-sig", "replace")
    if not text.strip(" \t\r\n\ufeff"):
        raise ExchangeError("the file is empty", remedy="name a file with a chat in it")
    return text


def _from_json(text: str, which: int) -> Chat:
    try:
        given = jsonfile.loads(text.encode("utf-8", "surrogatepass"), None)
    except ExchangeError:
        if _is_plain(text) and len(text) <= MOST_TEXT:
            return transcripts.read(text)
        raise
    found = chat_json.conversations(given)
    if not found:
        raise ExchangeError(
            "there is no chat in it that is known here",
            remedy="`rolecall import` takes cards and lorebooks; docs/ingest.md lists the chats",
        )
    return _chosen(found, which)


def _is_plain(text: str) -> bool:
    """Whether what begins with a bracket is a log such as `[12:30] Name: ...` after all."""
    return bool(re.match(r"\s*\[[\d:., /-]{4,30}\] ?\S", text))


def _chosen(found: Sequence[tuple], which: int) -> Chat:
    if which > len(found):
        raise ExchangeError(
            f"it holds {len(found)} conversations", remedy=f"name one from 1 to {len(found)} with --chat"
        )
    chats: list[tuple[int, Chat]] = []
    fault: ExchangeError | None = None
    for number, (title, given, reader) in enumerate(found, 1):
        if which in (0, number):
            try:
                chat = reader(given)
                chats.append((number, replace(chat, title=chat.title or title)))
            except ExchangeError as error:
                fault = error
    if not chats:
        raise fault or ExchangeError("there is no chat in it", remedy="look into the file")
    number, chat = max(chats, key=lambda one: len(one[1].messages))
    if len(found) > 1:
        note = f"The file holds {len(found)} conversations; this is number {number}. `--chat N` takes another."
        chat = replace(chat, notes=(*chat.notes, note))
    return chat


def _with_player(chat: Chat, player: str) -> Chat:
    """The chat with the one the user names as the player."""
    if player.casefold() not in (name.casefold() for name in chat.speakers):
        some = ", ".join(chat.speakers[:12])
        raise ExchangeError(f"nobody in it is called {player}", remedy=f"choose among {some}")
    is_mine = [m.speaker.casefold() == player.casefold() for m in chat.messages]
    told = (replace(m, role=PLAYER if mine else STORY) for m, mine in zip(chat.messages, is_mine, strict=True))
    return replace(chat, messages=tuple(told))


def _with_names(chat: Chat) -> Chat:
    """The chat as it was read when it was played: the player for `{{user}}`, the other speaker for `{{char}}`."""
    if not any("{{" in m.text or macros.holds(m.text) for m in chat.messages):
        return chat
    player = chat.players[0] if len(chat.players) == 1 else ""
    others = [name for name in chat.speakers if name != player]
    only = others[0] if len(others) == 1 else ""

    def told(message: Message) -> Message:
        speaker = message.speaker if message.speaker in others else only
        return replace(message, text=macros.named(message.text, player=player, char=speaker))

    named = tuple(map(told, chat.messages))
    left = any("{{" in m.text for m in named)
    note = ("Macros that are no name (`{{roll}}`, `{{random}}`) are left as they stand.",) if left else ()
    return replace(chat, messages=named, notes=(*chat.notes, *note))


def _settled(chat: Chat) -> Chat:
    """Where several people play and somebody leads, it is a table: nobody's words are the one player's action."""
    if len(chat.players) > 1:
        told = (replace(m, role=VOICE) if m.role in (PLAYER, STORY) else m for m in chat.messages)
        return replace(chat, messages=tuple(told))
    return chat


__all__ = ["PLAYER", "STORY", "VOICE", "read_chat"]
