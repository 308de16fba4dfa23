"""The fight as the Campaign State tells it, while one lasts:

    ## Combat

    - round: 2
    - turn: Valen
    - Valen: initiative 17
    - Bandit 1: initiative 12, hit points 5/7

A combatant with an entry of its own has its hit points there. A row that says neither initiative nor hit points, and is no link,
is a note of the writer's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rolecall.campaign.documents import Document
from rolecall.campaign.game import numbers
from rolecall.campaign.game.numbers import Number
from rolecall.campaign.game.rows import Row, name_in, rows_of, same_name
from rolecall.campaign.merging import key_of

HEADING = "Combat"
_INITIATIVE = re.compile(r"\binit(?:iative)?\b\.?\s*:?\s*(?P<n>[+-]?[0-9]{1,4})(?![\w/])", re.I)
_POINTS = re.compile(
    r"\b(?:hit points|hp)\b\s*:?\s*(?P<n>[0-9]{1,7}(?:\s*/\s*[0-9]{1,7})?)|(?P<m>[0-9]{1,7}(?:\s*/\s*[0-9]{1,7})?)\s*(?:hit points|hp)\b",
    re.I,
)
_ROUND = re.compile(r"round\s*:?\s*(?P<n>[0-9]{1,4})", re.I)
_TURN = re.compile(r"(?:turn(?:\s+of)?|on turn)\s*:?\s*(?P<n>\S.*)", re.I)


@dataclass(frozen=True, slots=True)
class Fighter:
    """A combatant: its name, its row, where it stands in the order (None: behind the others), its hit points if they are here."""

    name: str
    row: Row
    initiative: int | None
    hit_points: Number | None

    def with_points(self, value: int) -> str:
        """The row with other hit points."""
        return self.row.with_text(self.hit_points.changed(value))

    def with_initiative(self, value: int) -> str:
        """The row with another initiative, added behind the name where there was none."""
        text = self.row.text
        found = _INITIATIVE.search(text)
        if found:
            return self.row.with_text(f"{text[: found.start('n')]}{value}{text[found.end('n') :]}")
        head, colon, rest = _split(text)
        return self.row.with_text(f"{head}{colon or ':'} initiative {value}{', ' + rest if rest else ''}")


@dataclass(frozen=True, slots=True)
class Fight:
    """A fight under way. `round` is 1 and `turn` empty where nobody wrote them; the rows are None then."""

    round: int
    turn: str
    fighters: tuple[Fighter, ...]
    round_row: Row | None
    turn_row: Row | None
    notes: tuple[str, ...] = ()

    def fighter(self, name: str) -> Fighter | None:
        """The combatant of that name."""
        return next(iter(self.named(name)), None)

    def named(self, name: str) -> list[Fighter]:
        """Every combatant of that name: more than one where the writer wrote it so."""
        return [one for one in self.fighters if same_name(one.name, name)]

    def order(self) -> list[Fighter]:
        """The combatants in turn order: the highest initiative first, equal ones as they stand."""
        return sorted(self.fighters, key=lambda one: (one.initiative is None, -(one.initiative or 0)))

    def after(self, steps: int, able: Callable[[Fighter], bool]) -> tuple[str, int]:
        """(whose turn it is `steps` further on, the round it is then), passing over those who cannot act.

        Those of one name have one place, the first of theirs: whose turn it is says a name and no more.
        """
        first: dict[str, str] = {}
        for one in self.order():
            first.setdefault(key_of(one.name), one.name)
        order, now = list(first.values()), self.round
        can = {name for name in order if any(able(one) for one in self.named(name))}
        if not can:
            return self.turn, now
        at = next((n for n, name in enumerate(order) if same_name(name, self.turn)), -1)
        for _ in range(steps):
            while True:
                at += 1
                if at >= len(order):
                    at, now = 0, now + 1
                if order[at] in can:
                    break
        return order[at], now


def read(document: Document) -> Fight | None:
    """The fight under way; None when there is none."""
    section = document.section(HEADING)
    if section is None:
        return None
    fighters: list[Fighter] = []
    round_row = turn_row = None
    known: set[str] = set()
    for row in rows_of(document, HEADING):
        if round_row is None and _ROUND.fullmatch(row.text.strip()):
            round_row = row
        elif turn_row is None and _TURN.fullmatch(row.text.strip()):
            turn_row = row
        elif (fighter := _fighter(row)) is not None:
            fighters.append(fighter)
        else:
            continue
        known.add(row.raw)
    if not fighters and round_row is None:
        return None
    notes = tuple(line for line in document.lines(HEADING) if line.strip() and line not in known)
    now = int(_ROUND.fullmatch(round_row.text.strip())["n"]) if round_row else 1
    turn = name_in(_TURN.fullmatch(turn_row.text.strip())["n"]) if turn_row else ""
    return Fight(now, turn, tuple(fighters), round_row, turn_row, notes)


def row_of(name: str, initiative: int | None, hit_points: str = "") -> str:
    """The text of a combatant's row."""
    said = [f"initiative {initiative}"] if initiative is not None else []
    said += [f"hit points {hit_points}"] if hit_points else []
    return f"{name}: {', '.join(said)}"


def _fighter(row: Row) -> Fighter | None:
    name, _, rest = _split(row.text)
    initiative = _INITIATIVE.search(rest)
    found = _POINTS.search(row.text, len(row.text) - len(rest))
    points = None
    if found:
        group = "n" if found["n"] else "m"
        number = numbers.read(found[group])
        start = found.start(group)
        points = (
            Number(row.text, number.value, number.bound, start + number.start, start + number.end) if number else None
        )
    if not initiative and points is None and not name.startswith("[["):
        return None
    return Fighter(name_in(name), row, int(initiative["n"]) if initiative else None, points)


def _split(text: str) -> tuple[str, str, str]:
    """(name, what parts it from the rest, the rest) of `Valen: initiative 17` or `[[Valen]], initiative 17`."""
    start = text.find("]]") + 2 if text.startswith("[[") and "]]" in text else 0
    found = re.search(r"[:,]", text[start:])
    if not found:
        return text.strip(), "", ""
    at = start + found.start()
    return text[:at].strip(), text[at], text[at + 1 :].strip()
