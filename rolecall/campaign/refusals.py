"""What the file system said, in words: the fault and its remedy for each error number."""

from __future__ import annotations

import errno

from rolecall.errors import StorageError

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
    **dict.fromkeys(
        (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP),
        ("this disk cannot lock files", "keep the campaign on a disk of this machine"),
    ),
    errno.EEXIST: ("there is such a file already", "choose another name"),
}
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


_HELD = (32, 33)  # winerror.h: ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION; their error number is that of EACCES


def refused(error: OSError, path: object) -> StorageError:
    """The one-line error for what the file system said about `path`."""
    if getattr(error, "winerror", 0) in _HELD:
        what, remedy = "another program has it open", "close it there and run the command again"
    else:
        what, remedy = _REASONS.get(error.errno or 0, (error.strerror or str(error), "nothing was changed there"))
    said = StorageError(what, path=path, remedy=remedy)
    said.of_one_file = error.errno in _OF_ONE_FILE  # type: ignore[attr-defined]
    return said


def is_of_one_file(error: StorageError) -> bool:
    """Whether only that file refuses (gone, forbidden, leading outside), and not the disk: the rest can go on."""
    return getattr(error, "of_one_file", True)  # without an error number it was refused by the file layer itself
