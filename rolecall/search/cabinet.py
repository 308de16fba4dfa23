"""Where the index of a campaign is kept, and how it is known to be our own.

A folder in the user's cache, keyed by the campaign's real path:

    key                        32 random bytes of this user on this machine, made once
    CAMPAIGN/catalogue         signature; then lines of JSON: a header, and the catalogue
    CAMPAIGN/index-TOKEN/      the index the header names
    CAMPAIGN/lock              held while the index changes

The catalogue is signed with the key (HMAC-SHA256) and names the index's folder and each file in it with size, time and
inode. A folder that was copied here, restored, cut short, or left by a crash does not match, and is built anew
instead of opened: whoosh's files hold pickles. Nothing here is synced to the disk; all of it can be lost.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rolecall.search.catalogue import Catalogue
from rolecall.search.weights import FORMAT

LAYOUT = 1
_KEY_BYTES = 32
_LARGEST = 1 << 30  # bytes of a catalogue: some thousand times that of a large campaign


@dataclass(frozen=True, slots=True)
class Shelf:
    """A catalogue with the index it belongs to. `seen` is the catalogue file's own stamp when it was read."""

    catalogue: Catalogue
    folder: str
    language: str
    engine: str
    files: dict[str, list[int]]
    seen: tuple[int, int, int]


class Cabinet:
    """The cache folder of one campaign. Every method raises OSError when the cache cannot be used."""

    def __init__(self, root: Path, base: Path | None = None) -> None:
        """`base` is the cache folder of all campaigns; by default the user's own."""
        self.root = os.path.realpath(root)
        self.base = base or _user_cache()
        self.folder = self.base / hashlib.sha256(os.fsencode(self.root)).hexdigest()[:24]
        self._file = self.folder / "catalogue"

    # -- reading

    def load(self, language: str) -> Shelf | None:
        """The shelf as last saved, or None when there is none, it is not ours, or it is of another format or language."""
        try:
            seen = self._seen()
            signature, _, rest = _read(self._file, _LARGEST).partition(b"\n")
            if not hmac.compare_digest(signature, self._sign(rest)):
                return None
            head, *lines = rest.split(b"\n")
            header = json.loads(head)
            if (header["layout"], header["format"], header["root"]) != (LAYOUT, FORMAT, self.root):
                return None
            if header["language"] != language or not _ours(header["folder"]):
                return None
            catalogue = Catalogue.load(lines)
            return Shelf(catalogue, header["folder"], language, header["engine"], header["files"], seen)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def is_current(self, shelf: Shelf) -> bool:
        """Whether a shelf is still the newest and the index's files are the very ones it was saved with."""
        try:
            return self._seen() == shelf.seen and self._listing(shelf.folder) == shelf.files
        except OSError:
            return False

    def path(self, shelf: Shelf) -> Path:
        """The folder of a shelf's index."""
        return self.folder / shelf.folder

    # -- writing

    @contextmanager
    def lock(self, wait: float) -> Iterator[bool]:
        """Hold the lock while the index changes; yields False when another process still has it after `wait` seconds."""
        from filelock import FileLock, Timeout

        self._make()
        lock = FileLock(self.folder / "lock")
        try:
            lock.acquire(timeout=wait, poll_interval=0.02)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def new_index(self) -> Path:
        """An empty folder for an index built from nothing."""
        folder = self.folder / f"index-{secrets.token_hex(8)}"
        folder.mkdir(mode=0o700)
        return folder

    def save(self, catalogue: Catalogue, folder: str, language: str, engine: str) -> Shelf:
        """Put a catalogue beside the state of the index it belongs to, and remove every other index folder."""
        files = self._listing(folder)
        header = {
            "layout": LAYOUT,
            "format": FORMAT,
            "root": self.root,
            "folder": folder,
            "language": language,
            "engine": engine,
            "files": files,
        }
        rest = b"\n".join([json.dumps(header).encode(), *catalogue.dump()])
        temporary = self.folder / f"catalogue.{secrets.token_hex(4)}.tmp"
        try:
            temporary.write_bytes(self._sign(rest) + b"\n" + rest)
            os.replace(temporary, self._file)
        finally:
            with suppress(OSError):
                temporary.unlink()
        self._sweep(folder)
        return Shelf(catalogue, folder, language, engine, files, self._seen())

    def discard(self) -> None:
        """Forget the catalogue, so that the next reconciliation builds everything anew."""
        with suppress(OSError):
            self._file.unlink()

    def clear(self) -> None:
        """Remove from the cache whatever is not of the kind it should be, and forget the catalogue.

        Nothing is followed out of the cache: a link goes, what it leads to stays.
        """
        if not stat.S_ISDIR(_mode(self.folder, stat.S_IFDIR)):
            self.folder.unlink()
        for path in (self.base / "key", self.folder / "lock", self._file):
            kind = _mode(path, stat.S_IFREG)
            if stat.S_ISDIR(kind):
                shutil.rmtree(path)
            elif not stat.S_ISREG(kind):
                path.unlink()
        self.discard()

    # -- inside

    def _make(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid"):
            info = os.stat(self.folder)
            if info.st_uid != os.getuid():
                raise PermissionError(f"{self.folder} belongs to another user")
            if info.st_mode & 0o022:
                os.chmod(self.folder, 0o700)

    def _sweep(self, keep: str) -> None:
        for found in self.folder.iterdir():
            if found.name.startswith("index-") and found.name != keep:
                shutil.rmtree(found, ignore_errors=True)
            elif found.suffix == ".tmp":
                with suppress(OSError):
                    found.unlink()

    def _seen(self) -> tuple[int, int, int]:
        info = os.stat(self._file)
        return info.st_size, info.st_mtime_ns, info.st_ino

    def _listing(self, folder: str) -> dict[str, list[int]]:
        """Size, time and inode of each file of an index; locks and what a writer is about to remove left out."""
        found = {}
        with os.scandir(self.folder / folder) as listing:
            for entry in listing:
                if entry.name.endswith((".toc", ".seg")):
                    info = os.stat(entry.path, follow_symlinks=False)
                    found[entry.name] = [info.st_size, info.st_mtime_ns, info.st_ino]
        return found

    def _sign(self, data: bytes) -> bytes:
        return hmac.new(self._key(), data, "sha256").hexdigest().encode()

    def _key(self) -> bytes:
        path = self.base / "key"
        with suppress(FileNotFoundError):
            info = os.stat(path, follow_symlinks=False)
            private = not hasattr(os, "getuid") or (info.st_uid == os.getuid() and not info.st_mode & 0o077)
            if private and stat.S_ISREG(info.st_mode) and info.st_size == _KEY_BYTES:
                return _read(path, _KEY_BYTES)
            path.unlink()
        self.base.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = self.base / f"key.{secrets.token_hex(4)}.tmp"
        fd = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
        try:
            os.write(fd, secrets.token_bytes(_KEY_BYTES))
        finally:
            os.close(fd)
        try:
            os.link(temporary, path)  # the first of two processes wins
        except FileExistsError:
            pass
        except OSError:
            os.replace(temporary, path)  # a file system without hard links
        with suppress(OSError):
            temporary.unlink()
        return _read(path, _KEY_BYTES)


def _ours(folder: str) -> bool:
    """Whether a name is one that `new_index` gives."""
    return folder.startswith("index-") and folder[6:].isalnum()


def _mode(path: Path, missing: int) -> int:
    """The kind of what stands there, links not followed; `missing` when there is nothing."""
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return missing


def _read(path: Path, most: int) -> bytes:
    """The bytes of a regular file; OSError for anything else: a pipe would never answer, a device never end."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(fd, "rb") as file:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode) or info.st_size > most:
            raise OSError(errno.EINVAL, "not a file of this program", str(path))
        return file.read(min(most, info.st_size + 1))  # as much room as it asks for is taken at once


def _user_cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("rolecall", appauthor=False)
