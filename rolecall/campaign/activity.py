"""The activity feed: what the helpers did and why, a JSON object a line in `.rolecall/activity.jsonl`.

The feed is for a person to watch; it is never read to decide anything, and it may be deleted. It keeps the newest lines when it
grows past its size. What names a secret is marked, and shown to the writer only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rolecall.campaign import files
from rolecall.campaign.folder import MACHINE_FOLDER
from rolecall.errors import StorageError

PATH = f"{MACHINE_FOLDER}/activity.jsonl"
SHOWN = 200  # operations shown at most
KEPT = 2000  # operations kept when the file is cut
LARGEST = 1 << 20  # bytes at which it is cut

TYPES = (
    "search", "select", "plan", "remember", "update", "forget", "summary", "reorganize", "merge_split", "ingest", "continuity", "fold", "degraded",
)  # fmt: skip
PHASES = ("pre-gen", "during-gen", "post-gen", "summary")


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing a helper did. Times in milliseconds, `tokens` in and out together."""

    at: str
    turn: str
    type: str
    phase: str
    model: str
    reason: str
    paths: tuple[str, ...] = ()
    tokens: int = 0
    ms: int = 0
    secret: bool = False


class Feed:
    """The feed of one campaign. A feed that cannot be written is silent: it never stops a turn."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def note(
        self,
        type: str,
        phase: str,
        *,
        turn: str = "",
        model: str = "",
        reason: str = "",
        paths: Sequence[str] = (),
        tokens: int = 0,
        ms: int = 0,
        secret: bool = False,
    ) -> None:
        """Add an operation."""
        when = time.strftime("%Y-%m-%dT%H:%M:%S")
        done = Operation(
            when, turn, type, phase, model, " ".join(reason.split())[:500], tuple(paths), tokens, ms, secret
        )
        line = json.dumps(asdict(done), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            if not files.exists(self.root, PATH):
                files.create(self.root, PATH, b"")
            self._cut()
            files.append(self.root, PATH, line, own_line=True, durable=False)
        except StorageError:
            return

    def _cut(self) -> None:
        if files.stamp(self.root, PATH)[1] <= LARGEST:
            return
        lines = files.read(self.root, PATH).splitlines(keepends=True)
        files.rewrite(self.root, PATH, b"".join(lines[-KEPT:]), durable=False)

    def read(
        self, *, limit: int = SHOWN, types: Sequence[str] = (), phases: Sequence[str] = (), with_secrets: bool = False
    ) -> list[Operation]:
        """The newest operations, oldest first; at most 200."""
        if not files.exists(self.root, PATH):
            return []
        found = [_operation(raw) for raw in files.read(self.root, PATH).split(b"\n")]
        kept = [op for op in found if op and _wanted(op, types, phases, with_secrets)]
        return kept[-min(limit, SHOWN) :]

    def follow(
        self, *, types: Sequence[str] = (), phases: Sequence[str] = (), with_secrets: bool = False, pause: float = 0.3
    ) -> Iterator[Operation]:
        """Operations as they are added, until the caller stops."""
        at = files.stamp(self.root, PATH)[1] if files.exists(self.root, PATH) else 0
        while True:
            size = files.stamp(self.root, PATH)[1] if files.exists(self.root, PATH) else 0
            if size < at:  # it was cut or deleted
                at = 0
            if size > at:
                data = files.read(self.root, PATH)[at:]
                whole = data[: data.rfind(b"\n") + 1]
                at += len(whole)
                for raw in whole.split(b"\n"):
                    op = _operation(raw)
                    if op and _wanted(op, types, phases, with_secrets):
                        yield op
            time.sleep(pause)


def _wanted(op: Operation, types: Sequence[str], phases: Sequence[str], with_secrets: bool) -> bool:
    return (with_secrets or not op.secret) and (not types or op.type in types) and (not phases or op.phase in phases)


def _is_sound(op: Operation) -> bool:
    texts = (op.at, op.turn, op.type, op.phase, op.model, op.reason, *op.paths)
    return all(isinstance(text, str) for text in texts) and type(op.tokens) is int and type(op.ms) is int


def _operation(raw: bytes) -> Operation | None:
    try:
        line = json.loads(raw.decode("utf-8", "replace")) if raw.strip() else None
        done = Operation(**{**line, "paths": tuple(line["paths"])}) if line else None
        return done if done and _is_sound(done) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None  # torn by a kill, or of another version
