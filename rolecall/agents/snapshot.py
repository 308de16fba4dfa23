"""The game master's digest: threats, open arcs, promises, who is where and how, tensions, organizations.

It is about 500 tokens and never above 600, however large the campaign is. What comes in is decided by rank: what is at
hand in the scene, how lately it was touched (turn ids in latest lines, histories and the Journal), how much is tied to
it. The same files give the same digest. Without secrets it is the player's view; with them it tells truths in short.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from rolecall.campaign import arcs, journal, references, secrets
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import HISTORY, PROMISES, promises_of
from rolecall.campaign.folder import Campaign
from rolecall.campaign.frontmatter import Value
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.text import clean
from rolecall.errors import CampaignError
from rolecall.models.tokens import estimate
from rolecall.search.searcher import Search

TARGET = 500  # tokens to be filled
LIMIT = 600  # tokens, never exceeded
LINE = 40  # tokens of one line at most, without its truth
TRUTH = 20  # tokens of a truth at most
NAME = 14  # tokens of one name at most
READ = 60  # entries of a kind that are opened: those at hand, then the last touched, then those that name the most
READ_OPEN = 300  # the same for arcs and threats, as nothing but the file tells that one is over
FADES = 50  # turns after which something is no longer recent

# The sections in order, and the share of the tokens each may fill before the rest goes to whatever ranks highest.
SHARES = {
    "Threats": 0.14, "Open arcs": 0.22, "Promises": 0.12, "Characters": 0.22, "Tensions": 0.18, "Organizations": 0.12,
}  # fmt: skip
_OVER = {"inactive", "over", "ended", "averted", "defeated", "destroyed", "dead", "gone", "past", "closed", "resolved"}
_TURN = re.compile(r"\bT(\d{4,7})\b")


@dataclass(frozen=True, slots=True)
class Line:
    """One line that could be told: its section, its words, and its rank (higher is told first)."""

    section: str
    text: str
    rank: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The digest: its text, its size by `models.tokens.estimate`, and the lines of each section that has some."""

    text: str
    tokens: int
    sections: dict[str, list[str]] = field(default_factory=dict)


def of(campaign: Campaign, search: Search, *, with_secrets: bool = False) -> Snapshot:
    """The digest of a campaign as it stands; entries that cannot be read, or were forgotten, are not in it.

    It is the same for as long as the catalogue and the Campaign State are, and is kept that long.
    """
    desk = _Desk(campaign, search, with_secrets)
    asked = (desk.catalogue, campaign, desk.state.data if desk.state else b"")
    held = _KEPT.setdefault(search, {}).get(with_secrets)
    if held is not None and held[0][0] is asked[0] and held[0][1:] == asked[1:]:
        return held[1]
    told = (_threats, _arcs, _promises, _characters, _tensions, _organizations)
    made = digest(line for section in told for line in section(desk))
    _KEPT[search][with_secrets] = (asked, made)
    return made


_KEPT: WeakKeyDictionary[Search, dict[bool, tuple[tuple, Snapshot]]] = WeakKeyDictionary()


def digest(lines: Iterable[Line], target: int = TARGET) -> Snapshot:
    """The highest lines that fit: first each section up to its share, then whatever ranks highest."""
    ranked = sorted(dict.fromkeys(lines), key=lambda line: (-line.rank, line.section, line.text))
    target = min(target, LIMIT)
    chosen: set[Line] = set()
    for section, share in SHARES.items():
        chosen |= _filled(set(), [line for line in ranked if line.section == section], share * target)
    chosen = _filled(chosen, ranked, target)
    text, sections = _rendered([line for line in ranked if line in chosen])
    return Snapshot(text, estimate(text), sections)


def _filled(chosen: set[Line], ranked: list[Line], room: float) -> set[Line]:
    """What is chosen and as many of the lines, in their order, as fit into so many tokens in all."""
    used = estimate(_rendered(chosen)[0])
    for line in ranked:
        if line in chosen or used + estimate(line.text) - 1 > room:  # joined texts are estimated one lower at most
            continue
        if (more := estimate(_rendered([*chosen, line])[0])) <= room:
            chosen, used = {*chosen, line}, more
    return chosen


def _rendered(lines: Iterable[Line]) -> tuple[str, dict[str, list[str]]]:
    sections: dict[str, list[str]] = {name: [] for name in SHARES}
    for line in lines:
        sections[line.section].append(line.text)
    sections = {name: texts for name, texts in sections.items() if texts}
    return "\n\n".join(
        "\n".join([name, *(f"- {text}" for text in texts)]) for name, texts in sections.items()
    ), sections


def clip(text: str, tokens: int) -> str:
    """A text on one line of at most so many tokens, cut between words where the script has them, with an ellipsis."""
    text = references.plain(clean(text)).replace("_", " ")
    if len(text) <= 4 * tokens and estimate(text) <= tokens:
        return text
    low, high = 0, min(len(text) - 1, max(4 * tokens, 0))  # no character is less than a quarter of a token
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(f"{text[:middle]}…") <= tokens else (low, middle - 1)
    space = text.rfind(" ", 0, low + 1)
    low = space if space > low * 0.6 else low
    while low and (unicodedata.category(text[low])[0] == "M" or "\u200d" in text[low - 1 : low + 1]):
        low -= 1  # never between a letter and its mark
    return text[:low].rstrip(" ,;:.(") + "…"


# -- what is known of an entry's weight ---------------------------------------------------------------------------------


class _Desk:
    """The campaign as one digest sees it: what is at hand, what was touched when, who is tied to how many."""

    def __init__(self, campaign: Campaign, search: Search, with_secrets: bool) -> None:
        self.campaign, self.search, self.with_secrets = campaign, search, with_secrets
        self.catalogue = search.catalogue
        self.state = self.open(STATE_FILE)
        lines = journal.lines_of(self.state) if self.state and self._reads(self.state, journal.HEADING) else ()
        self.now = max((line.turn for line in lines), default=0)
        self.touched: dict[str, int] = {}
        for line in lines:
            for path in self.named_in(line.text):
                self.touched[path] = max(line.turn, self.touched.get(path, 0))
        self.place, self.at_hand = self._scene([line.text for line in lines[-2:]])
        self._opened: dict[tuple[str, ...], list[tuple[float, Document]]] = {}
        self._tied: dict[str, float] = {}

    def _scene(self, latest: list[str]) -> tuple[set[str], set[str]]:
        """The paths of the scene's place, and of whoever and whatever the scene, the party and the last lines name."""
        if self.state is None:
            return set(), set()
        said = [self.text(self.state, key) for key in ("scene", "location")]
        party = [s.text for s in secrets.open_sections(self.state) if s.heading.strip().casefold() == "party"]
        place = {p for name in references.names_in(said[1]) for p in self.search.ties.named(name)}
        return place, place | {path for text in (*said, *party, *latest) for path in self.named_in(text)}

    def named_in(self, text: str) -> set[str]:
        """The entries a text names."""
        return {mention.path for mention in self.search.mentions(text, secrets=self.with_secrets)}

    def open(self, path: str) -> Document | None:
        """A file; None when it is missing or cannot be read as it should be."""
        try:
            return self.campaign.document(path)
        except CampaignError:
            return None

    def fields(self, document: Document) -> dict[str, Value]:
        """The fields this view may see."""
        return document.fields if self.with_secrets else secrets.open_fields(document.fields)

    def text(self, document: Document, key: str) -> str:
        """A plain field this view may see, on one line."""
        value = self.fields(document).get(key, "")
        return references.plain(value) if isinstance(value, str) else ""

    def names(self, value: Value) -> list[str]:
        """The names in a field, without those that this view may not know."""
        return [name for name in references.names_of(value) if self.may_know(name)]

    def may_know(self, name: str) -> bool:
        """Whether a name is not that of a secret entry alone."""
        paths = self.search.ties.named(name)
        return self.with_secrets or not paths or any(not self.catalogue[path].secret for path in paths)

    def weight(self, path: str, touched: int = 0) -> float:
        """The rank of an entry: at hand 3, touched this turn 2 and fading, up to 1 for what is tied to it."""
        if path not in self._tied:
            near = self.search.neighbours(path, secrets=self.with_secrets)
            self._tied[path] = min(1.0, math.log2(1 + len(near)) / 6)
        return self._fresh(path, touched) + self._tied[path]

    def _fresh(self, path: str, touched: int = 0) -> float:
        last = max(touched, self.touched.get(path, 0))
        recent = max(0.0, 1 - max(0, self.now - last) / FADES) if last else 0.0
        return 3.0 * (path in self.at_hand) + 2.0 * recent

    def entries(self, *kinds: str) -> list[tuple[float, Document]]:
        """(rank, file) of the entries of a kind that this view may see, the highest first."""
        if kinds not in self._opened:
            seen = [
                (-self._fresh(entry.path), -len(entry.refs), entry.path)
                for entry in self.catalogue.of_kinds(*kinds)
                if not entry.withheld and (self.with_secrets or not entry.secret)
            ]
            most = READ_OPEN if kinds[0] in ("arc", "threat") else READ
            documents = [document for _, _, path in sorted(seen)[:most] if (document := self.open(path))]
            found = [(self.weight(d.path, self._last_turn(d)), d) for d in documents]
            self._opened[kinds] = sorted(found, key=lambda pair: (-pair[0], pair[1].path))
        return self._opened[kinds]

    def _last_turn(self, document: Document) -> int:
        """The latest turn id in its `latest` and its History."""
        told = [s.text for s in secrets.open_sections(document) if s.heading.strip().casefold() == HISTORY.casefold()]
        turns = [int(found) for text in (document.text("latest"), *told) for found in _TURN.findall(text)]
        return max(turns, default=0)

    def _reads(self, document: Document, heading: str) -> bool:
        """Whether a file has that section once, in the open."""
        found = [s for s in document.sections if s.level and s.heading.strip().casefold() == heading.casefold()]
        return len(found) == 1 and (self.with_secrets or secrets.is_open(found[0], document.sections))

    def promises(self) -> tuple:
        """The promises of the Campaign State."""
        return promises_of(self.state) if self.state and self._reads(self.state, PROMISES) else ()

    def name(self, document: Document) -> str:
        """An entry's name, clipped."""
        return clip(self.catalogue[document.path].name, NAME)


def _line(section: str, name: str, parts: Iterable[str], rank: float, *, truth: str = "", tail: str = "") -> Line:
    """A line `name: part; part; truth (T0042)` within the limit."""
    said = "; ".join(part.rstrip(".") for part in parts if part)
    text = clip(f"{name}: {said}" if said else name, LINE - estimate(tail))
    return Line(section, text + (f"; {truth}" if truth else "") + tail, rank)


def _truth(desk: _Desk, document: Document) -> str:
    """What is hidden in an entry, in short; empty without secrets."""
    told = [desk.text(document, key) for key in document.fields if secrets.is_secret_field(key)]
    said = " ".join(text for text in told if text)
    return f"truth: {clip(said, TRUTH - 2)}" if desk.with_secrets and said else ""


# -- the sections -------------------------------------------------------------------------------------------------------


def _threats(desk: _Desk) -> Iterator[Line]:
    for rank, threat in desk.entries("threat"):
        if desk.text(threat, "status").casefold() in _OVER:
            continue
        fields = desk.fields(threat)
        agent, target = (desk.names(fields.get(key, ""))[:1] for key in ("agent", "target"))
        due = desk.text(threat, "deadline")
        parts = [
            f"{'by ' + clip(agent[0], NAME) if agent else ''} {'against ' + clip(target[0], NAME) if target else ''}".strip(),
            f"due {clip(due, 8)}" if due else "",
            clip(desk.text(threat, "stage") or desk.text(threat, "severity"), 16),
        ]
        yield _line("Threats", desk.name(threat), parts, rank, truth=_truth(desk, threat))


def _arcs(desk: _Desk) -> Iterator[Line]:
    for rank, document in desk.entries("arc", "quest"):
        arc = arcs.read(document)
        if not arc.open or arc.status.casefold() in _OVER:
            continue
        latest = desk.text(document, "latest")
        turn = journal.turn_number(latest)
        if turn is not None:
            latest = latest.split(" ", 1)[1] if " " in latest else ""
        parts = [clip(desk.text(document, "stage"), 12), latest or desk.text(document, "question")]
        tail = f" ({turn_id(turn)})" if turn is not None else ""
        yield _line("Open arcs", desk.name(document), parts, rank, truth=_truth(desk, document), tail=tail)


def _promises(desk: _Desk) -> Iterator[Line]:
    for promise in desk.promises():
        if promise.kept:
            continue
        names = desk.named_in(promise.words)
        rank = max((desk.weight(path, promise.turn) for path in names), default=desk.weight("", promise.turn))
        tail = f" ({turn_id(promise.turn)})" if promise.turn else ""
        yield _line("Promises", clip(promise.words, LINE - 6), [], rank, tail=tail)


def _characters(desk: _Desk) -> Iterator[Line]:
    for rank, person in desk.entries("character"):
        where = desk.names(desk.fields(person).get("location", ""))[:1]
        status, affinity = clip(desk.text(person, "status"), 14), desk.text(person, "affinity")
        here = bool(where) and bool(desk.place & set(desk.search.ties.named(where[0])))
        parts = [
            status,
            f"at {clip(where[0], NAME)}" if where else "",
            f"affinity {clip(affinity, 4)}" if affinity else "",
        ]
        truth = _truth(desk, person) if here or person.path in desk.at_hand else ""
        if any(parts) or truth:
            yield _line("Characters", desk.name(person), parts, rank + (1.0 if here else 0.0), truth=truth)


def _tensions(desk: _Desk) -> Iterator[Line]:
    """A line for each pair, with what either says of the other."""
    pairs: dict[tuple[str, str], dict[str, tuple[str, float]]] = {}
    for rank, person in desk.entries("character"):
        for name, said, item in references.natures(desk.fields(person).get("relationships", "")):
            if not desk.may_know(name):
                continue
            ends = [p for p in desk.search.ties.named(name) if desk.with_secrets or not desk.catalogue[p].secret]
            other = ends[0] if ends else f" {name}"
            status = item.get("status", "")
            feels = f"{said} ({status})" if said and isinstance(status, str) and status else said
            if feels and other != person.path:
                weight = (rank + (desk.weight(other) if ends else 0.0)) / 2 + 0.5 * bool(status)
                pairs.setdefault(tuple(sorted((person.path, other))), {}).setdefault(person.path, (feels, weight))
    for (one, two), said in pairs.items():
        first = one if one in said else two
        other = two if first == one else one
        a, b = (clip(desk.catalogue[p].name if p in desk.catalogue else p, NAME) for p in (first, other))
        back = f" / back: {clip(said[other][0], 14)}" if other in said and said[other][0] != said[first][0] else ""
        rank = max(weight for _, weight in said.values()) + 0.25 * bool(back)
        yield _line("Tensions", f"{a} to {b}", [clip(said[first][0], 16) + back], rank)


def _organizations(desk: _Desk) -> Iterator[Line]:
    for rank, body in desk.entries("organization"):
        fields = desk.fields(body)
        leader = desk.names(fields.get("leader", ""))[:1]
        sides = [
            f"{word} {', '.join(clip(name, 8) for name in names[:3])}"
            for word, key in (("against", "enemies"), ("with", "allies"))
            if (names := desk.names(fields.get(key, "")))
        ]
        ties = [
            f"{clip(name, 8)}: {clip(str(item.get('status') or said), 8)}"
            for name, said, item in references.natures(fields.get("relationships", ""))
            if desk.may_know(name) and (said or item.get("status"))
        ][:2]
        goals = desk.text(body, "goals")
        parts = [
            f"led by {clip(leader[0], 8)}" if leader else "",
            clip(desk.text(body, "status"), 8),
            f"wants {clip(goals, 10)}" if goals else "",
            *sides,
            *ties,
        ]
        truth = _truth(desk, body)
        if any(parts) or truth:
            yield _line("Organizations", desk.name(body), parts, rank, truth=truth)
