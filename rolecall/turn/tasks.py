"""Work beside the turn, in a thread of its own, that can be waited for so long and ended from outside."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextvars import copy_context
from typing import Generic, TypeVar

from rolecall.errors import Enough
from rolecall.models.provider import until

T = TypeVar("T")
LETS_GO = 5.0  # seconds a task that was stopped is waited for; one that waits for a model ends within a quarter of one


def beside(pool: Executor, work: Callable[..., T], *given: object) -> Future[T]:
    """Work in a thread of the pool that waits for models as long as this thread does: until `until` says enough."""
    return pool.submit(copy_context().run, work, *given)


class Task(Generic[T]):
    """One piece of work, begun at once. After `wait` said true, `value` or `error` is what came of it."""

    def __init__(self, name: str, work: Callable[[], T]) -> None:
        self.value: T | None = None
        self.error: Exception | None = None
        self._enough, self._done = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work,), name=name, daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[], T]) -> None:
        try:
            with until(self._enough):
                self.value = work()
        except Enough:
            pass
        except Exception as error:
            self.error = error
        finally:
            self._done.set()

    @property
    def done(self) -> bool:
        """Whether it is over."""
        return self._done.is_set()

    def wait(self, deadline: float) -> bool:
        """Wait until a time of the monotonic clock, in seconds; whether the work is over by then."""
        return self._done.wait(max(0.0, deadline - time.monotonic()))

    def stop(self) -> None:
        """End it: no model is waited for any more."""
        self._enough.set()
        self._thread.join(LETS_GO)
