"""Every command that writes, and a fault of the file system at a step of it.

The command runs in this process as its entry point runs it. After the fault it has said one clear line and exit 1, or it is done;
nothing is lost; the next command works; given again, it leaves the bytes that it leaves without a fault, and asks no
model for what was answered. What one entry alone could not take is said, and left out.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rolecall.campaign import files
from rolecall.campaign.formers import FORMER
from rolecall.cli.main import main
from rolecall.models.chain import Models
from rolecall.models.events import Event, TextDelta
from rolecall.models.messages import Request
from rolecall.models.provider import Limits, Profile
from rolecall.turn import game
from tests.turn import kills, world
from tests.turn.chores import BOOK, MOMENT, SAID
from tests.turn.faults import DEADLY, Faulty, Killed, failing

FAULTS = ("torn", "power", "full", "short", "once", "refused", "unsynced", "readonly")
_CHANGES = {
    *("create", "open", "write", "fsync", "truncate", "replace", "exchange", "link"),
    *("unlink", "mkdir", "rmdir", "sync_folder"),
}
FITS = {  # where a fault makes a difference
    "torn": _CHANGES,
    "power": _CHANGES,
    "full": {"create", "write", "link", "mkdir"},
    "short": {"write"},
    "unsynced": {"fsync", "sync_folder"},
    "readonly": _CHANGES - {"fsync", "sync_folder"},
}
OLDER, INSTRUCTION = b"What an earlier version said.\n", "instructions/always-narrate.md"
IMPORT, INGEST, RENAME = (
    ("import", "../book.json"),
    ("ingest", "../chat.jsonl"),
    ("rename", "Marta", "Marta of the Inn"),
)


@dataclass(frozen=True)
class Command:
    """A command, and those that were given before it."""

    words: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    code: int = 0


TURNS = (("turn", "I ask who burned it."), ("turn", "I wait for the tide."))
COMMANDS = {
    "turn": Command(("turn", "I look at the ashes."), TURNS),
    "swipe": Command(("swipe",), TURNS),
    "swipe --to": Command(("swipe", "--to", "1"), (*TURNS, ("swipe",))),
    "undo": Command(("undo",), TURNS),
    "fold": Command(("fold",), TURNS),
    "import": Command(IMPORT, TURNS),
    "import --undo": Command(("import", "--undo"), (*TURNS, IMPORT)),
    "ingest": Command(INGEST),
    "ingest --no-model": Command((*INGEST, "--no-model"), TURNS),
    "ingest --undo": Command(("ingest", "--undo"), (INGEST,)),
    "rename": Command(RENAME, TURNS),
    "rename --undo": Command(("rename", "--undo"), (*TURNS, RENAME)),
    "check --fix": Command(("check", "--fix"), TURNS),
    "check --undo": Command(("check", "--undo"), (*TURNS, ("check", "--fix")), code=1),  # the problems are there again
}


class Teller(world.Teller):
    """The model of these commands: another answer to the same turn is told in other words."""

    fog = "fog"

    def stream(self, request: Request, limits: Limits) -> Iterator[Event]:
        """The answer to a request."""
        for event in super().stream(request, limits):
            yield replace(event, text=event.text.replace("fog", self.fog)) if isinstance(event, TextDelta) else event


class Trial:
    """One command in a campaign that is set up afresh for each fault, always at the same place."""

    def __init__(self, place: Path, name: str, patch: pytest.MonkeyPatch) -> None:
        self.name, self.command, self.place, self.root = name, COMMANDS[name], place, place / "tale"
        spec = f"scripted:{self.root}/never-read.yaml"  # as the settings have it
        self.teller = Teller(profile=Profile(spec, free=True))
        shared = Models({})
        for role in ("narrator", "turn_dm", "dm", "sidecar"):
            shared._open[spec, role] = self.teller
        patch.setattr(game, "Models", lambda _: shared)
        patch.setattr(sys, "argv", ["rolecall"])
        patch.setitem(FORMER, INSTRUCTION, frozenset({hashlib.sha256(OLDER).hexdigest()[:16]}))
        self._make()
        self.before, self.had = self.text(), self.answered()
        ran = self.run(*self.command.words)
        self.wanted = self.text()
        assert ran[0] == self.command.code and self.wanted != self.before, ran
        self.fresh()
        with failing(self.root) as counted:  # now that the index is there, as it is in every trial
            self.run(*self.command.words)
        self.steps = counted.steps

    def _make(self) -> None:
        (self.place / "book.json").write_text(json.dumps(BOOK), encoding="utf-8")
        (self.place / "chat.jsonl").write_text("\n".join(map(json.dumps, SAID)), encoding="utf-8")
        world.make(self.root)
        if "check" in self.name:
            (self.root / "lore/note.md").unlink()  # it is a problem of its own
            (self.root / "instructions").mkdir()
            (self.root / INSTRUCTION).write_bytes(OLDER)
            state = self.root / "campaign-state.md"
            state.write_bytes(state.read_bytes() + b"- T0003 Marta lied about the ledger.\n")
        for words in self.command.before:
            self._other_words()
            assert self.run(*words)[0] == 0, self.run(*words)
        self._other_words()
        shutil.copytree(self.root, self.place / "made")

    def _other_words(self) -> None:
        self.teller.fog = {"fog": "mist", "mist": "haze", "haze": "murk", "murk": "dusk"}[self.teller.fog]

    def fresh(self) -> None:
        """The campaign as it was before the command."""
        shutil.rmtree(self.root)
        shutil.copytree(self.place / "made", self.root)
        self.teller.asked.clear()

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run a command: (exit code, what it printed, what it said). Raises Killed."""
        words = tuple(str(self.place / word[3:]) if word.startswith("../") else word for word in words)
        sys.argv[1:] = ["-C", str(self.root), *words]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as ended:
                return ended.code or 0, out.getvalue(), err.getvalue()
        raise AssertionError("the command did not end")

    def text(self) -> dict[str, bytes]:
        """Every file but the machine's, temporary ones left out; moments of the clock are all the same."""
        found = {path: x for path, x in world.text(self.root).items() if not files.is_temp(path.rpartition("/")[2])}
        return {MOMENT.sub(b"MOMENT", path.encode()).decode(): MOMENT.sub(b"MOMENT", x) for path, x in found.items()}

    def paid(self) -> set[str]:
        """The digests of what this command has asked and has the whole answer to; a swipe asks what the turn asked before."""
        return set(self.answered() - self.had)

    def answered(self) -> Counter[str]:
        """The digests of every request whose whole answer is on record, as often as it is there."""
        return Counter(call.digest for call in kills.calls(self.root) if call.complete)

    def fail(self, number: int, fault: str) -> None:
        """The command with a fault at a step, and all that must hold afterwards."""
        self.fresh()
        with failing(self.root, number, fault) as faulty:
            code, said = self._under(faulty, fault)
        name, path = faulty.steps[min(number, len(faulty.steps)) - 1]
        at = f"{self.name}: {fault} at step {number} of {len(self.steps)} ({name} {path})"
        finds = code == 1 and self.name.startswith("check")  # a file that cannot be read is a problem it finds
        done = "Error: " not in said and (finds or code == self.command.code)
        if fault not in DEADLY:
            assert_clear(0 if done else code, said, at)
        left_out = done and fault not in DEADLY and self.text() != self.wanted
        if left_out:
            assert re.search("permission denied|the disk reported an error", said), (
                f"{at}: it is not done and says nothing of it: {said}"
            )
        ran = self.run("status", "--json")
        assert ran[0] == 0, f"{at}: the next command said {ran}"
        paid, asked = self.paid(), len(self.teller.asked)
        if not left_out and self.text() != self.wanted:
            ran = self.run(*self.command.words)
            assert ran[0] == self.command.code and "Error: " not in ran[2], f"{at}: given again it said {ran}"
            assert not paid & set(self.teller.asked[asked:]), f"{at}: a paid answer was asked for again"
        if not left_out:
            found = self.text()
            wrong = sorted(path for path in {*found, *self.wanted} if found.get(path) != self.wanted.get(path))
            assert not wrong, f"{at}: {wrong} are not what they should be"
        left = [path for path in self.root.rglob("*") if files.is_temp(path.name)]
        assert not left, f"{at}: temporary files are left: {left}"

    def _under(self, faulty: Faulty, fault: str) -> tuple[int, str]:
        try:
            code, out, err = self.run(*self.command.words)
            faulty.dead = fault == "power"  # the machine goes down right behind the command
            return code, out + err
        except Killed:
            return -9, ""


def assert_clear(code: int, said: str, at: str) -> None:
    """Done; or one line says what is wrong and what to do, and perhaps a hint."""
    assert code in (0, 1), f"{at}: exit {code}: {said}"
    errors = [line for line in said.splitlines() if line.startswith("Error: ")]
    assert len(errors) == code, f"{at}: exit {code}: {said}"
    assert "RoleCall made a mistake" not in said, f"{at}: {said}"
    if code:
        assert re.match(r"Error: (\S.*: )?\S.*; \S", errors[0]), f"{at}: {said}"


def trials(trial: Trial) -> Iterator[tuple[int, str]]:
    """Every fault at every step where it makes a difference."""
    for number, (name, _) in enumerate(trial.steps, 1):
        for fault in FAULTS:
            if name in FITS.get(fault, {name}):
                yield number, fault
