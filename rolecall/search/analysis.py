"""From text to the terms that are indexed and asked for.

Every script is searchable. Scripts with spaces give words: case-folded, stemmed by the campaign's language, Latin
letters without their accents. Scripts written without spaces (and Hangul, whose particles cling to the word) give
single characters and pairs of neighbours. A text and a query pass through the same steps, so that what is written one
way is found when asked the other way: NFC or NFD, with a straight or a curly apostrophe, `Ka'el` or `kael`.

Stop words are indexed too; a query drops them, unless nothing else is left of it.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

# Combining characters (Unicode 14 categories Mn, Mc, Me): `\w` leaves them out, yet they belong to the word around them.
# Gaps that hold nothing but letters, digits or unassigned characters are closed to keep the list short.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    r"\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1"
    r"\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83"
    r"\u0cbc-\u0d4d\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f18-\u0f19\u0f35\u0f37"
    r"\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f\u1712-\u1734\u1752-\u17d3"
    r"\u17dd\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3"
    r"\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f\u3099-\u309a"
    r"\ua66f-\ua672\ua674-\ua67d\ua69e-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d"
    r"\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5-\uaaf6\uabe3-\uabea\uabec-\uabed"
    r"\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\U000101fd-\U0001037a\U00010a01-\U00010a3f\U00010ae5-\U00010ae6"
    r"\U00010d24-\U00010eac\U00010f46-\U00010f50\U00010f82-\U00010f85\U00011000-\U00011046\U00011070-\U000110ba"
    r"\U000110c2\U00011100-\U00011134\U00011145-\U00011173\U00011180-\U000111c0\U000111c9-\U000111cc"
    r"\U000111ce-\U000111cf\U0001122c-\U00011237\U0001123e\U000112df-\U00011446\U0001145e-\U000114c3"
    r"\U000115af-\U000115c0\U000115dc-\U00011640\U000116ab-\U000116b7\U0001171d-\U0001172b\U0001182c-\U0001183a"
    r"\U00011930-\U00011943\U000119d1-\U000119e0\U000119e4-\U00011a3e\U00011a47-\U00011a99\U00011c2f-\U00011c3f"
    r"\U00011c92-\U00011ef6\U00016af0-\U00016af4\U00016b30-\U00016b36\U00016f4f-\U00016f92\U00016fe4-\U00016ff1"
    r"\U0001bc9d-\U0001bc9e\U0001cf00-\U0001cf46\U0001d165-\U0001d169\U0001d16d-\U0001d172\U0001d17b-\U0001d182"
    r"\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad\U0001d242-\U0001d244\U0001da00-\U0001da36\U0001da3b-\U0001da6c"
    r"\U0001da75\U0001da84\U0001da9b-\U0001e136\U0001e2ae-\U0001e2ef\U0001e8d0-\U0001e94a"
)

# Scripts written without spaces between words, and Hangul.
_UNSPACED = (
    r"\u0e01-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3041-\u309f\u30a1-\u30ff"
    r"\u3105-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uaa60-\uaa7f\uac00-\ud7a3\uf900-\ufaff"
    r"\uff66-\uff9f\U00020000-\U000323af"
)

APOSTROPHES = "'\u2019\u2018\u02bc\u02bb\uff07"

_LATIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i"})

# Terms kept in memory once worked out; a campaign has some tens of thousands of different words.
_MEMORY = 200_000


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A word with its apostrophes, and a stretch of unspaced script in it."""
    word = re.compile(rf"[\w{_MARKS}]+(?:[{APOSTROPHES}][\w{_MARKS}]+)*")
    unspaced = re.compile(rf"[{_UNSPACED}](?:[{_UNSPACED}]|[{_MARKS}])*")
    return word, unspaced


def fold(text: str) -> str:
    """Text in the form in which it is compared: NFC, case-folded, one kind of apostrophe."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    for mark in APOSTROPHES[1:]:
        text = text.replace(mark, "'")
    return text


class Word(NamedTuple):
    """A word of a running text: where it stands (character offsets) and its folded spelling without apostrophes.

    `stem` is the spelling without a possessive ending, where it has one. In a script without spaces each written
    character is a word of its own, and `unspaced` is true.
    """

    start: int
    end: int
    text: str
    stem: str
    unspaced: bool


def words(text: str) -> Iterator[Word]:
    """The words of a text in order. Offsets count characters of the text as given (bring it to NFC first)."""
    word, unspaced = _patterns()
    for found in word.finditer(text):
        token = found.group()
        if token.isalnum() and token.isascii():  # most are: no apostrophe, no underscore, nothing to fold but capitals
            yield Word(found.start(), found.end(), spelling := token.lower(), spelling, False)
            continue
        for start, end, alone in _stretches(token, unspaced):
            start += found.start()
            end += found.start()
            if alone:
                for one in _characters(text[start:end]):
                    spelling = fold(one)
                    yield Word(start, start + len(one), spelling, spelling, True)
                    start += len(one)
            else:
                for piece in re.finditer(r"[^_]+", text[start:end]):
                    spelling = fold(piece.group()).strip("'")
                    if plain := spelling.replace("'", ""):
                        stem = spelling.removesuffix("'s").replace("'", "")
                        yield Word(start + piece.start(), start + piece.end(), plain, stem or plain, False)


def _characters(text: str) -> list[str]:
    """The written characters of a stretch of unspaced script: letters with the marks on them."""
    found: list[str] = []
    for char in text:
        if found and unicodedata.category(char).startswith("M"):
            found[-1] += char
        else:
            found.append(char)
    return found


def _stretches(token: str, unspaced: re.Pattern[str]) -> Iterator[tuple[int, int, bool]]:
    """The token cut where its script changes between spaced and unspaced."""
    at = 0
    if not token.isascii():
        for run in unspaced.finditer(token):
            if run.start() > at:
                yield at, run.start(), False
            yield run.start(), run.end(), True
            at = run.end()
    if at < len(token):
        yield at, len(token), False


@dataclass(slots=True)
class Analyzer:
    """Turns texts into terms. `stem` and `stops` are those of the campaign's language (`index.language_tools`)."""

    stem: Callable[[str], str] | None = None
    stops: frozenset[str] = frozenset()
    _known: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict, repr=False)

    def counts(self, text: str) -> Counter[str]:
        """How often each term occurs in a text."""
        known = self._known
        if len(known) > _MEMORY:
            known.clear()
        found: list[str] = []
        for raw in _patterns()[0].findall(fold(text)):
            terms = known.get(raw)
            if terms is None:
                terms = known[raw] = self._work_out(raw)
            found += terms[0]
        return Counter(found)

    def ask(self, query: str) -> list[str]:
        """The terms of a query, each once, in order, without stop words; with them when nothing else is left."""
        content: dict[str, None] = {}
        every: dict[str, None] = {}
        for raw in _patterns()[0].findall(fold(query)):
            terms = self._known.get(raw) or self._work_out(raw)
            every.update(dict.fromkeys(terms[1]))
            if not self.is_stop(raw):
                content.update(dict.fromkeys(terms[1]))
        return list(content or every)

    def is_stop(self, word: str) -> bool:
        """Whether a folded word says nothing about what is asked for."""
        return word in self.stops or word.replace("'", "") in self.stops

    def _work_out(self, raw: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The terms of one folded token, to index and to ask for."""
        unspaced = _patterns()[1]
        index: list[str] = []
        ask: list[str] = []
        for start, end, alone in _stretches(raw, unspaced):
            piece = raw[start:end]
            if alone:
                singles = _characters(piece)
                pairs = [a + b for a, b in itertools.pairwise(singles)]
                index += singles + pairs
                ask += pairs or singles
            else:
                for part in piece.split("_"):
                    terms = self._word(part.strip("'"))
                    index += terms
                    ask += terms
        return tuple(index), tuple(ask)

    def _word(self, word: str) -> list[str]:
        """A spaced word: joined over its apostrophes, and the part behind an elision (`l'homme`, `d'Artagnan`)."""
        word = word.removesuffix("'s")
        if not word:
            return []
        forms = [word.replace("'", "")]
        if "'" in word:
            forms += [part for part in word.split("'")[1:] if len(part) > 3]
        return [_unaccented(self.stem(form) if self.stem and form.isalpha() else form) for form in forms if form]


def _unaccented(word: str) -> str:
    """Latin letters without accents; other scripts as they are."""
    if word.isascii():
        return word
    bare = "".join(c for c in unicodedata.normalize("NFD", word) if not "\u0300" <= c <= "\u036f").translate(_LATIN)
    return bare if bare.isascii() else word
