"""Killing the real command, `rolecall turn ACTION`, at random moments, and what must hold afterwards.

Commands are forked off one process (`forked.py`), since most of a command's time is the interpreter's start.

A run has a campaign from the template with a low fold line, and a model server of its own on the loopback address. A third of
the kills fall anywhere in the command's life, a third while its model is speaking, a third in the moments behind
one of its answers, when a plan is made, the turn is written down, or the Journal is folded. Everything is drawn from one seed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rolecall.agents import ingest
from rolecall.campaign import checks, chronicles, files, journal, records, story
from rolecall.campaign.folder import open_campaign
from tests.loopback import storyteller
from tests.turn.forked import Command, Forker

ROOT = Path(__file__).resolve().parents[2]
MODEL = "openai/loopback-1"
MEMORY = b"memory: {fold_at: 450, keep_lines: 2}"
PATIENT = b"timeouts: {turn_dm: 600, dm: 600, sidecar: 600, narrator: 600}"  # however much else the machine has to do
WRITING = 0.15  # seconds behind an answer's end in which a turn is written down


@dataclass
class Server:
    """The loopback server as a process of its own, and what it has been asked."""

    log: Path
    _process: subprocess.Popen | None = None
    _read: int = 0
    asked: list[str] = field(default_factory=list)  # the words of every request
    sent: set[int] = field(default_factory=set)

    def __enter__(self) -> Server:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.touch()
        command = [sys.executable, "-m", "tests.loopback.server", "--log", str(self.log)]
        self._process = subprocess.Popen(
            [*command, "--reply", "tests.game.chats:any_reply", "--delay", "0.02", "--chunk-delay", "0.004"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def look(self) -> None:
        """Read what the log has more."""
        with self.log.open("rb") as log:
            log.seek(self._read)
            whole, newline, _ = log.read().rpartition(b"\n")
        self._read += len(whole + newline)
        for raw in whole.splitlines():
            line = json.loads(raw)
            is_whole = line.get("path", "").startswith("POST") and line["body"]  # and was not killed while it was sent
            if line["event"] == "asked" and is_whole:
                self.asked.append(words_of_body(line["body"]))
            elif line["event"] == "sent":
                self.sent.add(line["n"])


def words_of_body(body: dict[str, Any]) -> str:
    """All text of a request as the server got it, without white space: what tells one request from another."""
    return "".join("".join(storyteller.text_of(message).split()) for message in body["messages"])


def words_of_request(request: dict[str, Any]) -> str:
    """The same of a request as a record keeps it."""
    parts = [*request["system"], *(part for message in request["messages"] for part in message["parts"])]
    return "".join("".join(part.get("text", "").split()) for part in parts)


def calls(root: Path) -> Iterator[records.Call]:
    """Every call of a model that a campaign has on record."""
    for base in (records.TURNS, records.FOLDS, ingest.PLACE):
        place = root / base
        for folder in sorted(place.iterdir()) if place.is_dir() else ():
            yield from records.calls(root, f"{base}/{folder.name}")


@dataclass
class Run:
    """One campaign, killed again and again."""

    place: Path
    server: Server
    seed: int
    prepare: str = ""  # a function of the process that commands are forked off
    kills: int = 0
    after_sent: int = 0
    told: dict[str, tuple[str, str]] = field(default_factory=dict)  # acknowledged turns: (journal line, prose)
    paid: dict[str, int] = field(default_factory=dict)  # words of a paid request: how many requests there were then

    _known: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.root = self.place / "tale"
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.place),
            "XDG_CACHE_HOME": str(self.place / "cache"),
            "OPENAI_BASE_URL": self.server.url,
            "OPENAI_API_KEY": "sk-loopback",
        }
        self.forker = Forker(self.place / "streams", self.environ, self.prepare)
        self.command("new", str(self.root))
        settings = (self.root / "rolecall.yaml").read_bytes().splitlines(keepends=True)
        ours = {one.partition(b":")[0]: one + b"\n" for one in (MEMORY, PATIENT)}
        kept = [ours.get(line.partition(b":")[0], line) for line in settings]
        (self.root / "rolecall.yaml").write_bytes(b"".join(kept))

    def command(self, *arguments: str) -> str:
        """Run a command to its end; what it printed."""
        code, out, err = self.forker.start(*arguments).finish()
        assert code == 0, f"seed {self.seed}, kill {self.kills}: {arguments} said {err}"
        return out

    def measure(self) -> None:
        """How long the command takes, and when in it the model is first asked."""
        begun = time.monotonic()
        command = self._turn("I listen at the door.")
        asked = None
        while command.poll(0.005) is None:
            self.server.look()
            asked = asked or (time.monotonic() - begun if self.server.asked else None)
        self.length, self.first, self.answers = time.monotonic() - begun, asked, len(self.server.sent)
        self._acknowledge(command)

    def until(self, kills: int) -> None:
        """Kill until so many kills have hit a living command."""
        action = self._action()
        while self.kills < kills:
            hit = self._once(action)
            self._note_paid()
            if hit and self.dice.random() < 0.2:
                self.command("-C", str(self.root), "status", "--json")
                self._note_paid()
            if not hit or self.dice.random() < 0.4:  # else the same action again
                action = self._action()

    def _action(self) -> str:
        return f"I try door {self.dice.randrange(10**6)}, “quietly”.\n\nThen I wait."

    def _turn(self, action: str) -> Command:
        return self.forker.start("-C", str(self.root), "turn", action, "--model", MODEL, "--json")

    def _once(self, action: str) -> bool:
        kind = self.dice.choice(("anywhere", "speaking", "writing"))
        begun = time.monotonic()
        command = self._turn(action)
        if kind == "anywhere":
            command.poll(self.dice.uniform(0, self.length))
        elif kind == "speaking":
            command.poll(self.dice.uniform(self.first * 0.9, self.length))
        else:
            self._wait_until_sent(command, self.dice.randint(1, self.answers))
            command.poll(self.dice.uniform(0, WRITING))
        hit = command.kill()
        self._acknowledge(command)
        if not hit:  # as long as it takes now: other work on the machine makes it slower
            self.length = (self.length + time.monotonic() - begun) / 2
        self.kills += hit
        self.after_sent += hit and kind == "writing"
        return hit

    def _wait_until_sent(self, command: Command, answers: int) -> None:
        self.server.look()
        before = len(self.server.sent)
        while command.poll(0.005) is None and len(self.server.sent) < before + answers:
            self.server.look()

    def _acknowledge(self, command: Command) -> None:
        code, out, err = command.finish()
        assert code in (0, -signal.SIGKILL), f"seed {self.seed}, kill {self.kills}: {err}"
        try:
            result = json.loads(out)
        except ValueError:
            return
        assert result["turn"] not in self.told, f"seed {self.seed}, kill {self.kills}: {result['turn']} told twice"
        self.told[result["turn"]] = (result["journal"], result["prose"])

    def _note_paid(self) -> None:
        """From now on nothing may be asked whose whole answer is on record."""
        self.server.look()
        for call in calls(self.root):
            if call.complete and call.digest not in self._known:
                self._known.add(call.digest)
                words = words_of_request(call.request)
                assert words in self.server.asked, "a request on record that the server has not seen"
                self.paid[words] = self.server.asked.count(words)

    def assert_laws(self) -> None:
        """After the last kill: one more turn, then everything told stands once, and nothing was paid for twice."""
        where = f"seed {self.seed}, {self.kills} kills"
        last = json.loads(self.command("-C", str(self.root), "turn", "I rest.", "--model", MODEL, "--json"))
        self.told[last["turn"]] = (last["journal"], last["prose"])
        self.server.look()
        for words, times in self.paid.items():
            assert self.server.asked.count(words) == times, (
                f"{where}: a paid answer was asked for again: {words[-200:]}"
            )
        campaign = open_campaign(self.root, here_only=True)
        problems = [str(problem) for problem in checks.check(campaign)]
        assert not problems, f"{where}: {problems}"
        lines = [x for _, path in chronicles.paths(campaign) for x in journal.lines_of(campaign.document(path))]
        lines += journal.lines_of(campaign.document("campaign-state.md"))
        numbers = [line.turn for line in lines]
        assert numbers == list(range(1, len(numbers) + 1)), f"{where}: {numbers}"
        sections = [t for _, path in story.chapters(campaign) for t in story.turns_of(campaign.document(path))]
        assert [t.turn for t in sections] == numbers, f"{where}: the story tells {[t.turn for t in sections]}"
        for line, section in zip(lines, sections, strict=True):
            turn = journal.turn_id(line.turn)
            assert line.text == storyteller.line(line.turn), f"{where}: {turn} reads {line.text!r}"
            assert section.prose == storyteller.prose(line.turn), f"{where}: {turn} is told as {section.prose!r}"
            if turn in self.told:
                assert self.told[turn] == (line.text, section.prose), f"{where}: {turn} is not what was acknowledged"
        assert set(self.told) <= {journal.turn_id(number) for number in numbers}, f"{where}: a turn is lost"
        assert chronicles.paths(campaign), f"{where}: nothing was folded"
        left = [p for p in self.root.rglob("*") if files.is_temp(p.name)]
        assert not left, f"{where}: temporary files are left: {left}"


def run(place: Path, seed: int, kills: int) -> Run:
    """A whole run; its laws are checked."""
    with Server(place / "requests.jsonl") as server:
        killed = Run(place, server, seed)
        with killed.forker:
            killed.measure()
            killed.until(kills)
            killed.assert_laws()
        return killed
