"""What the game has written and git has not been given yet: `.rolecall/uncommitted.jsonl`, a JSON object a line.

A line is put down before its file is touched, so that after a kill, a lock or a rebase the game's own changes are told from
the writer's, and become a commit of their own with the next command: `path` names a file, `message` what the command
was about, `index` which entries of the writer's index were to follow a commit.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.campaign import archive, files
from rolecall.campaign.folder import MACHINE_FOLDER
from rolecall.errors import StorageError

PATH = f"{MACHINE_FOLDER}/uncommitted.jsonl"


@dataclass(slots=True)
class Ledger:
    """The ledger of one campaign. It is a help: where the disk refuses it, the paths are known in memory alone."""

    root: Path
    paths: dict[str, None] = field(default_factory=dict)  # in the order of their first change
    messages: list[str] = field(default_factory=list)
    index: dict[str, str] = field(default_factory=dict)  # path: the blob its entry had before the commit
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def read(cls, root: Path) -> Ledger:
        """The ledger as an earlier command left it, empty when all was committed."""
        ledger = cls(root)
        with suppress(StorageError):
            for line in archive.json_lines(archive.plain(root, PATH) or b""):
                ledger._take(line)
        return ledger

    def _take(self, line: dict) -> None:
        if isinstance(path := line.get("path"), str):
            self.paths[path] = None
        if isinstance(message := line.get("message"), str):
            self.messages.append(message)
        if isinstance(index := line.get("index"), dict):
            self.index |= {path: blob for path, blob in index.items() if isinstance(blob, str)}

    def note(self, **line: object) -> None:
        """Put down one line."""
        with self._lock:
            self._take(line)
            with suppress(StorageError):
                if not files.exists(self.root, PATH):
                    files.create(self.root, PATH, b"")
                files.append(self.root, PATH, json.dumps(line).encode() + b"\n", own_line=True, durable=False)

    def close(self, left: list[str] = ()) -> None:
        """All is committed but what is `left`, with the messages that go with it."""
        messages = self.messages if left else []
        self.paths, self.messages, self.index = {}, [], {}
        with suppress(StorageError):
            if files.exists(self.root, PATH):
                files.forget(self.root, PATH)
        for path in left:
            self.note(path=path)
        for message in messages:
            self.note(message=message)

    @contextmanager
    def watching(self, first: Callable[[], None]) -> Iterator[None]:
        """While this lasts, every file of the campaign that is changed here is put down before it is touched.

        `first` is called before each: it waits for what must be done with the files as they were.
        """

        def changing(root: Path, path: str) -> None:
            if root != self.root or path.startswith(f"{MACHINE_FOLDER}/"):
                return
            first()
            if path not in self.paths:
                self.note(path=path)

        files.before_change.append(changing)
        try:
            yield
        finally:
            files.before_change.remove(changing)
