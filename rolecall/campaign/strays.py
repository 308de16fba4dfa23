"""Files that are not what they seem: stubs of a cloud, copies of a synchroniser, names that another system reads as one.

For `rolecall check`. Whatever a folder's listing and a file's stamp tell; no file is opened here but two that look like copies.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from rolecall.campaign import files
from rolecall.campaign.filenames import is_fit, same_key
from rolecall.campaign.folder import MAX_DEPTH, is_junk
from rolecall.campaign.problems import Problem
from rolecall.errors import StorageError

_DATALESS = 0x40000000  # macOS, sys/stat.h: SF_DATALESS, the content is in the cloud
_RECALL = 0x400000 | 0x1000  # Windows, winnt.h: FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS, FILE_ATTRIBUTE_OFFLINE
_ICLOUD = re.compile(r"\.(.+\.md)\.icloud", re.I)
_NUMBERED = re.compile(r"(.+?)(?: (\d)| \((\d)\)| copy| - Copy)\.md", re.I)


def problems(root: Path, paths: list[str]) -> Iterator[Problem]:
    """What a look at the folders tells; `paths` are the campaign's Markdown files."""
    yield from _listed(root)
    yield from _too_deep(root)
    yield from _same_elsewhere(paths)
    for path in paths:
        yield from _unfit(path)
        yield from _numbered(root, path, paths)


def is_stub(info: os.stat_result) -> bool:
    """Whether a file's content is in a cloud and not on this disk, as macOS and Windows mark it."""
    return bool(getattr(info, "st_flags", 0) & _DATALESS or getattr(info, "st_file_attributes", 0) & _RECALL)


def _listed(root: Path) -> Iterator[Problem]:
    """Temporary files that a killed command left, and stubs."""
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = os.path.relpath(os.path.join(place, name), root).replace(os.sep, "/")
            if files.is_temp(name):
                yield Problem(path, None, "leftover", "a temporary file of a command that was killed", "remove it")
            elif stub := _ICLOUD.fullmatch(name):
                yield _cloud(path.removesuffix(name) + stub[1])
            elif name.casefold().endswith(".md") and not path.startswith(".rolecall/"):
                yield from _marked(root, path)


def _too_deep(root: Path) -> Iterator[Problem]:
    """The topmost folders that hold Markdown no command ever reads."""
    imports = os.path.join(root, "imports")  # originals, as deep as they came
    for place, folders, _ in os.walk(root):
        folders[:] = sorted(name for name in folders if not is_junk(name) and os.path.join(place, name) != imports)
        path = os.path.relpath(place, root).replace(os.sep, "/")
        if path.count("/") < MAX_DEPTH:
            continue
        folders[:] = []
        if count := sum(name.casefold().endswith(".md") for _, _, names in os.walk(place) for name in names):
            message = f"nothing below here is ever read ({count} of Markdown): over {MAX_DEPTH} folders in folders"
            yield Problem(path, None, "too-deep", message, "move it further up")


def _marked(root: Path, path: str) -> Iterator[Problem]:
    try:
        info = os.lstat(root / path)
    except OSError:
        return
    if is_stub(info):
        yield _cloud(path)


def _cloud(path: str) -> Problem:
    message = "this file is in the cloud and not on this disk"
    return Problem(path, None, "cloud-stub", message, "have it downloaded and kept here, then check again")


def _same_elsewhere(paths: list[str]) -> Iterator[Problem]:
    """Two files that macOS and Windows take for one."""
    seen: dict[str, str] = {}
    for path in paths:
        if (first := seen.setdefault(same_key(path), path)) != path:
            message = f"on macOS and Windows this is the same file as {first}"
            yield Problem(path, None, "name-clash", message, "rename one of the two")


def _unfit(path: str) -> Iterator[Problem]:
    for part in path.split("/"):
        if not is_fit(part):
            message = f"Windows cannot have a file named {part!r}"
            yield Problem(
                path, None, "windows-name", message, "rename it, if the campaign is ever to be opened there", True
            )


def _numbered(root: Path, path: str, paths: list[str]) -> Iterator[Problem]:
    """`Valen 2.md` beside `Valen.md` that begins as that does: what iCloud and file managers make of a second copy."""
    folder, slash, name = path.rpartition("/")
    found = _NUMBERED.fullmatch(name)
    original = f"{folder}{slash}{found[1]}.md" if found else ""
    if not original or original not in paths:
        return
    try:
        one, other = (files.read(root, each) for each in (path, original))
    except StorageError:
        return  # told as such
    head = other[:120].rstrip()
    if one == other or (len(head) > 20 and one.startswith(head)):
        message = f"a second copy of {original}"
        yield Problem(path, None, "conflict-copy", message, "merge what it has and remove it")
