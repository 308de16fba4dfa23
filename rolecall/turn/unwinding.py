"""Taking a record's writes out of the files, the last first, whatever was written there since."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rolecall.campaign import chronicles, files, journal, records, story
from rolecall.campaign.documents import append_to_section
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import Record
from rolecall.campaign.reversal import Clash
from rolecall.errors import Conflict, RoleCallError
from rolecall.turn import soundness
from rolecall.turn.taking import Taking, counted_line, gone_before, moved


@dataclass(frozen=True, slots=True)
class Undone:
    """A turn taken back: its action, the files that changed, and where the writer's lines were kept."""

    turn: int
    action: str
    paths: tuple[str, ...]
    clashes: tuple[tuple[str, Clash], ...]
    notes: tuple[str, ...] = ()


def unwind(campaign: Campaign, folder: str, *, for_good: bool = False) -> Undone:
    """Take every write of a record that stands out of the files. Interrupted, it goes on where it was.

    `for_good`: and what it hindered, of turns before it that were taken back since.
    """
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
            found = _revert(campaign, record, taking, write, _key(write, number))
            clashes += [(write["path"], clash) for clash in found]
    if for_good:
        _take_out_hindered(campaign, record, noted)
    record.note("unwound")
    paths = tuple(dict.fromkeys(write["path"] for write in taking.writes))
    return Undone(records.turn_of(folder), soundness.begun(root, folder)[0], paths, tuple(clashes), tuple(notes))


def _take_out_hindered(campaign: Campaign, record: Record, noted: list[dict]) -> None:
    """Take out what could not be while this record's words stood, in the order it was tried. What clashes still was told then."""
    root, folder = campaign.root, record.folder
    standing = {records.turn_of(one) for one in records.folders(root)}
    owed = {f"owed:{one['write']['after']}": one for one in records.lines(root, folder) if one["do"] == "owed"}
    for key, one in owed.items():
        write, every = one["write"], records.aside(root, one["of"])
        its = next((f for f in every if any(row == write for row in records.lines(root, f))), None)
        if its and one["of"] not in standing and not _is_out(root, noted, key):
            _revert(campaign, record, Taking(root, its, without=folder), write, key)


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


def _read(root: Path, path: str) -> bytes | None:
    return files.read(root, path) if files.exists(root, path) else None


def _revert(campaign: Campaign, record: Record, taking: Taking, write: dict, key: str) -> tuple[Clash, ...]:
    root, seen = campaign.root, set(taking.done)
    for _ in range(12):
        taking.done = set(seen)
        there = _where(campaign, write)
        path = there["path"]
        current = _read(root, path)
        result, counted, hinders = taking.out_of(current, there)
        for one in counted:
            gone = sorted({records.turn_of(taking.folder), *gone_before(root, one)})
            line = counted_line(one.place, one.share)
            Record(root, one.folder).note("counted", **line, stretch=one.stretch, without=gone)
        if hinders:
            Record(root, hinders).note("owed", write=write, of=records.turn_of(taking.folder))
        if result.data == current:
            return result.clashes
        sha = files.sha256(result.data) if result.data is not None else ""
        record.note("reverted", write=key, path=path, result=sha)
        try:
            if result.data is None:
                files.remove(root, path, expected=files.sha256(current))
            else:
                files.replace(root, path, result.data, expected=files.sha256(current))
            return result.clashes
        except Conflict:
            continue  # an editor saved in between
    raise Conflict("the file keeps changing", path=path, remedy="stop what rewrites it, and run the command again")


def _where(campaign: Campaign, write: dict) -> dict:
    """The write with the path its file has by now: a chapter or an entry may bear another name."""
    root, path = campaign.root, write["path"]
    if files.exists(root, path):
        return write
    if write["op"] == "section" and (chapter := _chapter_of(campaign, write["turn"])):
        return {**write, "path": chapter, "made": False}
    return {**write, "path": moved(root, path)}


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


def _key(write: dict, number: int) -> str:
    return f"{number}:{write['after'][:16]}"


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
