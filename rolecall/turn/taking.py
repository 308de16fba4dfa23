"""One record being taken out of the files, in memory: what is left of a file without a write, and of a value without a turn's share.

A number or value that later turns changed as well is not merged as text: each turn has a share in it (`campaign/shares.py`). Where
one is taken out of the middle, the records of the later turns keep what theirs is from then on (`counted` lines), for as long as
it is gone: in a timeline where it stands, those lines do not count. What cannot be taken out while a later turn's words stand is owed by
that turn's record, and taken out with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from rolecall.campaign import files, records, shares
from rolecall.campaign.reversal import Clash, Reversal, taken_back
from rolecall.campaign.shares import Place, Share
from rolecall.turn import renamed

Shares = dict[Place, Share]
Stood = list[tuple[int, Shares]]  # what a turn did to each value in each of its record's stretches, the newest first


@dataclass(frozen=True, slots=True)
class Counted:
    """What a later turn's share is once this one is gone: for the record in `folder`, in one of its stretches."""

    folder: str
    place: Place
    share: Share
    stretch: int


@dataclass
class Taking:
    """One record being taken out: its writes, and what it and the later ones did to each value."""

    root: Path
    folder: str
    done: set[Place] = field(default_factory=set)
    without: str = ""  # a later record that is out already, though it has its name still
    _versions: dict[str, bytes | None] = field(default_factory=dict)

    @cached_property
    def writes(self) -> list[dict]:
        """The writes that stand, in order."""
        return records.writes(self.root, self.folder)

    @cached_property
    def own(self) -> Stood:
        """What this turn did to each value, in each timeline it was written down in, the newest first."""
        return self._shares(self.folder)

    @cached_property
    def later(self) -> list[tuple[str, Stood]]:
        """The same of the turns after it that stand, with the folder of each."""
        return [(folder, self._shares(folder)) for folder in self._after]

    @cached_property
    def _standing(self) -> list[str]:
        return records.folders(self.root)

    @cached_property
    def _turns(self) -> set[int]:
        return {records.turn_of(one) for one in self._standing}

    @cached_property
    def _after(self) -> list[str]:
        mine = records.turn_of(self.folder)
        return [f for f in self._standing if records.turn_of(f) > mine and f != self.without]

    def _shares(self, folder: str) -> Stood:
        every = enumerate(records.stretches(self.root, folder))
        version = self._version if folder == self.folder else partial(records.version, self.root, folder)
        told = [(n, one) for n, one in every if one.writes or one.counted]
        return [(n, _shares_of(self.root, one, self._turns, version)) for n, one in reversed(told)]

    def _version(self, write: dict) -> bytes | None:
        """The file as a write of this record left it, read once: a disk that refuses it at times does not make two minds."""
        if write["after"] not in self._versions:
            self._versions[write["after"]] = records.version(self.root, self.folder, write)
        return self._versions[write["after"]]

    def passed(self, write: dict) -> None:
        """A write that is out already."""
        if found := self._share(write):
            self.done.add(found[0])

    def _share(self, write: dict) -> tuple[Place, Share] | None:
        found = shares.of_write(write, self._version(write))
        if found is None:
            return None
        place, share = replace(found[0], path=moved(self.root, found[0].path)), found[1]
        if place.at >= 0 and self.own and place not in self.own[0][1]:  # told as words since: see `counted`
            return place.worded(share.put), replace(share, by=None)
        return place, share

    def _told_as(self, write: dict, current: bytes | None) -> tuple[Place, Share] | None:
        """The share of a write whose line still stands: a number, or words where another turn wrote words there."""
        found = self._share(write)
        if found is None or current is None:
            return None
        place, share = found
        told = [found]
        if place.at >= 0 and shares.label_of(share.put):
            told.append((place.worded(share.put), replace(share, by=None)))
        there = [(one, line) for one in told if (line := shares.line_of(one[0], current))]
        known = (one for one, line in there if self._way(one[0], line[1]) is not None)
        return next(known, there[0][0] if there else None)

    def _own_in(self, place: Place) -> list[Share]:
        return [share for _, found in self.own if (share := shares.in_place(found, place))]

    def _way(self, place: Place, now: bytes) -> list[Share | None] | None:
        later = [[shares.in_place(found, place) for _, found in every] or [None] for _, every in self.later]
        return shares.way(now, self._own_in(place), later)

    def out_of(self, current: bytes | None, write: dict) -> tuple[Reversal, list[Counted], str]:
        """(`current` without a write, what the later turns' shares are then, the later record that hinders it or nothing).

        To be asked of the last write first.
        """
        after = self._version(write)
        later = partial(_lines_later, self.root, self._after, write["path"])
        found = self._told_as(write, current)
        if found is None:
            result = taken_back(current, write, after, later)
            hinders = self._hinders(write, result.clashes) if result.clashes or result.data == current else ""
            yours = tuple(c for c in result.clashes if not self._is_of_later(c, write, later))
            return replace(result, clashes=yours), [], hinders
        place, share = found
        rest = _rest(current, write, after, share, later)
        if rest.data is None or place in self.done or (line := shares.line_of(place, rest.data)) is None:
            return rest, [], self._hinders(write, rest.clashes) if rest.clashes else ""
        self.done.add(place)
        value, counted = self._without(place, line)
        if value.data is None and (share.was, share.put) == (None, line[1]):  # a line it made, and nobody touched
            return taken_back(current, write, after, later), counted, ""
        clashes = (*rest.clashes, *value.clashes)
        hinders = self._hinders(write, clashes) if clashes else ""
        return Reversal(_with_line(rest.data, line[0], value.data), clashes), counted, hinders

    def _without(self, place: Place, line: tuple[int, bytes]) -> tuple[Reversal, list[Counted]]:
        """(a value's line without this turn's share, what the later turns' shares are then)."""
        number, now = line
        way = self._way(place, now)
        if way is not None:
            data, left = shares.without_first(way, place)
            return Reversal(data), self._counted(place, way[1:], left)
        own = self._own_in(place)[0]
        if own.was == own.put:
            return Reversal(now), []
        return Reversal(now, (Clash(number + 1, _text(now).strip(), _text(own.was or b"").strip()),)), []

    def _counted(self, place: Place, were: list[Share | None], are: list[Share | None]) -> list[Counted]:
        """The lines that say what the later turns' shares are from now on."""
        found = []
        for (folder, stood), old, new in zip(self.later, were, are, strict=True):
            if new is not None and new != old:
                stretch = next(n for n, every in stood if shares.in_place(every, place) == old)
                found.append(Counted(folder, place, new, stretch))
        return found

    def _hinders(self, write: dict, clashes: tuple[Clash, ...]) -> str:
        """The first later record that changed a line this write put down, or put one where it cannot be taken out."""
        lines = _differing(self.root, self.folder, write)[1]
        lines.update(line.strip() for clash in clashes for line in _bytes(clash.yours).splitlines())
        for folder in self._after:
            for one in records.writes(self.root, folder):
                if one["path"] == write["path"] and any(
                    lines & changed for changed in _differing(self.root, folder, one)
                ):
                    return folder
        return ""

    def _is_of_later(self, clash: Clash, write: dict, later: Callable[[], set[bytes]]) -> bool:
        """Whether what stands where a write cannot be taken out is what later turns put there, and none of the writer's."""
        if not self._after or write["op"] in ("section", "journal", "remark"):
            return False
        yours = [line.strip() for line in clash.yours.encode("utf-8", "surrogateescape").splitlines() if line.strip()]
        known = {line.strip() for line in later()}
        if yours:
            return all(line in known for line in yours)
        gone = {line.strip() for folder in self._after for line in _lines_gone(self.root, folder, write["path"])}
        return any(line.strip() in gone for line in records.unpacked(write["new"]).splitlines() if line.strip())


def last_shares(root: Path, folder: str) -> Shares:
    """What a turn that was just taken out had done to each value."""
    turns = {records.turn_of(one) for one in records.folders(root)}
    every = [one for one in records.stretches(root, folder) if one.writes or one.counted]
    return _shares_of(root, every[-1], turns, partial(records.version, root, folder)) if every else {}


def counted_line(place: Place, share: Share) -> dict:
    """What a record says of a share that is not the one its writes tell."""
    was = None if share.was is None else _text(share.was)
    return {
        "path": place.path,
        "line": _text(place.line),
        "at": place.at,
        "was": was,
        "put": _text(share.put),
        "by": share.by,
    }


def _shares_of(
    root: Path, stretch: records.Stretch, turns: set[int], version: Callable[[dict], bytes | None]
) -> Shares:
    found: Shares = {}
    for write in stretch.writes:
        if one := shares.of_write(write, version(write)):
            place = replace(one[0], path=moved(root, one[0].path))
            found[place] = shares.joined(found.get(place), one[1])
    for line in stretch.counted:
        if not turns.intersection(line.get("without", ())):
            was, place = None if line["was"] is None else _bytes(line["was"]), _place(root, line)
            share = Share(was, _bytes(line["put"]), line["by"])
            if place.at < 0:  # what this turn took for a number is words by now
                for one in [one for one in found if one.path == place.path and place.holds(found[one].put)]:
                    del found[one]
            found[place] = share
    return found


def _place(root: Path, line: dict) -> Place:
    return Place(moved(root, line["path"]), _bytes(line["line"]), line["at"])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _rest(current: bytes, write: dict, after: bytes, share: Share, later: Callable[[], set[bytes]]) -> Reversal:
    """A file without what a write did beside its one value: the dated line it left of the old one."""
    before = records.unsplice(after, write)
    if share.was is None:
        lines = after.splitlines()
        made = after.splitlines(keepends=True)[lines.index(share.put)]
        at = sum(len(line) for line in after.splitlines(keepends=True)[: lines.index(share.put)])
        same = before[:at] + made + before[at:]
    else:
        same = _with_line(before, before.splitlines().index(share.was), share.put)
    if same == after:
        return Reversal(current)
    return taken_back(current, {**write, **records.splice(same, after)}, after, later)


def _with_line(data: bytes, number: int, line: bytes | None) -> bytes:
    """The data with another line in the place of one, or without it."""
    lines = data.splitlines(keepends=True)
    if line is None:
        return b"".join([*lines[:number], *lines[number + 1 :]])
    end = lines[number][len(lines[number].rstrip(b"\r\n")) :]
    return b"".join([*lines[:number], line + end, *lines[number + 1 :]])


def gone_before(root: Path, one: Counted) -> list[int]:
    """The turns that were taken out from under a share before, and are gone here."""
    standing = {records.turn_of(folder) for folder in records.folders(root)}
    told = [
        line for line in records.stretches(root, one.folder)[one.stretch].counted if _place(root, line) == one.place
    ]
    gone = [line.get("without", []) for line in told]
    return next((turns for turns in reversed(gone) if not standing.intersection(turns)), [])


def moved(root: Path, path: str) -> str:
    """Where a file lies by now, if not at its path."""
    return path if files.exists(root, path) else renamed.moved(root, path)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _lines_later(root: Path, later: list[str], path: str) -> set[bytes]:
    """The lines that later turns left where they changed a file."""
    found: set[bytes] = set()
    for folder in later:
        for write in records.writes(root, folder):
            after = records.version(root, folder, write) if write["path"] == path else None
            if after is not None:
                begin = after.rfind(b"\n", 0, write["at"]) + 1
                end = after.find(b"\n", write["at"] + len(records.unpacked(write["new"])))
                found.update(line.rstrip(b"\r") for line in after[begin : end if end >= 0 else None].split(b"\n"))
    return found


def _differing(root: Path, folder: str, write: dict) -> tuple[set[bytes], set[bytes]]:
    """(the lines a write took out of its file, those it put there); none where the file as it left it is not kept."""
    after = records.version(root, folder, write)
    if after is None:
        return set(), set()
    old, new = ({*map(bytes.strip, data.splitlines())} - {b""} for data in (records.unsplice(after, write), after))
    return old - new, new - old


def _lines_gone(root: Path, folder: str, path: str) -> set[bytes]:
    """The lines that a turn took out of a file, or put others in the place of."""
    return {
        line
        for write in records.writes(root, folder)
        if write["path"] == path
        for line in records.unpacked(write["old"]).splitlines()
    }
