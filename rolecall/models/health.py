"""Which models failed lately, so that a chain need not find out again every turn. Kept in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from rolecall.errors import ModelError, ModelSettings

# Seconds a model is left alone after its first failure in a row, its second, and so on.
COOL_DOWN = (15.0, 60.0, 300.0)
# The longest an endpoint's own wish to be left alone is believed.
LONGEST = 600.0


@dataclass(frozen=True, slots=True)
class _Failure:
    reason: str
    until: float  # on the clock; infinite for what only new settings can mend
    count: int


class Health:
    """The failures of all models of a process; shared by its chains. `clock` counts seconds and never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, _Failure] = {}
        self._told: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def cooling(self, spec: str) -> str:
        """Why this model is left alone now, in one line; nothing if it is not."""
        with self._lock:
            failure = self._failures.get(spec)
            return failure.reason if failure and self._clock() < failure.until else ""

    def lasting(self, spec: str) -> bool:
        """Whether only other settings can mend it (a wrong key, a name that does not exist)."""
        with self._lock:
            failure = self._failures.get(spec)
            return failure is not None and failure.until == float("inf")

    def failed(self, spec: str, error: ModelError) -> None:
        """It failed. What is about this one request (a refusal, a fault of the request) cools nothing down."""
        if getattr(error, "passing", False):
            return
        with self._lock:
            old = self._failures.get(spec)
            count = old.count + 1 if old else 1
            if isinstance(error, ModelSettings):
                if not getattr(error, "lasting", False):
                    return
                until = float("inf")
            else:
                pause = COOL_DOWN[min(count, len(COOL_DOWN)) - 1]
                until = self._clock() + min(max(pause, getattr(error, "wait", None) or 0.0), LONGEST)
            self._failures[spec] = _Failure(str(error), until, count)

    def answered(self, spec: str) -> None:
        """It answered: all is forgiven."""
        with self._lock:
            self._failures.pop(spec, None)

    def tell(self, spec: str, reason: str) -> bool:
        """Whether this fault of the settings is still to be told; true once."""
        with self._lock:
            if (spec, reason) in self._told:
                return False
            self._told.add((spec, reason))
            return True
