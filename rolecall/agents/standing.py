"""How things stand in a campaign, as the continuity check asks it: names, who is dead, who is where, who holds what.

Kept from turn to turn beside the search of a session and brought up to date from what changed, so that a check on five
thousand entries reads only the entries that the prose speaks of.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from rolecall.agents.roster import LIVING, Roster
from rolecall.campaign import deaths, journal, secrets
from rolecall.campaign.documents import Document, parse
from rolecall.campaign.folder import Campaign
from rolecall.campaign.text import fold
from rolecall.errors import RoleCallError
from rolecall.search.catalogue import Catalogue, Entry
from rolecall.search.searcher import Search

_ONE_AT_A_TIME = threading.Lock()
_KEPT: WeakKeyDictionary[Search, Standing] = WeakKeyDictionary()


def standing(campaign: Campaign, search: Search) -> Standing:
    """How things stand now; what was known at the last question is kept for as long as the search lives."""
    with _ONE_AT_A_TIME:  # it may be made ready on another thread while a model is awaited
        kept = _KEPT.get(search)
        if kept is None:
            kept = _KEPT[search] = Standing()
        kept.update(campaign, search)
    return kept


@dataclass(slots=True)
class Standing:
    """What is known. Nothing is said of secret and withheld entries."""

    campaign: Campaign | None = None
    names: Roster = field(default_factory=Roster)
    _chronicles: tuple[str, ...] = ()
    _documents: dict[str, tuple[str, Document | None]] = field(default_factory=dict)
    _died: dict[str, tuple[str, tuple[tuple[int, str], ...]]] = field(default_factory=dict)  # by Chronicle

    def update(self, campaign: Campaign, search: Search) -> None:
        """Bring it up to the search's catalogue."""
        self.campaign = campaign
        now = search.catalogue
        if now is not self.catalogue:
            self.names.update(now)
            self._chronicles = tuple(path for path in now if path.startswith("chronicles/"))

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue of the last update."""
        return self.names.catalogue

    def one_named(self, name: str, kind: str | None = None) -> str:
        """The open entry of a name, when there is exactly one (of a kind); else empty."""
        if not name.strip():
            return ""
        found = [p for p in self.names.named(name) if (e := self.open_entry(p)) and kind in (None, e.kind)]
        return found[0] if len(set(found)) == 1 else ""

    def open_entry(self, path: str) -> Entry | None:
        """An entry that everybody may know of; None for a secret, forgotten, broken or missing one."""
        entry = self.catalogue.get(path)
        return None if entry is None or entry.secret or entry.withheld else entry

    # -- what an entry says

    def document(self, path: str) -> Document | None:
        """An open entry's file, parsed once for as long as it stays the same; None when it cannot be read."""
        entry = self.open_entry(path)
        if entry is None or self.campaign is None:
            return None
        kept = self._documents.get(path)
        if kept is None or kept[0] != entry.sha256:
            try:
                document = parse(self.campaign.read(path), path)
            except RoleCallError:
                document = None
            if len(self._documents) > 500:
                self._documents.clear()
            kept = self._documents[path] = (entry.sha256, document)
        return kept[1]

    def said(self, path: str, key: str) -> str:
        """A plain open field of an entry; empty when it has none."""
        document = self.document(path)
        return "" if document is None or secrets.is_secret_field(key) else document.text(key)

    # -- where

    def place_of(self, path: str) -> str:
        """The path of the place an entry's `location` names; empty when it names none that is known."""
        entry = self.open_entry(path)
        return self.one_named(entry.location, "location") if entry else ""

    def around(self, place: str) -> list[str]:
        """A place with those it lies in, from the inside out (`within`, `region`)."""
        chain: list[str] = []
        while place and place not in chain and len(chain) < 12:
            chain.append(place)
            entry = self.open_entry(place)
            outer = (
                next((r.target for r in entry.refs if r.type in ("within", "region") and not r.secret), "")
                if entry
                else ""
            )
            place = self.one_named(outer) if outer else ""
        return chain

    def apart(self, a: str, b: str) -> bool:
        """Whether two places are certainly not one within the other, nor both in a third."""
        return bool(a and b) and not set(self.around(a)) & set(self.around(b))

    def nested(self, a: str, b: str) -> bool:
        """Whether one place is the other or lies in it."""
        return a in self.around(b) or b in self.around(a)

    # -- the dead

    def is_dead(self, path: str, fallen: dict[str, int]) -> bool:
        """Whether an entry's status, its History or a journal line says so. A later line of its History speaks against it."""
        entry, document = self.open_entry(path), self.document(path)
        if entry is None or document is None or entry.kind not in LIVING:
            return False
        status = self.said(path, "status")
        if deaths.is_dead(status):
            return True
        told = max((fallen[name] for name in map(fold, (entry.name, *entry.aliases)) if name in fallen), default=0)
        last, died = 0, False
        for line in document.lines("History") if _one_history(document) else ():
            text = line.strip().lstrip("-*+ ")
            last = max(last, journal.turn_number(text) or 0)
            died = bool(_DIED_THEN.match(text)) if text else died
        return died or (told > 0 and told >= last)

    def fallen(self, state: Document) -> dict[str, int]:
        """Folded names of those of whom the Journal or a Chronicle says that they died, with the turn."""
        found: dict[str, int] = {}
        for path in self._chronicles:
            for turn, name in self._died_in(path):
                found[name] = max(turn, found.get(name, 0))
        for line in journal.lines_of(state):
            for name in deaths.died_in(line.text):
                found[fold(name)] = line.turn
            for name in [
                name for name, turn in found.items() if turn < line.turn and deaths.came_back(fold(line.text), name)
            ]:
                del found[name]
        return found

    def _died_in(self, path: str) -> tuple[tuple[int, str], ...]:
        """Who died in a Chronicle, read once: its lines as bytes, since thousands are looked at when a session begins."""
        entry, kept = self.catalogue[path], self._died.get(path)
        if kept is None or kept[0] != entry.sha256:
            found: list[tuple[int, str]] = []
            try:
                text = (
                    self.campaign.read(path).decode("utf-8", "replace")
                    if not entry.secret and not entry.withheld
                    else ""
                )
            except RoleCallError:
                text = ""
            for line in _DEATH_LINE.finditer(text):
                found += [(int(line[1]), fold(name)) for name in deaths.died_in(line[2])]
            kept = self._died[path] = (entry.sha256, tuple(dict.fromkeys(found)))
        return kept[1]

    # -- things

    def holder_of(self, path: str) -> str:
        """The path of the living being that holds a thing, by its `holder`; empty when none is said or known."""
        return next((held for kind in LIVING if (held := self.one_named(self.said(path, "holder"), kind))), "")

    def is_single(self, path: str) -> bool:
        """Whether there is only one of a thing: no plural among its names, no count beside one in a list of things."""
        entry = self.open_entry(path)
        if entry is None:
            return False
        kind = self.said(path, "type").casefold()
        plural = any(_is_plural(alias, entry.name) for alias in entry.aliases)
        return not plural and not re.search(
            r"\b(?:coins?|potions?|money|currency|ammunition|arrows?|herbs?|food|drink|material)\b", kind
        )


_DIED_THEN = re.compile(
    r"(?:T\d{4,9}\s+)?(?:Died|Drowned|(?:Was )?(?:killed|murdered|slain|executed|hanged|beheaded)(?: by\b| in\b| at\b|\.|$)|Fell dead)",
    re.I,
)
_DEATH_LINE = re.compile(
    r"^- T(\d{4,9})[ \t]++(.*\b(?:died|drowned|perished|dead|killed|slew|slain|murdered|executed|hanged|beheaded|death|buried)\b.*)$",
    re.M,
)


def _one_history(document: Document) -> bool:
    return sum(section.heading.strip().casefold() == "history" for section in document.sections if section.level) == 1


def _is_plural(alias: str, name: str) -> bool:
    a, b = alias.casefold(), name.casefold().removeprefix("the ")
    a = a.removeprefix("the ")
    return a != b and (
        a in (f"{b}s", f"{b}es")
        or (b.endswith("y") and a == f"{b[:-1]}ies")
        or (b.endswith("penny") and a.endswith("pennies"))
    )
