"""Work done beside a model that is awaited: it takes longer than anything of ours."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
HEAD_START = 0.02  # seconds in which a request may go out first: both need this process


class Beside(Generic[T]):
    """One piece of work in a thread of its own: begun a moment from now, or at once when its value is wanted."""

    def __init__(self, name: str, work: Callable[[], T]) -> None:
        self._work = work
        self._value: T | None = None
        self._error: BaseException | None = None
        self._wanted, self._over = threading.Event(), threading.Event()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        self._wanted.wait(HEAD_START)
        try:
            self._value = self._work()
        except BaseException as error:
            self._error = error
        self._over.set()

    def value(self) -> T:
        """What came of it, when it is done; raises what went wrong."""
        self._wanted.set()
        self._over.wait()
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]
