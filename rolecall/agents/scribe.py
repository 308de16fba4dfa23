"""The scribe: after a turn is told it keeps what the turn established, by tools, and says where each thing comes from.

One call of the sidecar; a second one only where a tool refused something, to say what was wrong. Nothing is written here:
effects come back. Without a model nothing is kept but the journal line, and the turn is shown again with the next one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from rolecall.agents.calls import Desk, Round, read_round
from rolecall.campaign import instructions, kinds, proposals, views
from rolecall.campaign.beside import Beside
from rolecall.campaign.effects import Effect
from rolecall.campaign.facts import sentences
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import ENTRY_KINDS, STATE_FILE
from rolecall.campaign.story import Told
from rolecall.campaign.text import clean_line, fold
from rolecall.errors import ModelError, RoleCallError
from rolecall.models.chain import Chain
from rolecall.models.messages import Message, Request, Text, Tool, ToolCall, ToolResult
from rolecall.search.searcher import Search
from rolecall.tools import compendium, upkeep
from rolecall.tools.ledger import Ledger, known
from rolecall.tools.toolbox import Toolbox, ToolType, brief

LAYER, PHASE = "scribe", "post-gen"
MAX_TOKENS = 2000
MAX_EFFECTS = 40  # changes of one turn; what is beyond them is refused in words
MAX_LOOKED_AT = 80  # tool calls of one answer that are run
SHOWN = 16  # entries that are shown
CLIP = 900  # characters of an entry that are shown: its beginning and its end
SCENE = 8000  # characters of the turn's prose that are shown, and of a missed turn's a quarter
SHOWN_AGAIN = 3  # missed turns that are shown again
ALIKE = 60  # of 100, how like a change a sentence must be that does not name its entry, to count as its source

_BROKEN = ("max_tokens", "context_full")  # an answer that has no proper end
_FULL = f"Not noted: at most {MAX_EFFECTS} changes a turn."

OFFERED: tuple[ToolType, ...] = (*compendium.TOOLS, *upkeep.TOOLS)

# What an effect is to the activity feed.
ACTIVITY = {
    "record": "remember",
    "facts": "update",
    "history": "update",
    "revive": "remember",
    "forget": "forget",
    "absorb": "merge_split",
    "kind": "reorganize",
    "proposal": "update",
}


def remember(
    chain: Chain | None,
    desk: Desk,
    campaign: Campaign,
    search: Search,
    turn: int,
    action: str,
    prose: str,
    journal: str,
    retrieved: Sequence[str] = (),
    missed: Sequence[Told] = (),
) -> tuple[list[Effect], str]:
    """(the effects, why it failed) of one turn; a scribe that is off or has nothing to keep has not failed.

    With effects and a reason only a part could be kept. `retrieved` are paths phase 1 chose; `missed` turns whose scribe
    failed, of which `SHOWN_AGAIN` are looked at. Raises nothing but KeyboardInterrupt.
    """
    if chain is None:
        return [], ""
    try:
        profile = chain.profile()
        if profile is not None and not (profile.helpers and profile.tools):
            return [], ""
        table = Ledger(campaign, search, turn, campaign.document(STATE_FILE))
        told = [*missed[:SHOWN_AGAIN], Told("", 0, turn, action, prose)]
        # Reading the names in takes a moment in a large campaign; the model's own time covers it.
        Beside("scribe", lambda: _warm(table))
        request = _request(campaign, search, table, told, journal, retrieved)
        model, lost = _converse(chain, desk, table, request)
        return _explained(table, model, [one.prose for one in reversed(told)] + [journal, action]), lost
    except (ModelError, RoleCallError) as error:
        return [], str(error)
    except Exception as error:
        return [], f"the scribe made a mistake ({' '.join(f'{type(error).__name__}: {error}'.split())[:200]})"


def _warm(table: Ledger) -> None:
    with suppress(RoleCallError):  # told when a tool asks
        known(table)


# -- the conversation


def _converse(chain: Chain, desk: Desk, table: Ledger, request: Request) -> tuple[str, str]:
    """One answer, and a second one when a tool refused something: (the model of the first, what was lost of it)."""
    toolbox = Toolbox((*OFFERED, *upkeep.ALSO), table)
    given = _answer(chain, desk, request, prefer=None)
    if given.stop.reason in _BROKEN and not given.calls:
        raise ModelError(f"the answer broke off ({given.stop.raw or given.stop.reason})")
    results, mend = _run(toolbox, given.calls)
    lost = _lost(toolbox, given.calls, results)
    if not mend:
        return given.spec, lost
    said = (Text(given.text.rstrip()),) if given.text.strip() else ()
    wrong = "Only what was refused was not noted. Say just that once more, mended; or `Nothing.` if it does not matter."
    more = (Message("assistant", (*said, *given.calls)), Message("user", (*results, Text(wrong))))
    again = Request(request.system, (*request.messages, *more), request.tools, request.max_tokens)
    with suppress(ModelError):  # what was noted in the first answer stands
        mended = _answer(chain, desk, again, prefer=given.spec).calls
        lost = _lost(toolbox, mended, _run(toolbox, mended)[0])
    return given.spec, lost


def _lost(toolbox: Toolbox, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> str:
    """What of an answer could not be kept, in words: changes past the limit, or all of it when no call was a call."""
    full = sum(result.text == _FULL for result in results)
    if full:
        return f"{full} of {len(calls)} changes were not noted: at most {MAX_EFFECTS} a turn"
    ill = [
        r.text for call, r in zip(calls, results, strict=True) if r.is_error and _is_malformed(toolbox, call, r.text)
    ]
    if ill and len(ill) == len(calls) and not toolbox.table.effects:
        return clean_line(f"nothing it noted could be used: {ill[0]}", 300)
    return ""


def _is_malformed(toolbox: Toolbox, call: ToolCall, said: str) -> bool:
    """Whether a call was refused for its form: no such tool, no JSON, not the tool's arguments."""
    return bool(call.fault) or call.name not in toolbox.tools or said.startswith(f"{call.name}: ")


def _answer(chain: Chain, desk: Desk, request: Request, prefer: str | None) -> Round:
    return read_round(list(desk.stream(LAYER, chain, lambda _: request, prefer=prefer, whole=True)))


def _run(toolbox: Toolbox, calls: Sequence[ToolCall]) -> tuple[list[ToolResult], bool]:
    """The results of calls, one by one, and whether it is worth asking again. No call is noted by half."""
    table, results = toolbox.table, []
    for number, call in enumerate(calls):
        if number >= MAX_LOOKED_AT or len(table.effects) >= MAX_EFFECTS:
            results.append(ToolResult(call.id, _FULL, is_error=True))
            continue
        before, made = list(table.effects), dict(table.made)
        try:
            (result,) = toolbox.run([eased(toolbox, call)])
        except Exception as error:  # one call that nobody foresaw takes none of the others with it
            result = ToolResult(call.id, f"That did not work ({type(error).__name__}).", is_error=True)
        if len(table.effects) > MAX_EFFECTS:
            result = ToolResult(call.id, _FULL, is_error=True)
        if result.is_error:
            table.take_back(before, made)
        results.append(result)
    return results, any(r.is_error for r in results) and len(calls) <= MAX_EFFECTS and len(table.effects) < MAX_EFFECTS


def eased(toolbox: Toolbox, call: ToolCall) -> ToolCall:
    """The call with what was plainly meant: nothing for null, a list for a single value, a text for a number."""
    tool = toolbox.tools.get(call.name)
    if tool is None or call.fault:
        return call
    known = tool.schema["properties"]
    eased = {key: _value(value, known.get(key, {})) for key, value in call.arguments.items()}
    return replace(call, arguments={key: value for key, value in eased.items() if value not in (None, "", [], {})})


def _value(value: object, wanted: dict) -> object:
    type_ = wanted.get("type")
    if type_ == "string" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if type_ == "string" and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    if type_ == "array" and isinstance(value, (str, dict)):
        value = [part for part in re.split(r"[;,]", value) if part.strip()] if isinstance(value, str) else [value]
    if type_ == "array" and isinstance(value, list):
        return [one for part in value if (one := _part(part, wanted["items"])) not in (None, "", {})]
    return value


def _part(part: object, wanted: dict) -> object:
    if wanted.get("type") != "object":
        return next((v for v in part.values() if isinstance(v, str)), None) if isinstance(part, dict) else part
    if isinstance(part, str):
        return {wanted["required"][0]: part}
    return (
        {k: _value(v, wanted["properties"].get(k, {})) for k, v in part.items() if v}
        if isinstance(part, dict)
        else part
    )


# -- the request


def _request(
    campaign: Campaign,
    search: Search,
    table: Ledger,
    told: Sequence[Told],
    journal: str,
    retrieved: Sequence[str],
) -> Request:
    texts = [one.text for one in instructions.instructions(campaign, LAYER)]
    system = (Text("\n\n".join([*texts, kinds_in_brief()]), cache=True),)
    parts = [_entries(campaign, search, told, journal, retrieved)]
    for one in told[:-1]:
        parts.append(
            f"An earlier turn that was not looked at yet, {turn_id(one.turn)}:\n\n> {one.action}\n\n{one.prose[: SCENE // 4]}"
        )
    last = told[-1]
    parts.append(f"Turn: {turn_id(table.turn)}\n\n> {last.action}\n\n{last.prose[:SCENE]}")
    if journal:
        parts.append(f"Its journal line: {journal}")
    said = Message("user", (Text("\n\n---\n\n".join(part for part in parts if part)),))
    return Request(system, (said,), tuple(offer(tool) for tool in OFFERED), MAX_TOKENS)


def offer(tool: ToolType) -> Tool:
    """The tool as it is offered: reason and source are asked for, though a call without them is taken too."""
    required = [*tool.schema["required"], *(k for k in ("reason", "source") if k not in tool.schema["required"])]
    return Tool(tool.name, tool.description, {**brief(tool.schema), "required": required})


def kinds_in_brief() -> str:
    """The kinds of entry, a line each, with the fields that say how things stand now."""
    lines = ["The kinds of entry, and the fields that change with the story:"]
    for kind in ENTRY_KINDS.values():
        state = ", ".join([kinds.STATUS, *(key for key in kind.fields if key in kind.state)])
        lines.append(f"- {kind.name}: {kind.about} ({state})")
    return "\n".join(lines)


def _entries(campaign: Campaign, search: Search, told: Sequence[Told], journal: str, retrieved: Sequence[str]) -> str:
    """The entries the turn names and those that were retrieved for it, without secrets, each clipped."""
    named = [m.path for one in reversed(told) for m in search.mentions(f"{one.prose}\n{journal}\n{one.action}")]
    shown: list[str] = []
    for path in dict.fromkeys([*named, *retrieved]):
        entry = search.catalogue.get(path)
        if entry is None or entry.secret or entry.withheld or entry.kind not in ENTRY_KINDS:
            continue
        try:
            shown.append(clipped(views.told(campaign, path)))
        except RoleCallError:
            continue
        if len(shown) == SHOWN:
            break
    return "\n\n".join(["What is known already:", *shown]) if shown else "Nothing of this is known yet."


def clipped(text: str) -> str:
    return text if len(text) <= CLIP else f"{text[: CLIP * 2 // 3].rstrip()} […] {text[-CLIP // 3 :].lstrip()}"


# -- where each effect comes from


def _explained(table: Ledger, model: str, texts: Sequence[str]) -> list[Effect]:
    parts = list(dict.fromkeys(s for text in texts for s in sentences(text)))
    whole = [fold(part) for part in parts]

    def explained(effect: Effect) -> Effect:
        reason = effect.reason or "established in this turn"
        source = _source(table, effect, parts, whole)
        return replace(effect, phase=PHASE, model=model, reason=reason, source=source)

    return [proposals.rewritten(e, explained) if e.op == "proposal" else explained(e) for e in table.effects]


def _source(table: Ledger, effect: Effect, parts: list[str], whole: list[str]) -> str:
    """The sentence of the turn an effect comes from: the one that was named, if it is there, else the nearest one."""
    given = fold(effect.source).strip("\"“”'…. ")
    if given:
        for part, folded in zip(parts, whole, strict=True):
            if given in folded or (len(folded) > 20 and folded in given):
                return clean_line(part, 600)
    return clean_line(_nearest(f"{effect.source} {_said_by(effect)}", _names(table, effect.path), parts, whole), 600)


def _nearest(said: str, names: list[str], parts: list[str], whole: list[str]) -> str:
    """The sentence most like what is said, among those that name the entry; of others only one that is like it."""
    from rapidfuzz import fuzz

    said = fold(said)
    naming = [n for n, folded in enumerate(whole) if any(name in folded for name in names)]
    scored = [(fuzz.token_set_ratio(said, whole[n]), -n) for n in naming or range(len(parts))]
    best, place = max(scored, default=(0, 0))
    return parts[-place] if scored and (naming or best >= ALIKE) else ""


def _names(table: Ledger, path: str) -> list[str]:
    made, entry = table.made.get(path), table.search.catalogue.get(path)
    thing = made or entry
    return [fold(name) for name in (thing.name, *thing.aliases)] if thing else []


def _said_by(effect: Effect) -> str:
    return " ".join(
        [*(views.value(value) for value in effect.facts.values()), effect.text if effect.op != "proposal" else ""]
    )
