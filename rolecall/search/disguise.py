"""Words in disguise: look-alike letters of another script, entities, tags, marks between letters, words run together.

`unmasked` gives a text as a reader would see it. `Squeezed` finds words in a row whatever stands between their letters.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import unquote

GRAM = 14  # letters: words run together that are fewer than that prove nothing
_UNSEEN = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2064\u3164\ufe00-\ufe0f\uffa0"
    r"\U000e0000-\U000e0fff]"
)
_OVERLAYS = re.compile(r"[\u0334-\u0338\u20d0-\u20ea]")  # strokes and rings through letters
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_ENTITY = re.compile(r"&#?\w{1,32};")
_PERCENT = re.compile(r"((?:%[0-9a-fA-F]{2})++)(\w?)")
_BETWEEN = re.compile(r"(?<=\w)[*~`\\]+(?=\w)")
_WORD = re.compile(r"\w+")
_SHAPES = ("<font>", "<wide>", "<circle>", "<square>", "<super>", "<sub>")
# Letters that look like Latin ones (Unicode's confusables, those of Greek, Cyrillic and the small capitals).
_LOOKS = {
    **dict(zip("аеорсухіјѕһԁԛԝьɡѵ", "aeopcyxijshdqwbgv", strict=True)),
    **dict(zip("АВЕКМНОРСТХІЈЅУԌԚԜ", "ABEKMHOPCTXIJSYGQW", strict=True)),
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True)),
    **dict(zip("ονικαρυχγτ", "ovikapuxyt", strict=True)),
    **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True)),
    **dict(zip("ıɑℓ", "ial", strict=True)),
}
_LATIN = str.maketrans(_LOOKS)


def unmasked(text: str) -> str:
    """The text without what cannot be seen, with entities as their characters, tags gone, and letters as what they look like.

    A text that wears no disguise comes back as it is (in NFC).
    """
    for _ in range(3):
        if not _ENTITY.search(text):
            break
        text = html.unescape(text)
    text = _PERCENT.sub(lambda found: unquote(found[1], errors="ignore") + found[2] if found[2] else found[0], text)
    text = _TAG.sub("", _COMMENT.sub("", text)) if "<" in text else text
    text = _BETWEEN.sub("", _UNSEEN.sub("", text))
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", _OVERLAYS.sub("", text))
    text = "".join(map(_plain, text))
    disguised = not any(_is_of_elsewhere(char) for char in text)  # all that is not Latin only looks like it
    return _WORD.sub(lambda word: _latin(word[0], disguised), text)


def _plain(char: str) -> str:
    """A letter or digit out of its fancy shape: bold, wide, circled."""
    if char.isascii() or not (shape := unicodedata.decomposition(char)).startswith(_SHAPES):
        return char
    bare = unicodedata.normalize("NFKC", char)
    told = bare.isalpha() if shape.startswith(("<super>", "<sub>")) else bare.isalnum()
    return bare if told and bare.isascii() else char


@lru_cache(maxsize=4096)
def _is_of_elsewhere(char: str) -> bool:
    """Whether a letter belongs to a script that looks like Latin in places, and does not look like it itself."""
    return char.isalpha() and char not in _LOOKS and unicodedata.name(char, "").startswith(("CYRILLIC", "GREEK"))


def _latin(word: str, disguised: bool) -> str:
    if word.isascii() or not any(char in _LOOKS for char in word):
        return word
    mixed = any("a" <= char <= "z" or "A" <= char <= "Z" for char in word)
    return word.translate(_LATIN) if mixed or disguised else word


def letters(text: str) -> str:
    """The letters and digits of a text alone, without accents and in one case."""
    bare = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in bare if char.isalnum())


class Squeezed:
    """A text as its letters alone, and where each of them stands in it."""

    def __init__(self, text: str) -> None:
        found = [(char, at) for at, each in enumerate(text) for char in letters(each)]
        self.letters = "".join(char for char, _ in found)
        self.starts = [at for _, at in found]
        self._grams = {self.letters[at : at + GRAM] for at in range(len(self.letters) - GRAM + 1)}

    def place(self, row: Sequence[str]) -> int | None:
        """Where these words begin in the text when nothing but letters counts; None where they do not stand there."""
        sought = _joined(tuple(row))
        if len(sought) < GRAM or sought[:GRAM] not in self._grams:
            return None
        at = self.letters.find(sought)
        return self.starts[at] if at >= 0 else None


@lru_cache(maxsize=40_000)
def _joined(row: tuple[str, ...]) -> str:
    return letters("".join(row))
