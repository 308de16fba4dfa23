"""What the game's rules look at: the campaign as it stands, with what the turn has put down already laid over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rolecall.campaign import documents, kinds, secrets
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect, laid_over
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.game import calendar as calendars
from rolecall.campaign.game import events
from rolecall.campaign.game.calendar import Calendar
from rolecall.errors import DocumentError

NONE = {"none", "no", "off", "any", "without"}


@dataclass(frozen=True, slots=True)
class Rules:
    """What a rule of the campaign says about its numbers; None: no bound. See `docs/game-state.md` for the fields' names."""

    hit_points_lowest: int | None = 0
    hit_points_over: int | None = 0  # above the maximum
    affinity_lowest: int | None = None
    affinity_highest: int | None = None
    initiative: str = "d20"

    @staticmethod
    def of(fields: Iterable[dict[str, Value]]) -> Rules:
        """The rules in the fields of rule entries; of two that say something different the first counts."""
        found: dict[str, object] = {}
        for entry in fields:
            for key in Rules.__dataclass_fields__:
                said = next((v for k, v in entry.items() if k.casefold() == key), "")
                if not isinstance(said, str) or not said.strip() or key in found:
                    continue
                if key == "initiative":
                    found[key] = said.strip()
                elif said.strip().casefold() in NONE:
                    found[key] = None
                elif said.strip().lstrip("+-").isdigit() and len(said.strip()) < 10:
                    found[key] = int(said)
        return Rules(**found)


class World(Protocol):
    """What a directive is resolved against. `seed` is what the turn's dice are rolled under."""

    turn: int
    seed: str

    def find(self, name: str, kinds: tuple[str, ...] = (), *, secrets: bool = True) -> str | None:
        """The path of the one entry of that name or alias (of these kinds); None for none or several.

        Secret entries count only with `secrets`, and only where no open one has the name.
        """

    def document(self, path: str) -> Document | None:
        """A file as it stands, or None where there is none that can be read."""

    def calendar(self) -> Calendar:
        """The campaign's calendar."""

    def rules(self) -> Rules:
        """What the campaign's rules say about numbers."""

    def scheduled(self) -> Sequence[str]:
        """The paths of the events that are still to come."""


@dataclass(frozen=True, slots=True)
class Known:
    """An entry that has a name: where it is, its kind, and whether only the DM may know of it."""

    path: str
    kind: str
    secret: bool


@dataclass(slots=True)
class Ground:
    """A World made of three functions: the bytes at a path (None: no file), the entries of a name, and the files of some kinds
    that hold one of some words.

    `effects` are what the turn has on the table: every file is seen as it will be after them.
    """

    turn: int
    read: Callable[[str], bytes | None]
    named: Callable[[str], Iterable[Known]]
    having: Callable[[tuple[str, ...], tuple[bytes, ...]], Iterable[str]]
    seed: str = ""
    effects: Sequence[Effect] = ()
    _documents: dict[str, Document | None] = field(default_factory=dict)
    _calendar: Calendar | None = None
    _rules: Rules | None = None
    _scheduled: tuple[str, ...] | None = None

    def find(self, name: str, kinds: tuple[str, ...] = (), *, secrets: bool = True) -> str | None:
        """See `World`."""
        found = [one for one in self.named(name) if not kinds or one.kind in kinds]
        plain = [one.path for one in found if not one.secret]
        found = plain or ([one.path for one in found] if secrets else [])
        return found[0] if len(found) == 1 else None

    def document(self, path: str) -> Document | None:
        """See `World`."""
        if path not in self._documents:
            self._documents[path] = self._read(path)
        return self._documents[path]

    def _read(self, path: str) -> Document | None:
        data = laid_over(self.read(path), self.effects, path)
        try:
            return None if data is None else documents.parse(data, path)
        except DocumentError:
            return None

    def calendar(self) -> Calendar:
        """See `World`: the first entry, by its path, that has months."""
        if self._calendar is None:
            made = (calendars.of_fields(d.fields, d.path) for d in self._having(("rule", "lore"), b"months:"))
            self._calendar = next((one for one in made if one), Calendar())
        return self._calendar

    def rules(self) -> Rules:
        """See `World`."""
        if self._rules is None:
            self._rules = Rules.of(
                [d.fields for d in self._having(("rule",), b"hit_points_", b"affinity_", b"initiative:")]
            )
        return self._rules

    def scheduled(self) -> Sequence[str]:
        """See `World`."""
        if self._scheduled is None:
            found = self._having(("event",), b"scheduled")
            self._scheduled = tuple(d.path for d in found if events.is_scheduled(d))
        return self._scheduled

    def _having(self, wanted: tuple[str, ...], *words: bytes) -> Iterable[Document]:
        """The files of some kinds that hold one of these words, or that the turn changes: the others need not be parsed."""
        paths = {*self.having(wanted, words), *(effect.path for effect in self.effects)}
        for path in sorted(paths):
            document = self.document(path)
            if document is None or document.text("forgotten").strip():
                continue
            if kinds.kind_of(path, document.fields) in wanted:
                yield document


def is_secret(document: Document) -> bool:
    """Whether only the DM may know of a file."""
    return secrets.is_secret_path(document.path, document.fields)
