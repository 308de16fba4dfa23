"""Names, read: what a name is about, and what stands beside it.

The core of a name is what is left without article, title, epithet and parentheses. Everything is compared folded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rolecall.campaign.patterns import Pattern
from rolecall.search import titles
from rolecall.search.analysis import APOSTROPHES

_LATIN = {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i"}
_LETTERS = {"ё": "е", "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ـ": ""}
_ASIDE = Pattern(r"[(\[（［【〔](.*?)[)\]）］】〕]")
_NICKNAME = Pattern(r'["“”„«»「『](.{1,40}?)["“”«»」』]')
_TAIL = Pattern(r"\s*[,،，、;]\s*|\s+[-–—]+\s+|\s*[–—]\s+|:\s+")
_OWNER = Pattern(rf"(\w+)(?:[{APOSTROPHES}]s|s[{APOSTROPHES}])(?!\w)")
_ELISION = Pattern(rf"^\s*l[{APOSTROPHES}]", re.I)  # the article of L'Étang
_LONE = titles.ARTICLES | {"s", "d", "e", "y"}  # single letters that are words
_COUNTED = Pattern(r"(\d+)(?:st|nd|rd|th|er|re|e|eme|ste|te|й|я|е|го)?")

# Scripts in which one character is as much as a word, so that no slip of the pen can be guessed.
UNSPACED = Pattern(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U000323af]"
)


LONGEST = 200  # characters of a name that are read


class _Folding(dict):
    """What each character becomes, worked out when first met."""

    def __missing__(self, code: int) -> str:
        self[code] = made = _folded_character(chr(code))
        return made


def _folded_character(char: str) -> str:
    if char in _LATIN or char in _LETTERS:
        return {**_LATIN, **_LETTERS}[char]
    if char in APOSTROPHES or "\u0300" <= char <= "\u036f" or "\u0591" <= char <= "\u05c7":
        return ""
    if "\u064b" <= char <= "\u065f" or char == "\u0670":  # the short vowels of Arabic, which few write
        return ""
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.digit(char))
    if category[0] == "L" and unicodedata.name(char, "").startswith(("LATIN", "GREEK")):
        return unicodedata.normalize("NFD", char)[0]
    return char if category[0] in "LMN" else "" if category == "Cf" else " "


_FOLDING = _Folding()


def folded(text: str) -> str:
    """Text as it is compared: compatible forms are one, no case, no apostrophes or punctuation, single spaces.

    Accents go where leaving them out is only another spelling: Latin and Greek letters, Cyrillic yo, the vowel marks of
    Arabic and Hebrew. The marks of other scripts are letters and stay. Digits of every script become 0-9.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = text.casefold()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.translate(_FOLDING).split())


# -- reading a name


@dataclass(frozen=True, slots=True)
class Reading:
    """A name, read. `core` is what it is about; `key` is the core without spaces: names with one key look alike.

    `titles` are (title, bearer); `called` is what follows the name of a person, `aside` what stands in parentheses.
    `marks` are the numbers and single letters of the whole name. `sides` are the sides it takes in contrasts, `alone`
    those that count against a name without. `owner` is who has it (`Sera's Knife`), `others` are more names of it.
    """

    core: tuple[str, ...]
    key: str
    titles: tuple[tuple[str, str], ...]
    called: str
    aside: str
    marks: tuple[str, ...]
    sides: frozenset[tuple[int, int]]
    alone: frozenset[tuple[int, int]]
    owner: str
    others: tuple[str, ...]


@lru_cache(maxsize=60_000)
def read_name(name: str, person: bool) -> Reading:
    """A name read as that of a person (or another living thing), or of anything else; its first 200 characters."""
    name = name[:LONGEST]
    aside = " ".join(folded(m) for m in _ASIDE.findall(name))
    rest = _ELISION.sub(" ", _ASIDE.sub(" ", name))
    head, *tail = _TAIL.split(rest.strip(), maxsplit=1)
    if not folded(head):
        head, tail = rest, []
    nickname = _NICKNAME.search(head) if person else None
    if nickname:
        head = head[: nickname.start()] + " " + head[nickname.end() :]
    words = [numbered(word) for word in folded(head).split()] or folded(name).split() or name.casefold().split()
    others = [nickname[1]] if nickname else []
    called = folded(tail[0]) if tail else ""
    borne: tuple[tuple[str, str], ...] = ()
    if person:
        words, also = _also(words)
        others += also
        words, borne = _without_titles(words)
        words, epithet = _without_epithet(words)
        called = called or epithet
    elif words:
        words = [*(titles.ABBREVIATED.get(word, word) for word in words[:-1]), words[-1]]
    core = tuple(_without_article(words))
    return Reading(
        core=core,
        key="".join(core),
        titles=borne,
        called=called,
        aside=aside,
        marks=_marks(head + " " + called + (" " + aside if len(aside.split()) <= 2 else "")),
        sides=sides_of((*core, *called.split(), *aside.split())),
        alone=_alone(core, called),
        owner=folded(owner[1]) if (owner := _OWNER.search(head)) else "",
        others=tuple(others),
    )


def numbered(word: str) -> str:
    """A folded word, or `#3` for a number however it is written."""
    counted = _COUNTED.fullmatch(word)
    if counted:
        return f"#{int(counted[1])}"
    number = titles.numbers().get(word) if len(word) > 1 or word in "ivx" else None
    return f"#{number}" if number else word


def _without_article(words: list[str]) -> list[str]:
    while len(words) > 1 and words[0] in titles.ARTICLES:
        words = words[1:]
    return [word[2:] if word.startswith("ال") and len(word) > 4 else word for word in words]


def _also(words: list[str]) -> tuple[list[str], list[str]]:
    """The words before and after `also known as`."""
    text = " ".join(words)
    for link in titles.ALSO:
        before, found, after = text.partition(f" {link} ")
        if found and before and after:
            return before.split(), [" ".join(_without_article(after.split()))]
    return words, []


def title_of(word: str) -> tuple[str, str] | None:
    """(title, bearer) of a word that is a title or says what somebody does; None for any other."""
    found = titles.titles().get(word)
    if found is None and len(word) > 7 and word.endswith(titles.WORK):
        return word, "-"
    if found is None and word.endswith("in") and (man := titles.titles().get(word[:-2])):  # Professorin
        return man[0], "f"
    return found


def _without_titles(words: list[str]) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """A person's name without titles before and after it; a name of titles alone (`The Captain`) keeps them."""
    found, left = [], list(words)
    while left:
        title = title_of(left[0])
        if title:
            found.append(title)
        elif not (left[0] in titles.ARTICLES and (found or title_of(left[1] if len(left) > 1 else ""))):
            break
        left = left[1:]
    while len(left) > 1 and (title_of(left[-1]) or ("", ""))[0] in ("mister", "mistress"):
        found.append(title_of(left.pop()))
    before, after = titles.attached()
    if left and UNSPACED.match(left[-1]):
        for word, title in after.items():
            if left[-1].endswith(word) and len("".join(left)) > len(word):
                found.append(title)
                left[-1] = left[-1].removesuffix(word)
                break
        for word, title in before.items():
            if left[0].startswith(word) and len(left[0]) > len(word) + 1:
                found.append(title)
                left[0] = left[0].removeprefix(word)
                break
    elif len(left) > 1 and left[-1] == "जी":
        left.pop()
    left = [word for word in left if word]
    return (left, tuple(found)) if left else (words, ())


def _without_epithet(words: list[str]) -> tuple[list[str], str]:
    """A person's name without `the Shadow` after it."""
    for at, word in enumerate(words):
        if 0 < at < len(words) - 1 and word in titles.EPITHET:
            return words[:at], " ".join(words[at + 1 :])
    return words, ""


def _marks(name: str) -> tuple[str, ...]:
    """What tells one of a series, sorted: numbers, single letters but articles, numerals of Chinese characters."""
    found = []
    words = folded(name).split()
    for word, after in zip(map(numbered, words), [*words[1:], ""], strict=False):
        if after.endswith("ed") and word.startswith("#"):  # one-eyed, three-legged
            continue
        if word.startswith("#") or (len(word) == 1 and word.isascii() and word not in _LONE):
            found.append(word)
        elif word.isascii():
            if word[0].isdigit() or word[-1].isdigit():
                found.append(word)
        else:
            found += [f"#{titles.HAN_DIGITS[char]}" for char in word if char in titles.HAN_DIGITS]
            found += [f"#{int(digits)}" for digits in re.findall(r"[0-9]+", word)]
    return tuple(sorted(found))


def sides_of(words: Iterable[str]) -> frozenset[tuple[int, int]]:
    """The sides that words take: (number of the contrast, number of the side)."""
    known = titles.contrasts()
    return frozenset(place for word in words for place in known.get(word, ()))


def _alone(core: tuple[str, ...], called: str) -> frozenset[tuple[int, int]]:
    """The sides that count against a name without: a direction in the name itself, an age anywhere."""
    beside = frozenset(side for side in sides_of(called.split()) if side[0] == 1)
    return frozenset(side for side in sides_of(core) if side[0] < titles.TELLING_ALONE) | beside
