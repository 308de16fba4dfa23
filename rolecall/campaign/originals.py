"""The originals of what was imported, held against `entries.json` beside them: without them nothing goes back as it came.

For `rolecall check`. An import of several files (a folder of notes) keeps one sum of them all, so that only their being there is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from rolecall.campaign import files
from rolecall.campaign.displacing import digest_of
from rolecall.campaign.problems import Problem
from rolecall.errors import CampaignError

FOLDER = "imports"
MAP = "entries.json"  # which part of an original became which file, written by `exchange/planning.py`
_RESTORE = "restore it from git or a backup: an export needs it to give everything back as it came"


def problems(root: Path) -> Iterator[Problem]:
    """What is gone, changed or unreadable below `imports/`."""
    place = root / FOLDER
    for name in sorted(one.name for one in place.iterdir() if one.is_dir()) if place.is_dir() else ():
        folder = f"{FOLDER}/{name}"
        if files.exists(root, f"{folder}/{MAP}"):
            yield from _problems(root, folder)


def _problems(root: Path, folder: str) -> Iterator[Problem]:
    try:
        told = json.loads(files.read(root, f"{folder}/{MAP}"))
        names, wanted = [str(one) for one in told["original"]], str(told["sha256"])
    except (CampaignError, ValueError, KeyError, TypeError, RecursionError):
        yield Problem(f"{folder}/{MAP}", None, "original-map", "it does not say what was imported", _RESTORE)
        return
    for name in names:
        path = f"{folder}/{name}"
        try:
            if not files.exists(root, path):
                yield Problem(path, None, "original-gone", "the original of an import is gone", _RESTORE)
            elif len(names) == 1 and "/" not in name and _sum(root, path) != wanted:
                yield Problem(path, None, "original-changed", "the original of an import was changed", _RESTORE)
        except (CampaignError, OSError):
            yield Problem(path, None, "original-gone", "the original of an import cannot be read", _RESTORE)


def _sum(root: Path, path: str) -> str:
    place = files.locate(root, path)
    return digest_of(place) if place.is_file() else ""  # a pipe would not end
