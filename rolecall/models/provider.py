"""What a model is to the rest of RoleCall: a profile, and a stream of events within time limits."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from rolecall.errors import Enough

from .events import Event
from .faults import late
from .messages import Request
from .specs import Spec


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds a model may take: to its first event, between two events, and in all."""

    first: float
    between: float
    total: float

    def within(self, seconds: float) -> Limits:
        """These limits, none longer than so many seconds."""
        return Limits(min(self.first, seconds), min(self.between, seconds), min(self.total, seconds))


@dataclass(frozen=True, slots=True)
class Profile:
    """What a model can do, known before it is asked, so that a request can be made to its measure.

    `tools`: it takes tools. `budget`: tokens its prompt may have, or None for as many as the campaign allows. `helpers`: it
    is good enough for the helper layers; where not, they use their model-free forms. `free`: it runs on this machine and
    costs nothing.
    """

    spec: str
    tools: bool = True
    budget: int | None = None
    helpers: bool = True
    free: bool = False


class Provider(Protocol):
    """One model, ready to be asked any number of times, from several threads."""

    profile: Profile

    def prepare(self) -> None:
        """Whatever must be there before the clock runs: a download, weights read into memory. May take long."""
        ...

    def stream(self, request: Request, limits: Limits) -> Iterator[Event]:
        """Text and tool calls as they come, what was used, and `Stopped` last.

        Raises `ModelSettings` or `ModelUnavailable`. Closing the iterator ends the call at once.
        """
        ...

    def check(self) -> str:
        """Nothing if the model would answer now, else in one line what is missing. Takes a few seconds at most."""
        ...

    def close(self) -> None:
        """Give connections back. The provider may still be asked: it opens them again."""
        ...


class Ready:
    """What a provider has that answers out of a file, read when it was opened: it needs nothing before it is asked."""

    def prepare(self) -> None:
        """Nothing to do."""

    def check(self) -> str:
        """Nothing is missing."""
        return ""

    def close(self) -> None:
        """Nothing to do."""


class Stop:
    """Says "enough" to a worker. `hook` runs once, when it is said, or at once if it was said already."""

    def __init__(self) -> None:
        self._said = threading.Event()
        self._lock = threading.Lock()
        self._hooks: list[Callable[[], None]] = []

    @property
    def said(self) -> bool:
        """Whether it was said."""
        return self._said.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait so long or until it is said; true if it was."""
        return self._said.wait(seconds)

    def hook(self, action: Callable[[], None]) -> None:
        """Run this when it is said."""
        with self._lock:
            if not self._said.is_set():
                self._hooks.append(action)
                return
        action()

    def unhook(self, action: Callable[[], None]) -> None:
        """No longer run this."""
        with self._lock, suppress(ValueError):
            self._hooks.remove(action)

    def say(self) -> None:
        """Enough."""
        with self._lock:
            self._said.set()
            hooks, self._hooks = self._hooks, []
        for action in hooks:
            action()


_END, _ALIVE = object(), object()
SLICE = 0.25  # seconds of a wait after which it is asked whether to wait on
_enough: ContextVar[threading.Event | None] = ContextVar("enough", default=None)


@contextmanager
def until(enough: threading.Event) -> Iterator[None]:
    """Within this, in this thread, the wait for a model ends soon after `enough` is set, with `Enough`."""
    token = _enough.set(enough)
    try:
        yield
    finally:
        _enough.reset(token)


def timed(spec: str, start: Callable[[Stop], Iterator[Event | None]], limits: Limits) -> Iterator[Event]:
    """Run a blocking stream in a thread of its own and hand on its events within the limits.

    The stream may yield None for a piece that shows nothing but counts as a sign of life (a fragment of a tool call).

    An SDK's own time-outs do not cover name look-ups, retries or a server that sends a byte a minute; these do. When
    a limit passes, or the iterator is closed (Ctrl-C included), the worker's `Stop` is said and nobody waits for it.
    Raises `ModelUnavailable` naming the limit.
    """
    events: queue.SimpleQueue[object] = queue.SimpleQueue()
    stop = Stop()

    def work() -> None:
        try:
            for event in start(stop):
                if time.monotonic() > begun + limits.total:  # of the model's time: a slow reader takes none of it
                    raise late(spec, limits.total, "in all")
                events.put(_ALIVE if event is None else event)
                if stop.said:
                    return
            events.put(_END)
        except BaseException as error:
            events.put(error)

    begun = time.monotonic()
    threading.Thread(target=work, name=f"model {spec}", daemon=True).start()
    deadline, waited = begun + limits.first, (limits.first, "to begin")
    try:
        while True:
            item = _next(events, min(deadline, begun + limits.total))
            if item is None:
                over = time.monotonic() >= begun + limits.total
                seconds, what = (limits.total, "in all") if over else waited
                raise late(spec, seconds, what)
            if item is _END:
                return
            if isinstance(item, BaseException):
                raise item
            if item is not _ALIVE:
                yield item  # type: ignore[misc]
            deadline, waited = time.monotonic() + limits.between, (limits.between, "between two pieces")
    finally:
        stop.say()


def _next(events: queue.SimpleQueue[object], deadline: float) -> object | None:
    """The next item, or None at the deadline; raises `Enough` when the wait is ended from outside.

    Waits in slices: on Windows a wait cannot be interrupted by Ctrl-C.
    """
    enough = _enough.get()
    while True:
        if enough is not None and enough.is_set():
            raise Enough("the wait was ended")
        left = deadline - time.monotonic()
        try:
            return events.get(timeout=max(min(left, SLICE), 0.0)) if left > 0 else events.get_nowait()
        except queue.Empty:
            if left <= 0:
                return None


def open_provider(spec: Spec, environ: Mapping[str, str], role: str = "") -> Provider:
    """The provider for a spec. Raises `ModelSettings` (no key, no such file, engine not installed).

    Importing an SDK waits until the provider is first asked.
    """
    if spec.provider == "scripted":
        from .scripted import Scripted

        return Scripted(spec, role)
    if spec.provider == "record":
        from .recorded import Recorded

        return Recorded(spec, role)
    if spec.provider in ("local", "gguf"):
        from .embedded import Embedded

        return Embedded(spec)
    if spec.provider == "anthropic":
        from .anthropic_sdk import Anthropic

        return Anthropic(spec, environ)
    from .openai_sdk import OpenAI

    return OpenAI(spec, environ)
