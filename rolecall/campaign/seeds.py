"""What a turn's dice are rolled under: a seed in the first line of its record.

A turn that is finished after a crash, and another answer to the same action, find the same numbers on their dice; a swipe that is to
roll anew gets a new seed.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from rolecall.campaign import archive
from rolecall.campaign.journal import turn_id


def new() -> str:
    """A seed nobody could foresee."""
    return secrets.token_hex(8)


def of(root: Path, folder: str) -> str:
    """The seed in a record; for one that has none (it is older than dice) its turn's number, which stays the same too."""
    begun = archive.begun(root, folder)
    said = begun.get("seed", "") if begun else ""
    return said or turn_id(archive.turn_of(folder))


def of_draft(root: Path, turn: int, action: str) -> str:
    """The seed of the last attempt at a turn that was kept as a draft, if it was the same action; else empty."""
    place = root / archive.TURNS
    names = [p.name for p in place.iterdir() if p.name.startswith(f"{turn_id(turn)}.draft-")] if place.is_dir() else []
    for name in sorted(
        names, key=lambda name: int(name.rpartition("-")[2]) if name.rpartition("-")[2].isdigit() else 0
    )[::-1]:
        begun = archive.begun(root, f"{archive.TURNS}/{name}")
        if begun is not None and begun["action"] == action:
            return begun.get("seed", "")
    return ""
