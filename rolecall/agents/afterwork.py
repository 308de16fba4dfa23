"""What a turn leaves for the player: who and what was in it, what could be done next, whether the scene changed, the music.

One call of the sidecar for all of it, and a form by code of each. Nothing secret goes in, and what comes out passes the
same check as everything a player reads. Without a model, or when it fails, code answers alone: names, open promises, open
arcs and who is about; the music stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from rolecall.agents import strangers, typed
from rolecall.agents.calls import Desk
from rolecall.agents.scene import Scene
from rolecall.campaign import journal, secrets
from rolecall.campaign.arcs import Arc
from rolecall.campaign.beside import Beside
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import promises_of
from rolecall.campaign.folder import Campaign
from rolecall.campaign.instructions import instructions
from rolecall.campaign.journal import turn_id
from rolecall.campaign.text import clean_line, fold
from rolecall.errors import ModelError, ModelSettings, RoleCallError
from rolecall.models.chain import Chain
from rolecall.models.messages import Message, Request, Text
from rolecall.search import leaks
from rolecall.search.searcher import Search

LAYER, MUSIC = "afterwork", "music"
LEAST, MOST = 3, 4  # suggestions
NEW = 8  # things without an entry that are named at most
MAX_TOKENS = 600
PROSE = 6000  # characters of the scene that are shown
LINES, ARCS = 6, 4  # journal lines and open arcs that are shown
WORDS, NAME = 120, 80  # characters of a suggestion, and of a name
MOODS = ("calm", "merry", "tense", "dread", "fight", "sorrow", "wonder", "travel")
KINDS = ("person", "place", "thing")
KNOWN, FRESH, SUGGESTED = "known", "new", "suggested"
_KIND = {"character": "person", "creature": "person", "organization": "person", "location": "place"}

SCHEMA = {
    "type": "object",
    "properties": {
        "entities": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "kind": {"enum": list(KINDS)},
                    "state": {"enum": [KNOWN, FRESH, SUGGESTED]},
                },
                "required": ["name", "kind", "state"],
            },
        },
        "suggestions": {"type": "array", "items": {"type": "string"}},
        "scene_changed": {"type": "boolean"},
    },
    "required": ["entities", "suggestions", "scene_changed"],
}


@dataclass(frozen=True, slots=True)
class Mentioned:
    """Somebody or something in a scene. `state`: it has an entry (`known`), is named for the first time (`new`), or is

    without a name so far and could become somebody (`suggested`). `path` is the entry's, where there is one.
    """

    name: str
    kind: str
    state: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Afterwork:
    """What a turn leaves for the player. `why` says why no model had a part in it, if one was to."""

    mentioned: tuple[Mentioned, ...] = ()
    suggestions: tuple[str, ...] = ()
    scene_changed: bool = False
    music: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A told turn as the afterwork sees it: the Campaign State after it, and the arcs that are open."""

    turn: int
    action: str
    prose: str
    journal: str
    state: Document
    arcs: Sequence[Arc]
    scene_changed: bool  # the scene or the place was set by a tool
    music: str  # as it was before


def after(chain: Chain | None, desk: Desk, campaign: Campaign, search: Search, told: Told) -> Afterwork:
    """What this turn leaves. A model's fault is told in `why`; raises only what cannot be read of the campaign."""

    def without() -> tuple[Callable[[str], bool], Afterwork]:
        is_open = curtain(search, told)
        return is_open, by_code(campaign, search, told, is_open)

    beside = Beside("afterwork by code", without)  # the answer is held against it
    try:
        chain = helpers_of(chain)
        if chain is None:
            return beside.value()[1]
        wants_music = campaign.settings.music == "on"
        answer = typed.ask(desk, LAYER, chain, lambda _: _request(campaign, search, told, wants_music))
        is_open, free = beside.value()
        return _checked(answer.value, free, search, is_open, wants_music)
    except (ModelError, RoleCallError) as error:
        return replace(beside.value()[1], why=str(error))
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        return replace(beside.value()[1], why=f"the afterwork made a mistake ({said})")


def helpers_of(chain: Chain | None) -> Chain | None:
    """The sidecar's chain for this call. A script or a record takes part only where it has something for it."""
    if chain is None:
        return None
    own = Chain([spec for spec in chain.specs if _takes_part(chain, spec)], chain.limits, chain.models, LAYER)
    return typed.helpers_of(own) if own.specs else None


def _takes_part(chain: Chain, spec: object) -> bool:
    try:
        return spec.provider not in ("scripted", "record") or chain.models.provider(spec, LAYER).profile.helpers
    except ModelSettings:
        return False


# -- the question


def _request(campaign: Campaign, search: Search, told: Told, wants_music: bool) -> Request:
    spoken = [i.text for i in instructions(campaign, LAYER) if i.when == LAYER or (wants_music and i.when == MUSIC)]
    fields = secrets.open_fields(told.state.fields)
    now = [
        f"{key}: {value}" for key in ("scene", "location", "date", "time") if isinstance(value := fields.get(key), str)
    ]
    now += [f"promised: {p.words}" for p in promises_of(told.state) if not p.kept][:LINES]
    now += [
        f"open: {arc.question or arc.name}" + (f" ({arc.latest})" if arc.latest else "") for arc in told.arcs[:ARCS]
    ]
    known = [f"- {one.name} ({one.kind})" for one in known_in(search, told.prose)]
    parts = [
        "# Where the story stands\n\n" + "\n".join(now),
        "# Known already\n\n" + ("\n".join(known) or "Nobody."),
        "# Before\n\n" + "\n".join(line.raw for line in _lines_before(told)),
        f"# The turn\n\nTurn: {turn_id(told.turn)}\n\n> {told.action}\n\n{told.prose[:PROSE]}",
    ]
    said = Message("user", (Text("\n\n".join(parts)),))
    system = (Text("\n\n".join(spoken), cache=True),) if spoken else ()
    return Request(system, (said,), (), MAX_TOKENS, _schema(wants_music))


def _lines_before(told: Told) -> Sequence[journal.Line]:
    section = told.state.section(journal.HEADING)
    lines = journal.lines_of(told.state) if section and secrets.is_open(section, told.state.sections) else ()
    return [line for line in lines if line.turn < told.turn][-LINES:]


def _schema(wants_music: bool) -> dict:
    if not wants_music:
        return SCHEMA
    properties = {**SCHEMA["properties"], "music": {"enum": list(MOODS)}}
    return {**SCHEMA, "properties": properties}  # a mood that is left out stays as it was


# -- the answer


def _checked(
    value: dict, free: Afterwork, search: Search, is_open: Callable[[str], bool], wants_music: bool
) -> Afterwork:
    """The answer as it may be shown: cleaned, without what gives something away, filled up by code."""
    suggested = [_unnumbered(clean_line(one, WORDS)) for one in value["suggestions"][: MOST * 2]]
    suggested = [one for one in _once(suggested) if is_open(one)][:MOST]
    suggested += [one for one in free.suggestions if one not in suggested][: max(0, LEAST - len(suggested))]
    return Afterwork(
        mentioned=(*_known(free), *_others(value["entities"], free, search, is_open)),
        suggestions=tuple(suggested),
        scene_changed=free.scene_changed or value["scene_changed"],
        music=value.get("music", free.music) if wants_music else "",
    )


def _unnumbered(line: str) -> str:
    """A suggestion without the number or dash some models put before it: it is numbered when it is shown."""
    return re.sub(r"^(?:[-*•]|\d[.):])\s*", "", line).strip(' "“”')


def _known(free: Afterwork) -> tuple[Mentioned, ...]:
    """What code found that has an entry: of that it is sure."""
    return tuple(one for one in free.mentioned if one.state == KNOWN)


def _others(
    given: Iterable[dict], free: Afterwork, search: Search, is_open: Callable[[str], bool]
) -> Iterable[Mentioned]:
    """What a model named beside what code knows; a name that an entry bears is that entry."""
    seen = {fold(one.name) for one in _known(free)} | {one.path for one in _known(free)}
    count = 0
    for row in given:
        name = clean_line(row["name"], NAME)
        found = search.mentions(name)
        path = found[0].path if found and (found[0].end - found[0].start) * 3 >= len(name) * 2 else ""
        entry = search.catalogue.get(path)
        if not name or fold(name) in seen or path in seen or not is_open(name) or count >= NEW:
            continue
        seen.add(fold(name))
        if entry is not None:
            seen.add(path)
            yield Mentioned(entry.name, _kind(entry.kind), KNOWN, path)
            continue
        count += 1
        yield Mentioned(name, row["kind"], SUGGESTED if row["state"] == SUGGESTED else FRESH)


def curtain(search: Search, told: Told) -> Callable[[str], bool]:
    """Whether a line may be shown: it gives away nothing that is hidden near the scene, and names no secret entry."""
    hidden = leaks.hidden_near(f"{told.prose}\n{told.state.data.decode('utf-8', 'replace')}", search)
    known = "\n".join([told.prose, told.action])

    def is_open(line: str) -> bool:
        near = leaks.hidden_near(line, search)
        named = (search.catalogue.get(m.path) for m in search.mentions(line, secrets=True))
        if any(entry is not None and entry.secret for entry in named) and fold(line) not in fold(known):
            return False
        return bool(line) and not leaks.given_away(line, dict.fromkeys([*hidden, *near]), search, known)

    return is_open


# -- by code


def by_code(campaign: Campaign, search: Search, told: Told, is_open: Callable[[str], bool]) -> Afterwork:
    """The same without a model."""
    known = known_in(search, told.prose)
    return Afterwork(
        mentioned=(*known, *(one for one in _unknown_in(campaign, search, told) if is_open(one.name))),
        suggestions=tuple(one for one in _once(_possible(told, known)) if is_open(one))[:MOST],
        scene_changed=told.scene_changed,
        music=told.music if campaign.settings.music == "on" else "",
    )


def known_in(search: Search, prose: str) -> tuple[Mentioned, ...]:
    """The open entries that a text names, in order."""
    named = dict.fromkeys(mention.path for mention in search.mentions(prose))
    entries = [(path, search.catalogue.get(path)) for path in named]
    return tuple(Mentioned(e.name, _kind(e.kind), KNOWN, path) for path, e in entries if e is not None and not e.secret)


def _unknown_in(campaign: Campaign, search: Search, told: Told) -> Iterable[Mentioned]:
    """Names in the prose that no entry bears: only those that stand inside a sentence, where a capital means a name."""
    scene = Scene.of(told.prose, told.state, search, campaign, told.action, [])
    inside = [one.text(scene.prose) for one in strangers.strangers(scene) if not one.opens]
    return [Mentioned(name, "thing", FRESH) for name in _once(inside)][:NEW]


def _possible(told: Told, known: Sequence[Mentioned]) -> Iterable[str]:
    """Things to do: keep a promise, follow an arc, speak with somebody who is there, look around."""
    for promise in [p for p in promises_of(told.state) if not p.kept][:2]:
        yield clean_line(f"I see to my promise: {promise.words}", WORDS)
    for arc in [arc for arc in told.arcs if arc.open][:2]:
        yield clean_line(f"I look into it: {arc.question or arc.name}", WORDS)
    party = fold("\n".join(told.state.lines("Party")))
    for one in known:
        if one.kind == "person" and fold(one.name) not in party:
            yield clean_line(f"I speak with {one.name}.", WORDS)
    place = told.state.text("location") or told.state.text("scene")
    yield clean_line(f"I look around {place}." if place else "I look around.", WORDS)
    yield "I wait, and see what happens."


def _kind(kind: str) -> str:
    return _KIND.get(kind, "thing")


def _once(lines: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for line in lines:
        if line:
            found.setdefault(fold(line), line)
    return list(found.values())
