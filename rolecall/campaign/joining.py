"""Joining two timelines' files, for git: journal lines and story sections of both, whole, in the order of their turns.

A merge by line mixes what two tellings have in common (a blank line, the same action) into one paragraph. Here a
journal line and a section are one piece each: what either side added is there, what either side took away is gone, what
both told otherwise is there twice, which `rolecall check` tells. All around the pieces is merged by line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rolecall.campaign import documents, journal
from rolecall.campaign.journal import turn_number
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import DocumentError

_PLACE = b"\0pieces\0\n"  # stands for the pieces while the rest is merged; no file that is merged as text holds NUL


@dataclass(frozen=True, slots=True)
class Piece:
    """A journal line with its notes, or a story section: its turn, and its bytes with the newline at their end."""

    turn: int
    raw: bytes


def joined(base: bytes, ours: bytes, theirs: bytes, path: str) -> tuple[bytes, bool]:
    """(the joined file, whether nothing clashed); where the rest clashes, both versions stand between git's markers."""
    try:
        versions = [_parted(data, path) for data in (base, ours, theirs)]
    except DocumentError:
        return _by_line(base, ours, theirs)
    rest, clean = _by_line(*(around for around, _ in versions))
    if rest.count(_PLACE) != 1:
        return _by_line(base, ours, theirs)
    raws = [piece.raw for piece in _pieces(*(found for _, found in versions))]
    if not _is_state(path):  # sections stand apart
        raws = [raw if raw.endswith((b"\n\n", b"\n\r\n")) else raw + _newline(raw) for raw in raws[:-1]] + raws[-1:]
    return rest.replace(_PLACE, b"".join(raws)), clean


def _parted(data: bytes, path: str) -> tuple[bytes, list[Piece]]:
    """(the file with one mark where its pieces stand, the pieces)."""
    document = documents.parse(data, path)
    newline = document.newline.encode()
    if _is_state(path):
        spans = [(line.turn, line.start, line.end) for line in journal.lines_of(document)]
        section = document.section(journal.HEADING)
        end = section.end if section else len(data)
    else:
        found = [(turn_number(s.heading), s) for s in document.sections if s.level == 2]
        spans = [(turn, s.start, s.end) for turn, s in found if turn is not None]
        end = len(data)
    pieces = [Piece(turn, _ended(data[start:stop], newline)) for turn, start, stop in spans]
    at = spans[0][1] if spans else end
    around, last = b"", 0
    for _, start, stop in spans:
        around += data[last:start]
        last = stop
    around += data[last:]
    head = _ended(around[:at], newline) if at else b""
    return head + _PLACE + around[at:], pieces


def _is_state(path: str) -> bool:
    return path.rsplit("/", 1)[-1] == STATE_FILE


def _newline(raw: bytes) -> bytes:
    return b"\r\n" if raw.endswith(b"\r\n") else b"\n"


def _ended(raw: bytes, newline: bytes) -> bytes:
    return raw if not raw or raw.endswith(b"\n") else raw + newline


def _pieces(base: Sequence[Piece], ours: Sequence[Piece], theirs: Sequence[Piece]) -> list[Piece]:
    """Ours in their order, without what they took away; then each of theirs that is new, after the last turn up to its own."""
    known, mine, hers = ({_words(piece) for piece in pieces} for pieces in (base, ours, theirs))
    found = [piece for piece in ours if _words(piece) in hers or _words(piece) not in known]
    for piece in theirs:
        if _words(piece) in mine or _words(piece) in known:
            continue
        at = max((n + 1 for n, other in enumerate(found) if other.turn <= piece.turn), default=0)
        found.insert(at, piece)
    return found


def _words(piece: Piece) -> bytes:
    return b" ".join(piece.raw.split())


def _by_line(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bool]:
    """A merge by line; clashing lines of both sides stand between git's markers."""
    from merge3 import Merge3

    merged = Merge3(*(data.splitlines(keepends=True) for data in (base, ours, theirs)))
    parts: list[bytes] = []
    clean = True
    for group in merged.merge_groups():
        if group[0] != "conflict":
            parts += group[1]
            continue
        clean = False
        parts += [b"<<<<<<< ours\n", *map(_whole, group[2]), b"=======\n", *map(_whole, group[3]), b">>>>>>> theirs\n"]
    return b"".join(parts), clean


def _whole(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"
