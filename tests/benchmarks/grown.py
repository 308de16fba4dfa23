"""A generated campaign of any size: entries that name each other, chapters of turns, Chronicles, a Journal."""

from __future__ import annotations

import random
from pathlib import Path

from rolecall.campaign.chronicles import Stretch, compose, own_words
from rolecall.campaign.journal import Line, turn_id

WORDS = [
    "ledger",
    "harbour",
    "lantern",
    "tide",
    "salt",
    "guild",
    "oath",
    "rope",
    "bell",
    "market",
    "winter",
    "road",
    "fever",
    "silver",
    "door",
    "chapel",
    "ferry",
    "storm",
    "letter",
    "poison",
    "ship",
    "debt",
    "key",
    "wolf",
    "mill",
    "border",
    "feast",
    "ash",
    "river",
    "tower",
    "mirror",
    "wool",
    "hawk",
    "bread",
    "grave",
    "crown",
    "map",
    "fog",
    "iron",
    "seed",
]
KINDS = (("character", "characters"), ("location", "locations"), ("item", "items"), ("organization", "organizations"))


def write(root: Path, entries: int, turns: int, chapter: int) -> None:
    """Write the campaign into a new folder."""
    dice = random.Random(entries * 31 + turns)
    root.mkdir(parents=True)
    (root / "rolecall.yaml").write_text("format: 1\nname: Grown\nlanguage: en\ngit: off\n")
    for number in range(entries):
        kind, folder = KINDS[number % len(KINDS)]
        _entry(root / folder, kind, number, entries, dice)
    for first in range(1, turns + 1, chapter):
        _chapter(root / "story", first, min(turns, first + chapter - 1), chapter, entries, dice)
    folded = max(0, turns - 12)
    for number, first in enumerate(range(1, folded + 1, 25), 1):
        _chronicle(root, number, first, min(folded, first + 24))
    lines = "\n".join(f"- {turn_id(n)} {_line(n)}" for n in range(folded + 1, turns + 1))
    (root / "campaign-state.md").write_text(
        "---\nname: Campaign State\ndate: 1492-13-01\nscene: A quarrel over the ledger\nlocation: Place1\n---\n\n"
        f"## Party\n\n- [[Name0]], tired\n\n## Promises\n\n- [ ] To Name4: bring the ledger (T0002)\n\n## Journal\n\n{lines}\n"
    )


def name(number: int) -> str:
    """The name of entry number so-and-so."""
    return f"{('Name', 'Place', 'Thing', 'Order')[number % 4]}{number}"


def _prose(dice: random.Random, words: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(words)).capitalize() + "."


def _entry(folder: Path, kind: str, number: int, entries: int, dice: random.Random) -> None:
    folder.mkdir(exist_ok=True)
    other = [name(dice.randrange(entries)) for _ in range(3)]
    body = "\n\n".join(_prose(dice, 60) + f" [[{other[i % 3]}]]" for i in range(2))
    (folder / f"{name(number).lower()}.md").write_text(
        f"---\nname: {name(number)}\nkind: {kind}\naliases: [The {WORDS[number % len(WORDS)]} {number}]\n"
        f"location: {other[0]}\nrelationships:\n  - {{with: {other[1]}, nature: debt}}\n---\n{body}\n\n## History\n\n- T0001 {_prose(dice, 12)}\n"
    )


def _chapter(folder: Path, first: int, last: int, chapter: int, entries: int, dice: random.Random) -> None:
    folder.mkdir(exist_ok=True)
    number = (first - 1) // chapter + 1
    told = [
        f"## {turn_id(n)}\n\n> I ask {name(n % entries)}.\n\n{_prose(dice, 110)} {name(n % entries)} waits.\n"
        for n in range(first, last + 1)
    ]
    head = f"---\nname: Chapter {number}\nkind: story\nchapter: {number}\n---\n\n"
    (folder / f"{number:03d}-chapter.md").write_text(head + "\n".join(told))


def _line(number: int) -> str:
    return f"{name(number)} asked {name(number + 4)} for the {WORDS[number % len(WORDS)]} of {WORDS[number * 7 % len(WORDS)]}, {number} marks."


def _chronicle(root: Path, number: int, first: int, last: int) -> None:
    lines = tuple(Line(n, _line(n), f"- {turn_id(n)} {_line(n)}", 0, 0, 0) for n in range(first, last + 1))
    stretch = Stretch(number, lines)
    path, data = compose(stretch, own_words(stretch), [])
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_bytes(data)
