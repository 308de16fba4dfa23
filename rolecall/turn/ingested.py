"""The record of a chat that was brought in: written down, finished after a crash, taken back.

`.rolecall/edits/ingest-0001/` holds `begin`, the plan in several lines, `told` when the plan is whole, each write, and
`closed`. `.rolecall/ingest.json` lies beside it while something is unfinished.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from rolecall.campaign import files, records
from rolecall.campaign.effects import Effect, decode, edit_of, encode
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import Record
from rolecall.campaign.reversal import taken_back
from rolecall.errors import Conflict, DocumentError, ExchangeError, StorageError, TurnError
from rolecall.turn.lifecycle import next_turn, uninterrupted
from rolecall.turn.unfinished import INGEST as MARK

PLANNED = 200  # effects of a plan's line
MOST = 14 * 1024 * 1024  # bytes of a plan: a record holds them twice, and is read as a whole

_STORY = ("brought", "journal")  # chapters, Chronicles, their lines, the receipt


def of_same(root: Path, sha256: str) -> str:
    """The turns as which a chat of these very bytes was brought in and still stands; nothing when it was not."""
    for folder in folders(root):
        begun = begun_of(root, folder)
        if begun and begun["sha256"] == sha256:
            return f"{turn_id(begun['first'])}-{turn_id(begun['last'])}"
    return ""


def of_turn(root: Path, turn: int) -> str:
    """The file a turn was brought in with; nothing for a turn that was told."""
    every = (begun for folder in folders(root) if (begun := begun_of(root, folder)))
    return next((begun["file"] for begun in every if begun["first"] <= turn <= begun["last"]), "")


def folders(root: Path) -> list[str]:
    """The records of chats that were brought in and stand, oldest first."""
    place = root / records.EDITS
    names = [p.name for p in place.iterdir() if re.fullmatch(r"ingest-[0-9]{4,}", p.name)] if place.is_dir() else []
    return [f"{records.EDITS}/{name}" for name in sorted(names, key=lambda name: int(name[7:]))]


def begun_of(root: Path, folder: str) -> dict | None:
    """The `begin` line of such a record; None when it cannot be read."""
    line = next((line for line in records.lines(root, folder) if line["do"] == "begin"), {})
    whole = "ingest" in line and all(type(line.get(key)) is int and line[key] > 0 for key in ("first", "last"))
    return line if whole else None


# -- writing


def write(
    campaign: Campaign,
    effects: Sequence[Effect],
    folder: str,
    name: str,
    data: bytes,
    sha256: str,
    first: int,
    note: Callable[[str], None],
) -> None:
    """Note the plan, keep the original, and make the plan happen."""
    from rolecall.exchange.planning import safe_name  # what plans is loaded only where there is a plan

    encoded = [encode(effect) for effect in effects]
    if sum(len(json.dumps(one, ensure_ascii=False).encode("utf-8", "replace")) for one in encoded) > MOST:
        raise ExchangeError(
            f"more than {MOST // 1024 // 1024} MB would be written at once",
            path=name,
            remedy="split the chat into parts and ingest them one after the other",
        )
    root = campaign.root
    place = root / records.EDITS
    names = [p.name for p in place.iterdir()] if place.is_dir() else []
    numbers = [int(found[1]) for one in names if (found := re.match(r"ingest-([0-9]{4,})", one))]
    record = Record(root, f"{records.EDITS}/ingest-{max(numbers, default=0) + 1:04d}")
    last = max(effect.turn for effect in effects)
    original = f"{folder}/{safe_name(name)}"
    with uninterrupted():
        files.rewrite(root, MARK, json.dumps({"folder": record.folder, "kind": "write"}).encode())
        record.note(
            "begin", ingest=len(numbers) + 1, file=name, sha256=sha256, original=original, folder=folder,
            first=first, last=last,
        )  # fmt: skip
        for at in range(0, len(encoded), PLANNED):
            record.note("plan", effects=encoded[at : at + PLANNED])
        files.create(root, original, data)
        record.note("told")
        _apply(record, effects, note)
        record.note("closed")
        files.remove(root, MARK)


def _apply(record: Record, effects: Sequence[Effect], note: Callable[[str], None]) -> None:
    """Write the effects. An entry that refuses is left out, and said; what tells the story must be written, or is later."""
    for effect in effects:
        why = {"turn": effect.turn, **effect.why}
        try:
            record.write(effect.path, effect.op, edit_of(effect), **why)
        except (DocumentError, StorageError) as error:
            of_an_entry = effect.path == error.path and effect.op not in _STORY and files.is_of_one_file(error)
            if not isinstance(error, DocumentError) and not of_an_entry:
                raise
            note(f"Left out: {error}")


# -- after a crash


def pending(root: Path) -> dict | None:
    """What was interrupted: `folder` and `kind` (write, undo); empty when the note cannot be read."""
    if not files.exists(root, MARK):
        return None
    data = records.plain(root, MARK) or b""
    try:
        mark = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    sound = (
        isinstance(mark, dict)
        and mark.get("kind") in ("write", "undo")
        and isinstance(mark.get("folder"), str)
        and re.fullmatch(rf"{re.escape(records.EDITS)}/ingest-[0-9]{{4,}}", mark["folder"])
    )
    return mark if sound else {}


def recover(campaign: Campaign) -> str:
    """Finish what was interrupted; what was done, in words. Only under the lock."""
    root = campaign.root
    mark = pending(root)
    if not mark:
        files.remove(root, MARK)
        return f"The note of an interrupted ingest ({MARK}) cannot be read and is dropped"
    folder = mark["folder"]
    begun = begun_of(root, folder) if files.exists(root, folder) else None
    if mark["kind"] == "undo":
        if begun:
            _unwind(campaign, folder, begun)
        files.remove(root, MARK)
        return "A chat was being taken back; it is"
    lines = records.lines(root, folder) if begun else []
    if not any(line["do"] == "told" for line in lines):
        if begun and files.exists(root, begun["original"]):
            files.remove(root, begun["original"])
        if files.exists(root, folder):
            records.set_aside(root, folder, "draft")
        files.remove(root, MARK)
        return "A chat was not written down yet when it was interrupted; nothing of it stands"
    records.finish_torn(root, folder)
    record, faults = Record(root, folder), []
    effects = [decode(e) for line in lines if line["do"] == "plan" for e in line["effects"]]
    _apply(record, effects, faults.append)
    record.note("closed", recovered=True)
    files.remove(root, MARK)
    more = f" ({'; '.join(faults)})" if faults else ""
    return f"{begun['file']} was interrupted while it was written down; it is finished{more}"


# -- taking it back


def take_back(campaign: Campaign) -> tuple[str, list[str]]:
    """Take the chat that was brought in last out of the campaign: (its file's name, what could not be taken out, in words).

    What you wrote into its files since stays. TurnError when there is none, or when turns were told after it.
    """
    root = campaign.root
    found = folders(root)
    begun = begun_of(root, found[-1]) if found else None
    if begun is None:
        raise TurnError("this machine has no record of a chat that was brought in", remedy="take it back with git")
    told = next_turn(campaign, campaign.document(STATE_FILE)) - 1
    if told > begun["last"]:
        raise TurnError(
            f"{turn_id(told)} was told after {begun['file']}",
            remedy=f"take {told - begun['last']} turns back first with `rolecall undo {told - begun['last']}`",
        )
    with uninterrupted():
        files.rewrite(root, MARK, json.dumps({"folder": found[-1], "kind": "undo"}).encode())
        clashes = _unwind(campaign, found[-1], begun)
        files.remove(root, MARK)
    return begun["file"], clashes


def _unwind(campaign: Campaign, folder: str, begun: dict) -> list[str]:
    """Take every write out, the last first; each is noted before it is made, so that a second run goes on behind it."""
    root, record, clashes = campaign.root, Record(campaign.root, folder), []
    writes = records.writes(root, folder)
    noted = [int(line["write"]) for line in records.lines(root, folder) if line["do"] == "reverted"]
    start = min(noted) if noted else len(writes) - 1  # the last noted one may not have been made
    for number in range(start, -1, -1):
        clashes += revert(root, record, folder, writes[number], number)
    if files.exists(root, begun["original"]):
        files.remove(root, begun["original"])
    made = {write["path"] for write in writes if write.get("made")} | {begun["original"]}
    for place in sorted({path.rpartition("/")[0] for path in made} - {""}, key=len, reverse=True):
        files.remove_empty(root, place)
    records.set_aside(root, folder, "undone")
    return clashes


def revert(root: Path, record: Record, folder: str, write: dict, number: int) -> list[str]:
    """Take one recorded write out of its file, noted first; where the writer changed the same lines, in words."""
    path = write["path"]
    for _ in range(12):
        current = files.read(root, path) if files.exists(root, path) else None
        result = taken_back(current, write, records.version(root, folder, write))
        clashes = [f"{path}:{clash.line}: you changed this too; your words stay" for clash in result.clashes]
        record.note("reverted", write=str(number), path=path, result="")
        if result.data == current:
            return clashes
        try:
            if result.data is None:
                files.remove(root, path, expected=files.sha256(current))
            else:
                files.replace(root, path, result.data, expected=files.sha256(current))
            return clashes
        except Conflict:
            continue
    raise Conflict("the file keeps changing", path=path, remedy="stop what rewrites it, and run the command again")
