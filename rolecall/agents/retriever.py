"""Retrieval without a model: name mentions, search and graph neighbours choose what the narrator is shown.

Each pick says who chose it (its group), why, and where it stands: before the scene, beside a character, after the
scene. Groups are active (the scene itself), anticipatory (what the action may lead to) and enrichment (who is tied to it).
"""

from __future__ import annotations

from dataclasses import dataclass

from rolecall.campaign.documents import Document
from rolecall.campaign.story import Told
from rolecall.search.catalogue import Entry
from rolecall.search.names import Name, NameTable
from rolecall.search.searcher import Search

BEFORE, BESIDE, AFTER = "before the scene", "beside a character", "after the scene"
ACTIVE, ANTICIPATORY, ENRICHMENT = "active", "anticipatory", "enrichment"

SEARCHED = 5  # passages the search adds
TIED = 4  # neighbours that are added
_TEXTS = {"story", "chronicle", "state", "dm", "arc", "quest"}


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
    pinned = {path for path, entry in search.catalogue.items() if entry.pinned}

    def add(entry: Entry, group: str, reason: str) -> None:
        if entry.kind in _TEXTS or entry.secret or entry.withheld or entry.path in pinned or entry.path in picks:
            return
        position = BESIDE if entry.kind in ("character", "creature") else BEFORE
        picks[entry.path] = Pick(entry.path, 0, group, reason, position if group == ACTIVE else AFTER)

    for path in search.ties.named(state.text("location")):
        add(search.catalogue[path], ACTIVE, "the scene is set there")
    keys = NameTable(Name(path, key) for path, entry in search.catalogue.items() for key in entry.keys)
    for text, why in _texts(state, action, recent):
        for entry in _mentioned(search, text):
            add(entry, ACTIVE, why)
        for entry in _keyed(keys, search, text):
            add(entry, ACTIVE, f"one of its keys stands in {why.split(' in ', 1)[-1]}")
    passages = _searched(search, action, recent, set(picks) | pinned)
    for path in [p.path for p in picks.values() if p.group == ACTIVE]:
        name = search.catalogue[path].name
        for near in search.neighbours(path):
            if sum(p.group == ENRICHMENT for p in picks.values()) >= TIED:
                break
            add(search.catalogue[near], ENRICHMENT, f"tied to {name}")
    return [*picks.values(), *passages]


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


def _keyed(keys: NameTable, search: Search, text: str) -> list[Entry]:
    return [search.catalogue[path] for path in dict.fromkeys(m.path for m in keys.mentions(text))]


def _searched(search: Search, action: str, recent: tuple[Told, ...], taken: set[str]) -> list[Pick]:
    """What a search for the action finds beyond the entries and turns that are there anyway."""
    shown = {told.turn for told in recent}
    found: list[Pick] = []
    for hit in search.find(action, limit=SEARCHED * 3):
        if hit.path in taken or hit.kind in ("state", "arc", "quest") or (hit.kind == "story" and hit.turn in shown):
            continue
        whole = hit.kind not in ("story", "chronicle")
        if whole:
            taken.add(hit.path)
        found.append(
            Pick(
                hit.path,
                0 if whole else hit.line,
                ANTICIPATORY,
                "found for the action",
                AFTER,
                "" if whole else hit.text,
            )
        )
        if len(found) == SEARCHED:
            break
    return found
