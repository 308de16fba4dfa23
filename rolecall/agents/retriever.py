"""Retrieval without a model: name mentions, search, graph neighbours and the story's own words choose what the narrator is shown.

Each pick says who chose it (its group), why, and where it stands: before the scene, beside a character, after the
scene. Groups are active (the scene itself), anticipatory (what the action may lead to) and enrichment (who is tied to it).
Of what was told before, the best few turns are shown at length, the others by the sentence that speaks of the action.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from weakref import WeakKeyDictionary

from rolecall.agents import recollection
from rolecall.agents.recollection import Piece
from rolecall.campaign.documents import Document
from rolecall.campaign.story import Told
from rolecall.campaign.text import fold
from rolecall.search.catalogue import NAMELESS, Catalogue, Entry
from rolecall.search.searcher import Search

BEFORE, BESIDE, AFTER = "before the scene", "beside a character", "after the scene"
ACTIVE, ANTICIPATORY, ENRICHMENT = "active", "anticipatory", "enrichment"

SEARCHED = 5  # passages the search adds: entries and what Chronicles retell
TIED = 4  # neighbours that are added
SAYING = 2  # things an action must speak of to be understood by itself
IN_SCENE = 5  # entries of the scene that help where it does not
FOUND = 8  # past turns the search adds
AT_LENGTH, LENGTH = 4, 1000  # past turns shown at length, and characters of each
GLIMPSES, GLIMPSE = (
    16,
    280,
)  # past turns shown by their telling sentence, and characters of each with what stands around it
NAMESAKES = 3  # entries that a part of a name may mean; a part that more of them share means none
_TEXTS = {"story", "chronicle", "state", "dm", "arc", "quest"}
_PEOPLE = ("character", "creature")


@dataclass(frozen=True, slots=True)
class Pick:
    """A passage chosen for the prompt. `line` is 0 for a whole entry; `text` is empty where the entry is still to be read."""

    path: str
    line: int
    group: str
    reason: str
    position: str
    text: str = ""


def pick(search: Search, state: Document, action: str, recent: tuple[Told, ...]) -> list[Pick]:
    """The picks for a turn, in each group from the highest rank to the lowest; no path twice as a whole entry."""
    picks: dict[str, Pick] = {}
    pinned = {entry.path for entry in search.catalogue.marked("pinned")}

    def add(entry: Entry, group: str, reason: str) -> None:
        if entry.kind in _TEXTS or entry.secret or entry.withheld or entry.path in pinned or entry.path in picks:
            return
        position = BESIDE if entry.kind in _PEOPLE else BEFORE
        picks[entry.path] = Pick(entry.path, 0, group, reason, position if group == ACTIVE else AFTER)

    for path in search.ties.named(state.text("location")):
        add(search.catalogue[path], ACTIVE, "the scene is set there")
    named = _parts(search).named(search, action)
    for entry in (entry for group in named for entry in group):
        add(entry, ACTIVE, "named in the action")
    for text, why in _texts(state, action, recent):
        for entry in _mentioned(search, text):
            add(entry, ACTIVE, why)
        for mention in search.keyed(text):
            add(search.catalogue[mention.path], ACTIVE, f"one of its keys stands in {why.split(' in ', 1)[-1]}")
    passages = _recalled(search, state, action, named, recent)
    taken, shown = set(picks) | pinned, {told.turn for told in recent}
    passages += _searched(search, action, taken, shown, story=not passages)
    for path in [p.path for p in picks.values() if p.group == ACTIVE]:
        name = search.catalogue[path].name
        for near in search.neighbours(path):
            if sum(p.group == ENRICHMENT for p in picks.values()) >= TIED:
                break
            add(search.catalogue[near], ENRICHMENT, f"tied to {name}")
    return [*picks.values(), *passages]


def prepare(search: Search) -> None:
    """Make ready what is asked of the campaign for every action: names, trigger words, ties, the story's own words."""
    _parts(search), search.mentions("-"), search.keyed("-"), search.ties
    recollection.prepare(search)


def _texts(state: Document, action: str, recent: tuple[Told, ...]) -> list[tuple[str, str]]:
    party = state.section("Party")
    texts = [(action, "named in the action")]
    texts.append((party.text if party else "", "named in the party"))
    if recent:
        texts.append((f"{recent[-1].action}\n{recent[-1].prose}", "named in the last turn"))
    texts.append((state.text("scene"), "named in the scene"))
    return texts


def _mentioned(search: Search, text: str) -> list[Entry]:
    seen: dict[str, Entry] = {}
    for mention in search.mentions(text):
        seen.setdefault(mention.path, search.catalogue[mention.path])
    return list(seen.values())


# -- found for the action ---------------------------------------------------------------------------------------------


def _recalled(
    search: Search, state: Document, action: str, named: Sequence[Sequence[Entry]], recent: tuple[Told, ...]
) -> list[Pick]:
    """What was told before that has to do with the action, beyond the turns that are shown anyway.

    Two lists in turn: the search's, which knows what went on around a turn, and the one by sentences, which knows who and
    what stand together. An action that says next to nothing (`I go on`, `Where did she hide it?`) is read with the scene.
    """
    shown = {told.turn for told in recent}
    parts = _parts(search)
    wants = recollection.wanted(action, named, parts)
    length, glimpses, by_search = AT_LENGTH, GLIMPSES, []
    if len(wants) < SAYING:
        length, glimpses = length // 2, glimpses // 2
        wants += recollection.wanted("", [[entry] for entry in _scene(search, state, recent)], parts)
    else:
        hits = search.find(action, kinds=("story",), limit=FOUND + 2)
        by_search = [hit.turn for hit in hits if hit.turn is not None and hit.turn not in shown]
    by_turn: dict[int, list[Piece]] = {}
    for piece in recollection.recall(search, wants, shown, by_search):
        by_turn.setdefault(piece.turn, []).append(piece)
    turns = (turn for pair in zip_longest(by_search[:FOUND], by_turn) for turn in pair if turn in by_turn)
    found: list[Pick] = []
    for rank, turn in enumerate(list(dict.fromkeys(turns))[: length + glimpses]):
        best, *others = by_turn[turn]
        if rank < length and best.listed:  # the line says it shortest, the story says all of it
            found.append(_past(best, GLIMPSE))
            best = next((piece for piece in others if not piece.listed), None)
        if best is not None:
            found.append(_past(best, LENGTH if rank < length else GLIMPSE))
    return found


def _scene(search: Search, state: Document, recent: tuple[Told, ...]) -> list[Entry]:
    """The few entries the scene is about: those of its line, of the last turn, and the place."""
    last = f"{recent[-1].action}\n{recent[-1].prose}" if recent else ""
    here = [search.catalogue[path] for path in search.ties.named(state.text("location"))]
    found = {e.path: e for e in (*_mentioned(search, state.text("scene")), *_mentioned(search, last), *here)}
    return [e for e in found.values() if not (e.pinned or e.secret or e.withheld or e.kind in _TEXTS)][:IN_SCENE]


def _past(piece: Piece, length: int) -> Pick:
    return Pick(piece.path, piece.line, ANTICIPATORY, "told before", AFTER, recollection.around(piece, length))


def _searched(search: Search, action: str, taken: set[str], without: set[int], *, story: bool) -> list[Pick]:
    """What a search for the action finds beyond the entries that are there anyway, among entries and retellings.

    With `story` turns too: for an action of which nothing was recalled. `without` are the turns shown word for word.
    """
    passed = {"state", "arc", "quest", "dm"} | (set() if story else {"story"})
    kinds = search.catalogue.kinds - passed
    found: list[Pick] = []
    for hit in search.find(action, kinds=kinds, limit=SEARCHED * 3):
        whole = hit.kind not in ("story", "chronicle")
        shown = hit.turn in without if hit.kind == "story" else hit.turn is not None
        if hit.path in taken or (not whole and shown):
            continue
        if whole:
            taken.add(hit.path)
        line, text = (0, "") if whole else (hit.line, hit.text)
        found.append(Pick(hit.path, line, ANTICIPATORY, "found for the action", AFTER, text))
        if len(found) == SEARCHED:
            break
    return found


# -- names in part ----------------------------------------------------------------------------------------------------


class Parts:
    """Which entries have a word in their name: `Varr` means Captain Varr where nobody else is called so.

    A word is `in` it when several entries share it.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        named = [(path, name) for path, name, _, secret in catalogue.names() if not secret]
        self.catalogue = catalogue
        self._paths = [path for path, _ in named]
        self._names = recollection.Rows([fold(name) for _, name in named])

    def __contains__(self, word: object) -> bool:
        return len(self._bearers(str(word))) > 1

    def _bearers(self, word: str) -> list[str]:
        return [self._paths[row] for row in self._names.having(word)]

    def named(self, search: Search, text: str) -> list[list[Entry]]:
        """The entries a text names, by their whole name or alias or by a part of the name; of one name a group each."""
        mentions = search.mentions(text)
        groups: dict[tuple[int, int], list[Entry]] = {}
        for mention in mentions:
            groups.setdefault((mention.start, mention.end), []).append(search.catalogue[mention.path])
        for found in _CAPITAL.finditer(text):
            if not any(m.start <= found.start() < m.end for m in mentions):
                opens = not text[: found.start()].strip() or text[: found.start()].rstrip()[-1] in _STOPS
                if group := self._bearing(search, found[0], opens):
                    groups[found.span()] = group
        kept = {tuple(entry.path for entry in group): group for group in groups.values()}
        return [[e for e in group if e.kind not in NAMELESS and not e.secret] for group in kept.values()]

    def _bearing(self, search: Search, word: str, opens: bool) -> list[Entry]:
        """The few entries with a word in their name; at the beginning of a sentence people only, who are spoken of so."""
        stems = recollection.stems(word)
        paths = self._bearers(next(iter(stems))) if len(stems) == 1 else []
        entries = [search.catalogue[path] for path in sorted(paths)]
        if len(entries) > NAMESAKES or (opens and any(entry.kind not in _PEOPLE for entry in entries)):
            return []
        return entries


_CAPITAL = re.compile(r"(?<!\w)[^\W\d_a-z][^\W\d_]+(?:['’][^\W\d_]+)*")
_STOPS = '.!?…:"“”«»>\n-'
_tables: WeakKeyDictionary[Search, Parts] = WeakKeyDictionary()


def _parts(search: Search) -> Parts:
    catalogue, table = search.catalogue, _tables.get(search)
    if table is None or table.catalogue is not catalogue:
        table = _tables[search] = Parts(catalogue)
    return table
