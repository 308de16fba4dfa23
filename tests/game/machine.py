"""A campaign under random hands: turns, swipes, switches, undos, hand edits, crashes and restarts, against a model of what
should be there.

The model knows nothing of files or records: it is a list of told turns with their answers, and the writer's own lines. After
each step the folder must say exactly what the model says. `run(root, seed, steps)` raises with seed and step number.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.campaign import arcs, chronicles, files, journal, story, template
from rolecall.campaign.checks import check
from rolecall.campaign.effects import promises_of
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import RoleCallError
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.turn.faults import Faulty, Killed

ARC = "arcs/who-rang-the-drowned-bell.md"
ENTRIES = ("characters/old-pasco.md", "characters/hesper-dunmow.md")
NAMES = {"characters/old-pasco.md": "Old Pasco", "characters/hesper-dunmow.md": "Hesper Dunmow"}


@dataclass
class Answer:
    """One answer of a model, in the words the script gives it."""

    prose: str
    line: str
    moves: bool
    entry: str
    promise: bool


@dataclass
class Turn:
    """A told turn of the model: its answers, and which stands."""

    number: int
    answers: list[Answer]
    current: int = 0

    @property
    def now(self) -> Answer:
        return self.answers[self.current]


@dataclass
class Model:
    """What should be there."""

    turns: list[Turn] = field(default_factory=list)
    marks: dict[str, list[str]] = field(default_factory=dict)  # the writer's own lines, by file
    folded: list[str] = field(default_factory=list)  # lines that a Chronicle holds for ever


class Machine:
    """The campaign and its model, and the random hands."""

    def __init__(self, root: Path, seed: int) -> None:
        self.dice = random.Random(seed)
        self.root = template.new(root / "tale", "The Tale").root
        settings = self.root / "rolecall.yaml"
        text = settings.read_text().replace("fold_at: 3500", "fold_at: 600").replace("keep_lines: 6", "keep_lines: 3")
        settings.write_text(text)
        self.place = root
        self.model = Model()
        self.made = 0
        self.game = self._game()

    # -- the hands

    def step(self) -> str:
        """Do one random thing; its name."""
        hands = (
            [self.turn] * 5 + [self.swipe] * 3 + [self.switch] * 3 + [self.undo] * 2 + [self.undo_one] + [self.edit] * 4
            + [self.unedit] * 2 + [self.restart] + [self.crash] * 3 + [self.failed_turn]
        )  # fmt: skip
        hand = self.dice.choice(hands)
        hand()
        return hand.__name__

    def turn(self, meanwhile: bool = False) -> None:
        answer, spec = self._answer()
        number = max([t.number for t in self.model.turns] + [self._last_folded()], default=0) + 1
        self.game.models = [f"narrator={spec}", "sidecar=off"]
        result = self.game.tell(f"I go on, {self.made}.", Listener())
        assert result.turn == journal.turn_id(number), (result.turn, number)
        self.model.turns.append(Turn(number, [answer]))
        self._note_folds()

    def swipe(self) -> None:
        if not self._last_has_record():
            return
        answer, spec = self._answer()
        self.game.models = [f"narrator={spec}", "sidecar=off"]
        self.game.swipe(Listener())
        last = self.model.turns[-1]
        last.answers.append(answer)
        last.current = len(last.answers) - 1
        self._note_folds()

    def switch(self) -> None:
        if not self._last_has_record():
            return
        last = self.model.turns[-1]
        wanted = self.dice.randrange(len(last.answers))
        self.game.switch(wanted + 1, Listener())
        last.current = wanted

    def undo(self) -> None:
        count = min(self.dice.choice((1, 1, 1, 2, 3)), len(self.model.turns))
        if count and all(t.number > self._last_folded() for t in self.model.turns[-count:]):
            self.game.undo(Listener(), count=count)
            del self.model.turns[-count:]

    def undo_one(self) -> None:
        open_ones = [t for t in self.model.turns if t.number > self._last_folded()]
        if open_ones:
            chosen = self.dice.choice(open_ones)
            self.game.undo(Listener(), turn=chosen.number)
            self.model.turns.remove(chosen)

    def edit(self) -> None:
        """The writer adds a line of their own, in place or by an atomic save."""
        path = self.dice.choice((STATE_FILE, ARC, *ENTRIES, *self._chapters()))
        self.made += 1
        mark = f"Writer's own line number {self.made}."
        data = (self.root / path).read_bytes()
        at = self._free_place(path, data)
        self._save(path, data[:at] + f"{mark}\n\n".encode() + data[at:])
        self.model.marks.setdefault(path, []).append(mark)

    def unedit(self) -> None:
        marked = [path for path, marks in self.model.marks.items() if marks and (self.root / path).exists()]
        if marked:
            path = self.dice.choice(marked)
            mark = self.model.marks[path].pop(self.dice.randrange(len(self.model.marks[path])))
            data = (self.root / path).read_bytes()
            assert data.count(f"{mark}\n".encode()) == 1
            whole = f"{mark}\n\n".encode()
            self._save(path, data.replace(whole if whole in data else f"{mark}\n".encode(), b""))

    def restart(self) -> None:
        self.game = self._game()

    def crash(self) -> None:
        """Kill a turn, a swipe, a switch or an undo at a random step; the next command puts it right."""
        before = self._snapshot()
        hand = self.dice.choice((self.turn, self.swipe, self.switch, self.undo))
        saved = [Turn(t.number, list(t.answers), t.current) for t in self.model.turns]
        files.fs = Faulty(self.root, self.dice.randint(1, 60), self.dice.choice(("kill", "torn")))
        try:
            hand()
            return
        except Killed:
            pass
        finally:
            files.fs = files.FileSystem()
        attempted, self.model.turns = self.model.turns, saved
        self.game = self._game()
        self.game.recover(Listener())
        self._adopt(hand.__name__, before, attempted)

    def failed_turn(self) -> None:
        path = self.place / "failing.yaml"
        path.write_text("- error: refused\n" * 400)
        self.game = self._game()
        self.game.models = [f"narrator=scripted:{path}"]
        try:
            self.game.tell("I fail.", Listener())
        except RoleCallError:
            return
        raise AssertionError("the turn was told without a model")

    # -- the model and the folder

    def _adopt(self, hand: str, before: list[str], attempted: list[Turn]) -> None:
        """After a crash the folder shows the step whole or not at all; the model takes over which."""
        now = self._snapshot()
        if now == before:
            return
        if hand in ("turn", "swipe"):
            answer = self._answered
            if hand == "turn":
                number = max([t.number for t in self.model.turns] + [self._last_folded_before(before)], default=0) + 1
                self.model.turns.append(Turn(number, [answer]))
            else:
                last = self.model.turns[-1]
                last.answers.append(answer)
                last.current = len(last.answers) - 1
        elif hand == "switch":
            last = self.model.turns[-1]
            last.current = next(n for n, a in enumerate(last.answers) if now[-1:] == [a.line])
        else:  # an undo of several may have been stopped between two
            while self.model.turns and now != self._expected_lines():
                self.model.turns.pop()
        self._note_folds()

    def _last_folded_before(self, before: list[str]) -> int:
        return 0 if not self.model.folded else self._last_folded()

    def _expected_lines(self) -> list[str]:
        folded = self._folded_now()
        return folded + [t.now.line for t in self.model.turns if t.number > self._last_folded()]

    def verify(self) -> None:
        """The folder says exactly what the model says."""
        campaign = open_campaign(self.root)
        last_folded = self._last_folded()
        told = self.model.turns
        assert self._snapshot() == self._expected_lines()
        state = campaign.document(STATE_FILE)
        sections = [
            (t.turn, t.prose) for _, path in story.chapters(campaign) for t in story.turns_of(campaign.document(path))
        ]
        plain = [
            (n, "\n\n".join(p for p in prose.split("\n\n") if not p.startswith("Writer's own")))
            for n, prose in sections
        ]
        assert plain == [(t.number, t.now.prose) for t in told], (plain, [(t.number, t.now.prose) for t in told])
        moved = [t for t in told if t.now.moves]
        arc = campaign.document(ARC)
        lines = [f"{journal.turn_id(t.number)} Moved by {t.now.line}" for t in moved]
        trail = [line for line in (arc.text("latest"), *arcs.trail_of(arc)) if journal.turn_number(line) is not None]
        assert trail == lines[::-1], (trail, lines[::-1])
        for path in ENTRIES:
            wanted = [f"- {journal.turn_id(t.number)} Saw {t.now.line}" for t in told if t.now.entry == path]
            assert [row for row in campaign.document(path).lines("History") if row.startswith("- T")] == wanted
        promises = [p.words for p in promises_of(state)]
        assert promises == [f"To Hesper: {t.now.line}" for t in told if t.now.promise], promises
        for path, marks in self.model.marks.items():
            text = (self.root / path).read_text() if (self.root / path).exists() else ""
            for mark in marks:
                assert text.count(mark) == 1, (path, mark)
        problems = [str(p) for p in check(campaign)]
        assert problems == [], problems
        assert last_folded == 0 or told is not None

    def _snapshot(self) -> list[str]:
        campaign = open_campaign(self.root)
        lines = [line.text for line in journal.lines_of(campaign.document(STATE_FILE))]
        return self._folded_now() + lines

    def _folded_now(self) -> list[str]:
        campaign = open_campaign(self.root)
        return [li.text for _, path in chronicles.paths(campaign) for li in journal.lines_of(campaign.document(path))]

    def _note_folds(self) -> None:
        self.model.folded = self._folded_now()

    def _last_folded(self) -> int:
        return chronicles.last_covered(open_campaign(self.root))

    def _last_has_record(self) -> bool:
        return bool(self.model.turns) and self.model.turns[-1].number > self._last_folded()

    def _answer(self) -> tuple[Answer, str]:
        """A new answer and the script that gives it."""
        self.made += 1
        line = f"Kit did thing number {self.made} at the bell with Old Pasco."
        answer = Answer(
            prose=f"Scene number {self.made} is told.",
            line=line,
            moves=self.dice.random() < 0.5,
            entry=self.dice.choice(("", *ENTRIES)),
            promise=self.dice.random() < 0.3,
        )
        calls = [f"{{name: append_journal, arguments: {{text: {line}}}}}"]
        if answer.moves:
            calls.append(f"{{name: move_arc, arguments: {{arc: Who rang the drowned bell, text: Moved by {line}}}}}")
        if answer.entry:
            calls.append(f"{{name: append_history, arguments: {{entry: {NAMES[answer.entry]}, text: Saw {line}}}}}")
        if answer.promise:
            calls.append(f"{{name: add_promise, arguments: {{to: Hesper, text: {line}}}}}")
        path = self.place / f"script-{self.made}.yaml"
        path.write_text(f"- text: {answer.prose}\n  chunk: 8\n  tools: [{', '.join(calls)}]\n")
        self._answered = answer
        return answer, f"scripted:{path}"

    def _game(self) -> Game:
        return Game(self.root, models=["sidecar=off"], environ={})

    def _chapters(self) -> list[str]:
        return [path for _, path in story.chapters(open_campaign(self.root))]

    def _free_place(self, path: str, data: bytes) -> int:
        """Where a writer's line may go: above the first heading, in no turn's own section."""
        heads = [i for i in range(len(data)) if data.startswith(b"## ", i) and (i == 0 or data[i - 1 : i] == b"\n")]
        return heads[0] if heads else len(data)

    def _save(self, path: str, data: bytes) -> None:
        if self.dice.random() < 0.5:
            (self.root / path).write_bytes(data)
        else:
            other = self.root / (path + ".swp")
            other.write_bytes(data)
            other.replace(self.root / path)


def campaign_of(machine: Machine) -> Campaign:
    """The machine's campaign."""
    return open_campaign(machine.root)


def run(root: Path, seed: int, steps: int) -> dict[str, int]:
    """Run a machine; how often each hand moved. Raises AssertionError with the seed and the step."""
    machine = Machine(root, seed)
    count: dict[str, int] = {}
    history: list[str] = []
    for number in range(steps):
        try:
            name = machine.step()
            history.append(name)
            count[name] = count.get(name, 0) + 1
            machine.verify()
        except BaseException as error:
            raise AssertionError(f"seed {seed}, step {number}, after {history[-6:]}: {error!r}") from error
    return count
