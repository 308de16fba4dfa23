"""The prompt a turn would send, without sending it; and the exact prompts of the last turn, from its record."""

from __future__ import annotations

from rolecall.campaign import records
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import ModelError, TurnError
from rolecall.models import messages, tokens
from rolecall.models.messages import Request
from rolecall.models.provider import Profile
from rolecall.search.searcher import Search
from rolecall.tools import families
from rolecall.tools.toolbox import NARRATOR, Table
from rolecall.turn import context
from rolecall.turn.budget import Priced
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import next_turn

SECRET_LAYERS = {"dm"}  # what these are told is shown to the writer only


def of(game: Game, campaign: Campaign, search: Search, action: str) -> dict:
    """The narrator's prompt for an action, as `context --json` prints it. Asks no model."""
    state = campaign.document(STATE_FILE)
    turn = next_turn(campaign, state)
    profile, correct = _narrator(game, campaign)
    sources = context.gather(campaign, search, state, turn, action)
    offers = families.toolbox(NARRATOR, Table(campaign, search, turn, state)).offers()
    prompt = context.assemble(sources, profile, offers, correct)
    layer = _layer("narrator", profile.spec, prompt.request)
    layer["passages"] = [_row(p) for p in prompt.passages]
    return {"turn": turn_id(turn), "layers": [layer]}


def _narrator(game: Game, campaign: Campaign):
    """The profile a narrator would have; that of a large model where none is there, so that the prompt can be seen."""
    try:
        chain = game.chains(campaign)["narrator"]
    except ModelError:
        chain = None
    profile = chain.profile() if chain else None
    if profile is None:
        return Profile("none"), lambda _, budget: budget
    return profile, chain.models.correction.budget


def last(campaign: Campaign, *, with_secrets: bool) -> dict:
    """The prompts of the last told turn word for word; TurnError when there is no record of one that can be read."""
    found = records.folders(campaign.root)
    if not found:
        raise TurnError("there is no record of a turn here", remedy="play one, or give an ACTION")
    layers = []
    for call in records.calls(campaign.root, found[-1]):
        if call.layer in SECRET_LAYERS and not with_secrets:
            continue
        spec = next((str(e.get("spec", "")) for e in call.events if e["type"] == "answered"), "")
        try:
            layers.append(_layer(call.layer, spec, messages.decode(call.request)) | {"passages": []})
        except (ValueError, KeyError, TypeError, AttributeError):
            raise TurnError(
                f"the record of this turn's {call.layer or 'model'} call cannot be read",
                path=f"{found[-1]}/calls",
                remedy="give an ACTION to see the next prompt",
            ) from None
    return {"turn": found[-1].rsplit("/", 1)[-1], "layers": layers}


def _layer(role: str, model: str, request: Request) -> dict:
    said = messages.encode(request)
    system = [{"role": "system", "content": part["text"]} for part in said["system"]]
    rest = [{"role": m.role, "content": _content(m)} for m in request.messages]
    return {"role": role, "model": model, "tokens": tokens.estimate_request(request), "messages": [*system, *rest]}


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


def _row(p: Priced) -> dict:
    return {"path": p.path, "line": p.line, "owner": p.owner, "reason": p.reason, "tokens": p.tokens, "kept": p.kept}


def lines(document: dict) -> list[str]:
    """A preview for a person: each layer's price list, then its prompt."""
    found = []
    for layer in document["layers"]:
        found.append(
            f"{document['turn']} · {layer['role']} · {layer['model'] or 'no model'} · {layer['tokens']:,} tokens"
        )
        for row in layer["passages"]:
            mark = " " if row["kept"] else "-"
            where = f"{row['path']}:{row['line']}" if row["path"] else "the player"
            found.append(f"{mark} {row['tokens']:>6,}  {row['owner']:<13} {where}  ({row['reason']})")
        for message in layer["messages"]:
            found += ["", f"── {message['role']} " + "─" * 40, message["content"]]
    return found
