"""A write as its splice: the one span that differs, so that it can be taken back to the byte."""

from __future__ import annotations

import base64

from rolecall.campaign import files
from rolecall.errors import Conflict


def splice(before: bytes, after: bytes) -> dict[str, object]:
    """The one span that differs: `at` (byte), `old`, `new` (text, or `base64:...`), and both files' SHA-256."""
    at = _common(before, after)
    while at and at < max(len(before), len(after)) and _inside_character(before, after, at):
        at -= 1
    tail = _common(before[at:][::-1], after[at:][::-1])
    while tail and (_continues(before, len(before) - tail) or _continues(after, len(after) - tail)):
        tail -= 1
    old, new = before[at : len(before) - tail], after[at : len(after) - tail]
    return {
        "at": at,
        "old": _packed(old),
        "new": _packed(new),
        "before": files.sha256(before),
        "after": files.sha256(after),
    }


def unsplice(after: bytes, write: dict) -> bytes:
    """The very bytes a recorded write replaced; Conflict when the file is not what the write left."""
    if files.sha256(after) != write["after"]:
        raise Conflict("the file changed since this write", path=write["path"], remedy="merge by hand")
    old, new = unpacked(write["old"]), unpacked(write["new"])
    return after[: write["at"]] + old + after[write["at"] + len(new) :]


def _common(one: bytes, other: bytes) -> int:
    """The length of the common beginning, by halving (comparing slices is fast, comparing bytes is not)."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _continues(data: bytes, at: int) -> bool:
    return 0 <= at < len(data) and data[at] & 0xC0 == 0x80


def _inside_character(before: bytes, after: bytes, at: int) -> bool:
    return _continues(before, at) or _continues(after, at)


def _packed(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(data).decode()
    return text if not text.startswith("base64:") else "base64:" + base64.b64encode(data).decode()


def unpacked(text: str) -> bytes:
    """The bytes of a write's `old` or `new`."""
    return base64.b64decode(text[7:], validate=True) if text.startswith("base64:") else text.encode()
