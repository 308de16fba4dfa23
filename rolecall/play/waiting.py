"""A quiet sign on a terminal that an answer is being made, until its first word comes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TextIO

from rolecall.turn.lifecycle import Listener

SIGN = "…"
AFTER = 1.0  # seconds in which a word may come without any sign


class Waiting:
    """Shown after a moment without a word; `over` takes it away again. Nothing is shown where no terminal is."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._shown = self._over = False
        self._timer = threading.Timer(AFTER, self._show)
        self._timer.daemon = True
        if out.isatty():
            self._timer.start()

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        self.over()

    def before(self, text: Callable[[str], None], note: Callable[[str], None]) -> Listener:
        """Who hears a turn: its prose and quiet lines, the sign gone before either is printed."""

        def first(tell: Callable[[str], None], said: str) -> None:
            self.over()
            tell(said)

        return Listener(text=partial(first, text), note=partial(first, note))

    def over(self) -> None:
        """The first word is there, or something else is to be said: the sign goes, before it is."""
        with self._lock:
            if not self._over and self._shown:
                self._put(f"\r{' ' * len(SIGN)}\r")
            self._over = True
        self._timer.cancel()

    def _show(self) -> None:
        with self._lock:
            if not self._over:
                self._put(SIGN)
                self._shown = True

    def _put(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self._out.write(text)
            self._out.flush()
