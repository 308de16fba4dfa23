"""The historian (TV phase 4): every N turns it sums up, arc by arc, what the last turns brought, in the arcs' `## Summaries`.

It may put its own earlier lines in other words, retire them, or move them to another arc; it never touches a line of the
writer's, and never a Chronicle. Nothing is written here: effects come back, saved in the turn's record first. A stretch that
was missed because no model answered is taken with the next turn; without a model nothing is summed up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from rolecall.agents import overview, typed
from rolecall.agents.calls import Desk
from rolecall.campaign import arcs, chronicles, effects, journal, kinds, records, secrets, summaries
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect
from rolecall.campaign.folder import Campaign
from rolecall.campaign.instructions import instructions
from rolecall.campaign.journal import turn_id, turn_number
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.summaries import ADD, NOTE, RETIRE, REVISE, Summary
from rolecall.campaign.text import clean_line, fold
from rolecall.errors import DocumentError, ModelError, RoleCallError, StorageError
from rolecall.models.chain import Chain
from rolecall.models.messages import Message, Request, Text
from rolecall.search.searcher import Search
from rolecall.tools.entries import propose
from rolecall.tools.toolbox import Table, ToolFault

LAYER, WHEN, PHASE = "historian", "history", "summary"

MAX_TOKENS = 1800
MOST = 120  # turns that are summed up at once, and looked through for the last time it was done
ARCS = 12  # arcs that are shown, the one that moved last first
TRAIL = 12  # lines of a trail that are shown
SUMMARIES = 12  # lines of an arc's summaries that are shown, the newest
TEXT, REASON = 400, 120  # characters of a summary, and of why one is retired
LOOKED_AT = 40  # wishes of a sort that are looked at

# What an effect is to the activity feed.
ACTIVITY = {ADD: "summary", REVISE: "summary", RETIRE: "summary"}

_TEXT = {"type": "string"}


def _wishes(about: str, *required: str) -> dict:
    items = {"type": "object", "properties": dict.fromkeys(required, _TEXT), "required": list(required)}
    return {"type": "array", "items": items, "description": about}


SCHEMA = {
    "type": "object",
    "properties": {
        "summaries": _wishes("one for each arc in which something happened", "arc", "text"),
        "revise": _wishes("your own earlier lines in better words", "arc", "old", "text"),
        "retire": _wishes("your own earlier lines that no longer hold", "arc", "old", "reason"),
        "move": _wishes("your own earlier lines that belong to another arc", "arc", "old", "to"),
    },
    "required": ["summaries"],
}


# -- when


def due(campaign: Campaign, turn: int, every: int) -> bool:
    """Whether the historian has work after this turn: at every `every`th turn, and after that until it was done once.

    A turn that was due and failed says so in its record; where no record says anything (none was kept, or there was no
    model), the next turn to be due is waited for.
    """
    mark = turn // every * every
    if mark < 1:
        return False
    note = next(_notes(campaign, mark, turn), None)
    return turn == mark if note is None else bool(note[1].get("why"))


def _notes(campaign: Campaign, first: int, turn: int) -> Iterator[tuple[int, dict]]:
    """(turn, note) of what the records of these turns say of the historian, the newest first; at most `MOST` are read."""
    for number in range(turn, max(first, turn - MOST + 1) - 1, -1):
        for note in reversed(summaries.notes(campaign.root, f"{records.TURNS}/{turn_id(number)}")):
            yield number, note


def stretch(campaign: Campaign, turn: int, memory: dict) -> tuple[int, int]:
    """(first, last) turn to look at: the lookback, and what was missed since it was last done, at most `MOST` turns."""
    first = turn - memory["historian_lookback"] + 1
    notes = [note for _, note in _notes(campaign, 1, turn)]
    done = [note["last"] + 1 for note in notes if not note.get("why")]
    first = min([first, *(done[:1] or [note["first"] for note in notes])])
    return max(1, first, turn - MOST + 1), turn


# -- what


def summarise(
    chain: Chain | None,
    desk: Desk,
    campaign: Campaign,
    search: Search,
    turn: int,
    settings_memory: dict,
    *,
    table: Table | None = None,
) -> tuple[list[Effect], str]:
    """(the effects, why it failed) after a turn that is due. Without a model, by choice, nothing is done and nothing failed.

    The outcome is noted in the turn's record, effects and all, before they come back. An arc that the writer locked gets
    proposals; `table` holds the effects of this turn so far, so that their numbers do not meet. Raises nothing but
    KeyboardInterrupt.
    """
    first, why, found = turn, "", []
    try:
        chain = typed.helpers_of(chain)
        if chain is None:
            return [], ""
        first, last = stretch(campaign, turn, settings_memory)
        lines, shown = _journal(campaign, search, first, last), _arcs(campaign, search, first, last)
        if lines and shown:
            request = _request(campaign, turn, lines, shown)
            answer = typed.ask(desk, LAYER, chain, lambda _: request)
            before = table.effects if table else ()
            table = Table(campaign, search, turn, campaign.document(STATE_FILE), list(before))
            plan = _Plan(shown, turn, answer.spec, table)
            found, why = plan.made(answer.value), plan.lost
    except (ModelError, RoleCallError) as error:
        why = str(error)[:500]
    except Exception as error:
        why = f"the historian made a mistake ({' '.join(f'{type(error).__name__}: {error}'.split())[:200]})"
    if desk.record is not None:
        with suppress(RoleCallError):  # a note that cannot be kept costs a summary, never the turn
            encoded = [effects.encode(effect) for effect in found]
            desk.record.note(NOTE, first=first, last=turn, why=why, effects=encoded)
    return found, why


@dataclass(frozen=True, slots=True)
class _Arc:
    """An arc as the historian is shown it. `covers` is what a new line would cover; None when nothing is left to cover."""

    arc: arcs.Arc
    trail: tuple[str, ...]
    own: tuple[Summary, ...]
    others: tuple[str, ...]
    covers: tuple[int, int] | None
    locked: bool


def _arcs(campaign: Campaign, search: Search, first: int, last: int) -> list[_Arc]:
    """The open arcs and those resolved in the stretch, the one that moved last first; truths are not read."""
    mine = summaries.own(campaign.root)
    found = []
    for path, entry in overview.entries(search).items():
        if entry.kind in ("arc", "quest"):
            try:
                shown = _arc(campaign.document(path), mine, first, last)
            except (DocumentError, StorageError):
                continue
            if shown is not None:
                found.append(shown)
    found.sort(key=lambda one: (-(turn_number(one.arc.latest) or 0), one.arc.path))
    return found[:ARCS]


def _arc(document: Document, mine: frozenset[str], first: int, last: int) -> _Arc | None:
    arc, sections = arcs.read(document), document.sections
    moved = [n for line in (arc.latest, *arcs.trail_of(document)) if (n := turn_number(line)) is not None]
    if not arc.open and max(moved, default=0) < first:
        return None
    held, trail = document.section(summaries.HEADING), document.section(arcs.TRAIL)
    if secrets.is_secret_path(document.path, document.fields):  # since the files were last looked at
        return None
    if held is not None and not secrets.is_open(held, sections):
        return None  # the writer keeps this arc's summaries hidden
    lines = arcs.trail_of(document) if trail and secrets.is_open(trail, sections) else ()
    live = [summary for summary in summaries.of(document) if not summary.retired]
    begin = max([first, *(summary.last + 1 for summary in live)])
    return _Arc(
        arc,
        lines[:TRAIL],
        tuple(summary for summary in live if summary.line in mine)[-SUMMARIES:],
        tuple(summary.line for summary in live if summary.line not in mine)[-SUMMARIES:],
        (begin, last) if begin <= last else None,
        kinds.flag(document.fields, "locked"),
    )


def _journal(campaign: Campaign, search: Search, first: int, last: int) -> list[str]:
    """The journal lines of a stretch, from the Chronicles and the Journal, without notes under them."""
    found: dict[int, str] = {}
    for path in (STATE_FILE, *(path for _, path in reversed(chronicles.paths(campaign)))):
        entry = search.catalogue.get(path)
        if entry is not None and (entry.secret or entry.withheld):
            continue
        try:
            document = campaign.document(path)
            section = document.section(journal.HEADING)
            told = journal.lines_of(document, sealed=path != STATE_FILE)
        except (DocumentError, StorageError):
            continue
        hidden = secrets.is_secret_path(path, document.fields)
        if section is not None and not hidden and secrets.is_open(section, document.sections):
            for line in told:
                if first <= line.turn <= last:
                    found.setdefault(line.turn, f"- {turn_id(line.turn)} {line.text}")
        if path != STATE_FILE and min((line.turn for line in told), default=first) <= first:
            break  # what is older stands in older Chronicles
    return [found[turn] for turn in sorted(found)]


# -- the question


def _request(campaign: Campaign, turn: int, lines: Sequence[str], shown: Sequence[_Arc]) -> Request:
    spoken = "\n\n".join(i.text for i in instructions(campaign, LAYER) if i.when == WHEN)
    parts = ["# What happened\n\n" + "\n".join(lines), "# The arcs", *map(_told, shown), f"Turn: {turn_id(turn)}"]
    system = (Text(spoken, cache=True),) if spoken else ()
    return Request(system, (Message("user", (Text("\n\n".join(parts)),)),), (), MAX_TOKENS, SCHEMA)


def _told(shown: _Arc) -> str:
    arc = shown.arc
    rows = [f"## {arc.name}", f"status: {arc.status}"]
    rows += [f"{key}: {text}" for key, text in (("question", arc.question), ("stakes", arc.stakes)) if text]
    rows += [f"latest: {arc.latest}"] if arc.latest else []
    rows += ["trail, newest first:", *(f"- {line}" for line in shown.trail)] if shown.trail else []
    rows += ["your own summaries:", *(f"- {summary.line}" for summary in shown.own)] if shown.own else []
    rows += ["the writer's summaries:", *(f"- {line}" for line in shown.others)] if shown.others else []
    if shown.covers:
        rows.append(f"a new summary covers: {turn_id(shown.covers[0])}-{turn_id(shown.covers[1])}")
    return "\n".join(rows)


# -- the answer


@dataclass(slots=True)
class _Plan:
    """What an answer comes to: one new line an arc at most, and one change of an old line at most."""

    shown: Sequence[_Arc]
    turn: int
    model: str
    table: Table
    effects: list[Effect] = field(default_factory=list)
    touched: set[tuple[str, str]] = field(default_factory=set)
    unknown: list[str] = field(default_factory=list)  # names that are no arc's
    resolved: int = 0

    @property
    def lost(self) -> str:
        """Why nothing could come of the answer: it speaks of arcs that nobody showed it, and of no other."""
        if not self.unknown or self.resolved:
            return ""
        return f"none of the arcs it named is known ({', '.join(repr(clean_line(n, 40)) for n in self.unknown[:3])})"

    def made(self, answer: dict) -> list[Effect]:
        """The effects, new lines first."""
        for wish in answer["summaries"][:LOOKED_AT]:
            self._add(self._arc(wish["arc"]), wish["text"])
        for wish in answer.get("revise", [])[:LOOKED_AT]:
            self._revise(*self._own(wish), wish["text"])
        for wish in answer.get("move", [])[:LOOKED_AT]:
            self._move(*self._own(wish), self._arc(wish["to"]))
        for wish in answer.get("retire", [])[:LOOKED_AT]:
            self._retire(*self._own(wish), wish["reason"])
        return self.effects

    def _arc(self, name: str) -> _Arc | None:
        """The one arc that goes by a name or lies at a path, of those that were shown."""
        wanted = fold(name.strip().removeprefix("[[").removesuffix("]]"))
        found = [one for one in self.shown if wanted in (fold(one.arc.name), one.arc.path.casefold())]
        if len(found) != 1:
            self.unknown.append(name)
            return None
        self.resolved += 1
        return found[0]

    def _own(self, wish: dict) -> tuple[_Arc | None, Summary | None]:
        """The arc, and its own line that has the words that are given, with or without its turns."""
        arc, wanted = self._arc(wish["arc"]), _words(wish["old"])
        mine = arc.own if arc else ()
        found = [one for one in mine if wanted and wanted in (_words(one.line), _words(one.text))]
        return arc, found[0] if len(found) == 1 and (arc.arc.path, found[0].line) not in self.touched else None

    def _add(self, arc: _Arc | None, text: str) -> None:
        words = _summary(text)
        if arc is None or arc.covers is None or not words or (arc.arc.path, "") in self.touched:
            return
        self.touched.add((arc.arc.path, ""))
        line = f"{turn_id(arc.covers[0])}-{turn_id(arc.covers[1])} {words}"
        self._put(arc, [self._effect(ADD, arc, "summed up by plot thread", text=line)], words)

    def _revise(self, arc: _Arc | None, old: Summary | None, text: str) -> None:
        words = _summary(text)
        if arc is None or old is None or not words:
            return
        line = f"{turn_id(old.first)}-{turn_id(old.last)} {words}"
        if line != old.line:
            self.touched.add((arc.arc.path, old.line))
            self._put(arc, [self._effect(REVISE, arc, "put in better words", text=line, key=old.line)], words)

    def _retire(self, arc: _Arc | None, old: Summary | None, reason: str) -> None:
        if arc is not None and old is not None:
            self.touched.add((arc.arc.path, old.line))
            why = clean_line(reason, REASON) or "no longer holds"
            self._put(arc, [self._effect(RETIRE, arc, why, text=why, key=old.line)], f"retire: {old.text}")

    def _move(self, arc: _Arc | None, old: Summary | None, to: _Arc | None) -> None:
        """Create before delete: the line stands in the other arc before it is marked in this one."""
        if arc is None or old is None or to is None or to is arc or arc.locked or to.locked:
            return
        self.touched.add((arc.arc.path, old.line))
        self._put(to, [self._effect(ADD, to, f"moved from {arc.arc.name}", text=old.line)], old.text)
        why = f"moved to {to.arc.name}"
        self._put(arc, [self._effect(RETIRE, arc, why, text=why, key=old.line)], old.text)

    def _effect(self, op: str, arc: _Arc, reason: str, *, text: str, key: str = "") -> Effect:
        return Effect(op, arc.arc.path, self.turn, text, key, phase=PHASE, model=self.model, reason=reason)

    def _put(self, arc: _Arc, wanted: list[Effect], line: str) -> None:
        if not arc.locked:
            self.effects += wanted
            return
        before = len(self.table.effects)
        with suppress(ToolFault):  # proposed before, or dropped by the writer
            propose(self.table, arc.arc.name, wanted, line)
        proposed = self.table.effects[before:]
        self.effects += [replace(effect, phase=PHASE, model=self.model) for effect in proposed]


_TURNS = re.compile(r"^(?:[-*+#>\s]|~~|\(?T\d{4,9}(?:\s*[-–]\s*T\d{4,9})?\)?\s*[:.]?)+")


def _summary(text: str) -> str:
    """A summary's words on one line, without what would read as its turns, its dash or the mark of a retired one."""
    return _TURNS.sub("", clean_line(text.replace("~~", ""), TEXT)).strip()


def _words(text: str) -> str:
    return fold(text.strip().removeprefix("- ").removesuffix("."))
