"""Campaign folders for the tests of search."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rolecall.campaign import files
from rolecall.campaign.folder import open_campaign
from rolecall.search.searcher import Search


class Folder:
    """A campaign folder with its own cache."""

    def __init__(self, base: Path, language: str = "en") -> None:
        self.root, self.cache = base / "campaign", base / "cache"
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "rolecall.yaml").write_bytes(f"format: 1\nname: Test\nlanguage: {language}\n".encode())

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file; it is dated long ago, so that it does not count as only just written."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        age(target)
        return target

    def search(self, **options: object) -> Search:
        """A new search over the folder, as a new process would have it."""
        return Search(open_campaign(self.root), cache=self.cache, **options)

    def refreshed(self, **options: object) -> Search:
        """The same, reconciled."""
        search = self.search(**options)
        search.refresh()
        return search


_clock = 1_600_000_000_000_000_000


def age(path: Path) -> None:
    """Date a file to a moment of its own in the past."""
    global _clock
    _clock += 1_000_000_007
    os.utime(path, ns=(_clock, _clock))


@contextmanager
def unreadable(path: Path) -> Iterator[None]:
    """Make a file or folder unreadable as the system would, for the superuser too."""
    scandir, opened = os.scandir, files.fs

    def refusing_scandir(where):
        if Path(where) == path:
            raise PermissionError(errno.EACCES, "Permission denied", str(where))
        return scandir(where)

    class Refusing(files.FileSystem):
        def open(self, where: Path, flags: int, mode: int = 0o666) -> int:
            if Path(where) == path:
                raise PermissionError(errno.EACCES, "Permission denied", str(where))
            return super().open(where, flags, mode)

    os.scandir, files.fs = refusing_scandir, Refusing()
    try:
        yield
    finally:
        os.scandir, files.fs = scandir, opened
