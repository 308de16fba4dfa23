"""Lists of what is to come, and what became of each: `- [ ] what (T0003)`.

`[ ]` stands open, `[x]` is done, `[-]` is given up. The bracket at the end holds the turn a line comes from, then marks of
a word and a turn: `(T0003, watered T0012, paid T0031)`. A line without that bracket, as a hand writes it, is read as well.
Lines count wherever they stand in the body; a new one goes below the last of them. Every edit may be applied twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rolecall.campaign import documents
from rolecall.campaign.documents import Document
from rolecall.campaign.journal import turn_id, turn_number
from rolecall.campaign.text import fold
from rolecall.errors import Unclear

OPEN, DONE, GIVEN_UP = " ", "x", "-"
_ITEM = re.compile(r" {0,3}[-*+][ \t]+\[([ xX-])\][ \t]+(.*?)[ \t]*$")
_ITEM_BYTES = re.compile(rb" {0,3}[-*+][ \t]+\[[ xX-]\][ \t]")
_BRACKET = re.compile(r"^(.*?)[ \t]*\(((?:T\d{4,9}|[^\W\d_]+ T\d{4,9})(?:, [^()]*)?)\)$")
_MARK = re.compile(r"([^\W\d_]+) (T\d{4,9})")


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a list: its `words`, its box, the turn it comes from (0 where it says none), and its marks as (word, turn)."""

    words: str
    box: str
    turn: int
    marks: tuple[tuple[str, int], ...]
    raw: str

    @property
    def open(self) -> bool:
        """Whether it is still to come."""
        return self.box == OPEN

    @property
    def last(self) -> int:
        """The turn of its last mark, else the one it comes from."""
        return max((turn for _, turn in self.marks), default=self.turn)


def items_of(document: Document, heading: str = "") -> tuple[Item, ...]:
    """The items of a section, of the whole body without a heading, in the order they stand in."""
    if heading:
        lines = document.lines(heading)
    else:
        lines = [line.removesuffix("\r") for line in document.body.decode("utf-8", "replace").split("\n")]
    found = []
    for raw in lines:
        if match := _ITEM.match(raw):
            words, turn, marks = _read(match[2])
            found.append(Item(words, match[1].lower(), turn, marks, raw))
    return tuple(found)


def _read(text: str) -> tuple[str, int, tuple[tuple[str, int], ...]]:
    bracket = _BRACKET.match(text)
    if not bracket:
        return text, 0, ()
    marks = tuple((word, turn_number(turn) or 0) for word, turn in _MARK.findall(bracket[2]))
    return bracket[1], turn_number(bracket[2]) or 0, marks


def find(items: tuple[Item, ...], words: str) -> list[Item]:
    """The items of these words; failing that, those that hold them; case and spacing aside."""
    wanted = fold(words)
    return [one for one in items if fold(one.words) == wanted] or [one for one in items if wanted in fold(one.words)]


def add(data: bytes | None, path: str, turn: int, words: str) -> bytes:
    """The file with one open line more (a new file for None); the same bytes when that turn put it there already."""
    words = " ".join(words.split())
    line = f"- [ ] {words} ({turn_id(turn)})"
    if not data:
        return (line + "\n").encode("utf-8", "replace")
    if any(one.turn == turn and fold(one.words) == fold(words) for one in items_of(documents.parse(data, path))):
        return data
    return documents.append_like(data, path, line, _ITEM_BYTES)


def mark(data: bytes, path: str, turn: int, words: str, word: str, *, box: str = "", note: str = "", heading: str = ""):
    """The file with one mark more on the open item of these words, its box set; the same bytes when it has that mark.

    Unclear when no open item has these words.
    """
    items = items_of(documents.parse(data, path), heading)
    same = [one for one in items if fold(one.words) == fold(words)]
    if any((word, turn) in one.marks for one in same):
        return data
    item = next((one for one in same if one.open), None)
    if item is None:
        raise Unclear(f"no open line reads “{words}” any more", path=path, remedy="nothing was changed in it")
    new = f"{word} {turn_id(turn)}" + (f", {note}" if note else "")
    raw = item.raw.rstrip()
    bracket = _BRACKET.match(raw)
    raw = f"{raw[:-1]}, {new})" if bracket else f"{raw} ({new})"
    if box:
        raw = raw.replace("[ ]", f"[{box}]", 1)
    return documents.replace_line(data, path, heading, item.raw, raw)
