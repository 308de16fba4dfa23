"""What a chat says of its people and places: the sentences that describe them, and a line for each scene's journal.

Word for word from the text, each with its turn. A sentence that says what somebody is (`Balgus is a brewer`, `Adra, the
owner of ...`, `I grew up in ...` from a speaker) goes before one that merely names them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rolecall.agents.cast import Being, Place, Said
from rolecall.campaign.facts import has_promise, sentences
from rolecall.campaign.text import clean_line

KEPT = 6  # sentences kept of one being or place
SENTENCE = 300  # characters; a longer one is cut at a word
SHORTEST = 12  # characters of a sentence that says anything
LINE = 240  # characters of a journal line

_IS = r"(?:is|was|are|were|ist|war|est|était|es|era)"
_DESCRIBES = re.compile(
    rf"^(?:['’]s)?(?:,? (?:the|a|an|who|whose|our|my|der|die|das|le|la|el) |\s+{_IS}(?:n't|n’t)? (?:a |an |the |one of|my |your |our |his |her |from |very |so |born|ein|une? )|"
    r"\s+(?:grew up|was born|comes from|came from|lives|lived|works|worked|wears|wore|carries|looks like|looked like|has|had|owns|leads|rules|serves|used to|became|died)\b)"
)
_CALLED = re.compile(r"\b(?:named|called|known as|this is|meet|name is)\s+$", re.I)
_OWN = re.compile(
    r"\b(?:my name is|call me|I am an?\b|I'm an?\b|I’m an?\b|I was born|I grew up|I live|I work|I come from|I'm from|I used to|I own|my (?:mother|father|brother|sister|wife|husband|"
    r"son|daughter|family|job|home)\b|ich bin ein|je suis une?|soy una?)",
    re.I,
)
_ASIDE = re.compile(r"[(\[*][^()\[\]]*[)\]*][.!?]?|.*[♪♫].*")
_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z][^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of the chat and the turn it stands in."""

    turn: int
    text: str


def words_of(cast: Iterable[Being | Place], speech: Sequence[Said]) -> dict[str, tuple[Told, ...]]:
    """By name, the sentences that tell most of each being and place, in the order of the story; at most `KEPT`."""
    forms: dict[str, str] = {}
    for one in cast:
        for form in (one.name, *getattr(one, "aliases", ())):
            forms.setdefault(form.casefold(), one.name)
    if not forms:
        return {}
    pattern = re.compile(
        rf"(?<![\w'’])(?:{'|'.join(map(re.escape, sorted(forms, key=len, reverse=True)))})(?!\w)", re.I
    )
    found: dict[str, list[tuple[float, int, Told]]] = defaultdict(list)
    order = 0
    for one in speech:
        speaker = forms.get(one.speaker.casefold(), "")
        for sentence in sentences(one.text):
            order += 1
            if len(sentence) < SHORTEST or _ASIDE.fullmatch(sentence):
                continue
            told = Told(one.turn, clean_line(sentence, SENTENCE))
            for name, worth in _named_in(sentence, pattern, forms).items():
                if name != speaker:
                    found[name].append((worth, order, told))
            if speaker and _OWN.search(sentence):
                found[speaker].append((2.5 + _size(sentence), order, told))
    return {name: _best(of) for name, of in found.items()}


def _named_in(sentence: str, pattern: re.Pattern[str], forms: dict[str, str]) -> dict[str, float]:
    """Who is named in a sentence, and how much it tells of each."""
    named: dict[str, float] = {}
    for match in pattern.finditer(sentence):
        if not match[0][:1].isupper() and match[0][:1].lower() != match[0][:1].upper():
            continue
        worth = _size(sentence)
        if _DESCRIBES.match(sentence[match.end() : match.end() + 40]):
            worth += 3.0
        elif _CALLED.search(sentence[max(0, match.start() - 20) : match.start()]):
            worth += 2.0
        if match.start() < 4:
            worth += 0.5
        name = forms[match[0].casefold()]
        named[name] = max(worth, named.get(name, 0.0))
    return named


def _size(sentence: str) -> float:
    """What the length of a sentence is worth: whole ones tell more than a shout, endless ones less."""
    words = sentence.count(" ") + 1
    worth = min(words, 25) / 25 if words > 4 else 0.0
    return worth - (0.6 if sentence.endswith("?") else 0.0) - (0.3 if words > 60 else 0.0)


def _best(of: list[tuple[float, int, Told]]) -> tuple[Told, ...]:
    """The first sentence, and the most telling ones, each text once, in the order they were told."""
    kept: dict[str, tuple[int, Told]] = {}
    for _, order, told in [min(of, key=lambda one: one[1]), *sorted(of, key=lambda one: (-one[0], one[1]))]:
        if len(kept) == KEPT:
            break
        kept.setdefault(told.text.casefold(), (order, told))
    return tuple(told for _, told in sorted(kept.values(), key=lambda one: one[0]))


def journal_line(said: Sequence[Said], names: re.Pattern[str] | None) -> str:
    """A scene's line: its most telling sentence, with who says it where that is known."""
    best, most, by = "", -1.0, ""
    for one in said:
        for sentence in sentences(one.text):
            if not any(c.isalnum() for c in sentence):
                continue
            named = len({match[0].casefold() for match in names.finditer(sentence)}) if names else 0
            telling = 0.5 * min(named, 3) + 0.2 * min(len(_PROPER.findall(sentence)), 2) + has_promise(sentence)
            worth = max(_size(sentence), 0.0) * (1 + telling) + 0.01 * named
            if worth > most:
                best, most, by = sentence, worth, one.speaker
    text = clean_line(best.lstrip("> *_-#").strip(), LINE)
    if not text:
        return "The story went on."
    return f"{by}: {text}" if by else text


def names_pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern that finds any of these names."""
    wanted = sorted({name for name in names if len(name) > 2}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, wanted))})(?!\w)") if wanted else None
