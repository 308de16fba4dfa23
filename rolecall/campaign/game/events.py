"""Events that are to come: entries of the kind `event` with a `date` and `status: scheduled`."""

from __future__ import annotations

from rolecall.campaign import kinds
from rolecall.campaign.documents import Document
from rolecall.campaign.frontmatter import scalar
from rolecall.campaign.journal import turn_id
from rolecall.campaign.text import clean_prose, slug

SCHEDULED, PAST, CANCELLED = "scheduled", "past", "cancelled"


def is_scheduled(document: Document) -> bool:
    """Whether an event is still to come."""
    return document.text("status").strip().casefold() == SCHEDULED


def path_of(name: str) -> str:
    """The path a new event's file would have."""
    return f"{kinds.ENTRY_KINDS['event'].folder}/{slug(name, 'event')}.md"


def written(name: str, date: str, text: str, turn: int, *, hidden: bool) -> str:
    """The content of a new event's file."""
    lines = [
        "---",
        f"name: {scalar(name, quote_types=True)}",
        "kind: event",
        f"date: {scalar(date)}",
        f"status: {SCHEDULED}",
    ]
    lines += ["visibility: secret"] if hidden else []
    lines += [f"source: {turn_id(turn)}", "---"]
    body = clean_prose(text)
    return "\n".join([*lines, *([body] if body else [])]) + "\n"
