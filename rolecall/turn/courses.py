"""The records follow the story: whatever git switched, reset or merged, swipe and undo know the turns that stand now.

A record belongs to a turn when the story or the Journal still tells what the record told. One of another course of the
story is put aside (`T0042.other-1`), and one that was put aside comes back when its turn stands again: so every timeline has
its own memory, however one came to it. Nothing is guessed: only what was told word for word brings a record back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rolecall.campaign import chronicles, files, journal, records, story
from rolecall.campaign.effects import Effect, decode
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import Record
from rolecall.errors import DocumentError, StorageError
from rolecall.turn import soundness

LOOK_BACK = 200  # turns from the story's end within which records are looked at


@dataclass(frozen=True, slots=True)
class Standing:
    """A turn as the files tell it now; empty where they do not."""

    action: str = ""
    prose: str = ""
    line: str = ""


def is_other(campaign: Campaign) -> bool:
    """Whether the records are of another course than the story; cheap enough for every command."""
    if not _is_hinted(campaign):
        return False
    try:
        standing, folded = _standing(campaign)
    except (DocumentError, StorageError):
        return False
    if records.newest_open(campaign.root):
        return True  # the recovery's anyhow
    mine = {records.turn_of(folder): folder for folder in records.folders(campaign.root)}
    return any(any(_places(campaign, turn, mine, standing, folded)) for turn in _newest(mine, standing))


def _is_hinted(campaign: Campaign) -> bool:
    """Whether the newest record may not be of the story's last turn, or another turn's lies aside: the writer's own hand looks so, too."""
    try:
        found = records.folders(campaign.root)
        lines = journal.lines_of(campaign.document(STATE_FILE))
    except (DocumentError, StorageError):
        return False
    last = max(lines, key=lambda line: line.turn, default=None)
    if not found:
        return last is not None and bool(records.aside(campaign.root, last.turn))
    if last is None or last.turn != records.turn_of(found[-1]):
        return True
    there, mine = {line.turn for line in lines}, {records.turn_of(folder) for folder in found}
    if any(turn >= lines[0].turn for turn in mine - there):
        return True
    if any(records.aside(campaign.root, turn) for turn in there - mine):
        return True
    told = next((e for e in _told(campaign, found[-1]) if e.op == "journal"), None)
    return told is None or _plain(told.text) != _plain(last.text)


def follow(campaign: Campaign) -> list[int]:
    """Put aside the records of another course of the story and bring back those of this one; the turns concerned.

    Only under the campaign's lock. An interrupted turn that may be finished here is left to the recovery.
    """
    if not _is_hinted(campaign):
        return []
    root, done = campaign.root, []
    try:
        standing, folded = _standing(campaign)
    except (DocumentError, StorageError):
        return []  # what cannot be read tells nothing; `check` tells of it
    mine = {records.turn_of(folder): folder for folder in records.folders(root)}
    end = max([*standing, folded])
    is_open = records.newest_open(root)
    if is_open and records.turn_of(is_open) <= end + 1:
        if not _is_of_another(campaign, is_open, mine, standing, folded):
            return []
        if begun := records.begun(root, is_open):
            records.keep_draft(root, begun["turn"], begun["action"])
        done.append(records.turn_of(is_open))
        records.leave(root, mine.pop(done[0]))
    for turn in _newest(mine, standing):
        folder = mine.get(turn)
        swipe, other, goes = _places(campaign, turn, mine, standing, folded)
        if folder and swipe:
            _put_away(root, folder)
        elif folder and goes:
            records.leave(root, folder)
            done.append(turn)
            folder = None
        if swipe:
            _stand_again(root, swipe)
            files.move(root, swipe, f"{records.TURNS}/{turn_id(turn)}")
            done.append(turn)
        elif other and not folder:
            _stand_again(root, other)
            records.bring_back(root, other)
            done.append(turn)
    return sorted(set(done))


def _newest(mine: Iterable[int], standing: Iterable[int]) -> list[int]:
    return sorted({*mine, *standing}, reverse=True)[:LOOK_BACK]


def _places(
    campaign: Campaign, turn: int, mine: dict[int, str], standing: dict[int, Standing], folded: int
) -> tuple[str | None, str | None, bool]:
    """(the answer that was had, the record put aside) that is of what stands at a turn, and whether the turn's record is of it no more."""
    folder, now = mine.get(turn), standing.get(turn)
    if folder and now and _is_of(campaign, folder, now):
        return None, None, False
    swipe = _swipe(campaign, turn, now) if now else None
    other = _aside(campaign, turn, now) if now and not swipe else None
    return swipe, other, bool(folder and not swipe and (other or _is_gone(campaign, folder, now, folded)))


def _standing(campaign: Campaign) -> tuple[dict[int, Standing], int]:
    """({turn: how it stands}, the last turn that a Chronicle covers)."""
    lines = {line.turn: line.text for line in journal.lines_of(campaign.document(STATE_FILE))}
    told = {one.turn: one for one in story.recent(campaign, LOOK_BACK)}
    found = {
        turn: Standing(told[turn].action, told[turn].prose, lines.get(turn, ""))
        if turn in told
        else Standing(line=lines[turn])
        for turn in {*lines, *told}
    }
    return found, chronicles.last_covered(campaign)


def _is_of_another(
    campaign: Campaign, folder: str, mine: dict[int, str], standing: dict[int, Standing], folded: int
) -> bool:
    """Whether an interrupted turn began in another course of the story: its number is told otherwise here, or the turn before it."""
    turn = records.turn_of(folder)
    line = next((_plain(effect.text) for effect in _told(campaign, folder) if effect.op == "journal"), "")
    now, before = standing.get(turn, Standing()), standing.get(turn - 1)
    if not line or _is_of(campaign, folder, now):  # without a plan nothing of it is finished anyhow
        return False
    if turn <= folded or (now.line and not line.startswith(_plain(now.line))):  # a kill may have left half of its own
        return True
    return bool(before and turn - 1 in mine and not _is_of(campaign, mine[turn - 1], before))


def _told(campaign: Campaign, folder: str) -> list[Effect]:
    every = records.lines(campaign.root, folder)
    return [decode(effect) for line in every if line["do"] == "plan" for effect in line["effects"]]


def _is_of(campaign: Campaign, folder: str, now: Standing) -> bool:
    """Whether what a record told stands, word for word, in the story or the Journal."""
    for effect in _told(campaign, folder):
        if effect.op == "section" and now.prose and _plain(effect.text) == _plain(now.prose):
            return True
        if effect.op == "journal" and now.line and _plain(effect.text) == _plain(now.line):
            return True
    return False


def _is_gone(campaign: Campaign, folder: str, now: Standing | None, folded: int) -> bool:
    """Whether nothing of what a record told stands any more: not what the writer has only reworded."""
    if records.begun(campaign.root, folder) is None:
        return False  # damaged: told where it matters
    if now is not None:
        action = next((effect.key for effect in _told(campaign, folder) if effect.op == "section"), "")
        return bool(now.prose) and _plain(action) != _plain(now.action)
    left = [effect for effect in _told(campaign, folder) if effect.op in ("arc", "history")]
    return records.turn_of(folder) > folded and not any(soundness.is_shown(campaign, effect) for effect in left)


def _aside(campaign: Campaign, turn: int, now: Standing) -> str | None:
    """The record that was put aside and told what stands now, the newest of them."""
    found = [folder for folder in records.aside(campaign.root, turn) if _is_of(campaign, folder, now)]
    whole = [folder for folder in found if records.begun(campaign.root, folder)]
    return whole[-1] if whole else None


def _swipe(campaign: Campaign, turn: int, now: Standing) -> str | None:
    """The record of another answer to a turn that was had and is what stands now."""
    had = [folder for folder in records.swipes(campaign.root, turn).values() if ".swipe-" in folder]
    return next((folder for folder in had if _is_of(campaign, folder, now)), None)


def _put_away(root: Path, folder: str) -> None:
    """A record becomes that of an answer that was had: nothing of it stands here."""
    number = (records.begun(root, folder) or {}).get("swipe", 1)
    Record(root, folder).note("unwound")
    files.move(root, folder, f"{folder}.swipe-{number}")


def _stand_again(root: Path, folder: str) -> None:
    """One that was undone, or swiped away, stands as it was before that; made twice, nothing is doubled."""
    lines = records.lines(root, folder)
    last = max((n for n, line in enumerate(lines) if line["do"] == "unwound"), default=None)
    if last is None or any(line["do"] == "closed" for line in lines[last:]):
        return
    record = Record(root, folder)
    record.note("reopened", undone=".undone-" in folder)
    for write in records.standing(lines[:last])[len(records.writes(root, folder)) :]:
        record.note("write", **{key: value for key, value in write.items() if key != "do"})
    record.note("told", again=True)
    record.note("closed", again=True)


def _plain(text: str) -> str:
    return " ".join(text.split())
