"""Taking turns back: undo, swipe, and switching between swipes. All from the records on disk, no model needed.

A rollback takes a turn's own writes out of the files, the last first, and leaves what the writer changed since
(`campaign/reversal.py`). It is written down before it begins (`.rolecall/rollback.json`), so that a crash in the middle is finished by
the next command. A fold is a record of its own: nothing here takes it back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rolecall.campaign import chronicles, files, journal, recordlines, records, seeds, story
from rolecall.campaign.documents import append_to_section
from rolecall.campaign.effects import decode
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import Record
from rolecall.campaign.reversal import Clash, taken_back
from rolecall.errors import Conflict, RoleCallError, StorageError, TurnError
from rolecall.turn import renamed, soundness, telling
from rolecall.turn.unfinished import ROLLBACK as MARK

_OVERWRITTEN = (
    "field",
    "kept",
    "facts",
    "value",
    "item",
    "row",
)  # what a later turn puts in the place of an earlier one's


@dataclass(frozen=True, slots=True)
class Undone:
    """A turn taken back: its action, the files that changed, and where the writer's lines were kept."""

    turn: int
    action: str
    paths: tuple[str, ...]
    clashes: tuple[tuple[str, Clash], ...]
    notes: tuple[str, ...] = ()


def undo(campaign: Campaign, turn: int) -> Undone:
    """Take back one turn; later ones stay. TurnError when this machine has no record of it, or a damaged one."""
    folder = _record_of(campaign, turn)
    soundness.refuse_damage(campaign, folder)
    soundness.rehearse(campaign, folder)
    _mark(campaign.root, {"kind": "undo", "turn": turn})
    done = _unwind(campaign, folder)
    _finish_undo(campaign, turn)
    return done


def last_turns(campaign: Campaign, count: int) -> list[int]:
    """The numbers of the last `count` turns told here, the last first.

    TurnError when there are fewer records, when a turn between or after them has none, or when one is damaged.
    """
    found = [records.turn_of(folder) for folder in records.folders(campaign.root)]
    if len(found) < count:
        told = max(soundness.standing(campaign), default=0)
        soundness.refuse_ingested(campaign, told - len(found))
        if not told:
            raise TurnError("no turn has been told yet")
        have = f"{len(found)} turn{'s' if len(found) != 1 else ''}"
        raise TurnError(f"this machine has a record of {have}", remedy="take back fewer, or use git")
    last = found[-count:][::-1]
    soundness.refuse_gaps(campaign, last)
    for turn in last:
        soundness.refuse_damage(campaign, _record_of(campaign, turn))
    return last


def seed_of_last(campaign: Campaign) -> str:
    """What the dice of the last turn were rolled under."""
    return seeds.of(campaign.root, _record_of(campaign, last_turns(campaign, 1)[0]))


def begin_swipe(campaign: Campaign) -> tuple[int, str, int]:
    """Take the last turn's own changes back so that it can be told again: (turn, its action, the new swipe's number)."""
    turn = last_turns(campaign, 1)[0]
    folder = _record_of(campaign, turn)
    action, current = _begun(campaign.root, folder)
    soundness.refuse_damage(campaign, folder, again=True)
    soundness.rehearse(campaign, folder)
    _mark(campaign.root, {"kind": "swipe", "turn": turn, "from": current})
    _refuse_clashes(campaign, turn, current, _unwind(campaign, folder))
    _put_away(campaign.root, turn, current)
    return turn, action, max(records.swipes(campaign.root, turn)) + 1


def end_swipe(campaign: Campaign) -> None:
    """The new answer is told: the rollback it began with is over."""
    files.remove(campaign.root, MARK)


def switch(campaign: Campaign, wanted: int) -> int:
    """Put another answer that was had already in the place of the current one; the turn's number."""
    turn = last_turns(campaign, 1)[0]
    had = records.swipes(campaign.root, turn)
    if wanted not in had:
        raise TurnError(f"{turn_id(turn)} has {len(had)} swipes", remedy=f"choose one of {', '.join(map(str, had))}")
    folder = _record_of(campaign, turn)
    current = _begun(campaign.root, folder)[1]
    if wanted != current:
        for one in (folder, had[wanted]):
            soundness.refuse_damage(campaign, one, again=True)
        soundness.rehearse(campaign, folder)
        _mark(campaign.root, {"kind": "switch", "turn": turn, "from": current, "to": wanted})
        _refuse_clashes(campaign, turn, current, _unwind(campaign, folder))
        _put_away(campaign.root, turn, current)
        _bring_back(campaign, turn, wanted)
        files.remove(campaign.root, MARK)
    return turn


def _refuse_clashes(campaign: Campaign, turn: int, current: int, done: Undone) -> None:
    """A swipe puts other prose where the old stood. Where the writer has rewritten that, it stays, and nothing else is told."""
    mine = [(path, clash) for path, clash in done.clashes]
    if not mine:
        return
    _rewind(campaign, turn)
    files.remove(campaign.root, MARK)
    path, clash = mine[0]
    raise Conflict(
        f"you changed what swipe {current} of {turn_id(turn)} wrote",
        path=path,
        line=clash.line,
        remedy="your words stay; tell the next turn instead, or take your change out first",
    )


def pending(root: Path) -> dict | None:
    """What a rollback that was interrupted was to do; empty when that cannot be read."""
    if not files.exists(root, MARK):
        return None
    mark = recordlines.json_object(records.plain(root, MARK) or b"") or {}
    wanted = {"undo": ("turn",), "swipe": ("turn", "from"), "switch": ("turn", "from", "to")}.get(str(mark.get("kind")))
    is_sound = wanted and all(type(mark.get(key)) is int and 0 <= mark[key] < 10**9 for key in wanted)
    return mark if is_sound else {}


def recover(campaign: Campaign) -> str:
    """Finish a rollback that was interrupted; what was done, in words. Runs after an open turn was dealt with."""
    mark = pending(campaign.root)
    if not mark:
        try:
            files.remove(campaign.root, MARK)
        except StorageError:  # no file at all
            records.set_aside(campaign.root, MARK, "damaged")
        return f"The note of an interrupted rollback ({MARK}) cannot be read and is dropped"
    try:
        return _recover(campaign, mark, mark["turn"], turn_id(mark["turn"]))
    except TurnError as error:  # a damaged record: nothing more can be done from it, and nobody is held up by it
        files.remove(campaign.root, MARK)
        return f"An interrupted rollback cannot be finished and is dropped: {error}"


def _recover(campaign: Campaign, mark: dict, turn: int, name: str) -> str:
    folder = f"{records.TURNS}/{name}"
    if mark["kind"] == "undo":
        if files.exists(campaign.root, folder):
            soundness.refuse_damage(campaign, folder)
            _unwind(campaign, folder)
        _finish_undo(campaign, turn)
        return f"{name} was being taken back; it is"
    records.drop_drafts(campaign.root)  # the action is no draft: an answer to it stands
    had = records.swipes(campaign.root, turn)
    if files.exists(campaign.root, folder) and _begun(campaign.root, folder)[1] != mark["from"]:
        done = [line["do"] for line in records.lines(campaign.root, folder) if line["do"] in ("unwound", "reopened")]
        if done and done[-1] == "unwound":  # it has the turn's name, and not a word of it is written yet
            _rewind(campaign, turn)
        files.remove(campaign.root, MARK)  # the other answer stands already
        return f"the swipe of {name} was told before the interruption"
    if files.exists(campaign.root, folder):
        _rewind(campaign, turn)
    elif mark["from"] in had:
        _bring_back(campaign, turn, mark["from"])
    files.remove(campaign.root, MARK)
    return f"a swipe of {name} was interrupted; the answer before it stands again"


# -- steps, each of which may be made twice -----------------------------------------------------------------------------


def _mark(root: Path, what: dict) -> None:
    files.rewrite(root, MARK, json.dumps(what).encode())


def _record_of(campaign: Campaign, turn: int) -> str:
    folder = f"{records.TURNS}/{turn_id(turn)}"
    if not files.exists(campaign.root, folder):
        soundness.refuse_ingested(campaign, turn)
        raise soundness.no_record(turn)
    return folder


def _begun(root: Path, folder: str) -> tuple[str, int]:
    begun = records.begun(root, folder)
    if begun is None:
        raise soundness.damage(folder)
    return begun["action"], begun.get("swipe", 1)


def _unwind(campaign: Campaign, folder: str) -> Undone:
    """Take every write of a record that stands out of the files, the last first."""
    root = campaign.root
    record = Record(root, folder)
    done = {line["write"]: line for line in records.lines(root, folder) if line["do"] == "reverted"}
    writes = records.writes(root, folder)
    clashes: list[tuple[str, Clash]] = []
    notes: list[str] = []
    for number in range(len(writes) - 1, -1, -1):
        write = writes[number]
        past = done.get(_key(write, number))
        if past is not None and _sha_now(root, write["path"]) == past["result"]:
            continue
        if write["op"] in ("journal", "remark") and _is_folded(campaign, write):
            if write["op"] == "journal":
                notes.append(_note_folded(campaign, write["turn"]))
            continue
        found = _revert(campaign, record, folder, write, number)
        if not (found and write["op"] in _OVERWRITTEN and _written_later(root, folder, write)):
            clashes += [(write["path"], clash) for clash in found]
    turn = records.turn_of(folder)
    record.note("unwound")
    paths = tuple(dict.fromkeys(write["path"] for write in writes))
    return Undone(turn, _begun(root, folder)[0], paths, tuple(clashes), tuple(notes))


def _written_later(root: Path, folder: str, write: dict) -> bool:
    """Whether a later turn wrote over the same place: its value stays, and that is no clash with the writer."""
    later = [f for f in records.folders(root) if records.turn_of(f) > records.turn_of(folder)]
    return any(w["path"] == write["path"] and w["op"] == write["op"] for f in later for w in records.writes(root, f))


def _lines_later(root: Path, folder: str, path: str) -> set[bytes]:
    """The lines that later turns left where they changed a file."""
    later = [f for f in records.folders(root) if records.turn_of(f) > records.turn_of(folder)]
    found: set[bytes] = set()
    for one in later:
        for write in records.writes(root, one):
            after = records.version(root, one, write) if write["path"] == path else None
            if after is not None:
                begin = after.rfind(b"\n", 0, write["at"]) + 1
                end = after.find(b"\n", write["at"] + len(records.unpacked(write["new"])))
                found.update(line.rstrip(b"\r") for line in after[begin : end if end >= 0 else None].split(b"\n"))
    return found


def _key(write: dict, number: int) -> str:
    return f"{number}:{write['after'][:16]}"


def _sha_now(root: Path, path: str) -> str:
    return files.sha256(files.read(root, path)) if files.exists(root, path) else ""


def _revert(campaign: Campaign, record: Record, folder: str, write: dict, number: int) -> tuple[Clash, ...]:
    root, path = campaign.root, write["path"]
    for _ in range(12):
        if (
            not files.exists(root, path)
            and write["op"] == "section"
            and (moved := _chapter_of(campaign, write["turn"]))
        ):
            path = moved  # the chapter bears another name by now
            write = {**write, "path": path, "made": False}
        elif not files.exists(root, path) and (moved := renamed.moved(root, path)) != path:
            path, write = moved, {**write, "path": moved}  # the entry bears another name by now
        current = files.read(root, path) if files.exists(root, path) else None
        later = partial(_lines_later, root, folder, path)
        result = taken_back(current, write, records.version(root, folder, write), later)
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


def _finish_undo(campaign: Campaign, turn: int) -> None:
    """Every swipe of an undone turn is put aside under another name, and its number is free again."""
    for folder in records.swipes(campaign.root, turn).values():
        records.set_aside(campaign.root, folder, "undone")
    files.remove(campaign.root, MARK)


def _put_away(root: Path, turn: int, swipe: int) -> None:
    files.move(root, f"{records.TURNS}/{turn_id(turn)}", f"{records.TURNS}/{turn_id(turn)}.swipe-{swipe}")


def _bring_back(campaign: Campaign, turn: int, swipe: int) -> None:
    folder = f"{records.TURNS}/{turn_id(turn)}"
    files.move(campaign.root, f"{folder}.swipe-{swipe}", folder)
    _rewind(campaign, turn)


def _rewind(campaign: Campaign, turn: int) -> None:
    """Write a record's effects again after they were taken out."""
    folder = f"{records.TURNS}/{turn_id(turn)}"
    record = Record(campaign.root, folder)
    record.note("reopened")
    for line in records.lines(campaign.root, folder):
        if line["do"] == "plan":
            telling.apply(campaign, record, [decode(e) for e in line["effects"]])
    record.note("told", again=True)
    record.note("closed", again=True)
