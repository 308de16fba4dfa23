"""Who speaks in a chat and who is spoken of, and where it plays: told from the text alone, without a model.

A run of capitalised words is a candidate. It becomes a person when enough of its mentions show one: it is spoken to, does
something, has a face or a brother, bears a title, a `he` or `she` follows. A name that stands behind `in` or `the` most of the
time is a place or a thing. Forms of one name (`Scanlan`, `Scanlan Shorthalt`; `Vex`, `Vex'ahlia`) become one person.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rolecall.agents import castcues, cues
from rolecall.search import titles

SPEAKER_ALIASES = 8
LEAST = 3  # mentions of somebody who never speaks
CERTAIN = 4.0  # weight of evidence that makes a person ...
SHARE = 0.16  # ... and its share of the mentions
ALIVE = 4  # deeds, eyes and brothers that are enough by themselves
APART = 0.45  # share of mentions behind an article or a `where` from which a name is none of a person

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ENDING = re.compile(r"['’](?:s|d|ll|re|ve|m)?$")
_LINKS = frozenset({"of", "de", "von", "van", "der", "du", "del", "di", "da", "la", "le", "the"})
_OPENS = frozenset('.!?…:;\n—–-"“„«»*_([>~')
_APOSTROPHES = "'‘"
_WEIGHTS = {
    "title": 3.0, "called": 2.0, "acts": 2.0, "does": 2.0, "has": 2.0, "told": 2.0, "hailed": 2.0, "addressed": 1.0, "met": 1.0, "she": 0.7,
}  # fmt: skip
_JOINT = re.compile(r"\s*(?:/|&|\+|,| - | – | and )\s*")


@dataclass(frozen=True, slots=True)
class Said:
    """One speech: its turn, who speaks ("" for a narrator) and the words."""

    turn: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Being:
    """Somebody: how often they speak and are named, and the turns of their first and last appearance."""

    name: str
    aliases: tuple[str, ...]
    spoken: int
    named: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Place:
    """A place, how often it is named, and when first and last."""

    name: str
    named: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Cast:
    """Everybody and everywhere, the most named first."""

    beings: tuple[Being, ...]
    places: tuple[Place, ...]


@dataclass(slots=True)
class _Candidate:
    """A run of capitalised words and what is said around it."""

    name: str
    count: int = 0
    cues: Counter[str] = field(default_factory=Counter)
    articles: int = 0
    wheres: int = 0
    titles: Counter[str] = field(default_factory=Counter)
    turns: list[int] = field(default_factory=list)

    def weight(self) -> float:
        return sum(_WEIGHTS[cue] * count for cue, count in self.cues.items())

    def is_sure(self) -> bool:
        """Whether it was said more than once, or as somebody's name: `a woman named Marta Finch`."""
        return self.count > 1 or self.cues["called"] > 0

    def is_being(self) -> bool:
        """Whether it is somebody who is only spoken of."""
        kinds = {cue for cue in self.cues if cue not in ("she", "met", "addressed")}
        strong = bool(self.titles) or self.cues["called"] > 0
        if self.count < LEAST and not (strong and self.count > 1):
            return False
        if self.name.casefold() in castcues.NOBODY or (self.articles + self.wheres) > APART * self.count:
            return False
        enough = self.weight() >= CERTAIN and self.weight() >= SHARE * self.count
        alive = self.cues["acts"] + self.cues["has"]
        return enough and (
            len(kinds) + ("she" in self.cues or "met" in self.cues) >= 2
            or (alive >= ALIVE and alive >= SHARE * self.count)
        )

    def is_place(self) -> bool:
        last = self.name.rsplit(" ", 1)[-1].casefold()
        if " " in self.name and last in castcues.PLACE_WORDS and self.count >= 2:
            return self.weight() < CERTAIN or self.wheres * 3 >= self.count
        return (
            self.count >= LEAST
            and self.wheres >= 2
            and self.wheres >= 0.3 * self.count
            and self.weight() < 0.5 * self.count
        )


def cast_of(speech: Sequence[Said]) -> Cast:
    """The cast of a chat."""
    candidates = _candidates(speech)
    speakers = _speakers(speech)
    beings = _beings(speakers, candidates)
    taken = {form.casefold() for being in beings for form in (being.name, *being.aliases)}
    places = [
        Place(c.name, c.count, min(c.turns), max(c.turns))
        for c in candidates.values()
        if c.name.casefold() not in taken and c.is_place()
    ]
    return Cast(tuple(beings), tuple(sorted(places, key=lambda p: (-p.named, p.first, p.name))))


# -- who speaks


def parted(label: str, known: frozenset[str]) -> tuple[str, ...]:
    """The speakers of a joint label (`Laura/Sam`, `All - Matt`) where at least one of them speaks alone too."""
    parts = tuple(part for part in _JOINT.split(label) if part)
    if len(parts) < 2 or not ("/" in label or any(part.casefold() in known for part in parts)):
        return (label,)
    return parts


def _speakers(speech: Sequence[Said]) -> dict[str, tuple[list[int], list[str]]]:
    """Each speaker's turns, and the labels of those who speak as one with others."""
    alone = frozenset(one.speaker.casefold() for one in speech if one.speaker and len(_JOINT.split(one.speaker)) == 1)
    found: dict[str, tuple[list[int], list[str]]] = {}
    spelled: dict[str, str] = {}
    for one in speech:
        for part in parted(one.speaker, alone) if one.speaker else ():
            turns, labels = found.setdefault(spelled.setdefault(part.casefold(), part), ([], []))
            turns.append(one.turn)
            if part != one.speaker and part.casefold() in castcues.EVERYBODY and one.speaker not in labels:
                labels.append(one.speaker)
    return found


# -- who is named


def _candidates(speech: Sequence[Said]) -> dict[str, _Candidate]:
    proper = _Proper(one.text for one in speech)
    found: dict[str, _Candidate] = {}
    for one in speech:
        words = list(_WORD.finditer(one.text))
        at = 0
        while at < len(words):
            end = _run_end(words, at, one.text, proper)
            if end > at:
                _note(found, one, words, at, end)
            at = max(end, at + 1)
    return found


class _Proper:
    """Which words are written as names: with a capital inside a sentence too, and hardly ever without one."""

    def __init__(self, texts: Iterator[str]) -> None:
        self.small: Counter[str] = Counter()
        self.large: Counter[str] = Counter()
        self.inside: Counter[str] = Counter()
        for text in texts:
            for word in _WORD.finditer(text):
                plain = bare(word[0])
                if plain[:1].isupper():
                    self.large[plain] += 1
                    self.inside[plain] += not _is_opening(text, word.start())
                else:
                    self.small[plain.casefold()] += 1

    def __contains__(self, word: str) -> bool:
        if len(word) < 3 or not word[0].isupper() or (len(word) > 1 and word.isupper()):
            return False
        small = self.small[word.casefold()]
        return small <= 0.15 * self.large[word] and (self.inside[word] > 0 or (small == 0 and self.large[word] > 2))


def bare(word: str) -> str:
    """A word without a possessive or a contracted verb."""
    return _ENDING.sub("", word)


def _is_opening(text: str, at: int) -> bool:
    before = text[max(0, at - 12) : at].rstrip(" ")
    return not before or before[-1] in _OPENS or before[-1] in _APOSTROPHES


def _run_end(words: list[re.Match[str]], at: int, text: str, proper: _Proper) -> int:
    """Where a run of names that begins at a word ends; that word itself when none does."""
    first = bare(words[at][0])
    titled = first.casefold() in titles.titles() and first[:1].isupper()
    if not titled and first.casefold() in castcues.NOBODY:  # `Bye Nate`
        return at
    if first not in proper and not (
        titled and at + 1 < len(words) and _joined(text, words, at) and bare(words[at + 1][0]) in proper
    ):
        return at
    end = at + 1
    while end < len(words) and words[end - 1][0] == bare(words[end - 1][0]) and _joined(text, words, end - 1):
        word = bare(words[end][0])
        if word in proper or (word[:1].isupper() and word.casefold() in castcues.PLACE_WORDS):
            end += 1
        elif (
            word in _LINKS and end + 1 < len(words) and _joined(text, words, end) and bare(words[end + 1][0]) in proper
        ):
            end += 2
        else:
            break
    return end


def _joined(text: str, words: list[re.Match[str]], at: int) -> bool:
    return text[words[at].end() : words[at + 1].start()] == " "


def _note(found: dict[str, _Candidate], one: Said, words: list[re.Match[str]], at: int, end: int) -> None:
    parts = [bare(word[0]) for word in words[at:end]]
    start, stop = words[at].start(), words[end - 1].start() + len(parts[-1])
    borne = ""
    while len(parts) > 1 and parts[0].casefold() in titles.titles():
        borne = parts.pop(0)
    name = " ".join(parts)
    candidate = found.setdefault(name, _Candidate(name))
    candidate.count += 1
    candidate.turns.append(one.turn)
    before, after = one.text[max(0, start - 48) : start], one.text[stop : stop + 100]
    if borne:
        candidate.titles[borne] += 1
        candidate.cues["title"] += 1
    candidate.articles += bool(castcues.ARTICLE.search(before)) and not borne
    candidate.wheres += bool(castcues.WHERE.search(before))
    for cue in _cues(before, after):
        candidate.cues[cue] += 1


def _cues(before: str, after: str) -> Iterator[str]:
    if castcues.HAS.match(after):
        yield "has"
    elif cues.ACTS.match(after):
        yield "acts"
    elif castcues.DOES.match(after):
        yield "does"
    if castcues.TOLD_TO.match(after):
        yield "told"
    elif castcues.HAILED.search(before):
        yield "hailed"
    elif castcues.ADDRESSED.search(before) and castcues.END_MARK.match(after):
        yield "addressed"
    if castcues.CALLED.search(before):
        yield "called"
    if castcues.MET.search(before):
        yield "met"
    if castcues.SHE.match(after):
        yield "she"


# -- which names are one person's


def _beings(speakers: dict[str, tuple[list[int], list[str]]], candidates: dict[str, _Candidate]) -> list[Being]:
    people = {
        name: c for name, c in candidates.items() if c.is_being() or name.casefold() in {s.casefold() for s in speakers}
    }
    groups = _grouped(people, candidates, list(speakers))
    beings = []
    for head, forms in groups.items():
        turns, labels = speakers.get(head, ([], []))
        named = [candidates[form] for form in forms if form in candidates]
        every = sorted([*turns, *(turn for c in named for turn in c.turns)])
        aliases = [form for form in (*forms, *labels) if form != head]
        aliases += [f"{title} {c.name}" for c in named for title, count in c.titles.items() if count > 1]
        beings.append(
            Being(
                name=head,
                aliases=tuple(dict.fromkeys(aliases))[:SPEAKER_ALIASES],
                spoken=len(turns),
                named=sum(c.count for c in named),
                first=every[0] if every else 0,
                last=every[-1] if every else 0,
            )
        )
    return sorted(beings, key=lambda b: (-(b.spoken + b.named), b.first, b.name))


def _grouped(
    people: dict[str, _Candidate], candidates: dict[str, _Candidate], speakers: list[str]
) -> dict[str, list[str]]:
    """Each person's chief name with every form of it.

    A speaker's label is the chief one, else the longest form that is used more than once. A longer name belongs to
    whom it begins with, else to the one it ends with; a family's name that fits several is nobody's in particular.
    """
    heads: dict[str, list[str]] = {name: [name] for name in speakers}
    by_fold = {name.casefold(): name for name in speakers}
    fuller = [
        n for n, c in candidates.items() if n not in people and c.is_sure() and _is_name_of(n, people, candidates)
    ]
    for name in sorted({*people, *fuller}, key=lambda n: (len(n.split()), len(n), -candidates[n].count, n)):
        if name.casefold() in by_fold:
            head = by_fold[name.casefold()]
            heads[head] += [name] if name != head else []
            continue
        begins = [head for head, forms in heads.items() if any(_begins(form, name) for form in forms)]
        begins = begins or [one for one in speakers if name in people and _is_short_for(people[name], one)]
        ends = [head for head, forms in heads.items() if any(name.endswith(f" {form}") for form in forms)]
        homes = begins or ends
        if len(homes) == 1:
            heads[homes[0]].append(name)
        elif not homes:
            heads[name] = [name]
    heads = _joined_families(heads, candidates, speakers)
    return {_chief(head, forms, candidates, speakers): forms for head, forms in heads.items()}


def _joined_families(
    heads: dict[str, list[str]], candidates: dict[str, _Candidate], speakers: list[str]
) -> dict[str, list[str]]:
    """A family's name alone goes to the one person who is called by it, where there is but one."""
    for head in [h for h in heads if " " not in h and h not in speakers and heads[h] == [h]]:
        bearers = [h for h, forms in heads.items() if h != head and any(form.endswith(f" {head}") for form in forms)]
        if len(bearers) == 1:
            heads[bearers[0]] += heads.pop(head)
    return heads


def _is_name_of(name: str, people: dict[str, _Candidate], candidates: dict[str, _Candidate]) -> bool:
    """Whether it is a fuller name of somebody known: it begins with theirs, or theirs is cut from it."""
    first, last = name.split()[0], name.rsplit(" ", 1)[-1]
    if last.casefold() in castcues.PLACE_WORDS or first.casefold() in castcues.NOBODY:
        return False
    if " " not in name:
        return any(len(one) < len(name) and _begins(one, name) for one in people)
    # `Tiberius Kraghammer`, where a comma was forgotten: the second word lives a life of its own.
    alone = candidates[last].count if last in candidates and last not in people else 0
    named = first in people or (last in people and not _LINKS & set(name.split()))
    return named and alone <= 3 * candidates[name].count and first != last


def _begins(short: str, long: str) -> bool:
    """Whether a name is the beginning of a fuller one, is cut from it at an apostrophe, or is its pet form."""
    short, long = short.casefold().replace("’", "'"), long.casefold().replace("’", "'")
    if short == long or long.startswith(f"{short} "):
        return True
    if " " in short:
        return False
    first = long.split()[0]
    if first.startswith(f"{short}'") and len(short) > 2:
        return True
    stem = re.sub(r"(?:y|ie|i)$", "", short)
    return stem != short and len(stem) > 3 and first.startswith(stem) and len(first) > len(short)


def _is_short_for(candidate: _Candidate, speaker: str) -> bool:
    """Whether somebody who is mostly spoken to is a speaker under a short name: `Mel` for `Melanie`."""
    to = candidate.cues["told"] + candidate.cues["hailed"] + candidate.cues["addressed"]
    return len(candidate.name) > 2 and speaker.startswith(candidate.name) and 4 * to >= candidate.count


def _chief(head: str, forms: list[str], candidates: dict[str, _Candidate], speakers: list[str]) -> str:
    if head in speakers:
        return head
    often = [form for form in forms if form in candidates and candidates[form].is_sure()] or forms
    return max(often, key=lambda form: (len(form.split()), candidates[form].count))
