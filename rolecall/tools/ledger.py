"""The table of a scribe: what the campaign knows, what this turn has recorded so far, and how effects get on the table.

Whatever a tool says about an entry is seen as the file will be after the effects that are on the table already. An entry
that the writer locked gets proposals only. What is secret does not exist here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from weakref import WeakKeyDictionary

from rolecall.campaign import kinds, merging, references, secrets
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect, edit_of
from rolecall.campaign.folder import Campaign
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.journal import turn_number
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.campaign.text import clean_line
from rolecall.errors import DocumentError, RoleCallError
from rolecall.search.catalogue import Catalogue
from rolecall.search.searcher import Search
from rolecall.search.twins import Candidate, Content, Twin, Twins, twin_of
from rolecall.tools.entries import find_entry, propose
from rolecall.tools.toolbox import Table, ToolFault

LINE = 300  # characters of a field
NAME = 80  # characters of a name

_MARKS = str.maketrans(dict.fromkeys("[]|#^{}<>`*\\/", " "))


@dataclass(frozen=True, slots=True)
class Thing:
    """An entry a tool speaks of; `made` when it was recorded in this very turn and has no file yet."""

    path: str
    name: str
    kind: str
    made: bool = False


@dataclass(slots=True)
class Ledger(Table):
    """The table of a scribe: what it has recorded in this turn, with the names by which that is found."""

    made: dict[str, Candidate] = field(default_factory=dict)
    fresh: Twins = field(default_factory=lambda: Twins({}, lambda _: Content()))

    def take_back(self, effects: list[Effect], made: dict[str, Candidate]) -> None:
        """Be again as it was with these effects and these entries made."""
        self.effects[:] = effects
        if made != self.made:
            self.made, self.fresh = made, Twins({}, lambda _: Content())
            for path, candidate in made.items():
                self.fresh.add(path, candidate)


# -- what the campaign knows

_LOCK = Lock()
_KNOWN: WeakKeyDictionary[Search, tuple[Catalogue, Twins, Twins]] = WeakKeyDictionary()


def known(table: Table) -> tuple[Twins, Twins]:
    """(entries in play, forgotten and unreadable ones), both without the secret; kept while the catalogue is the same."""
    return prepare(table.campaign, table.search)


def prepare(campaign: Campaign, search: Search) -> tuple[Twins, Twins]:
    """The same, for moments when nobody waits: of a large campaign it takes a while."""
    with _LOCK:
        catalogue, held = search.catalogue, _KNOWN.get(search)
        if held is None or held[0] is not catalogue:
            held = _KNOWN[search] = (catalogue, *_read_in(campaign, catalogue, held[1] if held else None))
        return held[1], held[2]


def _read_in(campaign: Campaign, catalogue: Catalogue, before: Twins | None) -> tuple[Twins, Twins]:
    def read(path: str) -> Content:
        try:
            document = campaign.document(path)
        except RoleCallError:
            return Content()
        return Content("\n\n".join(s.text for s in secrets.open_sections(document)), document.text("date"))

    open_, withheld = {}, {}
    for path, entry in catalogue.items():
        if entry.kind in ENTRY_KINDS and (entry.broken or not entry.secret):
            (withheld if entry.withheld else open_)[path] = entry
    return Twins(open_, read, before), Twins(withheld, read)


def twin(table: Ledger, candidate: Candidate, *, but: str = "") -> Twin | None:
    """The entry a candidate is one with, those of this turn first and forgotten ones last; `but` is not looked at."""
    open_, withheld = known(table)
    for tier in ((table.fresh, open_), (withheld,)):
        found = [one for twins in tier if (one := twin_of(candidate, twins)) and one.path != but]
        if found:
            return max(found, key=lambda one: one.score)
    return None


def thing(table: Ledger, name: str) -> Thing:
    """The one entry that goes by a name; ToolFault, with near names, when there is none or are several."""
    wanted = merging.key_of(name)
    for path, made in table.made.items():
        if wanted in map(merging.key_of, (made.name, *made.aliases)):
            return Thing(path, made.name, made.kind, True)
    entry = find_entry(table, name, kinds=tuple(ENTRY_KINDS))
    return Thing(entry.path, entry.name, entry.kind)


def now(table: Ledger, path: str) -> Document | None:
    """The file as it will be after what this turn has on the table; None where there is none yet."""
    return table.now(path)


def by_hand(document: Document) -> bool:
    """Whether the writer made this entry: what a turn made says so in its `source`."""
    return turn_number(document.text("source")) is None


def spelled(table: Ledger, name: str) -> tuple[str, str]:
    """(a name in its entry's own spelling, that entry's path); the name as it is, and nothing, where it is no entry's."""
    wanted = merging.key_of(name)
    for path, made in table.made.items():
        if wanted in map(merging.key_of, (made.name, *made.aliases)):
            return made.name, path
    bare = references.names_in(name)
    found = [table.search.catalogue[p] for p in table.search.ties.named(bare[0] if bare else name)]
    open_ = [e for e in found if e.kind in ENTRY_KINDS and not (e.secret or e.withheld)]
    return (open_[0].name, open_[0].path) if len(open_) == 1 else (bare[0] if bare else name, "")


# -- putting effects on the table


def put(table: Ledger, about: str, effects: Sequence[Effect], line: str) -> bool:
    """Put effects on the table; of an entry that is locked they become a proposal. False when nothing would change.

    ToolFault when an effect cannot be made, or when the writer has dropped that proposal before.
    """
    effects = [effect for effect in effects if _changes(table, effect)]
    if not effects:
        return False
    if not any(_locked(table, effect.path) for effect in effects):
        table.effects += effects
        return True
    propose(table, about, effects, line)
    return True


def _locked(table: Ledger, path: str) -> bool:
    if path in table.made:
        return False
    document = now(table, path)
    return document is not None and kinds.flag(document.fields, "locked")


def _changes(table: Ledger, effect: Effect) -> bool:
    document = now(table, effect.path)
    before = document.data if document else None
    try:
        return edit_of(effect)(before) != before
    except DocumentError as error:
        raise ToolFault(f"That cannot be written: {error.what}.") from None


# -- cleaning what a model says


def clean_name(given: str) -> str:
    """A name on one line, without marks that mean something to a link or a path; ToolFault when nothing is left."""
    if len(given.strip().splitlines()) > 1:
        raise ToolFault("A name is one line.")
    name = clean_line(given.translate(_MARKS)).strip(" .,;:-–—_=~\"'“”")
    if not any(c.isalnum() for c in name):
        raise ToolFault(f"{clean_line(given, 40)!r} is no name.")
    if len(name) > NAME:
        raise ToolFault(f"A name has at most {NAME} characters; put the rest into `text`.")
    return name


def facts_of(table: Ledger, kind: str, given: dict) -> dict[str, Value]:
    """The fields of a call, cleaned, names in the spelling of their entries."""
    facts: dict[str, Value] = {}
    for key, value in given.items():
        type_ = kinds.type_of(kind, key)
        if type_ == "name":
            value = spelled(table, clean_line(value, LINE))[0]
        elif type_ == "names":
            value = list(dict.fromkeys(spelled(table, clean_name(one))[0] for one in value))
        elif type_ == "items":
            value = [item for one in value if (item := _item(table, key, one))]
        else:
            value = clean_line(value, LINE)
        if value:
            facts[key] = value
    return facts


def _item(table: Ledger, key: str, given: dict) -> dict[str, str]:
    order = kinds.ITEM_KEYS.get(key, tuple(given))
    item = {k: clean_line(str(given[k]), LINE) for k in order if k in given and clean_line(str(given[k]))}
    if order[0] in item:
        item[order[0]] = spelled(table, clean_name(item[order[0]]))[0]
        return item
    return {}


def fitted(table: Ledger, document: Document, kind: str, facts: dict[str, Value]) -> dict[str, Value]:
    """The facts in the words of an entry that has some of them: what it says under another name of the same thing is known."""
    kept: dict[str, Value] = {}
    for key, value in facts.items():
        old = next((v for k, v in document.fields.items() if k.casefold() == key), "")
        if isinstance(value, str):
            there = spelled(table, old)[1] if isinstance(old, str) and old else ""
            if kinds.type_of(kind, key) == "name" and there and there == spelled(table, value)[1]:
                continue
            kept[key] = value
            continue
        has = {path: one for one in (old if isinstance(old, list) else []) if (path := spelled(table, _first(one))[1])}
        new = []
        for one in value:
            same = has.get(spelled(table, _first(one))[1])
            if same is not None and isinstance(one, dict):
                one = {**one, next(iter(one)): _first(same)}
            if same is None or isinstance(one, dict):
                new.append(one)
        if new:
            kept[key] = new
    return kept


def _first(item: Value) -> str:
    if isinstance(item, dict):
        item = next(iter(item.values()), "")
    return item if isinstance(item, str) else ""


def settle(table: Ledger, path: str, kind: str, facts: dict[str, Value]) -> None:
    """Take back what was said of the same state in this turn: of two changes of one thing the last counts."""
    for at, effect in enumerate(table.effects):
        if effect.op == "facts" and effect.path == path:
            kept = {
                k: v
                for k, v in effect.facts.items()
                if not (k in facts and isinstance(v, str) and kinds.is_state(kind, k))
            }
            table.effects[at] = replace(effect, facts=kept)
    table.effects[:] = [e for e in table.effects if e.op != "facts" or e.facts]
