"""Taking one recorded write back out of a file that others may have changed since. Pure.

In this order: the file is as the write left it, so the old bytes come back exactly; what the write put there still stands as it
was put, so just that is taken out, whatever changed around it; else the three versions are merged by line. Where the
writer changed the very lines the turn had changed, the writer's lines stay and the conflict says where, and what stood
there before the turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass

from rolecall.campaign import arcs, documents, files, journal, records
from rolecall.errors import DocumentError


@dataclass(frozen=True, slots=True)
class Clash:
    """Lines that the turn and the writer both changed. `line` counts from 1 in the file as it stands now."""

    line: int
    yours: str
    before: str


@dataclass(frozen=True, slots=True)
class Reversal:
    """The file without the write: its new bytes (None: it goes), and the clashes in which the writer's lines stayed."""

    data: bytes | None
    clashes: tuple[Clash, ...] = ()


def taken_back(
    current: bytes | None, write: dict, after: bytes | None, later: Callable[[], Collection[bytes]] = tuple
) -> Reversal:
    """`current` without what `write` (a line of a record) did. `after` is the file as the write left it, where it is kept.

    `later` gives the lines later turns wrote in this file: words that one of them wrote stay, though this turn had written the same.
    """
    found = _taken_back(current, write, after)
    if found.data is None or current is None or found.data == current or files.sha256(current) == write["after"]:
        return found
    return Reversal(_with_what_is_used(current, found.data, write, later), found.clashes)


def _with_what_is_used(current: bytes, result: bytes, write: dict, later: Callable[[], Collection[bytes]]) -> bytes:
    """`result` with what must stay of `current`: the heading or key above lines that stay, and the words of later turns."""
    import difflib

    now, then = current.splitlines(keepends=True), result.splitlines(keepends=True)
    lines: list[bytes] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, now, then, autojunk=False).get_opcodes():
        if tag == "delete":
            lines += _frame_of(now, a, b)
        elif tag == "replace" and b - a == d - c and write["op"] in ("value", "field"):
            lines += [_of_later(*pair, later) for pair in zip(now[a:b], then[c:d], strict=True)]
        else:
            lines += then[c:d]
    return b"".join(lines)


def _frame_of(lines: list[bytes], begin: int, end: int) -> list[bytes]:
    """Of lines that go: a heading, or the key of a list, with the blank lines around it, where the next line that stays is its."""
    key = next((n for n in range(end - 1, begin - 1, -1) if _ABOVE.match(lines[n].rstrip(b"\r\n"))), None)
    if key is None:
        return []
    is_heading = lines[key].startswith(b"#")
    follows = next((line for line in lines[end:] if line.strip() or not is_heading), b"")
    if follows.startswith(b"#") if is_heading else not _OF_A_LIST.match(follows):
        return []
    if not follows.strip():
        return []
    first, last = key, key + 1
    while first > begin and not lines[first - 1].strip():
        first -= 1
    while last < end and not lines[last].strip():
        last += 1
    return lines[first:last]


def _of_later(now: bytes, then: bytes, later: Callable[[], Collection[bytes]]) -> bytes:
    """A line as it stands, where a later turn wrote it."""
    return now if now.rstrip(b"\r\n") in later() else then


def _taken_back(current: bytes | None, write: dict, after: bytes | None) -> Reversal:
    if current is None:
        return Reversal(None)  # the writer removed the file; there is nothing to take out of it
    if after is not None and current != after and _unix(current) == _unix(after):
        before = _unix(records.unsplice(after, write))  # only the line ends were changed
        return Reversal(None if write.get("made") else before.replace(b"\n", b"\r\n") if b"\r\n" in current else before)
    if files.sha256(current) == write["after"]:
        return Reversal(None if write.get("made") else records.unsplice(current, write))
    if files.sha256(current) == write["before"] and not write.get("made"):
        return Reversal(current)  # taken back already
    if write["op"] == "arc" and _has_moved(current, write, after):
        with suppress(DocumentError):
            meant = _by_meaning(current, write, after)
            return Reversal(current if meant is None else meant)
    found = _lifted(current, write, after)
    if found is not None:
        return Reversal(None if write.get("made") and not found.strip() else found)
    line = _line_at(current, write["at"])
    result = Reversal(current, (Clash(line, "", _first_line(write["old"])),))
    if after is not None:
        result = _merged(records.unsplice(after, write), after, current)
    if result.clashes or after is None:
        with suppress(DocumentError):
            meant = _by_meaning(current, write, after)
            if meant is None and after is not None:
                meant = _hunk_by_hunk(current, records.unsplice(after, write), after)
            if meant is None and after is not None and not any(clash.yours for clash in result.clashes):
                meant = _put_back(current, write, after)
            return result if meant is None else Reversal(meant)
    return result


def _hunk_by_hunk(current: bytes, before: bytes, after: bytes) -> bytes | None:
    """The write taken out piece by piece, where each piece still stands as it was put; None where one does not.

    A write that changes a field and adds a line further down is two pieces: what somebody changed right beside one of
    them is no conflict with it.
    """
    import difflib

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    pieces = [
        code for code in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if code[0] != "equal"
    ]
    for _, a, b, c, d in reversed(pieces):
        put, was = b"".join(new[c:d]), b"".join(old[a:b])
        places = _places(current, put) if put.strip() else []
        if len(places) != 1:
            return None
        current = current[: places[0]] + was + current[places[0] + len(put) :]
    return current if pieces else None


_OF_A_LIST = re.compile(rb" |-\s")  # and no `---`, which ends the front matter
_ABOVE = re.compile(
    rb"#{1,6}[ \t]|[^\s:#-][^:]*:[ \t]*(?:#.*)?$"
)  # a heading, or the key of a list: nothing above it counts


def _put_back(current: bytes, write: dict, after: bytes) -> bytes | None:
    """Lines that a write took out of a list, back below the nearest line they stood under; None where none of those is left.

    Only for where the lines beside them have gone since, and nobody wrote others in their place.
    """
    import difflib

    if write["op"] not in ("row", "item"):
        return None
    old, new = (data.splitlines(keepends=True) for data in (records.unsplice(after, write), after))
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    pieces = [code for code in codes if code[0] != "equal"]
    lines = current.splitlines(keepends=True)
    if [code[0] for code in pieces] != ["delete"] or set(old[pieces[0][1] : pieces[0][2]]) & set(lines):
        return None
    _, first, end, place, _ = pieces[0]
    for above in reversed(new[:place]):
        at = lines.index(above) + 1 if lines.count(above) == 1 and above.strip() else 0
        if at:
            at += above.startswith(b"#") and at < len(lines) and not lines[at].strip()
            return b"".join([*lines[:at], *old[first:end], *lines[at:]])
        if _ABOVE.match(above.rstrip(b"\r\n")):
            return None
    return None


def _has_moved(current: bytes, write: dict, after: bytes | None) -> bool:
    """Whether other turns moved this arc since, or had a line of it taken back: then lines of text no longer tell whose is what."""
    if after is None:
        return True
    with suppress(DocumentError):
        now, then = (documents.parse(data, write["path"]) for data in (current, after))
        return (now.text("latest"), arcs.trail_of(now)) != (then.text("latest"), arcs.trail_of(then))
    return False


def _by_meaning(current: bytes, write: dict, after: bytes | None) -> bytes | None:
    """What the write meant, taken out wherever it stands by now: an arc's line, a story section, one added line."""
    path, turn = write["path"], write.get("turn", 0)
    if write["op"] == "arc" and write.get("text"):
        return arcs.take_back(current, path, turn, write["text"])
    if write["op"] == "section" and after is not None:
        was, now = (documents.parse(data, path).section(journal.turn_id(turn)) for data in (after, current))
        same = was is not None and now is not None and was.text.strip() == now.text.strip()
        return current[: now.start] + current[now.end :] if same else None
    added = _added(write, after)
    if len(added) != 1:
        return None
    lines = current.splitlines(keepends=True)
    places = [n for n, line in enumerate(lines) if line.strip() == added[0].strip()]
    return b"".join(lines[: places[0]] + lines[places[0] + 1 :]) if len(places) == 1 else None


def _added(write: dict, after: bytes | None) -> list[bytes]:
    """The lines a write only added, without the heading or key it put above them; none where it took lines away."""
    if write["op"] not in ("row", "item") or after is None:
        lines = records.unpacked(write["new"]).splitlines(keepends=True)
        return [] if write["old"].strip() else [line for line in lines if line.strip()]
    import difflib

    old, new = (data.splitlines(keepends=True) for data in (records.unsplice(after, write), after))
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    pieces = [code for code in codes if code[0] != "equal"]
    if any(code[0] != "insert" for code in pieces):
        return []
    lines = [line for _, _, _, c, d in pieces for line in new[c:d] if line.strip()]
    return [line for line in lines if not _ABOVE.match(line.rstrip(b"\r\n"))]


def _lifted(current: bytes, write: dict, after: bytes | None) -> bytes | None:
    """The whole lines the write put there taken out (the old ones put back) where they stand unchanged; else None."""
    old, new, at = _whole_lines(write, after)
    if not new.strip():
        return None
    places = _places(current, new)
    if not places or (len(places) > 1 and len(new.strip()) < 24):
        return None
    place = min(places, key=lambda p: abs(p - at))
    return current[:place] + old + current[place + len(new) :]


def _places(current: bytes, lines: bytes) -> list[int]:
    """Where whole lines stand in a file."""
    places = []
    start = current.find(lines)
    while start >= 0:
        if start == 0 or current[start - 1 : start] == b"\n":
            places.append(start)
        start = current.find(lines, start + 1)
    return places


def _unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _whole_lines(write: dict, after: bytes | None) -> tuple[bytes, bytes, int]:
    """The splice widened to whole lines: (old, new, position)."""
    old, new, at = records.unpacked(write["old"]), records.unpacked(write["new"]), write["at"]
    if after is None:
        return old, new, at
    begin = after.rfind(b"\n", 0, at) + 1
    end = at + len(new)
    if end < len(after) and after[end - 1 : end] != b"\n":
        end = after.find(b"\n", end) + 1 or len(after)
    head, tail = after[begin:at], after[at + len(new) : end]
    return head + old + tail, head + new + tail, begin


def _merged(before: bytes, after: bytes, current: bytes) -> Reversal:
    from merge3 import Merge3

    base, undone, yours = (data.splitlines(keepends=True) for data in (after, before, current))
    result: list[bytes] = []
    clashes: list[Clash] = []
    for region in Merge3(base, undone, yours).merge_regions():
        match region:
            case ("unchanged", start, end):
                result += base[start:end]
            case ("same" | "a", start, end):
                result += undone[start:end]
            case ("b", start, end):
                result += yours[start:end]
            case ("conflict", _, _, a_start, a_end, b_start, b_end):
                mine = b"".join(yours[b_start:b_end]).decode("utf-8", "replace")
                was = b"".join(undone[a_start:a_end]).decode("utf-8", "replace")
                clashes.append(Clash(len(result) + 1, mine.strip(), was.strip()))
                result += yours[b_start:b_end]
    return Reversal(b"".join(result), tuple(clashes))


def _line_at(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, min(at, len(data))) + 1


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else ""
