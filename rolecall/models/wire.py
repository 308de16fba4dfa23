"""What both SDKs have in common: connections that can be hung up at once, one bounded retry, faults told plainly.

The SDKs wait for a server as long as it likes (a `Retry-After` of days is honoured by one of them) and cannot be stopped
from another thread. So their own retries are off, and every call has an HTTP client of its own for as long as it runs,
whose sockets are known and can be shut down.
"""

from __future__ import annotations

import random
import re
import struct
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from rolecall.errors import ModelError, ModelSettings

from .events import Event
from .faults import BUSY, from_status, scrub, secrets_of, shown, unavailable
from .provider import Limits, Stop
from .specs import ENDPOINTS, Spec

# The longest wait a server may ask for before its one retry, in seconds; one that asks for more is left alone.
PATIENCE = 5.0
# The wait when it does not say, in seconds (less up to a quarter, so that several callers do not come back together).
PAUSE = 0.5

# What a model thinks counts towards the tokens it may write; with those that think, so many are added for it.
THINKING_ROOM = 4000
# Said to a model that is to go on from its own words: newer ones refuse a conversation that ends with theirs.
GO_ON = "Go on exactly where you stopped."

# Closing a socket says so at once (RST), instead of waiting until the other side has room to say more: `struct linger`.
_AT_ONCE = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)

Talk = Generator[Event | None, None, list[Event]]


class Line:
    """An HTTP client for one call at a time, and the SDK client that speaks through it."""

    def __init__(self, make_sdk: Callable[[Any], Any]) -> None:
        import httpx2

        self._sockets: list[Any] = []
        self._down = False
        self._place: tuple[str, bytes] | None = None
        # A proxy in the environment is for the world outside, never for a server on this machine.
        direct = dict.fromkeys(("all://127.0.0.1", "all://localhost", "all://[::1]"))
        hooks = {"request": [self._watch]}
        self._http = httpx2.Client(event_hooks=hooks, mounts=direct, follow_redirects=True)
        self.sdk = make_sdk(self._http)

    def _watch(self, request: Any) -> None:
        # A redirect to another server takes `Authorization` off by itself, but knows nothing of Anthropic's header.
        place = request.url.scheme, request.url.netloc
        self._place = self._place or place
        if place != self._place:
            request.headers.pop("x-api-key", None)
        request.extensions = {**request.extensions, "trace": self._trace}

    def _trace(self, name: str, info: Mapping[str, Any]) -> None:
        # With TLS the first socket is replaced by a second that wraps it; both are kept and the dead one ignored.
        if name.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            if self._down:
                self.hang_up()

    def hang_up(self) -> None:
        """Shut the connection down, whoever is reading from it. The server is told so even where it fills a full buffer."""
        import socket

        self._down = True
        for one in self._sockets:
            with suppress(OSError, AttributeError):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give everything back to the system."""
        self._http.close()


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How one attempt ended: its last events, or the SDK's error, and whether anything was said before."""

    last: list[Event] | None
    error: Exception | None
    spoken: bool


class Wire:
    """The calls of one model: lines kept open between calls, retries, and errors turned into ours."""

    def __init__(self, spec: Spec, environ: Mapping[str, str], make_sdk: Callable[[Any], Any]) -> None:
        self._spec = spec
        self._secrets = secrets_of(environ)
        self.url = ENDPOINTS[spec.provider].base_url(environ)
        self._make_sdk = make_sdk
        self._free: list[Line] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _close_all, self._free)

    def close(self) -> None:
        """Close the connections kept open between calls."""
        with self._lock:
            _close_all(self._free)

    def talk(self, stop: Stop, ask: Callable[[Any], Talk], adapt: Callable[[int, str], bool]) -> Iterator[Event | None]:
        """One call. `ask` is given an SDK client, yields events, and returns the last ones.

        `adapt` is told of a refused request (status, message) and says whether it changed what will be sent, so that
        asking again at once is worth it. What is busy is asked once more after a pause. Both only before the first
        event. Raises `ModelSettings` or `ModelUnavailable`.
        """
        retried = False
        while True:
            outcome = yield from self._once(stop, ask)
            if outcome.last is not None:
                yield from outcome.last
                return
            error = outcome.error
            fault = self.fault(error)
            if outcome.spoken or stop.said:
                raise fault
            if isinstance(fault, ModelSettings) and adapt(_status(error), str(fault)):
                continue
            pause = None if retried else _pause(error)
            if pause is None or stop.wait(pause):
                # Not inside an except block: the SDK's error holds the request, and the request the key.
                raise fault
            retried = True

    def _once(self, stop: Stop, ask: Callable[[Any], Talk]) -> Generator[Event | None, None, _Outcome]:
        line, last, failure, spoken = None, None, None, False
        try:
            line = self._take()
            stop.hook(line.hang_up)
            talk = ask(line.sdk)
            try:
                while True:
                    event = next(talk)
                    spoken = True
                    yield event
            except StopIteration as end:
                last = end.value
        except Exception as error:
            failure = error
        finally:
            if line is not None:
                stop.unhook(line.hang_up)
                self._put_back(line, whole=last is not None and not stop.said)
        return _Outcome(last, failure, spoken)

    def call(self, ask: Callable[[Any], Any]) -> Any:
        """A short question without a stream (which models are there). Raises as `talk` does, without a retry."""
        failure: Exception | None = None
        line = None
        try:
            line = self._take()
            return ask(line.sdk)
        except Exception as error:
            failure = error
        finally:
            if line is not None:
                self._put_back(line, whole=failure is None)
        raise self.fault(failure)

    def _take(self) -> Line:
        with self._lock:
            if self._free:
                return self._free.pop()
        return Line(self._make_sdk)

    def _put_back(self, line: Line, whole: bool) -> None:
        if whole:
            with self._lock:
                self._free.append(line)
        else:
            line.close()

    def fault(self, error: Exception | None) -> ModelError:
        """Our error for one of an SDK's or of the HTTP client's, in one line and without a key."""
        if isinstance(error, ModelError):
            return error
        names = {kind.__name__ for one in (error, error and error.__cause__) for kind in type(one).__mro__}
        status = _status(error)
        if status:
            said = scrub(_said(error), self._secrets)
            return from_status(self._spec, status, said, wait=_wait(error), kind=str(getattr(error, "type", "") or ""))
        where = shown(self.url, self._secrets)
        if names & {"InvalidURL", "UnsupportedProtocol", "LocalProtocolError"}:
            variable = ENDPOINTS[self._spec.provider].url_variable
            return ModelSettings(f"{self._spec} cannot be asked at {where!r}", remedy=f"check {variable}")
        if names & {"APITimeoutError", "TimeoutException"}:
            return unavailable(self._spec, "did not answer in time")
        if names & {"APIConnectionError", "ConnectError"}:
            why = re.sub(r"^\[Errno -?\d+\] ", "", scrub(str(error.__cause__ or error), self._secrets))  # type: ignore[union-attr]
            variable = ENDPOINTS[self._spec.provider].url_variable
            return unavailable(
                self._spec, f"cannot be reached at {where} ({why})", remedy=f"is it running? see {variable}"
            )
        if names & {"APIError"}:  # an error told inside a stream
            return unavailable(self._spec, f"failed: {scrub(_said(error), self._secrets)}")
        if names & {"HTTPError", "StreamError"}:
            return unavailable(self._spec, f"broke off ({scrub(str(error), self._secrets)})")
        return unavailable(self._spec, f"sent what cannot be read ({scrub(str(error), self._secrets)})")


def _close_all(lines: list[Line]) -> None:
    while lines:
        lines.pop().close()


def quiet_timeout(limits: Limits) -> Any:
    """The HTTP client's own time-outs: a second line behind ours, for a worker nobody waits for any more."""
    import httpx2

    return httpx2.Timeout(max(limits.first, limits.between) + 1, connect=min(limits.first, 10.0) + 0.1)


def _status(error: Any) -> int:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else 0


def _said(error: Any) -> str:
    """The endpoint's own message in an error's body, in whichever of the usual places it stands."""
    body = getattr(error, "body", None)
    for _ in range(3):
        if isinstance(body, list) and body:  # Google wraps it in a list
            body = body[0]
        if not isinstance(body, dict):
            break
        inner = body.get("error")
        if isinstance(inner, dict | str):
            body = inner
        elif isinstance(body.get("message"), str):
            body = body["message"]
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body
    return str(getattr(error, "message", ""))


def _wait(error: Any) -> float | None:
    """How many seconds the answer's headers ask to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with suppress(TypeError, ValueError):
            seconds = float(headers.get(name)) / unit
            return seconds if 0 <= seconds < float("inf") else None
    with suppress(TypeError, ValueError):
        return max(0.0, parsedate_to_datetime(headers.get("retry-after")).timestamp() - time.time())
    return None


def _pause(error: Any) -> float | None:
    """How long to wait before the one retry, or None if it is not worth one."""
    status = _status(error)
    if status not in BUSY or (getattr(error, "response", None) or error).headers.get("x-should-retry") == "false":
        return None
    wait = _wait(error)
    if wait is not None:
        return wait if wait <= PATIENCE else None
    return PAUSE * (1 - random.random() / 4)
