"""Documents as people write them, for the property tests: every byte of a generated note is known, and so is what it says.

A note is drawn as entries (the bytes of one field, and its value) between comments and blank lines, and as a body of
headings, lists, prose, rules and code. Line ends, byte order mark, fences and the final newline vary.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# Bounded, so that the whole folder stays quick on a busy machine; no test depends on time.
bounded = settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)

BOM = b"\xef\xbb\xbf"
_ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True)
class Entry:
    """One field: its key, what it means, its bytes (whole lines), how it is written."""

    key: str
    value: object
    raw: bytes
    style: str


@dataclass(frozen=True)
class Note:
    """A drawn note: its bytes, its entries, and where each entry stands (byte spans)."""

    data: bytes
    entries: tuple[Entry, ...]
    spans: tuple[tuple[int, int], ...]
    newline: str
    body: bytes

    @property
    def fields(self) -> dict[str, object]:
        return {entry.key: entry.value for entry in self.entries}

    def of(self, *styles: str) -> list[int]:
        return [number for number, entry in enumerate(self.entries) if entry.style in styles]


# Any character that UTF-8 can hold: control characters, line ends of every kind, astral, combining, emoji.
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
one_line = anything.map(lambda text: " ".join(text.split())).filter(bool)
printable = st.text(
    st.sampled_from("abcXYZ éüßñ Éowyn 日本語 ไทย Ж 😀🐉 '\"#:,-[]{}&*!|>%@`\\0123456789?=~._e\u0301"),
    min_size=1,
    max_size=24,
)
awkward = st.sampled_from(
    ["no", "12:30", "1492-13-01", "null", "~", "0755", "1e3", "KB: Something", "a #b", "- x", "[[Sera]]", "=", "<<", "yes",
     "{{date}}", "&a", "*a", "!t", "", "'", '"', "---", "...", "a: ", "x\u0085y", "x\u2028y", "Éowyn", "E\u0301owyn", "🐉", "\ufeffx",
     "\t", " x ", "x\n", "\x07", "\\", "# no comment", "a\tb"]
)  # fmt: skip
values = st.one_of(awkward, printable, anything)
words = (
    st.text(st.sampled_from("abcdeé日Ж🐉 -'0"), min_size=1, max_size=12)
    .map(str.strip)
    .filter(lambda text: text and text[0] not in "-' 0" and not text.endswith("'"))
)
keys = st.one_of(
    st.sampled_from(["name", "title", "content", "handler", "on", "no", "1", "aliases", "ключ", "名前", "🐉", "date", "two words"]),
    st.text(st.sampled_from("abcxyz_é"), min_size=1, max_size=8),
)  # fmt: skip


def single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def double(text: str) -> str:
    return _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _entry(key: str, shown: str, value: object, style: str, newline: str, comment: str = "") -> Entry:
    lines = (shown + comment).replace("\n", newline) + newline
    return Entry(key, value, f"{key}:{lines}".encode(), style)


STYLES = ("plain", "'", '"', "|", ">", "empty", "flow", "block", "maps", "flowmaps", "map", "reference")


@st.composite
def _entries(draw, key: str, newline: str, styles: tuple[str, ...]) -> Entry:
    style = draw(st.sampled_from(styles))
    comment = draw(st.sampled_from(["", "", "  # why: a - b", " #"]))
    gap = draw(st.sampled_from([" ", "  "]))
    listed = draw(st.lists(words, min_size=1, max_size=3))
    if style == "plain":
        return _entry(key, gap + listed[0], listed[0], style, newline, comment)
    if style == "'":
        text = draw(printable)
        return _entry(key, gap + single(text), text, style, newline, comment)
    if style == '"':
        text = draw(st.one_of(anything, printable))
        return _entry(key, gap + double(text), text, style, newline, comment)
    if style == "|":
        return _entry(key, " |\n  " + "\n  ".join(listed), "\n".join(listed) + "\n", style, newline)
    if style == ">":
        return _entry(key, " >-\n  " + "\n  ".join(listed), " ".join(listed), style, newline)
    if style == "empty":
        return _entry(key, "", "", style, newline, comment)
    if style == "flow":
        return _entry(key, gap + "[" + ", ".join(listed) + "]", listed, style, newline, comment)
    if style == "block":
        indent = draw(st.sampled_from(["", "  ", "    "]))
        return _entry(key, "".join(f"\n{indent}- {word}" for word in listed), listed, style, newline, comment)
    if style == "map":
        return _entry(key, "".join(f"\n  k{n}: {word}" for n, word in enumerate(listed)), _map(listed), style, newline)
    if style == "maps":
        lines = [f"\n  - with: {word}\n    nature: friend{comment}" for word in listed]
        return _entry(key, "".join(lines), [{"with": w, "nature": "friend"} for w in listed], style, newline)
    if style == "flowmaps":
        lines = [f"\n  - {{with: {word}, nature: 'old friend'}}{comment}" for word in listed]
        return _entry(key, "".join(lines), [{"with": w, "nature": "old friend"} for w in listed], style, newline)
    return _entry(key, f"{gap}[[{listed[0]}]]", f"[[{listed[0]}]]", style, newline, comment)


def _map(listed: list[str]) -> dict[str, str]:
    return {f"k{number}": word for number, word in enumerate(listed)}


PIECES = [
    "## Trail\n\n- T0002 second\n- T0001 first\n", "Some prose: a line with --- in it.\n", "----\n", "* * *\n", "text\n----\n",
    "```\n## not a heading\n---\n```\n", "~~~\ncode\n", "### Nested\n\n- x\n", "Under lined\n===\n", "# Top #\n", "\n", "\n\n", "    indented\n",
    "> quote\n", "| a | b |\n| - | - |\n", "1. one\n", "\u0085odd\u2028breaks\x0c\n", "日本語。ไทย 😀 e\u0301\n", "## History\n", "<!-- x -->\n", "\\# no\n",
    "#tag\n", "##no space\n", "- [ ] To Sera: bring it (T0012)\n",
]  # fmt: skip
PROSE = b"\xff\xfe not UTF-8 \x80\n"


@st.composite
def bodies(draw, newline: str = "\n") -> bytes:
    """A body of a few pieces, each heading that an edit asks for at most once; perhaps not UTF-8, perhaps without final newline."""
    pieces = draw(st.lists(st.sampled_from(PIECES), max_size=7))
    once = [p for n, p in enumerate(pieces) if p not in pieces[:n] or not p.startswith(("#", "Under"))]
    body = "".join(once).replace("\n", newline).encode()
    if draw(st.booleans()) and draw(st.booleans()):
        body += PROSE
    if body.endswith(newline.encode()) and draw(st.booleans()):
        body = body[: -len(newline)]
    return body


def _gap(draw, gaps: list[str], before: list[Entry]) -> str:
    """What stands between two entries; an indented comment could become the text of a block above it."""
    return draw(st.sampled_from(gaps[:-1] if any(entry.style in "|>" for entry in before) else gaps))


@st.composite
def notes(draw, *styles: str, block: bool = True) -> Note:
    """A legal note, with front matter (and in it at least one entry of the styles asked for) or, `block=False`, without."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    data = BOM if draw(st.booleans()) else b""
    body = draw(bodies(newline))
    if not block:
        lead = draw(st.sampled_from(["Plain text.\n", "# Head\n", "\n", "- item\n"])).replace("\n", newline).encode()
        return Note(data + lead + body, (), (), newline, lead + body)
    data += f"---{draw(st.sampled_from(['', '  ', chr(9)]))}{newline}".encode()
    gaps = ["", "", "\n", "# a comment: with a colon\n", "\n  # indented comment\n\n"]
    entries, spans = [], []
    drawn = draw(st.lists(keys, min_size=1 if styles else 0, max_size=4, unique=True))
    asked = draw(st.integers(0, len(drawn) - 1)) if styles else -1
    for number, key in enumerate(drawn):
        data += _gap(draw, gaps, entries).replace("\n", newline).encode()
        entry = draw(_entries(key, newline, styles if number == asked else STYLES))
        entries.append(entry)
        spans.append((len(data), len(data) + len(entry.raw)))
        data += entry.raw
    data += _gap(draw, gaps, entries).replace("\n", newline).encode()
    closing = draw(st.sampled_from(["---", "...", "--- "]))
    data += (closing + (newline if body else draw(st.sampled_from(["", newline])))).encode()
    return Note(data + body, tuple(entries), tuple(spans), newline, body)
