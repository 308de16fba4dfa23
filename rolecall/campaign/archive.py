"""What is on record: the folders of turns, folds and edits, their lines read back, and the drafts.

Reading here changes nothing; `set_aside` gives a record another name, so that its number is free again.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.campaign import files, recordlines
from rolecall.campaign.folder import MACHINE_FOLDER
from rolecall.campaign.journal import turn_id
from rolecall.errors import StorageError

TURNS = f"{MACHINE_FOLDER}/turns"
FOLDS = f"{MACHINE_FOLDER}/folds"
EDITS = f"{MACHINE_FOLDER}/edits"
DRAFTS = f"{MACHINE_FOLDER}/drafts"
_DRAFT = re.compile(r"T([0-9]{4,})(?:-([0-9]+))?\.md")
LOOK_BACK = 200  # records
_OF_A_TURN = re.compile(r"T[0-9]{4,}").fullmatch


@dataclass(slots=True)
class Stretch:
    """What one answer wrote while it stood: taken back and put there again, possibly in another timeline, it begins anew.

    `counted` are the lines that say what its shares in numbers and values became since (`campaign/shares.py`).
    """

    writes: list[dict] = field(default_factory=list)
    counted: list[dict] = field(default_factory=list)


def lines(root: Path, folder: str) -> list[dict]:
    """The sound lines of a record: what is torn, damaged or of an unknown kind is no line."""
    return recordlines.read(raw(root, folder))


def raw(root: Path, folder: str) -> bytes:
    """A record's bytes; none where no readable file has its name. StorageError when the disk refuses."""
    path = f"{folder}/record.jsonl"
    return plain(root, path) or b""


def plain(root: Path, path: str) -> bytes | None:
    """The bytes of a file of the machine's; None where there is none, or what has its name can never be one."""
    if not files.exists(root, path):
        return None
    try:
        return files.read(root, path)
    except StorageError:
        if _is_no_file(root / path):
            return None
        raise  # it may be readable again later


def _is_no_file(place: Path) -> bool:
    """Whether a folder, a pipe, a link that leads nowhere or a file past all measure stands there."""
    try:
        info = os.stat(place)
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
    return place.is_symlink() or not stat.S_ISREG(info.st_mode) or info.st_size > files.MAX_FILE


def begun(root: Path, folder: str) -> dict | None:
    """The `begin` line of a turn's record; None when it has none, or one of another turn."""
    first = next((line for line in lines(root, folder) if line["do"] == "begin"), {})
    return first if first.get("turn") == turn_of(folder) else None


def writes(root: Path, folder: str) -> list[dict]:
    """The `write` lines of a record that stand, in order: without those that were refused, or taken back by a swipe."""
    return standing(lines(root, folder))


def standing(rows: list[dict]) -> list[dict]:
    """The `write` lines that stand after all these lines of a record, in order."""
    found: list[dict] = []
    for line in rows:
        if line["do"] == "write":
            found.append(line)
        elif line["do"] == "unwritten" and found:
            found.pop()
        elif line["do"] == "unwound":
            found.clear()
    return found


def stretches(root: Path, folder: str) -> list[Stretch]:
    """What a record's answer wrote each time it stood, oldest first; the last one stands now (it is empty where none does)."""
    found = [Stretch()]
    for line in lines(root, folder):
        if line["do"] == "write":
            found[-1].writes.append(line)
        elif line["do"] == "unwritten" and found[-1].writes:
            found[-1].writes.pop()
        elif line["do"] == "unwound":
            found.append(Stretch())
        elif line["do"] == "counted":
            found[min(line["stretch"], len(found) - 1)].counted.append(line)
        elif line["do"] == "reopened":
            found[-1].counted += line.get("counted", ())
    return found


def json_lines(data: bytes) -> list[dict]:
    """The JSON objects of a file that holds one a line; what is torn is left out."""
    return [line for one in data.split(b"\n") if (line := recordlines.json_object(one)) is not None]


def folders(root: Path) -> list[str]:
    """Every record of a turn that counts, oldest first: undone and taken-back ones have other names."""
    place = root / TURNS
    if not place.is_dir():
        return []
    names = [name for name in os.listdir(place) if _OF_A_TURN(name)]  # asked many times a turn, of thousands
    return [f"{TURNS}/{name}" for name in sorted(names, key=lambda name: int(name[1:]))]


def newest_open(root: Path) -> str | None:
    """The folder of the newest record when it is not closed, or does not say which turn it is of."""
    found = folders(root)
    if not found:
        return None
    every = lines(root, found[-1])
    ends = [line["do"] for line in every if line["do"] in ("closed", "reopened")]
    is_of_it = any(line["do"] == "begin" and line.get("turn") == turn_of(found[-1]) for line in every)
    return None if is_of_it and ends and ends[-1] == "closed" else found[-1]


def undone(root: Path) -> set[int]:
    """The turns that were taken back for good while later ones stayed: their numbers may be missing."""
    return _put_aside(root, "undone")


def once_undone(root: Path) -> set[int]:
    """The turns that were taken back in one timeline and stood again in another since: in the first, their numbers may be missing."""
    place = root / TURNS
    names = (
        [p.name for p in place.iterdir() if re.fullmatch(r"T[0-9]{4,}(\.other-[0-9]+)?", p.name)]
        if place.is_dir()
        else []
    )
    every = sorted((f"{TURNS}/{name}" for name in names), key=turn_of)[-LOOK_BACK:]
    return {turn_of(folder) for folder in every if any(line.get("undone") for line in lines(root, folder))}


def damaged(root: Path) -> set[int]:
    """The turns of which a record was put aside because it could not be read."""
    return _put_aside(root, "damaged")


def _put_aside(root: Path, why: str) -> set[int]:
    place = root / TURNS
    names = [p.name for p in place.iterdir()] if place.is_dir() else []
    return {int(name[1 : name.index(".")]) for name in names if re.fullmatch(rf"T[0-9]{{4,}}\.{why}-[0-9]+", name)}


def others(root: Path) -> list[str]:
    """The records that are no turn's: folds, and edits on demand such as an accepted proposal."""
    found = []
    for place in (FOLDS, EDITS):
        if (root / place).is_dir():
            found += [f"{place}/{name}" for name in sorted(p.name for p in (root / place).iterdir())]
    return found


def turn_of(folder: str) -> int:
    """42 for `.rolecall/turns/T0042` and for `.rolecall/turns/T0042.swipe-1`."""
    return int(re.search(r"/T([0-9]+)", folder)[1])


def swipes(root: Path, turn: int) -> dict[int, str]:
    """The records of every answer to a turn by its number, counted from 1; the current one is `T0042` itself."""
    place = root / TURNS
    name = re.compile(rf"{turn_id(turn)}(?:\.swipe-\d+)?")
    names = [p.name for p in place.iterdir() if name.fullmatch(p.name)] if place.is_dir() else []
    found = {}
    for one in names:
        if first := begun(root, f"{TURNS}/{one}"):
            found[first.get("swipe", 1)] = f"{TURNS}/{one}"
    return dict(sorted(found.items()))


def set_aside(root: Path, folder: str, why: str) -> str:
    """Give a record another name (`T0043.draft-1`), so that its number is free again; the new folder."""
    number = 1
    while files.exists(root, f"{folder}.{why}-{number}"):
        number += 1
    files.move(root, folder, f"{folder}.{why}-{number}")
    return f"{folder}.{why}-{number}"


def leave(root: Path, folder: str) -> str:
    """Put a turn's record aside as one of another course of the story, its swipes with it; the new folder."""
    number = 1
    while files.exists(root, f"{folder}.other-{number}"):
        number += 1
    for swipe in _swipes_of(root, folder):  # first, so that an interrupted move is gone on with
        files.move(root, f"{folder}.{swipe}", f"{folder}.other-{number}.{swipe}")
    files.move(root, folder, f"{folder}.other-{number}")
    return f"{folder}.other-{number}"


def bring_back(root: Path, aside: str) -> str:
    """Give a record that was put aside its turn's name again, its swipes with it; its folder. The name must be free.

    One that was an answer swiped away comes alone.
    """
    folder = f"{TURNS}/{turn_id(turn_of(aside))}"
    if ".swipe-" not in aside:
        for swipe in _swipes_of(root, aside):
            files.move(root, f"{aside}.{swipe}", f"{folder}.{swipe}")
    files.move(root, aside, folder)
    return folder


def aside(root: Path, turn: int) -> list[str]:
    """The records of a turn that were left or undone, those of its other answers among them, the newest last."""
    place = root / TURNS
    named = re.compile(rf"{turn_id(turn)}(?:\.swipe-\d+)?\.(?:other|undone)-(\d+)(?:\.swipe-\d+)?")
    names = [p.name for p in place.iterdir()] if place.is_dir() else []
    found = [(int(match[1]), ".swipe-" not in name, name) for name in names if (match := named.fullmatch(name))]
    return [f"{TURNS}/{name}" for *_, name in sorted(found)]


def _swipes_of(root: Path, folder: str) -> list[str]:
    name = re.compile(re.escape(folder.rpartition("/")[2]) + r"\.(swipe-\d+)")
    return sorted(found[1] for p in (root / TURNS).iterdir() if (found := name.fullmatch(p.name)))


def attempts(root: Path, number: int) -> list[str]:
    """The records of every attempt at a fold, oldest first."""
    place = root / FOLDS
    names = [p.name for p in place.iterdir()] if place.is_dir() else []
    mine = [name for name in names if re.fullmatch(rf"{number:04d}(-[0-9]+)?", name)]
    return [f"{FOLDS}/{name}" for name in sorted(mine, key=lambda name: int(name.partition("-")[2] or 1))]


def keep_draft(root: Path, turn: int, action: str) -> str:
    """Keep an action that could not be told beside others that could not; its path."""
    data, number = action.encode("utf-8", "replace") + b"\n", 1
    path = f"{DRAFTS}/{turn_id(turn)}.md"
    while files.exists(root, path) and plain(root, path) != data:
        number += 1
        path = f"{DRAFTS}/{turn_id(turn)}-{number}.md"
    files.rewrite(root, path, data)
    return path


def drafts(root: Path) -> list[tuple[str, str]]:
    """(path, action) of every action that waits to be told, in the order in which they failed; one that cannot be read is left out."""
    place = root / DRAFTS
    names = [p.name for p in place.iterdir()] if place.is_dir() else []
    found = sorted((int(m[1]), int(m[2] or 1), name) for name in names if (m := _DRAFT.fullmatch(name)))
    told = [(f"{DRAFTS}/{name}", plain(root, f"{DRAFTS}/{name}")) for *_, name in found]
    return [(path, data.decode("utf-8", "replace").strip()) for path, data in told if data is not None]


def drop_draft(root: Path, told: str) -> bool:
    """Forget an action that was told, where it waited; whether it did."""
    mine = next((path for path, action in drafts(root) if action == told.strip()), None)
    if mine is not None:
        files.remove(root, mine)
    return mine is not None


def drop_drafts(root: Path, told: str) -> None:
    """Forget the drafts, as a new turn was told after them; where that was one of several, only this one. Not to be done twice."""
    if drop_draft(root, told):
        return
    place = root / DRAFTS
    for name in [p.name for p in place.iterdir()] if place.is_dir() else []:
        files.remove(root, f"{DRAFTS}/{name}")
