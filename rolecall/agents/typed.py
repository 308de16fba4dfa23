"""A question to a sidecar that is answered by one JSON object, on the record like every other call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rolecall.agents.calls import Desk, read_round
from rolecall.errors import ModelSettings
from rolecall.models.chain import Chain, Models
from rolecall.models.events import Answered, Event, TextDelta, Used
from rolecall.models.messages import Request
from rolecall.models.provider import Profile


@dataclass(frozen=True, slots=True)
class Typed:
    """The object that was given, of the shape that was asked for, and the spec of the model that gave it."""

    value: dict[str, Any]
    spec: str


def helpers_of(chain: Chain | None) -> Chain | None:
    """The chain without the models that are too small for a helper's work; None when nobody is left, by choice.

    A model whose settings are wrong stays, so that its fault is told when it is asked.
    """
    if chain is None:
        return None
    good = [spec for spec in chain.specs if _is_helper(chain, spec)]
    return Chain(good, chain.limits, chain.models, chain.role) if good or not chain.specs else None


def _is_helper(chain: Chain, spec: Any) -> bool:
    try:
        return chain.models.provider(spec, chain.role).profile.helpers
    except ModelSettings:
        return True


def ask(
    desk: Desk, layer: str, chain: Chain, make_request: Callable[[Profile], Request], *, seconds: float | None = None
) -> Typed:
    """Ask for an object of the request's `answer_schema`, within so many seconds for the whole chain.

    Raises ModelError when no model gave one. What was paid for and taken back before is not asked for again.
    """
    given = read_round(list(desk.stream(layer, _Whole(chain, seconds), make_request)))  # type: ignore[arg-type]
    return Typed(json.loads(given.text), given.spec)


class _Whole:
    """A chain as the desk knows it, whose answer is heard, checked and handed on as a whole."""

    def __init__(self, chain: Chain, seconds: float | None) -> None:
        self._chain, self._seconds = chain, seconds

    @property
    def models(self) -> Models:
        """What the chains of the process share."""
        return self._chain.models

    def profile(self) -> Profile | None:
        """The profile of the model that would be asked first."""
        return self._chain.profile()

    def stream(
        self, make_request: Callable[[Profile], Request], *, prefer: str | None = None, **_: bool
    ) -> Iterator[Event]:
        """The events of the answer; its text is the object alone, without the words and fences some models put around."""
        answer = self._chain.typed(make_request, prefer=prefer, within=self._seconds)
        yield from answer.skipped
        yield Answered(answer.spec)
        yield TextDelta(json.dumps(answer.value, ensure_ascii=False))
        yield Used(answer.usage)
        yield answer.stop
