"""What a turn leaves for the player: who and what was mentioned, and what could be done next. By code, no model."""

from __future__ import annotations

from rolecall.campaign.arcs import Arc
from rolecall.campaign.effects import Promise

MOST = 4  # suggestions


def suggestions(arcs: list[Arc], promises: tuple[Promise, ...]) -> list[str]:
    """Suggested actions from open promises and open arcs, at most four, promises first."""
    found = [f"Keep the promise: {p.words}" for p in promises if not p.kept][:2]
    found += [f"Follow up: {arc.question or arc.name}" for arc in arcs if arc.open]
    return found[:MOST]
