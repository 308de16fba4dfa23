"""From a file's bytes to passages: what search finds, cites and hands to a model.

An entry is one passage when it is short, else one for each section (long sections in pieces); a Chronicle is one for
each paragraph and listed line; the story one for each turn; the Campaign State one for each section and listed line.
What is secret stands in passages of its own, and no open passage holds a word of it.

A file whose front matter is broken becomes one withheld passage: only the writer finds it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from rolecall.campaign import kinds, secrets
from rolecall.campaign.documents import Document, parse
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.sections import Section
from rolecall.errors import DocumentError

WHOLE = 1500  # characters: an entry up to this length is one passage
PIECE = 1500  # characters: a longer section is cut between paragraphs into pieces of about this length
LONGEST = 3000  # characters: a paragraph longer than this is cut between words

_TURN = re.compile(r"T(\d{4,7})\b")
_ITEM = re.compile(r"[ ]{0,3}[-*+] +(?:\[[ xX]\] +)?")
_LINK = re.compile(r"\[\[([^\[\]|#^]+)(?:[#^][^\[\]|]*)?(?:\|[^\[\]]*)?\]\]")
_BY_LINE = {"journal", "facts", "promises", "party"}
_UNSAID = {
    "name", "title", "kind", "aliases", "keys", "keys_regex", "keys_when", "pinned", "locked", "visibility", "seal",
    "forgotten", "creator",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of one file. `line` counts from 1, `order` within the file from 0; `turn` is a turn's number or None.

    `body` is NFC text with `\\n` line ends. `date` is the date the file gives for a turn of the story.
    """

    path: str
    line: int
    kind: str
    name: str
    aliases: tuple[str, ...]
    keys: tuple[str, ...]
    heading: str
    body: str
    turn: int | None
    secret: bool
    order: int
    date: str = ""


class Ref(NamedTuple):
    """A file's tie to an entry: the field it stands in (`link` for a wikilink in the prose) and the name it gives."""

    type: str
    target: str
    secret: bool = False


@dataclass(frozen=True, slots=True)
class FilePassages:
    """A file as search sees it: what names it, what it is tied to, and its passages in order.

    `broken` says why the front matter could not be read (then there is one secret passage); `forgotten` is the reason
    an entry was taken out of retrieval.
    """

    path: str
    kind: str
    name: str
    aliases: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    refs: tuple[Ref, ...] = ()
    location: str = ""
    pinned: bool = False
    secret: bool = False
    forgotten: str = ""
    broken: str = ""
    passages: tuple[Passage, ...] = ()


def passages_of(path: str, data: bytes) -> FilePassages:
    """The passages of a file's bytes. Never raises: broken files, NULs and bytes that are not UTF-8 are searchable."""
    try:
        document = parse(data, path)
        fields = document.fields
    except DocumentError as error:
        return _broken(path, data, error)
    kind = kinds.kind_of(path, fields)
    about = FilePassages(
        path=path,
        kind=kind,
        name=_nfc(kinds.name_of(path, fields)),
        aliases=tuple(map(_nfc, kinds.names_in(fields, "aliases"))),
        keys=tuple(map(_nfc, kinds.names_in(fields, "keys"))),
        location=_plain(fields.get("location", "")),
        pinned=kinds.flag(fields, "pinned"),
        secret=secrets.is_secret_path(path, fields),
        forgotten=_plain(fields.get("forgotten", "")),
    )
    opened, hidden = _parted(document)
    about = replace(about, refs=tuple(dict.fromkeys(_refs(document, kind, opened, hidden))))
    cut = {"story": _story, "chronicle": _listed, "state": _listed}.get(kind, _entry)
    drafts = [*cut(about, document, opened), *_secret_drafts(about, document, hidden)]
    drafts = [d for d in drafts if d.body.strip() or d.heading] or [_draft(about, 1, "", "")]
    found = (replace(draft, order=order, secret=draft.secret or about.secret) for order, draft in enumerate(drafts))
    return replace(about, passages=tuple(found))


def _parted(document: Document) -> tuple[list[Section], list[Section]]:
    """The open and the secret sections: a secret heading covers everything to the next heading of its level."""
    opened = secrets.open_sections(document)
    starts = {section.start for section in opened}
    return list(opened), [section for section in document.sections if section.start not in starts]


def _broken(path: str, data: bytes, error: DocumentError) -> FilePassages:
    name = _nfc(kinds.name_of(path, {}))
    about = FilePassages(path, kinds.kind_of(path, {}), name, secret=True, broken=str(error))
    text = data.decode("utf-8-sig", "replace")
    drafts = [_draft(about, line, "", piece) for line, piece in _pieces(text, 1)] or [_draft(about, 1, "", "")]
    return replace(about, passages=tuple(replace(d, order=i, secret=True) for i, d in enumerate(drafts)))


def _draft(about: FilePassages, line: int, heading: str, body: str, **more: object) -> Passage:
    """A passage of this file; its order and the file's own secrecy are set at the end."""
    text = _nfc(body.replace("\r\n", "\n")).strip("\n")
    values = {"turn": None, "secret": False, "order": 0, **more}
    return Passage(about.path, line, about.kind, about.name, about.aliases, about.keys, _nfc(heading), text, **values)


# -- entries ----------------------------------------------------------------------------------------------------------


def _entry(about: FilePassages, document: Document, sections: list[Section]) -> Iterator[Passage]:
    """An entry's open text: whole when short, else its head and its sections."""
    head = _said(secrets.open_fields(document.fields))
    if len(head) + sum(len(s.heading) + len(s.text) for s in sections) <= WHOLE:
        parts = [head, *(f"{'#' * s.level} {s.heading}\n{s.text}" if s.level else s.text for s in sections)]
        yield _draft(about, 1, "", "\n".join(part.strip("\r\n") for part in parts if part.strip()))
        return
    if head:
        yield _draft(about, 1, "", head)
    for section in sections:
        yield from _section(about, document, section)


def _section(about: FilePassages, document: Document, section: Section, *, secret: bool = False) -> Iterator[Passage]:
    """A section's own text in pieces; a heading alone is a passage too, so that it can be found."""
    pieces = list(_pieces(section.text, _first_line(document, section)))
    for line, piece in pieces or [(section.line, "")] * bool(section.level):
        yield _draft(about, line, section.heading, piece, secret=secret)


def _first_line(document: Document, section: Section) -> int:
    """The line of the file on which a section's text begins (an underlined heading takes two lines)."""
    return section.line + document.data.count(b"\n", section.start, section.body)


def _pieces(text: str, line: int) -> Iterator[tuple[int, str]]:
    """(line, text) of pieces of about `PIECE` characters, cut between paragraphs; blank text gives none."""
    start = end = counted = 0
    for found in re.finditer(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+", text):
        for begin, stop in _cut(text, found.start(), found.end()):
            if end > start and stop - start > PIECE:
                line, counted = line + text.count("\n", counted, start), start
                yield line, text[start:end]
                start = begin
            elif end == start:
                start = begin
            end = stop
    if end > start:
        yield line + text.count("\n", counted, start), text[start:end]


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A stretch of text cut between lines or words so that no part is longer than `LONGEST`."""
    while end - start > LONGEST:
        at = text.rfind("\n", start + PIECE, start + LONGEST) + 1 or text.rfind(" ", start + PIECE, start + LONGEST) + 1
        at = at or start + LONGEST
        yield start, at
        start = at
    yield start, end


def _said(fields: dict[str, Value]) -> str:
    """Fields as text, a line each, without those that are not about the world."""
    lines = []
    for key, value in fields.items():
        if key.casefold() in _UNSAID or (key == "source" and str(value).startswith("imports/")):
            continue
        if text := _plain(value):
            lines.append(f"{key}: {text}")
    return "\n".join(lines)


def _plain(value: Value) -> str:
    """A value as one line of text: lists joined by `;`, mappings by `,`."""
    if isinstance(value, dict):
        return ", ".join(f"{k}: {text}" for k, v in value.items() if (text := _plain(v)))
    if isinstance(value, list):
        return "; ".join(text for item in value if (text := _plain(item)))
    return " ".join(_nfc(value).split())


# -- files read in order ----------------------------------------------------------------------------------------------


def _listed(about: FilePassages, document: Document, sections: list[Section]) -> Iterator[Passage]:
    """A Chronicle or the Campaign State: listed lines one by one, prose by paragraph."""
    if head := _said(secrets.open_fields(document.fields)):
        yield _draft(about, 1, "", head)
    for section in sections:
        first = _first_line(document, section)
        if section.heading.casefold() in _BY_LINE or about.kind == "chronicle":
            for line, text in _lines_or_paragraphs(section.text, first):
                found = _TURN.match(_ITEM.sub("", text, count=1)) if _ITEM.match(text) else None
                yield _draft(about, line, section.heading, text, turn=int(found[1]) if found else None)
        else:
            yield from _section(about, document, section)


def _lines_or_paragraphs(text: str, line: int) -> Iterator[tuple[int, str]]:
    """Each list item with its continuation lines, and each paragraph between them."""
    start = None
    held: list[str] = []
    for number, row in enumerate(text.split("\n"), line):
        if not row.strip() or _ITEM.match(row):
            if held:
                yield from _pieces("\n".join(held), start)
            held = []
        if row.strip():
            start = start if held else number
            held.append(row)
    if held:
        yield from _pieces("\n".join(held), start)


def _story(about: FilePassages, document: Document, sections: list[Section]) -> Iterator[Passage]:
    """A chapter: a passage for each turn's section, with the date its heading or the chapter gives."""
    date = _plain(document.fields.get("date", ""))
    head = _said({k: v for k, v in secrets.open_fields(document.fields).items() if k.casefold() != "date"})
    if head:
        yield _draft(about, 1, "", head)
    held: list[Section] = []
    for section in sections:
        if held and (section.level <= held[0].level or _TURN.match(section.heading)):
            yield _turn(about, held, date)
            held = []
        if held or _TURN.match(section.heading):
            held.append(section)
        else:
            yield from _section(about, document, section)
    if held:
        yield _turn(about, held, date)


def _turn(about: FilePassages, parts: list[Section], date: str) -> Passage:
    """One turn: its section and the smaller sections under it."""
    head, *below = parts
    text = "\n".join([head.text, *(f"{'#' * part.level} {part.heading}\n{part.text}" for part in below)])
    return _draft(about, head.line, head.heading, text, turn=int(_TURN.match(head.heading)[1]), date=date)


# -- secrets and ties -------------------------------------------------------------------------------------------------


def _secret_drafts(about: FilePassages, document: Document, hidden: list[Section]) -> Iterator[Passage]:
    """The secret fields and sections, each a passage of its own."""
    for key, value in document.fields.items():
        for name, text in _secret_values(key, value):
            line = (document.block.line_of(key) if document.block else None) or 1
            yield _draft(about, line, name, text, secret=True)
    for section in hidden:
        yield from _section(about, document, section, secret=True)


def _secret_values(key: str, value: Value) -> Iterator[tuple[str, str]]:
    """(field, text) of the secret fields in a value, at any depth."""
    if secrets.is_secret_field(key):
        if text := _plain(value):
            yield key, text
    elif isinstance(value, dict):
        for inner, part in value.items():
            yield from _secret_values(inner, part)
    elif isinstance(value, list):
        for part in value:
            yield from _secret_values("", part)


def _refs(document: Document, kind: str, opened: list[Section], hidden: list[Section]) -> Iterator[Ref]:
    """What a file is tied to: the fields that hold names, and every wikilink."""
    typed = kinds.ENTRY_KINDS[kind].fields if kind in kinds.ENTRY_KINDS else {}
    for key, value in secrets.open_fields(document.fields).items():
        for target in _link_targets(_plain(value)):
            yield Ref(key, target)
        if typed.get(key) in ("name", "names", "items") or key in ("location", "relationships"):
            for target in _targets(value):
                yield Ref(key, target)
    for key, value in document.fields.items():
        for _, text in _secret_values(key, value):
            for target in _link_targets(text):
                yield Ref(key, target, secret=True)
    for sections, secret in ((opened, False), (hidden, True)):
        for section in sections:
            for target in _link_targets(section.text):
                yield Ref("link", target, secret)


def _targets(value: Value) -> Iterator[str]:
    """The names a reference field holds: the value, the items of a list, the first value of a mapping."""
    if isinstance(value, dict):
        yield from _targets(next(iter(value.values()), ""))
    elif isinstance(value, list):
        for item in value:
            yield from _targets(item)
    elif value.strip() and not _LINK.search(value) and len(value) <= 120:
        yield _nfc(" ".join(value.split()))


def _link_targets(text: str) -> Iterator[str]:
    if "[[" in text:
        for found in _LINK.finditer(text):
            name = found[1].strip().rsplit("/", 1)[-1].removesuffix(".md")
            if name:
                yield _nfc(" ".join(name.split()))


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
