"""The tree of a campaign, for a model that chooses from it: folders are its branches, each file is a line.

    characters/ (2)
    characters/marta.md  Marta (keeps the inn; The Broken Anchor)

A campaign too large for the budget shows every folder with its count, and of the files those near the scene. What is secret
or withheld is not in it. The same files and scene give the same tree.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from rolecall.campaign import chronicles, journal, kinds, references, secrets, story
from rolecall.campaign.documents import Document
from rolecall.campaign.journal import turn_id
from rolecall.campaign.story import Told
from rolecall.errors import DocumentError, StorageError
from rolecall.models.tokens import estimate
from rolecall.search.catalogue import Catalogue, Entry
from rolecall.search.searcher import Search

BUDGET = 1500  # tokens
NEAR = 150  # files that count as near the scene
JOURNAL = 12  # journal lines that are looked through for names, the newest first
HUBS = 24  # files beyond those
FOLDERS = 40  # folders that are named
LINE = 8  # tokens a file's line has at least: how many can fit at all
SAID = 48  # characters of a detail
KEPT = 4000  # lines kept between turns

# Texts, not things to choose: they are found by searching.
TEXTS = frozenset({"story", "chronicle", "state", "dm", "instruction", "prose"})

_TELLING = {
    "character": ("role", "status", "location"),
    "location": ("type", "within", "region"),
    "organization": ("type", "leader"),
    "item": ("type", "holder"),
    "creature": ("type", "status", "location"),
    "event": ("date", "location"),
    "threat": ("status", "stage"),
    "rule": ("scope",),
    "arc": ("status",),
    "quest": ("status", "stage"),
}


@dataclass(slots=True)
class _Kept:
    """What is worked out once for a state of the folder: its open entries, and the lines of files as they were."""

    catalogue: Catalogue | None = None
    entries: dict[str, Entry] = field(default_factory=dict)
    lines: dict[str, tuple[str, str]] = field(default_factory=dict)  # path: (hash of the file, its line)


_KEPT: WeakKeyDictionary[Search, _Kept] = WeakKeyDictionary()


def entries(search: Search) -> dict[str, Entry]:
    """Every entry a model may choose, by path in path order: no texts, nothing secret, nothing withheld."""
    kept = _KEPT.setdefault(search, _Kept())
    catalogue = search.catalogue
    if kept.catalogue is not catalogue:
        found = (e for _, e in sorted(catalogue.items()))
        kept.entries = {e.path: e for e in found if e.kind not in TEXTS and not e.secret and not e.withheld}
        kept.catalogue = catalogue
    return kept.entries


# -- what is near


def near(search: Search, state: Document, told: Sequence[Told], action: str) -> list[str]:
    """The paths of the entries near the scene, the nearest first; at most `NEAR`.

    In this order: the scene's place; who is named in the action, the scene, the party, the last turn, the turns before
    it, the newest journal lines; then whoever is tied to these.
    """
    known = entries(search)
    found = dict.fromkeys(path for path in search.ties.named(references.plain(state.text("location"))) if path in known)
    for text in _texts(state, told, action):
        found.update(dict.fromkeys(m.path for m in search.mentions(text) if m.path in known))
    for path in list(found)[:NEAR]:
        if len(found) >= NEAR:
            break
        found.update(dict.fromkeys(other for other in search.neighbours(path) if other in known))
    return list(found)[:NEAR]


def _texts(state: Document, told: Sequence[Told], action: str) -> Iterator[str]:
    opened = secrets.open_sections(state)
    yield action
    yield state.text("scene")
    yield from (section.text for section in opened if section.heading.strip().casefold() == "party")
    yield from (f"{one.action}\n{one.prose}" for one in reversed(told))
    if any(section.heading.strip().casefold() == journal.HEADING.casefold() for section in opened):
        yield from (line.text for line in journal.lines_of(state)[: -JOURNAL - 1 : -1])


# -- the tree


def tree(search: Search, budget_tokens: int = BUDGET, near: Iterable[str] = ()) -> str:
    """The tree within a budget of estimated tokens; `near` are paths to show first where not all can be shown."""
    known = entries(search)
    page = _Page(search, budget_tokens)
    page.texts()
    whole = len(known) * LINE <= budget_tokens and page.fits(known)
    page.folders(known, whole)
    if not whole:
        chosen = dict.fromkeys(path for path in near if path in known)
        # Behind them a few of those that name most others: they tell most of the world.
        chosen.update(dict.fromkeys(heapq.nsmallest(HUBS, known, key=lambda path: (-len(known[path].refs), path))))
        page.files(chosen)
    return page.text()


class _Page:
    """A tree being written: lines are added for as long as the budget lasts."""

    def __init__(self, search: Search, budget: int) -> None:
        self.search, self.left = search, budget
        self.kept = _KEPT.setdefault(search, _Kept())
        self.heads: dict[str, str] = {}  # folder: its line
        self.below: dict[str, list[str]] = {}  # folder: the lines of its files
        self.shown: set[str] = set()

    def texts(self) -> None:
        """A line each for the story and the Chronicles, which are searched and not chosen."""
        for folder in (chronicles.FOLDER, story.FOLDER):
            inside = [self.search.catalogue[path] for path in self.search.catalogue.below(folder)]
            spans = [entry.turns for entry in inside if _counts(entry)]
            if spans:
                first, last = min(span[0] for span in spans), max(span[1] for span in spans)
                self._head(f"{folder}/", f"{folder}/ ({turn_id(first)}-{turn_id(last)}; found by `queries`)")

    def fits(self, known: dict[str, Entry]) -> bool:
        """Whether every file can have its line."""
        heads = {_folder(path) for path in known}
        price = sum(estimate(f"{head} (00000)\n") for head in heads)
        for entry in known.values():
            price += estimate(self._line(entry) + "\n")
            if price > self.left:
                return False
        return True

    def folders(self, known: dict[str, Entry], whole: bool) -> None:
        """The folders with their counts; with `whole` every file below them too."""
        counts = Counter(_folder(path) for path in known)
        if not whole and len(counts) > FOLDERS:
            counts = Counter(f"{path.split('/')[0]}/" if "/" in path else "./" for path in known)
        most = FOLDERS if not whole else len(counts)
        for folder, count in sorted(counts.most_common(most), key=lambda pair: (-pair[1], pair[0])):
            self._head(folder, f"{folder} ({count:,})")
        if whole:
            self.files(known)

    def files(self, paths: Iterable[str]) -> None:
        """The lines of these files, for as long as there is room."""
        known = self.kept.entries
        for path in paths:
            if self.left < LINE:
                return
            if path in self.shown:
                continue
            line = self._line(known[path])
            price = estimate(line + "\n")
            if price <= self.left:
                self.left -= price
                self.shown.add(path)
                self.below.setdefault(self._head_of(path), []).append(line)

    def text(self) -> str:
        """The tree as text, folders and the files in each in the order of their names."""
        rows: list[str] = []
        for folder in sorted({*self.heads, *self.below}):
            rows += [self.heads[folder]] if folder in self.heads else []
            rows += sorted(self.below.get(folder, ()))
        return "\n".join(rows)

    def _head(self, folder: str, line: str) -> None:
        price = estimate(line + "\n")
        if price <= self.left:
            self.left -= price
            self.heads[folder] = line

    def _head_of(self, path: str) -> str:
        folder = _folder(path)
        top = f"{path.split('/')[0]}/" if "/" in path else "./"
        return folder if folder in self.heads or top not in self.heads else top

    def _line(self, entry: Entry) -> str:
        """A file's line; read from the file once for as long as it stays the same."""
        held = self.kept.lines.get(entry.path)
        if held is None or held[0] != entry.sha256:
            if len(self.kept.lines) > KEPT:
                self.kept.lines.clear()
            said = "; ".join(self._details(entry))
            line = f"{entry.path}  {_short(entry.name)}" + (f" ({said})" if said else "")
            held = self.kept.lines[entry.path] = (entry.sha256, line)
        return held[1]

    def _details(self, entry: Entry) -> list[str]:
        try:
            document = self.search.campaign.document(entry.path)
        except (DocumentError, StorageError):
            return []
        if secrets.is_secret_path(entry.path, document.fields):  # since the files were last looked at
            return []
        fields = secrets.open_fields(document.fields)
        kind, said = kinds.kind_of(entry.path, fields), []
        for key in _TELLING.get(kind, ("type", "status")):
            value = fields.get(key, "")
            text = references.plain(value) if isinstance(value, str) else ""
            if text and self._may_know(text):
                said.append(_short(text))
        return said

    def _may_know(self, name: str) -> bool:
        """Whether a detail is not the name of a secret entry alone."""
        paths = self.search.ties.named(name)
        return not paths or any(not self.search.catalogue[path].secret for path in paths)


def _counts(entry: Entry) -> bool:
    return bool(entry.turns) and not entry.secret and not entry.withheld


def _folder(path: str) -> str:
    return path.rsplit("/", 1)[0] + "/" if "/" in path else "./"


def _short(text: str) -> str:
    return text if len(text) <= SAID else text[: SAID - 1].rstrip() + "…"
