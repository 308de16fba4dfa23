"""Before the narrator speaks: retrieval, TurnDM and DM stream side by side, and what of their work passes the curtain.

All of it takes at most `BEFORE` seconds. A DM that is not done by then goes on beside the narrator, and serves the next turn.
Nothing is written here but the note in the turn's record from which a crash is recovered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from rolecall.agents import dm_stream, turn_dm, typed
from rolecall.agents.curtain import Curtain, Hidden, Passed, Withheld, hidden_in, said_in
from rolecall.agents.dm_stream import Directive
from rolecall.agents.retriever import Pick
from rolecall.agents.turn_dm import Choice
from rolecall.campaign import pending, records, story, views
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect, decode, encode
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.records import Record
from rolecall.campaign.story import Told
from rolecall.errors import ModelError, RoleCallError
from rolecall.models.chain import Chain
from rolecall.search import ground, leaks
from rolecall.tools.toolbox import Table
from rolecall.turn import immersion
from rolecall.turn.direction import Direction
from rolecall.turn.phases import BEFORE, Phases
from rolecall.turn.tasks import Task

OWN = 0.3  # seconds of that which the turn needs for itself: the curtain, the context
AHEAD = 1.0  # seconds at most the DM's question is made alone
LATEST = 2.0  # times its own time limit that a DM may take in all, for the next turn's sake
WHOLE = 400  # files of a campaign that is looked through whole for what is hidden; of a larger one what is near
NOTE = "before"  # the line in the record
KEYWORDS, NO_DIRECTIVE = "keyword matches go in as they are", "no directive this turn"


@dataclass(slots=True)
class Before:
    """What came before generation. `fragments` are (layer, directive fragment); `failed` (layer, why, what instead)."""

    picks: list[Pick] = field(default_factory=list)
    direction: Direction = field(default_factory=Direction)
    effects: list[Effect] = field(default_factory=list)
    fragments: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    failed: list[tuple[str, str, str]] = field(default_factory=list)
    late: Task[Directive] | None = None
    until: float = 0.0  # how long the late one may take, on the monotonic clock

    def stop(self) -> None:
        """End what still goes on: the turn is not told."""
        if self.late is not None:
            self.late.stop()

    def lay(self, table: Table) -> None:
        """Lay what was decided on the narrator's table, and tell the narrator what holds by it."""
        table.effects += self.effects
        table.beside = tuple(immersion.read(self.fragments, table.turn)[0])
        self.direction = replace(self.direction, told=immersion.outlook(table))

    def note(self, record: Record) -> None:
        """Note what the turn is to change whatever the narrator says, so that a crash finds it."""
        if self.effects or self.fragments:
            effects = [encode(effect) for effect in self.effects]
            record.note(NOTE, effects=effects, fragments=[[layer, data] for layer, data in self.fragments])


class Layers:
    """The three layers of one turn under way."""

    def __init__(
        self, phases: Phases, chains: dict[str, Chain | None], state: Document, action: str, seed: str = ""
    ) -> None:
        self.phases, self.state, self.action, self.seed = phases, state, action, seed
        self.campaign, self.search, self.turn = phases.campaign, phases.search, phases.turn
        self.settings = self.campaign.settings
        self.told: tuple[Told, ...] = story.recent(self.campaign, self.settings.memory["recent_turns"])
        self.begun = time.monotonic()
        self.deadline = self.begun + BEFORE - OWN
        self.latest = self.begun + max(BEFORE, LATEST * self.settings.timeouts["dm"])
        self.chains = {role: typed.helpers_of(chains.get(role)) for role in ("dm", "turn_dm")}
        self.tasks: dict[str, Task] = {}
        self.failed: list[tuple[str, str, str]] = []
        self._asking = threading.Event()  # the DM's model is being asked

    def run(self) -> Before:
        """Run them, and give what they came to. Raises what an unreadable campaign raises, and KeyboardInterrupt."""
        try:
            return self._run()
        except BaseException:
            for task in self.tasks.values():
                task.stop()
            raise

    def _run(self) -> Before:
        self._begin("dm", self._plan)
        if "dm" in self.tasks:  # its answer takes the longest: its question is not to wait for the others' to be made
            self._asking.wait(AHEAD)
        free = self.phases.plainly(self.state, self.action, self.told)
        self._begin("turn_dm", lambda chain: self._choose(chain, free))
        left = self.deadline - time.monotonic()
        if why := self.phases.retrieve(self.state, self.action, self.told, free, left):
            self.failed.append(("retrieval", why, "names, search and ties choose"))
        waiting = pending.of(self.campaign.root, self.turn)
        hidden = self._hidden() if self.tasks or waiting else None  # while the models are awaited
        with suppress(RoleCallError):
            ground.prepare(self.search)  # and this: the first time in a session it takes a moment
        choice: Choice | None = self._value("turn_dm", KEYWORDS)
        late = self.tasks.get("dm") if not self._is_in_time("dm") else None
        directive = None if late else self._value("dm", "that of the turn before" if waiting else NO_DIRECTIVE)
        if late:
            instead = "that of the turn before, and it serves the next one" if waiting else "it serves the next turn"
            self.failed.append(("dm", f"it took longer than {BEFORE:.3g} s", instead))
        before = Before(list(self.phases.picks), failed=self.failed, late=late, until=self.latest)
        if hidden is not None:
            self._pass_on(before, hidden, choice, [_of_pending(waiting, self.turn)] if waiting else [], directive)
        self.phases.picks = before.picks
        return before

    # -- the layers

    def _begin(self, role: str, work: Callable[[Chain], Any]) -> None:
        chain = self.chains[role]
        if chain is not None:
            self.tasks[role] = Task(role, lambda: work(chain))

    def _choose(self, chain: Chain, free: Sequence[Pick]) -> Choice:
        asked = turn_dm.Question(self.campaign, self.search, self.state, self.told, self.turn, self.action, tuple(free))
        return turn_dm.choose(chain, self.phases.desk, asked, seconds=self.deadline - time.monotonic())

    def _plan(self, chain: Chain) -> Directive:
        asked = dm_stream.Question(self.campaign, self.search, self.state, self.told, self.turn, self.action, self.seed)
        left = self.latest - time.monotonic()
        try:
            return dm_stream.plan(chain, self.phases.desk, asked, seconds=left, asking=self._asking.set)
        finally:
            self._asking.set()  # also where none could be

    def _is_in_time(self, role: str) -> bool:
        return role not in self.tasks or self.tasks[role].wait(self.deadline)

    def _value(self, role: str, instead: str) -> Any:
        """What a layer gave; None, and said as degraded, where it gave nothing."""
        task = self.tasks.get(role)
        if task is None:
            return None
        if not task.wait(self.deadline):
            task.stop()
            self.failed.append((role, f"it took longer than {BEFORE:.3g} s", instead))
        elif task.error is not None:
            self.failed.append((role, _told(task.error), instead))
        return task.value if task.done else None

    # -- the curtain

    def _hidden(self) -> Hidden:
        """Everything hidden that the layers can be shown: what is near anything the prompts name, what the digest tells of,
        all of `dm/`; in a campaign that is not large, all there is.
        """
        asked = [self.action, views.text(self.state, with_secrets=True)]
        asked += [f"{one.action}\n{one.prose}" for one in self.told]
        files = leaks.hidden_by_file("\n".join(asked), self.search)
        catalogue, kinds = self.search.catalogue, {"threat", "organization", "quest", "arc"}
        if len(catalogue) <= WHOLE:
            kinds = catalogue.kinds - {"story", "chronicle", "instruction", "prose"}
        always = [entry.path for entry in (*catalogue.of_kinds(*kinds), *catalogue.marked("secret"))]
        return Hidden.from_files({**files, **leaks.hidden_of([*always, STATE_FILE], self.search)})

    def _also_hidden(self, hidden: Hidden, texts: Sequence[str], seen: Sequence[str]) -> Hidden:
        """With what is hidden near the things that an answer names, and in the files that were looked up for it."""
        files = leaks.hidden_by_file("\n".join(texts), self.search)
        return hidden | Hidden.from_files({**files, **leaks.hidden_of(seen, self.search)})

    def _pass_on(
        self,
        before: Before,
        hidden: Hidden,
        choice: Choice | None,
        waiting: list[Directive],
        directive: Directive | None,
    ) -> None:
        """Put into `before` what passes the curtain. Where the curtain itself fails, nothing passes."""
        given = [*waiting, *([directive] if directive else [])]
        spoken = _spoken(choice)
        lines = [given[-1].narrator if given else "", *(text for _, _, text in spoken)]
        fragments = [fragment for one in given for fragment in one.fragments]
        effects = [*_explained(choice.effects if choice else (), "turn_dm", choice.spec if choice else "")]
        for one in given:
            effects += _explained(one.effects, "dm", one.spec)
        try:
            seen = [path for one in given for path in one.seen]
            hidden = self._also_hidden(hidden, said_in(lines, fragments, effects), seen) | hidden_in(effects)
            passed = Curtain(self.search, hidden, views.text(self.state)).pass_on(lines, fragments, effects)
        except Exception as error:
            layer = "dm" if given else "turn_dm"
            before.failed.append((layer, f"the curtain failed ({_told(error)})", "nothing of it is used"))
            return
        before.direction = Direction(
            directive=passed.lines[0],
            guidance=_lines("guidance", spoken, passed.lines[1:]),
            hints=_lines("hints", spoken, passed.lines[1:]),
            styles=choice.styles if choice else (),
        )
        before.effects = list(passed.effects)
        before.fragments = [("dm", fragment) for fragment in passed.fragments if fragment]
        self.phases.refused(immersion.read(before.fragments, self.turn)[1])
        if choice:
            chosen = {pick.path for pick in choice.picks}
            before.picks = [*choice.picks, *(p for p in before.picks if p.text or p.path not in chosen)]
        self._note(choice, given, passed)

    def _note(self, choice: Choice | None, given: list[Directive], passed: Passed) -> None:
        """What the layers did, for the feed: its open view tells that, and never what it is about."""
        phases = self.phases
        if choice is not None:
            modules = f"{len(choice.styles)} prose module{'s' if len(choice.styles) != 1 else ''}"
            said = f"{len(choice.picks)} entries, {modules}, guidance and hints for the turn"
            phases.note("select", "pre-gen", "turn_dm", said, [pick.path for pick in choice.picks], self.begun)
            if choice.unknown:
                names = ", ".join(map(repr, choice.unknown))
                phases.note("select", "pre-gen", "turn_dm", f"names nobody knows: {names}", [], secret=True)
        if given:
            what = "a directive for the narrator" + (", changes in the game" if passed.fragments else "")
            phases.note("plan", "pre-gen", "dm", what, [], self.begun)
            phases.note("plan", "pre-gen", "dm", f"directive: {given[-1].narrator}", [], secret=True)
        self._note_withheld("plan" if given else "select", "dm" if given else "turn_dm", passed.withheld)

    def _note_withheld(self, type: str, layer: str, withheld: Sequence[Withheld]) -> None:
        if withheld:
            count = "a sentence was" if len(withheld) == 1 else f"{len(withheld)} sentences were"
            self.phases.note(type, "pre-gen", layer, f"{count} withheld", [])
        for one in withheld:
            said = f"withheld: “{one.sentence}” gives away “{one.hidden}”"
            self.phases.note(type, "pre-gen", layer, said, [], secret=True)


def lay_again(record: Record, table: Table) -> None:
    """Lay on the table of a turn that is told again from its record what the layers had decided for it."""
    for line in records.lines(record.root, record.folder):
        if line["do"] == NOTE:
            effects = [decode(effect) for effect in line["effects"]]
            fragments = [(layer, data) for layer, data in line["fragments"]]
            Before(effects=effects, fragments=fragments).lay(table)


def finish(before: Before, phases: Phases) -> str:
    """Wait for a DM that was late, and keep what it decided for the next turn; what went wrong, in words.

    Called once the turn is told. What waited for this turn has served and is dropped.
    """
    root = phases.campaign.root
    with suppress(RoleCallError):
        pending.drop(root)
    if before.late is None:
        return ""
    if not before.late.wait(before.until):
        before.late.stop()
    directive = before.late.value
    if directive is None:
        return _told(before.late.error) if before.late.error else "it gave no directive in time"
    d = directive
    pending.keep(root, pending.Pending(phases.turn, d.narrator, d.fragments, d.effects, d.seen, d.spec))
    phases.note("plan", "post-gen", "dm", "a directive that came late is kept for the next turn", [])
    return ""


def _of_pending(kept: pending.Pending, turn: int) -> Directive:
    effects = tuple(replace(effect, turn=turn) for effect in kept.effects)
    return Directive(kept.narrator, kept.fragments, effects, kept.seen, kept.model)


def _explained(effects: Sequence[Effect], layer: str, model: str) -> list[Effect]:
    """The effects with where they come from."""
    return [replace(e, phase="pre-gen", model=model, reason=e.reason or f"planned by the {layer}") for e in effects]


def _spoken(choice: Choice | None) -> list[tuple[str, str, str]]:
    """(part, label, text) of all the TurnDM says. The curtain is shown the texts alone: a label between two halves of a
    truth hides nothing.
    """
    if choice is None:
        return []
    said = (
        ("guidance", "Goals", choice.goals),
        ("guidance", "Bring in", choice.introduce),
        ("guidance", "Move on", choice.threads),
        ("hints", "Tone", (choice.tone,)),
        ("hints", "Beats", choice.beats),
        ("hints", "Stress", choice.stress),
        ("hints", "Avoid", choice.avoid),
    )
    return [(part, label, text) for part, label, texts in said for text in texts if text]


def _lines(part: str, spoken: Sequence[tuple[str, str, str]], passed: Sequence[str]) -> tuple[str, ...]:
    """A line for each label of a part, of what passed."""
    found: dict[str, list[str]] = {}
    for (where, label, _), text in zip(spoken, passed, strict=True):
        if where == part and text:
            found.setdefault(label, []).append(text.rstrip("."))
    return tuple(f"{label}: {'; '.join(texts)}" for label, texts in found.items())


def _told(error: Exception) -> str:
    if isinstance(error, ModelError | RoleCallError):
        return str(error)
    return " ".join(f"it made a mistake ({type(error).__name__}: {error})".split())[:300]
