"""Another system's disk, simulated below one folder of this one: how names are found, spelled, forbidden, held and dated.

Every call of `os` and `open` that names a path below the folder goes through here, whoever makes it: the product, the index,
the standard library, the test. Paths elsewhere are left alone. Programs that are started (git) see the real folder, where
each file stands once, spelled as the disk keeps it.
"""

from __future__ import annotations

import builtins
import errno
import importlib
import io
import os
import pkgutil
import re
import shutil
import signal
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import rolecall
from rolecall.campaign import displacing, filesystem, paths

_DEVICES = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[1-9¹²³]|lpt[1-9¹²³])\s*(?:\..*)?", re.I)
_FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f\\]')
_LONGEST = 259  # characters of a path on Windows (MAX_PATH without its NUL)
_HOME = len(r"C:\Users\Wanda Writer\Documents\Campaigns")  # what stands before the simulated folder


@dataclass(frozen=True)
class System:
    """What a system's disk does to names, and what it cannot do."""

    name: str
    platform: str
    fold: Callable[[str], str]  # two names with the same folded form are one file
    kept: Callable[[str], str] = str  # how a name is written on the disk
    shown: Callable[[str], str] = str  # how a listing spells it; git turns it back (core.precomposeUnicode)
    windows: bool = False  # its rules for names, and an open file is neither replaced nor removed
    links: bool = True
    typed: Callable[[str], str] = str  # a path as a writer there may type it; NTFS tells the forms of a letter apart
    tick: int = 1  # ns between two times the disk can tell apart


def _upper(name: str) -> str:
    return "".join(up if len(up := char.upper()) == 1 else char for char in name)


def _caseless(name: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _decomposed(name: str) -> str:
    return unicodedata.normalize("NFD", name)


SYSTEMS = {
    system.name: system
    for system in (
        System("APFS", "darwin", _caseless),
        System("HFS+", "darwin", _caseless, kept=_composed, shown=_decomposed, tick=1_000_000_000),
        System("NTFS", "win32", _upper, windows=True, typed=_composed, tick=100),
        System("FAT", "win32", _upper, windows=True, links=False, typed=_composed, tick=2_000_000_000),
    )
}


# A writer renamed `marta.md` in the file manager, where case does not count: git goes on calling it by its old name.
RENAMED = System("renamed", "darwin", _caseless, shown=lambda name: "Marta.md" if name == "marta.md" else name)


class Sin(AssertionError):
    """The product did what the simulated system punishes without telling: a device was opened for a file."""


@dataclass
class Disk:
    """The simulated disk below `root`. `held` are paths some other program has open."""

    system: System
    root: Path
    held: set[str] = field(default_factory=set)
    _real: dict[str, Any] = field(default_factory=dict)

    # -- names

    def real(self, path: object) -> Any:
        """Where the file of that name stands on the real disk; anything but a path below the root as it is."""
        if isinstance(path, int) or path is None:
            return path
        text = os.fsdecode(os.fspath(path))
        whole = text if text.startswith("/") else f"{os.getcwd()}/{text}"
        base = str(self.root)
        if whole != base and not whole.startswith(base + "/"):
            return path
        parts = [part for part in whole[len(base) :].split("/") if part and part != "."]
        if ".." in parts:
            return path
        if self.system.windows:
            parts = [self._fit(part) for part in parts]
            if _HOME + sum(len(part) + 1 for part in parts) > _LONGEST:
                raise FileNotFoundError(errno.ENOENT, "The system cannot find the path specified", text)
        found = base
        for part in parts:
            found = f"{found}/{self._entry(found, part)}"
        return found

    def _fit(self, part: str) -> str:
        if _FORBIDDEN.search(part):
            raise OSError(errno.EINVAL, "The filename, directory name, or volume label syntax is incorrect", part)
        if _DEVICES.fullmatch(part):
            raise Sin(f"{part} is a device")
        return part.rstrip(" .")

    def _entry(self, folder: str, name: str) -> str:
        """The name under which a folder holds what is asked for; as it would be written, where it holds no such thing."""
        kept = self.system.kept(name)
        try:
            self._real["lstat"](f"{folder}/{kept}")
            return kept
        except OSError:
            pass
        folded = self.system.fold(name)
        try:
            names = self._real["listdir"](folder)
        except OSError:
            return kept
        return next((one for one in names if self.system.fold(one) == folded), kept)

    # -- what another program, or this one, has open

    def _let_go(self, path: str) -> None:
        if not self.system.windows:
            return
        if any(one == path or one.startswith(path + "/") for one in (*self.held, *_open_here())):
            error = PermissionError(errno.EACCES, "The process cannot access the file", path)
            error.winerror = 32  # ERROR_SHARING_VIOLATION
            raise error

    # -- times

    def dated(self, info: os.stat_result, inode: bool = True) -> os.stat_result:
        """A stamp as the disk can tell it."""
        if self.system.tick == 1 and inode:
            return info
        nanos = info.st_mtime_ns - info.st_mtime_ns % self.system.tick
        fields = list(info)[:10]
        fields[1] = fields[1] if inode else 0
        fields[8] = nanos // 1_000_000_000
        named = {key: getattr(info, key) for key in ("st_atime", "st_ctime", "st_atime_ns", "st_ctime_ns")}
        named |= {key: getattr(info, key) for key in ("st_blksize", "st_blocks", "st_rdev")}
        return os.stat_result(tuple(fields), {**named, "st_mtime": nanos / 1e9, "st_mtime_ns": nanos})

    # -- the calls of `os`

    def patch(self, patch: pytest.MonkeyPatch) -> None:
        """Put the disk in the place of `os` and `open` until the patch is undone."""
        for name in ("lstat", "stat", "fstat", "listdir", "scandir", "replace", "link", "open", "mkdir", "unlink"):
            self._real[name] = getattr(os, name)
        for name in ("open", "mkdir", "chmod", "utime", "access", "truncate", "readlink"):
            patch.setattr(os, name, self._passing(getattr(os, name)))
        for name in ("unlink", "remove", "rmdir"):
            patch.setattr(os, name, self._removing(getattr(os, name)))
        for name in ("replace", "rename"):
            patch.setattr(os, name, self._renaming(getattr(os, name)))
        for name in ("stat", "lstat"):
            patch.setattr(os, name, self._asking(getattr(os, name)))
        patch.setattr(os, "fstat", lambda fd: self.dated(self._real["fstat"](fd)))
        patch.setattr(os, "link", self._link)
        patch.setattr(os, "listdir", self._listdir)
        patch.setattr(os, "scandir", self._scandir)
        opened = self._opening(io.open)
        patch.setattr(io, "open", opened)
        patch.setattr(builtins, "open", opened)
        patch.setattr(shutil, "_use_fd_functions", False)
        if self.system.windows:  # it answers with the name as it is written on the disk
            ask = os.path.realpath
            patch.setattr(os.path, "realpath", lambda path, **how: self.real(ask(path, **how)))
        for module in (displacing, filesystem, paths):
            patch.setattr(module, "sys", SimpleNamespace(platform=self.system.platform))
        if self.system.windows:
            _bereave(patch)

    def _passing(self, call: Callable) -> Callable:
        def passed(path: object, *rest: Any, **named: Any) -> Any:
            if named.get("dir_fd") is not None:
                return call(path, *rest, **named)
            return call(self.real(path), *rest, **named)

        return passed

    def _asking(self, call: Callable) -> Callable:
        def asked(path: object, **named: Any) -> os.stat_result:
            if named.get("dir_fd") is not None:
                return call(path, **named)
            return self.dated(call(self.real(path), **named))

        return asked

    def _removing(self, call: Callable) -> Callable:
        def removed(path: object, **named: Any) -> None:
            real = self.real(path)
            if isinstance(real, str) and os.path.lexists(real):
                self._let_go(real)
            call(real, **named)

        return removed

    def _renaming(self, call: Callable) -> Callable:
        def renamed(source: object, target: object, **named: Any) -> None:
            old, new = self.real(source), self.real(target)
            if not isinstance(new, str) or not isinstance(old, str):
                return call(source, target, **named)
            asked = f"{new.rpartition('/')[0]}/{self.system.kept(os.path.basename(os.fspath(target)))}"
            self._let_go(old)
            if old == new:  # another case, or another normal form, of the same name
                return call(old, asked, **named)
            if os.path.lexists(new):
                self._let_go(new)
            call(old, new, **named)
            if self.system.windows and new != asked:  # what was replaced takes its spelling with it
                call(new, asked)
            return None

        return renamed

    def _link(self, source: object, target: object, **named: Any) -> None:
        real = self.real(target)
        if not self.system.links and isinstance(real, str):
            raise OSError(errno.EINVAL, "Incorrect function", str(target))
        self._real["link"](self.real(source), real, **named)

    def _opening(self, call: Callable) -> Callable:
        def opened(file: Any, *rest: Any, **named: Any) -> Any:
            return call(self.real(file) if not isinstance(file, int) else file, *rest, **named)

        return opened

    def _listdir(self, path: object = ".") -> list[str]:
        return [self._shown(name) for name in self._real["listdir"](self.real(path))]

    def _shown(self, name: Any) -> Any:
        return self.system.shown(name) if isinstance(name, str) else name

    def _scandir(self, path: Any = ".") -> Any:
        real = self.real(path)
        listing = self._real["scandir"](real)
        if real is path and not str(path).startswith(str(self.root)):
            return listing
        return _Listing(self, os.fspath(path), listing)


class _Listing:
    """What `os.scandir` gives, on the simulated disk."""

    def __init__(self, disk: Disk, path: str, listing: Any) -> None:
        self._disk, self._path, self._listing = disk, path, listing

    def __enter__(self) -> _Listing:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[_Entry]:
        return (_Entry(self._disk, self._path, entry) for entry in self._listing)

    def __next__(self) -> _Entry:
        return _Entry(self._disk, self._path, next(self._listing))

    def close(self) -> None:
        self._listing.close()


class _Entry:
    """One entry of a listing: on Windows its stamp holds no inode."""

    def __init__(self, disk: Disk, folder: str, entry: os.DirEntry) -> None:
        self._disk, self._entry = disk, entry
        self.name = disk._shown(entry.name)
        self.path = os.path.join(folder, self.name)

    def __fspath__(self) -> str:
        return self.path

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return self._disk.dated(self._entry.stat(follow_symlinks=follow_symlinks), inode=not self._disk.system.windows)

    def inode(self) -> int:
        return self._entry.inode()

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._entry.is_dir(follow_symlinks=follow_symlinks)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return self._entry.is_file(follow_symlinks=follow_symlinks)

    def is_symlink(self) -> bool:
        return self._entry.is_symlink()


class _Lacking(ModuleType):
    """`os` or `signal` as the product finds it on Windows: without what is not there."""

    def __init__(self, module: ModuleType, missing: str) -> None:
        super().__init__(module.__name__)
        self.__dict__["_module"], self.__dict__["_missing"] = module, frozenset(missing.split())

    def __getattr__(self, name: str) -> Any:
        if name in self._missing:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(self._module, name)


_NOT_IN_OS = """fork forkpty getuid geteuid getgid getegid getpgid getpgrp getsid setsid killpg fchmod chown lchown uname wait
    waitid statvfs sched_getaffinity sysconf pread pwrite mkfifo O_NONBLOCK O_CLOEXEC O_NOFOLLOW O_DIRECTORY O_SYNC"""
_NOT_IN_SIGNAL = (
    "SIGHUP SIGALRM SIGKILL SIGPIPE SIGUSR1 SIGUSR2 SIGWINCH SIGTSTP SIGCHLD pthread_sigmask setitimer alarm"
)


def _bereave(patch: pytest.MonkeyPatch) -> None:
    """Take from every module of the product what Windows lacks."""
    for found in pkgutil.walk_packages(rolecall.__path__, "rolecall."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    lacking = {"os": _Lacking(os, _NOT_IN_OS), "signal": _Lacking(signal, _NOT_IN_SIGNAL)}
    for name, module in list(sys.modules.items()):
        if name.startswith("rolecall."):
            for own, instead in lacking.items():
                if getattr(module, own, None) in (os, signal):
                    patch.setattr(module, own, instead)
    for name in ("termios", "tty", "pty", "pwd", "grp", "resource"):
        patch.setitem(sys.modules, name, None)


def _open_here() -> set[str]:
    """The files this process has open or mapped; unknown, and nothing, on a system without `/proc`."""
    if sys.platform != "linux":
        return set()
    found = set()
    for fd in _listed("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{fd}"))
        except OSError:
            continue
    with open("/proc/self/maps", encoding="utf-8") as maps:
        found.update(line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "/" in line)
    return found


def _listed(folder: str) -> list[str]:
    return os.listdir(folder)


def spelled(disk: Disk) -> list[str]:
    """Every file of the simulated folder as it is written on the real disk; no name may be there twice."""
    found = []
    for place, folders, names in os.walk(disk.root):
        for one in (folders, names):
            folded = [disk.system.fold(name) for name in one]
            assert len(set(folded)) == len(folded), f"two names for one file in {place}: {sorted(one)}"
        found += [os.path.relpath(os.path.join(place, name), disk.root) for name in names]
    assert not any(stat.S_ISLNK(os.lstat(disk.root / name).st_mode) for name in found)
    return sorted(found)
