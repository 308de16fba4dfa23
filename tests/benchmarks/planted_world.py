"""A seeded campaign of any length with facts that are told once: the turns, and the questions that ask for the facts again.

Sixty-one entries as a writer would leave them, none of which holds a fact. Every turn is some eight sentences about the people of
the scene, drawn from a list; the nouns in them are those of the facts, so that no word belongs to a fact alone. A
fact is one sentence in the middle of one turn. Two thirds of the facts are also in that turn's journal line, in other
words; the rest stand in the prose only. Each fact has four near misses in other turns: its noun with its person, its noun with
another person, its adjective with its person, its person in another matter. Each fact is asked for in three styles:

    named      a part of the person's name (the prose mostly uses the other part) and the fact's noun
    alias      the person's alias, which stands in the entry and never in the story, and the noun
    nameless   the adjective and the noun

Beyond these the question shares no term with the fact, neither with its prose nor with its journal line, after stemming and without stop words;
`World` refuses to be made otherwise. A third of the questions come with a sentence before them about something else.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rolecall.campaign import template
from rolecall.campaign.text import slug
from rolecall.search.analysis import Analyzer
from rolecall.search.index import language_tools
from tests.benchmarks import planted_words as words

STYLES = ("named", "alias", "nameless")
DISTANCES = (1, 50, 300, 900)
NEAR_MISSES = 4
IN_JOURNAL = 2 / 3
WITH_PREAMBLE = 1 / 3
EARLY = 1 / 3  # of the facts stand in the first tenth of the story, so that there are some to ask for nine tenths later
SENTENCES = 8  # in a turn


@dataclass(frozen=True, slots=True)
class Person:
    """Someone of the campaign: the name of the entry, the form in the prose, what the player remembers, the alias."""

    name: str
    told: str
    asked: str
    alias: str


@dataclass(frozen=True, slots=True)
class Fact:
    """What was told once: in `sentence`, and in the journal's `line` too if `in_journal`."""

    kind: str
    turn: int
    who: Person
    adj: str
    noun: str
    sentence: str
    line: str
    in_journal: bool

    def is_in(self, text: str) -> bool:
        """Whether a text holds the fact, in the words of the prose or of the journal."""
        return self.sentence in text or (self.in_journal and self.line in text)


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn as it is told."""

    number: int
    action: str
    prose: str
    line: str
    place: str
    scene: str


@dataclass(frozen=True, slots=True)
class Question:
    """A fact asked for so many turns after it was told."""

    fact: Fact
    distance: int
    style: str
    action: str

    @property
    def turn(self) -> int:
        """The turn in which it is asked."""
        return self.fact.turn + self.distance


class World:
    """A whole campaign of a seed, as data; `begin` writes what stands before the first turn."""

    def __init__(self, seed: int, turns: int = 1000, facts: int = 150, distances: tuple[int, ...] = DISTANCES) -> None:
        """`facts` is at most 150, ten of each kind; the more distances, the more questions."""
        self._dice = random.Random(seed)
        self._cast = [Person(*row[:4]) for row in _rows(words.PEOPLE)]
        self._places = [row[0] for row in _rows(words.PLACES) if row[1] == "location"]
        self._nouns = [thing.split()[-1] for kind in words.FACTS.values() for thing in kind["things"].split(", ")]
        self._adjectives = [thing.split()[0] for kind in words.FACTS.values() for thing in kind["things"].split(", ")]
        self._details = {kind: self._shuffled(made["details"]) for kind, made in words.FACTS.items()}
        self.facts = self._facts(turns, facts)
        self.turns = self._turns(turns)
        self.questions = [q for fact in self.facts for q in self._questions(fact, turns, distances)]

    @cached_property
    def _terms(self) -> Analyzer:
        return Analyzer(*language_tools("en"))

    def _shuffled(self, details: str) -> list[str]:
        found = details.split("; " if ";" in details else ", ")
        return self._dice.sample(found, len(found))

    # -- facts and questions

    def _facts(self, turns: int, count: int) -> list[Fact]:
        """Spread over the story, no two in a turn, the kinds mixed."""
        early = round(count * EARLY)
        first = self._dice.sample(range(2, turns // 10 + 1), early)
        rest = self._dice.sample(range(turns // 10 + 1, turns), count - early)
        about = [(kind, number) for number in range(10) for kind in words.FACTS][:count]
        self._dice.shuffle(about)
        return [self._fact(*one, turn) for one, turn in zip(about, [*first, *rest], strict=True)]

    def _fact(self, kind: str, number: int, turn: int) -> Fact:
        made, dice = words.FACTS[kind], self._dice
        thing = made["things"].split(", ")[number]
        adj, noun = thing.split()
        detail = self._details[kind][number]
        who, other = dice.sample(self._cast[1:], 2)
        slots = {"who": who.told, "other": other.told, "thing": thing, "detail": detail, "Detail": _capital(detail)}
        sentence = _capital(dice.choice(made["told"]).format(**slots))
        line = _capital(dice.choice(made["line"]).format(**slots))
        return Fact(kind, turn, who, adj, noun, sentence, line, dice.random() < IN_JOURNAL)

    def _questions(self, fact: Fact, turns: int, distances: tuple[int, ...]) -> list[Question]:
        """Each style at each distance for which the story is long enough."""
        near = [d for d in distances if fact.turn + d <= turns + 1]
        return [Question(fact, d, style, self._action(fact, style)) for d in near for style in STYLES]

    def _action(self, fact: Fact, style: str) -> str:
        called = {"named": fact.who.asked, "alias": fact.who.alias, "nameless": ""}[style]
        made = words.FACTS[fact.kind]["asked" if called else "nameless"]
        action = _capital(self._dice.choice(made).format(asked=called, noun=fact.noun, adj=fact.adj))
        allowed = set(self._terms.ask(f"{called} {fact.noun} {'' if called else fact.adj}"))
        shared = set(self._terms.ask(action)) & set(self._terms.counts(f"{fact.sentence} {fact.line}"))
        if shared - allowed:
            raise ValueError(f"{action!r} gives away {sorted(shared - allowed)} of {fact.sentence!r} / {fact.line!r}")
        if self._dice.random() < WITH_PREAMBLE:
            return f"{self._dice.choice(words.PREAMBLES)} {action}"
        return action

    # -- the story

    def _turns(self, count: int) -> list[Turn]:
        near: dict[int, list[str]] = {}
        told = {fact.turn: fact for fact in self.facts}
        for fact in self.facts:
            free = [n for n in range(1, count + 1) if n not in told]
            for number in self._dice.sample(free, NEAR_MISSES):
                near.setdefault(number, []).append(self._near_miss(fact))
        found: list[Turn] = []
        left = 0
        for number in range(1, count + 1):
            if not left:
                left = self._dice.randint(5, 10)
                place, cast = self._dice.choice(self._places), self._dice.sample(self._cast[1:], 4)
            left -= 1
            found.append(self._turn(number, place, cast, told.get(number), near.get(number, [])))
        return found

    def _near_miss(self, fact: Fact) -> str:
        other = self._dice.choice([p for p in self._cast[1:] if p != fact.who])
        text = self._dice.choice(words.DISTRACTORS)
        return text.format(who=fact.who.told, other=other.told, noun=fact.noun, adj=fact.adj)

    def _turn(self, number: int, place: str, cast: list[Person], fact: Fact | None, near: list[str]) -> Turn:
        sentences = [self._said(text, place, cast) for text in self._dice.sample(words.BETWEEN, SENTENCES)]
        for one in [*near, *([fact.sentence] if fact else [])]:
            sentences.insert(self._dice.randint(1, len(sentences) - 1), one)
        third = len(sentences) // 3
        prose = "\n\n".join(
            " ".join(part) for part in (sentences[:third], sentences[third : 2 * third], sentences[2 * third :])
        )
        line = fact.line if fact and fact.in_journal else self._said(self._dice.choice(words.LINES), place, cast)
        action = self._said(self._dice.choice(words.ACTIONS), place, cast)
        return Turn(number, action, prose, line, place, f"{cast[0].told} and {cast[1].told} at {place}")

    def _said(self, text: str, place: str, cast: list[Person]) -> str:
        a, b = self._dice.sample(cast, 2)
        noun, adj = self._dice.choice(self._nouns), self._dice.choice(self._adjectives)
        return text.format(a=a.told, b=b.told, place=place, noun=noun, adj=adj)

    @property
    def names(self) -> list[str]:
        """The names of all entries."""
        return [person.name for person in self._cast] + [row[0] for row in _rows(words.PLACES)]


def begin(root: Path) -> None:
    """The campaign before its first turn: the template's instructions and style, this world's entries."""
    template.new(root, "The Moving Coast")
    for path in (
        p
        for folder in ("characters", "locations", "items", "rules", "arcs", "dm")
        for p in (root / folder).glob("*.md")
    ):
        path.unlink()
    settings = root / "rolecall.yaml"
    settings.write_text(settings.read_text().replace("git: auto", "git: off "))
    for name, _, _, alias, role, home, tied, about in _rows(words.PEOPLE):
        head = f"aliases:\n  - {alias}\nrole: {role}\nlocation: {home}\nrelationships:\n  - {{with: {tied}, nature: known}}\n"
        pinned = "pinned: true\n" if name == "Kit Harrow" else ""
        _entry(root, "character", name, head + pinned, about)
    for name, kind, alias, tied, about in _rows(words.PLACES):
        _entry(root, kind, name, f"aliases:\n  - {alias}\n", f"{about} See [[{tied}]].")
    (root / "campaign-state.md").write_text(
        "---\nname: Campaign State\ndate: In the year of the second survey\nscene: The first evening\nlocation: The Tin Kettle\n---\n"
        "A surveyor has come to a town whose coast does not stay where it is.\n\n"
        "## Party\n\n- [[Kit Harrow]], unhurt\n\n## Promises\n\n## Journal\n"
    )


def _entry(root: Path, kind: str, name: str, head: str, body: str) -> None:
    folder = root / (kind if kind == "lore" else f"{kind}s")
    folder.mkdir(exist_ok=True)
    (folder / f"{slug(name, 'entry')}.md").write_text(f"---\nname: {name}\nkind: {kind}\n{head}---\n{body}\n")


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
