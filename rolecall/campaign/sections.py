"""The body of a note: its headings and sections, found without rendering any Markdown.

A section runs from its heading to the next heading of its level or a higher one. ATX headings (`## Trail`) and
underlined ones count; those inside a closed code fence do not. A fence that is never closed hides nothing, so that no
`## Secret` can slip through behind a stray one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ATX = re.compile(rb"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?$")
_SETEXT = re.compile(rb"^ {0,3}(=+|-+)[ \t]*\r?$")
_FENCE = re.compile(rb"^ {0,3}(`{3,}|~{3,})(.*?)\r?$")
_RULE = re.compile(rb"^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\r?$")
_CONTAINER = re.compile(rb"^ {0,3}(?:>|[-*+](?:[ \t]|\r?$)|\d{1,9}[.)](?:[ \t]|\r?$))")  # a list item or a quote begins
_NO_TEXT = re.compile(rb"^(?:\s*$| {4}|\t| {0,3}\|)")  # blank, indented code, a table's row


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is under it. Positions are byte positions in the file; `line` is the heading's, from 1.

    The first section of a body has no heading (`""`, level 0): the text before the first one. `text` is its own text:
    from below the heading to the next heading of any level.
    """

    heading: str
    level: int
    line: int
    start: int
    body: int
    own_end: int
    end: int
    text: str
    taken: int = 1  # lines of the heading itself: an underlined one has two

    @property
    def body_line(self) -> int:
        """The line of the first line under the heading."""
        return self.line + self.taken if self.level else self.line


def lines_of(data: bytes, start: int) -> list[tuple[int, int]]:
    """(start, end) of each line from `start` on, the end behind its newline; only `\\n` ends a line."""
    spans, at = [], start
    while at < len(data):
        stop = data.find(b"\n", at) + 1 or len(data)
        spans.append((at, stop))
        at = stop
    return spans


def sections_of(data: bytes, start: int, line: int) -> tuple[Section, ...]:
    """The sections of the body that begins at byte `start`, on line `line`."""
    spans = lines_of(data, start)
    heads = _headings(data, spans)
    found = []
    marks = [(-1, 0, "", 0), *heads]
    for number, (index, level, heading, taken) in enumerate(marks):
        begin = spans[index][0] if index >= 0 else start
        body = spans[index + taken - 1][1] if index >= 0 else start
        own_end = spans[marks[number + 1][0]][0] if number + 1 < len(marks) else len(data)
        end = next((spans[i][0] for i, lv, *_ in marks[number + 1 :] if lv <= level), len(data)) if level else own_end
        text = data[body:own_end].decode("utf-8", "replace")
        found.append(Section(heading, level, line + max(index, 0), begin, body, own_end, end, text, taken))
    return tuple(found)


def fenced_spans(data: bytes, start: int) -> list[tuple[int, int]]:
    """(start, end) of every line inside a closed code fence of the body that begins at byte `start`."""
    if b"```" not in data and b"~~~" not in data:
        return []
    spans = lines_of(data, start)
    return [spans[index] for index in sorted(_fenced(data, spans))]


def _headings(data: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int, str, int]]:
    """(line index, level, text, lines taken) of each heading outside closed fences.

    Only a paragraph of its own can be underlined (CommonMark 4.3): the text of a list item or a quote, and the lines that
    continue it, cannot.
    """
    fenced = _fenced(data, spans)
    heads: list[tuple[int, int, str, int]] = []
    previous, contained = b"", False  # the paragraph line above, if it is one; whether a list item or quote is open
    for index, (begin, stop) in enumerate(spans):
        raw = data[begin:stop].rstrip(b"\n")
        if index in fenced:
            previous, contained = b"", False
        elif found := _ATX.match(raw):
            heads.append((index, len(found[1]), (found[2] or b"").decode("utf-8", "replace").strip(), 1))
            previous, contained = b"", False
        elif previous and (under := _SETEXT.match(raw)):
            level = 1 if under[1].startswith(b"=") else 2
            heads.append((index - 1, level, previous.decode("utf-8", "replace").strip(), 2))
            previous = b""
        elif _RULE.match(raw) or not raw.strip():
            previous, contained = b"", False
        elif _CONTAINER.match(raw):
            previous, contained = b"", True
        else:
            previous = b"" if contained or (not previous and _NO_TEXT.match(raw)) else raw
    return heads


def _fenced(data: bytes, spans: list[tuple[int, int]]) -> set[int]:
    """Indexes of the lines inside closed code fences (the fence lines too)."""
    if b"```" not in data and b"~~~" not in data:
        return set()
    inside: set[int] = set()
    opened: tuple[int, bytes] | None = None
    for index, (begin, stop) in enumerate(spans):
        found = _FENCE.match(data[begin:stop].rstrip(b"\n"))
        if not found:
            continue
        mark, rest = found[1], found[2]
        if opened is None:
            if not (mark.startswith(b"`") and b"`" in rest):
                opened = (index, mark)
        elif mark[:1] == opened[1][:1] and len(mark) >= len(opened[1]) and not rest.strip():
            inside.update(range(opened[0], index + 1))
            opened = None
    return inside
