"""The system calls that read and change files, and nothing else: the seam where faults are injected."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path


class FileSystem:
    """The system calls of the file layer, one method each; `files.fs` is the one in use."""

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

    def rmdir(self, path: Path) -> None:
        """Remove an empty folder; fails when anything is in it."""
        os.rmdir(path)

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
