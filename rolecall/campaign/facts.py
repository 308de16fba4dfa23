"""Whether a retelling holds what a journal line said: the completeness check of a fold.

A line is held when two adjacent sentences of the prose contain all its names, numbers and quoted words and a third of
its content words. A line with a promise or a debt is never taken as held: it always becomes a fact, word for word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest

from rolecall.campaign.text import fold

HELD_SHARE = 1 / 3  # of a line's content words

_PROMISE = re.compile(
    r"\b(?:promis\w*|swor[en]|swear\w*|vow\w*|oath\w*|pledg\w*|owe[sd]?|owing|debts?|indebted|guarantee\w*|"
    r"her word|his word|their word|my word|your word|bargain\w*|wager\w*|sworn)\b",
    re.I,
)
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,})[\"”»]|‘([^‘’]{2,})’")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…][\"”’»)])\s+|(?<=[。！？])|\n+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")

# Number words up to twelve, and words that carry nothing by themselves.
_COUNTS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
    "eleven": "11", "twelve": "12",
}  # fmt: skip
_LIGHT = {
    "the", "a", "an", "and", "or", "but", "if", "of", "to", "in", "on", "at", "by", "for", "from", "with", "into",
    "onto", "over", "under", "is", "are", "was", "were", "be", "been", "it", "its", "this", "that", "these", "those",
    "he", "she", "they", "them", "his", "her", "their", "him", "you", "your", "i", "me", "my", "we", "our", "us",
    "as", "not", "no", "so", "than", "then", "there", "here", "who", "whom", "which", "what", "when", "where", "how",
    "why", "had", "has", "have", "do", "did", "does", "will", "would", "could", "should", "may", "might", "can", "up",
    "down", "out", "off", "after", "before", "again", "while",
}  # fmt: skip


def has_promise(text: str) -> bool:
    """Whether a line speaks of a promise, an oath, a bargain or a debt (English words; see also `## Promises`)."""
    return bool(_PROMISE.search(text))


def sentences(prose: str) -> list[str]:
    """The sentences of a text, by end marks and line ends."""
    return [part.strip() for part in _SENTENCE.split(prose) if part and part.strip()]


def names_in(text: str, known: Iterable[str] = ()) -> set[str]:
    """The names a line holds, folded: known names, and capitalised words that do not begin a sentence."""
    folded = fold(text)
    found = {name for name in map(fold, known) if name and _mentions(folded, name)}
    for sentence in sentences(text):
        words = list(_WORD.finditer(sentence))
        for number, word in enumerate(words):
            if number and word[0][0].isupper() and fold(word[0]) not in _LIGHT:
                found.add(fold(re.sub(r"['’]s$", "", word[0])))
    return found


def _mentions(folded: str, name: str) -> bool:
    at = folded.find(name)
    while at >= 0:
        before, after = folded[at - 1 : at], folded[at + len(name) : at + len(name) + 1]
        if _UNSPACED.search(name) or not (before.isalnum() or after.isalnum()):
            return True
        at = folded.find(name, at + 1)
    return False


def content_words(text: str) -> set[str]:
    """The words that carry a line's meaning, folded and cut to six letters (so that `burned` meets `burning`)."""
    found = set()
    for word in _WORD.findall(fold(text)):
        word = word.removesuffix("'s")
        if _UNSPACED.search(word):
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif len(word) > 2 and word not in _LIGHT:
            found.add(word[:6].rstrip("s") if len(word) > 4 else word)
    return found


def numbers_in(text: str) -> set[str]:
    """The numbers of a text; `three` counts as 3."""
    words = (word.casefold() for word in _WORD.findall(text))
    return set(_NUMBER.findall(text)) | {_COUNTS[word] for word in words if word in _COUNTS}


def quotes_in(text: str) -> set[str]:
    """What stands between quotation marks, folded."""
    return {fold(first or second).strip(".,!?") for first, second in _QUOTED.findall(text)}


def held(line: str, prose: str, known: Iterable[str] = ()) -> bool:
    """Whether two adjacent sentences of the prose hold the line."""
    return not missing([line], prose, known)


def missing(lines: list[str], prose: str, known: Iterable[str] = ()) -> list[int]:
    """The positions of the lines that the prose does not hold, those with a promise among them."""
    parts = sentences(prose)
    pairs = [f"{one} {two}" for one, two in zip_longest(parts, parts[1:], fillvalue="")]
    known = [name for name in known if len(name) > 1]
    read = [(fold(pair), numbers_in(pair), content_words(pair)) for pair in pairs]
    return [number for number, line in enumerate(lines) if has_promise(line) or not _held(line, read, known)]


def _held(line: str, read: list[tuple[str, set[str], set[str]]], known: list[str]) -> bool:
    names, numbers, quotes = names_in(line, known), numbers_in(line), quotes_in(line)
    words = content_words(line) - content_words(" ".join(names))  # names are asked for by themselves
    if not (names or numbers or quotes or words):  # `Go!`: nothing to look for but the line itself
        return any(fold(line).rstrip(".!?") in text for text, _, _ in read)
    for text, its_numbers, its_words in read:
        if not numbers <= its_numbers or not all(quote in text for quote in quotes):
            continue
        if all(_mentions(text, name) for name in names) and len(words & its_words) >= len(words) * HELD_SHARE:
            return True
    return False
