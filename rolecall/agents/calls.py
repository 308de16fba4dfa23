"""Model calls on the record: the request and every event are in the turn's record before anything comes of them.

An answer that was paid for in an attempt that a crash or a cut took back is not asked for again: when a request is
the same to the byte, the saved answer is given once more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rolecall.agents.purse import Purse
from rolecall.campaign.records import Asked, Call, Record
from rolecall.models import events, messages, tokens
from rolecall.models.chain import Chain
from rolecall.models.events import Answered, Event, Skipped, Stopped, TextDelta, ToolCalled, Used
from rolecall.models.messages import Request, ToolCall
from rolecall.models.provider import Profile
from rolecall.models.usage import Usage


@dataclass(frozen=True, slots=True)
class Round:
    """One whole answer: its text, its tool calls, why it stopped, who gave it."""

    text: str
    calls: tuple[ToolCall, ...]
    stop: Stopped
    spec: str


def read_round(given: list[Event]) -> Round:
    """The events of one answer, put together; a stream without an end counts as cut."""
    text = "".join(e.text for e in given if isinstance(e, TextDelta))
    calls = tuple(e.call for e in given if isinstance(e, ToolCalled))
    stop = next((e for e in reversed(given) if isinstance(e, Stopped)), Stopped("cut", "no end"))
    spec = next((e.spec for e in given if isinstance(e, Answered)), "")
    return Round(text, calls, stop, spec)


def saved_events(call: Call) -> list[Event]:
    """The events of a recorded call."""
    return [events.decode(event) for event in call.events]


def _learn(chain: Chain, saved: Call) -> None:
    """Teach the estimate what the saved answer reported, as when it was given: the next prompt must be the same again."""
    spec = next((e["spec"] for e in saved.events if e["type"] == "answered"), "")
    for event in saved_events(saved):
        if isinstance(event, Used) and spec and not event.usage.estimated:
            estimated = tokens.estimate_request(messages.decode(saved.request))
            chain.models.correction.learn(spec, estimated, event.usage.prompt)


@dataclass(slots=True)
class Desk:
    """Where a turn's model calls are made and written down: their usage by layer, and who was skipped.

    Helpers may call `stream` side by side, each in its own thread. `lock` guards what they share, never while a model is
    waited for; desks that share these fields share the lock as well.
    """

    record: Record | None
    paid: dict[str, Call] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    skipped: list[tuple[str, Skipped]] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    purse: Purse = field(default_factory=Purse)

    def stream(
        self,
        layer: str,
        chain: Chain,
        make_request: Callable[[Profile], Request],
        *,
        prefer: str | None = None,
        may_be_blank: bool = False,
        whole: bool = False,
    ) -> Iterator[Event]:
        """The events of one call, each noted before it is handed on.

        `may_be_blank`: silence is no failure here. `whole`: only an answer that came to its end, and is no refusal, is
        handed on; where one breaks off, the next model is asked.
        Raises OverCeiling where the purse has nothing left for this layer, and what the chain raises.
        """
        if saved := self._paid_for(chain, make_request):
            _learn(chain, saved)
            asked = self._saved_aside(layer, lambda: (saved.digest, saved.request), again=True)
            yield from self._noted(layer, asked, iter(saved_events(saved)), again=True)
            return
        with self.lock:
            self.purse.admit(layer)
        asked = []

        def build(profile: Profile) -> Request:
            request = make_request(profile)
            asked.extend(self._saved_aside(layer, lambda: (messages.digest(request), messages.encode(request))))
            return request

        source = chain.stream(build, prefer=prefer, may_be_blank=may_be_blank, whole=whole)
        try:
            yield from self._noted(layer, asked, source)
        finally:
            source.close()

    def _saved_aside(self, layer: str, made: Callable[[], tuple[str, dict]], *, again: bool = False) -> list[Asked]:
        """The request on its way to the disk, beside the model that is asked; nothing where nothing is recorded."""
        return [] if self.record is None else [Asked(self.record, layer, made, again=again)]

    def pass_over(self, layer: str, spec: str, reason: str) -> None:
        """Note a model that answered and was of no use."""
        with self.lock:
            self.skipped.append((layer, Skipped(spec, reason)))

    def _paid_for(self, chain: Chain, make_request: Callable[[Profile], Request]) -> Call | None:
        profile = chain.profile() if self.paid else None
        if not profile:
            return None
        digest = messages.digest(make_request(profile))
        with self.lock:  # one paid answer is given once, whoever asks for it
            return self.paid.pop(digest, None)

    def _noted(
        self, layer: str, asked: list[Asked], source: Iterator[Event], *, again: bool = False
    ) -> Iterator[Event]:
        """`asked` is the call under way, once there is one; `again`: an earlier attempt paid for it, it costs nothing now."""
        log = None
        over = False
        try:
            for event in source:
                if isinstance(event, Skipped):
                    _dropped(asked)
                    with self.lock:
                        self.skipped.append((layer, event))
                    yield event
                    continue
                if log is None and asked:
                    with self.lock:  # the number of a call is taken from the record
                        log = asked[-1].opened()
                    asked.pop()
                if log is not None:
                    log.add(events.encode(event))
                self._count(layer, event, again)
                over = isinstance(event, Stopped)
                yield event
        finally:
            _dropped(asked)
            if log is not None:
                if not over:
                    log.add(events.encode(Stopped("cut", "interrupted")))
                log.close()

    def _count(self, layer: str, event: Event, again: bool) -> None:
        with self.lock:
            if isinstance(event, Used):
                self.usage[layer] = self.usage.get(layer, Usage()) + event.usage
                if not again:
                    self.purse.count(layer, self.models.get(layer, ""), event.usage)
            elif isinstance(event, Answered):
                self.models[layer] = event.spec


def _dropped(asked: list[Asked]) -> None:
    """A model that was asked gave no answer: its request goes again."""
    while asked:
        asked.pop().drop()
