"""One file in the place of another: temporary names, and the exchange that loses nobody's save.

The file system is handed in, so that a fault meant for `files.fs` strikes here too.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import sys
import time
from pathlib import Path

from rolecall.campaign.filesystem import FileSystem

TEMP_PREFIX = ".rolecall-"
TEMP_SUFFIX = ".tmp"

_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EXDEV}

undropped: set[Path] = set()  # temporary files of this process that could not be removed


def sha256(data: bytes) -> str:
    """Lower-case hexadecimal SHA-256: the form in which records, seals and checks hold it."""
    return hashlib.sha256(data).hexdigest()


def digest_of(place: Path) -> str:
    """The same of a file's bytes, of any length."""
    with place.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_temp(name: str) -> bool:
    """Whether a file name is one of the file layer's temporary ones."""
    return name.startswith(TEMP_PREFIX) and name.endswith(TEMP_SUFFIX)


def temp_name(place: Path) -> Path:
    """A new temporary name beside a file."""
    return place.with_name(f"{TEMP_PREFIX}{os.getpid()}-{secrets.token_hex(4)}{TEMP_SUFFIX}")


def swapped(fs: FileSystem, temp: Path, place: Path, expected: str) -> bool:
    """Put `temp` in the place of the expected file; False, with everything as it was, when another stands there by now."""
    try:
        fs.exchange(temp, place)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in _NO_EXCHANGE:
            raise
        return _renamed_over(fs, temp, place, expected)
    if sha256(temp.read_bytes()) == expected:
        return True
    fs.exchange(temp, place)
    return False


def _renamed_over(fs: FileSystem, temp: Path, place: Path, expected: str) -> bool:
    """The same where names cannot be exchanged: a second name holds what is displaced until it was looked at."""
    held = temp_name(place)
    try:
        try:
            fs.link(place, held)
        except OSError:
            held = None  # no hard links either: the look before has to do
        rename(fs, temp, place)
        if held is None or sha256(held.read_bytes()) == expected:
            return True
        fs.replace(held, place)
        return False
    finally:
        if held is not None:
            drop(fs, held)


def removed(fs: FileSystem, place: Path, expected: str) -> bool:
    """Remove the expected file; False, with everything as it was, when another stands there by now.

    It is looked at once more under a second name, where no save reaches it any more.
    """
    if (place.exists() and not place.is_file()) or digest_of(place) != expected:  # a pipe would not end
        return False
    held = temp_name(place)
    rename(fs, place, held)
    is_it = digest_of(held) == expected
    if not is_it and not os.path.lexists(place):  # else a newer save stands there already
        try:
            fs.link(held, place)
        except OSError:  # no hard links here
            fs.replace(held, place)
    drop(fs, held)
    return is_it


def rename(fs: FileSystem, temp: Path, place: Path) -> None:
    """Rename over the target; another program holding it open (Windows) gets a moment to let go."""
    for pause in (0.05, 0.1, 0.2, 0.4, None):
        try:
            fs.replace(temp, place)
            return
        except PermissionError:
            if pause is None or sys.platform != "win32":
                raise
            time.sleep(pause)


def drop(fs: FileSystem, temp: Path) -> None:
    """Remove a temporary file; one that stays is remembered for `litter`."""
    try:
        fs.unlink(temp)
    except FileNotFoundError:
        pass
    except OSError:
        undropped.add(temp)  # another program holds it (Windows), or the disk fails: swept with the next command
    else:
        undropped.discard(temp)


def litter() -> bool:
    """Whether a temporary file of this process could not be removed."""
    undropped.difference_update([temp for temp in undropped if not os.path.lexists(temp)])
    return bool(undropped)
