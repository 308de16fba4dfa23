"""A campaign being played: the one object the command line and the player talk to.

    game = Game(root, models=["anthropic/NAME"], environ=os.environ)
    game.tell("I open the door.", Listener(text=print))

Every method that writes holds the campaign's lock and first puts right what a crash left. What a turn does not need is imported later.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rolecall.agents.purse import Purse
from rolecall.campaign import commitlines, commits, lock, records, timelines
from rolecall.campaign.activity import Feed
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.settings import SETTINGS_FILE
from rolecall.campaign.text import blemishes, clean, key_at
from rolecall.errors import GitTrouble, ModelSettings, RoleCallError, TurnError
from rolecall.models.chain import Chain, Models
from rolecall.models.faults import secrets_of
from rolecall.models.roles import chains_for
from rolecall.search import reconcile
from rolecall.search.searcher import Search
from rolecall.turn import costs, folding, modelnames, recovery, telling
from rolecall.turn.aside import Rest
from rolecall.turn.interrupts import uninterrupted
from rolecall.turn.lifecycle import Listener, Turn, next_turn
from rolecall.turn.result import Degraded, Result

if TYPE_CHECKING:
    from rolecall.campaign.renaming import Plan, Renaming
    from rolecall.turn.rollback import Undone

LONGEST_ACTION = 8000  # characters
KEY_LENGTH = 8  # characters a key has at least; a stand-in such as "none" is a word
LATER = "committed with the next turn"  # what git would not take
_RAISE = "raise `ceiling` in rolecall.yaml, or begin another session"


@dataclass(slots=True)
class Game:
    """A campaign being played: its folder, the models of this session, the search that is kept open between turns."""

    root: Path
    command: str = "turn"
    models: Sequence[str] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    wait: float = lock.WAIT
    _shared: Models | None = None
    _search: Search | None = None
    _upkeep: threading.Thread | None = None
    _keeper: commits.Keeper | None = None  # of the command under way
    _git: commits.Known = field(default_factory=commits.Known)
    _purse: Purse | None = None
    _rest: Rest | None = None
    _enough: threading.Event = field(default_factory=threading.Event)  # nothing more is to be made ready

    def campaign(self) -> Campaign:
        """The campaign, its settings read afresh: the writer may have changed them since the last turn."""
        return open_campaign(self.root, here_only=True)

    def search(self, campaign: Campaign) -> Search:
        """The search of this session, for the campaign as it is now."""
        if self._search is None or self._search.campaign.settings.language != campaign.settings.language:
            self._search = Search(campaign)
        return self._search

    def chains(self, campaign: Campaign) -> dict[str, Chain | None]:
        """A chain per role, from the settings and this session's `--model`."""
        if self._shared is None:
            self._shared = Models(self.environ)
        settings = campaign.settings
        modelnames.refuse(campaign)
        wanted = modelnames.rooted(campaign)
        return chains_for(wanted, self.models, self.environ, timeouts=settings.timeouts, models=self._shared)

    def purse(self, campaign: Campaign) -> Purse:
        """What this session has spent, with the campaign's prices and ceiling as they are now."""
        self._purse = costs.purse_for(campaign, self._purse)
        return self._purse

    def tell(self, action: str, listener: Listener, *, seed: str = "") -> Result:
        """Tell one turn. Raises RoleCallError (the action is kept then), or KeyboardInterrupt before a word was said.

        `seed` is that of its dice, a new one if empty.
        """
        return self.begin(action, listener, seed=seed).result()

    def begin(self, action: str, listener: Listener, *, seed: str = "") -> Rest:
        """Tell one turn up to its last word; its afterwork is the `Rest`, to be done at once or aside. Raises as `tell`."""
        action, said = _cleaned_action(action, secrets_of(self.environ))
        self.settle()
        with ExitStack() as held:
            campaign, search = held.enter_context(self.writing(listener))
            if said:
                listener.note(f"Taken out of the action: {said}")
            chains = self.chains(campaign)
            if chains["narrator"] is None:
                raise ModelSettings(
                    "the narrator is off", path="rolecall.yaml", remedy="name a model for it, or give --model"
                )
            turn = Turn(campaign, search, chains, listener, self._paying(campaign, action))
            turn.begin(action, seed=seed)
            return self._left_of(turn, held)

    def _left_of(self, turn: Turn, held: ExitStack, verb: str = "") -> Rest:
        """The afterwork of a told turn, and the lock that it keeps until it is over."""
        self._rest = Rest(lambda: self._committed(turn.finish(), verb), held.pop_all(), self._refresh, turn.leave)
        return self._rest

    def _paying(self, campaign: Campaign, action: str) -> Purse:
        """The purse for one more turn. TurnError, the action kept, when the session's ceiling is reached."""
        purse = self.purse(campaign)
        if why := purse.is_empty():
            number = next_turn(campaign, campaign.document(STATE_FILE))
            kept = records.keep_draft(campaign.root, number, action)
            raise TurnError(f"{why}, its ceiling", remedy=_RAISE, hint=f"The action is kept in {kept}.")
        return purse

    def recover(self, listener: Listener) -> None:
        """Put right what an interrupted command left, and nothing else."""
        with self.writing(listener):
            return

    def swipe(self, listener: Listener, *, reroll: bool = False) -> Result:
        """Another answer to the last turn: its own changes are taken back and the same action is told again.

        Its dice fall as they fell before, unless they are to be rolled anew. Raises what `tell` raises; the answer before it stands again then.
        """
        return self.begin_swipe(listener, reroll=reroll).result()

    def begin_swipe(self, listener: Listener, *, reroll: bool = False) -> Rest:
        """Tell another answer up to its last word; its afterwork is the `Rest`, as with `begin`. Raises as `swipe`."""
        from rolecall.turn import rollback

        self.settle()
        with ExitStack() as held:
            campaign, search = held.enter_context(self.writing(listener))
            chains = self.chains(campaign)
            purse = self.purse(campaign)
            if why := purse.is_empty():
                raise TurnError(f"{why}, its ceiling", remedy=_RAISE)
            seed = "" if reroll else rollback.seed_of_last(campaign)
            number, action, swipe = rollback.begin_swipe(campaign)
            turn = Turn(campaign, search, chains, listener, purse)
            try:
                turn.begin(action, turn=number, swipe=swipe, seed=seed)
            except BaseException as error:
                rollback.recover(campaign)
                if isinstance(error, RoleCallError):
                    error.hint = f"The answer before it stands again ({turn_id(number)})."
                raise
            rollback.end_swipe(campaign)
            return self._left_of(turn, held, "Swipe")

    def switch(self, wanted: int, listener: Listener) -> int:
        """Put an answer that was had already in the place of the current one; the turn's number. No model is asked."""
        from rolecall.turn import rollback

        self.settle()
        with self.writing(listener) as (campaign, _):
            turn, faults = rollback.switch(campaign, wanted)
            for fault in faults:
                listener.note(f"Left out: {fault}")
            self.commit(lambda: self._message(turn, "Swipe"), listener)
            return turn

    def undo(self, listener: Listener, *, count: int = 1, turn: int = 0) -> list[Undone]:
        """Take back the last `count` turns, or one turn whose later ones stay."""
        from rolecall.turn import rollback

        self.settle()
        with self.writing(listener) as (campaign, _):
            turns = [turn] if turn else rollback.last_turns(campaign, count)
            done = []
            for number in turns:
                message = self._message(number, "Undo")  # from the record, which undo puts aside
                done.append(rollback.undo(campaign, number))
                self.commit(lambda said=message: said, listener)
            return done

    def rename(self, old: str, new: str, listener: Listener) -> Plan:
        """Call an entry by another name everywhere. UnknownName, CampaignError where that cannot be; then nothing is changed."""
        from rolecall.turn import renamed

        self.settle()
        with self.writing(listener) as (campaign, _):
            plan = renamed.rename(campaign, old, new)
            self.commit(lambda: commitlines.of_rename(plan.renaming.old, plan.renaming.new), listener)
            return plan

    def unrename(self, listener: Listener) -> tuple[Renaming, list[str]]:
        """Take the last renaming back: (what it was, what could not be taken out)."""
        from rolecall.turn import renamed

        self.settle()
        with self.writing(listener) as (campaign, _):
            one, clashes = renamed.take_back(campaign)
            self.commit(lambda: commitlines.of_rename(one.old, one.new, back=True), listener)
            return one, clashes

    def mend(self, listener: Listener, *, back: bool = False) -> tuple[list[str], list[str]]:
        """Make the certain fixes of `check`, or take the last ones back: (what was done, what could not be taken out)."""
        from rolecall.turn import mending

        self.settle()
        with self.writing(listener) as (campaign, _):
            done, left = mending.take_back(campaign) if back else ([one.said for one in mending.fix(campaign)], [])
            what = "Undo the fixes of check" if back else "Fix what check found"
            self.commit(lambda: commitlines.composed(what, body="\n".join(done)), listener)
            return done, left

    def branch(self, name: str, listener: Listener, *, at: int | None = None) -> None:
        """Begin another timeline from here, or from right after turn `at`, and go there. GitTrouble where git says no."""
        self.settle()
        with self.writing(listener) as (campaign, search):
            self._refuse_off()
            timelines.make(self._keeper, name, at)
            self._arrived(campaign, search, listener)

    def go(self, name: str, listener: Listener) -> bool:
        """Go to another timeline; False when it is the current one. GitTrouble where git says no."""
        self.settle()
        with self.writing(listener) as (campaign, search):
            self._refuse_off()
            moved = timelines.go(self._keeper, name)
            self._arrived(campaign, search, listener)
            return moved

    def _refuse_off(self) -> None:
        if not self._keeper.on:
            raise GitTrouble("git is off for this campaign", path=SETTINGS_FILE, remedy="write `git: auto`")

    def _arrived(self, campaign: Campaign, search: Search, listener: Listener) -> None:
        """The files are those of another timeline: records and index follow them."""
        for put_right in recovery.recover(campaign, search):
            listener.note(put_right.what)
        with suppress(RoleCallError):  # the next command looks again, and tells
            search.refresh()

    @contextmanager
    def writing(self, listener: Listener) -> Iterator[tuple[Campaign, Search]]:
        """The campaign under its lock, what a crash left put right first."""
        with lock.hold(self.root, self.command, wait=self.wait):
            campaign = self.campaign()
            search = self.search(campaign)
            with commits.keeping(campaign, self._git) as self._keeper:
                for put_right in recovery.recover(campaign, search):
                    listener.note(put_right.what)
                self._keeper.begin(lambda: _next_turn(campaign))  # where git says no, it says so again after the turn
                yield campaign, search

    def _message(self, turn: int, verb: str = "", cost: str = "") -> str:
        folder = f"{records.TURNS}/{turn_id(turn)}"
        return commitlines.of_turn(self.root, folder, verb, cost) if self._keeper.on else ""

    def commit(self, message: Callable[[], str], listener: Listener) -> None:
        """Keep what was written in git; why not is one quiet line."""
        with uninterrupted():
            if why := self._keeper.commit(message):
                listener.note(f"git: {why} → {LATER}")

    def _committed(self, result: Result, verb: str = "") -> Result:
        """The result of a turn that is kept in git, or says why it is not."""
        turn, cost = int(result.turn[1:]), result.totals["turn"]["cost"]
        said = self._purse.prices.said(cost) if self._purse and self._purse.prices.table else ""
        with uninterrupted():
            why = self._keeper.commit(lambda: self._message(turn, verb, said))
            self._keeper.tidy(turn)
        return replace(result, degraded=(*result.degraded, Degraded("git", why, LATER))) if why else result

    def keep_current(self) -> None:
        """Index what the last turn wrote while the player reads it; the next turn waits for the rest of that, if any."""
        if self._search is not None and self._upkeep is None:
            self._upkeep = threading.Thread(target=self._refresh, name="index", daemon=True)
            self._upkeep.start()

    def _refresh(self) -> None:
        from rolecall.turn import warming

        self._enough = enough = threading.Event()
        with suppress(RoleCallError):  # the next command looks again, and tells
            self._search.refresh()
            if not enough.wait(reconcile.SOON):  # what was written a moment ago was to be looked at once more
                self._search.refresh()
            warming.warm(self.campaign(), self._search, enough)

    def settle(self) -> None:
        """Wait for the last turn's afterwork and for `keep_current` to be done; what it only makes ready is left then."""
        self._enough.set()
        if self._rest is not None:
            self._rest.settle()
            self._rest = None
        if self._upkeep is not None:
            self._upkeep.join()
            self._upkeep = None

    def fold(
        self, names_of: Callable[[Search], list[str]] = telling.known_names, listener: Listener | None = None
    ) -> folding.Folded | None:
        """Fold on demand, under the lock."""
        listener = listener or Listener()
        with self.writing(listener) as (campaign, search):
            search.refresh()
            try:
                chain = self.chains(campaign)["sidecar"]
            except ModelSettings:
                chain = None  # a fold never needs a model
            begun = time.monotonic()
            folded = folding.fold(campaign, chain, lambda: names_of(search), asked=True)
            if folded:
                reason = f"{folded.covers} closed, on demand"
                took = round((time.monotonic() - begun) * 1000)
                Feed(campaign.root).note(
                    "fold", "post-gen", model="rolecall", reason=reason, paths=[folded.path], ms=took
                )
                self.commit(lambda: commitlines.of_fold(folded.covers, folded.path), listener)
            return folded


def _next_turn(campaign: Campaign) -> str:
    """The turn that comes next, as far as the files can be read."""
    try:
        return turn_id(next_turn(campaign, campaign.document(STATE_FILE)))
    except RoleCallError:
        return ""


def _cleaned_action(action: str, keys: Sequence[str]) -> tuple[str, str]:
    """The action as it is told, and what was taken out of it, in words. TurnError, with nothing kept, when it will not do."""
    said = ", ".join(blemishes(action))
    action = "\n".join(line.rstrip() for line in clean(action).strip().split("\n"))
    if not action:
        raise TurnError("the action is empty", remedy="say what your character does")
    if key_at(action) >= 0 or any(key in action for key in keys if len(key) >= KEY_LENGTH):
        remedy = "say it without; it is kept nowhere, and was sent to nobody"
        raise TurnError("the action holds what looks like a key of yours", remedy=remedy)
    if len(action) > LONGEST_ACTION:
        raise TurnError(f"the action is longer than {LONGEST_ACTION} characters", remedy="say it in fewer words")
    return action, said
