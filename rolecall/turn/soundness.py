"""Whether what stands can be taken back from the records: asked before the first change, so that a refusal changes nothing."""

from __future__ import annotations

from pathlib import Path

from rolecall.campaign import files, journal, recordlines, records, story
from rolecall.campaign.effects import Effect, decode, edit_of
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import DocumentError, TurnError

_DATED = ("section", "journal", "arc", "history")  # what shows the turn it is of: nobody else put that there


def standing(campaign: Campaign, count: int = 1) -> set[int]:
    """The turns that the Journal and the last `count` sections of the story tell."""
    lines = journal.lines_of(campaign.document(STATE_FILE)) if campaign.exists(STATE_FILE) else ()
    return {line.turn for line in lines} | {told.turn for told in story.recent(campaign, count)}


def no_record(turn: int) -> TurnError:
    """The refusal to take back what was told elsewhere, or of which the record is lost."""
    return TurnError(
        f"this machine has no record of {turn_id(turn)}", remedy="take it back with git, or by hand in the files"
    )


def damage(folder: str, line: int | None = None) -> TurnError:
    """The refusal to take back from a record that is not whole."""
    return TurnError(
        f"the record of {turn_id(records.turn_of(folder))} is damaged; nothing was changed",
        path=f"{folder}/record.jsonl",
        line=line,
        remedy="take the turn back with git, or by hand in the files",
    )


def begun(root: Path, folder: str) -> tuple[str, int]:
    """(the action, which answer to it) a record tells; TurnError when it cannot be read."""
    found = records.begun(root, folder)
    if found is None:
        raise damage(folder)
    return found["action"], found.get("swipe", 1)


def refuse_gaps(campaign: Campaign, last: list[int]) -> None:
    """TurnError when a turn between or after these (the last first) was told of which there is no record.

    An earlier turn is never taken back in its stead.
    """
    gone = records.undone(campaign.root) - records.damaged(campaign.root)
    lost = {turn for turn in standing(campaign, len(last)) if turn > last[-1]} - set(last) - gone
    if lost:
        refuse_ingested(campaign, max(lost))
        raise no_record(max(lost))


def refuse_ingested(campaign: Campaign, turn: int) -> None:
    """TurnError for a turn that came in with a chat: it has no record of its own."""
    from rolecall.turn import ingested

    if file := ingested.of_turn(campaign.root, turn):
        what = f"{turn_id(turn)} came in with {file}"
        raise TurnError(what, remedy="`rolecall ingest --undo` takes the chat back")


def refuse_damage(campaign: Campaign, folder: str, *, again: bool = False) -> None:
    """TurnError when a record does not tell all that its turn wrote, or (`again`) not what to write again."""
    root, turn = campaign.root, records.turn_of(folder)
    if records.begun(root, folder) is None:
        raise damage(folder)
    if bad := recordlines.faults(records.raw(root, folder)):
        raise damage(folder, bad[0])
    lines = records.lines(root, folder)
    planned = [decode(effect) for line in lines if line["do"] == "plan" for effect in line["effects"]]
    if again and not {"section", "journal"} <= {effect.op for effect in planned}:
        raise damage(folder)
    if ".swipe-" in folder:
        return  # an answer that stands in no file
    wrote = {(line["path"], line["op"]) for line in lines if line["do"] == "write"}
    if not any(op in ("section", "journal") for _, op in wrote) and turn in standing(campaign):
        raise damage(folder)
    for effect in planned:
        if effect.op in _DATED and (effect.path, effect.op) not in wrote and is_shown(campaign, effect):
            raise damage(folder)


def is_shown(campaign: Campaign, effect: Effect) -> bool:
    """Whether a file says already what an effect would write."""
    if not files.exists(campaign.root, effect.path):
        return False
    data = files.read(campaign.root, effect.path)
    try:
        return edit_of(effect)(data) == data
    except DocumentError:
        return False


def compare(folder: str, before: bytes, write: dict) -> None:
    """TurnError where the bytes before a write are not those its record tells of."""
    if files.sha256(before) != write["before"]:
        raise damage(folder)
