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
        self._plain = False
        self._lock = threading.Lock()

    def warm(self) -> None:
        """Begin to load what the prompt needs, in the background."""
        threading.Thread(target=self._open, name="prompt", daemon=True).start()

    def _open(self):  # -> PromptSession, or None where none can be drawn
        with self._lock:
            if self._session is None and not self._plain:
                from prompt_toolkit import PromptSession
                from prompt_toolkit.output import create_output

                try:
                    # Where stdout is a file the prompt goes to the terminal that stderr is.
                    self._session = PromptSession(output=create_output(always_prefer_tty=True))
                except Exception:  # no console that it knows (on Windows, a terminal of another kind, or a file)
                    self._plain = True
            return self._session

    def ask(self) -> str:
        """The line that is typed. Raises EOFError (Ctrl-D) and KeyboardInterrupt (Ctrl-C)."""
        session = self._open()
        if session is None:
            return _line()
        print()
        with _above():
            return session.prompt([("bold", "> ")])


def _line() -> str:
    """A line without any comfort."""
    print("> ", end="", file=sys.stderr, flush=True)
    if not (line := sys.stdin.readline()):
        raise EOFError
    return line


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
