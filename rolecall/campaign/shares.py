"""What each turn did to one number or one value, and what stands once a turn is taken out. Pure.

A number is known by its file and its line without it (`- silver: …`), another value by its label (`status:`). Every turn that
changed it has a share in it: it found `was` and left `put`. While each turn found what the one before it left, and the last
one's still stands, the value is the turns' own, and taking one out leaves it as if that turn had never been told: numbers
that later turns added are added again to what the one that goes had found, between the same bounds, and words that later ones wrote stay. Where
somebody set it in between, it is theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rolecall.campaign import splices
from rolecall.campaign.game import numbers

_NUMBER = re.compile(rb"(?<![\w.,])-?[0-9]{1,9}(?![\w]|[.,][0-9])")
_MOST = re.compile(rb"\s*(?:/|of)\s*([0-9]{1,9})")
_LABEL = re.compile(rb"\s*(?:[-*+][ \t]+)?(?:\{[^,}]*|[^:,{}]*)[:,}]")
_NO_COUNT = (b"date", b"time")  # days and hours are not counted digit by digit
_ANY_SIGN = b"affinity"  # a number that may be less than nothing
OPS = ("value", "row", "item", "field")
HOLE = b"\0"


@dataclass(frozen=True, slots=True)
class Place:
    """A number (`line` has a hole for it; it is the `at`th of its line) or a value (`line` is its label, `at` is -1)."""

    path: str
    line: bytes
    at: int

    def worded(self, line: bytes) -> Place:
        """The place of a line that holds this number, as words: another turn may have written something else there."""
        return replace(self, line=label_of(line), at=-1)

    def holds(self, line: bytes) -> bool:
        """Whether a line of the file is this one, whatever it says now."""
        return label_of(line) == self.line if self.at < 0 else frame_of(line, self.at) == self.line


@dataclass(frozen=True, slots=True)
class Share:
    """Whole lines: what a turn found (None: no such line) and left. `by`: what it added to a number, also where a bound cut that off;
    None for words.
    """

    was: bytes | None
    put: bytes
    by: int | None = None


def of_write(write: Mapping, after: bytes | None) -> tuple[Place, Share] | None:
    """The one value a recorded write changed in its place; None where it did something else. `after`: the file as it left it."""
    if write["op"] not in OPS or after is None or write.get("made"):
        return None
    return of_change(write["path"], splices.unsplice(after, write), after, made=write["op"] in ("value", "row"))


def of_change(path: str, before: bytes, after: bytes, *, made: bool = False) -> tuple[Place, Share] | None:
    """The same of two versions of a file: the topmost line that differs, where it stands in both, or (`made`) is new."""
    pair = _topmost(before.splitlines(), after.splitlines())
    if pair is None:
        return None
    old, new = pair
    if old is None:
        return _made(path, new) if made else None
    if counted := one_number(old, new):
        at, was, put = counted
        return Place(path, frame_of(new, at), at), Share(old, new, put - was)
    label = label_of(old)
    return (Place(path, label, -1), Share(old, new)) if label and label == label_of(new) else None


def _made(path: str, line: bytes) -> tuple[Place, Share] | None:
    """A line that was not there before."""
    if not line.lstrip().startswith(_NO_COUNT) and len(found := _NUMBER.findall(line)) == 1:
        return Place(path, frame_of(line, 0), 0), Share(None, line, int(found[0]))
    label = label_of(line)
    return (Place(path, label, -1), Share(None, line)) if label else None


def _topmost(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[bytes | None, bytes] | None:
    first = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
    if first is None or new[first] in old:
        return None  # a line that went or moved
    if old[first] not in new:
        return old[first], new[first]
    return (None, new[first]) if new[first + 1 : first + 2] == [old[first]] else None


def one_number(old: bytes, new: bytes) -> tuple[int, int, int] | None:
    """(which number of the line, what it was, what it became) where two lines differ in just one number that is counted."""
    if new.lstrip().startswith(_NO_COUNT):
        return None
    one, other = ([int(n) for n in _NUMBER.findall(line)] for line in (old, new))
    differ = [n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    if len(one) != len(other) or len(differ) != 1 or frame_of(old, differ[0]) != frame_of(new, differ[0]):
        return None
    return differ[0], one[differ[0]], other[differ[0]]


def frame_of(line: bytes, at: int) -> bytes | None:
    """A line with a hole for one of its numbers; None when it has not so many."""
    found = list(_NUMBER.finditer(line))
    return line[: found[at].start()] + HOLE + line[found[at].end() :] if at < len(found) else None


def number_of(line: bytes, at: int) -> int:
    """The number that stands there."""
    return int(_NUMBER.findall(line)[at])


def label_of(line: bytes) -> bytes:
    """What names a line: `status:`, `- Sera:`, `- {item: rope`; empty where nothing does."""
    found = _LABEL.match(line)
    return found[0] if found else b""


def in_place(found: Mapping[Place, Share], place: Place) -> Share | None:
    """What a turn did in a place. "The inn, night 4" after "the inn, night 3" is a number to that turn, and words to whoever wrote others."""
    if place in found or place.at >= 0:
        return found.get(place)
    numbered = (s for one, s in found.items() if one.path == place.path and one.at >= 0 and place.holds(s.put))
    return next((replace(share, by=None) for share in numbered), None)


def line_of(place: Place, data: bytes) -> tuple[int, bytes] | None:
    """(number from 0, text) of the line in a file; None where there is none, or more than one."""
    found = [(n, line) for n, line in enumerate(data.splitlines()) if place.holds(line)]
    return found[0] if len(found) == 1 else None


def joined(one: Share | None, next_: Share) -> Share:
    """Two shares of one turn in one place, as one."""
    if one is None or one.put != next_.was:
        return next_
    by = None if one.by is None or next_.by is None else one.by + next_.by
    return Share(one.was, next_.put, by)


def way(now: bytes, own: Iterable[Share], later: Sequence[Iterable[Share | None]]) -> list[Share | None] | None:
    """The own share and those of later turns, each of which found what the one before it left, up to what stands `now`.

    Of each turn there may be several, the likeliest first: in each timeline it found something else; None where it changed
    nothing. None in all where somebody set the value in between.
    """
    ways: dict[bytes | None, tuple[Share | None, ...]] = {now: ()}
    for shares in reversed(later):
        before: dict[bytes | None, tuple[Share | None, ...]] = {}
        for share in shares:
            if share is not None and share.put in ways:
                before.setdefault(share.was, (share, *ways[share.put]))
            elif share is None:
                for value, found in ways.items():
                    before.setdefault(value, (None, *found))
        ways = before
    return next(([share, *ways[share.put]] for share in own if share.put in ways), None)


def without_first(shares: Sequence[Share | None], place: Place) -> tuple[bytes | None, list[Share | None]]:
    """(the line that stands once the first of these is taken out, None for none; what the others are then)."""
    told = [share for share in shares if share is not None]
    line, left = told[0].was, []
    for share in shares[1:]:
        if share is not None:
            put = share.put if share.by is None else added(line, share.by, place, told)
            share = replace(share, was=line, put=put)
            line = put
        left.append(share)
    return line, left


def added(line: bytes | None, by: int, place: Place, told: Sequence[Share] = ()) -> bytes:
    """A line (one with 0 where there is none) with so much added to its number, within the bounds the game keeps: nothing, and the most it may be (`12/20`)."""
    line = place.line.replace(HOLE, b"0") if line is None else line
    found = list(_NUMBER.finditer(line))[place.at]
    most = _MOST.match(line[found.end() :])
    seen = [number_of(one, place.at) for share in told for one in (share.was, share.put) if one]
    least = None if _ANY_SIGN in place.line else min(0, *seen, 0)
    value = numbers.bounded(int(found[0]) + by, least, int(most[1]) if most else None, int(found[0]))
    return line[: found.start()] + str(value).encode() + line[found.end() :]
