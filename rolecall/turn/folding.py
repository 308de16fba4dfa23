"""The fold: the Journal's oldest stretch becomes a Chronicle.

Create before delete: the Chronicle is written durably, read back and checked to cover exactly those lines; only then do the
lines leave the Journal. A crash in between is finished by `finish`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rolecall.agents import chronicler
from rolecall.agents.calls import Desk
from rolecall.campaign import chronicles, journal, records
from rolecall.campaign.documents import Document, parse
from rolecall.campaign.effects import promises_of
from rolecall.campaign.folder import Campaign
from rolecall.campaign.instructions import instructions
from rolecall.campaign.journal import lines_of, turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import FOLDS, Record
from rolecall.errors import Malformed
from rolecall.models.chain import Chain


@dataclass(frozen=True, slots=True)
class Folded:
    """A fold that was made: the Chronicle's path, the turns it covers, and why no model retold it (empty if one did)."""

    path: str
    covers: str
    lines: int
    by_hand: str


@dataclass(frozen=True, slots=True)
class Retold:
    """A stretch of the Journal that has been retold and not yet written down; `why` no model did it, if one was to."""

    stretch: chronicles.Stretch
    record: Record
    prose: str
    why: str


def fold(
    campaign: Campaign, chain: Chain | None, names: Callable[[], list[str]], *, asked: bool = False
) -> Folded | None:
    """Fold when the Journal asks for it (or the writer does); None when there is nothing to fold.

    `names` gives the campaign's names for the completeness check; it is asked only when there is something to fold.
    """
    retold = retell(campaign, chain, Desk(None), asked=asked)
    return None if retold is None else write_down(campaign, retold, names())


def retell(campaign: Campaign, chain: Chain | None, mine: Desk, *, asked: bool = False) -> Retold | None:
    """Have the stretch retold that is to be folded, if there is one. Changes no file of the campaign; may run beside others."""
    state = campaign.document(STATE_FILE)
    stretch = chronicles.plan_fold(state, chronicles.paths(campaign), campaign.settings.memory, asked=asked)
    if stretch is None:
        return None
    stretch = _begun(campaign, stretch.number, lines_of(state)) or stretch
    record = Record(campaign.root, _free_folder(campaign, stretch.number))
    record.note("begin", fold=stretch.number, covers=stretch.covers)
    paid = records.paid_folds(campaign.root, stretch.number)
    desk = Desk(record, paid, mine.usage, mine.skipped, mine.models, mine.lock, mine.purse)
    told = [i.text for i in instructions(campaign, "sidecar") if i.when == "fold"]
    prose, why = chronicler.retell(stretch, chain, desk, "\n\n".join(told))
    return Retold(stretch, record, prose, why)


def write_down(campaign: Campaign, retold: Retold, names: list[str]) -> Folded:
    """Make the Chronicle of a stretch that was retold, and take its lines out of the Journal."""
    stretch = retold.stretch
    promised = {p.turn for p in promises_of(campaign.document(STATE_FILE)) if p.turn}
    path, data = chronicles.compose(stretch, retold.prose, names, promised)
    close(campaign, retold.record, stretch, path, data)
    return Folded(path, stretch.covers, len(stretch.lines), retold.why)


def close_all(campaign: Campaign, names: list[str]) -> Folded | None:
    """Fold every line of the Journal, made of its own words: what comes next is another stretch of the story.

    Where a run that was killed right after it did so already, that fold is given back.
    """
    state = campaign.document(STATE_FILE)
    lines, found = lines_of(state), chronicles.paths(campaign)
    if not lines:
        return _closed_before(campaign, *found[-1]) if found else None
    stretch = chronicles.Stretch(found[-1][0] + 1 if found else 1, lines)
    record = Record(campaign.root, _free_folder(campaign, stretch.number))
    record.note("begin", fold=stretch.number, covers=stretch.covers)
    promised = {p.turn for p in promises_of(state) if p.turn}
    path, data = chronicles.compose(stretch, chronicles.own_words(stretch), names, promised)
    close(campaign, record, stretch, path, data)
    return Folded(path, stretch.covers, len(lines), "")


def _closed_before(campaign: Campaign, number: int, path: str) -> Folded | None:
    """The fold that emptied the Journal, if it was one of ours: an ordinary one leaves the newest lines."""
    if not records.attempts(campaign.root, number):
        return None
    closed = chronicles.read(campaign, path)
    return Folded(path, f"{turn_id(closed.first)}-{turn_id(closed.last)}", len(closed.lines), "")


def close(campaign: Campaign, record: Record, stretch: chronicles.Stretch, path: str, data: bytes) -> None:
    """Write the Chronicle, read it back, and take its lines out of the Journal."""
    record.write(path, "chronicle", lambda before: data if before is None else before)
    if not chronicles.holds(campaign.read(path), path, stretch):
        raise Malformed(
            "the Chronicle does not hold the lines it covers", path=path, remedy="move it away and fold again"
        )
    record.write(STATE_FILE, "fold", lambda before: chronicles.without(before or b"", stretch.lines))
    record.note("closed")


def _begun(campaign: Campaign, number: int, lines: tuple[journal.Line, ...]) -> chronicles.Stretch | None:
    """The stretch of an interrupted attempt whose retelling is paid for, as long as its lines head the Journal."""
    for folder in reversed(records.attempts(campaign.root, number)):
        if not any(call.complete for call in records.calls(campaign.root, folder)):
            continue
        covers = next((line.get("covers") for line in records.lines(campaign.root, folder)), "")
        for count in range(1, len(lines)):
            stretch = chronicles.Stretch(number, lines[:count])
            if stretch.covers == covers:
                return stretch
    return None


def _free_folder(campaign: Campaign, number: int) -> str:
    """A folder for this attempt's record: attempts that never wrote their Chronicle keep theirs."""
    before = records.attempts(campaign.root, number)
    last = int(before[-1].partition("-")[2] or 1) if before else 0
    return f"{FOLDS}/{number:04d}-{last + 1}" if last else f"{FOLDS}/{number:04d}"


def finish(campaign: Campaign) -> str | None:
    """Finish a fold that a crash left between its two writes; the Chronicle's path when there was one.

    The Chronicle must be whole: its seal must fit and its `covers` be its own lines. Otherwise nothing is taken.
    """
    if found := chronicles.paths(campaign):
        for folder in records.attempts(campaign.root, found[-1][0])[-1:]:
            records.finish_torn(campaign.root, folder)
    left = chronicles.unfinished(campaign)
    if left is None:
        return None
    path, lines = left
    document: Document = parse(campaign.read(path), path)
    if not chronicles.holds(document.data, path, chronicles.Stretch(0, lines)):
        return None
    number = chronicles.read(campaign, path).number
    record = Record(campaign.root, (records.attempts(campaign.root, number) or [f"{FOLDS}/{number:04d}"])[-1])
    record.write(STATE_FILE, "fold", lambda before: chronicles.without(before or b"", lines), finished=True)
    record.note("closed", finished=True)
    return path
