"""Searching a campaign: the one object the rest of RoleCall talks to.

    search = Search(campaign)
    search.refresh()                      reconcile with the files, before every command
    search.find("who poisoned the well")  passages, best first
    search.mentions(text)                 the entries a text names

Nothing here raises for a fault of the index: it is rebuilt, and while that cannot be done the files themselves are
searched and `partial` is true. Only a campaign folder that cannot be read is an error (StorageError).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rolecall.campaign import macros
from rolecall.campaign.folder import Campaign
from rolecall.errors import CampaignError, StorageError
from rolecall.search import names, ranking, weights
from rolecall.search.catalogue import NAMELESS, Catalogue
from rolecall.search.excerpt import excerpt
from rolecall.search.keeper import WAIT, Busy, Keeper
from rolecall.search.names import Mention, Name, NameTable
from rolecall.search.passages import FilePassages, Passage, passages_of
from rolecall.search.reconcile import Progress
from rolecall.search.scan import scan
from rolecall.search.ties import Ties

DEPTH = 100  # passages that the words contribute to the ranking
_FILES_KEPT = 256  # parsed files kept for excerpts: what a turn finds, it finds among the chapters of the last ones

Held = tuple[Catalogue, NameTable]
Key = tuple[str, int]  # a passage: its file's path and its place there


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found. `turn` is the turn's number or None; `text` is the whole passage, `excerpt` a line of it."""

    path: str
    line: int
    kind: str
    name: str
    turn: int | None
    score: float
    excerpt: str
    secret: bool
    heading: str
    text: str


class Search:
    """Search over one campaign; safe to use from several threads."""

    def __init__(self, campaign: Campaign, *, cache: Path | None = None, wait: float = WAIT) -> None:
        """`cache` is the folder for the indexes of all campaigns (by default the user's cache folder); `wait` how many

        seconds to wait for another process that is changing the index before going on without it.
        """
        self.campaign = campaign
        self._keeper = Keeper(campaign, cache, wait)
        self._table: Held | None = None
        self._keys: Held | None = None
        self._ties: tuple[Catalogue, Ties] | None = None
        self._files: OrderedDict[str, tuple[bytes, FilePassages]] = OrderedDict()
        self._files_lock = threading.Lock()
        self._scanned = False

    # -- state

    def refresh(self, progress: Progress | None = None, only: Iterable[str] | None = None) -> bool:
        """Bring search up to the files; True when something had changed. `progress(done, total)` counts files read.

        With `only` just these paths are looked at: for what the program has just written itself.
        StorageError when a folder of the campaign cannot be read: then nothing is changed.
        """
        self._scanned = False
        return self._keeper.refresh(progress, only)

    def rebuild(self, progress: Progress | None = None) -> None:
        """Throw the index away and build it from nothing; SearchError when that cannot be done."""
        self._keeper.rebuild(progress)

    def tidy(self) -> bool:
        """Merge the index's small segments; for moments when a model is awaited. False when there was nothing to do."""
        return self._keeper.tidy()

    def prepare(self) -> None:
        """Open the newest state of the index, for moments when nobody waits: the next question need not. Raises nothing."""
        with suppress(Exception):  # whoever asks something is told
            self._keeper.search(())

    @property
    def partial(self) -> bool:
        """Whether answers come from the files and not from an index just now, and may be incomplete."""
        return self._keeper.partial or self._scanned

    @property
    def trouble(self) -> str:
        """Why search is partial, in a few words; empty when it is not."""
        return self._keeper.trouble

    @property
    def catalogue(self) -> Catalogue:
        """What is known of every file, as of the last `refresh`; an entry's `broken` says why it is out of play."""
        if not self._keeper.ready():
            return self._keeper.heads(Catalogue(), self.campaign.stat())
        return self._keeper.catalogue

    @property
    def ties(self) -> Ties:
        """The graph of the campaign."""
        catalogue, held = self.catalogue, self._ties
        if held is None:
            held = self._ties = (catalogue, Ties(catalogue))
        elif held[0] is not catalogue:
            held = self._ties = (catalogue, held[1].changed(catalogue, catalogue.differing(held[0])))
        return held[1]

    # -- asking

    def find(
        self,
        query: str,
        kinds: Iterable[str] | None = None,
        limit: int = 10,
        secrets: bool = False,
        under: str | None = None,
        withheld: bool = False,
    ) -> list[Hit]:
        """The passages that answer a query best.

        `kinds` and `under` (a folder) narrow it. `secrets` adds what is secret: for the DM and the writer only.
        `withheld` adds forgotten entries and, together with `secrets`, files that could not be read as they should
        be: for the writer only.
        """
        ask = _Ask(query, None if kinds is None else frozenset(kinds), _folder(under), secrets, withheld)
        keeper = self._keeper
        if keeper.ready() and not keeper.partial:
            for _ in range(2):
                try:
                    hits = self._from_index(ask, limit)
                    self._scanned = False
                    return hits
                except CampaignError:
                    raise
                except Busy:
                    break
                except Exception as error:
                    keeper.distrust(error)
                    keeper.refresh()
                    if keeper.partial:
                        break
        self._scanned = True
        return self._from_files(ask, limit)

    def mentions(self, text: str, secrets: bool = False) -> list[Mention]:
        """The entries a text names by name or alias, in order."""
        return self._names().mentions(text, secrets=secrets)

    def keyed(self, text: str, secrets: bool = False) -> list[Mention]:
        """The entries whose trigger words (`keys`) stand in a text, in order."""
        self._keys = self._table_of(self._keys, _key_names)
        return self._keys[1].mentions(text, secrets=secrets)

    def neighbours(self, path: str, secrets: bool = False) -> list[str]:
        """The paths of the entries tied to one, those it names itself first."""
        return self.ties.neighbours(path, secrets=secrets)

    def suggestions(self, name: str, secrets: bool = False) -> list[str]:
        """Known names like one that nobody bears, best first."""
        things = [e for e in self.catalogue.values() if e.kind not in NAMELESS and (secrets or not e.secret)]
        return names.did_you_mean(name, [n for e in things for n in (e.name, *e.aliases)])

    # -- inside

    def _names(self) -> NameTable:
        self._table = self._table_of(self._table, _entry_names)
        return self._table[1]

    def _table_of(self, held: Held | None, names: Callable[..., Iterator[Name]]) -> Held:
        """A table of names as of now: the one held, with what has changed since."""
        catalogue = self.catalogue
        if held is None:
            return catalogue, NameTable(names(catalogue, None), self._keeper.analyzer)
        if held[0] is catalogue:
            return held
        changed = catalogue.differing(held[0])
        return catalogue, held[1].changed(changed, names(catalogue, changed))

    def _from_index(self, ask: _Ask, limit: int) -> list[Hit]:
        terms = self._keeper.analyzer.ask(ask.query)
        need = [] if ask.kinds is None else [[f"kind:{kind}" for kind in sorted(ask.kinds)]]
        need += [[f"in:{ask.under}"]] if ask.under else []
        without = [] if ask.withheld else ["withheld"]
        depth = max(DEPTH, 2 * limit)
        found = self._keeper.search(terms, secrets=ask.secrets, need=need, without=without, limit=depth)
        digests = {(f.path, f.order): f.digest for f in found}
        hits: list[Hit] = []
        for (path, order), score in self._fused(ask, {(f.path, f.order): f.turn for f in found}):
            passage = self._passage(ask, path, order, digests.get((path, order)))
            if passage is not None:
                hits.append(self._hit(passage, score, terms))
                if len(hits) == limit:
                    break
        return hits

    def _from_files(self, ask: _Ask, limit: int) -> list[Hit]:
        """The same without an index, within a time limit."""
        analyzer = self._keeper.analyzer
        by_name, by_alias = self._names().named(ask.query, secrets=ask.secrets)
        seen = scan(
            self.campaign,
            self.campaign.stat(),
            analyzer,
            ask.query,
            ask.wants,
            first=[*by_name, *by_alias],
            limit=DEPTH,
        )
        passages = {(p.path, p.order): p for p, _ in seen.found}
        terms = analyzer.ask(ask.query)
        hits: list[Hit] = []
        for (path, order), score in self._fused(ask, {key: p.turn for key, p in passages.items()}):
            passage = passages.get((path, order)) or self._passage(ask, path, order, None)
            if passage is not None and len(hits) < limit:
                hits.append(self._hit(passage, score, terms))
        return hits

    def _fused(self, ask: _Ask, found: dict[Key, int | None]) -> list[tuple[Key, float]]:
        """The list by words (with each passage's turn) joined with those by name, alias, neighbourhood and recency."""
        table = self._names()
        by_name, by_alias = table.named(ask.query, secrets=ask.secrets)
        mentioned = dict.fromkeys(m.path for m in table.mentions(ask.query, secrets=ask.secrets))
        near = set().union(*(self.neighbours(path, secrets=ask.secrets) for path in mentioned))
        recent = sorted((key for key, turn in found.items() if turn is not None), key=lambda key: -found[key])
        lists = [
            ranking.Ranked([(path, 0) for path in by_name], ranking.NAME),
            ranking.Ranked([(path, 0) for path in by_alias], ranking.ALIAS),
            ranking.Ranked(list(found), ranking.WORDS),
            ranking.Ranked([key for key in found if key[0] in near], ranking.NEIGHBOUR),
            ranking.Ranked(recent, ranking.RECENT),
        ]
        return ranking.fuse(lists)

    def _passage(self, ask: _Ask, path: str, order: int, digest: str | None) -> Passage | None:
        """A passage as its file says it now; None when it is gone, has become another one, or is not wanted.

        With a digest it must be the passage that was indexed, wherever in the file it stands by now.
        """
        file = self._file(path)
        if file is None:
            return None
        passage = file.passages[order] if order < len(file.passages) else None
        if digest is not None and (passage is None or weights.digest_of(passage) != digest):
            passage = next((p for p in file.passages if weights.digest_of(p) == digest), None)
        return passage if passage is not None and ask.wants(file, passage) else None

    def _file(self, path: str) -> FilePassages | None:
        """A file's passages, read afresh; those of the last files are kept for as long as their bytes stay."""
        try:
            data = self.campaign.read(path)
        except StorageError:
            return None
        with self._files_lock:
            kept = self._files.pop(path, None)
            if kept is None or kept[0] != data:
                kept = (data, passages_of(path, data))
            self._files[path] = kept
            while len(self._files) > _FILES_KEPT:
                self._files.popitem(last=False)
            return kept[1]

    def _hit(self, passage: Passage, score: float, terms: list[str]) -> Hit:
        text = macros.read(self.campaign, passage.path, passage.body)
        return Hit(
            path=passage.path,
            line=passage.line,
            kind=passage.kind,
            name=passage.name,
            turn=passage.turn,
            score=round(score, 6),
            excerpt=excerpt(text or passage.heading, terms, self._keeper.analyzer),
            secret=passage.secret,
            heading=passage.heading,
            text=text,
        )


@dataclass(frozen=True, slots=True)
class _Ask:
    """A question with its limits."""

    query: str
    kinds: frozenset[str] | None
    under: str
    secrets: bool
    withheld: bool

    def wants(self, file: FilePassages, passage: Passage) -> bool:
        """Whether a passage may be given as an answer."""
        return (
            (self.secrets or not passage.secret)
            and (self.withheld or not (file.forgotten or file.broken))
            and (self.kinds is None or file.kind in self.kinds)
            and (not self.under or passage.path.casefold().startswith(self.under + "/"))
        )


def _entry_names(catalogue: Catalogue, paths: Iterable[str] | None) -> Iterator[Name]:
    for path, name, aliases, secret in catalogue.names(paths):
        yield Name(path, name, False, secret)
        yield from (Name(path, alias, True, secret) for alias in aliases)


def _key_names(catalogue: Catalogue, paths: Iterable[str] | None) -> Iterator[Name]:
    for path, keys, secret in catalogue.trigger_words(paths):
        yield from (Name(path, key, True, secret) for key in keys)


def _folder(under: str | None) -> str:
    return (under or "").replace("\\", "/").strip("/").casefold()
