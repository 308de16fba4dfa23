"""The course of one narration: what an answer adds to the scene, and what the model is told next.

One reading of answers for the live loop and for a crash's recovery: the same answers always make the same scene.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rolecall.agents.calls import Round
from rolecall.campaign.text import clean_prose
from rolecall.models.messages import Message, Text
from rolecall.tools.toolbox import Toolbox

MAX_ROUNDS = 6  # answers with tool calls in one turn; one more is told to be the last, and one may call nothing
LONGEST = 12_000  # characters of prose after which tools are no longer answered

_TELL = "Now tell the scene, in prose; no more tools but `append_journal`."
_LAST = "That was the last look-up of this turn. Tell the scene now, in prose, then call `append_journal`."
_ONLY = "Tell the scene now, in prose and without tools."
_GO_ON = "Go on from the very last character."

# Why a scene ends before its end, by the reason of the stop.
_CUTS = {
    "cut": "the answer broke off",
    "max_tokens": "the answer reached its limit twice",
    "context_full": "the model has no room left",
    "refusal": "the model declined to go on",
}


@dataclass(slots=True)
class Teller:
    """The state of one narration: what has been said, and what the model is told next.

    `cut`: the scene was broken off, and why. `gave_up`: why the model that answered last will tell no scene; another
    one may.
    """

    toolbox: Toolbox
    parts: list[str] = field(default_factory=list)
    rounds: int = 0
    spec: str = ""
    continued: bool = False
    urged: bool = False
    patient: bool = True  # a small model is not asked to go on: it begins anew, in the middle of a sentence
    cut: str = ""
    gave_up: str = ""
    joins: bool = False  # the next answer goes on from the last character
    rolls: list[tuple[int, str]] = field(default_factory=list)  # a line of dice, and how many parts stand before it
    _mended: bool = False
    _left: int = MAX_ROUNDS

    @property
    def prose(self) -> str:
        """All that was said so far, as story text."""
        return clean_prose("\n\n".join(part for part in self.parts if part.strip()))

    @property
    def told(self) -> str:
        """The scene with its dice: each line of a roll stands where it was thrown."""
        parts = list(self.parts)
        for at, line in reversed(self.rolls):
            parts.insert(at, line)
        return clean_prose("\n\n".join(part for part in parts if part.strip()))

    @property
    def closed(self) -> bool:
        """Whether the next answer may call no tool: all before it did nothing else."""
        return self._left < 0

    @property
    def may_be_blank(self) -> bool:
        """Whether silence is an answer: once the scene is told, and once before a model that looked things up is urged."""
        return bool(self.prose) or (self.rounds > 0 and not self.urged)

    def take(self, given: Round, cut_text: str = "") -> tuple[Message, ...] | None:
        """Take in one answer: the messages to add before asking again, or None when the narration is over."""
        self.rounds += 1
        self.gave_up = ""
        self.spec = given.spec or self.spec
        self.add(given.text)
        reason = given.stop.reason
        if reason == "refusal":  # nothing of it is run
            return self._end(given) if self.prose else self._next("declined to answer", ())
        results = self.toolbox.run(given.calls)
        self.rolls += [(len(self.parts), line) for line in self.toolbox.table.rolls[len(self.rolls) :]]
        mine = _said(given)
        if given.calls:
            return self._after_tools(given, mine, results)
        if reason == "pause" and not self.closed:
            self._left -= 1
            self.joins = bool(self.parts)
            return (mine,)
        if reason == "max_tokens" and not self.patient and self.parts:
            self.parts[-1] = _to_a_sentence_end(self.parts[-1])
            return None
        if reason in ("cut", "max_tokens") and self.prose and not self.continued:
            self.continued = self.joins = True
            return (mine, Message("user", (Text(cut_text or _GO_ON),)))
        if self.prose:
            return self._end(given)
        if not self.urged:
            self.urged = True
            return (*((mine,) if mine.parts else ()), Message("user", (Text(_TELL),)))
        return self._next("told no scene", ())

    def add(self, text: str) -> None:
        """Add the text of an answer to the scene: a part of its own, or the rest of the last one."""
        if self.joins and self.parts and text:
            self.parts[-1] += text
        elif text.strip():
            self.parts.append(text)
        self.joins = False

    def _after_tools(self, given: Round, mine: Message, results: tuple) -> tuple[Message, ...] | None:
        """After tools: over when the scene is told and only effects were asked for; else the results go back."""
        failed = any(result.is_error for result in results)
        only_effects = not any(self.toolbox.is_awaited(call) for call in given.calls)
        if self.prose:
            if only_effects and (self.toolbox.table.journal or not failed or self._mended):
                return None
            if self.closed or len(self.prose) > LONGEST:
                return None
            self._mended = self._mended or (only_effects and failed)
        elif self.closed:
            return self._next("gave nothing but tool calls", (mine, Message("user", (*results, Text(_ONLY)))))
        self._left -= 1
        parts: tuple = results
        if self.closed:
            parts = (*results, Text(_ONLY))
        elif self._left == 0:
            parts = (*results, Text(_LAST))
        elif only_effects and not self.prose:
            parts = (*results, Text(_TELL))
        return (mine, Message("user", parts))

    def _next(self, why: str, more: tuple[Message, ...]) -> tuple[Message, ...]:
        """This model tells nothing: another goes on from the same conversation, with a few answers of its own."""
        self.gave_up, self.urged, self._left = why, False, 1
        return more

    def _end(self, given: Round) -> None:
        why = _CUTS.get(given.stop.reason, "")
        self.cut = given.stop.raw if given.stop.reason == "cut" and given.stop.raw else why


def _to_a_sentence_end(text: str) -> str:
    """The text up to its last whole sentence; the text itself when it has none."""
    ends = list(re.finditer(r"[.!?…。！？][\"'”’»)]*(?=\s|$)", text))
    return text[: ends[-1].end()] if ends else text


def _said(given: Round) -> Message:
    text = (Text(given.text.rstrip()),) if given.text.strip() else ()
    return Message("assistant", (*text, *given.calls))
