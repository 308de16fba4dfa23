"""What a model makes of a chat, chunk by chunk: it looks up what exists, keeps what is established, tells how it went.

Every answer is on record under `.rolecall/ingest/` before anything comes of it, by the chunk it is about. An interrupted
ingest goes through the chunks again from the first, and asks only what was not answered: the same answers make the same
effects. A chunk on which no model answers is told without one. Nothing is written in the campaign here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from rolecall.agents import chunks as chunks_
from rolecall.agents import scribe, typed
from rolecall.agents.calls import Desk, Round, read_round, saved_events
from rolecall.agents.chatarcs import ChatArcs
from rolecall.agents.chunks import (
    BUDGETS,
    COARSE,
    DETAILED,
    FACTS,
    MODERATE,
    NARRATIVE,
    SEARCH,
    Chunk,
    Notes,
    chunks_of,
)
from rolecall.campaign import merging, records, views
from rolecall.campaign.effects import Effect
from rolecall.campaign.folder import MACHINE_FOLDER, Campaign
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.campaign.records import Call, Record
from rolecall.campaign.text import clean_line, clean_prose, fold
from rolecall.errors import ModelError, RoleCallError
from rolecall.models.chain import Chain
from rolecall.models.events import Stopped
from rolecall.models.messages import Message, Request, Text, ToolCall, ToolResult
from rolecall.models.provider import Limits
from rolecall.models.tokens import estimate_request
from rolecall.models.usage import Usage
from rolecall.search.searcher import Search
from rolecall.tools import upkeep
from rolecall.tools.ledger import Ledger
from rolecall.tools.toolbox import Toolbox

__all__ = ["BUDGETS", "COARSE", "DETAILED", "MODERATE", "Asking", "Chunk", "Estimate", "Found", "chunks_of", "estimate"]

PLACE = f"{MACHINE_FOLDER}/ingest"
SECONDS = 180.0  # a model may take for one answer: nobody waits at a table
CALLS = 60  # tool calls of an answer that are looked at
SHOWN = 14  # entries and passages that a model is shown for a chunk
CLIP = 700  # characters of each
LOOKED_UP = 12  # wishes of the first phase that are looked up
LINE = 240  # characters of a journal line
_ENDED = Stopped("end", "")
FAILURES = 3  # chunks in a row on which nobody answered: the rest is told without a model


@dataclass(slots=True)
class Found:
    """What a model made of a chat: journal lines by turn, retellings by the last turn of their chunk, arcs, and what failed."""

    lines: dict[int, str] = field(default_factory=dict)
    retold: dict[int, str] = field(default_factory=dict)
    arcs: list[Effect] = field(default_factory=list)
    degraded: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    model: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What asking would take: `calls` at most, `paid` of them answered already, tokens of prompts and of answers for the rest."""

    chunks: int
    calls: int
    paid: int
    prompt: int
    out: int


def folder_of(chunks: Sequence[Chunk], rounds: str) -> str:
    """Where the answers about these very chunks are kept."""
    digest = hashlib.sha256("\0".join(chunk.text for chunk in chunks).encode("utf-8", "replace")).hexdigest()
    return f"{PLACE}/{digest[:16]}-{rounds}"


def phases_of(rounds: str) -> list[tuple[str, int]]:
    """(phase, round) of the calls that a chunk takes at most."""
    budget = BUDGETS[rounds]
    asked = [(SEARCH, 1)] if budget.asks else []
    return [*asked, *((FACTS, number) for number in range(1, budget.rounds + 1)), (NARRATIVE, 1)]


def estimate(campaign: Campaign, chain: Chain, chunks: Sequence[Chunk], rounds: str) -> Estimate:
    """Chunks, calls and tokens, before anything is asked. Tokens are estimated as for any prompt, and corrected."""
    saved = _saved(campaign, folder_of(chunks, rounds))
    calls = prompt = out = paid = 0
    profile = chain.profile()
    correct = chain.models.correction.ratio(profile.spec) if profile else 1.0
    for chunk in chunks:
        for phase, number in phases_of(rounds):
            calls += 1
            if _layer(phase, chunk, number) in saved:
                paid += 1
                continue
            asked = chunks_.request(campaign, phase, chunk, len(chunks), Notes(), "", ("x" * 2000,))
            prompt += round(estimate_request(asked) * correct)
            out += chunks_.MAX_TOKENS[phase] // 3
    return Estimate(len(chunks), calls, paid, prompt, out)


def _layer(phase: str, chunk: Chunk, number: int) -> str:
    return f"ingest-{phase}-{chunk.number:04d}-{number}"


def _saved(campaign: Campaign, folder: str) -> dict[str, Call]:
    return {call.layer: call for call in records.calls(campaign.root, folder) if call.complete}


class Asking:
    """A chat being gone through with a model. `table` gathers the effects on entries, of the whole chat as of one turn."""

    def __init__(
        self, campaign: Campaign, search: Search, chain: Chain, table: Ledger, first: int, rounds: str
    ) -> None:
        limits = chain.limits
        patient = Limits(max(limits.first, SECONDS), max(limits.between, SECONDS), max(limits.total, 2 * SECONDS))
        self.chain = Chain(chain.specs, patient, chain.models, chain.role)
        self.campaign, self.search, self.table = campaign, search, table
        self.first, self.rounds = first, rounds
        self.found, self.notes = Found(), Notes()
        self.arcs = ChatArcs(campaign, search, first)
        self.desk, self.saved, self.total, self.cast = Desk(None), {}, 0, ""

    def all(self, chunks: Sequence[Chunk], progress: Callable[[int, int, str], None]) -> Found:
        """Go through every chunk. Raises nothing but KeyboardInterrupt and faults of the disk."""
        folder = folder_of(chunks, self.rounds)
        self.saved = _saved(self.campaign, folder)
        record = Record(self.campaign.root, folder, calls=records.last_call(self.campaign.root, folder))
        self.desk, self.total = Desk(record), len(chunks)
        speakers = dict.fromkeys(m.speaker for c in chunks for s in c.scenes for m in s.messages if m.speaker)
        self.cast = ", ".join(list(speakers)[:24])
        steps, done, failed = len(phases_of(self.rounds)) - BUDGETS[self.rounds].rounds + 1, 0, 0
        for chunk in chunks:
            if failed >= FAILURES:
                self.found.degraded.append((f"chunks {chunk.number}-{len(chunks)}", "no model answers"))
                break
            shown = ""
            if BUDGETS[self.rounds].asks:
                progress(done, steps * len(chunks), f"chunk {chunk.number}: what exists")
                shown = self._search(chunk)
                done += 1
            progress(done, steps * len(chunks), f"chunk {chunk.number}: what is established")
            before = len(self.table.effects)
            results, thought, facts = self._facts(chunk, shown or self._mentioned(chunk))
            done += 1
            progress(done, steps * len(chunks), f"chunk {chunk.number}: how it is told")
            told, more, narrative = self._narrative(chunk, results)
            done += 1
            failed = 0 if facts or narrative else failed + 1
            self._explain(chunk, before)
            self.notes.add(chunk, [*results, *told], more or thought)
        progress(done, steps * len(chunks), "")
        self.found.arcs = self.arcs.effects
        self.found.usage = dict(self.desk.usage)
        models = list(self.desk.models.values())
        self.found.model = self.found.model or (models[0] if models else "")
        return self.found

    # -- asking

    def _round(self, layer: str, request: Request, *, whole: bool) -> Round:
        """One answer: the saved one where there is one."""
        if saved := self.saved.get(layer):
            given = read_round(saved_events(saved))
        elif whole:
            answer = typed.ask(self.desk, layer, self.chain, lambda _: request)
            given = Round(json.dumps(answer.value), (), _ENDED, answer.spec)
        else:
            given = read_round(list(self.desk.stream(layer, self.chain, lambda _: request, whole=True)))
        self.found.model = self.found.model or given.spec
        return given

    def _value(self, layer: str, request: Request) -> dict:
        value = json.loads(self._round(layer, request, whole=True).text)
        return value if isinstance(value, dict) else {}

    def _request(self, phase: str, chunk: Chunk, parts: Sequence[str] = ()) -> Request:
        return chunks_.request(self.campaign, phase, chunk, self.total, self.notes, self.cast, parts)

    def _failed(self, chunk: Chunk, phase: str, error: Exception) -> None:
        said = str(error) if isinstance(error, RoleCallError) else f"{type(error).__name__}: {error}"
        self.found.degraded.append((f"chunk {chunk.number}, {phase}", " ".join(said.split())[:300]))

    # -- what exists

    def _search(self, chunk: Chunk) -> str:
        try:
            answer = self._value(_layer(SEARCH, chunk, 1), self._request(SEARCH, chunk))
        except (ModelError, ValueError) as error:
            self._failed(chunk, SEARCH, error)
            return ""
        wishes = [clean_line(w, 120) for w in answer.get("look_up", []) if isinstance(w, str)][:LOOKED_UP]
        return self._shown([*self._looked_up(wishes), *self._paths_in(chunk)], wishes)

    def _mentioned(self, chunk: Chunk) -> str:
        return self._shown(self._paths_in(chunk), ())

    def _paths_in(self, chunk: Chunk) -> list[str]:
        """What the chunk names, of the campaign and of what was recorded from this chat, the most recent last."""
        named = [mention.path for mention in self.search.mentions(chunk.text)]
        text = fold(chunk.text)
        made = [p for p, c in self.table.made.items() if any(_stands(fold(n), text) for n in (c.name, *c.aliases))]
        return list(dict.fromkeys([*made, *named]))

    def _looked_up(self, wishes: Sequence[str]) -> Iterator[str]:
        for wish in wishes:
            wanted = merging.key_of(wish)
            yield from (p for p, c in self.table.made.items() if wanted in map(merging.key_of, (c.name, *c.aliases)))
            yield from self.search.ties.named(wish)
            yield from (hit.path for hit in self.search.find(wish, limit=2) if hit.kind in ENTRY_KINDS)

    def _shown(self, paths: Sequence[str], wishes: Sequence[str]) -> str:
        parts = []
        for path in dict.fromkeys(paths):
            entry = self.search.catalogue.get(path)
            if path not in self.table.made and (
                entry is None or entry.secret or entry.withheld or entry.kind not in ENTRY_KINDS
            ):
                continue
            with suppress(RoleCallError):  # one that cannot be read is not shown
                if document := self.table.now(path):
                    parts.append(scribe.clipped(views.text(document))[:CLIP])
            if len(parts) == SHOWN:
                break
        known = {fold(name) for c in self.table.made.values() for name in (c.name, *c.aliases)}
        fresh = [w for w in wishes if fold(w) not in known and not self.search.ties.named(w)]
        if fresh:
            parts.append("Not known yet: " + ", ".join(fresh))
        return "\n\n".join(["What is known already:", *parts]) if parts else "Nothing of this is known yet."

    # -- what is established

    def _facts(self, chunk: Chunk, shown: str) -> tuple[list[str], str, bool]:
        """(results in words, the model's last words, whether anybody answered)."""
        toolbox = Toolbox((*scribe.OFFERED, *upkeep.ALSO), self.table)
        request = self._request(FACTS, chunk, (shown,))
        told, thought = [], ""
        for number in range(1, BUDGETS[self.rounds].rounds + 1):
            try:
                given = self._round(_layer(FACTS, chunk, number), request, whole=False)
            except (ModelError, ValueError) as error:
                self._failed(chunk, FACTS, error)
                return told, thought, number > 1
            thought = given.text.strip() or thought
            if not given.calls:
                break
            results = [self._call(toolbox, chunk, n, call) for n, call in enumerate(given.calls)]
            told += [_in_short(call, r) for call, r in zip(given.calls, results, strict=True) if not r.is_error]
            said = (Text(given.text.rstrip()),) if given.text.strip() else ()
            more = (
                Message("assistant", (*said, *given.calls)),
                Message("user", (*results, Text("Go on with what is missing, mend what was refused, or say `Done.`"))),
            )
            request = Request(request.system, (*request.messages, *more), request.tools, request.max_tokens)
        return told, thought, True

    def _call(self, toolbox: Toolbox, chunk: Chunk, number: int, call: ToolCall) -> ToolResult:
        """One call, as of the turn in which its source stands. No call is noted by half."""
        if number >= CALLS:
            return ToolResult(call.id, f"Not noted: at most {CALLS} calls an answer.", is_error=True)
        table, before, made = self.table, list(self.table.effects), dict(self.table.made)
        table.turn = self._turn_of(chunk, call.arguments.get("source"))
        try:
            (result,) = toolbox.run([scribe.eased(toolbox, call)])
        except Exception as error:  # one call that nobody foresaw takes none of the others with it
            result = ToolResult(call.id, f"That did not work ({type(error).__name__}).", is_error=True)
        if result.is_error:
            table.take_back(before, made)
        table.turn = self.first
        return result

    def _turn_of(self, chunk: Chunk, source: object) -> int:
        wanted = fold(source).strip("\"“”'…. ") if isinstance(source, str) else ""
        for number in range(chunk.first, chunk.last + 1):
            if wanted and wanted in fold(chunk.told(number)):
                return self.first + number - 1
        return self.first + chunk.first - 1

    def _explain(self, chunk: Chunk, before: int) -> None:
        """Say of each new effect where it comes from; a source that does not stand in the chunk is none."""
        text = fold(chunk.text)
        for at in range(before, len(self.table.effects)):
            effect = self.table.effects[at]
            source = effect.source if effect.source and fold(effect.source).strip("\"“”'…. ") in text else ""
            reason = effect.reason or f"established in scenes {chunk.first}-{chunk.last}"
            self.table.effects[at] = replace(
                effect, phase="ingest", model=self.found.model, reason=reason, source=source
            )

    # -- how it is told

    def _narrative(self, chunk: Chunk, results: Sequence[str]) -> tuple[list[str], str, bool]:
        """(what became of it in words, the model's reasoning, whether anybody answered)."""
        parts = [f"Recorded of this chunk: {'; '.join(results) or 'nothing'}."]
        if self.arcs.names:
            parts.append(f"Arcs there are: {'; '.join(self.arcs.names)}")
        try:
            answer = self._value(_layer(NARRATIVE, chunk, 1), self._request(NARRATIVE, chunk, parts))
        except (ModelError, ValueError) as error:
            self._failed(chunk, NARRATIVE, error)
            return [], "", False
        for row in _objects(answer.get("journal")):
            number, text = row.get("scene"), clean_line(str(row.get("text", "")), LINE)
            if chunk.has(number) and text:
                self.found.lines.setdefault(self.first + number - 1, text)
        prose = clean_prose(str(answer.get("retelling") or ""))
        if len(prose) >= 40:
            self.found.retold[self.first + chunk.last - 1] = prose
        moved = self.arcs.take(chunk, _objects(answer.get("arcs")), self.found.model)
        said = [f"arcs moved: {', '.join(moved)}"] if moved else []
        return said, str(answer.get("reasoning") or ""), True


def _in_short(call: ToolCall, result: ToolResult) -> str:
    first = re.split(r"[.;\n]", result.text, maxsplit=1)[0]
    return clean_line(first or call.name, 80)


def _objects(given: object) -> list[dict]:
    return [row for row in given if isinstance(row, dict)][:80] if isinstance(given, list) else []


def _stands(name: str, text: str) -> bool:
    return len(name) > 2 and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
