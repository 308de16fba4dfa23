"""How wide text is on a terminal, and lines broken between words to fit it."""

from __future__ import annotations

import re
import shutil
import unicodedata
from typing import TextIO

WIDEST = 100  # columns of text on a wide terminal
_LEAD = re.compile(r"\s*(?:[0-9]{1,3}\.?\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|>\s+)?")


def cells(text: str) -> int:
    """Columns of a terminal that a text takes: two for a wide character (Unicode's East Asian Width), none for a mark upon one."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if is_wide(c) else 1 for c in text)


def is_wide(character: str) -> bool:
    """Whether a character takes two columns; between two such a line may be broken."""
    return unicodedata.east_asian_width(character) in "WF"


def keeps(left: str, right: str) -> bool:
    """Whether no line is broken between two characters of a word: wide ones part, but not from what opens or closes."""
    if not (is_wide(left) or is_wide(right)):
        return True
    return unicodedata.category(left) == "Ps" or unicodedata.category(right) in ("Pe", "Pf", "Po", "Mn", "Lm")


def columns_of(stream: TextIO) -> int:
    """Columns that text on this stream may take: of a terminal at most `WIDEST`, of anything else 0 (no limit)."""
    terminal = stream.isatty() if hasattr(stream, "isatty") else False
    return min(shutil.get_terminal_size().columns, WIDEST) if terminal else 0


def folded(line: str, width: int, *, hang: int = 0) -> str:
    """A line (or several) broken between words into lines of at most so many columns; width 0 breaks nothing, nor is a longer word broken.

    The later lines begin where the first one's words do, behind its white space and number or bullet, and `hang` columns on."""
    if "\n" in line:
        return "\n".join(folded(one, width, hang=hang) for one in line.split("\n"))
    if width <= 0 or cells(line) <= width:
        return line
    lead = _LEAD.match(line)[0]
    margin = " " * min(cells(lead) + hang, width // 2)
    lines, now = [], lead
    for gap, word in _words(line[len(lead) :]):
        if now.strip() and now != lead and cells(now) + len(gap) + cells(word) > width:
            lines.append(now)
            now = margin + word
        else:
            now += (gap if now != lead else "") + word
    return "\n".join([*lines, now])


def _words(text: str) -> list[tuple[str, str]]:
    """(white space before it, word) of each piece between which a line may be broken."""
    found: list[tuple[str, str]] = []
    for gap, word in re.findall(r"(\s*)(\S+)", text):
        start = 0
        for at in range(1, len(word) + 1):
            if at == len(word) or not keeps(word[at - 1], word[at]):
                found.append((gap if start == 0 else "", word[start:at]))
                start = at
    return found
