"""The line a player types into on a terminal. What is said meanwhile appears above it and never tears it apart."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Prompt:
    """A prompt with arrow keys and a history. Opening it takes a moment, which `warm` spends aside."""

    def __init__(self) -> None:
        self._session = None
        self._lock = threading.Lock()

    def warm(self) -> None:
        """Begin to load what the prompt needs, in the background."""
        threading.Thread(target=self._open, name="prompt", daemon=True).start()

    def _open(self):  # -> PromptSession
        with self._lock:
            if self._session is None:
                from prompt_toolkit import PromptSession
                from prompt_toolkit.output import create_output

                # Where stdout is a file the prompt goes to the terminal that stderr is.
                self._session = PromptSession(output=create_output(always_prefer_tty=True))
            return self._session

    def ask(self) -> str:
        """The line that is typed. Raises EOFError (Ctrl-D) and KeyboardInterrupt (Ctrl-C)."""
        session = self._open()
        print()
        with _above():
            return session.prompt([("bold", "> ")])


@contextmanager
def quiet_keys() -> Iterator[None]:
    """Keys that are pressed while something is told are kept for the next line, and not written into the prose."""
    try:
        import termios
    except ImportError:  # a system without them
        yield
        return
    try:
        before = termios.tcgetattr(sys.stdin)
    except (termios.error, OSError, ValueError):  # no terminal
        yield
        return
    silent = [*before]
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


@contextmanager
def _above() -> Iterator[None]:
    """What any thread prints meanwhile is put above the line, styles and all."""
    from prompt_toolkit.patch_stdout import patch_stdout

    with patch_stdout(raw=True):
        yield
