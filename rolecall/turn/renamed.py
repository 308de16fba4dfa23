"""The record of a renaming: made, finished after a crash, taken back.

`.rolecall/edits/rename-0001/` holds `begin` and each write; the file itself moves last. `.rolecall/rename.json` lies beside it while
something is unfinished, and says enough to do it all again: every edit may be applied twice.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from rolecall.campaign import files, recordlines, records, renaming
from rolecall.campaign.folder import Campaign
from rolecall.campaign.records import Record
from rolecall.campaign.renaming import Plan, Renaming
from rolecall.errors import DocumentError, StorageError, TurnError, Unclear
from rolecall.turn.ingested import revert
from rolecall.turn.interrupts import uninterrupted
from rolecall.turn.unfinished import RENAME as MARK

_KEYS = ("folder", "kind", "path", "target", "old", "new")


def rename(campaign: Campaign, old: str, new: str) -> Plan:
    """Call an entry by another name everywhere. Raises what `renaming.plan` raises, and what the entry's own file refuses;
    then nothing was written.
    """
    plan = renaming.plan(campaign, old, new)
    root, one = campaign.root, plan.renaming
    folder = f"{records.EDITS}/rename-{max(map(_number, _every(root)), default=0) + 1:04d}"
    with uninterrupted():
        _mark(root, folder, "write", one)
        Record(root, folder).note("begin", rename=one.path, target=one.target, old=one.old, new=one.new)
        try:
            left = _apply(campaign, Record(root, folder), one)
        except (DocumentError, StorageError) as error:
            if _is_its_own(error, one):
                _drop(campaign, folder, one)
            raise
        _close(root, folder)
    return Plan(one, plan.changes, tuple(dict.fromkeys((*plan.left, *left))))


def take_back(campaign: Campaign) -> tuple[Renaming, list[str]]:
    """Take the last renaming back: (what it was, what could not be taken out, in words). What you changed since stays."""
    root = campaign.root
    standing = folders(root)
    one = _begun(root, standing[-1]) if standing else None
    if one is None:
        raise TurnError("this machine has no record of a renaming", remedy="rename it the other way round, or use git")
    if one.target != one.path and not (files.exists(root, one.target) and not files.exists(root, one.path)):
        raise TurnError(f"{one.target} is not where the renaming left it", remedy="rename it the other way round")
    with uninterrupted():
        _mark(root, standing[-1], "undo", one)
        clashes = _unwind(campaign, standing[-1], one)
        files.remove(root, MARK)
    return one, clashes


def folders(root: Path) -> list[str]:
    """The records of renamings that stand, oldest first."""
    return [f"{records.EDITS}/{name}" for name in _every(root) if re.fullmatch(r"rename-[0-9]{4,}", name)]


def moved(root: Path, path: str) -> str:
    """Where the file of that path lies by now: under the last name it was given that is there.

    Every renaming is followed, and back again those that were taken back. Where git went back before one, the file may have been given
    another name since: so it is the files that decide.
    """
    made = [(_begun(root, f"{records.EDITS}/{name}"), ".undone-" in name) for name in _every(root)]
    steps = [(one.path, one.target) for one, _ in made if one]
    steps += [(one.target, one.path) for one, undone in made if one and undone]
    names = [path]
    for name in names:  # it grows meanwhile
        names += [new for had, new in steps if had == name and new not in names]
    return next((name for name in reversed(names) if files.exists(root, name)), names[-1])


def pending(root: Path) -> dict | None:
    """What was interrupted; empty when its note cannot be read."""
    if not files.exists(root, MARK):
        return None
    mark = recordlines.json_object(records.plain(root, MARK) or b"") or {}
    sound = all(isinstance(mark.get(key), str) and mark[key] for key in _KEYS) and mark["kind"] in ("write", "undo")
    name = rf"{re.escape(records.EDITS)}/rename-[0-9]{{4,}}"
    inside = sound and all(recordlines.is_path(mark[key]) for key in ("path", "target"))
    return mark if inside and re.fullmatch(name, mark["folder"]) else {}


def recover(campaign: Campaign) -> str:
    """Finish a renaming, or its taking back, that was interrupted; what was done, in words. Only under the lock."""
    root, mark = campaign.root, pending(campaign.root)
    if not mark:
        files.remove(root, MARK)
        return f"The note of an interrupted renaming ({MARK}) cannot be read and is dropped"
    one, folder = Renaming(mark["path"], mark["target"], mark["old"], mark["new"]), mark["folder"]
    if mark["kind"] == "undo":
        if files.exists(root, folder):
            _unwind(campaign, folder, one)
        files.remove(root, MARK)
        return f"The renaming of {one.old} was being taken back; it is"
    record = Record(root, folder)
    if _begun(root, folder) is None:
        record.note("begin", rename=one.path, target=one.target, old=one.old, new=one.new)
    records.finish_torn(root, folder)
    try:
        left = _apply(campaign, record, one)
    except (DocumentError, StorageError) as error:
        if not _is_its_own(error, one):
            raise
        _drop(campaign, folder, one)
        return f"The renaming of {one.old} to {one.new} was interrupted; it is taken back ({error})"
    _close(root, folder)
    more = f" ({'; '.join(left)})" if left else ""
    return f"The renaming of {one.old} to {one.new} was interrupted; it is finished{more}"


# -- steps, each of which may be made twice


def _apply(campaign: Campaign, record: Record, one: Renaming) -> list[str]:
    """Change every file, the entry's own first: what others call it must not differ from what it calls itself."""
    left: list[str] = []
    for path in sorted(renaming.touched(campaign), key=lambda path: path not in (one.path, one.target)):

        def edit(before: bytes | None, path: str = path) -> bytes:
            if before is None:
                raise Unclear("there is no such file any more", path=path, remedy="nothing was written to it")
            return renaming.edited(before, path, one)

        try:
            if files.read(campaign.root, path) != edit(files.read(campaign.root, path)):
                record.write(path, "rename", edit)
        except (DocumentError, StorageError) as error:
            if path in (one.path, one.target) or error.path != path or not _is_of_one_file(error):
                raise
            left.append(str(error))
    if one.target != one.path and files.exists(campaign.root, one.path) and not files.exists(campaign.root, one.target):
        files.move(campaign.root, one.path, one.target)
    return left


def _is_of_one_file(error: DocumentError | StorageError) -> bool:
    return isinstance(error, DocumentError) or files.is_of_one_file(error)


def _is_its_own(error: DocumentError | StorageError, one: Renaming) -> bool:
    """Whether the entry's own file refuses, and not the disk."""
    return error.path in (one.path, one.target) and _is_of_one_file(error)


def _drop(campaign: Campaign, folder: str, one: Renaming) -> None:
    """Take back what was written of a renaming that cannot be made."""
    _mark(campaign.root, folder, "undo", one)
    _unwind(campaign, folder, one)
    files.remove(campaign.root, MARK)


def _unwind(campaign: Campaign, folder: str, one: Renaming) -> list[str]:
    root, record, clashes = campaign.root, Record(campaign.root, folder), []
    if one.target != one.path and files.exists(root, one.target) and not files.exists(root, one.path):
        files.move(root, one.target, one.path)
    writes = records.writes(root, folder)
    noted = [int(line["write"]) for line in records.lines(root, folder) if line["do"] == "reverted"]
    start = min(noted) if noted else len(writes) - 1  # the last noted one may not have been made
    for number in range(start, -1, -1):
        clashes += revert(root, record, folder, writes[number], number)
    records.set_aside(root, folder, "undone")
    return clashes


def _mark(root: Path, folder: str, kind: str, one: Renaming) -> None:
    body = {"folder": folder, "kind": kind, "path": one.path, "target": one.target, "old": one.old, "new": one.new}
    files.rewrite(root, MARK, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))


def _close(root: Path, folder: str) -> None:
    Record(root, folder).note("closed")
    files.remove(root, MARK)


def _begun(root: Path, folder: str) -> Renaming | None:
    line = next((one for one in records.lines(root, folder) if one["do"] == "begin" and "rename" in one), None)
    return Renaming(line["rename"], line["target"], line["old"], line["new"]) if line else None


def _every(root: Path) -> list[str]:
    place = root / records.EDITS
    names = [p.name for p in place.iterdir()] if place.is_dir() else []
    return sorted((name for name in names if re.match(r"rename-[0-9]{4,}", name)), key=_number)


def _number(name: str) -> int:
    return int(re.match(r"rename-([0-9]+)", name)[1])
