"""The answers to the last turn, as `swipe --list` shows them."""

from __future__ import annotations

from rolecall.campaign import records
from rolecall.campaign.folder import Campaign
from rolecall.turn.rollback import last_turns


def listed(campaign: Campaign) -> list[dict]:
    """`[{swipe, current, journal, model}]`, counted from 1; only answers that were told."""
    turn = last_turns(campaign, 1)[0]
    rows = []
    for number, folder in records.swipes(campaign.root, turn).items():
        plan = next((line for line in records.lines(campaign.root, folder) if line["do"] == "plan"), None)
        if plan is None:
            continue
        journal = next((e["text"] for e in plan["effects"] if e["op"] == "journal"), "")
        current = ".swipe-" not in folder
        rows.append({"swipe": number, "current": current, "journal": journal, "model": plan.get("model", "")})
    return rows
