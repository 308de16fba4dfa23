"""Turn records: what was asked, what the models answered, and each write with what it replaced.

`.rolecall/turns/T0042/` holds `record.jsonl`, a JSON object a line, and `calls/`, a request and an event log per
model call. The lines, in order: `begin` (turn, action), `plan` (what the turn will tell and change; everything after it
can be finished without a model), `write` (one before each change of a file; `unwritten` behind one that was refused),
`told`, `closed`. A write holds the position, the old and the new text of its splice and the SHA-256 of the file before
and after, so that it can be taken back exactly, and finished when a kill tore it. The newest record that is not closed
is what an interrupted command left.
"""

from __future__ import annotations

import base64
import json
import re
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.campaign import files
from rolecall.campaign.folder import MACHINE_FOLDER
from rolecall.campaign.journal import turn_id
from rolecall.errors import Conflict, DocumentError, StorageError

TURNS = f"{MACHINE_FOLDER}/turns"
FOLDS = f"{MACHINE_FOLDER}/folds"
EDITS = f"{MACHINE_FOLDER}/edits"
DRAFTS = f"{MACHINE_FOLDER}/drafts"

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

    def note(self, kind: str, **what: object) -> None:
        """Add one durable line."""
        self._append({"do": kind, **what})

    def _append(self, line: dict) -> None:
        path = f"{self.folder}/record.jsonl"
        data = json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        if files.exists(self.root, path):
            files.append(self.root, path, data, own_line=True)
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
            kept = _keep_version(self.root, self.folder, after)
            self.note("write", path=path, op=op, **splice(before or b"", after), made=before is None, kept=kept, **why)
            try:
                _put(self.root, path, before, after)
            except (Conflict, StorageError) as error:
                with suppress(StorageError):
                    self.note("unwritten", path=path, op=op)
                if isinstance(error, Conflict):
                    continue
                raise
            self._left[path] = files.stamp(self.root, path)
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
        """
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            stamp = files.stamp(self.root, path)
            age = (time.time_ns() - stamp[0]) / 1e9
            if stamp[0] <= self._began or stamp == self._left.get(path) or age >= QUIET:
                return
            time.sleep(min(max(QUIET - age, 0.01), QUIET))

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


def _put(root: Path, path: str, before: bytes | None, after: bytes) -> None:
    if before is None:
        files.create(root, path, after)
    elif after.startswith(before) and not files.is_shared(root, path):
        files.append(root, path, after[len(before) :], size=len(before))
    else:
        files.replace(root, path, after, expected=files.sha256(before))


def _keep_version(root: Path, folder: str, after: bytes) -> str:
    """Keep the file as a write leaves it, packed, beside the record: the base of a later merge. Its name, or nothing.

    It is not synced to the disk: a version that went with the machine only makes a merge a little more careful.
    """
    place = root / folder / "after"
    name = f"{len(list(place.iterdir())) + 1 if place.is_dir() else 1:03d}.z"
    try:
        files.rewrite(root, f"{folder}/after/{name}", zlib.compress(after, 6), durable=False)
    except StorageError as error:
        if not files.is_of_one_file(error):
            raise
        return ""
    return name


def version(root: Path, folder: str, write: dict) -> bytes | None:
    """The file as a recorded write left it, where that is still kept and whole."""
    path = f"{folder}/after/{write.get('kept', '')}"
    if not write.get("kept") or not files.exists(root, path):
        return None
    try:
        data = zlib.decompress(files.read(root, path))
    except (zlib.error, StorageError):
        return None
    return data if files.sha256(data) == write["after"] else None


def drop_versions(root: Path, turn: int) -> None:
    """Forget the kept versions of one old turn: it can still be taken back, only without a merge by line."""
    place = root / TURNS / turn_id(turn) / "after"
    for name in [p.name for p in place.iterdir()] if place.is_dir() else []:
        files.forget(root, f"{TURNS}/{turn_id(turn)}/after/{name}")


def splice(before: bytes, after: bytes) -> dict[str, object]:
    """The one span that differs: `at` (byte), `old`, `new` (text, or `base64:...`), and both files' SHA-256."""
    at = _common(before, after)
    while at and at < max(len(before), len(after)) and _inside_character(before, after, at):
        at -= 1
    tail = _common(before[at:][::-1], after[at:][::-1])
    while tail and (_continues(before, len(before) - tail) or _continues(after, len(after) - tail)):
        tail -= 1
    old, new = before[at : len(before) - tail], after[at : len(after) - tail]
    return {
        "at": at,
        "old": _packed(old),
        "new": _packed(new),
        "before": files.sha256(before),
        "after": files.sha256(after),
    }


def unsplice(after: bytes, write: dict) -> bytes:
    """The very bytes a recorded write replaced; Conflict when the file is not what the write left."""
    if files.sha256(after) != write["after"]:
        raise Conflict("the file changed since this write", path=write["path"], remedy="merge by hand")
    old, new = unpacked(write["old"]), unpacked(write["new"])
    return after[: write["at"]] + old + after[write["at"] + len(new) :]


def _common(one: bytes, other: bytes) -> int:
    """The length of the common beginning, by halving (comparing slices is fast, comparing bytes is not)."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _continues(data: bytes, at: int) -> bool:
    return 0 <= at < len(data) and data[at] & 0xC0 == 0x80


def _inside_character(before: bytes, after: bytes, at: int) -> bool:
    return _continues(before, at) or _continues(after, at)


def _packed(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(data).decode()
    return text if not text.startswith("base64:") else "base64:" + base64.b64encode(data).decode()


def unpacked(text: str) -> bytes:
    """The bytes of a write's `old` or `new`."""
    return base64.b64decode(text[7:]) if text.startswith("base64:") else text.encode()


class CallLog:
    """The log of one model call, written as its events arrive: what was paid for is in a file before it has any effect."""

    def __init__(self, root: Path, path: str) -> None:
        self._log = files.Log(root, path)

    def add(self, event: dict) -> None:
        """Note one event. The last one (`stopped`) is durable: from then on the answer is never asked for again."""
        self._log.write(json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        if event.get("type") == "stopped":
            self._log.sync()

    def close(self) -> None:
        """No more events."""
        self._log.close()


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


def begin(root: Path, turn: int, action: str, **what: object) -> Record:
    """A new record of a turn. Records of that turn and later ones tell another course of the story: they are put aside."""
    for folder in reversed(folders(root)):
        if int(folder.rsplit("/T", 1)[-1]) < turn:
            break
        set_aside(root, folder, "other")
    record = Record(root, f"{TURNS}/{turn_id(turn)}")
    record.note("begin", turn=turn, action=action, at=time.strftime("%Y-%m-%dT%H:%M:%S"), **what)
    drop_versions(root, turn - VERSIONS)
    return record


def open_call(record: Record, layer: str, digest: str, request: dict) -> CallLog:
    """Save a request and open the log for its answer."""
    record.calls += 1
    stem = f"{record.folder}/calls/{record.calls:03d}-{layer}"
    body = json.dumps({"layer": layer, "digest": digest, "request": request}, ensure_ascii=False)
    files.create(record.root, f"{stem}.json", body.encode("utf-8", "surrogatepass"))
    return CallLog(record.root, f"{stem}.jsonl")


@dataclass(frozen=True, slots=True)
class Call:
    """A model call as recorded; `complete` when its last event is the model's own stop."""

    layer: str
    digest: str
    request: dict
    events: tuple[dict, ...]
    complete: bool


def lines(root: Path, folder: str) -> list[dict]:
    """The lines of a record; a torn last line is no line."""
    path = f"{folder}/record.jsonl"
    return _json_lines(files.read(root, path)) if files.exists(root, path) else []


def writes(root: Path, folder: str) -> list[dict]:
    """The `write` lines of a record that stand, in order: without those that were refused, or taken back by a swipe."""
    found: list[dict] = []
    for line in lines(root, folder):
        if line["do"] == "write":
            found.append(line)
        elif line["do"] == "unwritten" and found:
            found.pop()
        elif line["do"] == "unwound":
            found.clear()
    return found


def trails(root: Path, folder: str) -> dict[str, int]:
    """How many lines each arc's trail had when a record left it (or when a later undo took one out)."""
    found = {w["path"]: w.get("trail", 0) for w in writes(root, folder) if w["op"] == "arc"}
    noted = {line["path"]: line["trail"] for line in lines(root, folder) if line["do"] == "trail"}
    return {path: noted.get(path, length) for path, length in found.items()}


def _json_lines(data: bytes) -> list[dict]:
    found = []
    for raw in data.split(b"\n"):
        try:
            line = json.loads(raw.decode("utf-8", "surrogatepass")) if raw else None
        except ValueError:
            continue
        if isinstance(line, dict):
            found.append(line)
    return found


def calls(root: Path, folder: str) -> tuple[Call, ...]:
    """The model calls of a record in order."""
    place = root / folder / "calls"
    if not place.is_dir():
        return ()
    found = []
    for name in sorted(p.name for p in place.iterdir() if p.name.endswith(".json")):
        head = _json_lines(files.read(root, f"{folder}/calls/{name}"))
        log = f"{folder}/calls/{name}l"
        events = _json_lines(files.read(root, log)) if files.exists(root, log) else []
        if head:
            complete = bool(events) and events[-1].get("type") == "stopped" and events[-1].get("reason") != "cut"
            found.append(Call(head[0]["layer"], head[0]["digest"], head[0]["request"], tuple(events), complete))
    return tuple(found)


def folders(root: Path) -> list[str]:
    """Every record of a turn that counts, oldest first: undone and taken-back ones have other names."""
    place = root / TURNS
    if not place.is_dir():
        return []
    names = [p.name for p in place.iterdir() if re.fullmatch(r"T\d{4,}", p.name)]
    return [f"{TURNS}/{name}" for name in sorted(names, key=lambda name: int(name[1:]))]


def newest_open(root: Path) -> str | None:
    """The folder of the newest record when it is not closed: what an interrupted command left."""
    found = folders(root)
    if not found:
        return None
    ends = [line["do"] for line in lines(root, found[-1]) if line["do"] in ("closed", "reopened")]
    return None if ends and ends[-1] == "closed" else found[-1]


def undone(root: Path) -> set[int]:
    """The turns that were taken back for good while later ones stayed: their numbers may be missing."""
    place = root / TURNS
    names = [p.name for p in place.iterdir()] if place.is_dir() else []
    return {int(name[1 : name.index(".")]) for name in names if re.fullmatch(r"T\d{4,}\.undone-\d+", name)}


def others(root: Path) -> list[str]:
    """The records that are no turn's: folds, and edits on demand such as an accepted proposal."""
    found = []
    for place in (FOLDS, EDITS):
        if (root / place).is_dir():
            found += [f"{place}/{name}" for name in sorted(p.name for p in (root / place).iterdir())]
    return found


def turn_of(folder: str) -> int:
    """42 for `.rolecall/turns/T0042` and for `.rolecall/turns/T0042.swipe-1`."""
    return int(re.search(r"/T(\d+)", folder)[1])


def swipes(root: Path, turn: int) -> dict[int, str]:
    """The records of every answer to a turn by its number, counted from 1; the current one is `T0042` itself."""
    place = root / TURNS
    name = re.compile(rf"{turn_id(turn)}(?:\.swipe-\d+)?")
    names = [p.name for p in place.iterdir() if name.fullmatch(p.name)] if place.is_dir() else []
    found = {}
    for one in names:
        begun = next((line for line in lines(root, f"{TURNS}/{one}") if line["do"] == "begin"), None)
        if begun:
            found[begun.get("swipe", 1)] = f"{TURNS}/{one}"
    return dict(sorted(found.items()))


def set_aside(root: Path, folder: str, why: str) -> str:
    """Give a record another name (`T0043.draft-1`), so that its number is free again; the new folder."""
    number = 1
    while files.exists(root, f"{folder}.{why}-{number}"):
        number += 1
    files.move(root, folder, f"{folder}.{why}-{number}")
    return f"{folder}.{why}-{number}"


def paid_answers(root: Path, turn: int) -> dict[str, Call]:
    """Complete answers of attempts at this turn that were taken back, by the digest of their request."""
    place, found = root / TURNS, {}
    if place.is_dir():
        for name in sorted(p.name for p in place.iterdir() if p.name.startswith(f"{turn_id(turn)}.draft-")):
            found.update((call.digest, call) for call in calls(root, f"{TURNS}/{name}") if call.complete)
    return found


def attempts(root: Path, number: int) -> list[str]:
    """The records of every attempt at a fold, oldest first."""
    place = root / FOLDS
    names = [p.name for p in place.iterdir()] if place.is_dir() else []
    mine = [name for name in names if re.fullmatch(rf"{number:04d}(-\d+)?", name)]
    return [f"{FOLDS}/{name}" for name in sorted(mine, key=lambda name: int(name.partition("-")[2] or 1))]


def paid_folds(root: Path, number: int) -> dict[str, Call]:
    """Complete answers of earlier attempts at this fold, by the digest of their request."""
    return {c.digest: c for folder in attempts(root, number) for c in calls(root, folder) if c.complete}


def keep_draft(root: Path, turn: int, action: str) -> str:
    """Keep an action that could not be told; its path."""
    path = f"{DRAFTS}/{turn_id(turn)}.md"
    files.rewrite(root, path, action.encode("utf-8", "replace") + b"\n")
    return path


def draft(root: Path) -> tuple[str, str] | None:
    """(path, action) of the newest draft, if there is one."""
    place = root / DRAFTS
    names = sorted(p.name for p in place.iterdir() if p.name.endswith(".md")) if place.is_dir() else []
    if not names:
        return None
    path = f"{DRAFTS}/{names[-1]}"
    try:
        return path, files.read(root, path).decode("utf-8", "replace").strip()
    except StorageError:
        return None


def drop_drafts(root: Path) -> None:
    """Forget the drafts: a turn was told after them."""
    place = root / DRAFTS
    for name in [p.name for p in place.iterdir()] if place.is_dir() else []:
        files.remove(root, f"{DRAFTS}/{name}")
