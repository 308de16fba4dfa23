"""A file that another program holds open, as on Windows, where it cannot be replaced meanwhile: simulated at the system calls."""

from __future__ import annotations

import errno
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from rolecall.campaign import displacing, files
from rolecall.errors import StorageError


class HeldOpen(files.FileSystem):
    """A rename over any file fails so many times, as while an editor or a virus scanner has it open."""

    def __init__(self, times: int) -> None:
        self.times = times

    def replace(self, source: Path, target: Path) -> None:
        if self.times > 0:
            self.times -= 1
            raise PermissionError(13, "The process cannot access the file", str(target))
        super().replace(source, target)

    def exchange(self, one: Path, other: Path) -> None:
        raise OSError(errno.ENOSYS, "no such call on Windows")


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(displacing, "sys", SimpleNamespace(platform="win32"))


def test_a_file_that_is_let_go_in_a_moment_is_replaced(tmp_path: Path, monkeypatch, windows) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    monkeypatch.setattr(files, "fs", HeldOpen(2))
    files.rewrite(tmp_path, "a.md", b"new")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.md", b"new")]


def test_a_file_that_stays_open_is_told_keeps_its_bytes_and_leaves_no_litter(
    tmp_path: Path, monkeypatch, windows
) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    monkeypatch.setattr(files, "fs", HeldOpen(99))
    with pytest.raises(StorageError, match="permission denied"):
        files.replace(tmp_path, "a.md", b"new", expected=sha256(b"old").hexdigest())
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.md", b"old")]
