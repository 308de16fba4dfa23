"""A link that takes the place of a file or folder between the look and the opening leads nowhere out of the campaign."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.campaign import files
from rolecall.campaign.filesystem import FileSystem
from rolecall.errors import StorageError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links there want a right of their own")

DOES: dict[str, Callable[[Path], object]] = {
    "read": lambda root: files.read(root, "lore/tide.md"),
    "append": lambda root: files.append(root, "lore/tide.md", b"- more\n"),
    "append on a line of its own": lambda root: files.append(root, "lore/tide.md", b"- more\n", own_line=True),
    "create": lambda root: files.create(root, "lore/new.md", b"new\n"),
    "replace": lambda root: files.replace(root, "lore/tide.md", b"other\n", expected=files.sha256(b"Ebb.\n")),
    "rewrite": lambda root: files.rewrite(root, "lore/tide.md", b"other\n"),
}


class Swapping(FileSystem):
    """Puts a link in the place of a file, or of the folder above it, right before the first opening."""

    def __init__(self, root: Path, outside: Path, what: str) -> None:
        self.root, self.outside, self.what = root, outside, what

    def open(self, path: Path, flags: int, mode: int = 0o666) -> int:
        if self.what:
            (self.root / self.what).rename(self.root / "aside")
            (self.root / self.what).symlink_to(self.outside / self.what)
            self.what = ""
        return super().open(path, flags, mode)


@pytest.mark.parametrize("what", ["lore", "lore/tide.md"])
@pytest.mark.parametrize("does", DOES)
def test_a_link_swapped_in_after_the_look_is_not_followed(tmp_path, monkeypatch, does, what):
    root, outside = tmp_path / "tale", tmp_path / "outside"
    for place, data in ((root, b"Ebb.\n"), (outside, b"Ebb.\n")):
        (place / "lore").mkdir(parents=True)
        (place / "lore/tide.md").write_bytes(data)
    monkeypatch.setattr(files, "fs", Swapping(root, outside, what))
    try:
        said = DOES[does](root)
    except StorageError as error:
        said, told = None, str(error)
        assert "link" in told and "lore/" in told
    assert said is None  # not a byte from outside
    assert sorted(os.listdir(outside / "lore")) == ["tide.md"] and (outside / "lore/tide.md").read_bytes() == b"Ebb.\n"
    kept = root / ("aside/tide.md" if what == "lore" else "aside")
    assert kept.read_bytes().startswith(b"Ebb.\n")
    assert not [name for _, _, names in os.walk(root) for name in names if files.is_temp(name)]


def test_a_campaign_behind_a_link_and_a_link_inside_it_are_read_and_written(tmp_path):
    (tmp_path / "real/lore").mkdir(parents=True)
    (tmp_path / "real/lore/tide.md").write_bytes(b"Ebb.\n")
    (tmp_path / "tale").symlink_to(tmp_path / "real")
    (tmp_path / "real/lore/same.md").symlink_to("tide.md")
    root = tmp_path / "tale"
    files.append(root, "lore/same.md", b"Flood.\n")
    assert files.read(root, "lore/tide.md") == files.read(root, "lore/same.md") == b"Ebb.\nFlood.\n"
