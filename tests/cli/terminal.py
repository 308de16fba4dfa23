"""A program in a terminal of its own: what it writes is read as it comes, what a player types goes to it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path

from tests.conftest import REPOSITORY

PATIENCE = 30  # seconds until something that must come has not come
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07|[\r\x07]")


class Terminal:
    """`rolecall ARGUMENTS` on a pseudo-terminal. `seen` is all it wrote, without escapes."""

    def __init__(self, *arguments: object, environ: Mapping[str, str], cache: Path) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rolecall", *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=REPOSITORY,
            env={**kept, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "XDG_CACHE_HOME": str(cache), **environ},
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(slave)
        self._raw = b""
        self._read_to = 0

    @property
    def seen(self) -> str:
        return _ESCAPE.sub("", self._raw.decode("utf-8", "replace"))

    def until(self, words: str) -> str:
        """Wait for these words behind those that were waited for before; what was written up to them."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.seen[self._read_to :]:
            if time.monotonic() > deadline or not self._more(deadline):
                raise AssertionError(f"{words!r} never came; since then: {self.seen[self._read_to :]!r}")
        at = self.seen.index(words, self._read_to) + len(words)
        found, self._read_to = self.seen[self._read_to : at], at
        return found

    def _more(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        try:
            data = os.read(self._master, 1 << 16) if ready else b""
        except OSError:  # the program has ended
            data = b""
        self._raw += data
        return bool(data)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        """Read to the end; the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._more(deadline):
            pass
        code = self.process.wait(timeout=PATIENCE)
        os.close(self._master)
        return code

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
