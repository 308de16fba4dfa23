"""A turn told once more from its record: the same action, the same dice, the same answers, and no model is asked.

It goes where the turn began: in this campaign after the turn was taken back, or in a copy from before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rolecall.campaign import recordlines, records
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import TurnError
from rolecall.turn.lifecycle import next_turn


@dataclass(frozen=True, slots=True)
class Replay:
    """What is told again: the model that answers from the record, the player's action, and the seed of the dice."""

    spec: str
    turn: int
    action: str
    seed: str


def of(campaign: Campaign, wanted: str) -> Replay:
    """The replay of `T0042` (its newest record here, also of a turn taken back) or of a record's folder anywhere.

    Raises TurnError when there is none, or when it is not the turn that comes next here.
    """
    folder = _folder(campaign, wanted)
    try:
        lines = recordlines.read((folder / "record.jsonl").read_bytes())
    except OSError:
        lines = []
    begin = next((line for line in lines if line["do"] == "begin" and "turn" in line), None)
    if begin is None:
        raise TurnError(f"there is no record of {wanted}", remedy="name a turn as T0042, or the folder of its record")
    number = next_turn(campaign, campaign.document(STATE_FILE))
    if begin["turn"] != number:
        raise TurnError(
            f"{turn_id(begin['turn'])} cannot follow here, where {turn_id(number)} is next",
            remedy="take turns back with `rolecall undo`, or replay in a copy from before it",
        )
    return Replay(f"record:{folder}", begin["turn"], begin["action"], begin.get("seed", ""))


def _folder(campaign: Campaign, wanted: str) -> Path:
    """The folder that is meant: of a turn's name the record that counts, else the one put aside last; no answer swiped away."""
    if not re.fullmatch(r"T\d{4,}(\.[a-z]+-\d+)?", wanted):
        return Path(wanted).expanduser().absolute()
    place = campaign.root / records.TURNS
    if (place / wanted).is_dir():
        return place / wanted
    aside = place.glob(f"{wanted}.*") if place.is_dir() else ()
    aside = sorted(aside, key=lambda path: (".swipe-" not in path.name, path.stat().st_mtime_ns))
    return aside[-1] if aside else place / wanted
