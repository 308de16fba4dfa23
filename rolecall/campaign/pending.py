"""A directive that came too late for its turn, kept for the next one: `.rolecall/directive.json`.

It holds what the DM said, unfiltered, so it is for the turn's own code alone. It serves the turn right after the one it was
made for and no other; deleting it loses a hint, never story.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.campaign import files
from rolecall.campaign.archive import plain
from rolecall.campaign.effects import Effect, decode, encode
from rolecall.campaign.folder import MACHINE_FOLDER
from rolecall.campaign.recordlines import is_effect, json_object

PATH = f"{MACHINE_FOLDER}/directive.json"


@dataclass(frozen=True, slots=True)
class Pending:
    """What a DM decided in `turn`, for the next one."""

    turn: int
    narrator: str
    fragments: tuple[dict[str, Any], ...]
    effects: tuple[Effect, ...]
    seen: tuple[str, ...]
    model: str


def keep(root: Path, late: Pending) -> None:
    """Keep a late directive durably, in the place of an older one. Raises StorageError."""
    data = {
        "turn": late.turn,
        "narrator": late.narrator,
        "fragments": list(late.fragments),
        "effects": [encode(effect) for effect in late.effects],
        "seen": list(late.seen),
        "model": late.model,
    }
    files.rewrite(root, PATH, json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def of(root: Path, turn: int) -> Pending | None:
    """The directive that waits for this turn; None where there is none, or it cannot be read."""
    data = json_object(plain(root, PATH) or b"") if files.exists(root, PATH) else None
    if data is None or data.get("turn") != turn - 1:
        return None
    narrator, fragments, effects = data.get("narrator"), data.get("fragments"), data.get("effects")
    seen = data.get("seen")
    sound = (
        isinstance(narrator, str)
        and isinstance(fragments, list)
        and all(isinstance(one, dict) for one in fragments)
        and isinstance(effects, list)
        and all(is_effect(one) for one in effects)
        and isinstance(seen, list)
        and all(isinstance(one, str) for one in seen)
    )
    if not sound:
        return None
    return Pending(
        turn - 1, narrator, tuple(fragments), tuple(map(decode, effects)), tuple(seen), str(data.get("model", ""))
    )


def drop(root: Path) -> None:
    """Forget it: it has served, or was overtaken."""
    if files.exists(root, PATH):
        files.remove(root, PATH)
