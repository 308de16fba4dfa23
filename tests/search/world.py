"""Generated campaigns of any size: the same seed gives the same bytes.

The vocabulary is made up and follows Zipf's law, so posting lists have the lengths that real prose gives them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FILLER = [
    "the",
    "a",
    "and",
    "of",
    "to",
    "in",
    "was",
    "he",
    "she",
    "it",
    "that",
    "with",
    "for",
    "on",
    "at",
    "by",
    "from",
    "his",
    "her",
    "their",
    "they",
    "had",
    "as",
    "but",
    "not",
    "is",
    "this",
    "all",
    "there",
    "when",
    "one",
    "out",
    "up",
    "into",
    "over",
    "them",
    "then",
    "who",
    "could",
    "would",
    "no",
    "if",
    "so",
    "what",
    "about",
    "down",
    "only",
    "like",
    "again",
    "back",
    "after",
    "before",
    "still",
    "through",
]
_ONSETS = [
    "b",
    "br",
    "c",
    "ch",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gl",
    "h",
    "k",
    "kr",
    "l",
    "m",
    "n",
    "p",
    "pr",
    "r",
    "s",
    "sh",
    "sk",
    "st",
    "t",
    "th",
    "tr",
    "v",
    "w",
    "y",
    "z",
]
_VOWELS = ["a", "e", "i", "o", "u", "ae", "ea", "io", "ou"]
_CODAS = ["", "", "l", "m", "n", "r", "s", "t", "th", "nd", "rk", "sk", "x"]
_FOLDERS = {
    "characters": "character",
    "locations": "location",
    "organizations": "organization",
    "items": "item",
    "creatures": "creature",
    "events": "event",
    "lore": "lore",
}


@dataclass(slots=True)
class World:
    """A source of names and sentences."""

    rng: random.Random
    words: list[str]
    weights: list[float]

    @classmethod
    def of(cls, seed: int, vocabulary: int = 12_000) -> World:
        """The world of a seed."""
        rng = random.Random(seed)
        words = list(dict.fromkeys(_word(rng) for _ in range(vocabulary * 2)))[:vocabulary]
        return cls(rng, words, [1 / (rank + 8) for rank in range(len(words))])

    def name(self) -> str:
        """A proper name of two made-up words."""
        return f"{_word(self.rng).capitalize()} {_word(self.rng).capitalize()}"

    def prose(self, count: int) -> str:
        """About `count` words in sentences; nearly half of them are function words, as in English."""
        picked = iter(self.rng.choices(self.words, self.weights, k=count + 20))
        out: list[str] = []
        while len(out) < count:
            length = self.rng.randint(7, 16)
            sentence = [self.rng.choice(_FILLER) if self.rng.random() < 0.45 else next(picked) for _ in range(length)]
            out += [sentence[0].capitalize(), *sentence[1:-1], sentence[-1] + "."]
        return " ".join(out)


def _word(rng: random.Random) -> str:
    return "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(rng.randint(2, 3)))


def entries(world: World, count: int) -> Iterator[tuple[str, str]]:
    """(path, text) of `count` entries: front matter, a description, traits and a history, tied to one another."""
    names = [world.name() for _ in range(count)]
    for number, name in enumerate(names):
        folder, kind = list(_FOLDERS.items())[number % len(_FOLDERS)]
        friend, place = world.rng.choice(names), world.rng.choice(names)
        history = "\n".join(f"- T{world.rng.randint(1, 3000):04} {world.prose(14)}" for _ in range(6))
        text = (
            f"---\nname: {name}\nkind: {kind}\naliases: [The {world.name()}]\nlocation: {place}\nrelationships:\n"
            f"  - {{with: {friend}, nature: owes}}\n---\n{world.prose(90)}\n\n{world.prose(70)}\n\n## Ways\n\n"
            f"{world.prose(110)}\n\n## History\n\n{history}\n"
        )
        yield f"{folder}/{number:05}-{name.split()[0].lower()}.md", text


def chapters(world: World, turns: int, each: int = 50) -> Iterator[tuple[str, str]]:
    """(path, text) of the chapters of a story of so many turns."""
    for number, first in enumerate(range(1, turns + 1, each), 1):
        parts = [f"---\nname: Chapter {number}\ndate: day {number} of the thaw\n---\n"]
        for turn in range(first, min(first + each, turns + 1)):
            parts.append(f"\n## T{turn:04}\n\n> I {world.prose(8)}\n\n{world.prose(120)}\n")
        yield f"story/{number:03}-chapter.md", "".join(parts)


def write(root: Path, files: Iterator[tuple[str, str]]) -> list[str]:
    """Write files into a campaign folder; gives their paths."""
    paths = []
    for path, text in files:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
        paths.append(path)
    return paths


def campaign(root: Path, count: int, turns: int, seed: int = 1) -> list[str]:
    """A campaign folder with so many entries and turns; gives the paths of its files."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "rolecall.yaml").write_bytes(b"format: 1\nname: Generated\n")
    world = World.of(seed)
    return write(root, entries(world, count)) + write(root, chapters(world, turns))
