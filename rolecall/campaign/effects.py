"""What a turn changes in the campaign: a few small, append-like effects, each of which may be applied twice.

An effect is plain data (it is saved in the turn's record before anything is written) and becomes one pure edit of one
file. Applying it to a file that already shows it changes nothing: that is how an interrupted turn is finished.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from rolecall.campaign import arcs, documents, journal, story
from rolecall.campaign.journal import turn_id
from rolecall.campaign.records import Edit
from rolecall.errors import Unclear

PROMISES = "Promises"
HISTORY = "History"


@dataclass(frozen=True, slots=True)
class Effect:
    """One change: `op` names it, `path` is the file, `turn` the turn it belongs to; `key` and `text` as the op needs.

    section    a story section       key: the action, text: the prose, title: of a new chapter
    journal    the journal line      text
    arc        an arc moves on       text
    history    a dated line          text
    promise    a promise is made     text: `To Sera: bring the ledger`
    kept       a promise is kept     text: its words, as they stand
    field      one field is set      key: its name, text: its value
    """

    op: str
    path: str
    turn: int
    text: str
    key: str = ""
    title: str = ""


def encode(effect: Effect) -> dict:
    """The effect as JSON data."""
    return asdict(effect)


def decode(data: dict) -> Effect:
    """The effect `encode` wrote."""
    return Effect(**data)


def edit_of(effect: Effect) -> Edit:
    """The pure edit that makes an effect happen; it raises a DocumentError when the file does not allow it."""

    def edit(before: bytes | None) -> bytes:
        if effect.op == "section":
            return story.add(before, effect.path, effect.title, effect.turn, effect.key, effect.text)
        if before is None:
            raise Unclear("there is no such file any more", path=effect.path, remedy="nothing was written to it")
        return _EDITS[effect.op](before, effect)

    return edit


def _journal(data: bytes, effect: Effect) -> bytes:
    return journal.append_line(data, effect.path, effect.turn, effect.text)


def _arc(data: bytes, effect: Effect) -> bytes:
    return arcs.move(data, effect.path, effect.turn, effect.text)


def _history(data: bytes, effect: Effect) -> bytes:
    line = f"- {turn_id(effect.turn)} {' '.join(effect.text.split())}"
    if line in documents.parse(data, effect.path).lines(HISTORY):
        return data
    return documents.append_to_section(data, effect.path, HISTORY, line, create=2)


def _promise(data: bytes, effect: Effect) -> bytes:
    words = f"{' '.join(effect.text.split())} ({turn_id(effect.turn)})"
    document = documents.parse(data, effect.path)
    if any(f"{promise.words} ({turn_id(promise.turn)})" == words for promise in promises_of(document)):
        return data
    if document.section(PROMISES) is None:  # it goes above the Journal, which stays last
        return _new_section_above_journal(data, effect.path, f"## {PROMISES}\n\n- [ ] {words}\n")
    return documents.append_to_section(data, effect.path, PROMISES, f"- [ ] {words}")


def _new_section_above_journal(data: bytes, path: str, text: str) -> bytes:
    document = documents.parse(data, path)
    book = document.section(journal.HEADING)
    if book is None:
        return data + documents.append(data, "\n" + text.rstrip("\n"), document.newline)
    return data[: book.start] + (text + "\n").replace("\n", document.newline).encode() + data[book.start :]


def _kept(data: bytes, effect: Effect) -> bytes:
    for line in promises_of(documents.parse(data, effect.path)):
        if effect.text in (line.words, line.raw) and not line.kept:
            return documents.replace_line(data, effect.path, PROMISES, line.raw, line.raw.replace("[ ]", "[x]", 1))
    return data


def _field(data: bytes, effect: Effect) -> bytes:
    return documents.set_field(data, effect.path, effect.key, effect.text)


_EDITS = {
    "journal": _journal,
    "arc": _arc,
    "history": _history,
    "promise": _promise,
    "kept": _kept,
    "field": _field,
}


@dataclass(frozen=True, slots=True)
class Promise:
    """A line of `## Promises`: `words` without box and turn, `turn` 0 where it names none."""

    words: str
    turn: int
    kept: bool
    raw: str


def promises_of(document: documents.Document) -> tuple[Promise, ...]:
    """The promises of the Campaign State in order."""
    found = []
    for raw in document.lines(PROMISES):
        line = raw.strip()
        if line.startswith(("- [ ] ", "- [x] ", "- [X] ")):
            words = line[6:].strip()
            turn = 0
            if words.endswith(")") and "(T" in words:
                head, _, tail = words.rpartition("(")
                turn = journal.turn_number(tail) or 0
                words = head.strip() if turn else words
            found.append(Promise(words, turn, line[3] != " ", raw))
    return tuple(found)
