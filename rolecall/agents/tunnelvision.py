"""Retrieval before the narrator speaks (TV phase 1): a sidecar sees the tree and the last turns, and picks.

It names entries, files or whole folders in four groups: active, anticipatory, enrichment, and one or two wild cards; and up
to three searches. What it names is resolved exactly. Whoever is in the scene comes first all the same, chosen without a
model, so that no oversight of a model loses them. Without a model, or when it fails, the model-free choice stands alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rolecall.agents import overview, retriever, typed
from rolecall.agents.calls import Desk
from rolecall.agents.retriever import ACTIVE, AFTER, ANTICIPATORY, BEFORE, BESIDE, ENRICHMENT, Pick
from rolecall.campaign import arcs, journal, secrets
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.instructions import instructions
from rolecall.campaign.journal import turn_id
from rolecall.campaign.story import Told
from rolecall.campaign.text import clean_line
from rolecall.errors import DocumentError, ModelError, RoleCallError, StorageError
from rolecall.models.chain import Chain
from rolecall.models.messages import Message, Request, Text
from rolecall.search.catalogue import Entry
from rolecall.search.searcher import Search

LAYER, WHEN = "retriever", "retrieve"
WILD = "wild card"  # the owner of a wild card, as the order of loss knows it

MAX_TOKENS = 700
ENTRIES = 12  # entries and passages a model may add, wild cards aside
WILDS = 2
FOLDER = 4  # entries of a whole folder, those near the scene first
SAME_NAME = 3  # entries of one name
QUERIES, FOUND = 3, 2  # searches, and passages each of them adds
LOOKED_AT = 40  # names of a group that are looked at
NAME = 200  # characters
TURNS, TURN = 3, 900  # turns that are shown, and characters of each
LINES = 8  # journal lines that are shown

_GROUPS = (("active", ACTIVE), ("anticipatory", ANTICIPATORY), ("enrichment", ENRICHMENT), ("wild", WILD))
_REASONS = {
    ACTIVE: "chosen for the scene",
    ANTICIPATORY: "may be needed next",
    ENRICHMENT: "gives the scene depth",
    WILD: "a wild card",
}
_NAMES = {"type": "array", "items": {"type": "string"}}
SCHEMA = {
    "type": "object",
    "properties": {
        "active": {**_NAMES, "description": "in the scene, or what the action is about"},
        "anticipatory": {**_NAMES, "description": "what the action may lead to"},
        "enrichment": {**_NAMES, "description": "what gives the scene depth"},
        "wild": {**_NAMES, "description": "one or two surprises that could fit"},
        "queries": {**_NAMES, "description": "up to three searches for what the tree does not show"},
    },
    "required": ["active", "anticipatory", "enrichment", "wild"],
}


def retrieve(
    chain: Chain | None,
    desk: Desk,
    campaign: Campaign,
    search: Search,
    state: Document,
    told: Sequence[Told],
    action: str,
    *,
    seconds: float,
    free: list[Pick] | None = None,
) -> tuple[list[Pick], str]:
    """(picks, why not by model) for a turn, in each group from the highest rank to the lowest.

    `seconds` bound the whole chain. The reason is empty when a model chose, and when there is none by choice. Nothing is
    raised for a model's or a helper's fault; what the model-free choice raises (an unreadable campaign) is. `free` is that
    choice, where it has been made already.
    """
    free = retriever.pick(search, state, action, tuple(told)) if free is None else free
    try:
        chain = typed.helpers_of(chain)
        if chain is None:
            return free, ""
        near = overview.near(search, state, told, action)
        request = _request(campaign, search, state, told, action, near)
        answer = typed.ask(desk, LAYER, chain, lambda _: request, seconds=seconds).value
        choice = _Choice(campaign, search, near, free, {one.turn for one in told})
        choice.take(answer)
        picks = choice.merged()
    except (ModelError, RoleCallError) as error:
        return free, str(error)
    except Exception as error:
        return free, f"retrieval made a mistake ({' '.join(f'{type(error).__name__}: {error}'.split())[:200]})"
    if choice.unknown and not choice.resolved:
        some = ", ".join(repr(clean_line(name, 40)) for name in choice.unknown[:3])
        return free, f"none of the {len(choice.unknown)} names the model gave is known ({some})"
    return picks, ""


# -- the question


def request_for(campaign: Campaign, search: Search, state: Document, told: Sequence[Told], action: str) -> Request:
    """What a model is asked for an action."""
    return _request(campaign, search, state, told, action, overview.near(search, state, told, action))


def _request(
    campaign: Campaign, search: Search, state: Document, told: Sequence[Told], action: str, near: Sequence[str]
) -> Request:
    spoken = "\n\n".join(i.text for i in instructions(campaign, LAYER) if i.when == WHEN)
    parts = [
        f"# The campaign\n\n{overview.tree(search, near=near)}",
        f"# Where the story stands\n\n{standing(state)}",
    ]
    if shown := list(turns(search, told)):
        parts.append("# The last turns\n\n" + "\n\n".join(shown))
    turn = max([line.turn for line in _journal(state)] + [one.turn for one in told], default=0) + 1
    parts.append(f"# The action\n\nTurn: {turn_id(turn)}\n\n{action}")
    said = Message("user", (Text("\n\n".join(parts)),))
    system = (Text(spoken, cache=True),) if spoken else ()
    return Request(system, (said,), (), MAX_TOKENS, SCHEMA)


def standing(state: Document) -> str:
    """Where the story stands, as every helper is told: the open part of the Campaign State, its newest journal lines."""
    fields = secrets.open_fields(state.fields)
    rows = [f"{key}: {value}" for key in ("scene", "location", "date") if isinstance(value := fields.get(key), str)]
    for section in secrets.open_sections(state):
        if section.heading.strip().casefold() in ("party", "promises", "combat") and section.text.strip():
            rows.append(f"{section.heading}:\n{section.text.strip()}")
    rows += [line.raw.split("\n")[0] for line in _journal(state)[-LINES:]]
    return "\n".join(rows)


def _journal(state: Document) -> tuple[journal.Line, ...]:
    section = state.section(journal.HEADING)
    return journal.lines_of(state) if section and secrets.is_open(section, state.sections) else ()


def turns(search: Search, told: Sequence[Told]) -> Iterator[str]:
    """The last turns, each clipped in its middle: how it began and where it ended."""
    for one in told[-TURNS:]:
        entry = search.catalogue.get(one.path)
        if entry is None or not (entry.secret or entry.withheld):
            prose = one.prose
            if len(prose) > TURN:
                prose = f"{prose[: TURN // 3].rstrip()} … {prose[-2 * TURN // 3 :].lstrip()}"
            yield f"{turn_id(one.turn)}\n> {one.action}\n{prose}".strip()


# -- the answer


@dataclass(slots=True)
class _Choice:
    """What an answer comes to, added to the model-free picks."""

    campaign: Campaign
    search: Search
    near: Sequence[str]
    free: Sequence[Pick]
    told: set[int]  # turns that are shown word for word
    picks: list[Pick] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    resolved: int = 0
    taken: set[str] = field(default_factory=set)

    def take(self, answer: dict) -> None:
        """Resolve the names of each group, then make the searches, within the limits."""
        for key, group in _GROUPS:
            for name in answer[key][:LOOKED_AT]:
                paths, whole = self._resolve(name)
                if paths:
                    self.resolved += 1
                elif name.strip():
                    self.unknown.append(name)
                for path in paths:
                    self._add(path, group, _REASONS[group] + (f", with all of {whole}" if whole else ""))
        for query in answer.get("queries", [])[:QUERIES]:
            self._search(clean_line(query, NAME))

    def merged(self) -> list[Pick]:
        """The scene's own first, then what the model chose for it; what was found for the action before what may follow.

        Of what is tied to the scene the model's choice replaces the model-free one, where it made any.
        """
        if not self.picks:
            return list(self.free)
        mine = {group: [p for p in self.picks if p.group == group] for _, group in _GROUPS}
        whole = {p.path for p in self.picks if not p.text}
        free = [p for p in self.free if p.group == ACTIVE or p.text or p.path not in whole]
        by_group = {group: [p for p in free if p.group == group] for group in dict.fromkeys(p.group for p in free)}
        if mine[ENRICHMENT]:
            by_group[ENRICHMENT] = []
        order = dict.fromkeys((ACTIVE, ANTICIPATORY, ENRICHMENT, WILD, *by_group))
        merged = [p for group in order for p in (*by_group.get(group, ()), *mine.get(group, ()))]
        first = {p.path: p for p in reversed(merged) if not p.text}
        return [p for p in merged if p.text or first[p.path] is p]

    def _resolve(self, name: str) -> tuple[list[str], str]:
        """(paths, folder) of what a name stands for: a path, a name or alias, or a folder; nothing that is not open."""
        known = overview.entries(self.search)
        wanted = name.strip().removeprefix("[[").removesuffix("]]").split("|")[0].strip()
        if not wanted or len(wanted) > NAME:
            return [], ""
        if wanted in known:
            return [wanted], ""
        if not wanted.endswith("/"):
            named = [path for path in self.search.ties.named(wanted) if path in known]
            if named:
                return named[:SAME_NAME], ""
        folder = wanted.removesuffix("*").strip("/") + "/"
        inside = [path for path in known if path.startswith(folder)]
        rank = {path: number for number, path in enumerate(self.near)}
        inside.sort(key=lambda path: (rank.get(path, len(rank)), -len(known[path].refs), path))
        return inside[:FOLDER], folder if inside else ""

    def _add(self, path: str, group: str, reason: str) -> None:
        entry = overview.entries(self.search)[path]
        if path in self.taken or entry.pinned or not self._has_room(group):
            return
        if self._stands(path, group) or self._is_shown(entry):
            return
        self.taken.add(path)
        position = AFTER
        if group == ACTIVE:
            position = BESIDE if entry.kind in ("character", "creature") else BEFORE
        self.picks.append(Pick(path, 0, group, reason, position))

    def _stands(self, path: str, group: str) -> bool:
        """Whether the model-free choice has an entry already, as something no lesser."""
        groups = {pick.group for pick in self.free if pick.path == path and not pick.text}
        return ACTIVE in groups or (ANTICIPATORY in groups and group != ACTIVE)

    def _is_shown(self, entry: Entry) -> bool:
        """Whether it is an open arc, which has its own place in the prompt."""
        if entry.kind not in ("arc", "quest"):
            return False
        try:
            return arcs.read(self.campaign.document(entry.path)).open
        except (DocumentError, StorageError):
            return True

    def _has_room(self, group: str) -> bool:
        wilds = sum(pick.group == WILD for pick in self.picks)
        return wilds < WILDS if group == WILD else len(self.picks) - wilds < ENTRIES

    def _search(self, query: str) -> None:
        shown = {(p.path, p.line) for p in (*self.free, *self.picks) if p.text}
        found = 0
        for hit in self.search.find(query, limit=FOUND * 4) if query else ():
            whole = hit.kind not in ("story", "chronicle")
            here = hit.kind in overview.TEXTS or hit.kind in ("arc", "quest") if whole else hit.turn in self.told
            if here or (hit.path, hit.line) in shown or not self._has_room(ANTICIPATORY):
                continue
            reason = f"searched for {query!r}"
            if whole and hit.path not in self.taken:
                self._add(hit.path, ANTICIPATORY, reason)
            elif not whole:
                self.picks.append(Pick(hit.path, hit.line, ANTICIPATORY, reason, AFTER, hit.text))
            else:
                continue
            self.resolved += 1
            found += 1
            if found == FOUND:
                return
