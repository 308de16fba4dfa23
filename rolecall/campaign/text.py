"""Cleaning of text that comes from models, players and imports before it enters a file or a terminal.

What a model writes is plain text to every later reader: no control characters, no front matter fences, no headings and
no code fences can be smuggled in. Each function returns the clean text; `blemishes` says in words what was there.
"""

from __future__ import annotations

import json
import re
import unicodedata

from rolecall.campaign.filenames import is_device

# Terminal escape sequences (ECMA-48): CSI, OSC up to its terminator or the line's end, and two-character escapes.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_BIDI = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_UNSEEN = re.compile(
    r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]"
)  # what JSON leaves as it is and no terminal should get
_KEY = re.compile(r"\b(?:sk-[\w-]{20,}|AIza[\w-]{30,})")  # as the providers write them
_LINE_ENDS = re.compile(r"\r\n?|\x85|\u2028|\u2029")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_HEADING = re.compile(r"^( {0,3})(#{1,6})(?=\s|$)", re.M)
_RULE = re.compile(r"^ {0,3}(?:-+[ \t]*|(?:-[ \t]*){3,}|(?:=[ \t]*)+|\.\.\.[ \t]*)$", re.M)
_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})", re.M)
_JOURNAL_LINE = re.compile(r"^( {0,3})-(?=\s+T\d{4})", re.M)


SLUG = 48  # characters


def uncommented(text: str) -> str:
    """A text without its HTML comments."""
    before, mark, after = text.rpartition("-->")  # behind the last one no comment ends: none is looked for
    return _COMMENT.sub("", before + mark) + after


def blemishes(text: str) -> list[str]:
    """What `clean` would take out, in words; an empty list for clean text."""
    kinds = (
        (_ESCAPES, "terminal escapes"),
        (_SURROGATES, "lone surrogates"),
        (_BIDI, "direction overrides"),
    )
    found = [word for pattern, word in kinds if pattern.search(text)]
    if _CONTROLS.search(_ESCAPES.sub("", text)):
        found.append("control characters")
    return found


def key_at(text: str) -> int:
    """Where something shaped like a provider's key stands in a text; -1 when nothing does."""
    found = _KEY.search(text)
    return found.start() if found else -1


def clean(text: str) -> str:
    """Text without control characters, lone surrogates, terminal escapes and direction overrides; `\\n` line ends; NFC."""
    text = _LINE_ENDS.sub("\n", text)
    for pattern in (_ESCAPES, _CONTROLS, _SURROGATES, _BIDI):
        text = pattern.sub("", text)
    return unicodedata.normalize("NFC", text)


def clean_line(text: str, limit: int = 2000) -> str:
    """One line: cleaned, white space folded, at most `limit` characters (cut at a word, with an ellipsis)."""
    line = " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    return line[: limit - 1].rsplit(" ", 1)[0] + "…"


def json_text(document: object, **how: object) -> str:
    """JSON whose every control character and direction override is spelt out (`\\u009b`); any script as it is.

    What `json.dumps` takes besides goes through `how`.
    """
    text = json.dumps(document, ensure_ascii=False, **how).encode("utf-8", "replace").decode()
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def clean_prose(text: str) -> str:
    """Prose for a story section: what would read as structure (heading, rule, fence, journal line) is escaped."""
    # Stripped first: white space taken from the beginning or the end of a line later could make structure of it.
    text = "\n".join(line.rstrip() for line in clean(text).split("\n")).strip()
    text = _HEADING.sub(lambda m: f"{m[1]}\\{m[2]}", text)
    text = _RULE.sub("* * *", text)
    text = _FENCE.sub(lambda m: f"{m[1]}\\{m[2]}", text)
    text = _JOURNAL_LINE.sub(lambda m: f"{m[1]}\\-", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def slug(text: str, fallback: str = "untitled") -> str:
    """A file name's stem from a title: lower case, words of any script joined by hyphens, at most 48 characters.

    Never empty, never a reserved Windows device name, never starting with a dot.
    """
    text = unicodedata.normalize("NFC", clean(text)).casefold()
    text = unicodedata.normalize("NFC", text)
    words = re.sub(r"[’']", "", text)
    kept = "".join(c if c.isalnum() or unicodedata.category(c) in ("Mn", "Mc") else " " for c in words)
    stem, words = "", kept.split()
    for word in words:
        longer = f"{stem}-{word}" if stem else word
        if len(longer) > SLUG or len(longer.encode()) > 2 * SLUG:
            break
        stem = longer
    stem = stem or ("".join(words)[: SLUG // 3]) or fallback
    return f"{stem}-1" if is_device(stem) else stem


def fold(text: str) -> str:
    """The form under which two spellings of one name are equal: NFC, case-folded, one kind of apostrophe, single spaces."""
    if text.isascii():
        return " ".join(text.casefold().split())
    text = unicodedata.normalize("NFC", text).casefold().replace("’", "'").replace("ʼ", "'")
    return " ".join(unicodedata.normalize("NFC", text).split())
