"""A character card in neutral words, and what one file brings: the parcel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rolecall.exchange.book import Book, Refused


@dataclass(frozen=True, slots=True)
class Card:
    """A character. Texts are as written, macros and all; `raw` is the whole source.

    `attributes` are (label, text) pairs of sources that describe a character field by field. `kept` names what the card
    holds that is not brought into play (`system prompt`), for the receipt.
    """

    at: str
    name: str
    nickname: str = ""
    description: str = ""
    personality: str = ""
    scenario: str = ""
    first_message: str = ""
    greetings: tuple[str, ...] = ()
    group_greetings: tuple[str, ...] = ()
    examples: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    creator: str = ""
    is_player: bool = False
    kept: tuple[str, ...] = ()
    raw: Mapping[str, object] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Parcel:
    """What one file brings. `format` is told to a person; `left` are sentences about what it holds and is not taken."""

    format: str
    title: str
    books: tuple[Book, ...] = ()
    cards: tuple[Card, ...] = ()
    refused: tuple[Refused, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def set_aside(self) -> tuple[Refused, ...]:
        """Everything that could not be taken: of the file itself and of its books."""
        return (*self.refused, *(one for book in self.books for one in book.refused))

    @property
    def count(self) -> int:
        """How many things it holds, those set aside included."""
        return len(self.cards) + sum(len(book.entries) for book in self.books) + len(self.set_aside)
