"""The narrator: the loop that tells a turn. Text is streamed as it comes; tools are run between its answers.

Effects of tools are only put on the table here; they are written when the turn is told, so an answer that breaks off
leaves the campaign as it was. The same reading of answers serves the live loop and a crash's recovery (`retell`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from rolecall.agents.calls import Desk, Round, read_round
from rolecall.campaign.facts import sentences
from rolecall.campaign.text import clean_line, clean_prose, fold
from rolecall.errors import StorageError, TurnError
from rolecall.models.chain import Chain
from rolecall.models.events import Answered, Event, TextDelta
from rolecall.models.messages import Message, Request, Text
from rolecall.models.provider import Profile
from rolecall.tools.toolbox import Toolbox

MAX_ROUNDS = 6  # answers with tool calls in one turn
FALLBACK_LINE = 300  # characters of a journal line taken from the prose

_TELL = "Now tell the scene, in prose; no more tools but `append_journal`."
_LAST = "That was the last look-up of this turn. Tell the scene now, in prose, then call `append_journal`."


@dataclass(frozen=True, slots=True)
class Narration:
    """What the narrator made of a turn. `cut`: it broke off and what was said is kept, and why."""

    prose: str
    journal: str
    rounds: int
    spec: str
    cut: str = ""


@dataclass(slots=True)
class Teller:
    """The state of one narration: what has been said, and what the model is told next."""

    toolbox: Toolbox
    parts: list[str] = field(default_factory=list)
    rounds: int = 0
    spec: str = ""
    continued: bool = False
    urged: bool = False
    patient: bool = True  # a small model is not asked to go on: it begins anew, in the middle of a sentence

    @property
    def prose(self) -> str:
        """All that was said so far, as story text."""
        return clean_prose("\n\n".join(part for part in self.parts if part.strip()))

    def take(self, given: Round, cut_text: str = "") -> tuple[Message, ...] | None:
        """Take in one answer: the messages to add before asking again, or None when the narration is over."""
        self.rounds += 1
        self.spec = given.spec or self.spec
        self._add(given.text)
        results = self.toolbox.run(given.calls)
        mine = _said(given)
        if given.stop.reason == "pause":
            return (mine,) if self.rounds < MAX_ROUNDS else None
        if given.calls and given.stop.reason != "refusal":
            return self._after_tools(given, mine, results)
        if given.stop.reason == "max_tokens" and not self.patient and self.parts:
            self.parts[-1] = _to_a_sentence_end(self.parts[-1])
            return None
        if given.stop.reason in ("cut", "max_tokens", "context_full") and self.prose and not self.continued:
            self.continued = True
            return (mine, Message("user", (Text(cut_text or "Go on from the very last character."),)))
        if not self.prose and not self.urged and given.stop.reason == "end":
            self.urged = True
            return (mine, Message("user", (Text(_TELL),))) if mine.parts else (Message("user", (Text(_TELL),)),)
        return None

    def _after_tools(self, given: Round, mine: Message, results: tuple) -> tuple[Message, ...] | None:
        """After tools: over when the scene is told and only effects were asked for; else the results go back."""
        failed = any(result.is_error for result in results)
        only_effects = not any(self.toolbox.is_read(call) for call in given.calls)
        if self.prose and only_effects and (self.toolbox.table.journal or not failed):
            return None
        if self.rounds >= MAX_ROUNDS + 1:
            return None
        parts: tuple = results
        if self.rounds >= MAX_ROUNDS:
            parts = (*results, Text(_LAST))
        elif only_effects and not self.prose:
            parts = (*results, Text(_TELL))
        return (mine, Message("user", parts))

    def _add(self, text: str) -> None:
        if self.continued and self.parts and text:
            self.parts[-1] += text
        elif text.strip():
            self.parts.append(text)


def _to_a_sentence_end(text: str) -> str:
    """The text up to its last whole sentence; the text itself when it has none."""
    ends = list(re.finditer(r"[.!?…。！？][\"'”’»)]*(?=\s|$)", text))
    return text[: ends[-1].end()] if ends else text


def _said(given: Round) -> Message:
    text = (Text(given.text.rstrip()),) if given.text.strip() else ()
    return Message("assistant", (*text, *given.calls))


def narrate(
    chain: Chain,
    desk: Desk,
    toolbox: Toolbox,
    make_request: Callable[[Profile], Request],
    *,
    on_text: Callable[[str], None],
    cut_text: str = "",
) -> Narration:
    """Tell one turn. Raises what the chain raises before a word was said, TurnError when no prose came of it.

    Ctrl-C (KeyboardInterrupt) and a break after the first words keep what was said, marked as cut.
    """
    teller = Teller(toolbox)
    added: tuple[Message, ...] = ()
    cut = ""

    def measured(profile: Profile) -> Request:
        teller.patient = profile.helpers or profile.tools
        return make_request(profile)

    given: list[Event] = []
    try:
        while True:
            given = []
            gap = _gap(teller)
            for event in _ask(chain, desk, measured, added, teller):
                given.append(event)
                if isinstance(event, TextDelta):
                    on_text(gap + event.text)
                    gap = ""
            answer = read_round(given)
            more = teller.take(answer, cut_text)
            if more is None:
                cut = answer.stop.raw or "the answer broke off" if answer.stop.reason == "cut" else ""
                break
            added = (*added, *more)
    except KeyboardInterrupt:
        if not read_round(given).text.strip() and not teller.prose:
            raise
        _keep_what_was_said(teller, given)
        cut = "stopped by the player"
    except StorageError:
        raise  # the answer could not be saved: nothing may come of it
    except Exception as error:
        if not teller.prose and not read_round(given).text.strip():
            raise
        _keep_what_was_said(teller, given)
        cut = str(error)
    if not teller.prose:
        raise TurnError("the narrator wrote no prose", remedy="try again, or name another model with --model")
    return Narration(teller.prose, toolbox.table.journal, teller.rounds, teller.spec, cut)


def _ask(
    chain: Chain, desk: Desk, make_request: Callable[[Profile], Request], added: tuple[Message, ...], teller: Teller
) -> Iterator[Event]:
    def build(profile: Profile) -> Request:
        request = make_request(profile)
        return Request(request.system, (*request.messages, *added), request.tools, request.max_tokens)

    # Once the scene is told a model may have nothing to add: that is an end, not a failure.
    return desk.stream("narrator", chain, build, prefer=teller.spec or None, may_be_blank=bool(teller.prose))


def _gap(teller: Teller) -> str:
    """A blank line between the prose of two rounds, shown before the first words of the second."""
    return "\n\n" if teller.parts and not teller.continued else ""


def _keep_what_was_said(teller: Teller, given: list[Event]) -> None:
    last = read_round(given)
    if teller.parts and teller.parts[-1].endswith(last.text) and last.text:
        return  # it was taken in before the break
    teller.spec = last.spec or teller.spec
    teller._add(last.text)


def mend(
    chain: Chain, desk: Desk, make_request: Callable[[Profile], Request], narration: Narration, wish: str
) -> Narration:
    """The scene told once more with something put right; as it was when no whole scene comes back. Raises ModelError."""
    said = (Message("assistant", (Text(narration.prose),)), Message("user", (Text(wish),)))

    def build(profile: Profile) -> Request:
        request = make_request(profile)
        return Request(request.system, (*request.messages, *said), (), request.max_tokens)

    answer = read_round(list(desk.stream("narrator", chain, build, prefer=narration.spec or None)))
    prose = clean_prose(answer.text)
    if answer.stop.reason != "end" or len(prose) * 2 < len(narration.prose):
        return narration
    return replace(narration, prose=prose)


def retell(saved: list[list[Event]], toolbox: Toolbox) -> Narration | None:
    """The narration that saved answers amount to, without a model; None when they do not end in a told scene."""
    teller = Teller(toolbox)
    more: tuple[Message, ...] | None = ()
    for given in saved:
        if not any(isinstance(e, Answered) for e in given):
            continue
        more = teller.take(read_round(given))
        if more is None:
            break
    if more is not None or not teller.prose:
        return None
    return Narration(teller.prose, toolbox.table.journal, teller.rounds, teller.spec)


def line_from(prose: str, names: list[str]) -> str:
    """A journal line by code: the sentence of the prose that names most known things (the first of equals)."""
    wanted = [fold(name) for name in names if name]
    best, most = "", -1
    for sentence in sentences(prose):
        text = fold(sentence)
        count = sum(name in text for name in wanted)
        if count > most and any(c.isalnum() for c in sentence):
            best, most = sentence, count
    return clean_line(best.lstrip("> *_-").strip(), FALLBACK_LINE) or "The story went on."
