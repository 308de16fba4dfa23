"""Taking turns back: undo, swipe, and switching between swipes. All from the records on disk, no model needed.

A rollback takes a turn's own writes out of the files, the last first, and leaves what the writer changed since
(`turn/unwinding.py`). It is written down before it begins (`.rolecall/rollback.json`), so that a crash in the middle is finished by
the next command. A fold is a record of its own: nothing here takes it back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rolecall.campaign import files, recordlines, records, seeds
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.reversal import Clash
from rolecall.errors import Conflict, StorageError, TurnError
from rolecall.turn import soundness
from rolecall.turn.rewinding import rewind
from rolecall.turn.unfinished import ROLLBACK as MARK
from rolecall.turn.unwinding import Undone, is_half_out, rehearse, unwind


def undo(campaign: Campaign, turn: int) -> Undone:
    """Take back one turn; later ones stay. TurnError when this machine has no record of it, or a damaged one."""
    folder = _record_of(campaign, turn)
    soundness.refuse_damage(campaign, folder)
    rehearse(campaign, folder)
    _mark(campaign.root, {"kind": "undo", "turn": turn})
    done = unwind(campaign, folder, for_good=True)
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
        if not found:
            remedy = "take turns back with git, or by hand in the files"
            raise TurnError("this machine has no record of a turn", remedy=remedy)
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
    action, current = soundness.begun(campaign.root, folder)
    soundness.refuse_damage(campaign, folder, again=True)
    _refuse(rehearse(campaign, folder), turn, current)
    _mark(campaign.root, {"kind": "swipe", "turn": turn, "from": current})
    _unwind_whole(campaign, folder, current)
    _put_away(campaign.root, turn, current)
    return turn, action, max(records.swipes(campaign.root, turn)) + 1


def end_swipe(campaign: Campaign) -> None:
    """The new answer is told: the rollback it began with is over."""
    files.remove(campaign.root, MARK)


def switch(campaign: Campaign, wanted: int) -> tuple[int, list[str]]:
    """Put another answer that was had already in the place of the current one: (the turn, what was left out, in words)."""
    faults: list[str] = []
    turn = last_turns(campaign, 1)[0]
    had = records.swipes(campaign.root, turn)
    if wanted not in had:
        raise TurnError(f"{turn_id(turn)} has {len(had)} swipes", remedy=f"choose one of {', '.join(map(str, had))}")
    folder = _record_of(campaign, turn)
    current = soundness.begun(campaign.root, folder)[1]
    if wanted != current:
        for one in (folder, had[wanted]):
            soundness.refuse_damage(campaign, one, again=True)
        _refuse(rehearse(campaign, folder), turn, current)
        _mark(campaign.root, {"kind": "switch", "turn": turn, "from": current, "to": wanted})
        _unwind_whole(campaign, folder, current)
        _put_away(campaign.root, turn, current)
        faults = _bring_back(campaign, turn, wanted)
        files.remove(campaign.root, MARK)
    return turn, faults


def _unwind_whole(campaign: Campaign, folder: str, current: int) -> None:
    """Take an answer out; where the writer saved something over it just now, it stands again and nothing else is told."""
    if clashes := unwind(campaign, folder).clashes:
        turn = records.turn_of(folder)
        rewind(campaign, turn, restoring=True)
        files.remove(campaign.root, MARK)
        _refuse(clashes, turn, current)


def _refuse(clashes: Sequence[tuple[str, Clash]], turn: int, current: int) -> None:
    """A swipe puts other prose where the old stood. Where the writer has rewritten that, it stays, and nothing is changed."""
    for path, clash in clashes:
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
            unwind(campaign, folder, for_good=True)
        _finish_undo(campaign, turn)
        return f"{name} was being taken back; it is"
    had = records.swipes(campaign.root, turn)
    for one in had.values():
        records.drop_draft(campaign.root, soundness.begun(campaign.root, one)[0])  # no draft: an answer to it stands
    # Its folder was made, and the disk took no line of it.
    bare = mark["from"] in had and records.begun(campaign.root, folder) is None
    other = files.exists(campaign.root, folder) and (bare or soundness.begun(campaign.root, folder)[1] != mark["from"])
    if other and not any(line["do"] == "plan" for line in records.lines(campaign.root, folder)):
        records.set_aside(campaign.root, folder, "draft")  # begun, not told, and the disk would not have that noted
        other = False
    if other:
        if _is_out(campaign.root, folder):  # it has the turn's name, and not a word of it is written yet
            rewind(campaign, turn)
        files.remove(campaign.root, MARK)  # the other answer stands already
        return f"the swipe of {name} was told before the interruption"
    if files.exists(campaign.root, folder):
        if half := is_half_out(campaign.root, folder):
            unwind(campaign, folder)
        if half or _is_out(campaign.root, folder):
            rewind(campaign, turn, restoring=True)
    elif mark["from"] in had:
        _bring_back(campaign, turn, mark["from"], restoring=True)
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


def _finish_undo(campaign: Campaign, turn: int) -> None:
    """Every swipe of an undone turn is put aside under another name, and its number is free again."""
    for folder in records.swipes(campaign.root, turn).values():
        records.set_aside(campaign.root, folder, "undone")
    files.remove(campaign.root, MARK)


def _is_out(root: Path, folder: str) -> bool:
    """Whether all writes of a record were taken out, and none of them is there again."""
    done = [line["do"] for line in records.lines(root, folder) if line["do"] in ("unwound", "reopened")]
    return done[-1:] == ["unwound"]


def _put_away(root: Path, turn: int, swipe: int) -> None:
    files.move(root, f"{records.TURNS}/{turn_id(turn)}", f"{records.TURNS}/{turn_id(turn)}.swipe-{swipe}")


def _bring_back(campaign: Campaign, turn: int, swipe: int, *, restoring: bool = False) -> list[str]:
    folder = f"{records.TURNS}/{turn_id(turn)}"
    files.move(campaign.root, f"{folder}.swipe-{swipe}", folder)
    return rewind(campaign, turn, restoring=restoring)
