"""A model behind an SDK: the frame both adapters share, from the key to the hanging up."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from rolecall.errors import ModelError

from .events import Event
from .faults import check_key
from .messages import Request
from .provider import Limits, Profile, Stop, timed
from .specs import ENDPOINTS, Spec
from .wire import Talk, Wire, quiet_timeout

LISTED = 3.0  # seconds an endpoint has to list its models


class Remote(ABC):
    """One model of one endpoint. An adapter says how its SDK is made and asked, and what an endpoint may not know.

    `unknown` are the parts of a request that some model or endpoint refuses, each with a pattern of the refusal's words;
    `refusing` the statuses of such refusals. What was refused once is left out from then on (`dropped`).
    """

    unknown: ClassVar[Mapping[str, str]] = {}
    refusing: ClassVar[tuple[int, ...]] = (400, 422)

    def __init__(self, spec: Spec, environ: Mapping[str, str], *, free: bool = False) -> None:
        self.profile = Profile(str(spec), free=free)
        self.spec = spec
        self.key = check_key(spec, environ)
        self.endpoint = ENDPOINTS[spec.provider]
        self.url = self.endpoint.base_url(environ)
        self.dropped: set[str] = set()
        self._wire = Wire(spec, environ, self.client)

    def check(self) -> str:
        """Nothing if the endpoint lists its models for this key, else what is wrong."""
        try:
            return self.listed(self._wire.call(lambda sdk: sdk.models.list(timeout=LISTED)))
        except ModelError as error:
            return str(error)

    def stream(self, request: Request, limits: Limits) -> Iterator[Event]:
        """The answer as it comes. See `provider.Provider`."""
        return timed(str(self.spec), lambda stop: self._events(request, limits, stop), limits)

    def close(self) -> None:
        """Close the connections kept open between calls."""
        self._wire.close()

    def _events(self, request: Request, limits: Limits, stop: Stop) -> Iterator[Event | None]:
        return self._wire.talk(stop, lambda sdk: self.ask(sdk, request, quiet_timeout(limits)), self._adapt)

    def _adapt(self, status: int, text: str) -> bool:
        """Leave out what this model or endpoint does not know, found by the refusal's own words; once each."""
        if status in self.refusing:
            for name, pattern in self.unknown.items():
                if name not in self.dropped and re.search(pattern, text):
                    self.dropped.add(name)
                    return True
        return False

    @abstractmethod
    def prepare(self) -> None:
        """Import the SDK, which takes half a second or more, before the clock runs."""

    @abstractmethod
    def client(self, http: Any) -> Any:
        """The SDK's client over this HTTP client, without retries of its own."""

    @abstractmethod
    def ask(self, sdk: Any, request: Request, timeout: Any) -> Talk:
        """Ask once: yields events, returns the last ones, raises what the SDK raises."""

    def listed(self, models: Any) -> str:
        """What is wrong by the endpoint's list of models; nothing if it will do."""
        return ""
