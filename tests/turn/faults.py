"""A file system that fails on purpose: the seam of `rolecall.campaign.files`, with a fault at the Nth step.

Faults, each at one counted call or from it on:

    kill     the process is gone before the call: from then on every call raises, so that no clean-up can run
    torn     a write puts half of its bytes down, then the process is gone (other calls: killed after they were done)
    power    killed, and the machine with it: what was not synced is taken back by `over`
    full     from here on nothing new can be written (ENOSPC), until `over`
    short    a write puts half of its bytes down and says so; the disk is full behind it
    once     this one call fails with EIO and the next ones work
    refused  this one call fails with EACCES
    unsynced from here on nothing can be synced (EIO), until `over`
    readonly from here on nothing can be changed (EROFS), until `over`
    meanwhile  nothing fails; `meanwhile` is done right before the call (by another program)
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.campaign import files
from rolecall.campaign.files import FileSystem

DEADLY = ("kill", "torn", "power")
_GROWS = {"create", "write", "link", "mkdir"}  # what a full disk refuses
_SYNCS = {"fsync", "sync_folder"}
_READS = {"read", *_SYNCS}


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Faulty(FileSystem):
    """Counts steps and fails at number `at` (from 1). `steps` are all that were made.

    A step is a call that changes something, or the opening of a file to be read. Nothing is synced for real: what
    would have been lost with the machine is known and taken back when the fault is `power`.
    """

    root: Path
    at: int = 0
    fault: str = "kill"
    steps: list[tuple[str, str]] = field(default_factory=list)  # (call, path in the campaign)
    hit: str = ""
    dead: bool = False
    full: bool = False
    lasting: int = 0  # the error of what fails from here on
    meanwhile: Callable[[], object] = lambda: None
    lacks: tuple[str, ...] = ()  # what this file system cannot do: exchange, link
    _open: dict[int, Path] = field(default_factory=dict)
    _synced: dict[Path, int] = field(default_factory=dict)
    _unsynced_names: list[tuple[set[Path], Callable[[], None]]] = field(default_factory=list)
    _stash: Path | None = None
    _kept_count: int = 0

    # -- the calls

    def open(self, path: Path, flags: int, mode: int = 0o666) -> int:
        writes = flags & (os.O_WRONLY | os.O_RDWR)
        new = bool(flags & os.O_CREAT)
        self._step("create" if new else "open" if writes else "read", path)
        fd = super().open(path, flags, mode)
        self._open[fd] = Path(path)
        if new:
            self._synced[Path(path)] = 0
            self._named({Path(path).parent}, lambda: _gone(path))
        elif writes:
            self._synced.setdefault(Path(path), os.fstat(fd).st_size)
        self._after()
        return fd

    def read(self, fd: int, size: int) -> bytes:
        self._alive()
        return super().read(fd, size)

    def write(self, fd: int, data: bytes) -> int:
        try:
            self._step("write", self._open.get(fd))
        except Killed:
            if self.fault == "torn" and self.hit == "write":
                super().write(fd, data[: len(data) // 2])
                self.hit = "torn"
            raise
        if self.fault == "short" and self.hit == "write" and not self.full:
            self.full = True
            return super().write(fd, data[: max(1, len(data) // 2)])
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self._step("fsync", self._open.get(fd))
        self._synced[self._open[fd]] = os.fstat(fd).st_size
        self._after()

    def truncate(self, fd: int, size: int) -> None:
        self._step("truncate", self._open.get(fd))
        super().truncate(fd, size)

    def close(self, fd: int) -> None:
        self._alive()
        self._open.pop(fd, None)
        super().close(fd)

    def replace(self, source: Path, target: Path) -> None:
        self._step("replace", target)
        undo = self._undo_of_replace(Path(source), Path(target))
        super().replace(source, target)
        self._moved(Path(source), Path(target))
        self._named({Path(source).parent, Path(target).parent}, undo)
        self._after()

    def exchange(self, one: Path, other: Path) -> None:
        if "exchange" in self.lacks:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(other))
        self._step("exchange", other)
        super().exchange(one, other)
        self._synced[Path(one)], self._synced[Path(other)] = sys.maxsize, self._synced.get(Path(one), sys.maxsize)
        self._named({Path(other).parent}, lambda: super(Faulty, self).exchange(one, other))
        self._after()

    def link(self, source: Path, target: Path) -> None:
        if "link" in self.lacks:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM), str(target))
        self._step("link", target)
        super().link(source, target)
        self._synced[Path(target)] = self._synced.get(Path(source), sys.maxsize)
        self._named({Path(target).parent}, lambda: _gone(target))
        self._after()

    def unlink(self, path: Path) -> None:
        self._step("unlink", path)
        kept = self._kept(Path(path)) if self.fault == "power" and os.path.lexists(path) else None
        super().unlink(path)
        if kept is not None:
            self._named({Path(path).parent}, lambda: os.path.lexists(path) or os.link(kept, path))
        self._after()

    def mkdir(self, path: Path) -> None:
        self._step("mkdir", path)
        super().mkdir(path)
        self._named({Path(path).parent}, lambda: shutil.rmtree(path, ignore_errors=True))
        self._after()

    def rmdir(self, path: Path) -> None:
        self._step("rmdir", path)
        super().rmdir(path)
        self._named({Path(path).parent}, lambda: path.is_dir() or path.mkdir())
        self._after()

    def sync_folder(self, path: Path) -> None:
        self._step("sync_folder", path)
        for folders, _ in self._unsynced_names:
            folders.discard(Path(path))
        self._unsynced_names = [entry for entry in self._unsynced_names if entry[0]]
        self._after()

    # -- the fault

    def over(self) -> None:
        """The fault is over: the dead process's files are closed, and what the machine lost is lost."""
        for fd in self._open:
            os.close(fd)
        self._open.clear()
        if self.fault == "power" and self.dead:
            for path, size in self._synced.items():
                if path.is_file() and path.stat().st_size > size:
                    os.truncate(path, size)
            for _, undo in reversed(self._unsynced_names):
                undo()
        if self._stash is not None:
            shutil.rmtree(self._stash)

    def _alive(self) -> None:
        if self.dead:
            raise Killed

    def _step(self, name: str, path: object) -> None:
        self._alive()
        self.steps.append((name, os.path.relpath(str(path), self.root)))
        if self.full and name in _GROWS:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        if self.lasting and (name in _SYNCS if self.fault == "unsynced" else name not in _READS):
            raise OSError(self.lasting, os.strerror(self.lasting), str(path))
        if len(self.steps) != self.at:
            return
        self.hit = name
        match self.fault:
            case "kill" | "power":
                self.dead = True
                raise Killed
            case "torn":
                self.dead = True
                if name in ("write", "read", "open", "truncate"):
                    raise Killed
            case "full":
                self.full = True
                if name in _GROWS:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            case "meanwhile":
                self.meanwhile()
            case "once":
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
            case "unsynced" | "readonly":
                self.lasting = errno.EIO if self.fault == "unsynced" else errno.EROFS
                raise OSError(self.lasting, os.strerror(self.lasting), str(path))
            case "refused":
                raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    def _after(self) -> None:
        """Killed right behind a call that was made."""
        if self.dead:
            raise Killed

    # -- what the machine would lose

    def _named(self, folders: set[Path], undo: Callable[[], None]) -> None:
        if self.fault == "power":
            self._unsynced_names.append((folders, undo))

    def _undo_of_replace(self, source: Path, target: Path) -> Callable[[], None]:
        if self.fault != "power":
            return lambda: None
        kept = self._kept(target) if target.is_file() else None

        def undo() -> None:
            if os.path.lexists(target):
                os.rename(target, source)
            if kept is not None:
                os.link(kept, target)

        return undo

    def _moved(self, source: Path, target: Path) -> None:
        for path in [p for p in self._synced if p == source or source in p.parents]:
            self._synced[target / path.relative_to(source)] = self._synced.pop(path)

    def _kept(self, path: Path) -> Path:
        """A second name for a file's present inode, outside the campaign."""
        if self._stash is None:
            self._stash = Path(str(self.root) + ".stash")
            self._stash.mkdir()
        self._kept_count += 1
        kept = self._stash / str(self._kept_count)
        os.link(path, kept)
        return kept


def _gone(path: Path) -> None:
    if os.path.lexists(path):
        os.unlink(path)


@contextmanager
def failing(
    root: Path,
    at: int = 0,
    fault: str = "kill",
    meanwhile: Callable[[], object] = lambda: None,
    lacks: tuple[str, ...] = (),
) -> Iterator[Faulty]:
    """The file system of `files` fails inside this block; afterwards it is the real one again."""
    faulty = Faulty(root, at, fault, meanwhile=meanwhile, lacks=lacks)
    real, files.fs = files.fs, faulty
    try:
        yield faulty
    finally:
        files.fs = real
        faulty.over()
