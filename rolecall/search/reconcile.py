"""Bringing catalogue and index up to what the files say.

`plan` is pure: it compares stamps (size, time, inode). `Update` reads what changed, and only passages that really differ
are indexed again: an edit in a chapter of fifty turns touches the turn and its neighbours. A file that cannot be read as it
should be is quarantined with its reason and holds up nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from rolecall.campaign.folder import Campaign, Stamp
from rolecall.errors import StorageError
from rolecall.search import weights
from rolecall.search.analysis import Analyzer
from rolecall.search.catalogue import Catalogue, Entry, entry_of
from rolecall.search.passages import FilePassages, Passage, passages_of

REACH = weights.REACH  # chapters on each side whose turns may be neighbours: as many as turns, for chapters of one turn
Progress = Callable[[int, int], None]

# A file changed less than this before it was read may change again within the same tick of the file system's clock:
# 50 ms covers clocks of 1 to 10 ms, 2 s those of whole or even seconds.
_TICK_NS = 50_000_000
SOON = 0.06  # seconds after which a file that was just written can be told from one written since
_COARSE_TICK_NS = 2_100_000_000
_AHEAD_NS = 10_000_000_000  # a file dated further ahead was not just written


@dataclass(frozen=True, slots=True)
class Plan:
    """What differs between the catalogue and the folder, in path order."""

    look: tuple[str, ...]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.look or self.gone)


def plan(known: Mapping[str, Stamp | None], now: Mapping[str, Stamp]) -> Plan:
    """The files to look at (new ones, and those whose stamp differs or cannot be trusted) and the files gone."""
    return Plan(
        tuple(sorted(path for path, stamp in now.items() if known.get(path) != stamp)),
        tuple(sorted(path for path in known if path not in now)),
    )


@dataclass(slots=True)
class Update:
    """One reconciliation. Run through `docs`, then read `gone_marks` and `result`; `touched` says whether any passage changed."""

    campaign: Campaign
    analyzer: Analyzer
    old: Catalogue
    plan: Plan
    now: Mapping[str, Stamp]
    clock_ns: int
    progress: Progress | None = None
    gone_marks: list[str] = field(default_factory=list)
    touched: bool = False
    _stamps: dict[str, Stamp | None] = field(default_factory=dict)
    _entries: dict[str, Entry] = field(default_factory=dict)
    _digests: dict[str, list[str]] = field(default_factory=dict)
    _gone: list[str] = field(default_factory=list)
    _chapters: dict[str, FilePassages] = field(default_factory=dict)

    def result(self) -> Catalogue:
        """The catalogue after this update."""
        return self.old.changed(self._stamps, self._entries.values(), self._digests, self._gone)

    def docs(self) -> Iterator[weights.Doc]:
        """The passages to index; `gone_marks` grows with what is to be taken out."""
        for path in self.plan.gone:
            self._drop(path)
        for done, path in enumerate(self.plan.look, 1):
            file = self._look(path)
            if file is not None:
                if file.kind == "story":
                    self._chapters[path] = file
                else:
                    yield from self._differing(file, None)
            if self.progress:
                self.progress(done, len(self.plan.look))
        yield from self._story()

    def _drop(self, path: str) -> None:
        self._gone.append(path)
        if len(self.old.digests(path)) > 1:
            self.gone_marks.append(weights.mark_path(path))
            self.touched = True

    # -- one file

    def _look(self, path: str) -> FilePassages | None:
        """A file that differs from what is known of it, read; None when there is nothing to index."""
        stamp = self.now[path]
        known = path in self.old
        try:
            data = self.campaign.read(path)
        except StorageError as error:
            if not self.campaign.exists(path):
                self._drop(path) if known else None
            else:
                self._quarantine(path, str(error))
            return None
        self._stamps[path] = None if self._may_change_again(stamp) else stamp
        sha256 = hashlib.sha256(data).hexdigest()
        if known and self.old[path].sha256 == sha256:
            return None
        try:
            file = passages_of(path, data)
        except Exception as error:  # a fault of ours in one file must not stop the others
            self._quarantine(path, f"{path}: it could not be read ({error!r})", stamp)
            return None
        self._entries[path] = entry_of(file, sha256)
        return file

    def _may_change_again(self, stamp: Stamp) -> bool:
        tick = _TICK_NS if stamp.mtime_ns % 1_000_000_000 else _COARSE_TICK_NS
        return self.clock_ns - tick < stamp.mtime_ns < self.clock_ns + _AHEAD_NS

    def _quarantine(self, path: str, reason: str, stamp: Stamp | None = None) -> None:
        """Keep what is known of a file and say why there is nothing newer; without a stamp it is tried again each time."""
        entry = self.old[path] if path in self.old else entry_of(passages_of(path, b""), "")
        self._entries[path] = replace(entry, broken=reason, sha256="")
        self._stamps[path] = stamp
        self._digests[path] = self.old.digests(path)

    # -- passages that differ

    def _differing(self, file: FilePassages, story: weights.Story | None) -> Iterator[weights.Doc]:
        """The passages of a file that are new or differ; what stood in their place is marked as gone."""
        marks = _marks(file)
        before = self.old.digests(file.path)
        after = [weights.digest(*marks)]
        for passage in file.passages:
            after.append(story.digest(passage) if story and passage in story else weights.digest_of(passage))
        same_marks = before[:1] == after[:1]
        for number, passage in enumerate(file.passages, 1):
            if same_marks and before[number : number + 1] == [after[number]]:
                continue
            if number < len(before):
                self.gone_marks.append(weights.mark_passage(file.path, passage.order))
            self.touched = True
            yield self._doc(passage, marks, story)
        for number in range(len(after), len(before)):
            self.gone_marks.append(weights.mark_passage(file.path, number - 1))
            self.touched = True
        if after != before:
            self._digests[file.path] = after

    def _doc(self, passage: Passage, marks: tuple[str, ...], story: weights.Story | None) -> weights.Doc:
        if story and passage in story:
            terms = story.weights(passage, self.analyzer)
        else:
            terms = weights.weigh(self.analyzer.counts(weights.text_of(passage)))
        own = weights.digest_of(passage)
        return weights.Doc(passage.path, passage.order, own, passage.turn, passage.secret, marks, terms)

    # -- the story

    def _story(self) -> Iterator[weights.Doc]:
        """Changed chapters and those beside them, whose first or last turns may have got other neighbours."""
        told = dict(self.old.chapters)
        before = sorted(told, key=lambda path: (told[path], path))
        for path in [*self._gone, *self._entries]:
            told.pop(path, None)
        told |= {p: self._entries[p].turns[0] for p in self._chapters if self._entries[p].turns}
        order = sorted(told, key=lambda path: (told[path], path))
        changed = {*self._chapters, *(path for path in before if path not in told)}
        wanted = [path for path in _beside(before, changed) | _beside(order, changed) if path in told]
        for path in sorted(set(wanted) | set(self._chapters), key=lambda path: (told.get(path, 0), path)):
            file = self._chapter(path)
            if file is not None:
                at = order.index(path) if path in told else None
                near = order[max(0, at - REACH) : at + REACH + 1] if at is not None else [path]
                row = [chapter for chapter in map(self._chapter, near) if chapter is not None]
                yield from self._differing(file, weights.Story(row))

    def _chapter(self, path: str) -> FilePassages | None:
        file = self._chapters.get(path)
        if file is None:
            try:
                file = self._chapters[path] = passages_of(path, self.campaign.read(path))
            except StorageError:
                return None
        return file


def _beside(order: list[str], changed: set[str]) -> set[str]:
    """The changed chapters and those within reach of them."""
    return {
        path
        for at, path in enumerate(order)
        if any(near in changed for near in order[max(0, at - REACH) : at + REACH + 1])
    }


def _marks(file: FilePassages) -> tuple[str, ...]:
    """What all passages of a file can be selected by: kind, folders, and whether it is withheld."""
    parts = file.path.split("/")[:-1]
    folders = ["in:" + "/".join(parts[:depth]).casefold() for depth in range(1, len(parts) + 1)]
    withheld = ["withheld"] if file.forgotten or file.broken else []
    return (f"kind:{file.kind}", *folders, *withheld)
