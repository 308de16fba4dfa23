"""A campaign in a git repository, with the real git and settings that are the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from rolecall.campaign import template
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener
from rolecall.turn.result import Result

NEEDS_GIT = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed on this machine")
WRITER = "Wanda Writer <wanda@writers.example>"
SETTINGS = "[user]\n\tname = Wanda Writer\n\temail = wanda@writers.example\n[init]\n\tdefaultBranch = main\n"


def settle_settings(place: Path, monkeypatch: pytest.MonkeyPatch, settings: str = SETTINGS) -> Path:
    """Give git one file of settings and nothing else of this machine's; the file."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    file = place / "gitconfig"
    file.write_text(settings)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(file))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", str(place))
    return file


def line(turn: int, telling: str = "") -> str:
    """The journal line of a turn."""
    return f"Kit met Old Pasco on the quay{telling}, hour {turn}."


def script(place: Path, telling: str = "", turns: int = 320) -> str:
    """A scripted model that answers by the turn's number; its spec."""
    answers = [
        f"- turn: T{n:04d}\n  text: The lantern{telling} gutters for the hour {n}. Old Pasco does not look up.\n"
        f"  tools:\n    - {{name: append_journal, arguments: {{text: '{line(n, telling)}'}}}}\n"
        for n in range(1, turns + 1)
    ]
    path = place / f"script{telling.replace(' ', '-')}.yaml"
    path.write_text("".join(answers))
    return f"scripted:{path}"


@dataclass
class Table:
    """A campaign at play: its root, its model, and what was noted beside the prose."""

    root: Path
    model: str
    notes: list[str]

    def game(self, model: str = "") -> Game:
        return Game(self.root, models=[model or self.model], environ=dict(os.environ))

    @property
    def listener(self) -> Listener:
        return Listener(note=self.notes.append)

    def tell(self, action: str = "I wait.", model: str = "") -> Result:
        return self.game(model).tell(action, self.listener)

    def git(self, *arguments: str, ok: bool = True, given: str | None = None) -> str:
        """What the writer's own git says, run in the campaign."""
        ran = subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, text=True, input=given)
        assert ran.returncode == 0 or not ok, ran.stderr
        return ran.stdout.rstrip("\n")

    def subjects(self, *which: str) -> list[str]:
        """The subjects of the commits, the newest first."""
        return self.git("log", "--format=%s", *which).splitlines()

    def files_of(self, commit: str = "HEAD") -> list[str]:
        """The paths a commit changed."""
        return self.git("show", "--format=", "--name-only", "-z", commit).strip("\0").split("\0")

    def write(self, path: str, text: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def replace(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        assert old in text
        self.write(path, text.replace(old, new, 1))


def table(place: Path, monkeypatch: pytest.MonkeyPatch, *, settings: str = SETTINGS) -> Table:
    """A new campaign of `rolecall new` in a repository of its own."""
    settle_settings(place, monkeypatch, settings)
    root = template.new(place / "tale", "The Tale", repository=True).root
    return Table(root, script(place), [])


def wrapped_git(place: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Put a shell script before git in the PATH; `$GIT` is the real one, `$SUB` the subcommand."""
    folder = place / "bin"
    folder.mkdir()
    real = shutil.which("git")
    head = '#!/bin/sh\nGIT="%s"\nSUB=""; skip=""\nfor a in "$@"; do\n  if [ -n "$skip" ]; then skip=""; continue; fi\n'
    head += '  case "$a" in -c) skip=1;; -*) ;; *) SUB="$a"; break;; esac\ndone\n'
    (folder / "git").write_text(head % real + body + '\nexec "$GIT" "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
