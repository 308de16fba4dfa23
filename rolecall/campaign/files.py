"""Durable files: the only module that writes in a campaign.

Four motions, all synced to the disk before they return: `create` (never over an existing file), `append` (one
write at the end), `replace` (one rename, only over the very bytes that were read) and `rewrite` for the machine's own
files under `.rolecall/`. Every system call that changes something goes through `fs`, which the tests swap for one that
fails on purpose.

Nothing outside the campaign is touched: a path is relative, without `..`, and no symlink is followed out.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path, PurePosixPath

from rolecall.errors import Conflict, StorageError

TEMP_PREFIX = ".rolecall-"
TEMP_SUFFIX = ".tmp"
MAX_FILE = 32 * 1024 * 1024  # bytes; a Markdown file larger than this is refused, not read

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space and run the command again"),
    errno.EDQUOT: ("the disk quota is used up", "free some space and run the command again"),
    errno.EROFS: ("the file system is read-only", "make it writable and run the command again"),
    errno.EACCES: ("permission denied", "check who may read and write it"),
    errno.EPERM: ("permission denied", "check who may read and write it"),
    errno.EIO: ("the disk reported an error", "check the disk; nothing else was changed"),
    errno.ENOENT: ("there is no such file", "check the path"),
    errno.EISDIR: ("this is a folder, not a file", "name a file"),
    errno.ENOTDIR: ("a part of this path is a file, not a folder", "move that file out of the way"),
    errno.ELOOP: ("this link points at itself", "remove the link"),
    errno.ENAMETOOLONG: ("the name is too long", "use a shorter name"),
    errno.EEXIST: ("there is such a file already", "choose another name"),
}
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EXDEV}
_OF_ONE_FILE = {
    errno.EACCES,
    errno.EPERM,
    errno.ENOENT,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.EEXIST,
}


class FileSystem:
    """The system calls this module makes, one method each: the seam where faults are injected."""

    def open(self, path: Path, flags: int, mode: int = 0o666) -> int:
        """A file descriptor; `O_BINARY` and `O_CLOEXEC` are added where the system has them."""
        return os.open(path, flags | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0), mode)

    def read(self, fd: int, size: int) -> bytes:
        """Up to `size` bytes."""
        return os.read(fd, size)

    def write(self, fd: int, data: bytes) -> int:
        """How many bytes were written: possibly fewer than given."""
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        """Wait until the file's bytes are on the disk."""
        os.fsync(fd)

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file to `size` bytes."""
        os.ftruncate(fd, size)

    def close(self, fd: int) -> None:
        """Give the descriptor back."""
        os.close(fd)

    def replace(self, source: Path, target: Path) -> None:
        """Rename over `target` in one step."""
        os.replace(source, target)

    def exchange(self, one: Path, other: Path) -> None:
        """Let two files change names in one step; OSError where the system or the file system cannot."""
        if sys.platform not in ("linux", "darwin"):
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        names = os.fsencode(one), os.fsencode(other)
        try:
            if sys.platform == "linux":  # renameat2(2): AT_FDCWD, RENAME_EXCHANGE
                failed = library.renameat2(-100, names[0], -100, names[1], 2)
            else:  # renamex_np(2): RENAME_SWAP
                failed = library.renamex_np(*names, 2)
        except AttributeError:  # an older C library
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from None
        if failed:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(other))

    def link(self, source: Path, target: Path) -> None:
        """A second name for a file; fails when `target` exists."""
        os.link(source, target)

    def unlink(self, path: Path) -> None:
        """Remove a name."""
        os.unlink(path)

    def mkdir(self, path: Path) -> None:
        """Make one folder."""
        os.mkdir(path)

    def sync_folder(self, path: Path) -> None:
        """Make names in a folder durable; Windows neither needs nor offers it."""
        if sys.platform == "win32":
            return
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno != errno.EINVAL:  # some network mounts cannot sync a folder
                raise
        finally:
            os.close(fd)


fs = FileSystem()
undropped: set[Path] = set()  # temporary files of this process that could not be removed


def sha256(data: bytes) -> str:
    """Lower-case hexadecimal SHA-256: the form in which records, seals and checks hold it."""
    return hashlib.sha256(data).hexdigest()


def refused(error: OSError, path: object) -> StorageError:
    """The one-line error for what the file system said about `path`."""
    what, remedy = _REASONS.get(error.errno or 0, (error.strerror or str(error), "nothing was changed there"))
    said = StorageError(what, path=path, remedy=remedy)
    said.of_one_file = error.errno in _OF_ONE_FILE  # type: ignore[attr-defined]
    return said


def is_of_one_file(error: StorageError) -> bool:
    """Whether only that file refuses (gone, forbidden, leading outside), and not the disk: the rest can go on."""
    return getattr(error, "of_one_file", True)  # without an error number it was refused by this module itself


def locate(root: Path, path: str) -> Path:
    """The real place of a campaign path (posix, relative); StorageError when it would lie outside."""
    pure = PurePosixPath(path)
    drive = sys.platform == "win32" and (":" in path or "\\" in path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\0" in path or drive:
        raise StorageError(
            "this path points outside the campaign", path=path or "(empty path)", remedy="use one inside"
        )
    base = os.path.realpath(root)
    real = os.path.realpath(os.path.join(base, *pure.parts))
    if real != base and not real.startswith(base.rstrip(os.sep) + os.sep):
        raise StorageError("this link leads out of the campaign", path=path, remedy="put the file itself here")
    return Path(real)


def read(root: Path, path: str) -> bytes:
    """All bytes of a campaign file; StorageError when it cannot be read or is over 32 MiB."""
    place = locate(root, path)
    try:
        fd = fs.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise refused(error, path) from None
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise StorageError("this is not a plain file", path=path, remedy="move it out of the campaign")
        return _read_all(fd, path)
    except OSError as error:
        raise refused(error, path) from None
    finally:
        fs.close(fd)


def _read_all(fd: int, path: str) -> bytes:
    parts, total = [], 0
    while chunk := fs.read(fd, 1 << 20):
        parts.append(chunk)
        total += len(chunk)
        if total > MAX_FILE:
            raise StorageError("the file is larger than 32 MiB", path=path, remedy="split it, or move it elsewhere")
    return b"".join(parts)


def exists(root: Path, path: str) -> bool:
    """Whether something has that name (a dangling link counts)."""
    return os.path.lexists(root.joinpath(*PurePosixPath(path).parts))


def stamp(root: Path, path: str) -> tuple[int, int, int]:
    """(modification time in ns, size, inode) of what bears that name; of its folder, or zeros, where it is missing."""
    place = root.joinpath(*PurePosixPath(path).parts)
    for at, missing in ((place, False), (place.parent, True)):
        try:
            info = os.stat(at)
        except OSError:
            continue
        return info.st_mtime_ns, -1 if missing else info.st_size, info.st_ino
    return 0, 0, 0


def is_shared(root: Path, path: str) -> bool:
    """Whether the file has a second name (a hard-linked backup): then it is replaced, never written in place."""
    return os.stat(locate(root, path)).st_nlink > 1


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
    make_folder(root, str(PurePosixPath(path).parent))
    place = locate(root, path)
    temp = _write_temp(place, data, None, path)
    try:
        try:
            fs.link(temp, place)
        except FileExistsError:
            raise Conflict("there is such a file already", path=path, remedy="choose another name") from None
        except OSError as error:
            # A file system without hard links (exFAT, some mounts): claim the name, then rename over our own claim.
            if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}:
                raise
            _claim(place, path)
            fs.replace(temp, place)
        _drop(temp)
        fs.sync_folder(place.parent)
    except OSError as error:
        raise refused(error, path) from None
    finally:
        _drop(temp)


def _claim(place: Path, path: str) -> None:
    try:
        fs.close(fs.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        raise Conflict("there is such a file already", path=path, remedy="choose another name") from None


def append(root: Path, path: str, data: bytes, *, size: int | None = None, own_line: bool = False) -> None:
    """Add bytes at the end in one write, durably.

    `size` is the length the file had when `data` was made for it: Conflict when it is another now, or when an
    editor put a new file in its place meanwhile. A write that fails half-way takes its own half back. With `own_line`
    the bytes begin on a line of their own, also behind one that a kill has torn.
    """
    place = locate(root, path)
    try:
        fd = fs.open(place, (os.O_RDWR if own_line else os.O_WRONLY) | os.O_APPEND)
    except OSError as error:
        raise refused(error, path) from None
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
        fs.fsync(fd)
        here = os.stat(place)
        if (here.st_dev, here.st_ino) != (os.fstat(fd).st_dev, os.fstat(fd).st_ino):
            raise Conflict("an editor replaced the file meanwhile", path=path, remedy="run the command again")
    except OSError as error:
        raise refused(error, path) from None
    finally:
        fs.close(fd)


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
    place = locate(root, path)
    try:
        mode = stat.S_IMODE(os.stat(place).st_mode)
    except OSError as error:
        raise refused(error, path) from None
    temp = _write_temp(place, data, mode, path)
    try:
        if sha256(read(root, path)) != expected or not _swapped(temp, place, expected):
            raise Conflict("the file changed since it was read", path=path, remedy="run the command again")
        fs.sync_folder(place.parent)
    except OSError as error:
        raise refused(error, path) from None
    finally:
        _drop(temp)


def _swapped(temp: Path, place: Path, expected: str) -> bool:
    """Put `temp` in the place of the expected file; False, with everything as it was, when another stands there by now."""
    try:
        fs.exchange(temp, place)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in _NO_EXCHANGE:
            raise
        return _renamed_over(temp, place, expected)
    if sha256(temp.read_bytes()) == expected:
        return True
    fs.exchange(temp, place)
    return False


def _renamed_over(temp: Path, place: Path, expected: str) -> bool:
    """The same where names cannot be exchanged: a second name holds what is displaced until it was looked at."""
    held = _temp_name(place)
    try:
        try:
            fs.link(place, held)
        except OSError:
            held = None  # no hard links either: the look before has to do
        _rename(temp, place)
        if held is None or sha256(held.read_bytes()) == expected:
            return True
        fs.replace(held, place)
        return False
    finally:
        if held is not None:
            _drop(held)


def rewrite(root: Path, path: str, data: bytes, *, durable: bool = True) -> None:
    """Create or replace one of the machine's own files (under `.rolecall/`), whole or not at all.

    What is not `durable` may be gone with the machine: a note that means nothing after a restart.
    """
    make_folder(root, str(PurePosixPath(path).parent))
    place = locate(root, path)
    temp = _write_temp(place, data, None, path, durable=durable)
    try:
        _rename(temp, place)
        if durable:
            fs.sync_folder(place.parent)
    except OSError as error:
        raise refused(error, path) from None
    finally:
        _drop(temp)


def remove(root: Path, path: str) -> None:
    """Remove one file's name, durably; nothing when it is gone already."""
    place = locate(root, path)
    try:
        fs.unlink(place)
        fs.sync_folder(place.parent)
    except FileNotFoundError:
        return
    except OSError as error:
        raise refused(error, path) from None


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
    """

    def __init__(self, root: Path, path: str) -> None:
        self.path = path
        create(root, path, b"")
        try:
            self._fd: int | None = fs.open(locate(root, path), os.O_WRONLY | os.O_APPEND)
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


def is_temp(name: str) -> bool:
    """Whether a file name is one of this module's temporary ones."""
    return name.startswith(TEMP_PREFIX) and name.endswith(TEMP_SUFFIX)


def sweep(root: Path) -> None:
    """Remove this module's temporary files wherever a killed command left one. Only while nobody else writes here."""
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            if is_temp(name):
                _drop(Path(place, name))


def litter() -> bool:
    """Whether a temporary file of this process could not be removed."""
    undropped.difference_update([temp for temp in undropped if not os.path.lexists(temp)])
    return bool(undropped)


def _temp_name(place: Path) -> Path:
    return place.with_name(f"{TEMP_PREFIX}{os.getpid()}-{secrets.token_hex(4)}{TEMP_SUFFIX}")


def _write_temp(place: Path, data: bytes, mode: int | None, path: str, *, durable: bool = True) -> Path:
    temp = _temp_name(place)
    try:
        fd = fs.open(temp, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        try:
            _write_all(fd, data)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
            if durable:
                fs.fsync(fd)
        finally:
            fs.close(fd)
    except OSError as error:
        _drop(temp)
        raise refused(error, path) from None
    return temp


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[fs.write(fd, bytes(view)) :]


def _rename(temp: Path, place: Path) -> None:
    """Rename over the target; another program holding it open (Windows) gets a moment to let go."""
    for pause in (0.05, 0.1, 0.2, 0.4, None):
        try:
            fs.replace(temp, place)
            return
        except PermissionError:
            if pause is None or sys.platform != "win32":
                raise
            time.sleep(pause)


def _drop(temp: Path) -> None:
    try:
        fs.unlink(temp)
    except FileNotFoundError:
        pass
    except OSError:
        undropped.add(temp)  # another program holds it (Windows), or the disk fails: swept with the next command
    else:
        undropped.discard(temp)
