"""Files as recorded writes left them, packed beside the record: the base of a later merge."""

from __future__ import annotations

import zlib
from pathlib import Path

from rolecall.campaign import files
from rolecall.campaign.archive import TURNS
from rolecall.campaign.journal import turn_id
from rolecall.errors import StorageError


def keep_version(root: Path, folder: str, after: bytes) -> str:
    """Keep the file as a write leaves it, packed, beside the record: the base of a later merge. Its name, or nothing.

    It is not synced to the disk: a version that went with the machine only makes a merge a little more careful.
    """
    place = root / folder / "after"
    name = f"{len(list(place.iterdir())) + 1 if place.is_dir() else 1:03d}.z"
    try:
        files.rewrite(root, f"{folder}/after/{name}", zlib.compress(after, 6), durable=False)
    except StorageError as error:
        if not files.is_of_one_file(error):
            raise
        return ""
    return name


def version(root: Path, folder: str, write: dict) -> bytes | None:
    """The file as a recorded write left it, where that is still kept and whole."""
    path = f"{folder}/after/{write.get('kept', '')}"
    if not write.get("kept") or not files.exists(root, path):
        return None
    try:
        data = zlib.decompress(files.read(root, path))
    except (zlib.error, StorageError):
        return None
    return data if files.sha256(data) == write["after"] else None


def drop_versions(root: Path, turn: int) -> None:
    """Forget the kept versions of one old turn: it can still be taken back, only without a merge by line."""
    place = root / TURNS / turn_id(turn) / "after"
    for name in [p.name for p in place.iterdir()] if place.is_dir() else []:
        files.forget(root, f"{TURNS}/{turn_id(turn)}/after/{name}")
