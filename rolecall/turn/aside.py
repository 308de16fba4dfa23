"""The rest of a told turn: its afterwork, done at once or aside, while the player reads on.

The campaign's lock is held until it is over, so that the next action waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack

from rolecall.turn.result import Result


class Rest:
    """What is left to do of a turn whose prose the player has. `held` (its lock) is let go when it is done.

    `leave`, to be called while it is done aside, says that no model is waited for any more.
    """

    def __init__(
        self,
        finish: Callable[[], Result],
        held: ExitStack,
        then: Callable[[], None] = lambda: None,
        leave: Callable[[], None] = lambda: None,
    ) -> None:
        self._finish, self._held, self._then, self.leave = finish, held, then, leave
        self._thread: threading.Thread | None = None
        self._over = threading.Event()  # no join: one that Ctrl-C interrupts leaves its thread for dead (Python 3.11)
        self._result: Result | None = None
        self._error: BaseException | None = None

    def aside(self) -> None:
        """Begin it in a thread of its own; `then` follows, outside the lock."""
        self._thread = threading.Thread(target=self._work, name="afterwork", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        self._do()
        self._then()

    def _do(self) -> None:
        try:
            with self._held:
                self._result = self._finish()
        except BaseException as error:
            self._error = error
        self._over.set()

    def done(self, seconds: float = 0.0) -> bool:
        """Whether it is over, after waiting so long at most."""
        return self._over.wait(seconds)

    def settle(self) -> None:
        """See to it that it is over. What went wrong is told by `result`."""
        if self._thread is not None:
            while not self._over.wait(0.25):  # in slices: on Windows a wait without end does not hear Ctrl-C
                pass
        elif not self._over.is_set():
            self._do()

    def result(self) -> Result:
        """What the turn came to, when it is over; raises what went wrong."""
        self.settle()
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]
