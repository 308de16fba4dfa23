"""A campaign as a folder: where it is, what counts as its Markdown, and how its files are read.

Unreadable is never empty: a folder that cannot be listed is an error, not a folder without files.
"""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rolecall.campaign import files
from rolecall.campaign.documents import Document, parse
from rolecall.campaign.settings import SETTINGS_FILE, Settings, read_settings
from rolecall.errors import NoCampaign

MACHINE_FOLDER = ".rolecall"
_KEPT = 1 << 17  # bytes of a file that is kept as parsed
MAX_DEPTH = 16  # folders inside folders
_MARKDOWN = "markdown"

_LEFT_OUT = {"imports", "instructions", "prose"}  # at the top: not material of the world
_LEFT_OUT_FILES = {"readme.md", "changelog.md", "license.md"}  # at the top
_OWN = {"campaign-state.md", "chronicles", "story", "arcs", "dm", *_LEFT_OUT}  # at the top: found by these names
_NEVER = {"node_modules", "__pycache__"}
# What editors and synchronisers leave beside a file. Conflict copies are kept out of play; `check` tells of them.
_JUNK = re.compile(r"~$|^\.|^#.*#$|\.(?:tmp|swp|swx|bak|orig|part|icloud)$|^(?:4913|thumbs\.db|desktop\.ini)$", re.I)
CONFLICT_COPY = re.compile(
    r"\.sync-conflict-|\((?:[^)]*\s)?conflicted copy\b[^)]*\)|\(conflict \d{4}-\d\d[^)]*\)|"
    r"\((?:case|selective sync|unicode encoding) conflict\b[^)]*\)|\.(?:orig|rej)\.md$",
    re.I,
)


class Stamp(NamedTuple):
    """What tells that a file may have changed: size in bytes, modification time in ns, inode.

    A tuple, as thousands are made and compared before every turn.
    """

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Campaign:
    """An opened campaign: its real root and its settings."""

    root: Path
    settings: Settings

    def stat(self) -> dict[str, Stamp]:
        """Every Markdown file that counts as campaign material, by posix path; StorageError for an unreadable folder."""
        return {path: stamp for path, stamp in self.walk() if counts(path)}

    def walk(self, folder: str = "") -> list[tuple[str, Stamp]]:
        """Every Markdown file outside dot-folders, conflict copies and instructions included, in path order."""
        found = [(path, stamp) for path, entry in _walk(self.root, folder) if (stamp := _stamp(path, entry))]
        found.sort()  # no two paths are the same, so it is by path
        return found

    def names(self, folder: str = "") -> list[str]:
        """The paths of `walk` alone, in order: a folder's listing tells them, no file is asked for its stamp."""
        return sorted(path for path, _ in _walk(self.root, folder))

    def read(self, path: str) -> bytes:
        """The bytes of a campaign file; StorageError when it cannot be read or lies outside."""
        return files.read(self.root, path)

    def document(self, path: str) -> Document:
        """A campaign file, parsed; Malformed when its front matter is broken."""
        data = self.read(path)
        return _parsed(data, path) if len(data) <= _KEPT else parse(data, path)

    def exists(self, path: str) -> bool:
        """Whether there is a file of that campaign path."""
        return files.exists(self.root, path)


@lru_cache(maxsize=512)  # a turn opens the same few hundred again and again; a document does not change
def _parsed(data: bytes, path: str) -> Document:
    return parse(data, path)


@lru_cache(maxsize=65_536)  # the same thousands of paths before every turn
def counts(path: str) -> bool:
    """Whether a Markdown path is material of the world (not instructions, originals, readme or a conflict copy)."""
    parts = path.split("/")
    if len(parts) > 1 and parts[0].casefold() in _LEFT_OUT:
        return False
    if len(parts) == 1 and parts[0].casefold() in _LEFT_OUT_FILES:
        return False
    return not CONFLICT_COPY.search(parts[-1])


def is_junk(name: str) -> bool:
    """Whether a file or folder name is hidden, temporary or an editor's own."""
    return bool(_JUNK.search(name)) or name in _NEVER


def _walk(root: Path, folder: str) -> list[tuple[str, os.DirEntry]]:
    found: list[tuple[str, os.DirEntry]] = []
    _walk_into(root, folder, 0, found)
    return found


def _walk_into(root: Path, folder: str, depth: int, found: list[tuple[str, os.DirEntry]]) -> None:
    try:
        with os.scandir(root / folder if folder else root) as listing:
            entries = list(listing)
    except OSError as error:
        raise files.refused(error, folder or str(root)) from None
    for entry in entries:
        name = entry.name
        if not (sort := _sort(name)):
            continue
        if not folder or not name.isascii():
            name = _spelled(entry, at_top=not folder)
        path = f"{folder}/{name}" if folder else name
        if sort == _MARKDOWN and _is_plain(root, path, entry):
            found.append((path, entry))
        elif depth < MAX_DEPTH and entry.is_dir(follow_symlinks=False):
            _walk_into(root, path, depth + 1, found)


@lru_cache(maxsize=65_536)  # the same thousands of names before every turn
def _sort(name: str) -> str:
    """Whether a name is one that a Markdown file may bear, or a folder; neither where it is never looked at."""
    if is_junk(name) or not (name.isascii() or _encodable(name)):
        return ""
    return _MARKDOWN if name.casefold().endswith(".md") else "other"


def _is_plain(root: Path, path: str, entry: os.DirEntry) -> bool:
    """Whether it is a plain file; a link counts only when it leads to one inside the campaign."""
    try:
        if entry.is_file(follow_symlinks=False):
            return True
        if not entry.is_symlink():
            return False
        real = os.path.realpath(entry.path)
        return real.startswith(os.path.realpath(root) + os.sep) and os.path.isfile(real)
    except FileNotFoundError:
        return False  # gone since it was listed
    except OSError as error:
        raise files.refused(error, path) from None


def _stamp(path: str, entry: os.DirEntry) -> Stamp | None:
    try:
        info = entry.stat()
    except FileNotFoundError:
        return None  # gone since it was listed
    except OSError as error:
        raise files.refused(error, path) from None
    return Stamp(info.st_size, info.st_mtime_ns, info.st_ino)


def _spelled(entry: os.DirEntry, *, at_top: bool) -> str:
    """A name as everything written here spells it, where the disk takes that for the same file (macOS, Windows); else as listed.

    That is NFC, and the game's own files and folders in lower case.
    """
    name = entry.name if entry.name.isascii() else unicodedata.normalize("NFC", entry.name)
    if at_top and name.casefold() in _OWN:
        name = name.casefold()
    if name == entry.name:
        return name
    try:
        same = os.lstat(os.path.join(os.path.dirname(entry.path), name)).st_ino == entry.inode()
    except OSError:  # another file system: that name is nobody's
        return entry.name
    return name if same else entry.name


def _encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False  # a name that is not UTF-8 cannot be linked to, shown or kept in a record
    return True


def find_root(start: Path) -> Path:
    """The nearest folder at or above `start` that holds a `rolecall.yaml`; NoCampaign when there is none."""
    here = Path(os.path.realpath(start))
    for folder in (here, *here.parents):
        if (folder / SETTINGS_FILE).is_file():
            return folder
    raise NoCampaign(
        f"there is no campaign in {start} or above it",
        remedy="make one with `rolecall new DIR`, or name one with `-C DIR`",
    )


def open_campaign(start: Path, *, here_only: bool = False) -> Campaign:
    """The campaign at or above `start` (only at it with `here_only`), its settings read afresh."""
    if here_only:
        root = Path(os.path.realpath(start))
        if not (root / SETTINGS_FILE).is_file():
            raise NoCampaign(f"{start} is not a campaign", remedy=f"make one with `rolecall new {start}`")
    else:
        root = find_root(start)
    return Campaign(root, read_settings(files.read(root, SETTINGS_FILE)))
