"""Story Arcs: open questions with stakes, a latest line, a trail and a hidden truth.

One motion moves an arc: the previous `latest` becomes the top line of `## Trail` and the new line becomes `latest`, in
one write. A quest is an arc with `kind: quest` and a `stage`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rolecall.campaign import documents, kinds, sections
from rolecall.campaign.documents import Document
from rolecall.campaign.frontmatter import Value, scalar
from rolecall.campaign.journal import turn_id
from rolecall.campaign.text import fold
from rolecall.errors import Unclear

FOLDER = "arcs"
TRAIL = "Trail"
_CLOSED = {"closed", "resolved", "done", "failed", "abandoned", "completed"}


@dataclass(frozen=True, slots=True)
class Arc:
    """An arc without its truth: what every layer may know of it."""

    path: str
    name: str
    question: str
    stakes: str
    status: str
    latest: str
    stage: str
    trail: int  # lines

    @property
    def open(self) -> bool:
        """Whether the question still stands."""
        return self.status.casefold() not in _CLOSED


def read(document: Document) -> Arc:
    """The arc in a document."""
    text = document.text
    return Arc(
        path=document.path,
        name=kinds.name_of(document.path, document.fields),
        question=text("question"),
        stakes=text("stakes"),
        status=text("status") or "open",
        latest=text("latest"),
        stage=text("stage"),
        trail=len(trail_of(document)),
    )


def trail_of(document: Document) -> tuple[str, ...]:
    """The lines of an arc's trail without their dashes, the newest first."""
    lines = document.lines(TRAIL)
    return tuple(line.strip()[2:].strip() for line in lines if re.match(r" {0,3}[-*+][ \t]", line))


def opened(before: bytes | None, path: str, turn: int, name: str, facts: Mapping[str, Value], text: str) -> bytes:
    """A new arc: its question, stakes and truth as far as `facts` has them, and its first line.

    The same bytes where that arc is there already; Unclear when another file has its name.
    """
    if before:
        if fold(kinds.name_of(path, documents.parse(before, path).fields)) == fold(name):
            return before
        raise Unclear("a file of that name was made meanwhile", path=path, remedy="rename it, or open the arc by hand")
    latest = f"{turn_id(turn)} {' '.join(text.split())}" if text.strip() else ""
    fields = {"name": name, "kind": "arc", "question": facts.get("question", ""), "stakes": facts.get("stakes", "")}
    fields |= {"status": "open", "latest": latest, "truth": facts.get("truth", ""), "source": turn_id(turn)}
    kept = [(key, value) for key, value in fields.items() if isinstance(value, str) and value]
    lines = [f"{key}: {scalar(value, quote_types=True)}" for key, value in kept]
    data = "\n".join(["---", *lines, "---", "", f"## {TRAIL}", "", "## Summaries", ""]).encode("utf-8", "replace")
    if documents.parse(data, path).fields != dict(kept):
        raise Unclear("these words cannot be written as front matter", path=path, remedy="open the arc by hand")
    return data


def move(data: bytes, path: str, turn: int, text: str) -> bytes:
    """The arc moved on by one line; the same bytes when it already stands there or on its trail."""
    document = documents.parse(data, path)
    line = f"{turn_id(turn)} {' '.join(text.split())}".rstrip()
    latest = " ".join(document.text("latest").split())  # one written over several lines becomes one line of the trail
    if latest == line or line in trail_of(document):
        return data
    if latest:
        data = documents.insert_on_top(data, path, TRAIL, f"- {latest}", create=2)
    return documents.set_field(data, path, "latest", line)


def take_back(data: bytes, path: str, turn: int, text: str) -> bytes | None:
    """The arc without one turn's line, wherever it stands by now; None when the line is not there as it was written."""
    document = documents.parse(data, path)
    line = f"{turn_id(turn)} {' '.join(text.split())}".rstrip()
    trail = trail_of(document)
    if document.text("latest") == line:
        if not trail:
            return documents.set_field(data, path, "latest", "")
        data = documents.set_field(data, path, "latest", trail[0])
        return _without(data, path, trail[0])
    return _without(data, path, line) if line in trail else None


def _without(data: bytes, path: str, line: str) -> bytes:
    """The arc without the topmost trail line of these words."""
    document = documents.parse(data, path)
    section = document.section(TRAIL)
    for begin, stop in sections.lines_of(data[: section.end], section.body):
        raw = data[begin:stop].decode("utf-8", "replace").strip()
        if raw[:1] in "-*+" and raw[1:].strip() == line:
            return documents.cut(data, path, [(begin, stop)])
    return data
