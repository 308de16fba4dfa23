"""The lines of a section that count as rows: `- Valen: poisoned`, `* [[Valen]], hurt`, with whatever bullet the writer likes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rolecall.campaign import references
from rolecall.campaign.documents import Document
from rolecall.campaign.merging import key_of
from rolecall.errors import Unclear

_BULLET = re.compile(r"( {0,3}[-*+][ \t]+)(?:\[([ xX])\][ \t]+)?(.*)")
_LINKED = re.compile(r"\[\[[^\[\]]+\]\]")


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the whole line, what stands before its text, the mark of its box ("" without one), its text."""

    raw: str
    head: str
    box: str
    text: str

    def with_text(self, text: str) -> str:
        """The line with another text; bullet, box and the white space at its end stay."""
        end = self.raw[len(self.raw.rstrip()) :]
        return self.raw[: len(self.raw) - len(end) - len(self.text)] + text + end

    def named(self) -> tuple[str, str]:
        """(name, what follows its colon) of `Name: rest`; the name is the whole text when there is no colon."""
        linked = _LINKED.match(self.text)
        at = self.text.find(":", linked.end() if linked else 0)
        if at < 0:
            return self.text, ""
        return self.text[:at].strip(), self.text[at + 1 :].strip()


def rows_of(document: Document, heading: str) -> list[Row]:
    """The rows of a section in order; lines without a bullet are none. Unclear when there are two such sections."""
    found = []
    for raw in document.lines(heading):
        match = _BULLET.fullmatch(raw.rstrip())
        if match and match[3].strip():
            found.append(Row(raw, match[1], match[2] or "", match[3]))
    return found


def loose_of(document: Document, heading: str) -> list[Row]:
    """The rows of a section, with every other line that is neither blank nor a heading as a row without a bullet."""
    found = []
    for raw in document.lines(heading):
        text = raw.strip()
        match = _BULLET.fullmatch(raw.rstrip())
        if match and match[3].strip():
            found.append(Row(raw, match[1], match[2] or "", match[3]))
        elif text and not text.startswith(("#", ">", "<!--", "|")):
            found.append(Row(raw, raw[: len(raw) - len(raw.lstrip())], "", text))
    return found


def bullet(document: Document, heading: str) -> str:
    """How a new row of a section begins: like its last one."""
    try:
        rows = rows_of(document, heading)
    except Unclear:
        rows = []
    return rows[-1].head if rows else "- "


def same_name(one: str, other: str) -> bool:
    """Whether two names are one: brackets, case, spacing and accents aside."""
    return bool(key_of(one)) and key_of(one) == key_of(other)


def name_in(text: str) -> str:
    """The plain name in `[[Valen]]` or `[[characters/valen|Valen]]`."""
    found = references.names_in(text)
    return found[0] if found else ""
