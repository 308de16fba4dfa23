"""The TurnDM: the fastest layer. For one turn it picks what matters and says how the scene should go.

From the action, a pool of entries that code found, and the prose modules it picks two to four entries with their places, one
or two modules, guidance and hints; and it keeps `dm/intentions.md`, encounters and events that may come: intentions, not
requirements. It knows those and nothing else that is secret. What it names is resolved exactly; unknown names are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rolecall.agents import pacing, typed
from rolecall.agents.calls import Desk
from rolecall.agents.retriever import ACTIVE, AFTER, BEFORE, BESIDE, Pick
from rolecall.agents.tunnelvision import standing, turns
from rolecall.campaign import checklists, facts, plans, references, views
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect
from rolecall.campaign.folder import Campaign
from rolecall.campaign.instructions import ProseModule, instructions, prose_modules
from rolecall.campaign.journal import turn_id
from rolecall.campaign.story import Told
from rolecall.campaign.text import clean_line, fold
from rolecall.errors import CampaignError, ModelUnavailable
from rolecall.models.chain import Chain
from rolecall.models.messages import Message, Request, Text
from rolecall.search.catalogue import Entry
from rolecall.search.searcher import Search

LAYER = "turn_dm"
MAX_TOKENS = 700
POOL = 24  # entries it may choose from at sight; it may name others that it knows of
ENTRIES, MODULES = 4, 2  # picked at most
SAID = 4  # lines of each kind of guidance and hint
LINE = 220  # characters of such a line
ABOUT = 130  # characters that tell of an entry of the pool
OPEN = 12  # intentions that may stand open
WHY = "chosen by the TurnDM"

_PLACES = {"before": BEFORE, "beside": BESIDE, "after": AFTER}
_LINES = {"type": "array", "items": {"type": "string"}}


def _object(**properties: dict) -> dict:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMA = _object(
    entries={
        "type": "array",
        "description": "two to four entries this scene needs",
        "items": _object(name={"type": "string"}, place={"type": "string", "enum": list(_PLACES)}),
    },
    prose={
        "type": "array",
        "description": "one or two prose modules",
        "items": _object(module={"type": "string"}, place={"type": "string", "enum": ["opening", "middle", "closing"]}),
    },
    guidance=_object(
        goals={**_LINES, "description": "what the scene should come to"},
        introduce={**_LINES, "description": "names of known characters to bring in"},
        threads={**_LINES, "description": "names of open arcs to advance"},
    ),
    hints=_object(
        tone={"type": "string"},
        beats={**_LINES, "description": "emotional beats, in order"},
        stress=_LINES,
        avoid=_LINES,
    ),
    intentions=_object(
        add={**_LINES, "description": "`Encounter: who, when` or `Event: what, when`"},
        withdraw={**_LINES, "description": "their words as they stand"},
        fulfil={**_LINES, "description": "their words as they stand"},
    ),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What the TurnDM chose. `styles` are modules at the place it named; `unknown` the names nobody knows."""

    picks: tuple[Pick, ...] = ()
    styles: tuple[tuple[str, ProseModule], ...] = ()
    goals: tuple[str, ...] = ()
    introduce: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    tone: str = ""
    beats: tuple[str, ...] = ()
    stress: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    unknown: tuple[str, ...] = ()
    spec: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What the TurnDM is asked about: the campaign before a turn, and what retrieval without a model found for it."""

    campaign: Campaign
    search: Search
    state: Document
    told: Sequence[Told]
    turn: int
    action: str
    pool: Sequence[Pick]


def choose(chain: Chain, desk: Desk, asked: Question, *, seconds: float) -> Choice:
    """The choice for a turn, within so many seconds for the whole chain.

    Raises ModelError when no model gave one, or none of the names it gave is known.
    """
    modules = prose_modules(asked.campaign)
    request = request_for(asked, modules)
    answer = typed.ask(desk, LAYER, chain, lambda _: request, seconds=seconds)
    return _Reading(asked, modules).read(answer.value, answer.spec)


# -- the question


def request_for(asked: Question, modules: Sequence[ProseModule]) -> Request:
    """The request of a turn, the stable part first."""
    intended = pacing.open_items(asked.campaign, plans.INTENTIONS)
    told_when = {"always", *(["intended"] if intended else []), *(["full"] if len(intended) >= OPEN else [])}
    spoken = "\n\n".join(i.text for i in instructions(asked.campaign, LAYER) if i.when in told_when)
    parts = ["# Prose modules\n\n" + "\n".join(f"- {m.name} ({m.place}): {m.when or 'any scene'}" for m in modules)]
    parts.append(f"# Where the story stands\n\n{standing(asked.state)}")
    if shown := list(turns(asked.search, asked.told[-2:])):
        parts.append("# The last turns\n\n" + "\n\n".join(shown))
    if pool := list(_pool(asked)):
        parts.append("# Entries at hand\n\n" + "\n".join(pool))
    if intended:
        parts.append("# Your intentions\n\n" + "\n".join(item.raw.strip() for item in intended))
    parts.append(f"# The action\n\nTurn: {turn_id(asked.turn)}\n\n{asked.action}")
    said = Message("user", (Text("\n\n".join(parts)),))
    return Request((Text(spoken, cache=True),) if spoken else (), (said,), (), MAX_TOKENS, SCHEMA)


def _pool(asked: Question) -> Iterator[str]:
    """A line for each entry that code found for the action."""
    catalogue = asked.search.catalogue
    paths = dict.fromkeys(pick.path for pick in asked.pool if not pick.text)
    paths |= dict.fromkeys(mention.path for mention in asked.search.keyed(asked.action))
    for path in [path for path in paths if _is_open(catalogue.get(path))][:POOL]:
        try:
            head, _, body = views.told(asked.campaign, path).partition("\n\n")
        except CampaignError:
            continue
        entry = catalogue[path]
        fields = [
            row.split(": ", 1)[1] for row in head.split("\n")[1:] if row.startswith(("role:", "type:", "status:"))
        ]
        first = next(iter(facts.sentences(references.plain(body))), "")
        about = clean_line("; ".join([*fields, first]), ABOUT)
        yield f"- {entry.name} ({entry.kind})" + (f": {about}" if about else "")


def _is_open(entry: Entry | None) -> bool:
    return entry is not None and not entry.secret and not entry.withheld


# -- the answer


@dataclass(slots=True)
class _Reading:
    """An answer being read: names resolved, lines cleaned, intentions found."""

    asked: Question
    modules: Sequence[ProseModule]
    unknown: list[str] = field(default_factory=list)
    known: int = 0

    def read(self, answer: dict, spec: str) -> Choice:
        guidance, hints, intended = answer["guidance"], answer["hints"], answer["intentions"]
        picks = self._picks(answer["entries"])
        styles = self._styles(answer["prose"])
        introduce = self._names(guidance["introduce"], ("character", "creature", "organization"))
        threads = self._names(guidance["threads"], ("arc", "quest"))
        if self.unknown and not self.known:
            some = ", ".join(repr(clean_line(name, 40)) for name in self.unknown[:3])
            raise ModelUnavailable(f"{spec} gave {len(self.unknown)} names and none of them is known ({some})")
        return Choice(
            picks=picks,
            styles=styles,
            goals=_lines(guidance["goals"]),
            introduce=introduce,
            threads=threads,
            tone=clean_line(hints["tone"], LINE),
            beats=_lines(hints["beats"]),
            stress=_lines(hints["stress"]),
            avoid=_lines(hints["avoid"]),
            effects=tuple(self._intentions(intended)),
            unknown=tuple(self.unknown),
            spec=spec,
        )

    def _picks(self, wanted: list[dict]) -> tuple[Pick, ...]:
        found: dict[str, Pick] = {}
        for one in wanted:
            for path in self._resolve(one["name"])[:1]:
                entry = self.asked.search.catalogue[path]
                if entry.pinned or entry.kind in ("arc", "quest"):
                    continue  # they stand in the prompt anyway
                found.setdefault(path, Pick(path, 0, ACTIVE, WHY, _PLACES[one["place"]]))
        return tuple(found.values())[:ENTRIES]

    def _styles(self, wanted: list[dict]) -> tuple[tuple[str, ProseModule], ...]:
        by_name = {fold(name): m for m in self.modules for name in (m.name, m.path, m.path.rsplit("/", 1)[-1])}
        found: dict[str, ProseModule] = {}
        for one in wanted:
            module = by_name.get(fold(one["module"])) or by_name.get(fold(one["module"]) + ".md")
            if module is None:
                self._miss(one["module"])
            elif one["place"] not in found and len(found) < MODULES:
                self.known += 1
                found[one["place"]] = module
        return tuple(found.items())

    def _names(self, wanted: list[str], kinds: tuple[str, ...]) -> tuple[str, ...]:
        catalogue, found = self.asked.search.catalogue, {}
        for name in wanted:
            for path in self._resolve(name)[:1]:
                if catalogue[path].kind in kinds:
                    found[path] = catalogue[path].name
        return tuple(found.values())[:SAID]

    def _resolve(self, name: str) -> list[str]:
        """The open entries of an exact name, alias or path."""
        wanted = name.strip().removeprefix("[[").removesuffix("]]").split("|")[0].strip()
        catalogue = self.asked.search.catalogue
        paths = [wanted] if wanted in catalogue else self.asked.search.ties.named(wanted) if wanted else []
        found = [path for path in paths if _is_open(catalogue[path])]
        if found:
            self.known += 1
        elif wanted:
            self._miss(name)
        return found

    def _miss(self, name: str) -> None:
        if clean_line(name):
            self.unknown.append(clean_line(name, 80))

    def _intentions(self, wanted: dict) -> Iterator[Effect]:
        """What changes in `dm/intentions.md`: marks first, then what is new, as far as there is room."""
        standing_, turn = pacing.open_items(self.asked.campaign, plans.INTENTIONS), self.asked.turn
        marked: set[str] = set()
        for key, words in (("fulfilled", wanted["fulfil"]), ("withdrawn", wanted["withdraw"])):
            for one in words[:SAID]:
                found = checklists.find(standing_, clean_line(one)) if clean_line(one) else []
                if len(found) == 1 and found[0].words not in marked:
                    marked.add(found[0].words)
                    yield Effect(plans.TICK, plans.INTENTIONS, turn, found[0].words, key=key)
        known = {fold(item.words) for item in standing_}
        for one in wanted["add"][: min(SAID, OPEN - len(known) + len(marked))]:
            line = clean_line(one, LINE)
            if line and not fold(line).startswith(("encounter:", "event:")):
                line = f"{plans.EVENT}: {line}"
            if line and fold(line) not in known:
                known.add(fold(line))
                yield Effect(plans.TODO, plans.INTENTIONS, turn, line)


def _lines(given: list[str]) -> tuple[str, ...]:
    return tuple(line for one in given[:SAID] if (line := clean_line(one, LINE)))
