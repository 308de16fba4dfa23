"""The narrator: the loop that tells a turn. Text is streamed as it comes; tools are run between its answers.

Effects of tools are only put on the table here; they are written when the turn is told, so an answer that breaks off
leaves the campaign as it was. The same reading of answers serves the live loop and a crash's recovery (`retell`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from rolecall.agents.calls import Desk, read_round
from rolecall.agents.teller import Teller
from rolecall.campaign.facts import sentences
from rolecall.campaign.text import clean_line, clean_prose, fold
from rolecall.errors import NoModel, StorageError, TurnError
from rolecall.models.chain import Chain
from rolecall.models.events import Answered, Event, TextDelta
from rolecall.models.messages import Message, Request, Text
from rolecall.models.provider import Profile
from rolecall.tools.toolbox import Toolbox

FALLBACK_LINE = 300  # characters of a journal line taken from the prose
_EMPHASIS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)")  # Markdown's; a sentence may hold one half of a pair


@dataclass(frozen=True, slots=True)
class Narration:
    """What the narrator made of a turn. `cut`: it broke off and what was said is kept, and why."""

    prose: str
    journal: str
    rounds: int
    spec: str
    cut: str = ""
    rolls: tuple[str, ...] = ()  # the lines of its dice, which stand in the prose

    @property
    def scene(self) -> str:
        """The prose without its dice."""
        return "\n\n".join(part for part in self.prose.split("\n\n") if part not in self.rolls)


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

    `make_request` is asked before every answer: tools that were opened meanwhile are offered in the next. A model that
    will tell no scene is left for the next of the chain, which goes on with what was looked up. Ctrl-C
    (KeyboardInterrupt) and a break after the first words keep what was said, marked as cut.
    """
    teller = Teller(toolbox)
    course = _Course(chain, desk, make_request, teller, on_text, cut_text)
    try:
        course.run()
    except KeyboardInterrupt:
        if not read_round(course.given).text.strip() and not teller.prose:
            raise
        _keep_what_was_said(teller, course.given, "stopped by the player")
    except StorageError:
        raise  # the answer could not be saved: nothing may come of it
    except Exception as error:
        if not teller.prose and not read_round(course.given).text.strip():
            raise
        _keep_what_was_said(teller, course.given, str(error))
    if not teller.prose:
        raise TurnError("the narrator wrote no prose", remedy="try again, or name another model with --model")
    return _narration(teller)


def _narration(teller: Teller) -> Narration:
    rolls = tuple(line for _, line in teller.rolls)
    return Narration(teller.told, teller.toolbox.table.journal, teller.rounds, teller.spec, teller.cut, rolls)


@dataclass(slots=True)
class _Course:
    """The exchange with the models of a chain: `added` is what follows the prompt so far, `given` the last answer's events."""

    chain: Chain
    desk: Desk
    make_request: Callable[[Profile], Request]
    teller: Teller
    on_text: Callable[[str], None]
    cut_text: str
    added: tuple[Message, ...] = ()
    given: list[Event] = field(default_factory=list)

    def run(self) -> None:
        """Ask until the scene is told; text and dice are shown as they come."""
        teller, more = self.teller, ()
        while more is not None:
            self.added = (*self.added, *more)
            self.given, gap = [], _gap(teller)
            for event in self._ask():
                self.given.append(event)
                if isinstance(event, TextDelta):
                    self.on_text(gap + event.text)
                    gap = ""
            thrown = len(teller.rolls)
            more = teller.take(read_round(self.given), self.cut_text)
            for at, line in teller.rolls[thrown:]:
                self.on_text(("\n\n" if at or teller.rolls[0][1] is not line else "") + line)
            if more is not None and teller.gave_up:
                self.chain = _without(self.chain, self.desk, teller)

    def _ask(self) -> Iterator[Event]:
        teller, added = self.teller, self.added

        def build(profile: Profile) -> Request:
            teller.patient = profile.helpers or profile.tools
            request = self.make_request(profile)
            return replace(request, messages=(*request.messages, *added), no_calls=teller.closed)

        # Once the scene is told a model may have nothing to add: that is an end, not a failure.
        blank = teller.may_be_blank
        return self.desk.stream("narrator", self.chain, build, prefer=teller.spec or None, may_be_blank=blank)


def _without(chain: Chain, desk: Desk, teller: Teller) -> Chain:
    """The chain without the model that gave up, which is said. Raises NoModel when there is no other."""
    desk.pass_over("narrator", teller.spec, f"{teller.spec} {teller.gave_up}")
    rest = chain.without(teller.spec)
    if not rest.specs:
        raise NoModel(f"{teller.spec} {teller.gave_up}", remedy="try again, or name another model with --model")
    return rest


def _gap(teller: Teller) -> str:
    """A blank line between the prose of two rounds, shown before the first words of the second."""
    return "\n\n" if (teller.parts or teller.rolls) and not teller.joins else ""


def _keep_what_was_said(teller: Teller, given: list[Event], why: str) -> None:
    last = read_round(given)
    teller.cut = why
    if teller.parts and teller.parts[-1].endswith(last.text) and last.text:
        return  # it was taken in before the break
    teller.spec = last.spec or teller.spec
    teller.add(last.text)


def mend(
    chain: Chain, desk: Desk, make_request: Callable[[Profile], Request], narration: Narration, wish: str
) -> Narration:
    """The scene told once more with something put right; as it was when no whole scene comes back. Raises ModelError."""
    said = (Message("assistant", (Text(narration.prose),)), Message("user", (Text(wish),)))

    def build(profile: Profile) -> Request:
        request = make_request(profile)
        return Request(request.system, (*request.messages, *said), (), request.max_tokens)

    answer = read_round(list(desk.stream("narrator", chain, build, prefer=narration.spec or None, whole=True)))
    prose = clean_prose(answer.text)
    lost = [line for line in narration.rolls if line not in prose]
    prose = "\n\n".join([*lost, prose])
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
    return _narration(teller)


def line_from(prose: str, names: list[str]) -> str:
    """A journal line by code: the sentence of the prose that names most known things (the first of equals)."""
    wanted = [fold(name) for name in names if name]
    best, most = "", -1
    for sentence in sentences(prose):
        text = fold(sentence)
        count = sum(name in text for name in wanted)
        if count > most and any(c.isalnum() for c in sentence):
            best, most = sentence, count
    plain = _EMPHASIS.sub("", best).lstrip("> #-").strip()
    if plain.count('"') == 1:  # the sentence was cut out of a speech
        plain = plain.strip('"')
    return clean_line(plain, FALLBACK_LINE) or "The story went on."
