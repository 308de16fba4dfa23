"""Plain text and Markdown in which lines begin with a name and a colon: transcripts, logs, copied chats.

A word before a colon is a speaker when several lines begin with it. What stands before the first one, and lines without a
name, belong to what was said last. Text without any name is a story; its lines that begin with `>` are the player's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from rolecall.campaign import documents
from rolecall.errors import DocumentError
from rolecall.exchange.chat import PLAYER, STORY, VOICE, Chat, Gathered, name_of
from rolecall.exchange.chat_dates import read_date

_LABEL = re.compile(
    r"^(?:[-*] )?(?:\[(?P<when>[^\]\n]{4,30})\] ?)?(?P<mark>[*_]{0,3})(?P<name>[^\W\d_][^:*_\n\[\]{}<>|]{0,40}?)"
    r"(?: [\[(](?P<time>[^\])\n]{3,30})[\])])?(?:(?P=mark):|:(?P=mark))(?: +(?P<said>.*)|$)"
)
_PLAYERS = {"you", "me", "user", "player", "human", "ich", "moi", "yo"}
_TELLERS = {"narrator", "gm", "dm", "game master", "dungeon master", "assistant", "ai", "storyteller", "erzähler"}
_WORDS = 5  # of a name
MOST_SPEAKERS = 500  # names that begin a line only once, past which such lines are no names


def read(data: str) -> Chat:
    """The chat in a text."""
    gathered, notes = Gathered(), []
    try:
        document = documents.parse(data.encode("utf-8", "replace"), "chat")
        body = document.body.decode("utf-8", "replace")
        if document.fields:
            notes.append("Its front matter stands in the original only.")
    except DocumentError:
        body = data
    speakers = _speakers(body)
    if speakers:
        played = any(name.casefold() in _PLAYERS for name in speakers)
        for at, name, when, said in _messages(body, speakers):
            gathered.add(name, said, _role(name, played), at, read_date(when))
        return gathered.chat("text with names", notes=notes)
    for at, quoted, text in _paragraphs(body):
        gathered.add("You" if quoted else "", text, PLAYER if quoted else STORY, at)
    return gathered.chat("story", notes=notes)


def labelled(text: str, names: set[str]) -> Iterator[tuple[str, str]]:
    """(name, what was said) of a text whose speakers are known."""
    for _, name, _, said in _messages(text, {name_of(name) for name in names}):
        yield name, said


def _speakers(body: str) -> set[str]:
    """The names that begin lines: each that does so often; one that does it once only where most lines have a name."""
    found: Counter[str] = Counter()
    filled = 0
    for line in body.split("\n"):
        filled += bool(line.strip())
        match = _LABEL.match(line)
        if match and (name := _name(match)):
            found[name] += 1
    often = {name for name, count in found.items() if count > 1}
    named = 1 < len(found) <= MOST_SPEAKERS and found.total() * 5 >= filled * 3
    return set(found) if named else often


def _name(match: re.Match[str]) -> str:
    name = name_of(match["name"])
    first = name[:1]
    if not name or len(name.split()) > _WORDS or (first.upper() != first.lower() and not first.isupper()):
        return ""
    return name


def _role(name: str, played: bool) -> str:
    if name.casefold() in _PLAYERS:
        return PLAYER
    return STORY if not name or played or name.casefold() in _TELLERS else VOICE


def _messages(body: str, speakers: set[str]) -> Iterator[tuple[int, str, str, str]]:
    """(line, name, date, what was said)."""
    at, name, when = 1, "", ""
    held: list[str] = []
    for number, line in enumerate(body.split("\n"), 1):
        match = _LABEL.match(line)
        found = _name(match) if match else ""
        if found and found in speakers:
            if "".join(held).strip():
                yield at, name, when, "\n".join(held)
            at, name, when = number, found, match["when"] or match["time"] or ""
            held = [match["said"] or ""]
        else:
            held.append(line)
    if "".join(held).strip():
        yield at, name, when, "\n".join(held)


def _paragraphs(body: str) -> Iterator[tuple[int, bool, str]]:
    """(line, whether it is quoted, text) of a story's stretches: each quote, and what stands between two."""
    held: list[str] = []
    at, quoted = 1, False
    for number, line in enumerate(body.split("\n"), 1):
        mine = line.startswith(">") if line.strip() else quoted
        if held and mine != quoted:
            yield at, quoted, "\n".join(held)
            held = []
        if not held:
            at, quoted = number, mine
        held.append(line.removeprefix(">").removeprefix(" ") if mine else line)
    if "".join(held).strip():
        yield at, quoted, "\n".join(held)
