"""What a turn changes in the campaign: a few small, append-like effects, each of which may be applied twice.

An effect is plain data (it is saved in the turn's record before anything is written) and becomes one pure edit of one
file. Applying it to a file that already shows it changes nothing: that is how an interrupted turn is finished.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from rolecall.campaign import arcs, checklists, documents, journal, merging, plans, story, summaries
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.game import edits
from rolecall.campaign.journal import turn_id
from rolecall.campaign.records import Edit
from rolecall.errors import DocumentError, Unclear

PROMISES = "Promises"
HISTORY = merging.HISTORY


@dataclass(frozen=True, slots=True)
class Effect:
    """One change: `op` names it, `path` is the file, `turn` the turn it belongs to; `key` and `text` as the op needs.

    section    a story section       key: the action, text: the prose, title: of a new chapter
    journal    the journal line      text
    arc        an arc moves on       text
    arc_opened an arc is made        key: its name, text: its first line, facts: its other fields
    history    a dated line          text
    promise    a promise is made     text: `To Sera: bring the ledger`
    kept       a promise is kept     text: its words, as they stand
    field      one field is set, as in older records; by now it is `value`   key: its name, text: its value
    record     an entry is made      key: its kind, text: its prose, facts: its fields, the name among them
    facts      facts are merged in   key: the kind whose fields they are, facts
    absorb     another entry of the same thing is merged in   key: the kind, facts, lines: its dated lines
    forget     out of retrieval      text: why
    revive     in retrieval again
    kind       the kind changes      text: the new one
    proposal   a change for the writer to decide on   text: its file's content
    brought    a file that is brought in whole: a chapter, a Chronicle, an arc, a receipt   text: its content
    value, item, row, gone, remark, made   a number, an item, a line of the game's state (`game/edits.py`); `was` is what
               stood there when it was worked out: where that has changed since, the effect is left out and said
    todo       a line is put on a list of the DM's   text: its words
    tick       such a line, or a promise, is marked  text: its words, key: the mark, title: a note beside it
    dated      a dated line in a file of the DM's    text
    summary, summary_revised, summary_retired   a line of an arc's `## Summaries` (`summaries.py`)

    The rest says where it comes from: `phase` (pre-gen, during-gen, post-gen, summary), the `model`'s spec, a `reason` in a
    line, and `source`, the sentence of the prose. Records keep it with each write.
    """

    op: str
    path: str
    turn: int
    text: str = ""
    key: str = ""
    title: str = ""
    was: str = ""
    facts: dict[str, Value] = field(default_factory=dict, hash=False)
    lines: tuple[str, ...] = ()
    phase: str = ""
    model: str = ""
    reason: str = ""
    source: str = ""

    @property
    def why(self) -> dict[str, str]:
        """Where it comes from, as far as that is known: what a write's line in the record says of it."""
        told = {"phase": self.phase, "model": self.model, "reason": self.reason, "source": self.source}
        return {key: value for key, value in told.items() if value}


def encode(effect: Effect) -> dict:
    """The effect as JSON data, without what is empty."""
    data = asdict(effect)
    return {key: value for key, value in data.items() if value or key in ("op", "path", "turn", "text")}


def decode(data: dict) -> Effect:
    """The effect `encode` wrote."""
    return Effect(**{**data, "lines": tuple(data.get("lines", ()))})


def edit_of(effect: Effect) -> Edit:
    """The pure edit that makes an effect happen; it raises a DocumentError when the file does not allow it."""

    def edit(before: bytes | None) -> bytes:
        if effect.op == "section":
            return story.add(before, effect.path, effect.title, effect.turn, effect.key, effect.text)
        if effect.op == "record":
            return _record(before, effect)
        if effect.op == "proposal":
            return _proposal(before, effect)
        if effect.op == "brought":
            return _brought(before, effect)
        if effect.op in edits.MAKING and before is None:
            return edits.MAKING[effect.op](effect)
        if before is None and effect.op not in plans.MAKES and effect.op != "arc_opened":
            raise Unclear("there is no such file any more", path=effect.path, remedy="nothing was written to it")
        return _EDITS[effect.op](before, effect)

    return edit


def laid_over(data: bytes | None, effects: Iterable[Effect], path: str) -> bytes | None:
    """The bytes of a file as they will be after those of the effects that are about it; None: no file.

    An effect the file does not allow is passed over: it is told when the turn is written.
    """
    for effect in effects:
        if effect.path == path:
            with suppress(DocumentError):
                data = edit_of(effect)(data)
    return data


def _journal(data: bytes, effect: Effect) -> bytes:
    return journal.append_line(data, effect.path, effect.turn, effect.text)


def _arc(data: bytes, effect: Effect) -> bytes:
    return arcs.move(data, effect.path, effect.turn, effect.text)


def _arc_opened(before: bytes | None, effect: Effect) -> bytes:
    return arcs.opened(before, effect.path, effect.turn, effect.key, effect.facts, effect.text)


def _history(data: bytes, effect: Effect) -> bytes:
    line = f"- {turn_id(effect.turn)} {' '.join(effect.text.split())}"
    if line in documents.parse(data, effect.path).lines(HISTORY):
        return data
    return documents.append_to_section(data, effect.path, HISTORY, line, create=2)


def _promise(data: bytes, effect: Effect) -> bytes:
    words = f"{' '.join(effect.text.split())} ({turn_id(effect.turn)})"
    document = documents.parse(data, effect.path)
    if any(f"{item.words} ({turn_id(item.turn)})" == words for item in checklists.items_of(document, PROMISES)):
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


def _record(before: bytes | None, effect: Effect) -> bytes:
    """A new entry; where somebody made a file of that name meanwhile, what is new in it goes there if it is the same thing."""
    new = merging.written(effect.path, effect.key, effect.facts, effect.text, effect.turn)
    if not before:
        return new
    there = documents.parse(before, effect.path)
    if merging.key_of(there.text("name")) != merging.key_of(effect.facts["name"]):
        raise Unclear(
            "a file of that name was made meanwhile", path=effect.path, remedy="rename it, or record it by hand"
        )
    if there.text("source") == turn_id(effect.turn):
        return before  # it was made already, and may have changed since
    facts = {key: value for key, value in effect.facts.items() if merging.may_set(key)}
    data = merging.merge(before, effect.path, effect.key, facts, effect.turn)
    return merging.with_lines(
        data, effect.path, [f"{turn_id(effect.turn)} {effect.text}"] if effect.text.strip() else []
    )


def _facts(data: bytes, effect: Effect) -> bytes:
    return merging.merge(data, effect.path, effect.key, effect.facts, effect.turn)


def _absorb(data: bytes, effect: Effect) -> bytes:
    return merging.absorb(data, effect.path, effect.key, effect.facts, list(effect.lines), effect.turn)


def _forget(data: bytes, effect: Effect) -> bytes:
    if documents.parse(data, effect.path).text("forgotten").strip():
        return data
    said = " ".join(f"{turn_id(effect.turn)} {effect.text}".split())
    return merging.set_mark(data, effect.path, "forgotten", said, effect.turn)


def _revive(data: bytes, effect: Effect) -> bytes:
    return merging.set_mark(data, effect.path, "forgotten", "", effect.turn)


def _kind(data: bytes, effect: Effect) -> bytes:
    return merging.set_mark(data, effect.path, "kind", effect.text, effect.turn)


def _proposal(before: bytes | None, effect: Effect) -> bytes:
    data = effect.text.encode("utf-8", "replace")
    if before not in (None, data):
        raise Unclear("another proposal has that number", path=effect.path, remedy="nothing was proposed")
    return data


def _brought(before: bytes | None, effect: Effect) -> bytes:
    data = effect.text.encode("utf-8", "replace")
    if before not in (None, data):
        raise Unclear("a file of that name was made meanwhile", path=effect.path, remedy="move it away")
    return data


_EDITS = {
    "journal": _journal,
    "arc": _arc,
    "arc_opened": _arc_opened,
    "history": _history,
    "promise": _promise,
    "kept": _kept,
    "field": _field,
    "facts": _facts,
    "absorb": _absorb,
    "forget": _forget,
    "revive": _revive,
    "kind": _kind,
    **plans.EDITS,
    **summaries.EDITS,
    **edits.EDITS,
}
OPS = frozenset(("section", "record", "proposal", "brought", *_EDITS))


@dataclass(frozen=True, slots=True)
class Promise:
    """A line of `## Promises`: `words` without box and turn, `turn` 0 where it names none."""

    words: str
    turn: int
    kept: bool
    raw: str


def promises_of(document: documents.Document) -> tuple[Promise, ...]:
    """The promises of the Campaign State in order, without those that are broken (`[-]`)."""
    items = checklists.items_of(document, PROMISES)
    return tuple(Promise(i.words, i.turn, not i.open, i.raw) for i in items if i.box != checklists.GIVEN_UP)
