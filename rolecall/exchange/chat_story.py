"""A chat as a story: scenes that become turns, chapters that become files. The words stay as they are.

In a chat with one player a scene is the player's message and the replies to it. A transcript of many speakers is cut
into scenes of so many speeches. A chapter ends after fifty turns, or where the dates show that people went home.
Pure: nothing is written here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from rolecall.campaign import story
from rolecall.campaign.frontmatter import scalar
from rolecall.campaign.text import clean_prose, slug
from rolecall.exchange.chat import PLAYER, Chat, Message
from rolecall.exchange.chat_dates import day

SPEECHES = 12  # of a transcript that make a scene ...
LENGTH = 3000  # ... or so many characters of them
LONG = 6000  # characters after which what a game master says more without an answer is a scene of its own
APART = timedelta(hours=4)  # between two messages: the next one is of another day's play
FEWEST = 4  # scenes of a chapter before a new day begins another one


@dataclass(frozen=True, slots=True)
class Scene:
    """One turn to be: the player's action, the prose, when it was played, the messages it is made of, and who says what

    in it (a message that is longer than a scene stands in several).
    """

    action: str
    prose: str
    date: datetime | None
    messages: tuple[Message, ...]
    said: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A file of the story: its path and text, and the first and last turn it tells."""

    path: str
    name: str
    text: str
    first: int
    last: int


# -- scenes


@dataclass(slots=True)
class _Open:
    """A scene being gathered."""

    actions: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    said: list[tuple[str, str]] = field(default_factory=list)
    date: datetime | None = None

    def put(self, message: Message, part: str, label: str = "", *, action: bool = False) -> None:
        (self.actions if action else self.parts).append(label + clean_prose(part))
        self.said.append((message.speaker, part))
        if not self.messages or self.messages[-1] is not message:
            self.messages.append(message)
        self.date = self.date or message.date

    @property
    def length(self) -> int:
        return sum(map(len, self.parts))

    def closed(self) -> Scene:
        return Scene(
            "\n\n".join(self.actions), "\n\n".join(self.parts), self.date, tuple(self.messages), tuple(self.said)
        )


def scenes_of(chat: Chat) -> tuple[Scene, ...]:
    """The scenes of a chat, in order; every message is in one."""
    players = set(chat.players)
    voices = {m.speaker for m in chat.messages if m.role != PLAYER and m.speaker}
    gathered = _played(chat.messages) if players else _table(chat.messages)
    named = len(voices) > 1 or not players
    return tuple(_scenes(gathered, named=named))


def _played(messages: Sequence[Message]) -> Iterator[tuple[Message, bool]]:
    """(message, whether it begins a scene): the player's does, unless it goes on with an action nobody answered yet."""
    before: Message | None = None
    length = 0
    for message in messages:
        mine = message.role == PLAYER
        fresh = (mine and (before is None or before.role != PLAYER)) or (not mine and length > LONG)
        fresh = fresh or _is_apart(before, message)
        length = len(message.text) if fresh else length + len(message.text)
        yield message, fresh
        before = message


def _table(messages: Sequence[Message]) -> Iterator[tuple[Message, bool]]:
    before: Message | None = None
    count = length = 0
    for message in messages:
        fresh = count >= SPEECHES or length >= LENGTH or _is_apart(before, message)
        count, length = (0, 0) if fresh else (count, length)
        count, length = count + 1, length + len(message.text)
        yield message, fresh
        before = message


def _is_apart(before: Message | None, message: Message) -> bool:
    return bool(before and before.date and message.date and message.date - before.date > APART)


def _scenes(gathered: Iterator[tuple[Message, bool]], *, named: bool) -> Iterator[Scene]:
    scene = _Open()
    for message, fresh in gathered:
        if fresh and scene.messages:
            yield scene.closed()
            scene = _Open()
        for part in _pieces(message.text):
            if scene.length > LONG:
                yield scene.closed()
                scene = _Open()
            if message.role == PLAYER and not scene.parts:
                scene.put(message, part, action=True)
            else:
                label = f"**{message.speaker}:** " if message.speaker and (named or message.role == PLAYER) else ""
                scene.put(message, part, label)
    if scene.messages:
        yield scene.closed()


def _pieces(text: str) -> Iterator[str]:
    """A message in stretches of about `LONG` characters, cut between paragraphs, else between sentences or words."""
    while len(text) > 2 * LONG:
        ends = [text.rfind(mark, LONG // 2, LONG + LONG // 2) for mark in ("\n\n", "\n", ". ", " ")]
        at = next((end for end in ends if end > 0), LONG)
        at += text[at : at + 2] == ". "
        yield text[:at].rstrip()
        text = text[at:].lstrip()
    yield text


# -- chapters


def chapters_of(scenes: Sequence[Scene], title: str, first: int, number: int) -> tuple[Chapter, ...]:
    """The chapters: turns counted from `first`, files from `number`."""
    title = " ".join(re.sub(r"[\[\]|#^]", " ", title).split()) or "Chat"
    parts = list(_parted(scenes))
    made, turn = [], first
    for count, part in enumerate(parts, 1):
        name = f"{title}, part {count}" if len(parts) > 1 else title
        path = f"{story.FOLDER}/{number + count - 1:03d}-{slug(name, 'chat')}.md"
        head = ["---", f"name: {scalar(name)}", "kind: story", f"chapter: {number + count - 1}"]
        if told := _dates(part):
            head.append(f"date: {scalar(told)}")
        body = [story.section(turn + at, scene.action, scene.prose) for at, scene in enumerate(part)]
        text = "\n".join([*head, "---", "", "\n\n".join(body), ""])
        made.append(Chapter(path, name, text, turn, turn + len(part) - 1))
        turn += len(part)
    return tuple(made)


def _parted(scenes: Sequence[Scene]) -> Iterator[list[Scene]]:
    part: list[Scene] = []
    for scene in scenes:
        last = next((m.date for m in reversed(part[-1].messages) if m.date), None) if part else None
        day_over = bool(last and scene.date and scene.date - last > APART) and len(part) >= FEWEST
        if part and (day_over or len(part) >= story.CHAPTER_TURNS):
            yield part
            part = []
        part.append(scene)
    if part:
        yield part


def _dates(part: Sequence[Scene]) -> str:
    """The day of a chapter, or its first and last."""
    days = list(dict.fromkeys(day(scene.date) for scene in part if scene.date))
    return days[0] if len(days) == 1 else f"{days[0]} - {days[-1]}" if days else ""
