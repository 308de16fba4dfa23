"""TunnelVision around a turn: what is retrieved before it, kept after it, and told of both in the feed.

No phase can fail a turn. What failed is returned in words and said as degraded; a phase that is off by choice is not.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from rolecall.agents import historian, retriever, scribe, tunnelvision
from rolecall.agents.calls import Desk
from rolecall.agents.retriever import Pick
from rolecall.agents.scene import Finding
from rolecall.campaign import proposals, records, story
from rolecall.campaign.activity import Feed
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect
from rolecall.campaign.folder import Campaign
from rolecall.campaign.game.directives import Refused
from rolecall.campaign.journal import turn_id
from rolecall.campaign.story import Told
from rolecall.errors import RoleCallError
from rolecall.models.chain import Chain
from rolecall.search import leaks
from rolecall.search.searcher import Search
from rolecall.tools.toolbox import Table
from rolecall.turn.tasks import beside

BEFORE = 8.0  # seconds all that happens before the narrator may take
MISSED = 20  # turns back that are looked through for those whose scribe failed
AGAIN, LEFT_OUT = "tried with the next turn", "the rest is left out"


@dataclass(slots=True)
class Phases:
    """The phases of one turn: the campaign, its sidecar's chain, where calls are recorded, and what was noted so far."""

    campaign: Campaign
    search: Search
    sidecar: Chain | None
    desk: Desk
    turn: int
    feed: Feed = field(init=False)
    picks: list[Pick] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    caught_up: list[int] = field(default_factory=list)  # missed turns the scribe has now looked at
    _earlier: list[Told] | None = None  # missed turns, as `prepare` found them

    def __post_init__(self) -> None:
        self.feed = Feed(self.campaign.root)

    def plainly(self, state: Document, action: str, told: tuple[Told, ...]) -> list[Pick]:
        """What names, search and ties choose for the action, without a model."""
        try:
            return retriever.pick(self.search, state, action, told)
        except RoleCallError:
            raise
        except Exception:  # a fault of ours: the scene is told without
            return []

    def retrieve(self, state: Document, action: str, told: tuple[Told, ...], free: list[Pick], seconds: float) -> str:
        """Phase 1: choose what the narrator is shown, within so many seconds; `free` is chosen without a model.

        Why not by a model, if one was to do it and failed.
        """
        begun = time.monotonic()
        seconds = min(seconds, self.campaign.settings.timeouts["sidecar"])
        try:
            self.picks, why = tunnelvision.retrieve(
                self.sidecar, self.desk, self.campaign, self.search, state, told, action, seconds=seconds, free=free
            )
        except RoleCallError:
            raise
        except Exception as error:  # a fault of ours in a helper: names and search alone still make a scene
            why = f"{type(error).__name__}: {error}"
            self.picks = list(free)
        paths = list(dict.fromkeys(pick.path for pick in self.picks))
        reason = f"{len(paths)} entries and passages for the action" + (f" ({why})" if why else "")
        self.note("search", "pre-gen", "retriever", reason, paths, begun)
        return why

    def prepare(self) -> None:
        """What can be done while the narrator is awaited. Nothing comes of a failure here."""
        with suppress(Exception):
            self.search.tidy()
            from rolecall.agents import continuity  # here, so that the narrator is asked before that is imported

            self.search.prepare()
            continuity.prepare(self.campaign, self.search)
        with suppress(RoleCallError):
            self._earlier = self._missed()

    def searched(self, table: Table) -> None:
        """Phase 2, as it happened: what the narrator looked up while it wrote."""
        by_reason: dict[str, list[str]] = {}
        for seen in table.seen:
            by_reason.setdefault(seen.reason, []).append(seen.path)
        for reason, paths in by_reason.items():
            self.note("search", "during-gen", "narrator", reason, list(dict.fromkeys(paths)))

    def check(self, prose: str, state: Document, action: str) -> list[Finding]:
        """The continuity check: what is at odds with the campaign. Nothing is found where it cannot be made."""
        try:
            from rolecall.agents import continuity

            hidden = leaks.hidden_near(f"{prose}\n{state.data.decode('utf-8', 'replace')}", self.search)
            return continuity.findings(prose, state, self.search, self.campaign, action, hidden)
        except Exception as error:  # a check never costs a turn
            self.note(
                "continuity", "post-gen", "", f"the check could not be made ({type(error).__name__}: {error})", []
            )
            return []

    def report(self, found: list[Finding]) -> None:
        """Findings go to the feed."""
        for one in found:
            paths = [one.path] if one.path else []
            said = f"{one.text} — “{one.sentence}”" if not one.secret else one.text
            self.note("continuity", "post-gen", "", said, paths, secret=one.secret)

    def refused(self, left_out: Sequence[Refused]) -> None:
        """What the game's rules left out of the layers' directives goes to the feed."""
        for one in left_out:
            layer = one.layer or "narrator"
            self.note("plan", "during-gen", layer, f"left out: {one}", [], secret=one.secret)

    def remember(
        self, action: str, prose: str, line: str, pool: Executor
    ) -> tuple[list[Effect], list[tuple[str, str, str]]]:
        """Phases 3 and 4 side by side: (effects, [(layer, why, what happens instead)]). Nothing is written here."""
        begun = time.monotonic()
        kept = beside(pool, self._scribe, action, prose, line)
        told = beside(pool, self._historian)
        (effects, failed), (summed, unsummed) = kept.result(), told.result()
        summed = _numbered_after(effects, summed)
        degraded = [("scribe", failed, LEFT_OUT if effects else AGAIN)] if failed else []
        degraded += [("historian", unsummed, AGAIN)] if unsummed else []
        for layer, made, phase, names in (
            ("scribe", effects, "post-gen", scribe.ACTIVITY),
            ("historian", summed, "summary", historian.ACTIVITY),
        ):
            for effect in made:
                reason = effect.reason or effect.op
                self.note(names.get(effect.op, "update"), phase, layer, reason, [effect.path], begun)
        return [*effects, *summed], degraded

    def _scribe(self, action: str, prose: str, line: str) -> tuple[list[Effect], str]:
        try:
            missed = self._missed() if self._earlier is None else self._earlier
            shown, missed = [pick.path for pick in self.picks], missed[: scribe.SHOWN_AGAIN]
            effects, why = scribe.remember(
                self.sidecar, self.desk, self.campaign, self.search, self.turn, action, prose, line, shown, missed
            )
            self.caught_up = [] if why and not effects else [one.turn for one in missed]
            return effects, why
        except Exception as error:
            return [], f"{type(error).__name__}: {error}"

    def _historian(self) -> tuple[list[Effect], str]:
        memory = self.campaign.settings.memory
        try:
            if not historian.due(self.campaign, self.turn, memory["historian_every"]):
                return [], ""
            return historian.summarise(self.sidecar, self.desk, self.campaign, self.search, self.turn, memory)
        except Exception as error:
            return [], f"{type(error).__name__}: {error}"

    def _missed(self) -> list[Told]:
        """The turns before this one whose scribe failed and that no later one has looked at since, oldest first."""
        missed: set[int] = set()
        for folder in records.folders(self.campaign.root)[-MISSED - 1 : -1]:
            for line in records.lines(self.campaign.root, folder):
                if line["do"] == "missed":
                    missed.add(records.turn_of(folder))
                elif line["do"] == "caught_up":
                    missed -= set(line["turns"])
        told = story.recent(self.campaign, self.turn - min(missed) + 1) if missed else ()
        return [one for one in told if one.turn in missed]

    def note_fold(self, path: str, covers: str, by_hand: str, begun: float) -> None:
        """A fold, for the feed."""
        self.note(
            "fold", "post-gen", "sidecar", f"{covers} closed" + (f"; {by_hand}" if by_hand else ""), [path], begun
        )

    def note(
        self,
        type: str,
        phase: str,
        layer: str,
        reason: str,
        paths: list[str],
        begun: float = 0.0,
        *,
        secret: bool = False,
    ) -> None:
        """Add an operation to the feed, with the tokens its layer has used so far."""
        used = self.desk.usage.get(layer)
        self.feed.note(
            type,
            phase,
            turn=turn_id(self.turn),
            model=self.desk.models.get(layer, "rolecall"),
            reason=reason,
            paths=paths,
            tokens=used.prompt + used.out if used else 0,
            ms=round((time.monotonic() - begun) * 1000) if begun else 0,
            secret=secret,
        )
        self.counts[type] = self.counts.get(type, 0) + 1

    def pulse(self) -> str:
        """What TV did in this turn, in one line for the player."""
        words = {
            "remember": "remembered",
            "update": "updated",
            "forget": "forgotten",
            "fold": "folded",
            "summary": "summed up",
        }
        parts = [f"{self.counts[type]} {word}" for type, word in words.items() if self.counts.get(type)]
        return " · ".join(parts)


def _numbered_after(first: list[Effect], then: list[Effect]) -> list[Effect]:
    """The later effects, their proposals numbered after those of the first: both were made side by side."""
    taken = [int(Path(effect.path).stem) for effect in first if effect.op == "proposal"]
    if not taken:
        return then
    numbers = count(max(taken) + 1)
    return [replace(e, path=f"{proposals.FOLDER}/{next(numbers):04d}.json") if e.op == "proposal" else e for e in then]
