"""Markdown with front matter, read and changed by bytes.

Every change is a pure function from bytes to bytes that touches the line or field it is about and nothing else, and is
proved by reading the result again: the fields must differ by exactly the intended change, the body not at all.
What is malformed or unclear is refused with file, line and remedy. Here are the changes of fields; those of the body are
in `growth` and stand here as well, so that one module is enough for a caller.
"""

from __future__ import annotations

from rolecall.campaign import frontmatter
from rolecall.campaign.frontmatter import BOM, Node, Value, flow, held, scalar
from rolecall.campaign.growth import append, append_like, append_to_section, cut, insert_on_top, replace_line
from rolecall.campaign.notes import Document, encoded, parse
from rolecall.errors import Malformed, Unclear

__all__ = [
    "Document",
    "add_item",
    "append",
    "append_like",
    "append_to_section",
    "cut",
    "insert_on_top",
    "parse",
    "remove_field",
    "remove_item",
    "replace_line",
    "set_field",
    "set_item",
]


def set_field(data: bytes, path: str, key: str, value: str, *, typed: bool = False) -> bytes:
    """The file with one field holding `value`; the same bytes when it holds it already.

    The old quoting stays where it can hold the new text, a comment behind the value stays, a missing field becomes one
    line before the closing fence, a missing block a new one. `typed` writes a new number or boolean without quotes.
    Unclear when the field is a list or a mapping.
    """
    document = parse(data, path)
    if document.block is None:
        _refuse_second_block(document)
        line = f"{key}: {scalar(value, quote_types=not typed)}"
        mark = BOM if data.startswith(BOM) else b""
        end = document.newline
        block = encoded(f"---{end}{line}{end}---{end}", path)
        return _proved(document, mark + block + data[len(mark) :], {key: value})
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
    """The file without the item at `index` of a list: without its line, or without its words in `[a, b]`."""
    document = parse(data, path)
    node = next((v for k, v in document.block.pairs() if k.value == key), None) if document.block else None
    if node is None or node.kind != "seq" or node.reference() is not None or not 0 <= index < len(node.value):
        line = document.block.line_of(key) if document.block else None
        raise Unclear(f"`{key}` has no item {index + 1}", path=path, line=line, remedy="name an item it has")
    text, part = document.block.text, node.value[index]
    rest = [*document.fields[key][:index], *document.fields[key][index + 1 :]]
    if node.style == "flow":
        after = node.value[index + 1].start if index + 1 < len(node.value) else part.end
        begin = node.value[index - 1].end if index and after == part.end else part.start
        return _proved(document, _spliced(document, begin, after, ""), {key: rest})
    begin, end = text.rfind("\n", 0, part.start) + 1, _line_end(text, _value_end(text, part))
    return _proved(document, _spliced(document, begin, end, ""), {key: rest or ""})


def _splice_value(document: Document, node: Node, value: str, *, flow_style: bool = False) -> bytes:
    text = document.block.text
    end = _value_end(text, node)
    style = "[[" if node.reference() else node.style if node.style in ("plain", "'", '"') else "plain"
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
        pieces.append((at, at, "".join(f", {scalar(k, flow=True)}: {held(v)}" for k, v in added.items())))
    elif added:
        first = part.value[0][0].start
        indent = " " * (first - (text.rfind("\n", 0, first) + 1))
        at = _line_end(text, _value_end(text, last))
        pieces.append((at, at, "".join(f"{indent}{scalar(k)}: {_bare(v)}{document.newline}" for k, v in added.items())))
    for begin, end, new in sorted(pieces, reverse=True):
        text = text[:begin] + new + text[end:]
    return document.data[: document.block.start] + encoded(text, document.path) + document.data[document.block.end :]


def _bare(value: Value) -> str:
    """A new value of a mapping written one key a line; a whole number without quotes."""
    return held(value) if isinstance(value, str) and value == held(value) else flow(value)


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
    return document.data[: block.start] + encoded(text, document.path) + document.data[block.end :]


def _refuse_second_block(document: Document) -> None:
    if frontmatter.opens_like_block(document.data):
        what, remedy = "the file begins with a rule, not with front matter", "write the rule as `***`"
        raise Unclear(what, path=document.path, line=1, remedy=remedy)


def _insert_line(document: Document, lines: str, wanted: dict[str, Value]) -> bytes:
    text = document.block.text
    at = len(text)
    if document.block.root is not None and document.block.root.style == "flow":
        raise Unclear(
            "the front matter is written in one pair of braces",
            path=document.path,
            line=2,
            remedy="write a field a line",
        )
    first = document.block.root.value[0][0].start if document.block.root else 0
    indent = text[text.rfind("\n", 0, first) + 1 : first]
    if indent.strip():
        indent = ""
    lines = "".join(f"{indent}{line}{document.newline}" for line in lines.split(document.newline))
    return _proved(document, _spliced(document, at, at, lines), wanted)


def _proved(document: Document, new: bytes, wanted: dict[str, Value], gone: str | None = None) -> bytes:
    """`new`, after reading it back: the fields are the old ones with exactly the intended change, the body is the same."""
    expected = {**document.fields, **wanted}
    expected.pop(gone, None)
    try:
        result = parse(new, document.path)
        kept = list(result.fields.items()) == list(expected.items()) and result.body == document.body
    except Malformed:
        kept = False
    if not kept:
        key = gone or next(iter(wanted))
        line = document.block.line_of(key) if document.block else None
        raise Unclear(
            f"`{key}` cannot be changed without touching more than it",
            path=document.path,
            line=line,
            remedy="change it by hand",
        )
    return new
