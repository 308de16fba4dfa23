"""Killing every other command that writes, at random moments: swipe, undo, fold, import, ingest, rename, check --fix.

Each kill begins in a copy of one campaign and has one outcome to reach: the bytes that the whole command leaves. Behind the
kill the next command (`status`) must just work; then either all is done, or the same command given again does it, and
asks no model for what it has answered. What was there before and is not the command's to change is part of those bytes;
what can be taken back is, and leaves the bytes that were there before.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
import time
from collections import Counter
from pathlib import Path

from rolecall.campaign import files
from rolecall.campaign.formers import FORMER
from rolecall.campaign.journal import turn_id
from tests.game import chats
from tests.turn import kills, world
from tests.turn.forked import Command

BOOK = {
    "name": "The Harbour",
    "entries": {str(n): {"key": [f"buoy {n}"], "comment": f"Buoy {n}", "content": f"The buoy {n} of Skerrow rings."} for n in range(6)},
}  # fmt: skip
SAID = [
    {"user_name": "Kit", "character_name": "Sera", "chat_metadata": {}},
    *({"name": name, "is_user": name == "Kit", "mes": f"“Here is the tide,” {name} says; it is the hour {n}."}
      for n in range(12) for name in ("Kit", "Sera")),
]  # fmt: skip
MODEL = ("--model", kills.MODEL)
COMMANDS = {
    "swipe": ("swipe", *MODEL),
    "undo": ("undo", "--turn", turn_id(2)),
    "fold": ("fold", *MODEL),
    "import": ("import", "../book.json"),
    "ingest": ("ingest", "../coast.jsonl", "--rounds", "detailed", *MODEL),
    "ingest --no-model": ("ingest", "../chat.jsonl", "--no-model"),
    "rename": ("rename", "Old Pasco", "Pasco the Ferryman"),
    "check": ("check", "--fix"),
}
BACK = {name: (name, "--undo") for name in ("import", "rename", "check")}  # what takes a command back, to the byte
MESSAGES = 60  # of the chat that a model reads, in three chunks
INSTRUCTIONS = ("instructions/always-narrate.md", "instructions/before-inventing-a-name-place-or-fact.md")
OLDER = b"What an earlier version said.\n"
MOMENT = re.compile(rb"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?")  # in receipts


def age() -> None:
    """Make `OLDER` an earlier text of two instructions: done in the process that commands are forked off."""
    for path in INSTRUCTIONS:
        FORMER[path] = FORMER.get(path, frozenset()) | {hashlib.sha256(OLDER).hexdigest()[:16]}


def prepared(place: Path, server: kills.Server, seed: int) -> kills.Run:
    """A campaign of three turns, and what is brought in."""
    made = kills.Run(place, server, seed, prepare="tests.turn.chores:age")
    (place / "book.json").write_text(json.dumps(BOOK), encoding="utf-8")
    (place / "chat.jsonl").write_text("\n".join(map(json.dumps, SAID)), encoding="utf-8")
    chats.write(place / "coast.jsonl", MESSAGES)
    settings = made.root / "rolecall.yaml"
    settings.write_bytes(settings.read_bytes().replace(kills.MEMORY, b"memory: {fold_at: 9000, keep_lines: 1}"))
    for number in range(3):
        made.command("-C", str(made.root), "turn", f"I wait, {number}.", *MODEL)
    shutil.copytree(made.root, place / "made", symlinks=True)
    return made


class Chore:
    """One command, killed again and again, each time in a copy of one campaign."""

    def __init__(self, made: kills.Run, name: str) -> None:
        self.name, self.where, self.place = name, f"{name}, seed {made.seed}", made.place
        self.dice = random.Random(f"{name} {made.seed}")
        self.forker, self.server, self.root = made.forker, made.server, made.root
        self.again()
        self.before, self.had = self.text(), self.answered()
        self.length = 0.0
        assert self.whole() == 0, f"{self.where}: {self.said}"
        self.wanted = self.text()
        assert self.wanted != self.before, f"{self.where}: it does nothing"

    def again(self) -> None:
        """The campaign as it was made, and nothing asked yet."""
        shutil.rmtree(self.root)
        shutil.copytree(self.place / "made", self.root, symlinks=True)
        if self.name == "check":  # something to mend, in three files
            state = self.root / "campaign-state.md"
            lines = state.read_bytes().splitlines(keepends=True)
            state.write_bytes(b"".join(one * 2 if one.startswith(b"- T0002 ") else one for one in lines))
            for path in INSTRUCTIONS:
                (self.root / path).write_bytes(OLDER)
        self.server.look()
        self.server.asked.clear()

    def text(self) -> dict[str, bytes]:
        """Every file but the machine's and git's; moments of the clock are all the same."""
        found = {path: data for path, data in world.text(self.root).items() if not path.startswith(".git/")}
        if self.name == "swipe":  # this server's other answer is the same, and one more
            assert self.run("swipe", "--list") == 0, f"{self.where}: {self.said}"
            found["answers"] = str(len(self.said.strip().splitlines())).encode()
        return {MOMENT.sub(b"MOMENT", path.encode()).decode(): MOMENT.sub(b"MOMENT", x) for path, x in found.items()}

    def start_of(self, *command: str) -> Command:
        """A command under way in the campaign."""
        return self.forker.start(
            "-C", str(self.root), *(str(self.place / one[3:]) if one.startswith("../") else one for one in command)
        )

    def run(self, *command: str) -> int:
        """Run a command to its end; `said` is what it printed."""
        code, *said = self.start_of(*command).finish()
        self.said = "\n".join(said)
        return code

    def whole(self) -> int:
        """Run the command to its end. How long that takes is learned: other work on the machine makes it slower."""
        begun = time.monotonic()
        code = self.run(*COMMANDS[self.name])
        took = time.monotonic() - begun
        self.length = (self.length + took) / 2 if self.length else took
        return code

    def kill(self) -> bool:
        """Kill it once; whether it still ran. What must hold is checked."""
        self.again()
        at = self.dice.uniform(0, self.length * 1.05)
        command = self.start_of(*COMMANDS[self.name])
        command.poll(at)
        hit = command.kill()
        where = f"{self.where}, killed after {at:.3f} s of {self.length:.3f}"
        assert self.run("status", "--json") == 0, f"{where}: the next command said {self.said}"
        paid = self.paid()
        if self.text() != self.wanted:
            assert self.whole() == 0, f"{where}: given again it said {self.said}"
            assert {words: self.times(words) for words in paid} == paid, f"{where}: a paid answer was asked for again"
        self.assert_same(self.wanted, where)
        left = [path for path in self.root.rglob("*") if files.is_temp(path.name)]
        assert not left, f"{where}: temporary files are left: {left}"
        while self.name in BACK and self.text() != self.before:  # a fix that was killed is two records
            self.run(*BACK[self.name])
            assert "Error" not in self.said, f"{where}: taken back it said {self.said}"
        return hit

    def assert_same(self, wanted: dict[str, bytes], where: str) -> None:
        """The campaign is these bytes."""
        found = self.text()
        wrong = sorted(path for path in {*found, *wanted} if found.get(path) != wanted.get(path))
        assert not wrong, f"{where}: {wrong} are not what they should be"

    def paid(self) -> dict[str, int]:
        """The words of what this command has asked and has the whole answer to, and how often it was asked.

        A swipe asks in the words in which the turn was told: that answer was there before.
        """
        return {words: self.times(words) for words in self.answered() - self.had}

    def answered(self) -> Counter[str]:
        """The words of every request whose whole answer is on record, as often as it is there."""
        return Counter(kills.words_of_request(call.request) for call in kills.calls(self.root) if call.complete)

    def times(self, words: str) -> int:
        """How often that was asked."""
        self.server.look()
        return self.server.asked.count(words)


def run(place: Path, seed: int, name: str, times: int) -> int:
    """Kill a command until so many kills have hit it alive; how many attempts that took."""
    with kills.Server(place / "requests.jsonl") as server:
        made, attempts, hits = prepared(place, server, seed), 0, 0
        with made.forker:
            chore = Chore(made, name)
            while hits < times:
                attempts += 1
                hits += chore.kill()
    return attempts
