"""The writer decides on what was proposed: each accepted proposal is a commit of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rolecall.campaign import commitlines, proposals
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener


def accept(game: Game, numbers: Sequence[int], listener: Listener, done: Callable[[int, list[str]], None]) -> None:
    """Make the changes of these proposals, in order. `done` hears of each: its number, the files that changed.

    Raises what `proposals.accept` raises; those before it are accepted then.
    """
    with game.writing(listener) as (campaign, _):
        for number in numbers:
            line = next((one.line for one in proposals.listed(campaign.root) if one.number == number), "")
            written = proposals.accept(campaign.root, number)
            game.commit(lambda number=number, line=line: commitlines.of_proposal(number, line), listener)
            done(number, list(dict.fromkeys(path for path, _ in written)))


def drop(game: Game, numbers: Sequence[int], listener: Listener, done: Callable[[int, str], None]) -> None:
    """Close these proposals without making their changes. `done` hears of each: its number, what it said."""
    with game.writing(listener) as (campaign, _):
        for number in numbers:
            done(number, proposals.drop(campaign.root, number).line)
