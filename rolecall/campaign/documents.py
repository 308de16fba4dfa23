"""Markdown with front matter, read and changed by bytes.

Every change is a pure function from bytes to bytes that touches the line or field it is about and nothing else, and is
proved by reading the result again: the fields must differ by exactly the intended change, the headings not at all.
What is malformed or unclear is refused with file, line and remedy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from rolecall.campaign import frontmatter, sections
from rolecall.campaign.frontmatter import BOM, Block, Node, Value, flow, scalar
from rolecall.campaign.sections import Section
from rolecall.errors import Unclear


@dataclass(frozen=True)
class Document:
    """One Markdown file as read. `path` is only used in errors."""

    path: str
    data: bytes
    block: Block | None

    @cached_property
    def fields(self) -> dict[str, Value]:
        """The front matter in file order: strings, lists and dicts of strings."""
        return self.block.fields() if self.block else {}

    @cached_property
    def body_start(self) -> int:
        """The byte position behind the closing fence."""
        if not self.block:
            return len(BOM) if self.data.startswith(BOM) else 0
        return self.data.find(b"\n", self.block.end) + 1 or len(self.data)

    @property
    def body(self) -> bytes:
        """Every byte after the front matter."""
        return self.data[self.body_start :]

    @cached_property
    def body_line(self) -> int:
        """The line on which the body begins, from 1."""
        return self.data.count(b"\n", 0, self.body_start) + 1

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The body's sections; the first is the text before any heading."""
        return sections.sections_of(self.data, self.body_start, self.body_line)

    @property
    def newline(self) -> str:
        """The line end most lines of the file have."""
        return "\r\n" if self.data.count(b"\r\n") * 2 > self.data.count(b"\n") else "\n"

    def text(self, key: str) -> str:
        """A field as one string; empty when it is missing or not a plain value."""
        value = self.fields.get(key, "")
        return value if isinstance(value, str) else ""

    def section(self, heading: str) -> Section | None:
        """The section of that heading (case and spacing aside); Unclear when there are two."""
        same = [s for s in self.sections if s.level and _same(s.heading, heading)]
        if len(same) > 1:
            raise Unclear(
                f"the heading `{heading}` stands here a second time (first on line {same[0].line})",
                path=self.path,
                line=same[1].line,
                remedy="join the two sections",
            )
        return same[0] if same else None


def parse(data: bytes, path: str) -> Document:
    """Read a file's bytes; Malformed when its front matter is broken."""
    return Document(path, data, frontmatter.find(data, path))


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


# -- fields -----------------------------------------------------------------------------------------------------------


def set_field(data: bytes, path: str, key: str, value: str, *, typed: bool = False) -> bytes:
    """The file with one field holding `value`; the same bytes when it holds it already.

    The old quoting stays where it can hold the new text, a comment behind the value stays, a missing field becomes one
    line before the closing fence, a missing block a new one. `typed` writes a new number or boolean without quotes.
    Unclear when the field is a list or a mapping.
    """
    document = parse(data, path)
    if document.block is None:
        line = f"{key}: {scalar(value, quote_types=not typed)}"
        mark = BOM if data.startswith(BOM) else b""
        end = document.newline
        return _proved(document, mark + f"---{end}{line}{end}---{end}".encode() + data[len(mark) :], {key: value})
    node = next((v for k, v in document.block.pairs() if k.value == key), None)
    if node is None:
        return _insert_line(document, f"{scalar(key)}: {scalar(value, quote_types=not typed)}", {key: value})
    if node.plain() == value:
        return data
    if node.kind != "scalar" and node.reference() is None:
        what = "list" if node.kind == "seq" else "mapping"
        raise Unclear(f"`{key}` is a {what}", path=path, line=node.line + 2, remedy="change one of its items instead")
    return _proved(
        document, _splice_value(document, node, value, flow_style=document.block.root.style == "flow"), {key: value}
    )


def remove_field(data: bytes, path: str, key: str) -> bytes:
    """The file without that field's lines; the same bytes when it has no such field."""
    document = parse(data, path)
    pairs = document.block.pairs() if document.block else ()
    at = next((i for i, (k, _) in enumerate(pairs) if k.value == key), None)
    if at is None:
        return data
    if document.block.root.style == "flow":
        raise Unclear(
            "the front matter is written in one pair of braces", path=path, line=2, remedy="write a field a line"
        )
    text = document.block.text
    begin = text.rfind("\n", 0, pairs[at][0].start) + 1
    end = _line_end(text, max(_value_end(text, pairs[at][1]), pairs[at][0].end))
    return _proved(document, _spliced(document, begin, end, ""), {}, gone=key)


def add_item(data: bytes, path: str, key: str, item: str | dict[str, str]) -> bytes:
    """The file with one more item at the end of a list field: one line more, or one item in `[a, b]`.

    A missing or empty field becomes a list of that one item. Unclear when the field is no list.
    """
    document = parse(data, path)
    old = document.fields.get(key, "")
    node = next((v for k, v in document.block.pairs() if k.value == key), None) if document.block else None
    if old == "":
        wanted = {key: [item]}
        end = document.newline
        if node is None:
            lines = f"{scalar(key)}:{end}  - {flow(item)}"
            if document.block is None:
                return add_item(set_field(data, path, key, ""), path, key, item)
            return _insert_line(document, lines, wanted)
        if node.style != "plain":
            return _proved(document, _spliced(document, node.start, node.end, f"[{flow(item, inside=True)}]"), wanted)
        at = _line_end(document.block.text, node.end)
        return _proved(document, _spliced(document, at, at, f"  - {flow(item)}{end}"), wanted)
    if node is None or node.kind != "seq" or node.reference() is not None:
        line = document.block.line_of(key) if document.block else None
        raise Unclear(f"`{key}` is not a list", path=path, line=line, remedy="write it as a list, one item a line")
    wanted = {key: [*old, item]}
    return _proved(document, _splice_item(document, node, item), wanted)


def set_item(data: bytes, path: str, key: str, index: int, item: str | dict[str, str]) -> bytes:
    """The file with the item at `index` of a list field replaced; of a mapping only the values that differ change."""
    document = parse(data, path)
    node = next((v for k, v in document.block.pairs() if k.value == key), None) if document.block else None
    if node is None or node.kind != "seq" or not 0 <= index < len(node.value):
        line = document.block.line_of(key) if document.block else None
        raise Unclear(f"`{key}` has no item {index + 1}", path=path, line=line, remedy="name an item it has")
    old, wanted = document.fields[key], list(document.fields[key])
    wanted[index] = item
    if old[index] == item:
        return data
    part = node.value[index]
    if isinstance(item, dict) and part.kind == "map":
        new = _splice_mapping(document, part, item)
    else:
        new = _spliced(
            document, part.start, _value_end(document.block.text, part), flow(item, inside=node.style == "flow")
        )
    return _proved(document, new, {key: wanted})


def remove_item(data: bytes, path: str, key: str, index: int) -> bytes:
    """The file without the item at `index` of a list written one item a line."""
    document = parse(data, path)
    node = next((v for k, v in document.block.pairs() if k.value == key), None) if document.block else None
    if node is None or node.kind != "seq" or node.style != "block" or not 0 <= index < len(node.value):
        line = document.block.line_of(key) if document.block else None
        raise Unclear(f"`{key}` has no line for item {index + 1}", path=path, line=line, remedy="write one item a line")
    text, part = document.block.text, node.value[index]
    rest = [*document.fields[key][:index], *document.fields[key][index + 1 :]]
    begin, end = text.rfind("\n", 0, part.start) + 1, _line_end(text, _value_end(text, part))
    return _proved(document, _spliced(document, begin, end, ""), {key: rest or ""})


def _splice_value(document: Document, node: Node, value: str, *, flow_style: bool = False) -> bytes:
    text = document.block.text
    end = _value_end(text, node)
    style = node.style if node.style in ("plain", "'", '"') else "plain"
    new = scalar(value, style, flow=flow_style)
    if node.start == end and text[node.start - 1 : node.start] == ":":
        new = " " + new
    return _spliced(document, node.start, end, new)


def _splice_item(document: Document, node: Node, item: str | dict[str, str]) -> bytes:
    text, last = document.block.text, node.value[-1] if node.value else None
    if node.style == "flow":
        if last is None:
            return _spliced(document, node.end - 1, node.end - 1, flow(item, inside=True))
        return _spliced(document, last.end, last.end, ", " + flow(item, inside=True))
    dash = text.rfind("-", 0, last.start)
    indent = text[text.rfind("\n", 0, dash) + 1 : dash]
    at = _line_end(text, _value_end(text, last))
    return _spliced(document, at, at, f"{indent}- {flow(item)}{document.newline}")


def _splice_mapping(document: Document, part: Node, item: dict[str, str]) -> bytes:
    """Change the differing values of one mapping from the back to the front, then add what is new."""
    old = part.plain()
    if any(key not in item for key in old) or any(not isinstance(v, str) for v in item.values()):
        return _spliced(
            document, part.start, _value_end(document.block.text, part), flow(item, inside=part.style == "flow")
        )
    text = document.block.text
    pieces: list[tuple[int, int, str]] = []
    for key, node in part.value:
        if item[key.value] != old[key.value]:
            end = _value_end(text, node)
            style = node.style if node.style in ("plain", "'", '"') else "plain"
            new = scalar(item[key.value], style, flow=part.style == "flow")
            pieces.append((node.start, end, " " + new if text[node.start - 1 : node.start] == ":" else new))
    added = {k: v for k, v in item.items() if k not in old}
    last = part.value[-1][1]
    if added and part.style == "flow":
        at = max(last.end, part.value[-1][0].end)
        pieces.append((at, at, "".join(f", {scalar(k, flow=True)}: {flow(v, inside=True)}" for k, v in added.items())))
    elif added:
        first = part.value[0][0].start
        indent = " " * (first - (text.rfind("\n", 0, first) + 1))
        at = _line_end(text, _value_end(text, last))
        pieces.append((at, at, "".join(f"{indent}{scalar(k)}: {flow(v)}{document.newline}" for k, v in added.items())))
    for begin, end, new in sorted(pieces, reverse=True):
        text = text[:begin] + new + text[end:]
    return document.data[: document.block.start] + text.encode() + document.data[document.block.end :]


def _value_end(text: str, node: Node) -> int:
    """Where a value's own text ends: parsers put the end of a block value behind the blank lines that follow it."""
    if node.kind != "scalar" and node.style == "block" and node.value:
        last = node.value[-1]
        return _value_end(text, last if isinstance(last, Node) else last[1])
    end = node.end
    while end > node.start and text[end - 1] in " \t\r\n":
        end -= 1
    return max(end, node.start)


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _spliced(document: Document, begin: int, end: int, new: str) -> bytes:
    block = document.block
    text = block.text[:begin] + new + block.text[end:]
    return document.data[: block.start] + text.encode() + document.data[block.end :]


def _insert_line(document: Document, lines: str, wanted: dict[str, Value]) -> bytes:
    at = len(document.block.text)
    if document.block.root is not None and document.block.root.style == "flow":
        raise Unclear(
            "the front matter is written in one pair of braces",
            path=document.path,
            line=2,
            remedy="write a field a line",
        )
    return _proved(document, _spliced(document, at, at, lines + document.newline), wanted)


def _proved(document: Document, new: bytes, wanted: dict[str, Value], gone: str | None = None) -> bytes:
    """`new`, after reading it back: the fields are the old ones with exactly the intended change, the body is the same."""
    expected = {**document.fields, **wanted}
    expected.pop(gone, None)
    result = parse(new, document.path)
    if result.fields != expected or list(result.fields) != list(expected) or result.body != document.body:
        key = gone or next(iter(wanted))
        line = document.block.line_of(key) if document.block else None
        raise Unclear(
            f"`{key}` cannot be changed without touching more than it",
            path=document.path,
            line=line,
            remedy="change it by hand",
        )
    return new


# -- sections ---------------------------------------------------------------------------------------------------------


def append(data: bytes, lines: str, newline: str = "\n") -> bytes:
    """What to add at the end of the file so that `lines` stand on lines of their own: never glued to the last one."""
    glue = newline if data and not data.endswith(b"\n") and data != BOM else ""
    return (glue + lines.replace("\n", newline) + newline).encode()


def append_to_section(data: bytes, path: str, heading: str, line: str, *, create: int = 0) -> bytes:
    """The file with `line` (one or more lines) behind the last line of a section.

    A missing section is an error, unless `create` gives the level at which it is made at the file's end.
    """
    document = parse(data, path)
    section = document.section(heading)
    end = document.newline
    if section is None:
        if not create:
            raise Unclear(f"there is no section `{heading}`", path=path, remedy=f"add a line `## {heading}`")
        blank = "\n" if data.strip() and not data.endswith((b"\n\n", b"\n\r\n")) else ""
        new = data + append(data, f"{blank}{'#' * create} {heading}\n\n{line}", end)
        return _sections_kept(document, new, added=heading)
    at = _last_text(data, section.body, section.end)
    if at > section.body:
        glue = "" if data[:at].endswith(b"\n") else "\n"
        return _sections_kept(document, data[:at] + (glue + line + "\n").replace("\n", end).encode() + data[at:])
    # An empty section: a blank line under the heading, the first line, a blank line before the next heading.
    head = "" if data[:at].endswith(b"\n") else "\n"
    blank = re.match(rb"[ \t]*\r?\n", data[at : section.end])
    at += blank.end() if blank else 0
    lead = head if blank else head + "\n"
    close = "\n" if data[at:].strip() and not re.match(rb"[ \t]*\r?\n", data[at:]) else ""
    return _sections_kept(document, data[:at] + (lead + line + "\n" + close).replace("\n", end).encode() + data[at:])


def _last_text(data: bytes, start: int, end: int) -> int:
    """The position behind the last line with text in data[start:end], its newline included; `start` when there is none."""
    last = start
    for begin, stop in sections.lines_of(data[:end], start):
        if data[begin:stop].strip():
            last = stop
    return last


def insert_on_top(data: bytes, path: str, heading: str, line: str, *, create: int = 0) -> bytes:
    """The file with `line` as the first item of a section's list: above its first `- ` line, else as its only line."""
    document = parse(data, path)
    section = document.section(heading)
    if section is not None:
        for begin, stop in sections.lines_of(data[: section.end], section.body):
            if re.match(rb" {0,3}[-*+][ \t]", data[begin:stop]):
                new = (line + "\n").replace("\n", document.newline).encode()
                return _sections_kept(document, data[:begin] + new + data[begin:])
    return append_to_section(data, path, heading, line, create=create)


def replace_line(data: bytes, path: str, heading: str, old: str, new: str) -> bytes:
    """The file with one whole line of a section changed; Unclear when it is not there exactly once."""
    document = parse(data, path)
    section = document.section(heading)
    found = []
    if section:
        for begin, stop in sections.lines_of(data[: section.end], section.body):
            if data[begin:stop].rstrip(b"\r\n") == old.encode():
                found.append((begin, begin + len(old.encode())))
    if len(found) != 1:
        line = section.line if section else None
        raise Unclear(
            f"the line to change stands here {len(found)} times", path=path, line=line, remedy="change it by hand"
        )
    begin, stop = found[0]
    return _sections_kept(document, data[:begin] + new.encode() + data[stop:])


def cut(data: bytes, path: str, spans: list[tuple[int, int]]) -> bytes:
    """The file without the bytes of each (begin, end), which must not touch a heading or the front matter."""
    document = parse(data, path)
    new = data
    for begin, end in sorted(spans, reverse=True):
        new = new[:begin] + new[end:]
    return _sections_kept(document, new)


def _sections_kept(document: Document, new: bytes, added: str | None = None) -> bytes:
    """`new`, after reading it back: same fields, same headings (and the one that was to be added)."""
    result = parse(new, document.path)
    old = [(s.heading, s.level) for s in document.sections]
    now = [(s.heading, s.level) for s in result.sections]
    if added is not None and now and _same(now[-1][0], added):
        now.pop()
    if now != old or result.fields != document.fields:
        raise Unclear("the text to add would read as a heading", path=document.path, remedy="write it as plain text")
    return new
