"""Front matter as nearly everybody writes it, read without a YAML parser: a hundred times as fast, and the same.

`key: value` lines, lists of one item a line, one mapping inside, flow lists and flow mappings of plain words. A block with a
line that is anything else is not read here at all: `read` gives None, and the YAML parsers decide. So this reader must
never take what they refuse, nor read a value, a style or a position otherwise; the tests hold it against them.
"""

from __future__ import annotations

import re

from rolecall.campaign.nodes import Node

# Characters that every YAML parser takes for text. Left out are tabs, control characters, odd spaces and line ends, marks of
# byte order, and what lies beyond 16 bits.
_TEXT = re.compile(
    r"[\n -~\u00a1-\u167f\u1681-\u180d\u180f-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u2fff\u3001-\ud7ff]*"
)
_FIRST = r"[^\W_]"  # a letter or digit: no sign of YAML's begins so
_KEY = re.compile(rf"({_FIRST}[\w -]{{0,60}}|_\w{{0,60}}):(?= |$)")
_SCALAR = re.compile(rf"{_FIRST}(?:[^:# ]|:(?=[^ ])|(?<=[^ ])#| +(?=[^ #]))*")
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\\\n]*\"")
_WORD = rf"{_FIRST}(?:[\w.;!/()'’“”+*=<>$%&@^~|—–…-]| +(?=[\w(“]))*"
_INSIDE = re.compile(rf"{_WORD}|{_QUOTED.pattern}")
_PAIR = re.compile(rf"({_FIRST}[\w-]{{0,60}}):( +)(?={_FIRST}|['\"])")
_COMMA = re.compile(r" *, *")
_LINE = re.compile(r"( *)(- )?(.*)")


class _Other(Exception):
    """This block is not for this reader."""


def read(text: str) -> Node | None:
    """The root mapping of a block's text; None when it is empty or anything but plain."""
    if not _TEXT.fullmatch(text):
        return None
    try:
        return _Reader(text).root()
    except _Other:
        return None


class _Reader:
    """The lines of one block that say something, read from the first to the last."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: list[
            tuple[int, int, int, str]
        ] = []  # line from 0, where it says something, its indent, what it says
        self.at = 0
        start = 0
        for number, line in enumerate(text.split("\n")):
            said = line.lstrip(" ")
            if said and said[0] != "#":
                indent = len(line) - len(said)
                self.lines.append((number, start + indent, indent, said))
            start += len(line) + 1

    def root(self) -> Node | None:
        """The whole block; its lines begin at the margin."""
        return self._mapping(0) if self.lines else None

    def _mapping(self, indent: int) -> Node:
        """The `key: value` lines of one indent, up to a line that is further left."""
        line, start = self.lines[self.at][:2]
        pairs: list[tuple[Node, Node]] = []
        while self.at < len(self.lines) and self.lines[self.at][2] >= indent:
            pairs.append(self._pair(indent))
        if len({key.value for key, _ in pairs}) < len(pairs):
            raise _Other
        return Node("map", tuple(pairs), "block", start, self._here(), line)

    def _pair(self, indent: int) -> tuple[Node, Node]:
        line, start, own, said = self.lines[self.at]
        key = _KEY.match(said)
        if own != indent or key is None or key[1][-1] == " ":
            raise _Other
        self.at += 1
        node = Node("scalar", key[1], "plain", start, start + key.end(1), line)
        rest = said[key.end() :].lstrip(" ")
        if rest:
            return node, self._value(rest, start + len(said) - len(rest), line)
        return node, self._below(indent, start + key.end(), line)

    def _below(self, indent: int, colon: int, line: int) -> Node:
        """The value of a key with nothing behind it: the list or mapping under it, or an empty text."""
        below = self.lines[self.at] if self.at < len(self.lines) else None
        if below and below[2] >= indent and below[3].startswith("- "):
            return self._list(below[2])
        if below and below[2] > indent:
            if indent:
                raise _Other
            return self._mapping(below[2])
        return Node("scalar", "", "plain", colon, colon, line)

    def _list(self, indent: int) -> Node:
        line, start = self.lines[self.at][:2]
        items: list[Node] = []
        while self.at < len(self.lines):
            number, place, own, said = self.lines[self.at]
            if own != indent or not said.startswith("- "):
                break
            item = said[2:].lstrip(" ")
            if not item or item.startswith("- "):
                raise _Other
            items.append(self._value(item, place + len(said) - len(item), number))
            self.at += 1
        return Node("seq", tuple(items), "block", start, self._here(), line)

    def _here(self) -> int:
        """Where a list or mapping ends: where the next line that says something begins."""
        return self.lines[self.at][1] if self.at < len(self.lines) else len(self.text)

    def _value(self, said: str, start: int, line: int) -> Node:
        """What stands behind a key or a dash, to the end of the line."""
        if said[0] in "[{":
            node, end = _flow(said, 0, start, line)
            if end != len(said):
                raise _Other
            return node
        if _SCALAR.fullmatch(said):
            return Node("scalar", said, "plain", start, start + len(said), line)
        if _QUOTED.fullmatch(said):
            return Node("scalar", said[1:-1], said[0], start, start + len(said), line)
        raise _Other


def _flow(said: str, at: int, start: int, line: int) -> tuple[Node, int]:
    """A flow list, or a flow mapping of texts, that begins at a place of a line, and the place behind it."""
    opened, parts = at, []
    kind, closing = ("seq", "]") if said[at] == "[" else ("map", "}")
    at = _past(said, at + 1)
    while said[at : at + 1] != closing:
        if kind == "map":
            key = _PAIR.match(said, at)
            if key is None:
                raise _Other
            name = Node("scalar", key[1], "plain", start + at, start + key.end(1), line)
            value, at = _scalar(said, key.end(), start, line)
            parts.append((name, value))
        else:
            value, at = _scalar(said, at, start, line)
            parts.append(value)
        comma = _COMMA.match(said, at)
        if comma:
            at = comma.end()
        elif said[(at := _past(said, at)) : at + 1] != closing:
            raise _Other
    if kind == "map" and len({key.value for key, _ in parts}) < len(parts):
        raise _Other
    return Node(kind, tuple(parts), "flow", start + opened, start + at + 1, line), at + 1


def _scalar(said: str, at: int, start: int, line: int) -> tuple[Node, int]:
    found = _INSIDE.match(said, at)
    if found is None:
        raise _Other
    quote = found[0][0] if found[0][0] in "'\"" else ""
    value = found[0][1:-1] if quote else found[0]
    return Node("scalar", value, quote or "plain", start + at, start + found.end(), line), found.end()


def _past(said: str, at: int) -> int:
    while said[at : at + 1] == " ":
        at += 1
    return at
