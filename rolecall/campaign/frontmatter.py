"""The YAML block at the head of a note: found, read as strings, and changed by splicing.

The block is read from the parser's own events, so every value stays what the writer typed (`12:30`, `no`,
`1492-13-01`), and every node knows where it stands. A change is a splice between two marks; the result is parsed again and must
hold exactly the intended change, or nothing is changed at all.

Refused as malformed, with the line: what only one of PyYAML's two parsers accepts, anchors and aliases, tags, merge keys,
repeated keys, keys that are not plain words, a root that is not a mapping, a block that is never closed, blocks over 256 KiB.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from rolecall.campaign import plainblock
from rolecall.campaign.nodes import Node, Value
from rolecall.errors import Malformed

BOM = b"\xef\xbb\xbf"
MAX_BLOCK = 256 * 1024  # bytes
MAX_DEPTH = 12  # collections inside collections

_OPEN = re.compile(rb"---[ \t]*\r?\n")
_CLOSE = re.compile(rb"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.M)
_KEY = rb"""(?:"[^"\n]*"|'[^'\n]*'|[^\s"'#>|*+`~:.,!?-][^\n:.,!?]{0,39})[ \t]*:(?:[ \t]|\r?$)"""
_KEY_LINE = re.compile(_KEY, re.M)
_LATE = re.compile(rb"(?:[ \t]*\r?\n)+---[ \t]*\r?\n(?=" + _KEY + rb")", re.M)
_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.M)
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,8}")
_ODD_BREAK = re.compile(r"\r(?!\n)|[\x85\u2028\u2029]")  # YAML ends a line here, editors do not


@dataclass(frozen=True, slots=True)
class Block:
    """The text between the fences. `start` and `end` are byte positions in the file; `root` is None for an empty block."""

    text: str
    start: int
    end: int
    root: Node | None

    def pairs(self) -> tuple[tuple[Node, Node], ...]:
        """The top-level (key, value) nodes in file order."""
        return self.root.value if self.root else ()

    def line_of(self, key: str) -> int | None:
        """The line of a top-level key in the file, from 1."""
        return next((k.line + 2 for k, _ in self.pairs() if k.value == key), None)

    def fields(self) -> dict[str, Value]:
        """Every field in file order, values as the writer typed them; an empty value is the empty string."""
        return {key.value: node.plain() for key, node in self.pairs()}


def find(data: bytes, path: str) -> Block | None:
    """The block of a file, or None when it has none; Malformed when it has a broken one."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\0" in data[:64]:
        raise Malformed("the file is UTF-16", path=path, line=1, remedy="save it as UTF-8")
    start = len(BOM) if data.startswith(BOM) else 0
    opening = _OPEN.match(data, start)
    if not opening:
        late = _LATE.match(data, start)
        if late and _CLOSE.search(data, late.end()):
            raise Malformed(
                "the front matter does not begin on the first line",
                path=path,
                line=1,
                remedy="remove the lines above `---`",
            )
        return None
    begin = opening.end()
    closing = _CLOSE.search(data, begin)
    if not closing:
        if _KEY_LINE.match(data, begin):
            raise Malformed("the front matter is never closed", path=path, line=1, remedy="add a line `---` below it")
        return None
    if closing.start() - begin > MAX_BLOCK:
        raise Malformed(
            "the front matter is over 256 KiB", path=path, line=1, remedy="move prose below the closing `---`"
        )
    try:
        text = data[begin : closing.start()].decode()
    except UnicodeDecodeError as error:
        line = 2 + data.count(b"\n", begin, begin + error.start)
        raise Malformed(
            "the front matter is not UTF-8", path=path, line=line, remedy="save the file as UTF-8"
        ) from None
    try:
        root = parse(text)
    except Fault as fault:
        raise Malformed(fault.told(2), path=path, line=fault.line + 2, remedy=fault.remedy) from None
    return Block(text, begin, closing.start(), root)


def opens_like_block(data: bytes) -> bool:
    """Whether a file's first line is a fence, closed or not: nothing may be put above it."""
    return bool(_OPEN.match(data, len(BOM) if data.startswith(BOM) else 0))


class Fault(Exception):
    """A fault inside a block, `line` from 0; `first` is another line it speaks of as `{first}`."""

    def __init__(self, what: str, line: int, remedy: str, first: int | None = None) -> None:
        super().__init__(what)
        self.what, self.line, self.remedy, self.first = what, line, remedy, first

    def told(self, offset: int) -> str:
        """What is wrong, for a block whose first line is line `offset` of its file."""
        return self.what if self.first is None else self.what.replace("{first}", str(self.first + offset))


@lru_cache(maxsize=8192)
def parse(text: str) -> Node | None:
    """The root mapping of a block's text (None when it is empty or only comments); raises an internal fault."""
    plain = plainblock.read(text)
    return plain if plain is not None else parse_yaml(text)


def parse_yaml(text: str) -> Node | None:
    """The same by the YAML parsers alone, whatever the block."""
    events = _events(text)
    body = [e for e in events if type(e).__name__ not in _FRAME]
    if not body or (
        len(body) == 1 and type(body[0]).__name__ == "ScalarEvent" and body[0].value == "" and not body[0].style
    ):
        return None
    documents = sum(type(e).__name__ == "DocumentStartEvent" for e in events)
    if documents != 1:
        raise Fault("the front matter holds more than one YAML document", 0, "keep one block")
    root, rest = _node(body, 0, _breaks(text))
    if rest != len(body) or root.kind != "map":
        raise Fault("the front matter is not a list of `key: value` lines", root.line, "write one `key: value` a line")
    return root


_FRAME = {"StreamStartEvent", "StreamEndEvent", "DocumentStartEvent", "DocumentEndEvent"}


def _events(text: str) -> list:
    """The pure parser's events, after the C parser (where PyYAML has it) has said the same."""
    import yaml

    try:
        events, depth = [], 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            # Stopped here, not when the tree is built: a parser needs minutes for ten thousand open brackets.
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise Fault("collections are nested too deep", _line(event.start_mark, _breaks(text)), "flatten them")
            events.append(event)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _fault_of(error, text) from None
    fast = getattr(yaml, "CSafeLoader", None)
    if fast is not None:
        try:
            other = [_shape(e) for e in yaml.parse(text, Loader=fast)]
        except (yaml.YAMLError, ValueError) as error:
            raise _fault_of(error, text) from None
        if other != [_shape(e) for e in events]:
            raise Fault("the front matter reads differently in two YAML parsers", 0, "write it more plainly")
    return events


def _shape(event: object) -> tuple:
    return (
        type(event).__name__,
        getattr(event, "value", None),
        getattr(event, "tag", None),
        getattr(event, "anchor", None),
    )


def _fault_of(error: Exception, text: str) -> Fault:
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start())
        return Fault("a merge conflict", line, "keep the lines you want and remove the markers")
    problem = getattr(error, "problem", None) or "it cannot be read as YAML"
    marks = [getattr(error, name, None) for name in ("problem_mark", "context_mark")]
    if "could not find expected ':'" in problem:
        marks.reverse()  # the line meant is the one where the key began
    mark = marks[0] or marks[1]
    line = _line(mark, _breaks(text)) if mark else 0
    if hasattr(error, "position") and hasattr(error, "character"):
        line = text.count("\n", 0, error.position) if isinstance(error.position, int) else 0
        code = error.character if isinstance(error.character, int) else ord(str(error.character)[:1] or "\0")
        return Fault(f"a character that YAML forbids (U+{code:04X})", line, "delete that character")
    if "'\\t' that cannot start any token" in problem:
        return Fault("a tab where YAML wants a space", line, "use spaces")
    lines = text.split("\n")
    near = lines[min(line, len(lines) - 1)] if lines else ""
    if "\t" in near[: len(near) - len(near.lstrip())]:
        return Fault("a tab indents this line", line, "indent with spaces")
    if "mapping values are not allowed" in problem:
        return Fault("a colon inside an unquoted value", line, 'put the value in quotes: key: "..."')
    if "could not find expected ':'" in problem or "while scanning a simple key" in str(error):
        return Fault("a line without `key:`", line, "write it as `key: value`, or quote the value above")
    return Fault(
        f"broken YAML ({' '.join(str(problem).split())})", line, "mend this line; quoting the value often helps"
    )


def _breaks(text: str) -> list[int] | None:
    """Where the lines of a text end, when YAML counts more line ends in it than an editor does."""
    return [found.start() for found in re.finditer("\n", text)] if _ODD_BREAK.search(text) else None


def _line(mark: object, breaks: list[int] | None) -> int:
    """The line of a mark as an editor counts it, from 0: only `\\n` ends a line."""
    return mark.line if breaks is None else bisect_left(breaks, mark.index)


def _node(events: list, at: int, breaks: list[int] | None) -> tuple[Node, int]:
    """The node that begins at event `at`, and the position behind it."""
    event = events[at]
    name, line = type(event).__name__, _line(event.start_mark, breaks)
    if getattr(event, "anchor", None):
        raise Fault("anchors and aliases (& and *) are not read", line, "write the value out, or quote it")
    if getattr(event, "tag", None):
        raise Fault("tags (!) are not read", line, "quote the value")
    if name == "ScalarEvent":
        style = event.style or "plain"
        return Node("scalar", event.value, style, event.start_mark.index, event.end_mark.index, line), at + 1
    style = "flow" if event.flow_style else "block"
    closing = name.replace("Start", "End")
    parts, at = [], at + 1
    while type(events[at]).__name__ != closing:
        part, at = _node(events, at, breaks)
        parts.append(part)
    end = events[at].end_mark.index
    if name == "SequenceStartEvent":
        return Node("seq", tuple(parts), style, event.start_mark.index, end, line), at + 1
    return Node("map", _pairs(parts), style, event.start_mark.index, end, line), at + 1


def _pairs(parts: list[Node]) -> tuple[tuple[Node, Node], ...]:
    pairs = tuple(zip(parts[::2], parts[1::2], strict=True))
    seen: dict[str, int] = {}
    for key, _ in pairs:
        if key.kind != "scalar":
            raise Fault("a key that is not a word (a template's `{{...}}`?)", key.line, "quote the value")
        if key.value == "<<" and key.style == "plain":
            raise Fault("merge keys (<<) are not read", key.line, "write the fields out")
        if key.value in seen:
            what = f"the key `{key.value}` stands here a second time (first on line {{first}})"
            raise Fault(what, key.line, "keep one of them", seen[key.value])
        seen[key.value] = key.line
    return pairs


def scalar(value: str, style: str = "plain", *, flow: bool = False, quote_types: bool = False) -> str:
    """`value` as YAML text on one line, in the given quote style if that can hold it, else in a style that can.

    The style `[[` is that of an unquoted `[[Sera]]`.

    `quote_types` puts quotes around what YAML 1.1 readers would take for a number, date or boolean.
    """
    if style == "[[" and _bare_reference(value):
        return value
    if style in ("plain", "[[") and _plain_holds(value, flow) and not (quote_types and _looks_typed(value)):
        return value
    if style == "'" and not re.search(
        r"[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]", value
    ):
        return "'" + value.replace("'", "''") + "'"
    return '"' + "".join(_escape(c) for c in value) + '"'


_ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def _escape(char: str) -> str:
    if char in _ESCAPED:
        return _ESCAPED[char]
    code = ord(char)
    if 0x20 <= code <= 0x7E or (code >= 0xA0 and code not in (0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)):
        return char
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _plain_holds(value: str, flow: bool) -> bool:
    """Whether a plain scalar reads back as exactly this value (asked of the parser itself)."""
    if not value or value != value.strip() or "\n" in value or value.startswith(("---", "...", "#")):
        return False
    if value[0] in "-?:,[]{}&*!|>'\"%@`" and not re.match(r"-[^\s,\[\]{}]", value):
        return False
    text = f"k: {{k: {value}}}\n" if flow else f"k: {value}\n"
    try:
        root = parse.__wrapped__(text)  # not worth a place among the remembered blocks
    except Fault:
        return False
    node = root.value[0][1]
    if flow:
        if node.kind != "map" or len(node.value) != 1:
            return False
        node = node.value[0][1]
    return node.kind == "scalar" and node.style == "plain" and node.value == value


def _bare_reference(value: str) -> bool:
    if not value.startswith("[[") or "\n" in value:
        return False
    try:
        node = parse.__wrapped__(f"k: {value}\n").value[0][1]
    except Fault:
        return False
    return node.reference() == value


def _looks_typed(value: str) -> bool:
    import yaml

    return yaml.SafeLoader("").resolve(yaml.ScalarNode, value, (True, False)) != "tag:yaml.org,2002:str"


def flow(item: Value, *, inside: bool = False) -> str:
    """A value in flow style, for one line: `{with: Sera, nature: friend}`, `[a, b]`, or a scalar.

    A whole number in a mapping stands without quotes (`count: 3`): it reads back the same, and so a person would write it.
    """
    if isinstance(item, dict):
        return "{" + ", ".join(f"{scalar(k, flow=True)}: {held(v)}" for k, v in item.items()) + "}"
    if isinstance(item, list):
        return "[" + ", ".join(flow(v, inside=True) for v in item) + "]"
    return scalar(item, flow=inside, quote_types=True)


def held(value: Value) -> str:
    """A value of a mapping in flow style; a whole number without quotes."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return value
    return flow(value, inside=True)
