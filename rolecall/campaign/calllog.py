"""The model calls of a record: each a request and a log of its events, written before anything comes of them.

`calls/001-narrator.json` holds the layer, the request and its digest; `calls/001-narrator.jsonl` an event a line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rolecall.campaign import files, recordlines
from rolecall.campaign.archive import TURNS, attempts, plain
from rolecall.campaign.journal import turn_id

if TYPE_CHECKING:
    from rolecall.campaign.records import Record


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


def open_call(record: Record, layer: str, digest: str, request: dict, *, again: bool = False) -> CallLog:
    """Save a request and open the log for its answer. `again`: an earlier attempt has paid for it."""
    record.calls += 1
    stem = f"{record.folder}/calls/{record.calls:03d}-{layer}"
    head = {"layer": layer, "digest": digest, **({"again": True} if again else {}), "request": request}
    body = json.dumps(head, ensure_ascii=False)
    log = CallLog(record.root, f"{stem}.jsonl")  # first: what makes the request durable makes both names so
    try:
        files.create(record.root, f"{stem}.json", body.encode("utf-8", "surrogatepass"))
    except BaseException:
        log.close()
        raise
    return log


@dataclass(frozen=True, slots=True)
class Call:
    """A model call as recorded; `complete` when its last event is the model's own stop and nothing of it is damaged.

    One whose request cannot be read has an empty `request` and no events.
    """

    layer: str
    digest: str
    request: dict
    events: tuple[dict, ...]
    complete: bool


def calls(root: Path, folder: str) -> tuple[Call, ...]:
    """The model calls of a record in order."""
    place = root / folder / "calls"
    if not place.is_dir():
        return ()
    found = []
    for name in sorted(p.name for p in place.iterdir() if p.name.endswith(".json")):
        head = recordlines.json_object(plain(root, f"{folder}/calls/{name}") or b"") or {}
        layer, digest, request = head.get("layer"), head.get("digest"), head.get("request")
        if not (isinstance(layer, str) and isinstance(digest, str) and isinstance(request, dict)):
            found.append(Call(name.removesuffix(".json").partition("-")[2], "", {}, (), False))
            continue
        events, whole = _events(plain(root, f"{folder}/calls/{name}l") or b"")
        complete = whole and bool(events) and events[-1]["type"] == "stopped" and events[-1].get("reason") != "cut"
        found.append(Call(layer, digest, request, tuple(events), complete))
    return tuple(found)


def _events(data: bytes) -> tuple[list[dict], bool]:
    """The events of a log, and whether every line of it is one."""
    every = [recordlines.json_object(raw) for raw in data.split(b"\n") if raw.strip()]
    events = [event for event in every if event is not None and isinstance(event.get("type"), str)]
    return events, len(events) == len(every)


def paid_answers(root: Path, turn: int) -> dict[str, Call]:
    """Complete answers of attempts at this turn that were taken back, by the digest of their request."""
    place, found = root / TURNS, {}
    if place.is_dir():
        for name in sorted(p.name for p in place.iterdir() if p.name.startswith(f"{turn_id(turn)}.draft-")):
            found.update((call.digest, call) for call in calls(root, f"{TURNS}/{name}") if call.complete)
    return found


def paid_folds(root: Path, number: int) -> dict[str, Call]:
    """Complete answers of earlier attempts at this fold, by the digest of their request."""
    return {c.digest: c for folder in attempts(root, number) for c in calls(root, folder) if c.complete}
