"""The curtain between the DM's layers and everybody else: what gives a hidden truth away does not pass.

The DM and the TurnDM may know what is hidden; what they say to the narrator, to the player or to an open file is held
against all of it, whole and together, so that a truth cut up over several sentences or fields is found as well. A sentence
that gives something away is taken out, and what is left is looked at again, until nothing is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rolecall.campaign import secrets
from rolecall.campaign.effects import Effect
from rolecall.campaign.plans import INTENTIONS, TODO
from rolecall.campaign.text import clean
from rolecall.search import leaks
from rolecall.search.disguise import unmasked
from rolecall.search.searcher import Search

_PASSES = 60  # looks at a text; one that still gives something away then is withheld whole
_JOINT = "\n\n"  # ends a sentence, and whatever somebody is saying in it


@dataclass(frozen=True, slots=True)
class Withheld:
    """A sentence that did not pass, and what it would have given away: both for the writer's eyes only."""

    sentence: str
    hidden: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """What is hidden from everybody but the DM: truths, which nothing may give away, and the DM's plans."""

    truths: tuple[str, ...]
    plans: tuple[str, ...]

    def __or__(self, other: Hidden) -> Hidden:
        return Hidden(
            tuple(dict.fromkeys((*self.truths, *other.truths))), tuple(dict.fromkeys((*self.plans, *other.plans)))
        )

    @classmethod
    def from_files(cls, files: Mapping[str, Iterable[str]]) -> Hidden:
        """From what each file hides."""
        truths = (one for path, texts in files.items() if not path.startswith("dm/") for one in texts)
        plans = (one for path, texts in files.items() if path.startswith("dm/") for one in texts)
        return cls(tuple(dict.fromkeys(truths)), tuple(dict.fromkeys(plans)))


@dataclass(frozen=True, slots=True)
class Passed:
    """What passed the curtain, in the shape it came in, and what did not."""

    lines: tuple[str, ...]
    fragments: tuple[dict[str, Any], ...]
    effects: tuple[Effect, ...]
    withheld: tuple[Withheld, ...]


class Curtain:
    """What is hidden, and what of it is withheld from a text. `known` is open text beside the campaign's entries."""

    def __init__(self, search: Search, hidden: Hidden, known: str = "") -> None:
        self.search, self.hidden, self.known = search, hidden, known

    def draw(self, texts: Sequence[str], *, plans: bool = True) -> tuple[list[str], list[Withheld]]:
        """The texts without the sentences that give something away, and those sentences.

        The texts are looked at together, in their order. Without `plans` only truths are hidden.
        """
        parts, withheld = [visible(text) for text in texts], []
        secret_plans = self.hidden.plans if plans else ()
        for _ in range(_PASSES):
            found = leaks.exposed(_JOINT.join(parts), self.hidden.truths, secret_plans, self.search, self.known)
            if not found:
                return parts, withheld
            withheld += [Withheld(leak.sentence.text, leak.hidden) for leak in found]
            for leak in reversed(found):
                _cut(parts, leak.sentence.start, leak.sentence.end)
        return [""] * len(parts), [*withheld, *(Withheld(part, "too much of what is hidden") for part in parts if part)]

    def pass_on(
        self, lines: Sequence[str], fragments: Sequence[Mapping[str, Any]] = (), effects: Sequence[Effect] = ()
    ) -> Passed:
        """All that leaves the DM's layers at once, in the order in which the narrator reads it.

        Of fragments the item or key goes in which a text gives something away. Effects on open files go whole; the DM's
        own files may hold everything, but for intentions: the TurnDM reads those, so they may hold plans and no truths.
        """
        effects, withheld = self._intentions(effects)
        opened = [effect for effect in effects if not effect.path.startswith("dm/")]
        inner = [(number, at, text) for number, data in enumerate(fragments) for at, text in _texts(data)]
        words = [_JOINT.join(_words_of(effect)) for effect in opened]
        given = [*lines, *(text for _, _, text in inner), *words]
        passed, found = self.draw(given)
        stands = [now == visible(text) for now, text in zip(passed, given, strict=True)]
        first, second = len(lines), len(lines) + len(inner)
        bad = [at for at, ok in zip(inner, stands[first:second], strict=True) if not ok]
        gone = {id(effect) for effect, ok in zip(opened, stands[second:], strict=True) if not ok}
        return Passed(
            lines=tuple(passed[:first]),
            fragments=tuple(
                _pruned(data, {at for n, at, _ in bad if n == number}) for number, data in enumerate(fragments)
            ),
            effects=tuple(effect for effect in effects if id(effect) not in gone),
            withheld=(*withheld, *found),
        )

    def _intentions(self, effects: Sequence[Effect]) -> tuple[list[Effect], list[Withheld]]:
        kept, withheld = [], []
        for effect in effects:
            if effect.path == INTENTIONS and effect.op == TODO:
                (text,), found = self.draw([effect.text], plans=False)
                withheld += found
                effect = replace(effect, text=text) if found else effect
                if not text:
                    continue
            kept.append(effect)
        return kept, withheld


def said_in(lines: Sequence[str], fragments: Sequence[Mapping[str, Any]], effects: Sequence[Effect]) -> list[str]:
    """Every text in what leaves the DM's layers."""
    inner = (text for data in fragments for _, text in _texts(data))
    return [*lines, *inner, *(text for effect in effects for text in _words_of(effect))]


def visible(text: str) -> str:
    """The text as a reader sees it: no control characters, direction marks, joiners, entities, tags, letters in disguise."""
    return unmasked(clean(text))


def _cut(parts: list[str], start: int, end: int) -> None:
    """Take a stretch of the joined text out of the part it stands in."""
    at = 0
    for number, part in enumerate(parts):
        if at <= start <= at + len(part):
            left = part[: start - at].rstrip()
            right = part[end - at :].lstrip()
            parts[number] = f"{left} {right}".strip()
            return
        at += len(part) + len(_JOINT)


def _texts(data: Any) -> Iterator[tuple[tuple, str]]:
    """(place, text) of every text in JSON data: the values one after another, so that no key stands between, then the keys."""
    yield from _values(data, ())
    yield from _keys(data, ())


def _values(data: Any, at: tuple) -> Iterator[tuple[tuple, str]]:
    if isinstance(data, str):
        yield at, data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from _values(value, (*at, key))
    elif isinstance(data, list | tuple):
        for number, value in enumerate(data):
            yield from _values(value, (*at, number))


def _keys(data: Any, at: tuple) -> Iterator[tuple[tuple, str]]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield (*at, key, None), str(key)
            yield from _keys(value, (*at, key))
    elif isinstance(data, list | tuple):
        for number, value in enumerate(data):
            yield from _keys(value, (*at, number))


def _pruned(data: Any, bad: set[tuple], at: tuple = ()) -> Any:
    """The data without what holds a bad text: the whole item of a list, else the key."""
    if isinstance(data, Mapping):
        return {
            key: _pruned(value, bad, (*at, key))
            for key, value in data.items()
            if (*at, key) not in bad and (*at, key, None) not in bad
        }
    if isinstance(data, list | tuple):
        return [
            _pruned(value, bad, (*at, number))
            for number, value in enumerate(data)
            if not any(place[: len(at) + 1] == (*at, number) for place in bad)
        ]
    return data


def _words_of(effect: Effect) -> list[str]:
    """Every text of an effect that somebody could read; fields that are secret are for the DM alone."""
    facts = secrets.open_fields(effect.facts)
    name = effect.key if effect.op == "arc_opened" else ""
    texts = (name, effect.text, effect.title, *(text for _, text in _texts(facts)), *effect.lines)
    return [text for text in texts if text]


def hidden_in(effects: Sequence[Effect]) -> Hidden:
    """What the DM has just made up and nobody else may know: secret fields, and lines of its own files."""
    facts = [{k: v for k, v in effect.facts.items() if secrets.is_secret_field(k)} for effect in effects]
    truths = [text for one in facts for _, text in _values(one, ())]
    return Hidden(
        tuple(truths), tuple(effect.text for effect in effects if effect.path.startswith("dm/") and effect.text)
    )
