"""The historian's summaries, lines of an arc's `## Summaries`, changed by pure edits that may be applied twice.

A line is `- T0001-T0020 text`; a retired one stays, marked: `- ~~T0001-T0020 text~~ (retired T0041: reason)`. A summary is
the historian's own when it stands to the byte as one of its turns' records says it was written (`own`). Whatever the
writer wrote or changed by a letter is the writer's, and so is everything once the records are gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from rolecall.campaign import chronicles, documents, files, recordlines, records, secrets, story
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.errors import DocumentError, StorageError

if TYPE_CHECKING:  # effects are built on these edits
    from rolecall.campaign.effects import Effect

HEADING = "Summaries"
NOTE = "historian"  # the line of a turn's record that says what the historian did
ADD, REVISE, RETIRE = "summary", "summary_revised", "summary_retired"

_RANGE = r"T(\d{4,9})[ \t]*[-–][ \t]*T(\d{4,9})"
_ITEM = re.compile(rf"[-*+][ \t]+(~~)?({_RANGE}\b[ \t]*(.*))", re.S)
_SHOWN = re.compile(rf"^[ \t]*(?:[-*+][ \t]+)?{_RANGE}\b[^\n]*\n?", re.M)
_SECTION = re.compile(r"^## T(\d{4,9})\b", re.M)
_LISTED = re.compile(r"\s*(?:[-*+][ \t]+)?T(\d{4,9})\b(?![ \t]*[-–][ \t]*T\d)")


# -- reading


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary as it stands: the turns it covers, its words, the line without its dash, and whether it is retired."""

    first: int
    last: int
    text: str
    line: str
    retired: bool


def of(document: Document) -> tuple[Summary, ...]:
    """An arc's summaries in the order they stand in; none where the section is secret. Unclear when there are two."""
    section = document.section(HEADING)
    if section is None or not secrets.is_open(section, document.sections):
        return ()
    matches = [_ITEM.fullmatch(line.strip()) for line in document.lines(HEADING)]
    return tuple(Summary(int(m[3]), int(m[4]), m[5].strip(), m[2].strip(), bool(m[1])) for m in matches if m)


def shown(document: Document) -> list[str]:
    """The lines to show of an arc, `T0001-T0020 text`: those not retired."""
    return [summary.line for summary in of(document) if not summary.retired]


def covered(text: str) -> list[tuple[int, int]]:
    """(first, last) turn of each summary line in a passage's text, in order; retired lines cover nothing."""
    return [_ends(found) for found in _SHOWN.finditer(text)]


def own(root: Path) -> frozenset[str]:
    """Every line that a turn which still counts wrote as a summary, without its dash."""
    found: set[str] = set()
    for folder in records.folders(root):
        for note in notes(root, folder):
            effects = [e for e in note.get("effects", ()) if e.get("op") in (ADD, REVISE)]
            found.update(effect["text"] for effect in effects)
    return frozenset(found)


def notes(root: Path, folder: str) -> list[dict]:
    """What a turn's record says of the historian: `first`, `last`, `why` it failed (empty if not), `effects`."""
    path = f"{folder}/record.jsonl"
    try:
        data = files.read(root, path) if files.exists(root, path) else b""
    except StorageError:
        return []
    if b'"' + NOTE.encode() + b'"' not in data:  # thousands of records are looked at, few have such a line
        return []
    return [line for line in recordlines.read(data) if line["do"] == NOTE]


# -- changing


def add(data: bytes, path: str, line: str) -> bytes:
    """The arc with one summary more at the end of its section; the same bytes when it stands there, retired or not."""
    held = documents.parse(data, path).lines(HEADING)
    if f"- {line}" in held or _retired(held, line):
        return data
    return documents.append_to_section(data, path, HEADING, f"- {line}", create=2)


def revise(data: bytes, path: str, old: str, new: str) -> bytes:
    """The arc with one summary in other words; the same bytes when they stand there. Unclear when `old` is gone."""
    held = documents.parse(data, path).lines(HEADING)
    if f"- {old}" not in held and (f"- {new}" in held or _retired(held, new)):
        return data
    return documents.replace_line(data, path, HEADING, f"- {old}", f"- {new}")


def retire(data: bytes, path: str, turn: int, line: str, reason: str) -> bytes:
    """The arc with one summary marked as retired; the same bytes when it is. Unclear when the line is gone."""
    if _retired(documents.parse(data, path).lines(HEADING), line):
        return data
    said = f" (retired {turn_id(turn)}: {reason})" if reason else f" (retired {turn_id(turn)})"
    return documents.replace_line(data, path, HEADING, f"- {line}", f"- ~~{line}~~{said}")


def _retired(held: list[str], line: str) -> bool:
    return any(one.startswith(f"- ~~{line}~~") for one in held)


def _add(data: bytes, effect: Effect) -> bytes:
    return add(data, effect.path, effect.text)


def _revise(data: bytes, effect: Effect) -> bytes:
    return revise(data, effect.path, effect.key, effect.text)


def _retire(data: bytes, effect: Effect) -> bytes:
    return retire(data, effect.path, effect.turn, effect.key, effect.text)


# summary           a summary is added       text: `T0001-T0020 what happened`
# summary_revised   its words change         key: the old line, text: the new one
# summary_retired   it is marked             key: the line, text: why
EDITS: dict[str, Callable[[bytes, Effect], bytes]] = {ADD: _add, REVISE: _revise, RETIRE: _retire}


# -- never beside its own source

# Owners whose passages stand for their own sake: the action asked for them, or they are the turns just told.
RANKED = ("recent", "active", "anticipatory")
_SOURCES = (f"{story.FOLDER}/", f"{chronicles.FOLDER}/")


class Passage(Protocol):
    """What is asked of a passage of a prompt; it is a dataclass (`turn.budget.Priced`)."""

    path: str
    line: int
    owner: str
    text: str
    tokens: int
    kept: bool


P = TypeVar("P", bound=Passage)
Turns = tuple[int, int]


def without_doubles(
    passages: Sequence[P],
    told: Callable[[P], Turns | None],
    price: Callable[[str], int],
    ranked: Collection[str] = RANKED,
) -> list[P]:
    """The passages without any that is summed up in another one, and without summaries of what is shown itself.

    `told` gives the (first, last) turn a passage of story or Chronicle tells, None for any other passage; `price` the
    tokens of a text. A source whose owner is `ranked` stays and the summary line that covers it goes; any other source
    goes. Passages that are not kept count for nothing. Pure.
    """
    if not any(covered(p.text) for p in passages if p.kept and not _is_source(p.path)):
        return list(passages)
    turns = {id(p): told(p) for p in passages if p.kept}
    ranked_turns = [t for p in passages if (t := turns.get(id(p))) and p.owner in ranked]
    kept = [_without_lines(p, ranked_turns, price) if p.kept and not turns[id(p)] else p for p in passages]
    summed_up = [span for p in kept if p.kept and not _is_source(p.path) for span in covered(p.text)]
    gone = {id(p) for p in passages if (t := turns.get(id(p))) and p.owner not in ranked and _meet(t, summed_up)}
    return [p for p in kept if id(p) not in gone]


def told_in(campaign: Campaign) -> Callable[[Passage], Turns | None]:
    """Which turns a passage of story or Chronicle tells, for `without_doubles`; each file is read once at most."""
    read: dict[str, list[tuple[int, Turns]]] = {}

    def told(passage: Passage) -> Turns | None:
        if not _is_source(passage.path):
            return None
        headings = [int(number) for number in _SECTION.findall(passage.text)]
        listed = _LISTED.match(passage.text)
        if headings or listed:
            numbers = headings or [int(listed[1])]
            return min(numbers), max(numbers)
        if passage.path not in read:
            read[passage.path] = _marks(campaign, passage.path)
        before = [turns for line, turns in read[passage.path] if line <= passage.line]
        return before[-1] if before else None

    return told


def _marks(campaign: Campaign, path: str) -> list[tuple[int, Turns]]:
    """(line, turns) from which line on a file tells which turns: a chapter by its headings, a Chronicle as a whole.

    A chapter is looked through as text: it is long, and a prompt may hold passages of many.
    """
    try:
        if path.startswith(_SOURCES[1]):
            return [(0, chronicles.covers_of(campaign.document(path)))]
        text = campaign.read(path).decode("utf-8", "replace")
    except (DocumentError, StorageError):
        return []
    found, line, at = [], 1, 0
    for heading in _SECTION.finditer(text):
        line, at = line + text.count("\n", at, heading.start()), heading.start()
        found.append((line, (int(heading[1]), int(heading[1]))))
    return found


def _is_source(path: str) -> bool:
    return path.startswith(_SOURCES)


def _without_lines(passage: P, shown: list[Turns], price: Callable[[str], int]) -> P:
    text = _SHOWN.sub(lambda found: "" if _meet(_ends(found), shown) else found[0], passage.text)
    return passage if text == passage.text else replace(passage, text=text.rstrip(), tokens=price(text.rstrip()))


def _ends(found: re.Match) -> Turns:
    """The turns of a summary line, the lower one first however they are written."""
    one, other = int(found[1]), int(found[2])
    return min(one, other), max(one, other)


def _meet(span: Turns, others: list[Turns]) -> bool:
    return any(span[0] <= last and first <= span[1] for first, last in others)
