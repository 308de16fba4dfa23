"""Turn records: what was asked, what the models answered, and each write with what it replaced.

`.rolecall/turns/T0042/` holds `record.jsonl`, a JSON object a line, and `calls/`, a request and an event log per
model call. The lines, in order: `begin` (turn, action), `plan` (what the turn will tell and change; everything after it
can be finished without a model), `write` (one before each change of a file; `unwritten` behind one that was refused),
`told`, `closed`. `unwound` ends what stands, `reopened` begins it anew. A write holds the position, the old and the new text of its splice and the SHA-256 of the file before
and after, so that it can be taken back exactly, and finished when a kill tore it. The newest record that is not closed
is what an interrupted command left.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.campaign import files, seeds
from rolecall.campaign.archive import (
    DRAFTS,
    EDITS,
    FOLDS,
    TURNS,
    Stretch,
    aside,
    attempts,
    begun,
    bring_back,
    damaged,
    drafts,
    drop_draft,
    drop_drafts,
    folders,
    keep_draft,
    leave,
    lines,
    newest_open,
    once_undone,
    others,
    plain,
    raw,
    set_aside,
    standing,
    stretches,
    swipes,
    turn_of,
    undone,
    writes,
)
from rolecall.campaign.calllog import Asked, Call, calls, last_call, paid_answers, paid_folds
from rolecall.campaign.journal import turn_id
from rolecall.campaign.splices import splice, unpacked, unsplice
from rolecall.campaign.versions import drop_versions, keep_version, version
from rolecall.errors import Conflict, DocumentError, StorageError

# Everything about records by one name, whichever module of it a thing is made in.
__all__ = [
    "DRAFTS",
    "EDITS",
    "FOLDS",
    "TURNS",
    "Asked",
    "Call",
    "Edit",
    "Record",
    "Stretch",
    "aside",
    "attempts",
    "begin",
    "begun",
    "bring_back",
    "calls",
    "damaged",
    "drafts",
    "drop_draft",
    "drop_drafts",
    "drop_versions",
    "finish_torn",
    "folders",
    "keep_draft",
    "last_call",
    "leave",
    "lines",
    "newest_open",
    "once_undone",
    "others",
    "paid_answers",
    "paid_folds",
    "plain",
    "raw",
    "set_aside",
    "splice",
    "standing",
    "stretches",
    "swipes",
    "turn_of",
    "undone",
    "unpacked",
    "unsplice",
    "version",
    "writes",
]

Edit = Callable[[bytes | None], bytes]
Stamp = tuple[int, int, int]

QUIET = 0.3  # seconds a file that somebody saved during the turn must be left alone before it is read and changed
PATIENCE = 2.0  # seconds to wait for that
VERSIONS = 200  # turns whose file versions are kept for merging


@dataclass(slots=True)
class Record:
    """The record being written; `name` is its folder below `.rolecall/`."""

    root: Path
    folder: str
    calls: int = 0
    written: list[tuple[str, str]] = field(default_factory=list)  # (path, op)
    _began: int = field(default_factory=time.time_ns)
    _left: dict[str, Stamp] = field(default_factory=dict)  # each written file as this record left it
    _left_folders: dict[str, Stamp] = field(default_factory=dict)  # and each folder it made or replaced a file in

    def note(self, kind: str, **what: object) -> None:
        """Add one line, durable with all that were jotted down before it."""
        self._append({"do": kind, **what})

    def jot(self, kind: str, **what: object) -> None:
        """Add one line that need not be durable before the next note is: it outlives the process, not the machine."""
        self._append({"do": kind, **what}, durable=False)

    def _append(self, line: dict, *, durable: bool = True) -> None:
        path = f"{self.folder}/record.jsonl"
        data = json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        if files.exists(self.root, path):
            files.append(self.root, path, data, own_line=True, durable=durable)
        else:
            files.create(self.root, path, data)

    def write(self, path: str, op: str, edit: Edit, **why: object) -> bool:
        """Change one campaign file by a pure edit (None for a file that is not there), recorded first.

        The edit is made on the bytes as they are now, and made again when somebody saves the file in between. True
        when something was written; an edit that changes nothing writes nothing.
        """
        for before in self._readings(path):
            after = self._edited(edit, before, path)
            if after is None:
                continue
            if after == before:
                return False
            kept = keep_version(self.root, self.folder, after)
            self.note("write", path=path, op=op, **splice(before or b"", after), made=before is None, kept=kept, **why)
            alone = self._is_quiet(files.folder_stamp(self.root, path), self._left_folders.get(_folder(path)))
            try:
                renamed = _put(self.root, path, before, after)
            except (Conflict, StorageError) as error:
                with suppress(StorageError):
                    if isinstance(error, Conflict) or not _is_there(self.root, path, after):
                        self.note("unwritten", path=path, op=op)
                if isinstance(error, Conflict):
                    continue
                raise
            self._left[path] = files.stamp(self.root, path)
            if renamed and alone:  # what changed in the folder is our own doing
                self._left_folders[_folder(path)] = files.folder_stamp(self.root, path)
            self.written.append((path, op))
            return True
        raise Conflict("the file keeps changing", path=path, remedy="stop what rewrites it, and run the command again")

    def saved_over(self) -> set[str]:
        """The written files that somebody has saved since: what was written there may have gone with it."""
        return {path for path, stamp in self._left.items() if files.stamp(self.root, path) != stamp}

    def _readings(self, path: str, tries: int = 12) -> Iterator[bytes | None]:
        for number in range(tries):
            if number > 2:
                time.sleep(0.05)
            self._settle(path)
            yield files.read(self.root, path) if files.exists(self.root, path) else None

    def _settle(self, path: str) -> None:
        """Wait while somebody is saving the file: an editor that writes in place shows half of it for a moment, and what
        is added to that half is lost. Nothing is waited for when the file is as it was before the turn, or as we left it.
        A file that is missing is judged by its folder: one that saves by two renames has it gone for a moment.
        """
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            stamp = files.stamp(self.root, path)
            missing = stamp[1] < 0
            if self._is_quiet(stamp, self._left_folders.get(_folder(path)) if missing else self._left.get(path)):
                return
            time.sleep(min(max(QUIET - _age(stamp), 0.01), QUIET))

    def _is_quiet(self, stamp: Stamp, left: Stamp | None) -> bool:
        """Whether nobody else has changed it since the turn began, or not for a while."""
        return stamp[0] <= self._began or stamp == left or _age(stamp) >= QUIET

    def _edited(self, edit: Edit, before: bytes | None, path: str) -> bytes | None:
        """The edit's result; None when the file was just being saved by an editor and should be read again."""
        try:
            return edit(before)
        except DocumentError:
            for pause in (0.05, 0.2):
                time.sleep(pause)
                now = files.read(self.root, path) if files.exists(self.root, path) else None
                if now != before:
                    return None
            raise


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _age(stamp: Stamp) -> float:
    """Seconds since the change that a stamp tells of."""
    return (time.time_ns() - stamp[0]) / 1e9


def _put(root: Path, path: str, before: bytes | None, after: bytes) -> bool:
    """Make, lengthen or replace the file; whether its folder changed with it."""
    if before is None:
        files.create(root, path, after)
    elif after.startswith(before) and not files.is_shared(root, path):
        files.append(root, path, after[len(before) :], size=len(before))
        return False
    else:
        files.replace(root, path, after, expected=files.sha256(before))
    return True


def _is_there(root: Path, path: str, after: bytes) -> bool:
    """Whether a write that failed was made all the same, and only its folder could not be synced behind it."""
    return files.exists(root, path) and files.read(root, path) == after


def finish_torn(root: Path, folder: str) -> None:
    """Put down the rest of the last write of a record, if a kill or a full disk left its first half.

    Only where the file is exactly what the write found, with the beginning of what it added: anything else is left.
    """
    writes = [line for line in lines(root, folder) if line["do"] == "write"]
    if not writes or writes[-1]["old"] or not files.exists(root, writes[-1]["path"]):
        return
    write = writes[-1]
    path, at, new = write["path"], write["at"], unpacked(write["new"])
    data = files.read(root, path)
    torn = data[at:]
    if files.sha256(data[:at]) != write["before"] or torn == new or not new.startswith(torn):
        return
    if torn:
        files.append(root, path, new[len(torn) :], size=len(data))
    elif write["made"]:  # the name was claimed (no hard links here) and nothing put under it
        files.replace(root, path, new, expected=files.sha256(b""))


def begin(root: Path, turn: int, action: str, *, seed: str = "", **what: object) -> Record:
    """A new record of a turn. Records of that turn and later ones tell another course of the story: they are put aside.

    The turn's dice are rolled under `seed`: a new one, unless one is handed on, or the same action was begun before and kept
    as a draft (its paid answers are used again, and they know what was rolled).
    """
    seed = seed or seeds.of_draft(root, turn, action) or seeds.new()
    for folder in reversed(folders(root)):
        if int(folder.rsplit("/T", 1)[-1]) < turn:
            break
        leave(root, folder)
    record = Record(root, f"{TURNS}/{turn_id(turn)}")
    record.note("begin", turn=turn, action=action, at=time.strftime("%Y-%m-%dT%H:%M:%S"), seed=seed, **what)
    drop_versions(root, turn - VERSIONS)
    return record
