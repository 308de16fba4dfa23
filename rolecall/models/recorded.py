"""A model that answers from a turn's record: `record:PATH`, where PATH is a record's folder. No network, no money.

An answer is found by the request's digest. Where the request is not the same to the byte (another version of the
instructions, say) it is the next unused answer of the same layer to the same kind of question: the same schema, the
same tools. What the record does not hold is unavailable, like a model that does not answer.

A DM whose directive came too late for its turn gives none when the turn is told again.

The folder is `.rolecall/turns/T0042` of any campaign: `calls/001-narrator.json` with layer, digest and request, and
`calls/001-narrator.jsonl` with an event a line. Retellings of the Journal are looked for in the folds beside it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.errors import ModelSettings

from . import events, messages
from .events import Event, Stopped
from .faults import unavailable
from .messages import Request
from .provider import Limits, Profile, Ready, Stop, timed
from .specs import Spec

_LATE = b'{"do": "late", "layer": "dm"}'
LARGEST = 64 << 20  # bytes of one call's file
_OWN = ("narrator", "turn_dm", "dm", "afterwork")  # layers that have a chain of their name; the rest are the sidecar's


@dataclass(frozen=True, slots=True)
class Saved:
    """A recorded call: its layer, what was asked, and the events of the answer. `aside`: it belongs to a fold."""

    layer: str
    digest: str
    request: Request
    events: tuple[Event, ...]
    aside: bool = False

    def is_like(self, request: Request) -> bool:
        """Whether it answers the same kind of question."""
        return _kind(self.request) == _kind(request)


def _kind(request: Request) -> tuple[str, frozenset[str]]:
    schema = json.dumps(request.answer_schema, sort_keys=True)
    return schema, frozenset(tool.name for tool in request.tools)


class Tape:
    """The calls of one record, each given once in a process."""

    def __init__(self, folder: Path) -> None:
        self.calls = _read(folder)
        self._used: set[int] = set()
        self._lock = threading.Lock()

    def of(self, role: str) -> list[Saved]:
        """The calls that a role made."""
        return [call for call in self.calls if _is_of(call.layer, role)]

    def take(self, request: Request, role: str) -> Saved | None:
        """The answer to this request, or None when the record has none left for it."""
        digest = messages.digest(request)
        with self._lock:
            left = [n for n, call in enumerate(self.calls) if n not in self._used and _is_of(call.layer, role)]
            found = [n for n in left if self.calls[n].digest == digest]
            found += [n for n in left if not self.calls[n].aside and self.calls[n].is_like(request)]
            if role == "narrator":  # what it was offered may have changed; it is still the scene
                found += [n for n in left if not self.calls[n].aside]
            if not found:
                return None
            self._used.add(found[0])
            return self.calls[found[0]]


def _is_of(layer: str, role: str) -> bool:
    return layer == role if role in _OWN else layer not in _OWN


_tapes: dict[Path, Tape] = {}
_tapes_lock = threading.Lock()


class Recorded(Ready):
    """The provider for `record:PATH`. All roles of a process share one reading of the record."""

    def __init__(self, spec: Spec, role: str = "") -> None:
        self._spec, self._role = spec, role
        folder = Path(spec.name).expanduser().absolute()
        with _tapes_lock:
            if folder not in _tapes:
                _tapes[folder] = Tape(folder)
            self._tape = _tapes[folder]
        mine = [call for call in self._tape.of(role) if not call.aside]
        told = [call for call in self._tape.of("narrator") if call.request.tools]
        self.profile = Profile(str(spec), tools=bool(told), helpers=bool(mine) and role != "narrator", free=True)

    def stream(self, request: Request, limits: Limits) -> Iterator[Event]:
        """The recorded answer, at once."""
        return timed(str(self._spec), lambda stop: self._events(request, stop), limits)

    def _events(self, request: Request, stop: Stop) -> Iterator[Event]:
        saved = self._tape.take(request, self._role)
        if saved is None:
            raise unavailable(self._spec, "the record holds no answer to this")
        yield from (event for event in saved.events if not isinstance(event, events.Answered))


def forget() -> None:
    """Wind every tape back, so that a record can be replayed again in this process."""
    with _tapes_lock:
        _tapes.clear()


def _read(folder: Path) -> tuple[Saved, ...]:
    """The calls of a record in order, and those of the folds beside it. Raises ModelSettings where there is no record."""
    if not (folder / "record.jsonl").is_file():
        raise ModelSettings("there is no record of a turn here", path=folder, remedy="name a folder of .rolecall/turns")
    paths = sorted((folder / "calls").glob("*.json"))
    if _LATE in (folder / "record.jsonl").read_bytes():  # its answer served the turn after this one
        paths = [path for path in paths if not path.stem.endswith("-dm")]
    found = [_call(path, aside=False) for path in paths]
    folds = folder.parent.parent / "folds"
    found += [_call(path, aside=True) for path in sorted(folds.glob("*/calls/*.json"))]
    return tuple(call for call in found if call is not None)


def _call(path: Path, *, aside: bool) -> Saved | None:
    """A recorded call; None for one that is damaged, or was answered by nobody."""
    try:
        head: dict[str, Any] = json.loads(_text(path))
        lines = [json.loads(line) for line in _text(path.with_suffix(".jsonl")).split("\n") if line.strip()]
        given = tuple(events.decode(line) for line in lines)
        request = messages.decode(head["request"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not given or not isinstance(given[-1], Stopped):
        return None
    return Saved(str(head.get("layer", "")), str(head.get("digest", "")), request, given, aside)


def _text(path: Path) -> str:
    if (
        path.is_symlink() or not path.is_file()
    ):  # a record holds plain files: a link may lead anywhere, a pipe has no end
        raise ValueError("not a plain file")
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError("larger than any call")
    return data.decode("utf-8", "surrogatepass")
