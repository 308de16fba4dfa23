"""The DM stream: behind the curtain one model plans the story, and says what the narrator should write, never why.

It reads everything hidden: the digest with truths, its own files, what is hidden in open arcs and in whoever is at hand, and
figures of pace. In at most two rounds of tools it changes its plans and the game's numbers, never lore; then it calls
`direct`. What comes of it passes the curtain before anybody else sees it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rolecall.agents import overview, pacing, snapshot
from rolecall.agents.calls import Desk, Round, read_round
from rolecall.agents.pacing import Pace
from rolecall.agents.tunnelvision import turns
from rolecall.campaign import text as text_
from rolecall.campaign import views
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect
from rolecall.campaign.folder import Campaign
from rolecall.campaign.game import directives
from rolecall.campaign.instructions import instructions
from rolecall.campaign.journal import turn_id
from rolecall.campaign.story import Told
from rolecall.errors import CampaignError, ModelUnavailable
from rolecall.models.chain import Chain, Models
from rolecall.models.events import Event
from rolecall.models.messages import Message, Request, Text, Tool, ToolResult
from rolecall.models.provider import Profile
from rolecall.models.schemas import object_in
from rolecall.search import leaks
from rolecall.search.searcher import Search
from rolecall.tools import families
from rolecall.tools.toolbox import DM, Table, Toolbox, brief

LAYER = "dm"
ROUNDS = 2  # rounds of tools before it must direct
MAX_TOKENS = 900
DIRECTIVE = 1200  # characters of a narrator directive
OWN = 2400  # characters of one of its own files, the newest lines of a long one
OWN_ALL = 9000  # characters of all of them
TRUTHS = 24  # hidden texts that are told, those at hand first
TRUTH = 400  # characters of each

DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class Directive:
    """What the DM decided, as it was given: it has not passed the curtain yet.

    `fragments` are directive fragments, those of its tools in order and its immersion directive last; `seen` the files
    its tools showed it.
    """

    narrator: str
    fragments: tuple[dict[str, Any], ...]
    effects: tuple[Effect, ...]
    seen: tuple[str, ...]
    spec: str


@dataclass(frozen=True, slots=True)
class Question:
    """The campaign before a turn, and what the DM's dice are rolled under."""

    campaign: Campaign
    search: Search
    state: Document
    told: Sequence[Told]
    turn: int
    action: str
    seed: str = ""


def plan(
    chain: Chain, desk: Desk, asked: Question, *, seconds: float, asking: Callable[[], None] = lambda: None
) -> Directive:
    """The DM's decision, within so many seconds in all. Nothing is written: what its tools change is in what is returned.

    `asking` is called as soon as a model is about to be asked. Raises ModelError when no model gave one.
    """
    table = Table(asked.campaign, asked.search, asked.turn, asked.state, seed=asked.seed)
    pace = pacing.of(asked.campaign, asked.search, asked.state, asked.turn)
    first = request_for(asked, pace)
    talk = _Talk(families.toolbox(DM, table), DIRECT_TOOL)
    hurried = _Hurried(chain, time.monotonic() + seconds, asking)
    last = _spoken(asked.campaign, {"decide"})
    for number in range(ROUNDS + 1):
        is_last = number == ROUNDS
        make = talk.request(first, last if is_last else "", is_last)
        given = read_round(list(desk.stream(LAYER, hurried, make, prefer=talk.spec or None, whole=True)))  # type: ignore[arg-type]
        found = talk.take(given)
        if found is not None:
            narrator, immersion = found
            fragments = (*table.fragments, *([immersion] if immersion else []))
            seen = tuple(dict.fromkeys(one.path for one in table.seen))
            return Directive(narrator, fragments, tuple(table.effects), seen, talk.spec)
        if not given.calls:
            break
    raise ModelUnavailable(f"{talk.spec or 'the model'} gave no directive")


def _direct_tool() -> Tool:
    narrator = {
        "type": "string",
        "description": "what to write in this turn, in a few sentences; never why, never what is hidden",
    }
    about = "changes of the game's numbers that come with it"
    immersion = {**brief(directives.SCHEMA), "description": about}
    schema = {
        "type": "object",
        "properties": {"narrator": narrator, "immersion": immersion},
        "required": ["narrator"],
        "additionalProperties": False,
    }
    return Tool(
        DIRECT,
        "Say what the narrator should write in this turn, and what changes in the game. Call it once, last.",
        schema,
    )


DIRECT_TOOL = _direct_tool()


@dataclass(slots=True)
class _Talk:
    """The exchange with the model so far."""

    toolbox: Toolbox
    direct: Tool
    added: tuple[Message, ...] = ()
    spec: str = ""

    def request(self, first: Request, more: str, is_last: bool) -> Callable[[Profile], Request]:
        """The next request; the last one offers nothing but `direct`."""
        added = self.added
        if more and added:
            *before, end = added
            added = (*before, Message("user", (*end.parts, Text(more))))

        def make(profile: Profile) -> Request:
            offers = (self.direct,) if is_last else (*self.toolbox.offers(), self.direct)
            return Request(first.system, (*first.messages, *added), offers if profile.tools else (), first.max_tokens)

        return make

    def take(self, given: Round) -> tuple[str, dict[str, Any]] | None:
        """What was decided; None when tools were asked for, whose results are in the next request then."""
        self.spec = given.spec or self.spec
        decided = [call for call in given.calls if call.name == DIRECT]
        others = tuple(call for call in given.calls if call.name != DIRECT)
        results = self.toolbox.run(others)
        if decided and (found := _decision(decided[0].arguments)):
            return found
        if not given.calls:
            return _decision(object_in(given.text) or {})
        wrong = [ToolResult(c.id, c.fault or "`narrator` is to be a text.", is_error=True) for c in decided]
        text = (Text(given.text.rstrip()),) if given.text.strip() else ()
        said = {result.call_id: result for result in (*results, *wrong)}
        mine = Message("assistant", (*text, *given.calls))
        self.added = (*self.added, mine, Message("user", tuple(said[call.id] for call in given.calls)))
        return None


def _decision(given: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """(directive, immersion) of the arguments of `direct`; None for anything else."""
    narrator, immersion = given.get("narrator"), given.get("immersion")
    if not isinstance(narrator, str) or not (narrator.strip() or isinstance(immersion, dict)):
        return None
    said = " ".join(text_.clean(narrator).split())
    if len(said) > DIRECTIVE:
        said = text_.clean_line(said, DIRECTIVE)
    return said, immersion if isinstance(immersion, dict) else {}


# -- the question


def request_for(asked: Question, pace: Pace) -> Request:
    """The first request, the stable part first. It offers no tools yet."""
    own = list(_own_files(asked))
    told_when = {"always", *pace.conditions, *([] if own else ["unplanned"])}
    digest = snapshot.of(asked.campaign, asked.search, with_secrets=True).text
    parts = ["# Your own files\n\n" + "\n\n".join(own)] if own else []
    parts += [f"# The campaign in short\n\n{digest}"] if digest else []
    if truths := _truths(asked):
        parts.append("# What is hidden\n\n" + "\n".join(f"- {one}" for one in truths))
    parts.append(f"# The Campaign State\n\n{views.text(asked.state, with_secrets=True)}")
    if shown := list(turns(asked.search, asked.told)):
        parts.append("# The last turns\n\n" + "\n\n".join(shown))
    parts.append(f"# The pace\n\n{pace.text()}")
    parts.append(f"# The action\n\nTurn: {turn_id(asked.turn)}\n\n{asked.action}")
    system = _spoken(asked.campaign, told_when)
    said = Message("user", (Text("\n\n".join(parts), cache=True),))
    return Request((Text(system, cache=True),) if system else (), (said,), (), MAX_TOKENS)


def first_request(asked: Question) -> Request:
    """The whole first request, tools and all, as a large model is sent it."""
    pace = pacing.of(asked.campaign, asked.search, asked.state, asked.turn)
    table = Table(asked.campaign, asked.search, asked.turn, asked.state, seed=asked.seed)
    talk = _Talk(families.toolbox(DM, table), DIRECT_TOOL)
    return talk.request(request_for(asked, pace), "", False)(Profile("none"))


def _spoken(campaign: Campaign, told_when: set[str]) -> str:
    return "\n\n".join(i.text for i in instructions(campaign, LAYER) if i.when in told_when)


def _own_files(asked: Question) -> Iterator[str]:
    """Everything under `dm/`, of long files the end, where the newest lines stand."""
    left = OWN_ALL
    for path in asked.search.catalogue.below("dm"):
        try:
            text = views.told(asked.campaign, path, with_secrets=True)
        except CampaignError:
            continue
        if len(text) > min(OWN, left):
            text = "… " + text[-min(OWN, left) :].partition("\n")[2]
        left = max(200, left - len(text))
        yield f"## {path}\n\n{text}"


def _truths(asked: Question) -> list[str]:
    """What is hidden in open arcs and in whoever is at hand, each with its subject; those at hand first."""
    near = overview.near(asked.search, asked.state, asked.told, asked.action)[:TRUTHS]
    secret = [m.path for m in asked.search.mentions(asked.action, secrets=True)]
    lines = [e.path for e in asked.search.catalogue.of_kinds("arc", "quest") if not e.withheld]
    hidden = leaks.hidden_of([*secret, *near, *lines], asked.search)
    found = (" ".join(one.split()) for texts in hidden.values() for one in texts)
    return [text_.clean_line(one, TRUTH) for one in found][:TRUTHS]


class _Hurried:
    """A chain as the desk knows it, all of whose answers have one time limit; says when a request has been made."""

    def __init__(self, chain: Chain, deadline: float, asking: Callable[[], None]) -> None:
        self._chain, self._deadline, self._asking = chain, deadline, asking

    @property
    def models(self) -> Models:
        """What the chains of the process share."""
        return self._chain.models

    def profile(self) -> Profile | None:
        """The profile of the model that would be asked first."""
        return self._chain.profile()

    def stream(self, make_request: Callable[[Profile], Request], **how: Any) -> Iterator[Event]:
        """The events of the answer, within what is left of the time."""

        def make(profile: Profile) -> Request:
            request = make_request(profile)
            self._asking()
            return request

        return self._chain.stream(make, within=max(0.05, self._deadline - time.monotonic()), **how)
