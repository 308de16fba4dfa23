"""A campaign under random hands: turns of one or of all layers, swipes, switches, undos, folds, renamings, fixes, hand edits of words,
numbers and whole entries, git by the game and by hand, crashes and restarts, against a model of what should be there.

After each step the folder must say exactly what the model says (`machine_truth.py`). `run(root, seed, steps)` raises with
seed and step number. What the seed also decides: whether all layers speak, and whether git keeps the campaign.
"""

from __future__ import annotations

import copy
import random
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rolecall.campaign import chronicles, files, journal, records, seeds, story, template
from rolecall.campaign.checks import check
from rolecall.campaign.folder import open_campaign
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import Conflict, RoleCallError
from rolecall.turn import swipes
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from tests.game.machine_model import ARC, KIT, MOST, SILVER, Answer, Model, script, think
from tests.game.machine_truth import hold, lines_of
from tests.turn.faults import Faulty, Killed

_WRITERS = ("edit", "unedit", "number", "entry", "delete", "restart")  # the next command is held against all of `check`


class Unsynced(files.FileSystem):
    """Waits for no disk: here only the program is killed, never the machine."""

    def fsync(self, fd: int) -> None:
        """Nothing."""

    def sync_folder(self, path: Path) -> None:
        """Nothing."""


class Machine:
    """The campaign and its model, and the random hands."""

    def __init__(self, root: Path, seed: int) -> None:
        self.dice = random.Random(seed)
        self.layers, self.git = self.dice.random() < 0.5, self.dice.random() < 0.4
        self.root = template.new(root / "tale", "The Tale", repository=self.git).root
        self.place = root
        self.model = Model()
        self.made = 0
        self.answers: dict[str, Answer] = {}  # by the journal line
        self.known: dict[str, Model] = {}  # by commit
        self.followed = True
        self.renamings: list[
            tuple[str, str, str]
        ] = []  # path before and after, the name before; those that stand on this machine
        self._settle_in()
        self.game = self._game()

    def _settle_in(self) -> None:
        """Small folds, models that may be slow on a busy machine, and some numbers to play for."""
        for path, old, new in (
            ("rolecall.yaml", "fold_at: 3500", "fold_at: 600"),
            ("rolecall.yaml", "keep_lines: 6", "keep_lines: 3"),
            ("rolecall.yaml", "timeouts: {turn_dm: 5, dm: 8, sidecar: 8,", "timeouts: {turn_dm: 60, dm: 60, sidecar: 60,"),
            (STATE_FILE, "## Promises\n", f"## Resources\n\n- silver: {SILVER}\n\n## Promises\n"),
            (KIT, "status: unhurt", f"hit_points: {MOST}/{MOST}\nstatus: unhurt"),
        ):  # fmt: skip
            text = (self.root / path).read_text()
            assert old in text
            (self.root / path).write_text(text.replace(old, new, 1))
        if self.git:
            self._by_hand("commit", "-qam", "Settled in")
            self._note_commit()

    def step(self) -> str:
        """Do one random thing; its name."""
        hands: list[Callable[[], None]] = (
            [self.turn] * 6 + [self.swipe] * 3 + [self.switch] * 3 + [self.undo] * 2 + [self.undo_one] + [self.edit] * 4
            + [self.unedit] * 2 + [self.number] + [self.entry] + [self.delete] + [self.fold] + [self.restart]
            + [self.crash] * 3 + [self.failed_turn] + [self.rename] + [self.unrename] + [self.mend]
        )  # fmt: skip
        if self.git:
            hands += [self.checkout] * 2 + [self.timeline] + [self.branch] + [self.merge] + [self.join]
        hand = self.dice.choice(hands)
        hand()
        return hand.__name__

    def verify(self, hand: str) -> None:
        """The folder says exactly what the model says. `check`, the dearest part, looks where the writer's hands were not the last."""
        hold(self.root, self.model, followed=self.followed, checked=hand not in _WRITERS)

    # -- the game's own hands

    def turn(self) -> None:
        answer = self._answer()
        number = max([t.number for t in self.model.turns] + [self._last_folded()], default=0) + 1
        result = self.game.tell(f"I go on, {self.made}.", Listener())
        assert result.turn == journal.turn_id(number), (result.turn, number)
        assert all(one.layer in ("fold", "historian") for one in result.degraded), result.degraded
        self.model.tell(number, answer)
        self._commanded(f"{result.turn} {answer.line}")

    def swipe(self) -> None:
        if not self._last_is_open():
            return
        if not self.followed:
            self._command(lambda: self.game.recover(Listener()))
        answer, last = self._answer(), self.model.turns[-1]
        reroll = self.dice.random() < 0.5
        folder = f"{records.TURNS}/{journal.turn_id(last.number)}"
        seed = seeds.of(self.root, folder)
        with self._refused_for_the_writers_numbers():
            self.game.swipe(Listener(), reroll=reroll)
            assert (seeds.of(self.root, folder) == seed) is not reroll
            self.model.retell(answer)
            self._commanded(f"Swipe {journal.turn_id(last.number)}: {answer.line}")

    def switch(self) -> None:
        if not self._last_is_open():
            return
        wanted = self.dice.choice(self._answers_had())
        if wanted["current"]:
            self.game.switch(wanted["swipe"], Listener())
            self._commanded()
            return
        with self._refused_for_the_writers_numbers():
            self.game.switch(wanted["swipe"], Listener())
            self.model.switch(self.answers[wanted["journal"]])
            self._commanded()

    def _answers_had(self) -> list[dict]:
        """The answers to the last turn. Where git never moved, they are just those of the model; the current one always is."""
        if not self.followed:
            self._command(lambda: self.game.recover(Listener()))
        last = self.model.turns[-1]
        rows = swipes.listed(open_campaign(self.root))
        had = {row["journal"] for row in rows}
        assert [row["journal"] for row in rows if row["current"]] == [last.now.line], (rows, last)
        if not self.git:
            assert had == {answer.line for answer in last.answers}, (rows, last)
        return rows

    @contextmanager
    def _refused_for_the_writers_numbers(self) -> Iterator[None]:
        """Another answer is refused, and nothing changes, just where the writer has set a number that the last one changed."""
        refused = self.model.refuses
        try:
            yield
        except Conflict as error:
            assert refused, error
            self._commanded()
        else:
            assert not refused, "the writer's number was passed over"

    def undo(self) -> None:
        count = min(self.dice.choice((1, 1, 1, 2, 3)), len(self.model.turns))
        if count and all(t.number > self._last_folded() for t in self.model.turns[-count:]):
            self.game.undo(Listener(), count=count)
            for turn in self.model.turns[-1 : -count - 1 : -1]:
                self.model.undo(turn)
            self._commanded()

    def undo_one(self) -> None:
        open_ones = [t for t in self.model.turns if t.number > self._last_folded()]
        if open_ones:
            chosen = self._chosen = self.dice.choice(open_ones)
            self.game.undo(Listener(), turn=chosen.number)
            self.model.undo(chosen)
            self._commanded(f"Undo {journal.turn_id(chosen.number)}: {chosen.now.line}")

    def fold(self) -> None:
        self.game.models = ["sidecar=off"]
        folded = self.game.fold(listener=Listener())
        self._commanded(f"Fold {folded.covers} into {folded.path}" if folded else "")

    def restart(self) -> None:
        self.game = self._game()

    def failed_turn(self) -> None:
        path = self.place / "failing.yaml"
        path.write_text("- error: refused\n" * 400)
        self.game = self._game()
        self.game.models = [f"narrator=scripted:{path}"]
        try:
            self.game.tell("I fail.", Listener())
        except RoleCallError:
            self._commanded()
            return
        raise AssertionError("the turn was told without a model")

    # -- the writer's hands

    def edit(self) -> None:
        """The writer adds a line of their own, in place or by an atomic save."""
        path = self.dice.choice((STATE_FILE, ARC, *self.model.entries, *self._chapters()))
        self.made += 1
        mark = f"Writer's own line number {self.made}."
        data = (self.root / path).read_bytes()
        at = self._free_place(data)
        head = b"" if at == 0 or data[at - 1 : at] == b"\n" else b"\n"
        self._save(path, data[:at] + head + f"{mark}\n\n".encode() + data[at:])
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

    def number(self) -> None:
        """The writer sets a number of the game."""
        had = self.model.numbers
        if self.dice.random() < 0.5:
            path, value = STATE_FILE, had["silver"] + self.dice.choice((-100, -7, 7, 100))
            old, new = f"- silver: {had['silver']}\n", f"- silver: {value}\n"
            had["silver"] = value
        else:
            path, value = KIT, self.dice.randint(0, MOST)
            old, new = f"hit_points: {had['hit_points']}/{MOST}\n", f"hit_points: {value}/{MOST}\n"
            had["hit_points"] = value
        data = (self.root / path).read_bytes()
        assert old.encode() in data
        self._save(path, data.replace(old.encode(), new.encode()))

    def entry(self) -> None:
        """The writer makes an entry."""
        self.made += 1
        path, name = f"characters/stranger-{self.made}.md", f"Stranger {self.made}"
        self._save(path, f"---\nname: {name}\nkind: character\n---\nCame with the evening boat.\n".encode())
        self.model.entries[path] = name

    def delete(self) -> None:
        """The writer deletes an entry of theirs, with all that turns have written there."""
        if mine := [path for path in self.model.entries if "stranger" in path]:
            path = self.dice.choice(mine)
            (self.root / path).unlink()
            del self.model.entries[path]
            self.model.marks.pop(path, None)

    def rename(self) -> None:
        """An entry of the writer's gets another name, and its file with it."""
        if not (mine := [path for path in self.model.entries if "stranger" in path]):
            return
        self.made += 1
        path, name = self.dice.choice(mine), f"Stranger {self.made}"
        old, new = self.model.entries[path], f"characters/stranger-{self.made}.md"
        self.game.rename(old, name, Listener())
        self.renamings.append((path, new, old))
        self._moved(path, new, name)
        self._commanded()

    def unrename(self) -> None:
        """The last renaming is taken back, where its file is where it left it."""
        if not self.renamings:
            return
        path, new, name = self.renamings[-1]
        if not (self.root / new).exists() or (self.root / path).exists():
            return
        self.renamings.pop()
        self.game.unrename(Listener())
        self._moved(new, path, name)
        self._commanded()

    def _moved(self, path: str, new: str, name: str) -> None:
        model = self.model
        del model.entries[path]
        model.entries[new] = name
        if path in model.marks:
            model.marks[new] = model.marks.pop(path)
        model.moved = {old: new if now == path else now for old, now in model.moved.items()} | {path: new, new: new}

    def mend(self) -> None:
        """A line the writer doubled is mended; now and then that is taken back, and mended again."""
        lines = journal.lines_of(open_campaign(self.root).document(STATE_FILE))
        if not lines:
            return
        last = lines[-1]
        data = (self.root / STATE_FILE).read_bytes()
        whole = data[last.start : last.end]
        self._save(STATE_FILE, data[: last.end] + (b"" if whole.endswith(b"\n") else b"\n") + whole + data[last.end :])
        assert "turn-twice" in {problem.rule for problem in check(open_campaign(self.root))}
        self._command(lambda: self.game.mend(Listener()))
        if self.dice.random() < 0.3:
            self.game.mend(Listener(), back=True)
            assert "turn-twice" in {problem.rule for problem in check(open_campaign(self.root))}
            self._command(lambda: self.game.mend(Listener()))

    def checkout(self) -> None:
        """By hand: to a new branch at an older commit, or back to one that is there."""
        self._commit_by_hand()
        branches = self._by_hand("branch", "--format=%(refname:short)").split()
        if self.dice.random() < 0.5 and len(branches) > 1:
            self._by_hand("checkout", "-q", self.dice.choice(branches))
        else:
            self.made += 1
            self._by_hand("checkout", "-q", "-b", f"older-{self.made}", self.dice.choice(list(self.known)[-12:]))
        self.model = copy.deepcopy(self.known[self._head()])
        self.followed = False

    def timeline(self) -> None:
        """By the game: to another timeline; what is pending is committed in the one that is left."""
        here = self._by_hand("branch", "--show-current")
        wanted = self.dice.choice(self._by_hand("branch", "--format=%(refname:short)").split())
        self.game.go(wanted, Listener())
        self._note_commit(here)
        self.model = copy.deepcopy(self.known[self._head()])
        self._commanded()

    def branch(self) -> None:
        self.made += 1
        self.game.branch(f"what-if-{self.made}", Listener())
        self._commanded()

    def merge(self) -> None:
        """Another branch tells on while the writer edits this one; then both are joined, or it is left where they clash."""
        self._commit_by_hand()
        here = self._by_hand("branch", "--show-current")
        self.made += 1
        side = f"side-{self.made}"
        self._by_hand("checkout", "-q", "-b", side)
        self.followed = False
        for _ in range(self.dice.randint(1, 2)):
            self.turn()
        theirs = self.model
        self._by_hand("checkout", "-q", here)
        self.model, self.followed = copy.deepcopy(self.known[self._head()]), False
        self.edit()
        self._commit_by_hand()
        ran = subprocess.run(["git", "merge", "-q", "--no-edit", side], cwd=self.root, capture_output=True, text=True)
        if ran.returncode:
            self._by_hand("merge", "--abort")
            return
        mine, self.model = self.model, copy.deepcopy(theirs)
        for path, marks in mine.marks.items():
            known = self.model.marks.setdefault(path, [])
            known += [mark for mark in marks if mark not in known]
        self._note_commit()

    def join(self) -> None:
        """Both branches tell on, and are joined: every line of both is there, what is told twice is told of. Then it is thought better of."""
        self._commit_by_hand()
        here, side = self._by_hand("branch", "--show-current"), f"side-{self.made + 1}"
        self._by_hand("checkout", "-q", "-b", side)
        self.followed = False
        self.turn()
        theirs = self.model
        self._by_hand("checkout", "-q", here)
        self.model, self.followed = copy.deepcopy(self.known[self._head()]), False
        for _ in range(self.dice.randint(1, 2)):
            self.turn()
        ran = subprocess.run(["git", "merge", "-q", "--no-edit", side], cwd=self.root, capture_output=True, text=True)
        if ran.returncode:
            self._by_hand("merge", "--abort")
            return
        told = {(t.number, t.now.line) for t in (*self.model.turns, *theirs.turns)}
        now = lines_of(self.root)
        assert set(now) == told and len(now) == len(told), (now, told)
        assert now == sorted(now, key=lambda line: line[0])
        twice = len(told) - len({number for number, _ in told})
        rules = [problem.rule for problem in check(open_campaign(self.root))]
        assert rules == ["turn-twice"] * twice + ["told-twice"] * twice, rules
        self._by_hand("reset", "-q", "--hard", "HEAD~1")
        self.followed = False

    # -- the crash

    def crash(self) -> None:
        """Kill a turn, a swipe, a switch, an undo or a fold at a random step; the next command puts it right."""
        hand = self.dice.choice((self.turn, self.swipe, self.switch, self.undo, self.undo_one, self.fold))
        saved = copy.deepcopy(self.model)
        files.fs = Faulty(
            self.root, self.dice.randint(1, 120 if self.layers else 60), self.dice.choice(("kill", "torn"))
        )
        said, threading.excepthook = threading.excepthook, lambda told: None
        try:
            hand()
            return
        except Killed:
            pass
        finally:
            files.fs = Unsynced()
            threading.excepthook = said
        self.model = saved
        self.game = self._game()
        self.game.recover(Listener())
        self._adopt(hand.__name__)
        self._commanded()

    def _adopt(self, hand: str) -> None:
        """After a crash the folder shows the step whole or not at all; the model takes over which."""
        now = lines_of(self.root)
        model = self.model
        if now == [(t.number, t.now.line) for t in model.turns]:
            return
        if hand == "turn":
            number = max([t.number for t in model.turns] + [self._last_folded()], default=0) + 1
            number = now[-1][0] if now[-1][0] != number and self._last_folded() == now[-1][0] else number
            model.tell(number, self._answered)
            self._was_noted(self._answered, number)
        elif hand == "undo":  # of several: stopped between two
            while model.turns and now != [(t.number, t.now.line) for t in model.turns]:
                model.undo(model.turns[-1])
        elif hand == "undo_one":
            model.undo(next(t for t in model.turns if t.number == self._chosen.number))
        else:
            answer = self.answers[now[-1][1]]
            (model.retell if hand == "swipe" else model.switch)(answer)
            self._was_noted(answer, model.turns[-1].number)

    def _was_noted(self, answer: Answer, number: int) -> None:
        """What the scribe would have kept is lost with a crash before it had spoken."""
        row = f"- {journal.turn_id(number)} {answer.noted}\n"
        if answer.noted_in and row not in (self.root / answer.noted_in).read_text():
            answer.noted_in = ""

    # -- helpers

    def _commanded(self, subject: str = "") -> None:
        """After a command of the game's: all is committed, under this subject."""
        self.followed = True
        if self.git:
            assert (left := self._by_hand("status", "--porcelain")) == "", left
            self._note_commit()
            if subject:
                assert self._by_hand("log", "-1", "--format=%s") == subject

    def _command(self, what: Callable[[], None]) -> None:
        what()
        self._commanded()

    def _commit_by_hand(self) -> None:
        if self._by_hand("status", "--porcelain"):
            self._by_hand("add", "-A")
            self._by_hand("commit", "-qm", "Mine")
            self._note_commit()

    def _note_commit(self, which: str = "HEAD") -> None:
        self.known[self._by_hand("rev-parse", which)] = copy.deepcopy(self.model)

    def _head(self) -> str:
        return self._by_hand("rev-parse", "HEAD")

    def _by_hand(self, *arguments: str) -> str:
        ran = subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, text=True)
        assert ran.returncode == 0, (arguments, ran.stdout, ran.stderr)
        return ran.stdout.strip()

    def _last_folded(self) -> int:
        return chronicles.last_covered(open_campaign(self.root))

    def _last_is_open(self) -> bool:
        return bool(self.model.turns) and self.model.turns[-1].number > self._last_folded()

    def _answer(self) -> Answer:
        """A new answer; the game's models are those that give it."""
        self.made += 1
        self._answered = answer = think(self.made, self.dice, self.model.entries, self.layers)
        self.answers[answer.line] = answer
        spec = script(answer, self.place, self.model.entries)
        self.game.models = [spec] if answer.layers else [f"narrator={spec}", "sidecar=off"]
        return answer

    def _game(self) -> Game:
        return Game(self.root, models=["sidecar=off"], environ={})

    def _chapters(self) -> list[str]:
        return [path for _, path in story.chapters(open_campaign(self.root))]

    def _free_place(self, data: bytes) -> int:
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


def run(root: Path, seed: int, steps: int) -> dict[str, int]:
    """Run a machine; how often each hand moved. Raises AssertionError with the seed and the step."""
    files.fs = Unsynced()
    try:
        return _run(Machine(root, seed), seed, steps)
    finally:
        files.fs = files.FileSystem()


def _run(machine: Machine, seed: int, steps: int) -> dict[str, int]:
    count: dict[str, int] = {}
    history: list[str] = []
    for number in range(steps):
        try:
            name = machine.step()
            history.append(name)
            count[name] = count.get(name, 0) + 1
            machine.verify(name)
        except BaseException as error:
            mode = f"{'all layers' * machine.layers}{' git' * machine.git}".strip() or "plain"
            raise AssertionError(f"seed {seed} ({mode}), step {number}, after {history[-6:]}: {error!r}") from error
    return count
