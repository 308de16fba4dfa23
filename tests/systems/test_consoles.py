"""Consoles that know neither UTF-8 nor escape sequences, and systems that tell nothing of what changes in a folder."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rolecall.campaign import lock
from rolecall.errors import Locked
from rolecall.play import prompt
from rolecall.search.watcher import Watcher
from tests.conftest import REPOSITORY

PROSE = "Éowyn — who waits — says: “Noch nicht, 龍…”"
OLD = {  # a Windows console's code page, as far as Python can be told of it
    "PYTHONUTF8": "0",
    "PYTHONIOENCODING": "cp1252",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONWARNDEFAULTENCODING": "1",
    "TERM": "dumb",
}


def _run(*arguments: object, given: bytes = b"") -> tuple[int, bytes, bytes]:
    """What a command says in a process of its own; a file that is opened in the locale's encoding is an error there."""
    command = [sys.executable, "-W", "error::EncodingWarning", "-m", "rolecall", *map(str, arguments)]
    ran = subprocess.run(
        command, input=given, capture_output=True, env=os.environ | OLD, cwd=REPOSITORY, timeout=120, check=False
    )
    return ran.returncode, ran.stdout, ran.stderr


def test_a_game_on_a_console_of_another_encoding(campaign: Path, script) -> None:
    lines = [
        {
            "turn": f"T{n:04d}",
            "role": "narrator",
            "text": PROSE,
            "tools": [{"name": "append_journal", "arguments": {"text": f"Éowyn waits — hour {n}."}}],
        }
        for n in (1, 2, 3)
    ]
    spec = script(json.dumps(lines, ensure_ascii=False))
    code, out, err = _run("-C", campaign, "turn", "Ich gehe — “jetzt” — zu 龍.", "--model", spec)
    assert (code, PROSE in out.decode()) == (0, True), err
    typed = "\ufeffIch gehe zu Müller.\n".encode() + b"Caf\xe9 und nichts.\n"
    code, out, err = _run("-C", campaign, "play", "--model", spec, given=typed)
    assert (code, out.decode().count(PROSE)) == (0, 2), err
    told = next((campaign / "story").glob("*.md")).read_text("utf-8")
    for action in ("> Ich gehe — “jetzt” — zu 龍.\n", "> Ich gehe zu Müller.\n", "> Caf\ufffd und nichts.\n"):
        assert action in told
    for command in (["search", "waits"], ["export", "markdown", "-o", campaign.parent / "o.md"], ["check"]):
        code, out, err = _run("-C", campaign, *command)
        assert code == 0, err
        out.decode("utf-8")


def test_a_terminal_that_no_prompt_can_be_drawn_on_is_read_line_by_line(monkeypatch, capsys) -> None:
    import io

    class NoConsoleScreenBufferError(Exception):
        pass

    def refuse(**_: object) -> None:
        raise NoConsoleScreenBufferError("found xterm, while expecting a Windows console")

    monkeypatch.setattr("prompt_toolkit.output.create_output", refuse)
    monkeypatch.setattr(sys, "stdin", io.StringIO("I wait — “here”.\n"))
    asked = prompt.Prompt()
    assert asked.ask().strip() == "I wait — “here”."
    with pytest.raises(EOFError):
        asked.ask()
    assert capsys.readouterr().err.count("> ") == 2


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (OSError(errno.ENOSPC, "inotify watch limit reached"), "max_user_watches"),
        (OSError(errno.EMFILE, "inotify instance limit reached"), "max_user_instances"),
        (OSError(errno.ENOSYS, "Function not implemented"), "looking every second"),
        (ImportError("no FSEvents here"), "looking every second"),
    ],
)
def test_watch_without_file_events_says_so_and_finds_an_edit(
    campaign: Path, rolecall, monkeypatch, fault, says
) -> None:
    from watchdog import observers

    class Refusing:
        def __init__(self) -> None:
            raise fault

    monkeypatch.setattr(observers, "Observer", Refusing)
    monkeypatch.setattr("rolecall.search.watcher.POLL", 0.05)
    sleep, looked = time.sleep, []

    def nap(seconds: float) -> None:
        if not looked:
            (campaign / "lore").mkdir(exist_ok=True)
            (campaign / "lore/bell.md").write_text("The zorblatt rings.\n", "utf-8")
        looked.append(seconds)
        sleep(0.05)
        if len(looked) > 2400 or "updated" in said:
            raise KeyboardInterrupt

    said: list[str] = []
    real = Watcher._look

    def look(self: Watcher) -> None:
        real(self)
        if "lore/bell.md" in self._search.catalogue:
            said.append("updated")

    monkeypatch.setattr(Watcher, "_look", look)
    monkeypatch.setattr("rolecall.cli.upkeep.time", type("Time", (), {"sleep": staticmethod(nap)}))
    ran = rolecall("-C", campaign, "watch")
    assert ran.code == 0 and says in ran.err and "Stopped watching." in ran.err
    assert "updated" in said and "Index updated" in ran.err


def test_a_lock_where_flock_is_unknown_still_keeps_two_writers_apart(campaign: Path, rolecall, monkeypatch) -> None:
    """A drive that knows no locks: a file marks who holds it, and one that a killed process left is recognised."""
    fcntl = pytest.importorskip("fcntl")
    shutil.rmtree(campaign / ".rolecall")  # never opened yet
    monkeypatch.setattr(fcntl, "flock", _fail(errno.ENOSYS))
    with lock.hold(campaign, "turn"), pytest.raises(Locked, match="`turn`"), lock.hold(campaign, "fold", wait=0.1):
        pass
    with lock.hold(campaign, "fold", wait=0.1):
        assert lock.is_held(campaign)
    assert not lock.is_held(campaign)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_drive_that_cannot_lock_is_told_with_its_remedy(campaign: Path, rolecall, monkeypatch, number: int) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", _fail(number))
    ran = rolecall("-C", campaign, "fold")
    assert (ran.code, ran.err) == (
        1, "Error: .rolecall/lock: this disk cannot lock files; keep the campaign on a disk of this machine\n",
    )  # fmt: skip


def _fail(number: int):
    def failing(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    return failing
