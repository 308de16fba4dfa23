"""How alike two texts are: by runs of three characters, in any script, and by what each says for itself."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from rolecall.search import titles
from rolecall.search.likeness import contrast
from rolecall.search.readings import UNSPACED, numbered, sides_of

TEXT = 1200  # characters of a text that are compared
BITS = 8192
OWN_WORDS = 0.1  # the share of a text's words that may be its own when the other text has as many of its own


def trigrams(text: str) -> frozenset[str]:
    """The runs of three characters of a folded text, words padded by a space on each side.

    In a script without spaces two characters are as telling as three letters are, so that runs of two are taken there.
    """
    return frozenset(_runs(text[:TEXT]))


def _runs(text: str) -> Iterator[str]:
    padded = f" {text} "
    for at in range(len(padded) - 2):
        run = padded[at : at + 3]
        if run > "\u0e00" and UNSPACED.match(run):
            yield run[:2].strip()
        else:
            yield run


def signature(runs: frozenset[str]) -> int:
    """The runs as a set of bits, for counting at once what two texts share."""
    bits = bytearray(BITS // 8)
    for run in runs:
        place = zlib.crc32(run.encode()) % BITS
        bits[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(bits, "little")


def alike(a: frozenset[str], b: frozenset[str]) -> float:
    """The share of runs two texts have in common, 0 to 1 (Dice's coefficient)."""
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def texts_apart(a: str, b: str) -> bool:
    """Whether two folded texts are alike in words, not in fact.

    Each has a number, a side of a contrast or several words of its own where the other has others. What only one of
    them says does not count: it knows more.
    """
    words, others = set(a.split()), set(b.split())
    mine, theirs = words - others, others - words
    if contrast(sides_of(_signs(mine, a, b)), sides_of(_signs(theirs, b, a)), titles.TELLING_TEXTS):
        return True
    counted = [{n for word in side if (n := numbered(word)).startswith("#")} for side in (mine, theirs)]
    if counted[0] - counted[1] and counted[1] - counted[0]:
        return True
    own = min(_unmatched(mine, others), _unmatched(theirs, words))
    return own > max(1, OWN_WORDS * min(len(words), len(others)))


def _signs(own: set[str], text: str, other: str) -> set[str]:
    """The words a text has for itself and, in scripts without spaces, the characters."""
    return own if text.isascii() else own | {char for char in set(text) - set(other) if UNSPACED.match(char)}


def _unmatched(own: set[str], others: set[str]) -> int:
    """How many telling words of four letters and more have none in the other text that begins as they do."""
    begins = {word[:4] for word in others}
    telling = (word for word in own if len(word) >= 4 and word not in titles.SMALL and not UNSPACED.match(word))
    return sum(word[:4] not in begins for word in telling)
