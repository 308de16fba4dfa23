"""What follows a told turn: scribe, historian, fold and the afterwork call, asked side by side, written down one by one.

Nothing here can fail the turn. A helper that failed is said, and what it would have done is tried with the next turn.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from rolecall.agents import afterwork
from rolecall.agents.afterwork import Afterwork
from rolecall.agents.calls import Desk
from rolecall.campaign import records
from rolecall.campaign.effects import Effect
from rolecall.campaign.folder import Campaign
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import Record
from rolecall.models.chain import Chain
from rolecall.models.provider import until
from rolecall.search.searcher import Search
from rolecall.turn import context, folding, telling
from rolecall.turn.interrupts import uninterrupted
from rolecall.turn.phases import AGAIN, Phases
from rolecall.turn.tasks import beside

Degrade = Callable[[str, str, str], None]  # layer, reason, fallback
Guard = Callable[
    [str, str], AbstractContextManager[None]
]  # layer, fallback: a fault inside is said, and goes no further


@dataclass(slots=True)
class Afterwards:
    """The afterwork of one turn: what it works on, and what came of it (`left`, for the player).

    Once `enough` is set no model is waited for: what was not kept then is looked at again with the next turn.
    """

    campaign: Campaign
    search: Search
    sidecar: Chain | None
    desk: Desk
    record: Record
    phases: Phases
    degrade: Degrade
    guard: Guard
    enough: threading.Event
    left: Afterwork = field(default_factory=Afterwork)

    def run(self, action: str, prose: str, told: list[Effect]) -> None:
        """Do it all. Ctrl-C is enough."""
        line = next(e.text for e in told if e.op == "journal")
        scene = any(e.path == STATE_FILE and e.key in ("scene", "location") for e in told)
        kept, begun = False, time.monotonic()
        try:
            with until(self.enough), ThreadPoolExecutor(max_workers=5, thread_name_prefix="after") as pool:
                fold = beside(pool, folding.retell, self.campaign, self.sidecar, self.desk)
                remembered = beside(pool, self.phases.remember, action, prose, line, pool)
                left = beside(pool, self._left, action, prose, line, scene)  # its question takes least to make
                self._wait([fold, remembered, left])
            effects, failed = remembered.result()
            with uninterrupted():
                self._keep(effects, failed)
                kept = True
                self._fold(fold, begun)
                self._note_left(left)
        except KeyboardInterrupt:
            self.degrade("afterwork", "stopped by the player", "done with the next turn")
            with uninterrupted(), self.guard("record", "closed with the next turn"):
                if not kept:
                    self.record.note("missed", layer="scribe")

    def _wait(self, work: list[Future]) -> None:
        try:
            wait(work)
        except KeyboardInterrupt:
            self.enough.set()  # else the pool would wait for the models
            raise

    def _keep(self, effects: list[Effect], failed: list[tuple[str, str, str]]) -> None:
        """Write down what scribe and historian keep."""
        for layer, why, instead in failed:
            self.degrade(layer, why, instead)
        with self.guard("scribe", "finished with the next turn"):
            if any(layer == "scribe" and instead == AGAIN for layer, _, instead in failed):
                self.record.note("missed", layer="scribe")
            if effects:
                telling.save_more(self.record, effects)
            if self.phases.caught_up:
                self.record.jot("caught_up", turns=self.phases.caught_up)
            if effects:
                for fault in telling.apply(self.campaign, self.record, effects):
                    self.degrade("writes", fault, "left out")

    def _fold(self, retelling: Future, begun: float) -> None:
        with self.guard("fold", "tried again with the next turn"):
            retold = retelling.result()
            if retold is None:
                return
            folded = folding.write_down(self.campaign, retold, telling.known_names(self.search))
            self.phases.note_fold(folded.path, folded.covers, folded.by_hand, begun)
            if folded.by_hand:
                self.degrade("fold", folded.by_hand, "the Chronicle is made of the journal's own lines")

    def _left(self, action: str, prose: str, line: str, scene: bool) -> Afterwork:
        """Who was in it, and what could be done next."""
        state = self.campaign.document(STATE_FILE)
        arcs = context.open_arcs(self.campaign, self.search)
        told = afterwork.Told(self.phases.turn, action, prose, line, state, arcs, scene, last_music(self.campaign))
        return afterwork.after(self.sidecar, self.desk, self.campaign, self.search, told)

    def _note_left(self, left: Future) -> None:
        """Keep what the player is offered; say when a model was to think of it and did not, or not even code could."""
        try:
            self.left = left.result()
        except Exception as error:  # the turn is told: nothing that is merely offered may fail it
            self.degrade("entities and suggestions", f"{type(error).__name__}: {error}", "none this turn")
        if self.left.why:
            self.degrade("afterwork", self.left.why, "by code")
        with self.guard("record", "closed with the next turn"):
            self.record.jot("afterwork", suggestions=list(self.left.suggestions), music=self.left.music)


def last_music(campaign: Campaign) -> str:
    """The music of the newest turn that set one; empty when none did."""
    for folder in reversed(records.folders(campaign.root)[-3:]):
        for line in reversed(records.lines(campaign.root, folder)):
            if line["do"] == "afterwork":
                return line.get("music", "")
    return ""


def offered(campaign: Campaign) -> tuple[str, ...]:
    """The suggestions of the last told turn, as its record keeps them."""
    for folder in records.folders(campaign.root)[-1:]:
        for line in reversed(records.lines(campaign.root, folder)):
            if line["do"] == "afterwork":
                return tuple(line.get("suggestions", ()))
    return ()
