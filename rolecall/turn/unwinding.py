"""Taking a record's writes out of the files, the last first, whatever was written there since.

A number or value that later turns changed as well is not merged as text: each turn has a share in it (`campaign/shares.py`). Where
one is taken out of the middle, the records of the later turns keep what theirs is from then on (`counted` lines), for as long as
it is gone: in a timeline where it stands, those lines do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from rolecall.campaign import chronicles, files, journal, records, shares, story
from rolecall.campaign.documents import append_to_section
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import Record
from rolecall.campaign.reversal import Clash, Reversal, taken_back
from rolecall.campaign.shares import Place, Share
from rolecall.errors import Conflict, RoleCallError
from rolecall.turn import renamed, soundness

Shares = dict[Place, Share]
Stood = list[tuple[int, Shares]]  # what a turn did to each value in each of its record's stretches, the newest first


@dataclass(frozen=True, slots=True)
class Undone:
    """A turn taken back: its action, the files that changed, and where the writer's lines were kept."""

    turn: int
    action: str
    paths: tuple[str, ...]
    clashes: tuple[tuple[str, Clash], ...]
    notes: tuple[str, ...] = ()


def unwind(campaign: Campaign, folder: str) -> Undone:
    """Take every write of a record that stands out of the files. Interrupted, it goes on where it was."""
    root, record = campaign.root, Record(campaign.root, folder)
    taking = Taking(root, folder)
    noted = _noted(root, folder)
    clashes: list[tuple[str, Clash]] = []
    notes: list[str] = []
    for number in range(len(taking.writes) - 1, -1, -1):
        write = taking.writes[number]
        if _is_out(root, noted, _key(write, number)):
            taking.passed(write)
        elif write["op"] in ("journal", "remark") and _is_folded(campaign, write):
            if write["op"] == "journal":
                notes.append(_note_folded(campaign, write["turn"]))
        else:
            clashes += [(write["path"], clash) for clash in _revert(campaign, record, taking, write, number)]
    record.note("unwound")
    paths = tuple(dict.fromkeys(write["path"] for write in taking.writes))
    return Undone(records.turn_of(folder), soundness.begun(root, folder)[0], paths, tuple(clashes), tuple(notes))


def is_half_out(root: Path, folder: str) -> bool:
    """Whether some writes of a record were taken out, and not all of them yet."""
    return bool(_noted(root, folder))


def rehearse(campaign: Campaign, folder: str) -> list[tuple[str, Clash]]:
    """Take a record's writes out in memory: what would clash. One that cannot be taken out is met before the first change."""
    root, taking, clashes = campaign.root, Taking(campaign.root, folder), []
    now: dict[str, bytes | None] = {}
    for write in reversed(taking.writes):
        write = _where(campaign, write)
        path = write["path"]
        if path not in now:
            now[path] = _read(root, path)
        after = records.version(root, folder, write)
        try:
            for left in (now[path], after):
                if left is not None and files.sha256(left) == write["after"]:
                    soundness.compare(folder, records.unsplice(left, write), write)
            result = taking.out_of(now[path], write)[0]
        except (ValueError, KeyError, TypeError, IndexError):
            raise soundness.damage(folder) from None
        now[path] = result.data
        if not (write["op"] in ("journal", "remark") and _is_folded(campaign, write)):
            clashes += [(path, clash) for clash in result.clashes]
    return clashes


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
    _done: set[Place] = field(default_factory=set)

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

    @property
    def _after(self) -> list[str]:
        return [f for f in self._standing if records.turn_of(f) > records.turn_of(self.folder)]

    def _shares(self, folder: str) -> Stood:
        turns = {records.turn_of(one) for one in self._standing}
        every = enumerate(records.stretches(self.root, folder))
        return [(n, _shares_of(self.root, folder, one, turns)) for n, one in every if one.writes or one.counted][::-1]

    def passed(self, write: dict) -> None:
        """A write that is out already."""
        if found := self._share(write):
            self._done.add(found[0])

    def _share(self, write: dict) -> tuple[Place, Share] | None:
        found = shares.of_write(write, records.version(self.root, self.folder, write))
        return (replace(found[0], path=_moved(self.root, found[0].path)), found[1]) if found else None

    def out_of(self, current: bytes | None, write: dict) -> tuple[Reversal, list[Counted]]:
        """(`current` without a write, what the later turns' shares are then). To be asked of the last write first."""
        after = records.version(self.root, self.folder, write)
        later = partial(_lines_later, self.root, self._after, write["path"])
        found = self._share(write)
        line = shares.line_of(found[0], current) if found and current is not None else None
        if found is None or line is None:
            result = taken_back(current, write, after, later)
            return replace(
                result, clashes=tuple(c for c in result.clashes if not self._is_of_later(c, write, later))
            ), []
        place, share = found
        rest = _rest(current, write, after, share, later)
        if rest.data is None or place in self._done or (line := shares.line_of(place, rest.data)) is None:
            return rest, []
        self._done.add(place)
        value, counted = self._without(place, line)
        if value.data is None and (share.was, share.put) == (None, line[1]):  # a line it made, and nobody touched
            return taken_back(current, write, after, later), counted
        return Reversal(_with_line(rest.data, line[0], value.data), (*rest.clashes, *value.clashes)), counted

    def _without(self, place: Place, line: tuple[int, bytes]) -> tuple[Reversal, list[Counted]]:
        """(a value's line without this turn's share, what the later turns' shares are then)."""
        number, now = line
        own = [found[place] for _, found in self.own if place in found]
        way = shares.way(now, own, [[found.get(place) for _, found in every] or [None] for _, every in self.later])
        if way is not None:
            data, left = shares.without_first(way, place)
            return Reversal(data), self._counted(place, way[1:], left)
        if own[0].was == own[0].put:
            return Reversal(now), []
        return Reversal(now, (Clash(number + 1, _text(now).strip(), _text(own[0].was or b"").strip()),)), []

    def _counted(self, place: Place, were: list[Share | None], are: list[Share | None]) -> list[Counted]:
        """The lines that say what the later turns' shares are from now on."""
        found = []
        for (folder, stood), old, new in zip(self.later, were, are, strict=True):
            if new is not None and new != old:
                stretch = next(n for n, every in stood if every.get(place) is old)
                found.append(Counted(folder, place, new, stretch))
        return found

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
    return _shares_of(root, folder, every[-1], turns) if every else {}


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


def _shares_of(root: Path, folder: str, stretch: records.Stretch, turns: set[int]) -> Shares:
    found: Shares = {}
    for write in stretch.writes:
        if one := shares.of_write(write, records.version(root, folder, write)):
            place = replace(one[0], path=_moved(root, one[0].path))
            found[place] = shares.joined(found.get(place), one[1])
    for line in stretch.counted:
        if not turns.intersection(line.get("without", ())):
            was = None if line["was"] is None else _bytes(line["was"])
            found[_place(root, line)] = Share(was, _bytes(line["put"]), line["by"])
    return found


def _place(root: Path, line: dict) -> Place:
    return Place(_moved(root, line["path"]), _bytes(line["line"]), line["at"])


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


# -- in the files


def _revert(campaign: Campaign, record: Record, taking: Taking, write: dict, number: int) -> tuple[Clash, ...]:
    root, seen = campaign.root, set(taking._done)
    for _ in range(12):
        taking._done = set(seen)
        there = _where(campaign, write)
        path = there["path"]
        current = _read(root, path)
        result, counted = taking.out_of(current, there)
        for one in counted:
            gone = sorted({records.turn_of(taking.folder), *_gone_before(root, one)})
            line = counted_line(one.place, one.share)
            Record(root, one.folder).note("counted", **line, stretch=one.stretch, without=gone)
        if result.data == current:
            return result.clashes
        sha = files.sha256(result.data) if result.data is not None else ""
        record.note("reverted", write=_key(write, number), path=path, result=sha)
        try:
            if result.data is None:
                files.remove(root, path)
            else:
                files.replace(root, path, result.data, expected=files.sha256(current))
            return result.clashes
        except Conflict:
            continue  # an editor saved in between
    raise Conflict("the file keeps changing", path=path, remedy="stop what rewrites it, and run the command again")


def _gone_before(root: Path, one: Counted) -> list[int]:
    """The turns that were taken out from under a share before, and are gone here."""
    standing = {records.turn_of(folder) for folder in records.folders(root)}
    told = [
        line for line in records.stretches(root, one.folder)[one.stretch].counted if _place(root, line) == one.place
    ]
    gone = [line.get("without", []) for line in told]
    return next((turns for turns in reversed(gone) if not standing.intersection(turns)), [])


def _where(campaign: Campaign, write: dict) -> dict:
    """The write with the path its file has by now: a chapter or an entry may bear another name."""
    root, path = campaign.root, write["path"]
    if files.exists(root, path):
        return write
    if write["op"] == "section" and (moved := _chapter_of(campaign, write["turn"])):
        return {**write, "path": moved, "made": False}
    return {**write, "path": _moved(root, path)}


def _moved(root: Path, path: str) -> str:
    return path if files.exists(root, path) else renamed.moved(root, path)


def _noted(root: Path, folder: str) -> list[dict]:
    """The `reverted` lines since the record was last written down whole, in order."""
    found: list[dict] = []
    for line in records.lines(root, folder):
        if line["do"] == "reverted":
            found.append(line)
        elif line["do"] in ("unwound", "reopened"):
            found.clear()
    return found


def _is_out(root: Path, noted: list[dict], key: str) -> bool:
    """Whether a write was taken out before an interruption: each is noted before it is made, so only the last may not have been."""
    mine = [line for line in noted if line["write"] == key]
    if not mine:
        return False
    last = noted[-1]
    return last["write"] != key or files.sha256(_read(root, last["path"]) or b"") == (
        last["result"] or files.sha256(b"")
    )


def _read(root: Path, path: str) -> bytes | None:
    return files.read(root, path) if files.exists(root, path) else None


def _key(write: dict, number: int) -> str:
    return f"{number}:{write['after'][:16]}"


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


def _lines_gone(root: Path, folder: str, path: str) -> set[bytes]:
    """The lines that a turn took out of a file, or put others in the place of."""
    return {
        line
        for write in records.writes(root, folder)
        if write["path"] == path
        for line in records.unpacked(write["old"]).splitlines()
    }


def _chapter_of(campaign: Campaign, turn: int) -> str | None:
    """The chapter that tells a turn now."""
    for _, path in story.chapters(campaign):
        if any(told.turn == turn for told in story.turns_of(campaign.document(path))):
            return path
    return None


def _is_folded(campaign: Campaign, write: dict) -> bool:
    """Whether a turn's line has left the Journal for a Chronicle, whatever still stands in the Journal."""
    turn, lines = write.get("turn", 0), journal.lines_of(campaign.document(STATE_FILE))
    if any(line.turn == turn for line in lines):
        return False
    try:
        return turn <= chronicles.last_covered(campaign)
    except RoleCallError:  # a Chronicle that cannot be read is `check`'s to tell
        return bool(lines) and turn < lines[0].turn


def _note_folded(campaign: Campaign, turn: int) -> str:
    """The turn's line is in a sealed Chronicle: a note under the Journal's last line says that it was taken back."""
    said = f"  ({turn_id(turn)}, told in a Chronicle, was taken back.)"
    record = Record(campaign.root, f"{records.EDITS}/undo-{turn_id(turn)}")

    def edit(before: bytes | None) -> bytes:
        data = before or b""
        return data if said.encode() in data else append_to_section(data, STATE_FILE, journal.HEADING, said, create=2)

    record.write(STATE_FILE, "note", edit, turn=turn)
    return f"{turn_id(turn)} stands in a Chronicle, which stays; the Journal says that it was taken back"
