"""What the continuity check looks at: the prose, read once, with the scene it belongs to; and what a finding is."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rolecall.agents.standing import Standing, standing
from rolecall.campaign import secrets
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.narration import Sentence, sentences, without_speech
from rolecall.campaign.patterns import Pattern
from rolecall.search import titles
from rolecall.search.analysis import Word, words
from rolecall.search.names import Mention
from rolecall.search.searcher import Search

# Words that begin sentences and are nobody's name, in the languages with capitals.
_LIGHT_WORDS = """
    he she it they we you i his her its their our your my this that these those here there then now when while where what who why how and or but so
    if as at in on of to for from by with without after before behind under over above below beside between through into onto out up down off not no
    nobody nothing somebody something someone everyone everybody everything every each both all some any none only just even still yet once again
    one two three four five six seven eight nine ten eleven twelve somewhere outside inside yes perhaps maybe well good oh ah god gods
    was were is are be been had has have do does did will would could should may might can let
    er sie es wir ihr ich du sein seine ihre und oder aber wenn als dann da hier dort was wer wie wo im in am an auf aus bei mit nach von vor zu zum zur nur noch nicht kein keine
    il elle ils elles on nous vous je tu son sa ses leur et ou mais si quand alors ici là que qui dans sur sous avec sans pour par ne pas rien
    él ella ellos ellas nosotros usted yo tú su sus y o pero si cuando entonces aquí allí que quien en con sin por para no nada
    он она оно они мы вы я ты его её ее их и или но если когда тогда здесь там что кто в на с из к у от за под над не ни
"""
_LIGHT = frozenset(_LIGHT_WORDS.split())


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in the prose that is at odds with the campaign.

    `rule` is one of `misspelt`, `near-name`, `renamed`, `dead`, `two-places`, `two-owners`, `date`, `hidden`; `severity` is
    `error` (worth a repair round) or `warning`. `text` says it in one line; `sentence` is the prose's own. `path` is the
    entry it is about, `expected` what that says, `found` what the prose says. `secret`: it is about hidden truth, and
    then none of it repeats what is hidden.
    """

    rule: str
    severity: str
    text: str
    sentence: str
    path: str = ""
    expected: str = ""
    found: str = ""
    secret: bool = False


@dataclass(slots=True)
class Scene:
    """The prose of a turn with all that the rules ask of it."""

    prose: str
    told: str
    sentences: tuple[Sentence, ...]
    state: Document
    search: Search
    action: str
    hidden: tuple[str, ...]
    standing: Standing
    language: str
    mentions: list[Mention]
    words: tuple[Word, ...]
    place: str
    player: str
    party: dict[str, str]
    at_hand: frozenset[str]
    fallen: dict[str, int]
    memo: dict = field(default_factory=dict)

    @classmethod
    def of(
        cls, prose: str, state: Document, search: Search, campaign: Campaign, action: str, hidden: list[str]
    ) -> Scene:
        """Read the prose and look up what it speaks of."""
        prose = unicodedata.normalize("NFC", prose)
        known = standing(campaign, search)
        mentions = search.mentions(prose)
        around = search.mentions(f"{_open_text(state)}\n{action}")
        party = _party(state, search, known)
        return cls(
            prose=prose,
            told=without_speech(prose),
            sentences=sentences(prose),
            state=state,
            search=search,
            action=action,
            hidden=tuple(hidden),
            standing=known,
            language=campaign.settings.language,
            mentions=mentions,
            words=tuple(words(prose)),
            place=known.one_named(state.text("location")),
            player=next((p for p in party if (e := known.open_entry(p)) and e.pinned), ""),
            party=party,
            at_hand=frozenset(m.path for m in (*mentions, *around)),
            fallen=known.fallen(state),
        )

    def sentence_at(self, at: int) -> Sentence:
        """The sentence in which a character of the prose stands."""
        return self.sentences[self.number_at(at)]

    def number_at(self, at: int) -> int:
        """The number of that sentence, from 0."""
        starts = self.once("starts", lambda: [sentence.start for sentence in self.sentences])
        return max(0, bisect_right(starts, at) - 1)

    def says(self, number: int, cue: Pattern) -> bool:
        """Whether a cue stands in what a sentence tells (not in what is said in it); False for a number out of range."""
        if not 0 <= number < len(self.sentences):
            return False
        return self.once((number, cue), lambda: bool(cue.search(self.sentences[number].told)))

    def once(self, key: object, work: Callable[[], Any]) -> Any:
        """The result of a piece of work that is done once for a prose."""
        if key not in self.memo:
            self.memo[key] = work()
        return self.memo[key]

    def open_state(self) -> str:
        """The Campaign State without what is secret."""
        return _open_text(self.state)

    def is_proper(self, mention: Mention) -> bool:
        """Whether an entry is called by its proper name, not by a common word (`the captain`)."""
        written = self.prose[mention.start : mention.end].removeprefix("The ").removeprefix("the ")
        first, known = written[:1], mention.name.removeprefix("The ").removeprefix("the ")[:1]
        caseless = first.upper() == first.lower()
        return caseless or (first.isupper() and known.isupper())

    def is_name(self, span: tuple[int, int]) -> bool:
        """Whether a mention is written as a name; `Book` at the head of a sentence may be an alias and a word."""
        return any(c.isupper() or c.upper() == c.lower() != " " for c in self.prose[span[0] : span[1]])

    def is_light(self, word: str) -> bool:
        """Whether a folded word is nobody's name."""
        return word in _LIGHT

    def knows(self, word: Word) -> bool:
        """Whether a word is part of a known name, perhaps in the plural or with an ending of its language."""
        known = self.standing.names.has_word
        if known(word.stem) or known(word.text) or word.stem in titles.titles():
            return True
        if not self.inflects(word.stem):
            return word.stem.endswith("s") and (known(word.stem[:-1]) or known(word.stem[:-2]))
        return any(len(word.stem) - cut > 2 and known(word.stem[:-cut]) for cut in (1, 2, 3))

    def inflects(self, word: str) -> bool:
        """Whether names change their endings in the word's script or the campaign's language."""
        return any("\u0370" <= c <= "\u04ff" for c in word) or self.language[:2] in _INFLECTED

    def beside(self, stranger: object) -> frozenset[str]:
        """The entries named right before or behind an unknown word: `Hob` in `Hob Garow`."""
        near = (m for m in self.mentions if self.is_proper(m))
        return frozenset(m.path for m in near if stranger.start == m.end + 1 or m.start == stranger.end + 1)


_INFLECTED = {"ru", "uk", "pl", "cs", "sk", "sl", "hr", "sr", "bg", "el", "la", "fi", "et", "hu", "tr", "lt", "lv"}


def _open_text(state: Document) -> str:
    """The Campaign State without what is secret: its fields, its party and promises, its Journal."""
    parts = [value for value in secrets.open_fields(state.fields).values() if isinstance(value, str)]
    return "\n".join([*parts, *(section.text for section in secrets.open_sections(state))])


def _party(state: Document, search: Search, known: Standing) -> dict[str, str]:
    """Who is in the party, each with the place its line names (empty for the scene's)."""
    found: dict[str, str] = {}
    for line in state.lines("Party"):
        named = search.mentions(line)
        who = next(
            (m.path for m in named if (e := known.open_entry(m.path)) and e.kind in ("character", "creature")), ""
        )
        if who:
            places = (m.path for m in named if (e := known.open_entry(m.path)) and e.kind == "location")
            found[who] = next(places, "")
    return found
