"""What the models would change in entries that the writer locked: proposals, to be accepted or dropped.

`.rolecall/proposals/0003.json` holds `line`, what a person is shown, `turn`, and `effects`, the changes as a record keeps
them. What became of it is an empty file beside it, `0003.accepted` or `0003.dropped`, so that the proposal's own bytes
stay what its turn wrote. Accepting writes the changes under a record of its own, `.rolecall/edits/0001/`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rolecall.campaign import files, recordlines, records
from rolecall.campaign.effects import Effect, decode, edit_of, encode
from rolecall.campaign.folder import MACHINE_FOLDER
from rolecall.campaign.journal import turn_id
from rolecall.campaign.records import Record
from rolecall.errors import Malformed, StorageError, UnknownName

FOLDER = f"{MACHINE_FOLDER}/proposals"
EDITS = f"{MACHINE_FOLDER}/edits"
OPEN, ACCEPTED, DROPPED = "open", "accepted", "dropped"
_FILE = re.compile(r"([0-9]{4,})\.(json|accepted|dropped)")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal: its number, what it says, the turn it is from, its changes, and whether it is still open."""

    number: int
    line: str
    turn: int
    effects: tuple[Effect, ...]
    state: str = OPEN

    def to_json(self) -> dict:
        """The object `proposals --json` prints."""
        first = self.effects[0]
        return {
            "number": self.number,
            "line": self.line,
            "turn": turn_id(self.turn),
            "paths": list(dict.fromkeys(effect.path for effect in self.effects)),
            "reason": first.reason,
            "source": first.source,
            "model": first.model,
        }


def of(number: int, effects: Sequence[Effect], line: str) -> Effect:
    """The effect that proposes these effects."""
    first = effects[0]
    body = {"line": line, "turn": first.turn, "effects": [encode(effect) for effect in effects]}
    text = json.dumps(body, ensure_ascii=False, indent=1) + "\n"
    path = f"{FOLDER}/{number:04d}.json"
    return Effect("proposal", path, first.turn, text, reason=first.reason, source=first.source)


def rewritten(effect: Effect, change: Callable[[Effect], Effect]) -> Effect:
    """The effect with each change it proposes made another one by `change`: where they come from is known only later."""
    body = json.loads(effect.text)
    inner = [change(decode(one)) for one in body["effects"]]
    made = of(int(Path(effect.path).stem), inner, body["line"])
    return replace(made, phase=inner[0].phase, model=inner[0].model)


def same(one: Effect, other: Effect) -> bool:
    """Whether two effects propose the same change."""
    if one.op != "proposal" or other.op != "proposal":
        return False
    mine, theirs = (json.loads(effect.text)["effects"] for effect in (one, other))
    return [_core(decode(effect)) for effect in mine] == [_core(decode(effect)) for effect in theirs]


def next_number(root: Path) -> int:
    """One past the last number that was ever given and is still known here."""
    return max((int(found[1]) for found in _files(root)), default=0) + 1


def listed(root: Path, *, state: str = OPEN) -> list[Proposal]:
    """The proposals of a state, oldest first; a file that is none is passed over here, and told when it is asked for."""
    found = []
    for match in _files(root):
        if match[2] == "json" and _state(root, int(match[1])) == state:
            try:
                found.append(_read(root, int(match[1])))
            except (Malformed, StorageError):
                continue
    return sorted(found, key=lambda proposal: proposal.number)


def known(root: Path, effects: Sequence[Effect]) -> str:
    """The state of a proposal of just these changes (`open`, `dropped`); empty when there is none."""
    wanted = [_core(effect) for effect in effects]
    for state in (OPEN, DROPPED):
        if any([_core(effect) for effect in proposal.effects] == wanted for proposal in listed(root, state=state)):
            return state
    return ""


def _core(effect: Effect) -> Effect:
    """What an effect changes, whenever and for whatever reason."""
    lines = tuple(re.sub(r"^T\d+ ", "", line) for line in effect.lines)
    return replace(effect, turn=0, lines=lines, phase="", model="", reason="", source="")


def accept(root: Path, number: int) -> list[tuple[str, str]]:
    """Make the changes of an open proposal; (path, op) of each file that changed.

    Only under the campaign's lock. Raises UnknownName for a number that is not open, and what the writing raises: then
    it stays open, and accepting it again makes no change twice.
    """
    proposal = _open(root, number)
    finish(root)
    record = Record(root, f"{EDITS}/{_next_edit(root):04d}")
    record.note("begin", proposal=number, turn=proposal.turn, line=proposal.line)
    for effect in proposal.effects:
        record.write(effect.path, effect.op, edit_of(effect), turn=effect.turn, **effect.why)
    files.rewrite(root, f"{FOLDER}/{number:04d}.{ACCEPTED}", b"")
    record.note("closed")
    return record.written


def drop(root: Path, number: int) -> Proposal:
    """Close an open proposal without making its changes. Only under the campaign's lock; UnknownName as above."""
    proposal = _open(root, number)
    files.rewrite(root, f"{FOLDER}/{number:04d}.{DROPPED}", b"")
    return proposal


def finish(root: Path) -> None:
    """Put down the rest of a write that a kill tore while a proposal was accepted."""
    last = _next_edit(root) - 1
    folder = f"{EDITS}/{last:04d}"
    if last and not any(line["do"] == "closed" for line in records.lines(root, folder)):
        records.finish_torn(root, folder)


def _open(root: Path, number: int) -> Proposal:
    if files.exists(root, f"{FOLDER}/{number:04d}.json"):
        state = _state(root, number)
        if state == OPEN:
            return _read(root, number)
        raise UnknownName(f"proposal {number} is {state} already", remedy="`rolecall proposals` lists the open ones")
    raise UnknownName(f"there is no proposal {number}", remedy="`rolecall proposals` lists the open ones")


def _state(root: Path, number: int) -> str:
    stem = f"{FOLDER}/{number:04d}"
    return next((state for state in (ACCEPTED, DROPPED) if files.exists(root, f"{stem}.{state}")), OPEN)


def _read(root: Path, number: int) -> Proposal:
    path = f"{FOLDER}/{number:04d}.json"
    try:
        body = json.loads(files.read(root, path).decode("utf-8"))
        if not body["effects"] or not all(recordlines.is_effect(effect) for effect in body["effects"]):
            raise ValueError("no effects")
        effects = tuple(decode(effect) for effect in body["effects"])
        return Proposal(number, str(body["line"]), int(body["turn"]), effects, _state(root, number))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise Malformed("this proposal cannot be read", path=path, remedy="delete that file") from None


def _files(root: Path) -> list[re.Match]:
    place = root / FOLDER
    names = sorted(p.name for p in place.iterdir()) if place.is_dir() else []
    return [found for name in names if (found := _FILE.fullmatch(name))]


def _next_edit(root: Path) -> int:
    place = root / EDITS
    names = [p.name for p in place.iterdir()] if place.is_dir() else []
    return max((int(name) for name in names if re.fullmatch(r"[0-9]{1,9}", name)), default=0) + 1
