"""Killing every other command that writes, at random moments: swipe, undo, fold, import, ingest, rename, check --fix.

Each kill begins in a copy of one campaign and has one outcome to reach: the bytes that the whole command leaves. Behind the
kill the next command (`status`) must just work; then either all is done, or the same command given again does it. What
was there before and is not the command's to change is part of those bytes.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from rolecall.campaign import files
from rolecall.campaign.journal import turn_id
from tests.turn import kills, world

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
    "ingest": ("ingest", "../chat.jsonl", "--no-model"),
    "rename": ("rename", "Old Pasco", "Pasco the Ferryman"),
    "check": ("check", "--fix"),
}
_MOMENT = re.compile(rb"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?")  # in receipts


def prepared(place: Path, server: kills.Server, seed: int) -> kills.Run:
    """A campaign of three turns, and what is brought in."""
    place.mkdir(parents=True, exist_ok=True)
    made = kills.Run(place, server, seed)
    (place / "book.json").write_text(json.dumps(BOOK), encoding="utf-8")
    (place / "chat.jsonl").write_text("\n".join(map(json.dumps, SAID)), encoding="utf-8")
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
        self.environ, self.root = made.environ, made.root
        self.again()
        before = self.text()
        begun = time.monotonic()
        assert self.run(*COMMANDS[name]) == 0, f"{self.where}: {self.said}"
        self.length, self.wanted = time.monotonic() - begun, self.text()
        assert self.wanted != before, f"{self.where}: it does nothing"

    def again(self) -> None:
        """The campaign as it was made."""
        shutil.rmtree(self.root)
        shutil.copytree(self.place / "made", self.root, symlinks=True)
        if self.name == "check":  # something to mend
            state = self.root / "campaign-state.md"
            lines = state.read_bytes().splitlines(keepends=True)
            state.write_bytes(b"".join(one * 2 if one.startswith(b"- T0002 ") else one for one in lines))

    def text(self) -> dict[str, bytes]:
        """Every file but the machine's and git's; moments of the clock are all the same."""
        found = {path: data for path, data in world.text(self.root).items() if not path.startswith(".git/")}
        if self.name == "swipe":  # this server's other answer is the same, and one more
            assert self.run("swipe", "--list") == 0, f"{self.where}: {self.said}"
            found["answers"] = str(len(self.said.strip().splitlines())).encode()
        return {_MOMENT.sub(b"MOMENT", path.encode()).decode(): _MOMENT.sub(b"MOMENT", x) for path, x in found.items()}

    def start_of(self, *command: str) -> subprocess.Popen:
        """A command under way in the campaign."""
        arguments = [sys.executable, "-m", "rolecall", "-C", str(self.root), *command]
        arguments = [str(self.place / one[3:]) if one.startswith("../") else one for one in arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(arguments, cwd=kills.ROOT, env=self.environ, stdout=pipe, stderr=pipe, text=True)

    def run(self, *command: str) -> int:
        """Run a command to its end; `said` is what it printed."""
        process = self.start_of(*command)
        self.said = "\n".join(process.communicate())
        return process.returncode

    def kill(self) -> bool:
        """Kill it once; whether it still ran. What must hold is checked."""
        self.again()
        at = self.dice.uniform(self.length * 0.15, self.length * 1.05)
        process = self.start_of(*COMMANDS[self.name])
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(at)
        hit = process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
        where = f"{self.where}, killed after {at:.3f} s of {self.length:.3f}"
        assert self.run("status", "--json") == 0, f"{where}: the next command said {self.said}"
        if self.text() != self.wanted:
            code = self.run(*COMMANDS[self.name])
            assert code == 0, f"{where}: given again it said {self.said}"
        found = self.text()
        wrong = sorted(path for path in {*found, *self.wanted} if found.get(path) != self.wanted.get(path))
        assert not wrong, f"{where}: {wrong} are not what the whole command leaves"
        left = [path for path in self.root.rglob("*") if files.is_temp(path.name)]
        assert not left, f"{where}: temporary files are left: {left}"
        return hit


def run(place: Path, seed: int, times: dict[str, int]) -> int:
    """Kill each command until so many kills have hit it alive; how many attempts that took in all."""
    place.mkdir(parents=True, exist_ok=True)
    attempts = 0
    with kills.Server(place / "requests.jsonl") as server:
        made = prepared(place, server, seed)
        for name, wanted in times.items():
            chore, hits = Chore(made, name), 0
            while hits < wanted:
                attempts += 1
                hits += chore.kill()
    return attempts
