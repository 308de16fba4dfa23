"""The body of a note changed by bytes: lines added to a section, on top of one, at the end; one line changed; lines cut.

Each change is proved by reading the result again: the front matter must be the same, and the headings, but for one that
was to be added.
"""

from __future__ import annotations

import re

from rolecall.campaign import secrets, sections
from rolecall.campaign.frontmatter import BOM
from rolecall.campaign.notes import Document, encoded, parse, same
from rolecall.campaign.sections import Section
from rolecall.errors import Malformed, Unclear


def append(data: bytes, lines: str, newline: str = "\n") -> bytes:
    """What to add at the end of the file so that `lines` stand on lines of their own: never glued to the last one."""
    glue = newline if data and not data.endswith(b"\n") and data != BOM else ""
    return encoded(glue + lines.replace("\n", newline) + newline, None)


def append_to_section(data: bytes, path: str, heading: str, line: str, *, create: int = 0) -> bytes:
    """The file with `line` (one or more lines) behind the last line of a section, nested sections included.

    Nested secret sections at its end are stepped over, so that what is open stays open. A missing section is an error, unless `create` gives the level at which it is made at the file's end.
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
    stop = _open_end(document, section)
    at = _last_text(data, section.body, stop)
    if at > section.body:
        glue = "" if data[:at].endswith(b"\n") else "\n"
        # An underlined heading right below would go on with the new line, as a list item's second line does.
        gap = "\n" if any(s.start == at and s.taken == 2 for s in document.sections) else ""
        return _sections_kept(document, _inserted(document, at, glue + line + "\n" + gap))
    # An empty section: a blank line under the heading, the first line, a blank line before the next heading.
    head = "" if data[:at].endswith(b"\n") else "\n"
    blank = re.match(rb"[ \t]*\r?\n", data[at:stop])
    at += blank.end() if blank else 0
    lead = head if blank else head + "\n"
    close = "\n" if data[at:].strip() and not re.match(rb"[ \t]*\r?\n", data[at:]) else ""
    return _sections_kept(document, _inserted(document, at, lead + line + "\n" + close))


def _inserted(document: Document, at: int, text: str) -> bytes:
    new = encoded(text.replace("\n", document.newline), document.path)
    return document.data[:at] + new + document.data[at:]


def _open_end(document: Document, section: Section) -> int:
    """Where a section ends for new lines: before the first nested secret section behind which nothing open follows."""
    end = section.end
    inside = [s for s in document.sections if section.start < s.start < section.end]
    for nested in reversed(inside):
        if any(s.start <= nested.start < s.end and secrets.is_secret_heading(s.heading) for s in inside):
            end = nested.start
        else:
            break
    return end


def _last_text(data: bytes, start: int, end: int) -> int:
    """The position behind the last line with text in data[start:end], its newline included; `start` when there is none."""
    last = start
    for begin, stop in sections.lines_of(data[:end], start):
        if data[begin:stop].strip():
            last = stop
    return last


def append_like(data: bytes, path: str, line: str, like: re.Pattern[bytes]) -> bytes:
    """The file with `line` below the last line of its body that matches `like`; at the file's end when none does."""
    document = parse(data, path)
    spans = sections.lines_of(data, document.body_start)
    at = max((stop for begin, stop in spans if like.match(data[begin:stop])), default=None)
    if at is None:
        blank = "\n" if data.strip() and not data.endswith((b"\n\n", b"\n\r\n")) else ""
        return _sections_kept(document, data + append(data, blank + line, document.newline))
    glue = "" if data[:at].endswith(b"\n") else "\n"
    return _sections_kept(document, _inserted(document, at, glue + line + "\n"))


def insert_on_top(data: bytes, path: str, heading: str, line: str, *, create: int = 0) -> bytes:
    """The file with `line` as the first item of a section's list: above its first `- ` line, else as its only line."""
    document = parse(data, path)
    section = document.section(heading)
    if section is not None:
        for begin, stop in sections.lines_of(data[: section.end], section.body):
            if re.match(rb" {0,3}[-*+][ \t]", data[begin:stop]):
                return _sections_kept(document, _inserted(document, begin, line + "\n"))
    return append_to_section(data, path, heading, line, create=create)


def replace_line(data: bytes, path: str, heading: str, old: str, new: str) -> bytes:
    """The file with one whole line of a section (`""`: of its body) changed; Unclear when it is not there exactly once."""
    document = parse(data, path)
    section = document.section(heading) if heading else None
    found, wanted = [], encoded(old, path)
    if section or not heading:
        end, start = (section.end, section.body) if section else (len(data), document.body_start)
        for begin, stop in sections.lines_of(data[:end], start):
            if data[begin:stop].rstrip(b"\r\n") == wanted:
                found.append((begin, begin + len(wanted)))
    if len(found) != 1:
        line = section.line if section else None
        raise Unclear(
            f"the line to change stands here {len(found)} times", path=path, line=line, remedy="change it by hand"
        )
    begin, stop = found[0]
    return _sections_kept(document, data[:begin] + encoded(new, path) + data[stop:])


def cut(data: bytes, path: str, spans: list[tuple[int, int]]) -> bytes:
    """The file without the bytes of each (begin, end), which must not touch a heading or the front matter."""
    document = parse(data, path)
    new = data
    for begin, end in sorted(spans, reverse=True):
        new = new[:begin] + new[end:]
    return _sections_kept(document, new)


def _sections_kept(document: Document, new: bytes, added: str | None = None) -> bytes:
    """`new`, after reading it back: same fields, same headings (and the one that was to be added)."""
    old = [(s.heading, s.level) for s in document.sections]
    try:
        result = parse(new, document.path)
        now = [(s.heading, s.level) for s in result.sections]
        if added is not None and same(now[-1][0], added):
            now.pop()
        kept = now == old and result.fields == document.fields
    except Malformed:
        kept = False
    if not kept:
        raise Unclear("the text to add would read as a heading", path=document.path, remedy="write it as plain text")
    return new
