"""The prompt of a turn, assembled from its published sources, the stable part first.

Instructions and prose modules, the world and the player's character, a cache mark; then the Campaign State, recent turns,
passages before the scene, beside a character and after it, open arcs, the directive with guidance and hints, style, and the
action. Every passage has one owner, a reason and a price in tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rolecall.agents import retriever
from rolecall.agents.retriever import AFTER, BEFORE, BESIDE
from rolecall.campaign import arcs, journal, story, summaries, views
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.instructions import Instruction, ProseModule, instructions, prose_modules
from rolecall.campaign.journal import turn_id
from rolecall.campaign.story import Told
from rolecall.errors import DocumentError, StorageError
from rolecall.models import tokens
from rolecall.models.messages import Message, Request, Text, Tool
from rolecall.models.provider import Profile
from rolecall.search.searcher import Search
from rolecall.tools.toolbox import Table
from rolecall.turn import smallprompt
from rolecall.turn.budget import Priced, fit
from rolecall.turn.direction import Direction

ENTRY = 2400  # characters of an entry as a passage; the narrator can `read` the rest
ARCS = 8  # open arcs that are shown
MAX_TOKENS = 1500  # tokens an answer may have
PASSING = {
    "opening",
    "past-fold-line",
}  # conditions that come and go: told behind the cache mark, which they would break
STYLES = 800  # tokens of prose modules in the stable part; one that has no room there stands where it is used
SMALL = 2000  # tokens: a model with a smaller budget is told the story its own way


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything a prompt is made of, read once at the beginning of a turn."""

    turn: int
    action: str
    state: Document
    told: tuple[Told, ...]
    instructions: tuple[Instruction, ...]
    prose: tuple[ProseModule, ...]
    arcs: tuple[arcs.Arc, ...]
    summaries: dict[str, tuple[str, ...]]  # the lines to show of each open arc
    told_in: Callable[[Priced], tuple[int, int] | None]  # which turns a passage tells
    passages: tuple[Priced, ...]  # priced as entries of a large model
    budget: int
    past_fold_line: bool
    direction: Direction = field(default_factory=Direction)
    listed: tuple[ProseModule, ...] = ()  # whose texts stand in the stable part


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt made to a model's measure, and the price list of its passages."""

    request: Request
    passages: tuple[Priced, ...]
    tokens: int


def gather(
    campaign: Campaign,
    search: Search,
    state: Document,
    turn: int,
    action: str,
    picks: list[retriever.Pick] | None = None,
    direction: Direction | None = None,
    choosing: bool = False,
) -> Sources:
    """Read the sources of a turn. A source that cannot be read is left out, never the turn.

    `picks` are what retrieval chose; without them the model-free chooser is asked. `direction` is what the DM's layers
    decided, if there are any; where a TurnDM is `choosing` among the prose modules, all their texts stand in the stable
    part of the prompt.
    """
    memory = campaign.settings.memory
    told = story.recent(campaign, memory["recent_turns"])
    if picks is None:
        picks = retriever.pick(search, state, action, told)
    standing, modules = open_arcs(campaign, search), prose_modules(campaign)
    passages = [*_pinned(campaign, search), *_picked(campaign, picks)]
    return Sources(
        turn=turn,
        action=action,
        state=state,
        told=told,
        instructions=instructions(campaign, "narrator"),
        prose=modules,
        arcs=standing,
        summaries={arc.path: tuple(summaries.shown(campaign.document(arc.path))) for arc in standing},
        told_in=summaries.told_in(campaign),
        passages=tuple(passages),
        budget=campaign.settings.context["budget"],
        past_fold_line=journal.length(journal.lines_of(state)) > memory["fold_at"],
        direction=direction or Direction(),
        listed=_listed(modules, choosing),
    )


def _listed(modules: tuple[ProseModule, ...], choosing: bool) -> tuple[ProseModule, ...]:
    """The modules whose texts stand in the stable part, where they are cached: the default first, as far as there is room."""
    wanted = sorted((m for m in modules if m.default or choosing), key=lambda m: not m.default)
    found, room = [], STYLES
    for module in wanted:
        if (price := tokens.estimate(module.text)) <= room:
            found.append(module)
            room -= price
    return tuple(found)


def _pinned(campaign: Campaign, search: Search) -> list[Priced]:
    found = []
    for entry in search.catalogue.marked("pinned"):
        if not entry.secret and not entry.withheld and entry.kind != "state":
            found.append(_priced(campaign, entry.path, "pinned", "pinned by the writer", "world", len(found)))
    return [p for p in found if p]


def _picked(campaign: Campaign, picks: list[retriever.Pick]) -> list[Priced]:
    found = []
    for rank, pick in enumerate(picks):
        if pick.text:
            price = tokens.estimate(pick.text)
            found.append(Priced(pick.path, pick.line, pick.group, pick.reason, pick.position, pick.text, price, rank))
        else:
            found.append(_priced(campaign, pick.path, pick.group, pick.reason, pick.position, rank))
    return [p for p in found if p]


def _priced(campaign: Campaign, path: str, owner: str, reason: str, position: str, rank: int) -> Priced | None:
    try:
        text = _clipped(views.told(campaign, path), ENTRY)
    except (DocumentError, StorageError):
        return None  # broken or gone since the files were reconciled: withheld
    return Priced(path, 1, owner, reason, position, text, tokens.estimate(text), rank) if text else None


def _clipped(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    at = max(text.rfind("\n", 0, limit), text.rfind(". ", 0, limit) + 1, limit // 2)
    return text[:at].rstrip() + " …"


def open_arcs(campaign: Campaign, search: Search) -> tuple[arcs.Arc, ...]:
    """The open arcs, the one that moved last first; at most eight."""
    found = []
    for entry in search.catalogue.of_kinds("arc", "quest"):
        if not entry.secret and not entry.withheld:
            try:
                arc = arcs.read(campaign.document(entry.path))
            except (DocumentError, StorageError):
                continue
            if arc.open:
                found.append(arc)
    found.sort(key=lambda arc: (-(journal.turn_number(arc.latest) or 0), arc.path))
    return tuple(found[:ARCS])


def rows_of(prompt: Prompt | None, table: Table | None = None) -> list[dict]:
    """The passages of a prompt, and what the narrator looked up while it wrote, as `context --json` prints them."""
    keys = ("path", "line", "owner", "reason", "tokens", "kept")
    found = [{key: getattr(p, key) for key in keys} for p in (prompt.passages if prompt else ())]
    for seen in table.seen if table else ():
        row = (seen.path, seen.line, seen.owner, seen.reason, tokens.estimate(seen.text), True)
        found.append(dict(zip(keys, row, strict=True)))
    return found


# -- one prompt for one model ---------------------------------------------------------------------------------------


def assemble(
    sources: Sources, profile: Profile, offers: tuple[Tool, ...], correct: Callable[[str, int], int]
) -> Prompt:
    """The prompt for one model. `correct` turns a budget of real tokens into estimated ones for a spec."""
    budget = correct(profile.spec, min(sources.budget, profile.budget or sources.budget))
    if profile.budget is not None and profile.budget < SMALL:
        return _small(sources, budget)
    offers = offers if profile.tools else ()
    spoken = [i for i in sources.instructions if i.when in _conditions(sources, tools=profile.tools)]
    system = "\n\n".join(i.text for i in spoken if i.when not in PASSING)
    style = list(sources.direction.style(sources.prose))
    state = views.text(sources.state)
    passages = [*_recent(sources), *_arc_lines(sources), *sources.passages]
    passages = summaries.without_doubles(passages, sources.told_in, tokens.estimate)
    frame = _price(_request(system, style, sources, [], state, offers))
    room = budget
    while True:
        kept = fit(passages, frame, room)
        request = _request(system, style, sources, kept, state, offers)
        over = _price(request) - budget
        if over <= 0 or kept == fit(passages, frame, 0):
            return Prompt(request, (*_fixed(spoken, style, sources, state), *kept), _price(request))
        room -= over  # what the titles of the parts and the blank lines between the passages cost


def _small(sources: Sources, budget: int) -> Prompt:
    spoken = [i for i in sources.instructions if i.when == "small-model"]
    instruction = "\n\n".join(i.text for i in spoken)
    request, passages = smallprompt.assemble(
        instruction,
        sources.state,
        sources.told,
        list(sources.passages),
        sources.action,
        budget,
        sources.direction.small,
    )
    rows = _fixed(spoken, [], sources, views.text(sources.state), small=True)
    return Prompt(request, (*rows, *passages), _price(request))


def _price(request: Request) -> int:
    return tokens.estimate_request(request)


def _conditions(sources: Sources, *, tools: bool) -> set[str]:
    told_when = {"always"}
    if tools:
        told_when.add("tools")
    if not sources.told:
        told_when.add("opening")
    if sources.past_fold_line:
        told_when.add("past-fold-line")
    return told_when  # not `directed`: that stands with the directive, so that the beginning stays the same


def _recent(sources: Sources) -> list[Priced]:
    found = []
    for rank, told in enumerate(reversed(sources.told)):  # rank 0 is the newest, the last to be lost
        text = story.section(told.turn, told.action, told.prose)
        found.append(
            Priced(
                told.path,
                told.line,
                "recent",
                "a recent turn, word for word",
                "recent turns",
                text,
                tokens.estimate(text),
                rank,
            )
        )
    return found[::-1]


def _arc_lines(sources: Sources) -> list[Priced]:
    found = []
    for rank, arc in enumerate(sources.arcs):
        said = [f"{arc.name} ({'quest' if arc.stage else 'arc'}, {arc.status})"]
        said += [arc.question] if arc.question and arc.question != arc.name else []
        said += [f"At stake: {arc.stakes}"] if arc.stakes else []
        said += [f"Latest: {arc.latest}"] if arc.latest else []
        text = "\n".join(["- " + " · ".join(said), *(f"  {line}" for line in sources.summaries.get(arc.path, ()))])
        found.append(Priced(arc.path, 1, "arc", "an open arc", "open arcs", text, tokens.estimate(text), rank))
    return found


DIRECTION = "Where this turn should go"
_TITLES = (("recent turns", "The story so far"), (BEFORE, "Before the scene"), (BESIDE, "Beside the characters"))


def _request(
    system: str,
    style: list[tuple[str, ProseModule]],
    sources: Sources,
    passages: list[Priced],
    state: str,
    offers: tuple[Tool, ...],
) -> Request:
    kept = [p for p in passages if p.kept]
    world = "\n\n".join(p.text for p in kept if p.position == "world")
    styles = "\n\n".join(f"## {m.name}\n\n{m.text}" for m in sources.listed)
    stable = "\n\n".join(
        part
        for part in (
            system,
            f"# Styles\n\n{styles}" if styles else "",
            f"# The world\n\n{world}" if world else "",
        )
        if part
    )
    parts = [f"# The Campaign State\n\n{state}"]
    for position, title in (*_TITLES, (AFTER, "After the scene"), ("open arcs", "Open arcs")):
        texts = [p.text for p in kept if p.position == position]
        if texts:
            parts.append(f"# {title}\n\n" + ("\n" if position == "open arcs" else "\n\n").join(texts))
    if direction := _direction(sources):
        parts.append(f"# {DIRECTION}\n\n{direction}")
    parts += [f"# Style, {place}\n\n{_styled(sources, module)}" for place, module in style]
    if passing := [i.text for i in sources.instructions if i.when in PASSING & _conditions(sources, tools=False)]:
        parts.append("# For this turn\n\n" + "\n\n".join(passing))
    parts.append(f"# The action\n\nTurn: {turn_id(sources.turn)}\n\n{sources.action}")
    said = Message("user", (Text("\n\n".join(parts), cache=bool(offers)),))
    return Request((Text(stable, cache=True),), (said,), offers, MAX_TOKENS)


def _styled(sources: Sources, module: ProseModule) -> str:
    return f"{module.name}, as told under Styles." if module in sources.listed else module.text


def _direction(sources: Sources) -> str:
    """What the DM's layers say, with the instruction on how to take it; empty where they say nothing."""
    if not sources.direction.text:
        return ""
    how = "\n\n".join(i.text for i in sources.instructions if i.when == "directed")
    return f"{how}\n\n{sources.direction.text}".strip()


def _directed(direction: Direction, *, small: bool) -> list[Priced]:
    """The rows of what the DM's layers say: who says it, and what it costs."""
    if small:
        parts = [("dm", "what the DM wants told", direction.small)]
    else:
        parts = [
            ("dm", "what the DM wants told", direction.directive),
            ("rolecall", "what is due, and what has run out", "\n".join(direction.told)),
            ("turn_dm", "guidance for the scene", "\n".join(direction.guidance)),
            ("turn_dm", "hints for the scene", "\n".join(direction.hints)),
        ]
    return [
        Priced("", 0, owner, reason, "directive", text, tokens.estimate(text)) for owner, reason, text in parts if text
    ]


def _fixed(
    spoken: list[Instruction],
    style: list[tuple[str, ProseModule]],
    sources: Sources,
    state: str,
    *,
    small: bool = False,
) -> list[Priced]:
    """What is never lost, for the price list."""
    rows = [
        Priced(i.path, 1, "instruction", f"told when: {i.when}", "instructions", i.text, tokens.estimate(i.text))
        for i in spoken
    ]
    chosen = {place for place, _ in sources.direction.styles}
    rows += [
        Priced(m.path, 1, "style", "a style to choose from", "styles", m.text, tokens.estimate(m.text))
        for m in (() if small else sources.listed)
    ]
    for place, m in style:
        why, text = "chosen by the TurnDM" if place in chosen else "the default style", _styled(sources, m)
        rows.append(Priced(m.path, 1, "style", why, place, text, tokens.estimate(text)))
    rows += _directed(sources.direction, small=small)
    rows.append(Priced(sources.state.path, 1, "state", "always", "campaign state", state, tokens.estimate(state)))
    rows.append(Priced("", 0, "action", "the player's", "action", sources.action, tokens.estimate(sources.action)))
    return rows
