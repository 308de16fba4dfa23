"""What the next turn will ask of the campaign, made ready while the player reads: it waits for none of it then."""

from __future__ import annotations

import threading
from contextlib import suppress

from rolecall.agents import continuity, overview, retriever, snapshot
from rolecall.campaign.folder import Campaign
from rolecall.search import ground
from rolecall.search.searcher import Search
from rolecall.tools import ledger


def warm(campaign: Campaign, search: Search, enough: threading.Event) -> None:
    """Look up what changes with the files and not with the action, until it is `enough`. Nothing comes of a failure here.

    What is kept is kept by those who will ask for it, for the files as they are; whatever is changed before the next turn
    they look up again.
    """
    steps = (
        search.prepare,
        lambda: retriever.prepare(search),
        lambda: ground.prepare(search),
        lambda: continuity.prepare(campaign, search),
        lambda: overview.entries(search),
        lambda: ledger.prepare(campaign, search),
        lambda: snapshot.of(campaign, search, with_secrets=True),
    )
    for step in steps:
        if enough.is_set():
            return
        with suppress(Exception):
            step()
