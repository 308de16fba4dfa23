"""The Journal: one line a turn, at the end of the Campaign State. And turn numbers, which are read, never counted.

A line is `- T0042 what happened`. Lines under it that are no journal line (a note the writer put there) belong to it and
go where it goes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from rolecall.campaign import documents, sections
from rolecall.campaign.documents import Document
from rolecall.errors import Malformed

HEADING = "Journal"
_LINE = re.compile(rb"^- T(\d{4,9})(?:[ \t]+(.*?))?[ \t]*\r?\n?$", re.S)
_TURN = re.compile(r"T(\d{4,9})(?!\d)")


def turn_id(number: int) -> str:
    """`T0042` for 42: four digits, more when they are needed."""
    return f"T{number:04d}"


def turn_number(text: str) -> int | None:
    """42 for text that is or begins with `T0042`; None otherwise."""
    found = _TURN.match(text.strip())
    return int(found[1]) if found else None


class Line(NamedTuple):
    """A journal line: its turn, its text, and its exact words with any note under it (`raw`, without the last newline).

    `start` and `end` are byte positions in the file, the newline included; `line` is its number, from 1. A tuple, as a long
    campaign has thousands.
    """

    turn: int
    text: str
    raw: str
    start: int
    end: int
    line: int


def lines_of(document: Document, heading: str = HEADING, *, sealed: bool = False) -> tuple[Line, ...]:
    """The journal lines of a file in the order they stand in; none when it has no such section.

    A heading below the Journal's own belongs to no line, nor does what is under it before the next line. In a `sealed`
    Chronicle everything to the file's end is lines and their notes, whatever a note looks like.
    """
    section = document.section(heading)
    if section is None:
        return ()
    found: list[Line] = []
    nested = [] if sealed else [s for s in document.sections if section.start < s.start < section.end]
    headings, under = {at for s in nested for at in range(s.start, s.body)}, False
    number = section.body_line - 1
    end = len(document.data) if sealed else section.end
    for begin, stop in sections.lines_of(document.data[:end], section.body):
        number += 1
        raw = document.data[begin:stop]
        match = _LINE.match(raw)
        under = begin in headings or (under and not match)
        if match:
            text = (match[2] or b"").decode("utf-8", "replace").strip()
            found.append(Line(int(match[1]), text, _words(raw), begin, stop, number))
        elif found and raw.strip() and not under:
            last = found[-1]
            whole = document.data[last.start : stop]
            found[-1] = Line(last.turn, last.text, _words(whole), last.start, stop, last.line)
    return tuple(found)


def _words(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape").rstrip("\r\n").replace("\r\n", "\n")


def length(lines: tuple[Line, ...]) -> int:
    """The Journal's length in characters: the code points of its lines, notes included."""
    return sum(len(line.raw) for line in lines)


def append_line(data: bytes, path: str, turn: int, text: str) -> bytes:
    """The Campaign State with the one line of a turn; the same bytes when the Journal has a line of that turn."""
    document = documents.parse(data, path)
    lines = lines_of(document)
    if any(line.turn == turn for line in lines):
        return data
    if not text.strip():
        raise Malformed("a journal line must say something", path=path, remedy="write one sentence")
    return documents.append_to_section(data, path, HEADING, f"- {turn_id(turn)} {' '.join(text.split())}", create=2)
