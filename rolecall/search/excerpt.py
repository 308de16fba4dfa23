"""The few words of a passage that show why it was found."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rolecall.search.analysis import Analyzer, fold

LENGTH = 240  # characters

# Its runs are taken whole: a thousand dots in a row are looked at once, not once a dot.
_PIECE = re.compile(r"[^\n]*?(?:(?<![.!?…。！？])[.!?…。！？]++[\"'”’»)\]*_]*+(?=\s|[^\x00-\x7f])|\n|\Z)")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\s]+")


def excerpt(text: str, terms: Iterable[str], analyzer: Analyzer, length: int = LENGTH) -> str:
    """About `length` characters in one line, beginning with the sentence that holds most of the terms; cuts are marked `…`."""
    wanted = set(terms)
    pieces = [found.group() for found in _PIECE.finditer(text) if found.group().strip()]
    if not pieces:
        return ""
    best = max(range(len(pieces)), key=lambda i: (len(wanted.intersection(analyzer.counts(pieces[i]))), -i))
    shown = _line(pieces[best])
    last = best
    while last + 1 < len(pieces) and len(shown) + len(pieces[last + 1]) < length:
        last += 1
        shown = f"{shown} {_line(pieces[last])}"
    if len(shown) > length:
        shown = _around(shown, wanted, analyzer, length)
    elif last + 1 < len(pieces):
        shown += " …"
    return f"… {shown}" if best and not shown.startswith("…") else shown


def _around(line: str, wanted: set[str], analyzer: Analyzer, length: int) -> str:
    """A window of a sentence that is too long, around the first of its words that was asked for."""
    at = 0
    for found in re.finditer(r"\S+", line):
        if wanted.intersection(analyzer.counts(found.group())):
            # In a script without spaces the word stands somewhere inside a long run.
            inside = [place for term in wanted if (place := fold(found.group()).find(term)) >= 0]
            at = max(0, min(found.start() + min(inside, default=0) - length // 3, len(line) - length))
            break
    start = line.rfind(" ", 0, at) + 1 if at else 0
    if at - start > length // 3:
        start = at  # a script without spaces
    shown = line[start : start + length]
    if start + length < len(line):
        shown = (shown.rsplit(" ", 1)[0] if " " in shown[length // 2 :] else shown) + " …"
    return f"… {shown}" if start else shown


def _line(text: str) -> str:
    return _CONTROLS.sub(" ", text).strip()
