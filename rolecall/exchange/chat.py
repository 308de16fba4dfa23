"""A chat as every reader gives it: messages in order, who the player is, and what could not be taken, with the reason.

Readers never raise for one bad message: it is set aside and told in the receipt. What is not a chat at all is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from rolecall.campaign.text import clean, clean_line
from rolecall.errors import ExchangeError

PLAYER, STORY, VOICE = "player", "story", "voice"  # the player's own; the game master's or a character's; not known

LONGEST_NAME = 60  # characters of a speaker's name
MOST_TEXT = 8 * 1024 * 1024  # characters of all messages together
MOST_MESSAGES = 200_000


@dataclass(frozen=True, slots=True)
class Message:
    """Who said what. `at` counts from 1 in the source (a line, or a message's place); `others` is how many other answers

    (swipes) stand beside this one in the source. A narrator without a name has an empty `speaker`.
    """

    speaker: str
    text: str
    role: str
    at: int
    date: datetime | None = None
    others: int = 0


@dataclass(frozen=True, slots=True)
class SetAside:
    """What was not taken into the story: where it stands in the source, and why in a few words."""

    at: int
    why: str


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation: `format` in words, the player's name ("" where nobody is known to be one), notes for the receipt."""

    format: str
    messages: tuple[Message, ...]
    set_aside: tuple[SetAside, ...] = ()
    title: str = ""
    notes: tuple[str, ...] = ()

    @property
    def players(self) -> tuple[str, ...]:
        """The names of those who play, in the order of their first words."""
        return tuple(dict.fromkeys(m.speaker for m in self.messages if m.role == PLAYER and m.speaker))

    @property
    def speakers(self) -> tuple[str, ...]:
        """Everyone who speaks, in the order of their first words."""
        return tuple(dict.fromkeys(m.speaker for m in self.messages if m.speaker))


class Gathered:
    """Messages being gathered by a reader, and what it sets aside."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.aside: list[SetAside] = []
        self.size = 0

    def add(
        self, speaker: object, text: object, role: str, at: int, date: datetime | None = None, others: int = 0
    ) -> None:
        """Take a message, cleaned; one without text is set aside. ExchangeError past the measure of a chat."""
        said = clean(text).strip() if isinstance(text, str) else ""
        if not said:
            self.leave(at, "it has no text")
            return
        self.size += len(said)
        if self.size > MOST_TEXT or len(self.messages) >= MOST_MESSAGES:
            raise ExchangeError(
                f"more than {MOST_TEXT // 1024 // 1024} MB of text or {MOST_MESSAGES:,} messages",
                remedy="split the chat into parts and ingest them one after the other",
            )
        self.messages.append(Message(name_of(speaker), said, role, at, date, others))

    def leave(self, at: int, why: str) -> None:
        """Set something aside."""
        self.aside.append(SetAside(at, why))

    def chat(self, format: str, title: str = "", notes: Iterable[str] = ()) -> Chat:
        """The chat; ExchangeError when no message was left."""
        if not self.messages:
            why = f" ({self.aside[0].why})" if self.aside else ""
            raise ExchangeError(f"there is no message in it that could be taken{why}", remedy="look into the file")
        return Chat(format, tuple(self.messages), tuple(self.aside), clean_line(title, 120), tuple(notes))


def name_of(given: object) -> str:
    """A speaker's name on one line, without marks that mean something to a link; LABELS IN CAPITALS are written as names."""
    name = clean_line(given, LONGEST_NAME) if isinstance(given, str) else ""
    name = " ".join("".join(" " if c in "[]|#^{}<>`*\\" else c for c in name).split()).strip(" :_")
    letters = [c for c in name if c.isalpha()]
    if len(letters) > 2 and all(c.isupper() for c in letters):
        name = re.sub(r"[^\W\d_]+(?:['’][^\W\d_]+)*", lambda word: word[0].capitalize(), name)
    return name
