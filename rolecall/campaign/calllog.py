"""The model calls of a record: each a request and a log of its events, written before anything comes of them.

`calls/001-narrator.json` holds the layer, the request and its digest; `calls/001-narrator.jsonl` an event a line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rolecall.campaign import files, recordlines
from rolecall.campaign.archive import TURNS, attempts, plain
from rolecall.campaign.beside import Beside
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


class Asked:
    """A request on its way to the disk while the model it was sent to is awaited, which takes longer.

    `made` gives its digest and the request itself. It has no name until an answer comes (`opened`): nothing may come of an
    answer before that has returned. Where none comes, it is dropped.
    """

    def __init__(
        self, record: Record, layer: str, made: Callable[[], tuple[str, dict]], *, again: bool = False
    ) -> None:
        """`again`: an earlier attempt has paid for the answer."""
        self._record, self._layer = record, layer
        head = {"layer": layer, **({"again": True} if again else {})}

        def saved() -> files.Nameless:
            digest, request = made()
            body = json.dumps({**head, "digest": digest, "request": request}, ensure_ascii=False)
            beside = f"{record.folder}/calls/request"
            return files.Nameless(record.root, beside, body.encode("utf-8", "surrogatepass"))

        self._saved = Beside("request", saved)

    def opened(self) -> CallLog:
        """The log for its answer; both are durable. Raises what stood in the way. One caller at a time: a number is taken."""
        record, saved = self._record, self._saved.value()
        record.calls += 1
        stem = f"{record.folder}/calls/{record.calls:03d}-{self._layer}"
        log = CallLog(record.root, f"{stem}.jsonl")  # first: what makes the request durable makes both names so
        try:
            saved.named(f"{stem}.json")
        except BaseException:
            log.close()
            raise
        return log

    def drop(self) -> None:
        """No answer came: it goes again."""
        with suppress(Exception):  # what was not saved is not there
            self._saved.value().drop()


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


def last_call(root: Path, folder: str) -> int:
    """The number of a record's last call, also of one whose request was never saved; 0 when there is none."""
    place = root / folder / "calls"
    numbers = [p.name.partition("-")[0] for p in place.iterdir()] if place.is_dir() else []
    return max((int(number) for number in numbers if number.isdecimal()), default=0)


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
