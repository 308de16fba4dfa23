"""`rolecall check --fix`: only what is certain, each fix said, on record, and taken back by `check --undo`.

Certain are a journal line that stands twice word for word, and an unchanged copy of an instruction older than the one that ships.
`.rolecall/edits/fix-0001/` holds `begin`, each write, and `closed`; every fix is one replacement of one file, whole or not at all.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rolecall.campaign import files, instructions, journal, records
from rolecall.campaign.documents import parse
from rolecall.campaign.folder import Campaign
from rolecall.campaign.formers import FORMER
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import Edit, Record
from rolecall.errors import DocumentError, TurnError, Unclear
from rolecall.turn.ingested import revert
from rolecall.turn.interrupts import uninterrupted


@dataclass(frozen=True, slots=True)
class Fix:
    """One certain change of one file: `said` tells it in a line."""

    path: str
    rule: str
    said: str
    edit: Edit


def plan(campaign: Campaign) -> list[Fix]:
    """What can be mended without a guess. Changes nothing. StorageError when a file cannot be read: it may need mending too."""
    fixes = []
    for path in sorted(FORMER):
        if files.exists(campaign.root, path) and instructions.is_former(path, campaign.read(path)):
            said = f"{path}: the text that ships now, in the place of an unchanged older one"
            fixes.append(Fix(path, "old-instruction", said, lambda data, path=path: _renewed(data, path)))
    with suppress(DocumentError):  # what is broken is no certain fix
        data = campaign.read(STATE_FILE)
        if (once := _once(data)) != data:
            count = data.count(b"\n- T") - once.count(b"\n- T")
            said = (
                f"{STATE_FILE}: {count} journal line{'s' if count != 1 else ''} that stood there twice, word for word"
            )
            fixes.append(Fix(STATE_FILE, "turn-twice", said, _once))
    return fixes


def fix(campaign: Campaign) -> list[Fix]:
    """Make the certain changes, on one record; those that were made. Only under the campaign's lock."""
    fixes, made = plan(campaign), []
    if not fixes:
        return []
    numbers = [int(name[4:8]) for name in _every(campaign.root)]
    record = Record(campaign.root, f"{records.EDITS}/fix-{max(numbers, default=0) + 1:04d}")
    with uninterrupted():
        record.note("begin", fix=max(numbers, default=0) + 1)
        made = [one for one in fixes if record.write(one.path, "fix", one.edit)]
        record.note("closed")
    return made


def take_back(campaign: Campaign) -> tuple[list[str], list[str]]:
    """Take the last fixes back: (the files, what could not be taken out). What you changed since stays."""
    standing = [name for name in _every(campaign.root) if re.fullmatch(r"fix-[0-9]{4}", name)]
    if not standing:
        raise TurnError("this machine has no record of a fix", remedy="use git")
    folder, clashes = f"{records.EDITS}/{standing[-1]}", []
    record, writes = Record(campaign.root, folder), records.writes(campaign.root, folder)
    with uninterrupted():
        for number in range(len(writes) - 1, -1, -1):
            clashes += revert(campaign.root, record, folder, writes[number], number)
        records.set_aside(campaign.root, folder, "undone")
    return [write["path"] for write in writes], clashes


def _every(root: Path) -> list[str]:
    place = root / records.EDITS
    return sorted(p.name for p in place.iterdir() if re.match(r"fix-[0-9]{4}", p.name)) if place.is_dir() else []


def _renewed(data: bytes | None, path: str) -> bytes:
    if data is None:
        raise Unclear("there is no such file any more", path=path, remedy="nothing was written to it")
    return instructions.packaged(path) or data if instructions.is_former(path, data) else data


def _once(data: bytes | None) -> bytes:
    """The Campaign State without the second of two journal lines that are the same, turn and words."""
    seen: set[str] = set()
    for line in journal.lines_of(parse(data or b"", STATE_FILE)):
        if line.raw in seen:
            return _once(data[: line.start] + data[line.end :])
        seen.add(line.raw)
    return data or b""
