"""The fallback chain: several models for one role, asked in order until one speaks.

It falls back on every failure, blank answers included, and only before the first visible token or tool call. After
it, a broken stream ends with `Stopped("cut")`; the caller may ask the same model once more to go on (`prefer=spec`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from rolecall.errors import ModelError, ModelSettings, ModelUnavailable, NoModel

from . import schemas, tokens
from . import specs as specs_
from .attempt import Attempt
from .events import Answered, Event, Skipped, Stopped, TextDelta, ToolCalled, Used
from .faults import declined, passing
from .health import Health
from .messages import Request, ToolCall
from .provider import Limits, Profile, Provider, open_provider
from .specs import Spec
from .usage import Usage

MakeRequest = Callable[[Profile], Request]


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: its text, tool calls, usage, stop, and the model that gave it.

    `skipped` are the models that failed before. `value` is the object that was asked for, with `Chain.typed`.
    """

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    stop: Stopped
    spec: str
    skipped: tuple[Skipped, ...] = ()
    value: dict[str, Any] | None = None


@dataclass(slots=True)
class Models:
    """What the chains of a process share: the environment, open providers, health, and corrections of the estimate."""

    environ: Mapping[str, str]
    health: Health = field(default_factory=Health)
    correction: tokens.Correction = field(default_factory=tokens.Correction)
    _open: dict[tuple[str, str], Provider] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def provider(self, spec: Spec, role: str) -> Provider:
        """The provider for a spec, opened once. Raises `ModelSettings`."""
        key = (str(spec), role if spec.provider in ("scripted", "record") else "")
        with self._lock:
            if key not in self._open:
                self._open[key] = open_provider(spec, self.environ, role)
            return self._open[key]

    def close(self) -> None:
        """Close every provider's connections; they open again when next asked."""
        with self._lock:
            for provider in self._open.values():
                provider.close()


class Chain:
    """The models of one role, in the order they are asked.

    `limits` bind each model of the chain on its own. Several chains share one `Models`, so that what failed for one
    role is left alone by all. May be used from several threads.
    """

    def __init__(self, specs: Sequence[str | Spec], limits: Limits, models: Models, role: str = "") -> None:
        self.specs: tuple[Spec, ...] = tuple(specs_.parse(s) if isinstance(s, str) else s for s in specs)
        self.limits = limits
        self.models = models
        self.role = role

    def without(self, spec: str) -> Chain:
        """The chain without this model; what the models share stays shared."""
        return Chain([one for one in self.specs if str(one) != spec], self.limits, self.models, self.role)

    def profile(self) -> Profile | None:
        """The profile of the model that would be asked first now, as far as its settings are in order."""
        for spec in self._order(None)[0]:
            try:
                return self.models.provider(spec, self.role).profile
            except ModelSettings:
                continue
        return None

    def warm(self) -> None:
        """Begin in the background what the first model needs before it can be asked: an import, weights to be read.

        It takes half a second and more, which other work can use. Nothing is fetched, and no fault is told here.
        """

        def work() -> None:
            with suppress(ModelError):
                provider = self.models.provider(spec, self.role)
                if spec.provider in specs_.ENDPOINTS or not provider.check():
                    provider.prepare()

        for spec in self._order(None)[0][:1]:
            threading.Thread(target=work, name=f"warm {spec}", daemon=True).start()

    def stream(
        self,
        make_request: MakeRequest,
        *,
        prefer: str | None = None,
        within: float | None = None,
        may_be_blank: bool = False,
        whole: bool = False,
    ) -> Iterator[Event]:
        """Ask until one speaks, and hand on what it says as it comes; with `whole` only what was said to its end.

        `make_request` is called with the profile of each model that is asked. `prefer` is asked first, cooling or not.
        `within` bounds the whole chain, in seconds. With `may_be_blank` saying nothing is an answer too: after its tool
        calls a model that has told its story often has nothing to add. Raises `NoModel` if none spoke, or `ModelSettings` if the only
        fault is one of the settings. The last event is always `Stopped`.
        """
        return self._run(make_request, prefer, within, whole=whole, may_be_blank=may_be_blank)

    def answer(self, make_request: MakeRequest, *, prefer: str | None = None, within: float | None = None) -> Answer:
        """The whole answer at once. As nobody has seen it yet, a broken stream falls back like any other failure."""
        return self._collect(self._run(make_request, prefer, within, whole=True))

    def typed(self, make_request: MakeRequest, *, prefer: str | None = None, within: float | None = None) -> Answer:
        """An answer whose `value` is an object of the request's `answer_schema`.

        An answer that is no JSON, or not of that shape, is a failure like any other: the next model is asked.
        """
        values: list[dict[str, Any]] = []
        answer = self._collect(self._run(make_request, prefer, within, whole=True, values=values))
        return replace(answer, value=values[-1])

    def _order(self, prefer: str | None) -> tuple[list[Spec], list[Spec]]:
        """Whom to ask, in order, and whom not to ask at all.

        Those that failed lately come last, to be asked only if no other speaks; those that only other settings can
        mend are left out, unless there is nobody else.
        """
        health = self.models.health
        first = [spec for spec in self.specs if str(spec) == prefer]
        rest = [spec for spec in self.specs if str(spec) != prefer]
        broken = [spec for spec in rest if health.lasting(str(spec))]
        cooling = [spec for spec in rest if spec not in broken and health.cooling(str(spec), self.role)]
        well = [spec for spec in rest if spec not in broken and spec not in cooling]
        order = first + well + cooling
        return (order, broken) if order else (broken, [])

    def _run(
        self,
        make_request: MakeRequest,
        prefer: str | None,
        within: float | None,
        *,
        whole: bool,
        values: list[dict[str, Any]] | None = None,
        may_be_blank: bool = False,
    ) -> Iterator[Event]:
        if not self.specs:
            raise NoModel(f"no model for {self.role or 'this'}", remedy="name one in rolecall.yaml or with --model")
        deadline = None if within is None else time.monotonic() + within
        health = self.models.health
        order, broken = self._order(prefer)
        faults: list[ModelError] = [ModelSettings(health.cooling(str(spec), self.role)) for spec in broken]
        for spec in self.specs[: self.specs.index(order[0])]:
            if spec not in broken and (reason := health.cooling(str(spec), self.role)):
                yield Skipped(str(spec), reason, cooling=True)
        for spec in order:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                faults.append(ModelUnavailable(f"{spec} was not asked: {within:.3g} s were over"))
                break
            try:
                yield from self._ask(spec, make_request, left, whole, values, may_be_blank)
                return
            except ModelError as error:
                hurried = left is not None and left < self.limits.total
                if not (hurried and getattr(error, "late", False)):  # it had only the rest of another's time
                    health.failed(str(spec), self.role, error)
                faults.append(error)
                if not isinstance(error, ModelSettings) or health.tell(str(spec), str(error)):
                    yield Skipped(str(spec), str(error))
        raise _none_spoke(faults)

    def _ask(
        self,
        spec: Spec,
        make_request: MakeRequest,
        left: float | None,
        whole: bool,
        values: list[dict[str, Any]] | None,
        may_be_blank: bool,
    ) -> Iterator[Event]:
        provider = self.models.provider(spec, self.role)
        if spec.provider == "local" and spec != self.specs[0] and (missing := provider.check()):
            # As a stand-in it must be there already: a hiccup of the first model is no reason to fetch 93 MB.
            raise ModelSettings(f"{spec}: {missing}")
        provider.prepare()
        request = make_request(provider.profile)
        limits = self.limits if left is None else self.limits.within(left)
        with closing(Attempt(spec, request, may_be_blank).run(provider.stream(request, limits), whole)) as running:
            events: Iterable[Event] = running
            if whole:
                events = list(running)
                _be_no_refusal(spec, events)
            if values is not None:
                values.append(_value(spec, request, events))
            for event in events:
                if isinstance(event, Answered):
                    self.models.health.answered(str(spec), self.role)
                elif isinstance(event, Used) and not event.usage.estimated:
                    self.models.correction.learn(str(spec), tokens.estimate_request(request), event.usage.prompt)
                yield event

    def _collect(self, events: Iterator[Event]) -> Answer:
        answer = Answer("", (), Usage(), Stopped("end"), "")
        text: list[str] = []
        for event in events:
            match event:
                case Skipped():
                    answer = replace(answer, skipped=(*answer.skipped, event))
                case Answered(spec):
                    answer = replace(answer, spec=spec)
                case TextDelta(piece):
                    text.append(piece)
                case ToolCalled(call):
                    answer = replace(answer, calls=(*answer.calls, call))
                case Used(usage):
                    answer = replace(answer, usage=answer.usage + usage)
                case Stopped():
                    answer = replace(answer, stop=event)
        return replace(answer, text="".join(text))


def _none_spoke(faults: list[ModelError]) -> ModelError:
    settings = [fault for fault in faults if isinstance(fault, ModelSettings)]
    if len(faults) == 1 and settings:
        return settings[0]
    if len(faults) == 1:
        return NoModel(faults[0].what, remedy=faults[0].remedy or "try again, or name another model with --model")
    if len(settings) == len(faults):
        return ModelSettings("; ".join(str(fault) for fault in faults))
    return NoModel("every model failed: " + "; ".join(str(fault) for fault in faults))


def _be_no_refusal(spec: Spec, events: list[Event]) -> None:
    """Raises `ModelUnavailable` for an answer that ends in a refusal: nobody has seen it, so another model may try."""
    if isinstance(stop := events[-1], Stopped) and stop.reason == "refusal":
        raise declined(spec, stop.raw)


def _value(spec: Spec, request: Request, events: Iterable[Event]) -> dict[str, Any]:
    """The object in the collected text, checked against the request's schema. Raises `ModelUnavailable`."""
    value = schemas.object_in("".join(event.text for event in events if isinstance(event, TextDelta)))
    fault = "gave no JSON object where one was asked for"
    if value is not None:
        if request.answer_schema is None:
            return value
        value = schemas.prune(value, request.answer_schema)
        wrong = schemas.wrong(value, request.answer_schema)
        if not wrong:
            return value
        fault = f"gave an answer of the wrong shape: {wrong}"
    raise passing(spec, fault)
