"""An import made real: one record, the originals first, then the files, the receipt last. And taken back again.

`.rolecall/edits/import-0001/record.jsonl` says what is made before anything is: a `begin` line with the originals, their sums
and how many files are made of them, then one `write` line a file, with its whole text. So `why` knows where a file comes
from, a command that was killed is finished from it, and an import is taken back from it. Only under the campaign's lock.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rolecall.campaign import files, lock, records
from rolecall.campaign.originals import FOLDER, MAP
from rolecall.campaign.splices import splice, unpacked
from rolecall.errors import Conflict, ExchangeError, StorageError, UnknownName

if TYPE_CHECKING:
    from rolecall.exchange.planning import Plan

RECEIPT = "receipt.md"

MAX_MADE = 24 * 1024 * 1024  # bytes of all files that one import makes, as its record holds them: it must be read again
_CLOSED = b'{"do": "closed"}\n'
Progress = Callable[[int, int], None]
_RECORD = re.compile(r"import-([0-9]{4,})")


@dataclass(frozen=True, slots=True)
class Undone:
    """An import taken back: its folder, the files that went, and those that stay because somebody changed them."""

    folder: str
    removed: tuple[str, ...]
    kept: tuple[str, ...]


def known(root: Path) -> dict[str, str]:
    """The sum of every file that was imported here, and the folder it lies in."""
    found: dict[str, str] = {}
    place = root / FOLDER
    names = sorted(p.name for p in place.iterdir()) if place.is_dir() else []
    for name in names:
        try:
            held = json.loads(records.plain(root, f"{FOLDER}/{name}/{MAP}") or b"{}")
        except (ValueError, RecursionError, StorageError):
            continue
        if isinstance(held, dict) and isinstance(held.get("sha256"), str):
            found[held["sha256"]] = f"{FOLDER}/{name}"
    return found


def make(root: Path, plan: Plan, progress: Progress = lambda done, total: None) -> str:
    """Make everything that is planned; the receipt's path.

    ExchangeError, with nothing made, when it is too much; when the disk refuses, what was made is taken back.
    """
    from rolecall.exchange import receipt  # all that makes a plan is loaded only where there is one

    writes = [(made.path, made.data, f"{plan.originals[0][0]}, {made.page.at}".rstrip(", ")) for made in plan.made]
    told = f"{plan.folder}/{RECEIPT}"
    writes.append((f"{plan.folder}/{MAP}", plan.map, plan.folder))
    writes.append((told, receipt.write(plan).encode("utf-8", "replace"), plan.folder))
    reason = f"imported from {plan.parcel.format}"
    lines = b"".join(_line(path, data, reason, source) for path, data, source in writes)
    if len(lines) > MAX_MADE:
        what = f"it would make more than {MAX_MADE // 1024 // 1024} MiB of Markdown"
        raise ExchangeError(what, path=plan.name, remedy="split it, and import the parts")
    lock.prepare(root)
    record = records.Record(root, f"{records.EDITS}/import-{_last(root) + 1:04d}")
    originals = [[path, files.sha256(data)] for path, data in plan.originals]
    at = time.strftime("%Y-%m-%dT%H:%M:%S")
    record.note("begin", **{"import": plan.folder}, files=originals, makes=len(writes), at=at)
    total = len(plan.originals) + len(writes)
    try:
        for number, (path, data) in enumerate(plan.originals, 1):
            files.create(root, path, data)
            progress(number, total)
        files.append(root, f"{record.folder}/record.jsonl", lines, own_line=True)
        _put(root, record, lambda done: progress(len(plan.originals) + done, total))
    except (StorageError, Conflict):
        with suppress(StorageError):  # else the next command that writes does it
            _undo(root, record.folder, {"import": plan.folder, "files": originals})
        raise
    return told


def left(root: Path) -> dict[str, dict]:
    """The records of imports that were neither finished nor taken back, and how each begins."""
    found = {}
    for folder in _records(root):
        if _ends_closed(root, folder):
            continue
        every = records.lines(root, folder)
        begin = next((line for line in every if "import" in line), None)
        if begin is not None and not any(line["do"] == "closed" for line in every):
            found[folder] = begin
    return found


def finish(root: Path) -> list[str]:
    """Finish imports that were interrupted, or take back what they had copied; what was done, a sentence each."""
    done = []
    for folder, begin in left(root).items():
        planned = len(records.writes(root, folder)) == begin.get("makes")
        if planned and all(files.exists(root, path) for path, _ in begin["files"]):
            _put(root, records.Record(root, folder))
            done.append(f"An import that was interrupted is finished: {begin['import']}")
        else:  # it is not on record whole, or was being taken back
            _undo(root, folder, begin)
            done.append("An import that was interrupted is taken back")
    return done


def undo(root: Path, name: str = "") -> Undone:
    """Take an import back: the last one, or that of the folder `name`. UnknownName when there is none on record here."""
    wanted = f"{FOLDER}/{name.strip().strip('/').removeprefix(f'{FOLDER}/')}" if name else ""
    for folder in reversed(_records(root)):
        begin = next((line for line in records.lines(root, folder) if "import" in line), None)
        if begin is not None and wanted in ("", begin["import"]):
            return _undo(root, folder, begin)
    what = f"no import {name!r} is on record here" if name else "no import is on record here"
    raise UnknownName(what, remedy="remove its files by hand, or use git")


def _undo(root: Path, folder: str, begin: dict) -> Undone:
    removed, kept = [], []
    sums = [(w["path"], w["after"]) for w in reversed(records.writes(root, folder))]
    sums += [(path, sha) for path, sha in reversed(begin["files"])]
    for path, sha in sums:
        gone = _remove(root, path, sha)
        if gone is not None:
            (removed if gone else kept).append(path)
    _sweep(root, [path for path, _ in sums])  # also a folder made for a file that never was
    records.set_aside(root, folder, "undone")
    return Undone(begin["import"], tuple(removed), tuple(kept))


def _put(root: Path, record: records.Record, progress: Callable[[int], None] = lambda done: None) -> None:
    """Create every file of a record that is not there; one that somebody made meanwhile stays as it is."""
    for number, line in enumerate(records.writes(root, record.folder), 1):
        if not files.exists(root, line["path"]):
            with suppress(Conflict):
                files.create(root, line["path"], unpacked(line["new"]))
        progress(number)
    record.jot("closed")  # where the machine loses it, it is said once more


def _line(path: str, data: bytes, reason: str, source: str) -> bytes:
    line = {
        "do": "write",
        "path": path,
        "op": "import",
        **splice(b"", data),
        "made": True,
        "reason": reason,
        "source": source,
    }
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def _remove(root: Path, path: str, sha: str) -> bool | None:
    """Remove a file that is as it was made; False when it is another by now, None when it is gone."""
    if not files.exists(root, path):
        return None
    try:
        files.remove(root, path, expected=sha)
    except Conflict:
        return False
    return True


def _sweep(root: Path, paths: Iterable[str]) -> None:
    """Remove the folders that are empty now."""
    for folder in sorted({path.rpartition("/")[0] for path in paths}, key=len, reverse=True):
        files.remove_empty(root, folder)


def _ends_closed(root: Path, folder: str) -> bool:
    """Whether a record's last line closes it: asked before every turn, so the megabytes above it are not read."""
    try:
        with files.locate(root, f"{folder}/record.jsonl").open("rb") as stream:
            stream.seek(-min(len(_CLOSED), stream.seek(0, 2)), 2)
            return stream.read() == _CLOSED
    except OSError:
        return False


def _records(root: Path) -> list[str]:
    place = root / records.EDITS
    names = [p.name for p in place.iterdir() if _RECORD.fullmatch(p.name)] if place.is_dir() else []
    return [f"{records.EDITS}/{name}" for name in sorted(names, key=lambda name: int(name[7:]))]


def _last(root: Path) -> int:
    """The highest number that an import of this machine ever had, taken back or not."""
    place = root / records.EDITS
    names = [p.name for p in place.iterdir()] if place.is_dir() else []
    return max((int(found[1]) for name in names if (found := _RECORD.match(name))), default=0)
