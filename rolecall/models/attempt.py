"""One model asked once: blank answers and breaks told apart, and usage estimated where none was reported."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rolecall.errors import ModelUnavailable

from . import tokens
from .calls import MOST
from .events import Answered, Event, Stopped, TextDelta, ToolCalled, Used
from .faults import declined, passing, unavailable
from .messages import Request, ToolCall
from .specs import Spec
from .usage import Usage

# No answer is longer than this, whatever its server sends: characters in all, or for each token it may write, whichever
# is more. Eight are twice what a token of English has, so that no honest model is cut.
LEAST, EACH_TOKEN = 16_000, 8


class Attempt:
    """The course of one answer. With `may_be_blank` saying nothing is an answer too.

    An answer that goes on beyond all measure is stopped there, as if it had reached its own limit.
    """

    def __init__(self, spec: Spec, request: Request, may_be_blank: bool) -> None:
        self._spec, self._request, self._may_be_blank = spec, request, may_be_blank
        self._text: list[str] = []
        self._room = max(LEAST, EACH_TOKEN * request.max_tokens)
        self._calls: list[ToolCall] = []
        self._used = False
        self._spoken = False

    def run(self, events: Iterator[Event], whole: bool) -> Iterator[Event]:
        """The model's events, from the first visible one on after `Answered`. Raises before it, never after."""
        held: list[Event] = []
        try:
            for event in events:
                if isinstance(event, Stopped):
                    if not self._spoken and self._may_be_blank and event.reason in ("end", "stop_sequence"):
                        yield from self._begin([one for one in held if isinstance(one, Used)])
                    yield from self._end(event)
                    return
                held.append(event)
                if self._note(event):
                    yield from self._begin(held)
                    held = []
                if self._room < 0 or len(self._calls) >= MOST:
                    yield from self._end(Stopped("max_tokens", "it went on and on"))
                    return
            raise unavailable(self._spec, "ended without a word" if not self._spoken else "broke off")
        except ModelUnavailable as error:
            if whole or not self._spoken:
                raise
            yield from held
            yield from self._end(Stopped("cut", str(error)))
        finally:
            events.close()  # type: ignore[attr-defined]

    def _note(self, event: Event) -> bool:
        """Keep count; true when what is held back may be shown (all after the first visible token)."""
        match event:
            case TextDelta(text):
                self._text.append(text)
                self._room -= len(text)
                return self._spoken or bool(text.strip())
            case ToolCalled(call):
                self._calls.append(call)
                return True
            case Used():
                self._used = True
        return self._spoken

    def _begin(self, held: list[Event]) -> Iterator[Event]:
        if not self._spoken:
            self._spoken = True
            yield Answered(str(self._spec))
        yield from held

    def _end(self, stop: Stopped) -> Iterator[Event]:
        if not self._spoken:
            raise self._blank(stop)
        if not self._used:
            out = tokens.estimate("".join(self._text)) + sum(
                tokens.estimate(json.dumps(call.arguments, ensure_ascii=False)) for call in self._calls
            )
            fresh = tokens.estimate_request(self._request)
            yield Used(Usage(fresh=fresh, out=out, model=self._spec.name, estimated=True))
        yield stop

    def _blank(self, stop: Stopped) -> ModelUnavailable:
        if stop.reason == "refusal":
            return declined(self._spec, stop.raw)
        said = {
            "max_tokens": "used all its tokens before the first word",
            "context_full": "has no room for this prompt",
        }.get(stop.reason, "gave a blank answer")
        return passing(self._spec, said + (f" ({stop.raw})" if stop.raw else ""))
