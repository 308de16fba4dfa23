"""One writer at a time: a lock that ends with its process, and a note beside it that says who holds it.

Whoever waits for the lock stands in the queue, a second lock that the first of them holds, and whoever wants the lock
again goes through the queue again: a command that writes turn after turn leaves every other one its turn in between.

The note goes with the holder. One that still lies there when the next command gets the lock tells that its writer was
killed; it is kept as `died.json` until what was left behind has been put right.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rolecall.campaign import files
from rolecall.campaign.folder import MACHINE_FOLDER
from rolecall.errors import Locked, StorageError

LOCK = f"{MACHINE_FOLDER}/lock"
QUEUE = f"{MACHINE_FOLDER}/queue"
HOLDER = f"{MACHINE_FOLDER}/holder.json"
DIED = f"{MACHINE_FOLDER}/died.json"
WAIT = 10.0  # seconds a writing command waits for another one
POLL = 0.02  # seconds between two looks whether it is free


def prepare(root: Path) -> None:
    """Make `.rolecall/`, which ignores itself in git."""
    files.make_folder(root, MACHINE_FOLDER)
    if not files.exists(root, f"{MACHINE_FOLDER}/.gitignore"):
        files.rewrite(root, f"{MACHINE_FOLDER}/.gitignore", b"*\n")


@contextmanager
def hold(root: Path, command: str, *, wait: float = WAIT) -> Iterator[None]:
    """Hold the campaign's lock; Locked after `wait` seconds, naming the holder's process, command and start.

    The operating system lets the lock go when its process ends, however it ends.
    """
    from filelock import FileLock, Timeout

    # Where the file system knows no locks, a file marks who holds it; nothing is lost by that, and nobody need be told.
    warnings.filterwarnings("ignore", message="flock not supported", category=UserWarning)
    prepare(root)
    until = time.monotonic() + wait
    lock, queue = (FileLock(files.locate(root, path), thread_local=False) for path in (LOCK, QUEUE))
    try:
        with queue.acquire(timeout=wait, poll_interval=POLL):
            lock.acquire(timeout=max(0.0, until - time.monotonic()), poll_interval=POLL)
    except Timeout:
        raise Locked(
            f"another command is writing here ({holder(root)})",
            path=root,
            remedy="wait for it, or give `--wait SECONDS`",
        ) from None
    except OSError as error:
        raise files.refused(error, LOCK) from None
    try:
        _sign(root, command)
        yield
    finally:
        try:
            if not files.litter():  # else the note stays, and the next holder sweeps
                with suppress(StorageError):
                    files.forget(root, HOLDER)
        finally:
            lock.release()


def _sign(root: Path, command: str) -> None:
    """Say who holds the lock, and keep the note of a holder that never took it away."""
    if files.exists(root, HOLDER):
        files.rewrite(root, DIED, files.read(root, HOLDER), durable=False)
    note = {"pid": os.getpid(), "command": command, "started": time.strftime("%Y-%m-%d %H:%M:%S")}
    files.rewrite(root, HOLDER, json.dumps(note).encode(), durable=False)


def left_behind(root: Path) -> bool:
    """Whether a holder of the lock was killed and nothing has been put right since; True also while one is at work."""
    return files.exists(root, DIED) or files.exists(root, HOLDER) or bool(_temporary(root))


def put_right(root: Path) -> None:
    """Sweep up after a killed holder. Only under the lock."""
    if files.exists(root, DIED):
        files.sweep(root)
        files.forget(root, DIED)
    for name in _temporary(root):  # of one that was killed before it had signed
        files.forget(root, f"{MACHINE_FOLDER}/{name}")


def _temporary(root: Path) -> list[str]:
    try:
        return [name for name in os.listdir(root / MACHINE_FOLDER) if files.is_temp(name)]
    except OSError:
        return []


def is_held(root: Path) -> bool:
    """Whether some process holds the lock now (False where none was ever made or it cannot be asked)."""
    return _is_held(root, LOCK)


def is_awaited(root: Path) -> bool:
    """Whether some process waits for the lock now."""
    return _is_held(root, QUEUE)


def _is_held(root: Path, path: str) -> bool:
    from filelock import FileLock, Timeout

    if not files.exists(root, path):
        return False
    lock = FileLock(files.locate(root, path), timeout=0, thread_local=False)
    try:
        with lock:
            return False
    except Timeout:
        return True
    except OSError:
        return False


def holder(root: Path) -> str:
    """Who holds the lock, in words."""
    try:
        note = json.loads(files.read(root, HOLDER))
        return f"process {int(note['pid'])}, `{note['command']}`, since {note['started']}"
    except (StorageError, ValueError, KeyError, TypeError, RecursionError):
        return "a process that left no note"
