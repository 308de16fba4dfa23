"""What the models are told: the prompts a turn would send, without sending them; and those of the last turn, word for word.

Each layer comes with the model that is asked, its tokens and what they cost, and the passages that stand in it: where each
is from, who put it there, why, and for how many tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from rolecall.agents import dm_stream, retriever, tunnelvision, turn_dm
from rolecall.agents.typed import helpers_of
from rolecall.campaign import records, story
from rolecall.campaign.calllog import Call
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.instructions import prose_modules
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import ModelError, RoleCallError, TurnError
from rolecall.models import events, messages, tokens
from rolecall.models.chain import Chain
from rolecall.models.events import Used
from rolecall.models.messages import Request
from rolecall.models.prices import Prices
from rolecall.models.provider import Profile
from rolecall.models.usage import Usage
from rolecall.search.searcher import Search
from rolecall.tools import families
from rolecall.tools.toolbox import NARRATOR, Table
from rolecall.turn import context, costs
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import next_turn

SECRET_LAYERS = {"dm", "turn_dm"}  # what these are told is shown to the writer only


def of(game: Game, campaign: Campaign, search: Search, action: str, *, with_secrets: bool = False) -> dict:
    """The prompts of the layers that speak before and while an action is told, as `context --json` prints them.

    Asks no model: what a layer would have from another one's answer is missing. The DM's layers only `with_secrets`.
    """
    state = campaign.document(STATE_FILE)
    turn = next_turn(campaign, state)
    prices, chains = costs.prices_of_settings(campaign.settings), _chains(game, campaign)
    layers = [_narrator(campaign, search, state, turn, action, chains, prices)]
    layers += _before(campaign, search, state, turn, action, chains, prices, with_secrets)
    return {"turn": turn_id(turn), "layers": layers, **_sum(layers, prices)}


def _chains(game: Game, campaign: Campaign) -> dict[str, Chain | None]:
    try:
        return game.chains(campaign)
    except ModelError:
        return {}


def _before(
    campaign: Campaign,
    search: Search,
    state: Document,
    turn: int,
    action: str,
    chains: dict[str, Chain | None],
    prices: Prices,
    with_secrets: bool,
) -> Iterator[dict]:
    """The layers that are asked before the narrator speaks, as far as a model would be asked."""
    told = story.recent(campaign, campaign.settings.memory["recent_turns"])
    yield from _asked(
        "retriever",
        chains.get("sidecar"),
        prices,
        lambda: tunnelvision.request_for(campaign, search, state, told, action),
    )
    if not with_secrets:
        return
    pool = tuple(retriever.pick(search, state, action, told))
    choice = turn_dm.Question(campaign, search, state, told, turn, action, pool)
    modules = prose_modules(campaign)
    yield from _asked("turn_dm", chains.get("turn_dm"), prices, lambda: turn_dm.request_for(choice, modules))
    plan = dm_stream.Question(campaign, search, state, told, turn, action)
    yield from _asked("dm", chains.get("dm"), prices, lambda: dm_stream.first_request(plan))


def _asked(role: str, chain: Chain | None, prices: Prices, make: Callable[[], Request]) -> Iterator[dict]:
    with suppress(RoleCallError):
        chain = helpers_of(chain)
        profile = chain.profile() if chain else None
        if profile is not None:
            yield _layer(role, profile.spec, make(), prices)


def _narrator(
    campaign: Campaign,
    search: Search,
    state: Document,
    turn: int,
    action: str,
    chains: dict[str, Chain | None],
    prices: Prices,
) -> dict:
    """The narrator's prompt; to the measure of a large model where none is there, so that it can be seen."""
    chain = chains.get("narrator")
    profile = (chain.profile() if chain else None) or Profile("none")
    correct = chain.models.correction.budget if chain else lambda _, budget: budget
    choosing = helpers_of(chains.get("turn_dm")) is not None
    sources = context.gather(campaign, search, state, turn, action, choosing=choosing)
    offers = families.toolbox(NARRATOR, Table(campaign, search, turn, state)).offers()
    prompt = context.assemble(sources, profile, offers, correct)
    return _layer("narrator", profile.spec, prompt.request, prices, passages=context.rows_of(prompt))


def last(campaign: Campaign, *, with_secrets: bool) -> dict:
    """The prompts of the last told turn word for word; TurnError when there is no record of one that can be read."""
    found = records.folders(campaign.root)
    if not found:
        raise TurnError("there is no record of a turn here", remedy="play one, or give an ACTION")
    prices, shown = costs.prices_of_settings(campaign.settings), _passages(campaign, found[-1])
    layers = []
    for call in records.calls(campaign.root, found[-1]):
        if call.layer in SECRET_LAYERS and not with_secrets:
            continue
        rows = shown if call.layer == "narrator" else []
        shown = [] if call.layer == "narrator" else shown  # they stand with its first answer
        try:
            layers.append(_called(call, prices, rows))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise TurnError(
                f"the record of this turn's {call.layer or 'model'} call cannot be read",
                path=f"{found[-1]}/calls",
                remedy="give an ACTION to see the next prompt",
            ) from None
    return {"turn": found[-1].rsplit("/", 1)[-1], "layers": layers, **_sum(layers, prices)}


def _passages(campaign: Campaign, folder: str) -> list[dict]:
    """What the narrator was shown, as the turn's first plan keeps it."""
    plans = [line for line in records.lines(campaign.root, folder) if line["do"] == "plan"]
    rows = plans[0].get("passages", []) if plans else []
    keys = {"path", "line", "owner", "reason", "tokens", "kept"}
    return [row for row in rows if isinstance(row, dict) and keys <= set(row)]


def _called(call: Call, prices: Prices, passages: list[dict]) -> dict:
    """A recorded call: what was asked, and what its answer used."""
    given = [events.decode(event) for event in call.events]
    spec = next((e.spec for e in given if isinstance(e, events.Answered)), "")
    used = sum((e.usage for e in given if isinstance(e, Used)), Usage())
    layer = _layer(call.layer, spec, messages.decode(call.request), prices, passages=passages)
    usage = {"fresh": used.fresh + used.cache_write, "cached": used.cached, "out": used.out}
    return {**layer, "usage": usage, "cost": prices.cost(spec, used) if spec else None}


def _layer(role: str, model: str, request: Request, prices: Prices, *, passages: list[dict] | None = None) -> dict:
    """A prompt as `context --json` prints it. `cost` is what its tokens would cost fresh (null without a price)."""
    said = messages.encode(request)
    system = [{"role": "system", "content": part["text"]} for part in said["system"]]
    rest = [{"role": m.role, "content": _content(m)} for m in request.messages]
    count = tokens.estimate_request(request)
    return {
        "role": role,
        "model": model,
        "tokens": count,
        "cost": prices.cost(model, Usage(fresh=count)),
        "messages": [*system, *rest],
        "tools": [tool.name for tool in request.tools],
        "passages": passages or [],
    }


def _content(message: messages.Message) -> str:
    parts = []
    for part in message.parts:
        match part:
            case messages.Text(text):
                parts.append(text)
            case messages.ToolCall(_, name, arguments):
                parts.append(f"[calls {name}: {arguments}]")
            case messages.ToolResult(_, text):
                parts.append(f"[result: {text}]")
    return "\n\n".join(parts)


def _sum(layers: list[dict], prices: Prices) -> dict:
    """Tokens and money of all prompts together."""
    known = [layer["cost"] for layer in layers if layer["cost"] is not None]
    return {
        "tokens": sum(layer["tokens"] for layer in layers),
        "cost": sum(known) if known else None,
        "currency": prices.currency,
    }


def lines(document: dict) -> list[str]:
    """A preview for a person: each layer's price list, then its prompt."""
    prices = Prices(currency=document.get("currency", ""))
    found = []
    for number, layer in enumerate(document["layers"]):
        found += [""] if number else []
        found.append(" · ".join(_head(document["turn"], layer, prices)))
        if not all(row["kept"] for row in layer["passages"]):
            found.append("  (what begins with - is not sent: there is no room for it)")
        for row in layer["passages"]:
            mark = " " if row["kept"] else "-"
            where = f"{row['path']}:{row['line']}  " if row["path"] else ""
            found.append(f"{mark} {row['tokens']:>6,}  {row['owner']:<13} {where}({row['reason']})")
        if layer["tools"]:
            found += [f"  tools: {', '.join(layer['tools'])}"]
        for message in layer["messages"]:
            found += ["", f"── {message['role']} " + "─" * 40, message["content"]]
    if len(document["layers"]) > 1:
        money = f" · {prices.said(document['cost'])}" if document["cost"] else ""
        found += ["", f"{document['turn']} · all of it · {document['tokens']:,} tokens{money}"]
    return found


def _head(turn: str, layer: dict, prices: Prices) -> Iterator[str]:
    yield from (turn, layer["role"], layer["model"] or "no model", f"{layer['tokens']:,} tokens")
    if used := layer.get("usage"):
        yield f"used {used['fresh'] + used['cached']:,} in ({used['cached']:,} cached), {used['out']:,} out"
    if layer["cost"]:
        yield prices.said(layer["cost"])
