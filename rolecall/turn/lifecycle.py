"""The life of a turn, from the player's action to the closed record.

The lock is held from the action to the end of the afterwork. What can fail is a helper; a turn fails only when no
narrator speaks or the file system refuses, and then the action is kept as a draft and the campaign is as it was.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rolecall.agents import narrator
from rolecall.agents.afterwork import SUGGESTED, Afterwork
from rolecall.agents.calls import Desk
from rolecall.agents.narrator import Narration
from rolecall.agents.purse import Purse
from rolecall.agents.typed import helpers_of
from rolecall.campaign import chronicles, journal, records, seeds, story
from rolecall.campaign.activity import Feed
from rolecall.campaign.beside import Beside
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect
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
from rolecall.turn import context, costs, folding, immersion, telling
from rolecall.turn.afterwards import Afterwards
from rolecall.turn.before import Before, Layers, finish
from rolecall.turn.interrupts import uninterrupted
from rolecall.turn.phases import Phases
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

    def __init__(
        self, campaign: Campaign, search: Search, chains: dict, listener: Listener, purse: Purse | None = None
    ) -> None:
        self.campaign, self.search, self.chains, self.listener = campaign, search, chains, listener
        self.purse = purse or Purse()
        self.degraded: list[Degraded] = []
        self.turn = 0
        self.clock = {"begin": time.perf_counter()}
        self.prompt: context.Prompt | None = None  # the narrator's, as it was last asked
        self._told: tuple = ()
        self._enough = threading.Event()

    def tell(self, action: str, *, turn: int = 0, swipe: int = 1, seed: str = "") -> Result:
        """Tell the turn and do all that follows. `seed` is that of its dice, a new one if empty."""
        self.begin(action, turn=turn, swipe=swipe, seed=seed)
        return self.finish()

    def begin(self, action: str, *, turn: int = 0, swipe: int = 1, seed: str = "") -> None:
        """Up to the told turn: its story section and journal line are durable. `finish` must follow."""
        self.search.refresh()
        if self.search.partial:
            self._degrade("search", "the index cannot be used", "names are matched on the files")
        self._say_withheld()
        state = self._state()
        self.turn = turn = turn or next_turn(self.campaign, state)
        record = records.begin(self.campaign.root, turn, action, swipe=swipe, seed=seed)
        self.purse.begin()
        desk = Desk(record, paid=records.paid_answers(self.campaign.root, turn), purse=self.purse)
        table = Table(self.campaign, self.search, turn, state, seed=seeds.of(self.campaign.root, record.folder))
        phases = Phases(self.campaign, self.search, self.chains["sidecar"], desk, turn)
        self.chains["narrator"].warm()  # its SDK or weights are read in while the helpers' models are waited for
        before = Before()
        try:
            before = Layers(phases, self.chains, state, action, table.seed).run()
            for layer, why, instead in before.failed:
                self._degrade(layer, why, instead)
            before.note(record)
            before.lay(table)
            sources = context.gather(
                self.campaign,
                self.search,
                state,
                turn,
                action,
                before.picks,
                before.direction,
                choosing=helpers_of(self.chains["turn_dm"]) is not None,
            )
            self.clock["before"] = time.perf_counter()
            narration = self._narrate(sources, desk, table, phases)
        except BaseException as error:
            before.stop()
            self._take_back(record, turn, action, error)
            raise
        self.clock["told"] = time.perf_counter()
        self._say_skipped(desk)
        if self.campaign.settings.continuity != "repair":  # before the story tells it: then a slip would count as told
            phases.report(phases.check(narration.prose, telling.state_after(table), action))
        try:
            with uninterrupted():
                effects = self._write(record, phases, table, action, narration)
                with self._after_told("record", "closed with the next turn"):
                    (records.drop_drafts if swipe == 1 else records.drop_draft)(self.campaign.root, action)
            phases.searched(table)
        except BaseException:
            before.stop()
            raise
        self._told = (action, narration, effects, record, desk, phases, before)

    def finish(self) -> Result:
        """The afterwork of a told turn, and its record closed. May run in another thread than `begin`."""
        action, narration, effects, record, desk, phases, before = self._told
        skipped = len(desk.skipped)
        after = Afterwards(
            self.campaign,
            self.search,
            self.chains["sidecar"],
            desk,
            record,
            phases,
            self._degrade,
            self._after_told,
            self._enough,
        )
        try:
            after.run(action, narration.prose, effects)
            self._late(before, phases, record)
        finally:
            before.stop()  # no thread outlives the lock
        with uninterrupted(), self._after_told("record", "closed with the next turn"):
            costs.note(record, desk.purse)
        self._say_skipped(desk, skipped)
        self._say_costs(desk.purse)
        with uninterrupted(), self._after_told("record", "closed with the next turn"):
            record.note("closed")
        return self._result(narration, effects, record, desk, phases, after.left)

    def leave(self) -> None:
        """Let a `finish` in another thread wait for no model any more: the next turn looks at what it did not keep."""
        self._enough.set()
        self._told[-1].stop()

    def _late(self, before: Before, phases: Phases, record: Record) -> None:
        """Wait for a DM that was late; Ctrl-C stops that too. The record says so: told again, the turn goes without it."""
        try:
            with self._after_told("dm", "no directive for the next turn"):
                if before.late is not None:
                    record.note("late", layer="dm")
                if why := finish(before, phases):
                    self._degrade_late(why)
        except KeyboardInterrupt:
            self._degrade_late("stopped by the player")

    def _degrade_late(self, why: str) -> None:
        """A DM that was late gave nothing in the end: one line in the result tells both."""
        said = [one for one in self.degraded if one.layer == "dm"]
        self.degraded = [one for one in self.degraded if one.layer != "dm"]
        self._degrade("dm", "; then ".join([*(one.reason for one in said), why]), "no directive for the next turn")

    def _write(self, record: Record, phases: Phases, table: Table, action: str, narration: Narration) -> list[Effect]:
        """Write the turn down. Where the disk refuses, everything that was said is in the record, which stays open."""
        try:
            immersed = immersion.of(table, record)
            phases.refused(immersed.refused)
            if immersed.fault:
                self._degrade("game", immersed.fault, "what was told stands, its numbers as they were")
            effects = telling.plan(self.campaign, self.search, table, action, narration, immersed)
            telling.save_plan(record, effects, narration, context.rows_of(self.prompt, table))
            immersion.note(record, immersed)
            for fault in telling.apply(self.campaign, record, effects):
                self._degrade("writes", fault, "left out")
        except RoleCallError as error:
            error.hint = error.hint or "What was told is kept; the next command writes it down."
            raise
        with self._after_told("record", "closed with the next turn"):
            record.note("told")
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
        broken = [entry.broken for entry in self.search.catalogue.marked("broken")]
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
        ready: list[Beside[None]] = []  # what is done while the model is awaited

        def build(profile: Profile) -> Request:
            asked.append(profile)
            if not ready:  # small index segments are merged, the continuity check is made ready
                ready.append(Beside("prepare", phases.prepare))
            self.prompt = context.assemble(sources, profile, toolbox.offers(), correct)
            return self.prompt.request

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
        from rolecall.agents import continuity

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
            costs.note(record, self.purse)
            records.set_aside(self.campaign.root, record.folder, "draft")
        except RoleCallError:
            return  # the disk is gone too; the open record holds the action and the next command takes it back
        if isinstance(error, RoleCallError) and not error.hint:
            error.hint = f"The action is kept in {path}."

    def _say_skipped(self, desk: Desk, since: int = 0) -> None:
        """Say which models were passed over, where the layer's failure was not said already."""
        passed: dict[str, list[str]] = {}
        for layer, skipped in desk.skipped[since:]:
            passed.setdefault(layer, []).append(skipped.reason)
        said = {one.layer for one in self.degraded}
        for layer, reasons in passed.items():
            if (name := _SPOKEN.get(layer, layer)) not in said:
                self._degrade(name, "; ".join(dict.fromkeys(reasons)), desk.models.get(layer, "none"))

    def _degrade(self, layer: str, reason: str, fallback: str) -> None:
        """Say in the result and in the feed that a layer did not do its work, and what was done instead."""
        self.degraded.append(one := Degraded(layer, " ".join(reason.split()), fallback))
        phase = "post-gen" if "told" in self.clock else "during-gen" if "before" in self.clock else "pre-gen"
        turn = turn_id(self.turn) if self.turn else ""
        Feed(self.campaign.root).note("degraded", phase, turn=turn, reason=f"{layer}: {one.reason} → {fallback}")

    def _say_costs(self, purse: Purse) -> None:
        """One line when the turn went over its ceiling, and when the ceiling does not see a model for want of a price."""
        if over := purse.over():
            self.listener.note(f"{over}, the ceiling of `rolecall.yaml`.")
        if unwatched := purse.unwatched():
            self.listener.note(f"The ceiling does not see {', '.join(unwatched)}: `prices` names no price for it.")

    def _result(
        self, narration: Narration, effects: list[Effect], record: Record, desk: Desk, phases: Phases, left: Afterwork
    ) -> Result:
        clock, now = self.clock, time.perf_counter()
        prices = desk.purse.prices
        return Result(
            turn=turn_id(self.turn),
            prose=narration.prose,
            journal=next(e.text for e in effects if e.op == "journal"),
            suggestions=left.suggestions,
            entities=tuple(one.name for one in left.mentioned if one.state != SUGGESTED),
            mentioned=left.mentioned,
            scene_changed=left.scene_changed,
            music=left.music,
            writes=tuple((path, op) for path, op in record.written if not path.startswith("dm/")),
            degraded=tuple(self.degraded),
            usage=dict(desk.usage),
            totals={scope: costs.total(costs.rows_of(desk.purse, scope), prices) for scope in ("turn", "session")},
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


def _ms(begin: float, end: float) -> int:
    return round((end - begin) * 1000)
