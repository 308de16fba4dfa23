"""Small changes of the game's state: one field, one item of a list, one line of a section. Pure, and each may be made twice.

A replacement carries what it was worked out from (`was`). Where the file says neither that nor the new thing, somebody changed it
meanwhile: their words stay, and the change is refused with an Unclear.

    value    a field            key: its name, was and text: its plain values ("" for none)
    item     an item of a list  key: the field, was and text: the items as JSON ("" for none)
    row      a line of a section   key: the heading, was and text: the whole lines ("" for none); title: of a new file
    gone     a section goes     key: its heading, was: all of it, from its heading on
    remark   a line under the turn's line in the Journal   text
    made     a file is made     text: its content

With each, `lines` are dated lines that go to the entry's History in the same write: what a replaced text said is kept there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rolecall.campaign import documents, journal, merging, sections
from rolecall.campaign.documents import Document
from rolecall.campaign.frontmatter import Value, scalar
from rolecall.campaign.journal import turn_id
from rolecall.errors import Unclear

if TYPE_CHECKING:  # the effects are made of these edits
    from rolecall.campaign.effects import Effect


def item_text(item: Value) -> str:
    """An item as an effect carries it; empty for none."""
    return json.dumps(item, ensure_ascii=False) if item else ""


def item_of(text: str) -> Value:
    """The item that `item_text` wrote."""
    return json.loads(text) if text else ""


def _value(data: bytes, effect: Effect) -> bytes:
    path, key = effect.path, effect.key
    document = documents.parse(data, path)
    held = held_key(document, key)
    old = document.fields.get(held, "")
    if old == effect.text:
        return data
    if old != effect.was:
        raise _changed(document, key, effect)
    if effect.text:
        data = documents.set_field(data, path, held, effect.text, typed=is_number(effect.text))
    else:
        data = documents.remove_field(data, path, held)
    return merging.with_lines(data, path, list(effect.lines))


def _item(data: bytes, effect: Effect) -> bytes:
    path = effect.path
    document = documents.parse(data, path)
    key = held_key(document, effect.key)
    new, was = item_of(effect.text), item_of(effect.was)
    listed = document.fields.get(key, "")
    items = listed if isinstance(listed, list) else []
    if listed != "" and not isinstance(listed, list):
        line = document.block.line_of(key) if document.block else None
        raise Unclear(f"`{key}` is not a list", path=path, line=line, remedy="write it as a list, one item a line")
    if new and new in items:
        return data
    if was:
        found = [n for n, one in enumerate(items) if one == was]
        if not found and not new:
            return data
        if len(found) != 1:
            raise _changed(document, key, effect)
        change = documents.set_item(data, path, key, found[0], new) if new else _less(document, key, found[0])
        return merging.with_lines(change, path, list(effect.lines))
    if any(merging.key_of(one) == merging.key_of(new) for one in items):
        raise _changed(document, key, effect)
    return merging.with_lines(documents.add_item(data, path, key, new), path, list(effect.lines))


def _less(document: Document, key: str, at: int) -> bytes:
    return documents.remove_item(document.data, document.path, key, at)


def _row(data: bytes, effect: Effect) -> bytes:
    path, heading = effect.path, effect.key
    document = documents.parse(data, path)
    there = document.lines(heading) if heading else _body_lines(document)
    if effect.text in there if effect.text else not effect.was:
        return data
    if not effect.was:
        return merging.with_lines(_added(document, heading, effect.text), path, list(effect.lines))
    if effect.was not in there and not effect.text:
        return data
    if there.count(effect.was) > 1:
        what, remedy = f"`{effect.was.strip()}` stands in {heading or 'it'} more than once", "leave one of the lines"
        raise Unclear(what, path=path, remedy=remedy)
    if effect.was not in there:
        raise _changed(document, heading, effect)
    if effect.text:
        data = documents.replace_line(data, path, heading, effect.was, effect.text)
    else:
        data = _without(document, heading, effect.was)
    return merging.with_lines(data, path, list(effect.lines))


def _body_lines(document: Document) -> list[str]:
    return [line.rstrip("\r") for line in document.body.decode("utf-8", "replace").split("\n")]


def _added(document: Document, heading: str, line: str) -> bytes:
    """One line more in a section; a new section stands above the Journal, which stays last."""
    data, path = document.data, document.path
    if not heading:
        return data + documents.append(data, line, document.newline)
    book = document.section(journal.HEADING)
    if document.section(heading) is not None or book is None:
        return documents.append_to_section(data, path, heading, line, create=2)
    text = f"## {heading}\n\n{line}\n\n".replace("\n", document.newline).encode()
    new = data[: book.start] + text + data[book.start :]
    headings = [s.heading for s in documents.parse(new, path).sections]
    if sorted(headings) != sorted([*(s.heading for s in document.sections), heading]):
        raise Unclear("the text to add would read as a heading", path=path, remedy="write it as plain text")
    return new


def _without(document: Document, heading: str, row: str) -> bytes:
    section = document.section(heading)
    for begin, stop in sections.lines_of(document.data[: section.end], section.body):
        if document.data[begin:stop].rstrip(b"\r\n") == row.encode():
            return documents.cut(document.data, document.path, [(begin, stop)])
    return document.data


def _gone(data: bytes, effect: Effect) -> bytes:
    document = documents.parse(data, effect.path)
    section = document.section(effect.key)
    if section is None:
        return data
    if section_text(document, effect.key) != effect.was:
        raise _changed(document, effect.key, effect)
    return data[: section.start] + data[section.end :]


def section_text(document: Document, heading: str) -> str:
    """A section's text from its heading to its end, as `gone` carries it; empty when there is none."""
    section = document.section(heading)
    return document.data[section.start : section.end].decode("utf-8", "surrogateescape") if section else ""


def _remark(data: bytes, effect: Effect) -> bytes:
    """A note below the turn's line; it goes where that line goes, into the Chronicle in the end."""
    document = documents.parse(data, effect.path)
    said = f"  ({' '.join(effect.text.split())})"
    lines = journal.lines_of(document)
    line = next((one for one in reversed(lines) if one.turn == effect.turn), lines[-1] if lines else None)
    if said in (line.raw.split("\n") if line else document.lines(journal.HEADING)):
        return data
    if line is None:
        return documents.append_to_section(data, effect.path, journal.HEADING, said, create=2)
    head = "" if data[: line.end].endswith(b"\n") else document.newline
    text = head + said + ("" if head else document.newline)
    return data[: line.end] + text.encode() + data[line.end :]


def _made(data: bytes, effect: Effect) -> bytes:
    if data == effect.text.encode() or documents.parse(data, effect.path).text("source") == turn_id(effect.turn):
        return data  # it was made already, and may have changed since
    raise Unclear("a file of that name was made meanwhile", path=effect.path, remedy="rename it, or write it by hand")


def _new(effect: Effect) -> bytes:
    return effect.text.encode("utf-8", "replace")


def _new_with_row(effect: Effect) -> bytes:
    """A file that is made when its first line is written: one of the DM's own."""
    if effect.was or not effect.title:
        raise Unclear("there is no such file any more", path=effect.path, remedy="nothing was written to it")
    head = f"---\nname: {scalar(effect.title)}\n---\n"
    return (head + (f"\n## {effect.key}\n" if effect.key else "") + f"\n{effect.text}\n").encode("utf-8", "replace")


def held_key(document: Document, key: str) -> str:
    """A field's key as the file spells it."""
    return next((k for k in document.fields if k.casefold() == key.casefold()), key)


def is_number(text: str) -> bool:
    """Whether a value is written as a plain whole number."""
    return text.lstrip("-").isascii() and text.removeprefix("-").isdigit() and str(int(text)) == text


def _changed(document: Document, what: str, effect: Effect) -> Unclear:
    line = document.block.line_of(what) if document.block else None
    return Unclear(
        f"`{what}` was changed meanwhile",
        path=document.path,
        line=line,
        remedy=f"yours stays; set `{effect.text}` by hand if it is right",
    )


EDITS = {"value": _value, "item": _item, "row": _row, "gone": _gone, "remark": _remark, "made": _made}
MAKING = {"made": _new, "row": _new_with_row}
