"""Which models failed lately, so that a chain need not find out again every turn. Kept in this process.

Failures count for a role: a helper that gave a model five seconds must not send the narrator, who would have waited a
minute, to a lesser one. Only what new settings alone can mend (a wrong key) counts for all.
"""

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
        self._failures: dict[tuple[str, str], _Failure] = {}
        self._told: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def cooling(self, spec: str, role: str) -> str:
        """Why this model is left alone by this role now, in one line; nothing if it is not."""
        with self._lock:
            for key in ((spec, ""), (spec, role)):
                failure = self._failures.get(key)
                if failure and self._clock() < failure.until:
                    return failure.reason
        return ""

    def lasting(self, spec: str) -> bool:
        """Whether only other settings can mend it (a wrong key, a name that does not exist)."""
        with self._lock:
            return (spec, "") in self._failures

    def failed(self, spec: str, role: str, error: ModelError) -> None:
        """It failed in this role. What is about one request (a refusal, a wrong shape) cools nothing down."""
        if getattr(error, "passing", False):
            return
        with self._lock:
            if isinstance(error, ModelSettings):
                if getattr(error, "lasting", False):
                    self._failures[spec, ""] = _Failure(str(error), float("inf"), 1)
                return
            old = self._failures.get((spec, role))
            count = old.count + 1 if old else 1
            pause = COOL_DOWN[min(count, len(COOL_DOWN)) - 1]
            until = self._clock() + min(max(pause, getattr(error, "wait", None) or 0.0), LONGEST)
            self._failures[spec, role] = _Failure(str(error), until, count)

    def answered(self, spec: str, role: str) -> None:
        """It answered: all is forgiven."""
        with self._lock:
            self._failures.pop((spec, role), None)
            self._failures.pop((spec, ""), None)

    def tell(self, spec: str, reason: str) -> bool:
        """Whether this fault of the settings is still to be told; true once."""
        with self._lock:
            if (spec, reason) in self._told:
                return False
            self._told.add((spec, reason))
            return True
