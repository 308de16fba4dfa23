"""The life of a turn, from the player's action to the closed record.

The lock is held from the action to the end of the afterwork. What can fail is a helper; a turn fails only when no
narrator speaks or the file system refuses, and then the action is kept as a draft and the campaign is as it was.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rolecall.agents import afterwork, continuity, narrator
from rolecall.agents.calls import Desk
from rolecall.agents.narrator import Narration
from rolecall.campaign import chronicles, journal, records, seeds, story
from rolecall.campaign.activity import Feed
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect, promises_of
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import Record
from rolecall.errors import ModelError, RoleCallError, StorageError
from rolecall.models.chain import Chain
from rolecall.models.messages import Request
from rolecall.models.provider import Profile
from rolecall.search.searcher import Search
from rolecall.tools import families
from rolecall.tools.toolbox import NARRATOR, Table
from rolecall.turn import context, folding, telling
from rolecall.turn.phases import AGAIN, Phases
from rolecall.turn.result import Degraded, Result

_SPOKEN = {"retriever": "retrieval", "sidecar": "fold"}  # layers of the desk by the names a player reads


@dataclass(slots=True)
class Listener:
    """Whom a turn tells what: prose as it is written, and one quiet line for what was degraded or put right."""

    text: Callable[[str], None] = lambda _: None
    note: Callable[[str], None] = lambda _: None


def next_turn(campaign: Campaign, state: Document) -> int:
    """One past the last turn that the Journal, the Chronicles or the story knows of."""
    lines = journal.lines_of(state)
    told = story.recent(campaign, 1)
    known = [line.turn for line in lines] + [t.turn for t in told] + [chronicles.last_covered(campaign)]
    return max(known) + 1


class Turn:
    """One turn under way."""

    def __init__(self, campaign: Campaign, search: Search, chains: dict, listener: Listener) -> None:
        self.campaign, self.search, self.chains, self.listener = campaign, search, chains, listener
        self.degraded: list[Degraded] = []
        self.turn = 0
        self.clock = {"begin": time.perf_counter()}

    def tell(self, action: str, *, turn: int = 0, swipe: int = 1, seed: str = "") -> Result:
        self.search.refresh()
        if self.search.partial:
            self._degrade("search", "the index cannot be used", "names are matched on the files")
        self._say_withheld()
        state = self._state()
        self.turn = turn = turn or next_turn(self.campaign, state)
        record = records.begin(self.campaign.root, turn, action, swipe=swipe, seed=seed)
        desk = Desk(record, paid=records.paid_answers(self.campaign.root, turn))
        table = Table(self.campaign, self.search, turn, state, seed=seeds.of(self.campaign.root, record.folder))
        phases = Phases(self.campaign, self.search, self.chains["sidecar"], desk, turn)
        self.chains["narrator"].warm()  # its SDK or weights are read in while the helpers' models are waited for
        try:
            if why := phases.retrieve(state, action):
                self._degrade("retrieval", why, "names, search and ties choose")
            sources = context.gather(self.campaign, self.search, state, turn, action, phases.picks)
            self.clock["before"] = time.perf_counter()
            narration = self._narrate(sources, desk, table, phases)
        except BaseException as error:
            self._take_back(record, turn, action, error)
            raise
        self.clock["told"] = time.perf_counter()
        self._say_skipped(desk)
        if self.campaign.settings.continuity != "repair":  # before the story tells it: then a slip would count as told
            phases.report(phases.check(narration.prose, telling.state_after(table), action))
        with uninterrupted():
            effects = self._write(record, table, action, narration)
        try:
            self._afterwork(desk, record, phases, table, sources, narration, effects)
        except KeyboardInterrupt:
            self._degrade("afterwork", "stopped by the player", "done with the next turn")
        with uninterrupted(), self._after_told("record", "closed with the next turn"):
            record.note("closed")
        return self._result(turn, narration, effects, record, desk, phases)

    def _write(self, record: Record, table: Table, action: str, narration: Narration) -> list[Effect]:
        """Write the turn down. Where the disk refuses, everything that was said is in the record, which stays open."""
        try:
            effects = telling.plan(self.campaign, self.search, table, action, narration)
            telling.save_plan(record, effects, narration)
            for fault in telling.apply(self.campaign, record, effects):
                self._degrade("writes", fault, "left out")
        except RoleCallError as error:
            error.hint = error.hint or "What was told is kept; the next command writes it down."
            raise
        with self._after_told("record", "closed with the next turn"):
            record.note("told")
            records.drop_drafts(self.campaign.root)
        return effects

    @contextmanager
    def _after_told(self, layer: str, fallback: str) -> Iterator[None]:
        """The turn is told: whatever fails from here on is said, and no longer fails it."""
        try:
            yield
        except RoleCallError as error:
            self._degrade(layer, str(error), fallback)

    def _say_withheld(self) -> None:
        """An entry that cannot be read is out of the game until it is mended: the writer should hear of it."""
        broken = [entry.broken for entry in self.search.catalogue.values() if entry.broken]
        if broken:
            more = f" (and {len(broken) - 1} more; `rolecall check` lists them)" if len(broken) > 1 else ""
            self.listener.note(f"Withheld from the story until it is mended: {broken[0]}{more}")

    def _state(self) -> Document:
        """The Campaign State, its Journal folded first when it is past its limit (a long line, a hand edit)."""
        if not self.campaign.exists(STATE_FILE):
            raise StorageError(
                "there is no Campaign State", path=STATE_FILE, remedy="restore it, or copy the template's"
            )
        state = self.campaign.document(STATE_FILE)
        if b"\0" in state.data:
            line = state.data.count(b"\n", 0, state.data.index(b"\0")) + 1
            raise StorageError(
                "NUL bytes, no text", path=STATE_FILE, line=line, remedy="save it as UTF-8, or restore it"
            )
        limit = self.campaign.settings.memory["journal_limit"]
        if journal.length(journal.lines_of(state)) + narrator.FALLBACK_LINE > limit:
            folding.fold(self.campaign, None, self._names, asked=True)
            state = self.campaign.document(STATE_FILE)
        return state

    def _narrate(self, sources: context.Sources, desk: Desk, table: Table, phases: Phases) -> Narration:
        chain = self.chains["narrator"]
        toolbox = families.toolbox(NARRATOR, table)
        cut = "\n".join(i.text for i in sources.instructions if i.when == "cut")
        correct = chain.models.correction.budget
        asked: list[Profile] = []

        def build(profile: Profile) -> Request:
            asked.append(profile)
            return context.assemble(sources, profile, toolbox.offers(), correct).request

        # While the model is awaited: small index segments are merged, the continuity check is made ready.
        threading.Thread(target=phases.prepare, name="prepare", daemon=True).start()
        repairing = self.campaign.settings.continuity == "repair"
        shown = (lambda _: None) if repairing else self.listener.text
        narration = narrator.narrate(chain, desk, toolbox, build, on_text=shown, cut_text=cut)
        if repairing:
            state = telling.state_after(table)
            narration = self._repaired(narration, chain, desk, build, state, sources.action, phases)
            self.listener.text(narration.prose)
        if narration.cut:
            self._degrade("narrator", narration.cut, "what was said is kept")
        elif not narration.journal and asked and asked[-1].tools:
            self._degrade("journal", "the narrator wrote no line", "a sentence of the prose")
        return narration

    def _repaired(
        self,
        narration: Narration,
        chain: Chain,
        desk: Desk,
        build: Callable[[Profile], Request],
        state: Document,
        action: str,
        phases: Phases,
    ) -> Narration:
        """One repair round before the player sees the text, when the prose is at odds with the campaign."""
        found = phases.check(narration.prose, state, action)
        worth = [one for one in found if one.severity != "warning"]
        phases.report(worth)
        if not worth or narration.cut:
            return narration
        try:
            return narrator.mend(chain, desk, build, narration, continuity.repair_request(worth))
        except ModelError as error:
            self._degrade("repair", str(error), "the prose stays as it is")
            return narration

    def _take_back(self, record: Record, turn: int, action: str, error: BaseException) -> None:
        """No word was said: the action becomes a draft and the record is put aside; the campaign is untouched."""
        try:
            path = records.keep_draft(self.campaign.root, turn, action)
            records.set_aside(self.campaign.root, record.folder, "draft")
        except RoleCallError:
            return  # the disk is gone too; the open record holds the action and the next command takes it back
        if isinstance(error, RoleCallError) and not error.hint:
            error.hint = f"The action is kept in {path}."

    def _say_skipped(self, desk: Desk, since: int = 0) -> None:
        """Say which models were passed over, where the layer's failure was not said already."""
        said = {one.layer for one in self.degraded}
        for layer, skipped in desk.skipped[since:]:
            name = _SPOKEN.get(layer, layer)
            if name not in said:
                self._degrade(name, skipped.reason, desk.models.get(layer, "none"))

    def _degrade(self, layer: str, reason: str, fallback: str) -> None:
        """Say in the result and in the feed that a layer did not do its work, and what was done instead."""
        self.degraded.append(one := Degraded(layer, " ".join(reason.split()), fallback))
        phase = "post-gen" if "told" in self.clock else "during-gen" if "before" in self.clock else "pre-gen"
        turn = turn_id(self.turn) if self.turn else ""
        Feed(self.campaign.root).note("degraded", phase, turn=turn, reason=f"{layer}: {one.reason} → {fallback}")

    def _afterwork(
        self,
        desk: Desk,
        record: Record,
        phases: Phases,
        table: Table,
        sources: context.Sources,
        narration: Narration,
        told: list[Effect],
    ) -> None:
        """What follows a told turn: a failure here is said, and tried again with the next turn."""
        before = len(desk.skipped)
        phases.searched(table)
        line = next(e.text for e in told if e.op == "journal")
        effects, failed = phases.remember(sources.action, narration.prose, line)
        for layer, why, instead in failed:
            self._degrade(layer, why, instead)
        with uninterrupted(), self._after_told("scribe", "finished with the next turn"):
            if any(layer == "scribe" and instead == AGAIN for layer, _, instead in failed):
                record.note("missed", layer="scribe")
            if effects:
                telling.save_more(record, effects)
            if phases.caught_up:
                record.note("caught_up", turns=phases.caught_up)
            if effects:
                for fault in telling.apply(self.campaign, record, effects):
                    self._degrade("writes", fault, "left out")
        begun = time.monotonic()
        with self._after_told("fold", "tried again with the next turn"):
            folded = folding.fold(self.campaign, self.chains["sidecar"], self._names, desk=desk)
            if folded:
                phases.note_fold(folded.path, folded.covers, folded.by_hand, begun)
            if folded and folded.by_hand:
                self._degrade("fold", folded.by_hand, "the Chronicle is made of the journal's own lines")
        self._say_skipped(desk, before)

    def _result(
        self, turn: int, narration: Narration, effects: list[Effect], record: Record, desk: Desk, phases: Phases
    ) -> Result:
        now = time.perf_counter()
        mentioned: dict[str, str] = {}
        suggested: list[str] = []
        with self._after_told("entities and suggestions", "none this turn"):
            catalogue = self.search.catalogue
            named = [catalogue.get(m.path) for m in self.search.mentions(narration.prose)]
            mentioned = {entry.path: entry.name for entry in named if entry}
            suggested = afterwork.suggestions(list(self._arcs()), promises_of(self.campaign.document(STATE_FILE)))
        clock = self.clock
        return Result(
            turn=turn_id(turn),
            prose=narration.prose,
            journal=next(e.text for e in effects if e.op == "journal"),
            suggestions=tuple(suggested),
            entities=tuple(mentioned.values()),
            scene_changed=any(e.path == STATE_FILE and e.key in ("scene", "location") for e in effects),
            writes=tuple(record.written),
            degraded=tuple(self.degraded),
            usage=dict(desk.usage),
            timings_ms={
                "before": _ms(clock["begin"], clock["before"]),
                "narrator": _ms(clock["before"], clock["told"]),
                "after": _ms(clock["told"], now),
                "total": _ms(clock["begin"], now),
            },
            pulse=phases.pulse(),
        )

    def _names(self) -> list[str]:
        return telling.known_names(self.search)

    def _arcs(self) -> tuple:
        return context.open_arcs(self.campaign, self.search)


def _ms(begin: float, end: float) -> int:
    return round((end - begin) * 1000)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back for the moment in which files are written: the turn is told by then, there is nothing to stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)
