"""Durable files: the only module that writes in a campaign.

Four motions, all synced to the disk before they return: `create` (never over an existing file), `append` (one
write at the end), `replace` (one rename, only over the very bytes that were read) and `rewrite` for the machine's own
files under `.rolecall/`. Every system call that changes something goes through `fs`, which the tests swap for one that
fails on purpose.

Nothing outside the campaign is touched: a path is relative, without `..`, and no symlink is followed out.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath

from rolecall.campaign.displacing import (
    TEMP_PREFIX,
    TEMP_SUFFIX,
    drop,
    is_temp,
    litter,
    removed,
    rename,
    sha256,
    swapped,
    temp_name,
)
from rolecall.campaign.filesystem import FileSystem
from rolecall.campaign.paths import exists, folder_stamp, is_inside, is_shared, locate, stamp
from rolecall.campaign.refusals import is_of_one_file, refused
from rolecall.errors import Conflict, StorageError

# The whole file layer by one name, whichever module of it a thing is made in.
__all__ = [
    "MAX_FILE",
    "TEMP_PREFIX",
    "TEMP_SUFFIX",
    "FileSystem",
    "Log",
    "Nameless",
    "append",
    "before_change",
    "create",
    "exists",
    "folder_stamp",
    "forget",
    "fs",
    "is_of_one_file",
    "is_shared",
    "is_temp",
    "litter",
    "locate",
    "make_folder",
    "move",
    "read",
    "refused",
    "remove",
    "remove_empty",
    "replace",
    "rewrite",
    "sha256",
    "stamp",
    "sweep",
]

# What a system says that has no hard links; Windows has its "incorrect function" for it, Android forbids them.
_NO_LINKS = {
    *(errno.EPERM, errno.EACCES, errno.EINVAL, errno.EMLINK),
    *(errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS),
}

MAX_FILE = 32 * 1024 * 1024  # bytes; a Markdown file larger than this is refused, not read

fs = FileSystem()  # looked up at every call
before_change: list[Callable[[Path, str], None]] = []  # told of each path before something is done to it


def _tell(root: Path, path: str) -> None:
    for told in before_change:
        told(root, path)


def read(root: Path, path: str) -> bytes:
    """All bytes of a campaign file; StorageError when it cannot be read or is over 32 MiB."""
    fd = _open(root, path, locate(root, path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise StorageError("this is not a plain file", path=path, remedy="move it out of the campaign")
        return _read_all(fd, path)
    except OSError as error:
        raise refused(error, path) from None
    finally:
        fs.close(fd)


def _open(root: Path, path: str, place: Path, flags: int) -> int:
    """A descriptor of a located file; StorageError also when a link has taken the place of it, or of a folder above, since."""
    try:
        fd = fs.open(place, flags | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        raise refused(error, path) from None
    if not is_inside(root, fd):
        fs.close(fd)
        raise StorageError("this link leads out of the campaign", path=path, remedy="put the file itself here")
    return fd


def _read_all(fd: int, path: str) -> bytes:
    parts, total = [], 0
    while chunk := fs.read(fd, 1 << 20):
        parts.append(chunk)
        total += len(chunk)
        if total > MAX_FILE:
            raise StorageError("the file is larger than 32 MiB", path=path, remedy="split it, or move it elsewhere")
    return b"".join(parts)


def make_folder(root: Path, path: str) -> None:
    """Make a folder of the campaign and its parents, durably; nothing when it is there."""
    place = locate(root, path)
    missing = []
    while not place.is_dir():
        missing.append(place)
        place = place.parent
    for folder in reversed(missing):
        try:
            fs.mkdir(folder)
            fs.sync_folder(folder.parent)
        except FileExistsError:
            if not folder.is_dir():
                raise StorageError(
                    "a file stands where a folder is needed", path=path, remedy="rename that file"
                ) from None
        except OSError as error:
            raise refused(error, path) from None


def create(root: Path, path: str, data: bytes) -> None:
    """Write a new file, whole or not at all; Conflict when the name is taken."""
    _tell(root, path)
    Nameless(root, path, data).named(path)


class Nameless:
    """A new file whose bytes are on the disk before it has its name: it may be written long before the name is known."""

    def __init__(self, root: Path, beside: str, data: bytes) -> None:
        """`beside` is a path in the folder it will stand in."""
        make_folder(root, str(PurePosixPath(beside).parent))
        self._root = root
        self._temp = _write_temp(root, locate(root, beside), data, None, beside)

    def named(self, path: str) -> None:
        """Give it its name, durably; Conflict when the name is taken."""
        place = locate(self._root, path)
        try:
            try:
                fs.link(self._temp, place)
            except FileExistsError:
                raise Conflict("there is such a file already", path=path, remedy="choose another name") from None
            except OSError as error:
                # A file system without hard links (FAT, exFAT, some mounts): claim the name, then rename over our claim.
                if error.errno not in _NO_LINKS:
                    raise
                _claim(place, path)
                fs.replace(self._temp, place)
            drop(fs, self._temp)
            fs.sync_folder(place.parent)
        except OSError as error:
            raise refused(error, path) from None
        finally:
            self.drop()

    def drop(self) -> None:
        """Let it go; nothing where it has its name."""
        drop(fs, self._temp)


def _claim(place: Path, path: str) -> None:
    try:
        fs.close(fs.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        raise Conflict("there is such a file already", path=path, remedy="choose another name") from None


def append(
    root: Path, path: str, data: bytes, *, size: int | None = None, own_line: bool = False, durable: bool = True
) -> None:
    """Add bytes at the end in one write, durably.

    `size` is the length the file had when `data` was made for it: Conflict when it is another now, or when an
    editor put a new file in its place meanwhile. A write that fails half-way takes its own half back. With `own_line`
    the bytes begin on a line of their own, also behind one that a kill has torn. What is not `durable` may be gone with
    the machine.
    """
    _tell(root, path)
    place = locate(root, path)
    fd = _open(root, path, place, (os.O_RDWR if own_line else os.O_WRONLY) | os.O_APPEND)
    try:
        before = os.fstat(fd).st_size
        if size is not None and before != size:
            raise Conflict("the file changed since it was read", path=path, remedy="run the command again")
        if own_line and before:
            os.lseek(fd, before - 1, os.SEEK_SET)
            data = data if fs.read(fd, 1) == b"\n" else b"\n" + data
        try:
            _write_all(fd, data)
        except OSError:
            _take_back(fd, before, data)
            raise
        if durable:
            fs.fsync(fd)
        if not _is_at(fd, place):
            raise Conflict("an editor replaced the file meanwhile", path=path, remedy="run the command again")
    except OSError as error:
        raise refused(error, path) from None
    finally:
        fs.close(fd)


def _is_at(fd: int, place: Path) -> bool:
    """Whether an open file still bears its name. Asked by name Windows may tell another device than of an open file."""
    if os.path.samestat(os.stat(place), os.fstat(fd)):
        return True
    again = fs.open(place, os.O_RDONLY)
    try:
        return os.path.samestat(os.fstat(again), os.fstat(fd))
    finally:
        fs.close(again)


def _take_back(fd: int, before: int, data: bytes) -> None:
    """Cut off our own torn bytes, and only when nothing else was added behind them."""
    torn = os.fstat(fd).st_size - before
    if 0 < torn < len(data):
        with suppress(OSError):  # if that fails too, the turn's record knows what was to stand here and completes it
            fs.truncate(fd, before)


def replace(root: Path, path: str, data: bytes, *, expected: str) -> None:
    """Put `data` in the place of the bytes whose SHA-256 is `expected`; Conflict when they are others by now.

    A save that comes in between the last look and the rename is not lost: what was displaced is looked at once more, and
    put back if it is not what was expected.
    """
    _tell(root, path)
    place = locate(root, path)
    try:
        mode = stat.S_IMODE(os.stat(place).st_mode)
    except OSError as error:
        raise refused(error, path) from None
    temp = _write_temp(root, place, data, mode, path)
    try:
        if sha256(read(root, path)) != expected or not swapped(fs, temp, place, expected):
            raise Conflict("the file changed since it was read", path=path, remedy="run the command again")
        drop(fs, temp)  # before the folder is synced: else the displaced bytes come back when the machine goes down
        fs.sync_folder(place.parent)
    except OSError as error:
        raise refused(error, path) from None
    finally:
        drop(fs, temp)


def rewrite(root: Path, path: str, data: bytes, *, durable: bool = True) -> None:
    """Create or replace one of the machine's own files (under `.rolecall/`), whole or not at all.

    What is not `durable` may be gone with the machine: a note that means nothing after a restart.
    """
    make_folder(root, str(PurePosixPath(path).parent))
    place = locate(root, path)
    temp = _write_temp(root, place, data, None, path, durable=durable)
    try:
        rename(fs, temp, place)
        if durable:
            fs.sync_folder(place.parent)
    except OSError as error:
        raise refused(error, path) from None
    finally:
        drop(fs, temp)


def remove(root: Path, path: str, *, expected: str = "") -> None:
    """Remove one file's name, durably; nothing when it is gone already.

    With `expected`, the SHA-256 of what was just read, Conflict when it is another file by now.
    """
    _tell(root, path)
    place = locate(root, path)
    try:
        if not expected:
            fs.unlink(place)
        elif not removed(fs, place, expected):
            raise Conflict("the file changed since it was read", path=path, remedy="run the command again")
        fs.sync_folder(place.parent)
    except FileNotFoundError:
        return
    except OSError as error:
        raise refused(error, path) from None


def remove_empty(root: Path, folder: str) -> None:
    """Remove a folder and those above it, inside the campaign, as far up as nothing else is in them."""
    while folder and folder != ".":
        try:
            fs.rmdir(locate(root, folder))
        except FileNotFoundError:
            pass  # gone already
        except OSError:  # something is in it
            return
        folder = str(PurePosixPath(folder).parent)


def forget(root: Path, path: str) -> None:
    """Remove one of the machine's own files that means nothing after a restart; nothing when it is gone already."""
    try:
        fs.unlink(locate(root, path))
    except FileNotFoundError:
        return
    except OSError as error:
        raise refused(error, path) from None


def move(root: Path, path: str, new: str) -> None:
    """Rename a file or folder inside the campaign; Conflict when the new name is taken."""
    if exists(root, new):
        raise Conflict("there is such a file already", path=new, remedy="choose another name")
    _tell(root, path)
    _tell(root, new)
    make_folder(root, str(PurePosixPath(new).parent))
    place = locate(root, path)
    try:
        fs.replace(place, locate(root, new))
        fs.sync_folder(place.parent)
    except OSError as error:
        raise refused(error, path) from None


class Log:
    """A file of the machine's own that grows line by line while something runs; made new, closed by `close`.

    A line is with the operating system when `write` returns, so that it outlives the process; `sync` puts it on the disk.
    Its name is there for good as soon as another file is made in its folder: who makes one next to it makes it second.
    """

    def __init__(self, root: Path, path: str) -> None:
        self.path = path
        _tell(root, path)
        make_folder(root, str(PurePosixPath(path).parent))
        place = locate(root, path)
        try:
            self._fd: int | None = fs.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND)
        except FileExistsError:
            raise Conflict("there is such a file already", path=path, remedy="choose another name") from None
        except OSError as error:
            raise refused(error, path) from None

    def write(self, data: bytes) -> None:
        """Add bytes."""
        try:
            _write_all(self._fd, data)
        except OSError as error:
            raise refused(error, self.path) from None

    def sync(self) -> None:
        """Wait until all that was written is on the disk."""
        try:
            fs.fsync(self._fd)
        except OSError as error:
            raise refused(error, self.path) from None

    def close(self) -> None:
        """Close the file; nothing when it is closed."""
        if self._fd is not None:
            fs.close(self._fd)
            self._fd = None


def sweep(root: Path) -> None:
    """Remove the file layer's temporary files wherever a killed command left one. Only while nobody else writes here."""
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            if is_temp(name):
                drop(fs, Path(place, name))


def _write_temp(root: Path, place: Path, data: bytes, mode: int | None, path: str, *, durable: bool = True) -> Path:
    temp = temp_name(place)
    try:
        fd = _open(root, path, temp, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except StorageError:
        drop(fs, temp)
        raise
    try:
        try:
            _write_all(fd, data)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
            if durable:
                fs.fsync(fd)
        finally:
            fs.close(fd)
    except OSError as error:
        drop(fs, temp)
        raise refused(error, path) from None
    return temp


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[fs.write(fd, bytes(view)) :]
