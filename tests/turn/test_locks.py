"""The lock: it cannot hang, nobody is passed over, and a holder that is gone, however it went, holds nobody up."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.campaign import files, lock
from rolecall.errors import Locked
from rolecall.turn.lifecycle import Listener
from tests.conftest import Ran
from tests.turn import world
from tests.turn.test_processes import ROOT, end, other

HOLDER = """
    import sys
    from pathlib import Path
    from rolecall.campaign import lock

    with lock.hold(Path(sys.argv[1]), "rolecall play"):
        print("held", flush=True)
        sys.stdin.readline()
"""


def test_a_turn_beside_another_command_names_its_process_its_command_and_its_start(tmp_path: Path) -> None:
    world.make(tmp_path)
    before = world.text(tmp_path)
    process = other(HOLDER, tmp_path)
    assert process.stdout.readline() == "held\n"
    game = world.game(tmp_path, world.Teller())
    game.wait = 0.3
    with pytest.raises(Locked) as locked:
        game.tell("I wait.", Listener())
    said = rf"process {process.pid}, `rolecall play`, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d"
    assert re.search(said, str(locked.value))
    assert world.text(tmp_path) == before
    end(process)
    assert game.tell("I wait.", Listener()).turn == "T0004"


AGAIN_AND_AGAIN = """
    import sys, time
    from pathlib import Path
    from rolecall.campaign import lock

    root, lines = Path(sys.argv[1]), Path(sys.argv[2])

    def once():
        with lock.hold(root, "again", wait=60), lines.open("a") as file:
            print("again", file=file, flush=True)
            if not lines.with_name("first").exists():
                lines.with_name("first").touch()
                while not lock.is_awaited(root):
                    time.sleep(0.01)

    for _ in range(20):
        once()
"""


def test_a_command_that_wants_the_lock_again_at_once_lets_the_one_that_waits_go_first(tmp_path: Path) -> None:
    world.make(tmp_path / "tale")
    lines = tmp_path / "lines"
    process = other(AGAIN_AND_AGAIN, tmp_path / "tale", lines)
    while not (tmp_path / "first").exists():
        assert process.poll() is None
    with lock.hold(tmp_path / "tale", "mine", wait=60), lines.open("a") as file:
        print("mine", file=file, flush=True)
    end(process)
    assert process.returncode == 0
    assert lines.read_text().split() == ["again", "mine", *["again"] * 19]


def test_a_turn_waits_for_another_command_that_ends_in_time(tmp_path: Path) -> None:
    world.make(tmp_path)
    process = other(HOLDER, tmp_path)
    assert process.stdout.readline() == "held\n"
    game = world.game(tmp_path, world.Teller())
    game.wait = 30.0
    process.stdin.write("\n")
    process.stdin.flush()
    assert game.tell("I wait.", Listener()).turn == "T0004"
    end(process)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_lock_whose_process_was_killed_holds_nobody_up_and_is_swept(tmp_path: Path) -> None:
    world.make(tmp_path)
    process = other(HOLDER, tmp_path)
    assert process.stdout.readline() == "held\n"
    process.send_signal(signal.SIGKILL)
    end(process)
    litter = tmp_path / "characters" / f"{files.TEMP_PREFIX}1-abc{files.TEMP_SUFFIX}"
    litter.write_bytes(b"half")
    assert lock.left_behind(tmp_path)
    game = world.game(tmp_path, world.Teller())
    game.wait = 0.3
    assert game.tell("I wait.", Listener()).turn == "T0004"
    assert world.assert_laws(tmp_path, {4})
    assert not lock.left_behind(tmp_path)


# -- through the real command


@pytest.fixture
def turn(rolecall: Callable[..., Ran], campaign: Path, script: Callable[[str], str], story: str) -> Callable[..., Ran]:
    """`rolecall turn` in a new campaign, waiting no longer than half a second for anybody."""
    return lambda: rolecall("-C", campaign, "turn", "I wait.", "--wait", "0.5", "--model", script(story))


def note(campaign: Path, **told: object) -> Path:
    """The note of a holder that is gone, with half a write of its beside it."""
    lock.prepare(campaign)
    (campaign / lock.LOCK).touch()
    (campaign / lock.HOLDER).write_text(
        json.dumps({"pid": 1, "command": "play", "started": "2001-01-01 00:00:00", **told})
    )
    litter = campaign / "characters" / f"{files.TEMP_PREFIX}1-abc{files.TEMP_SUFFIX}"
    litter.parent.mkdir(exist_ok=True)
    litter.write_bytes(b"half")
    return litter


GONE = {
    "killed": {"pid": 999_999_999},
    "before the machine was started": {"pid": 1, "started": "1999-12-31 23:59:59"},
    "its number is another process's by now": {"pid": os.getpid()},
    "on another machine, through a synced folder": {"pid": os.getppid(), "host": "elsewhere"},
    "in the future": {"started": "2999-01-01 00:00:00"},
    "with a note of another shape": {"pid": [], "command": None},
}


@pytest.mark.parametrize("why", GONE)
def test_the_note_of_a_holder_that_is_gone_holds_no_command_up_and_what_it_left_is_swept(
    why: str, campaign: Path, turn: Callable[..., Ran]
) -> None:
    litter = note(campaign, **GONE[why])
    ran = turn()
    assert ran.code == 0, ran.err
    assert not litter.exists() and not lock.left_behind(campaign)


@pytest.mark.parametrize("data", [b"", b"\0" * 512, b"[" * 100_000, b"null"], ids=range(4))
@pytest.mark.parametrize("path", [lock.HOLDER, lock.LOCK, lock.QUEUE, lock.DIED])
def test_whatever_a_crash_or_a_synchroniser_made_of_the_locks_files_the_next_command_just_works(
    path: str, data: bytes, campaign: Path, turn: Callable[..., Ran]
) -> None:
    lock.prepare(campaign)
    (campaign / path).write_bytes(data)
    assert turn().code == 0
    assert not lock.left_behind(campaign)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_second_turn_is_told_who_holds_the_first_and_is_told_itself_when_that_is_killed(
    campaign: Path, script: Callable[[str], str], turn: Callable[..., Ran]
) -> None:
    slow = script("- {text: The tide takes its time., delay: 60}")
    first = subprocess.Popen(
        [sys.executable, "-m", "rolecall", "-C", str(campaign), "turn", "I look.", "--model", slow],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        while not lock.is_held(campaign):
            assert first.poll() is None
            time.sleep(0.05)
        while not (campaign / lock.HOLDER).exists():
            time.sleep(0.05)
        before = world.text(campaign)
        second = turn()
        assert second.code == 1 and world.text(campaign) == before
        said = rf"Error: .*another command is writing here \(process {first.pid}, `rolecall turn`, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\); .*`--wait SECONDS`"
        assert re.fullmatch(said, second.err.strip()), second.err
    finally:
        first.kill()
        first.communicate(timeout=60)
    assert turn().code == 0
    assert not lock.left_behind(campaign)
