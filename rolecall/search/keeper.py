"""Keeping catalogue and index current: one object that knows which state is the newest and whether it can be trusted.

Whatever goes wrong with the index ends in one of two ways: it is built anew, or, while that is not possible, the
files themselves are searched and `partial` is true. Only a campaign folder that cannot be read is an error.
"""

from __future__ import annotations

import shutil
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rolecall.campaign import kinds
from rolecall.campaign.folder import Campaign, Stamp, counts
from rolecall.errors import CampaignError, SearchError, StorageError
from rolecall.search.analysis import Analyzer
from rolecall.search.cabinet import Cabinet, Shelf
from rolecall.search.catalogue import Catalogue, Entry, entry_of
from rolecall.search.passages import passages_of
from rolecall.search.reconcile import Plan, Progress, Update, plan
from rolecall.search.weights import Found

if TYPE_CHECKING:
    from rolecall.search.index import Index

WAIT = 10.0  # seconds to wait for another process that is changing the index
_HEADS_SECONDS = 2.0  # seconds to read the files' heads when there is no index at all


def _said(error: Exception) -> str:
    """What went wrong, for a person."""
    if isinstance(error, OSError) and error.strerror:
        place = error.filename2 or error.filename  # of a renaming the place it was to have
        return f"{place}: {error.strerror}" if place else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


class Busy(Exception):
    """Somebody is building the index just now, and the wait is over."""


class Keeper:
    """The state of one campaign's search. Safe to use from several threads: one updates while others read."""

    def __init__(self, campaign: Campaign, cache: Path | None = None, wait: float = WAIT) -> None:
        """`cache` is the folder for the indexes of all campaigns; by default the user's own cache folder."""
        self.campaign = campaign
        self.partial = False
        self.trouble = ""
        self.catalogue: Catalogue | None = None
        self._wait = wait
        self._cabinet = Cabinet(campaign.root, cache)
        self._shelf: Shelf | None = None
        self._index: Index | None = None
        self._analyzer: Analyzer | None = None
        # Taken in this order where both are: the first for the whole of an update, the second for moments.
        self._updating = threading.RLock()
        self._reading = threading.RLock()

    @property
    def analyzer(self) -> Analyzer:
        """The analyzer of the campaign's language."""
        if self._analyzer is None:
            try:
                from rolecall.search.index import language_tools

                self._analyzer = Analyzer(*language_tools(self.campaign.settings.language))
            except ImportError:
                return Analyzer()  # no engine, so no stemmer either; words match as they are written
        return self._analyzer

    # -- updating

    def refresh(self, progress: Progress | None = None, only: Iterable[str] | None = None) -> bool:
        """Bring catalogue and index up to the files; True when they are another state than before.

        With `only` just these paths are looked at: for the program's own writes, when all else was seen a moment ago.
        StorageError when a folder of the campaign cannot be read: then nothing is changed.
        """
        with self._updating:
            shelf = self._newest()
            clock = time.time_ns()
            now = self._stat(shelf, only)
            try:
                if shelf and not plan(shelf.catalogue.stamps, now):
                    return self._take(shelf)
                with self._cabinet.lock(self._wait) as held:
                    if held:
                        newest = self._newest()
                        if newest is not shelf or newest is None:  # another process was here: look again
                            clock, now = time.time_ns(), self.campaign.stat()
                        return self._take(self._update(newest, now, clock, progress))
                self._go_without("another process is bringing the index up to date", shelf, now)
            except CampaignError:
                raise
            except Exception as error:
                self._go_without(_said(error), shelf, now)
            return True

    def _stat(self, shelf: Shelf | None, only: Iterable[str] | None) -> dict[str, Stamp]:
        """The stamps of all files, or those of a shelf with the files of `only` looked at anew."""
        if only is None or shelf is None or self.partial:
            return self.campaign.stat()
        now = dict(shelf.catalogue.stamps)
        for path in only:
            place = self.campaign.root / path
            if not path.casefold().endswith(".md") or not counts(path):
                continue
            try:
                info = place.lstat()
            except FileNotFoundError:
                now.pop(path, None)
                continue
            except OSError:
                return self.campaign.stat()
            if not stat.S_ISREG(info.st_mode):
                return self.campaign.stat()
            now[path] = Stamp(info.st_size, info.st_mtime_ns, info.st_ino)
        return now

    def rebuild(self, progress: Progress | None = None) -> None:
        """Throw the index away and build it from nothing; SearchError when that cannot be done.

        What stands in its way inside our own cache folder is removed.
        """
        with self._updating:
            self.distrust(None)
            with suppress(OSError):  # then building it says what is wrong
                self._cabinet.clear()
            self.refresh(progress)
            if self.partial:
                raise SearchError(f"the index cannot be rebuilt: {self.trouble}", remedy="mend that, then try again")

    def tidy(self) -> bool:
        """Merge the index's small segments; False when there was nothing to do or somebody else is writing."""
        with self._updating:
            shelf = self._newest()
            if shelf is None or self.partial:
                return False
            try:
                with self._cabinet.lock(0) as held:
                    if not held or not self._cabinet.is_current(shelf) or not self._open(shelf).tidy():
                        return False
                    self._take(self._cabinet.save(shelf.catalogue, shelf.folder, shelf.language, shelf.engine))
                    return True
            except Exception as error:
                self.distrust(error)
                return False

    def distrust(self, error: Exception | None) -> None:
        """Let nobody open the index again; the next refresh builds a new one."""
        with self._updating, self._reading:
            self.trouble = _said(error) if error else ""
            self._index, self._shelf = None, None
            try:
                self._cabinet.discard()
            except OSError:
                self.partial = True

    def _newest(self) -> Shelf | None:
        """The shelf in memory when it is still the newest, else the one on disk, if its index is the one it names."""
        shelf = self._shelf
        if shelf is not None and self._cabinet.is_current(shelf):
            return shelf
        shelf = self._cabinet.load(self.campaign.settings.language)
        return shelf if shelf is not None and self._cabinet.is_current(shelf) else None

    def _take(self, shelf: Shelf) -> bool:
        """Make a shelf the current state; True when it is another one than before."""
        with self._reading:
            new = self._shelf is not shelf
            if new:
                self._index = None
            self._shelf, self.catalogue = shelf, shelf.catalogue
            self.partial, self.trouble = False, ""
        return new

    def _update(self, shelf: Shelf | None, now: dict[str, Stamp], clock: int, progress: Progress | None) -> Shelf:
        """Index what differs, or everything when there is no index to trust. Called with the lock held."""
        from rolecall.search import index as engine

        if shelf is not None and shelf.engine == engine.VERSION:
            todo = plan(shelf.catalogue.stamps, now)
            if not todo:
                return shelf
            update = Update(self.campaign, self.analyzer, shelf.catalogue, todo, now, clock, progress)
            try:
                return self._commit(shelf.folder, update)
            except CampaignError:
                raise
            except Exception as error:  # the index is damaged
                self.trouble = _said(error)
        folder = self._cabinet.new_index()
        try:
            engine.create(folder)
            everything = Plan(tuple(sorted(now)), ())
            update = Update(self.campaign, self.analyzer, Catalogue(), everything, now, clock, progress)
            return self._commit(folder.name, update)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _commit(self, folder: str, update: Update) -> Shelf:
        """Index first, catalogue second: a crash between the two leaves a catalogue that does not match, hence a rebuild."""
        from rolecall.search import index as engine

        engine.open_index(self._cabinet.folder / folder).apply(update.gone_marks, update.docs())
        return self._cabinet.save(update.result(), folder, self.campaign.settings.language, engine.VERSION)

    # -- reading

    def search(self, terms: Iterable[str], **limits: object) -> list[Found]:
        """`Index.search` on the newest state; any exception but Busy means that the index cannot be used."""
        terms = tuple(terms)
        for writers in (nullcontext, self._without_writers):
            with writers(), self._reading:
                shelf = self._newest()
                try:
                    if shelf is not None and (shelf is not self._shelf or self._index is None):
                        self._take(shelf)
                        self._index = self._open(shelf)
                    if self._index is not None:
                        # Without a shelf somebody is just changing the index: what is in memory is whole, if a moment older.
                        return self._index.search(terms, **limits)
                except Exception:
                    self._index = None
                    if shelf is not None and self._cabinet.is_current(shelf):
                        raise  # nobody changed it while it was opened
        raise LookupError("there is no index that can be trusted")

    @contextmanager
    def _without_writers(self) -> Iterator[None]:
        """While nobody changes the index, no thread of ours and no other process; Busy when that takes too long."""
        if not self._updating.acquire(timeout=self._wait):
            raise Busy
        try:
            with self._cabinet.lock(self._wait) as held:
                if not held:
                    raise Busy
                yield
        finally:
            self._updating.release()

    def _open(self, shelf: Shelf) -> Index:
        from rolecall.search import index as engine

        return engine.open_index(self._cabinet.path(shelf))

    def ready(self) -> bool:
        """Make sure there is a catalogue; False when another thread is still building and the wait is over."""
        if self.catalogue is not None:
            return True
        if not self._updating.acquire(timeout=self._wait):
            return False
        try:
            if self.catalogue is None:
                self.refresh()
            return True
        finally:
            self._updating.release()

    # -- without an index

    def _go_without(self, reason: str, shelf: Shelf | None, now: dict[str, Stamp]) -> None:
        """Go on with the old catalogue and what the heads of changed files say."""
        old = shelf.catalogue if shelf else self.catalogue
        with self._reading:
            self.partial, self.trouble = True, reason
            self._index, self._shelf = None, None
            self.catalogue = self.heads(old if old is not None else Catalogue(), now)

    def heads(self, old: Catalogue, now: dict[str, Stamp]) -> Catalogue:
        """A catalogue without an index behind it. Files there is no time to read are known by their path, and as secret."""
        todo = plan(old.stamps, now)
        entries: list[Entry] = []
        end = time.monotonic() + _HEADS_SECONDS
        for path in todo.look:
            if time.monotonic() < end:
                try:
                    entries.append(entry_of(passages_of(path, self.campaign.read(path)), ""))
                except StorageError as error:
                    known = old[path] if path in old else replace(entry_of(passages_of(path, b""), ""), secret=True)
                    entries.append(replace(known, broken=str(error)))
            else:
                entries.append(Entry(path, "", kinds.kind_of(path, {}), kinds.name_of(path, {}), secret=True))
        return old.changed(dict.fromkeys(entry.path for entry in entries), entries, {}, todo.gone)
