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
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rolecall.campaign.folder import Campaign, Stamp
from rolecall.errors import CampaignError, StorageError
from rolecall.search import ranking, weights
from rolecall.search.analysis import Analyzer
from rolecall.search.cabinet import Cabinet, Shelf
from rolecall.search.catalogue import NAMELESS, Catalogue, Entry, entry_of
from rolecall.search.excerpt import excerpt
from rolecall.search.names import Mention, Name, NameTable
from rolecall.search.passages import FilePassages, Passage, passages_of
from rolecall.search.reconcile import Plan, Progress, Update, plan
from rolecall.search.ties import Ties

DEPTH = 100  # passages the words contribute to the ranking
WAIT = 10.0  # seconds to wait for another process that is changing the index
_FILES_KEPT = 64  # parsed files kept for excerpts


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
        """`cache` is the folder for the indexes of all campaigns (by default the user's cache folder)."""
        self.campaign = campaign
        self.partial = False
        self.trouble = ""
        self._cache, self._wait = cache, wait
        self._shelf: Shelf | None = None
        self._catalogue: Catalogue | None = None
        self._index = None
        self._analyzer: Analyzer | None = None
        self._table: tuple[Catalogue, NameTable] | None = None
        self._ties: tuple[Catalogue, Ties] | None = None
        self._files: OrderedDict[tuple[str, str], FilePassages] = OrderedDict()
        self._updating = threading.RLock()
        self._reading = threading.RLock()

    # -- state

    @property
    def catalogue(self) -> Catalogue:
        """What is known of every file, as of the last `refresh`; an entry's `broken` says why it is out of play."""
        if self._catalogue is None:
            self.refresh()
        return self._catalogue

    def refresh(self, progress: Progress | None = None) -> bool:
        """Bring catalogue and index up to the files; True when something had changed. `progress(done, total)` counts files.

        StorageError when a folder of the campaign cannot be read: then nothing is changed.
        """
        with self._updating:
            now, clock = self._stat()
            try:
                shelf = self._newest()
                if shelf and not plan(shelf.catalogue.stamps, now):
                    return self._take(shelf)
                cabinet = self._cabinet()
                with cabinet.lock(self._wait) as held:
                    if held:
                        now, clock = self._stat()
                        return self._take(self._update(self._newest(), now, clock, progress))
                self._degrade("another process is bringing the index up to date", shelf, now)
            except CampaignError:
                raise
            except Exception as error:
                self._degrade(f"the index cannot be used ({error!r})", None, now)
            return True

    def rebuild(self, progress: Progress | None = None) -> None:
        """Throw the index away and build it from nothing."""
        with self._updating:
            try:
                self._cabinet().discard()
            except OSError as error:
                self.trouble = str(error)
            self._shelf = None
            self.refresh(progress)

    def tidy(self) -> bool:
        """Merge the index's small segments; for moments when a model is awaited. False when there was nothing to do."""
        with self._updating:
            shelf = self._newest()
            if shelf is None or self.partial:
                return False
            try:
                with self._cabinet().lock(0) as held:
                    if not held or not self._cabinet().is_current(shelf):
                        return False
                    index = self._open(shelf)
                    if not index.tidy():
                        return False
                    saved = self._cabinet().save(shelf.catalogue, shelf.folder, shelf.language, shelf.engine)
                    self._take(saved)
                    return True
            except Exception as error:
                self._distrust(error)
                return False

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
        `withheld` adds forgotten entries and, together with `secrets`, files that could not be read as they should be: for
        the writer only.
        """
        if self._catalogue is None:
            self.refresh()
        ask = _Ask(query, frozenset(kinds) if kinds is not None else None, _folder(under), secrets, withheld)
        if not self.partial:
            for _ in range(2):
                try:
                    return self._from_index(ask, limit)
                except CampaignError:
                    raise
                except Exception as error:
                    self._distrust(error)
                    self.refresh()
                    if self.partial:
                        break
        return self._from_files(ask, limit)

    def mentions(self, text: str, secrets: bool = False) -> list[Mention]:
        """The entries a text names by name or alias, in order."""
        return self._names().mentions(text, secrets=secrets)

    def neighbours(self, path: str, secrets: bool = False) -> list[str]:
        """The paths of the entries tied to one, those it names itself first."""
        return self.ties.neighbours(path, secrets=secrets)

    @property
    def ties(self) -> Ties:
        """The graph of the campaign."""
        catalogue = self.catalogue
        held = self._ties
        if held is None or held[0] is not catalogue:
            held = self._ties = (catalogue, Ties(catalogue))
        return held[1]

    def suggestions(self, name: str, secrets: bool = False) -> list[str]:
        """Known names like one that nobody bears."""
        from rolecall.search.names import did_you_mean

        things = [e for e in self.catalogue.values() if e.kind not in NAMELESS and (secrets or not e.secret)]
        return did_you_mean(name, [n for e in things for n in (e.name, *e.aliases)])

    # -- inside: keeping current

    def _stat(self) -> tuple[dict[str, Stamp], int]:
        clock = time.time_ns()
        return self.campaign.stat(), clock

    def _cabinet(self) -> Cabinet:
        return Cabinet(self.campaign.root, self._cache)

    def _newest(self) -> Shelf | None:
        """The shelf in memory when it is still the newest, else the one on disk when its index is the one it names."""
        cabinet = self._cabinet()
        shelf = self._shelf
        if shelf is not None and cabinet.is_current(shelf):
            return shelf
        shelf = cabinet.load(self.campaign.settings.language)
        return shelf if shelf is not None and cabinet.is_current(shelf) else None

    def _take(self, shelf: Shelf) -> bool:
        """Make a shelf the current state; True when it is another one than before."""
        with self._reading:
            new = self._shelf is not shelf
            if new and self._index is not None:
                self._index = None
            self._shelf, self._catalogue = shelf, shelf.catalogue
            self.partial, self.trouble = False, ""
        return new

    def _update(self, shelf: Shelf | None, now: dict[str, Stamp], clock: int, progress: Progress | None) -> Shelf:
        """Index what differs, or everything when there is no index to trust. Called with the lock held."""
        from rolecall.search import index as engine

        language = self.campaign.settings.language
        cabinet = self._cabinet()
        if shelf is not None and shelf.engine == engine.VERSION:
            todo = plan(shelf.catalogue.stamps, now)
            if not todo:
                return shelf
            try:
                return self._apply(cabinet, shelf.folder, shelf.catalogue, todo, now, clock, progress)
            except CampaignError:
                raise
            except Exception as error:  # a damaged index: build it anew
                self.trouble = repr(error)
        folder = cabinet.new_index()
        engine.create(folder)
        everything = Plan(tuple(sorted(now)), ())
        return self._apply(cabinet, folder.name, Catalogue(), everything, now, clock, progress, language)

    def _apply(
        self,
        cabinet: Cabinet,
        folder: str,
        old: Catalogue,
        todo: Plan,
        now: dict[str, Stamp],
        clock: int,
        progress: Progress | None,
        language: str = "",
    ) -> Shelf:
        from rolecall.search import index as engine

        update = Update(self.campaign, self.analyzer, old, todo, now, clock, progress)
        index = engine.open_index(cabinet.folder / folder)
        index.apply(update.gone_marks, update.docs())
        language = language or self.campaign.settings.language
        return cabinet.save(update.result(), folder, language, engine.VERSION)

    @property
    def analyzer(self) -> Analyzer:
        """The analyzer of the campaign's language."""
        if self._analyzer is None:
            try:
                from rolecall.search.index import language_tools

                self._analyzer = Analyzer(*language_tools(self.campaign.settings.language))
            except Exception:  # an engine that cannot even be imported; words still match as they are
                self._analyzer = Analyzer()
        return self._analyzer

    def _distrust(self, error: Exception) -> None:
        """The index gave an error: let nobody open it again."""
        with self._updating, self._reading:
            self.trouble = repr(error)
            self._index, self._shelf = None, None
            try:
                self._cabinet().discard()
            except OSError:
                self.partial = True

    def _degrade(self, reason: str, shelf: Shelf | None, now: dict[str, Stamp]) -> None:
        """Go on without an index: the catalogue is what an old one and the files' own heads say."""
        with self._reading:
            self.partial, self.trouble = True, reason
            self._index, self._shelf = None, None
            old = self._catalogue or (shelf.catalogue if shelf else None) or Catalogue()
            todo = plan(old.stamps, now)
            entries: dict[str, Entry] = {}
            for path in todo.look:
                try:
                    entries[path] = entry_of(passages_of(path, self.campaign.read(path)), "")
                except StorageError:
                    continue
            stamps = dict.fromkeys(entries)
            self._catalogue = old.changed(stamps, entries.values(), {}, todo.gone)

    # -- inside: asking

    def _open(self, shelf: Shelf):  # an index.Index, whose module is imported late
        from rolecall.search import index as engine

        if self._index is None:
            self._index = engine.open_index(self._cabinet().path(shelf))
        return self._index

    def _names(self) -> NameTable:
        catalogue = self.catalogue
        held = self._table
        if held is None or held[0] is not catalogue:
            names = []
            for path, name, aliases, secret in catalogue.names():
                names.append(Name(path, name, False, secret))
                names += [Name(path, alias, True, secret) for alias in aliases]
            held = self._table = (catalogue, NameTable(names, self.analyzer))
        return held[1]

    def _from_index(self, ask: _Ask, limit: int) -> list[Hit]:
        with self._reading:
            shelf = self._newest()
            if shelf is None:
                raise LookupError("the index has gone")
            if shelf is not self._shelf:
                self._take(shelf)
            terms = self.analyzer.ask(ask.query)
            need = [[f"kind:{kind}" for kind in sorted(ask.kinds)]] if ask.kinds is not None else []
            need += [[f"in:{ask.under}"]] if ask.under else []
            without = [] if ask.withheld else ["withheld"]
            found = self._open(shelf).search(
                terms, secrets=ask.secrets, need=need, without=without, limit=max(DEPTH, 2 * limit)
            )
            words = [(f.path, f.order) for f in found]
            turns = {(f.path, f.order): f.turn for f in found}
            digests = {(f.path, f.order): f.digest for f in found}
            ranked = self._fused(ask, words, turns)
        hits: list[Hit] = []
        for (path, order), score in ranked:
            passage = self._passage(ask, path, order, digests.get((path, order)))
            if passage is not None:
                hits.append(self._hit(passage, score, terms))
                if len(hits) == limit:
                    break
        return hits

    def _from_files(self, ask: _Ask, limit: int) -> list[Hit]:
        """The same without an index, within a time limit."""
        from rolecall.search.scan import scan

        by_name, by_alias = self._names().named(ask.query, secrets=ask.secrets)
        stamps = self.campaign.stat()
        seen = scan(self.campaign, stamps, self.analyzer, ask.query, ask.wants, first=[*by_name, *by_alias])
        passages = {(p.path, p.order): p for p, _ in seen.found}
        ranked = self._fused(ask, list(passages), {key: p.turn for key, p in passages.items()})
        hits: list[Hit] = []
        terms = self.analyzer.ask(ask.query)
        for (path, order), score in ranked:
            passage = passages.get((path, order)) or self._passage(ask, path, order, None)
            if passage is not None and len(hits) < limit:
                hits.append(self._hit(passage, score, terms))
        return hits

    def _fused(
        self, ask: _Ask, words: list[tuple[str, int]], turns: dict[tuple[str, int], int | None]
    ) -> list[tuple[tuple[str, int], float]]:
        """The list by words joined with those by name, alias, neighbourhood and recency."""
        table = self._names()
        by_name, by_alias = table.named(ask.query, secrets=ask.secrets)
        mentioned = list(dict.fromkeys(m.path for m in table.mentions(ask.query, secrets=ask.secrets)))
        near = {p for path in mentioned for p in self.ties.neighbours(path, secrets=ask.secrets)} | set(mentioned)
        recent = sorted((key for key in words if turns[key] is not None), key=lambda key: -turns[key])
        return ranking.fuse(
            [
                ranking.Ranked([(path, 0) for path in by_name], ranking.NAME),
                ranking.Ranked([(path, 0) for path in by_alias], ranking.ALIAS),
                ranking.Ranked(words, ranking.WORDS),
                ranking.Ranked([key for key in words if key[0] in near], ranking.NEIGHBOUR),
                ranking.Ranked(recent, ranking.RECENT),
            ]
        )

    def _passage(self, ask: _Ask, path: str, order: int, digest: str | None) -> Passage | None:
        """A passage as its file says it now; None when it is gone, has become another one, or is not wanted."""
        file = self._file(path)
        if file is None:
            return None
        same = file.passages[order] if order < len(file.passages) else None
        if digest is not None and (same is None or weights.digest_of(same) != digest):
            same = next((p for p in file.passages if weights.digest_of(p) == digest), None)
        return same if same is not None and ask.wants(file, same) else None

    def _file(self, path: str) -> FilePassages | None:
        try:
            data = self.campaign.read(path)
        except StorageError:
            return None
        key = (path, weights.digest(data.decode("latin-1")))
        with self._reading:
            file = self._files.get(key)
            if file is None:
                file = self._files[key] = passages_of(path, data)
                while len(self._files) > _FILES_KEPT:
                    self._files.popitem(last=False)
            return file

    def _hit(self, passage: Passage, score: float, terms: list[str]) -> Hit:
        return Hit(
            passage.path,
            passage.line,
            passage.kind,
            passage.name,
            passage.turn,
            round(score, 6),
            excerpt(passage.body or passage.heading, terms, self.analyzer),
            passage.secret,
            passage.heading,
            passage.body,
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


def _folder(under: str | None) -> str:
    return (under or "").replace("\\", "/").strip("/").casefold()
