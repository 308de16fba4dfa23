"""Where a campaign path lies, and what bears its name: relative, without `..`, and no symlink followed out."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path, PurePosixPath

from rolecall.campaign.filenames import is_fit, same_key
from rolecall.errors import StorageError


def locate(root: Path, path: str) -> Path:
    """The real place of a campaign path (posix, relative); StorageError when it would lie outside."""
    pure = PurePosixPath(path)
    drive = sys.platform == "win32" and (":" in path or "\\" in path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\0" in path or drive:
        raise StorageError(
            "this path points outside the campaign", path=path or "(empty path)", remedy="use one inside"
        )
    if sys.platform == "win32" and (unfit := next((part for part in pure.parts if not is_fit(part)), "")):
        # It would open a device, or (dots and spaces at the end do not count there) the file of another name.
        raise StorageError(f"Windows has no file named {unfit!r}", path=path, remedy="check the path")
    base = _real(root)
    real = os.path.join(base, *pure.parts)
    if sys.platform == "win32" or _has_link(base, pure.parts):
        real = os.path.realpath(real)
    if real != base and not real.startswith(base.rstrip(os.sep) + os.sep):
        raise StorageError("this link leads out of the campaign", path=path, remedy="put the file itself here")
    return Path(real)


def is_inside(root: Path, fd: int) -> bool:
    """Whether an open file lies in the campaign, by the system's own word for where it is (True where it has none).

    `locate` looks before a file is opened; a folder that is swapped for a link in between is only seen here.
    """
    try:
        if sys.platform == "darwin":
            import fcntl

            if not hasattr(fcntl, "F_GETPATH"):
                return True
            place = os.fsdecode(fcntl.fcntl(fd, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
        else:
            place = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return True
    base = _real(root).rstrip(os.sep) + os.sep
    return not place.startswith(os.sep) or same_key(place).startswith(same_key(base))


def _has_link(base: str, parts: tuple[str, ...]) -> bool:
    """Whether a link stands on the way from a real folder; only then the path may lead elsewhere than it says."""
    for part in parts:
        base = os.path.join(base, part)
        if os.path.islink(base):
            return True
    return False


@lru_cache(maxsize=64)  # asked for every file that is read; a root that became a link since leads nowhere
def _real(root: Path) -> str:
    return os.path.realpath(root)


def exists(root: Path, path: str) -> bool:
    """Whether something has that name (a dangling link counts)."""
    return os.path.lexists(root.joinpath(*PurePosixPath(path).parts))


def stamp(root: Path, path: str) -> tuple[int, int, int]:
    """(modification time in ns, size, inode) of what bears that name; of its folder, or zeros, where it is missing."""
    place = root.joinpath(*PurePosixPath(path).parts)
    try:
        info = os.stat(place)
    except OSError:
        return folder_stamp(root, path)
    return info.st_mtime_ns, info.st_size, info.st_ino


def folder_stamp(root: Path, path: str) -> tuple[int, int, int]:
    """What `stamp` says of a missing file in the folder of this one: its folder's time and inode, -1 for the size."""
    try:
        info = os.stat(root.joinpath(*PurePosixPath(path).parts).parent)
    except OSError:
        return 0, 0, 0
    return info.st_mtime_ns, -1, info.st_ino


def is_shared(root: Path, path: str) -> bool:
    """Whether the file has a second name (a hard-linked backup): then it is replaced, never written in place."""
    return os.stat(locate(root, path)).st_nlink > 1
