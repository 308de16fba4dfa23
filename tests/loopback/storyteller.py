"""The loopback server's own stories: different every turn, the same every time.

The turn is read from the request's last `Turn: T0042` line. A narrator (a request that offers `append_journal`) gets about
900 characters of prose and one journal line in the first round, with a `search` before it every fifth turn; after the
journal call it has nothing more to say, as real models often have not. A DM (a request that offers `direct`) directs one
plain sentence. A request for JSON gets the smallest object of its schema. Anything else gets a paragraph.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.loopback.replies import Reply

WHO = ("Sera", "Valen", "Marta", "Captain Varr", "Old Tobin", "the harbour master", "Ilse")
WHERE = ("The Broken Anchor", "the salt stairs", "the customs house", "the Northern Wastes road", "the drowned chapel")
WHAT = ("a ledger", "a brass key", "a sealed letter", "a coil of wet rope", "a Guild coin", "a lantern", "a chart")
DID = ("hid", "traded away", "found", "swore upon", "refused", "carried off", "counted twice", "broke")
MOOD = (
    "Rain ticks on the shutters and the tide is late.",
    "Somewhere below, a chain runs out and stops.",
    "The fire has burned down to a red seam.",
    "Gulls argue over the roofs, then fall silent all at once.",
    "A smell of tar and oranges hangs over everything.",
    "The bell on the mole rings once, though there is no wind.",
)
_TURN = re.compile(r"^Turn:[ \t]*T(\d+)", re.MULTILINE)


def reply(body: dict[str, Any]) -> Reply:
    """The answer to a request body of any of the protocols."""
    turn, rounds = place(body)
    offered = tools_of(body)
    schema = schema_of(body)
    if schema is not None:
        return Reply(text=json.dumps(smallest(schema)))
    if "direct" in offered:
        return Reply(tools=(("direct", {"narrator": directive(turn)}),))
    if "append_journal" not in offered:
        return Reply(text="Nothing to note." if offered else prose(turn))
    searches = turn % 5 == 0 and "search" in offered
    if searches and rounds == 0:
        return Reply(tools=(("search", {_first(offered["search"]): WHO[turn % len(WHO)]}),))
    if rounds == int(searches):
        return Reply(text=prose(turn), tools=(("append_journal", {_first(offered["append_journal"]): line(turn)}),))
    return Reply()


def paced(delay: float, chunk_delay: float, given: Callable[[dict[str, Any]], Reply] = reply) -> Any:
    """The same storyteller, or another, slower."""
    return lambda body: replace(given(body), delay=delay, chunk_delay=chunk_delay)


def prose(turn: int) -> str:
    """About 900 characters for this turn."""
    dice = random.Random(f"prose {turn}")
    told = [dice.choice(MOOD)]
    while sum(map(len, told)) < 860:
        who, other = dice.sample(WHO, 2)
        told.append(
            dice.choice(
                (
                    f"{_cap(who)} {dice.choice(DID)} {dice.choice(WHAT)} at {dice.choice(WHERE)}, and {other} saw it.",
                    f"“You said {turn} days,” says {other}, and {who} looks past the door to {dice.choice(WHERE)}.",
                    f"When the {ordinal(turn)} mark is cut, {who} {dice.choice(DID)} {dice.choice(WHAT)} for good.",
                    dice.choice(MOOD),
                )
            )
        )
    return " ".join(told)


def line(turn: int) -> str:
    """The journal line of this turn; no two are alike."""
    dice = random.Random(f"line {turn}")
    return f"{_cap(dice.choice(WHO))} {dice.choice(DID)} {dice.choice(WHAT)}, the {ordinal(turn)}, at {dice.choice(WHERE)}."


def directive(turn: int) -> str:
    """What the DM wants told in this turn."""
    dice = random.Random(f"directive {turn}")
    return f"{_cap(dice.choice(WHO))} is seen at {dice.choice(WHERE)}, {turn} steps from the door."


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th …"""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def place(body: dict[str, Any]) -> tuple[int, int]:
    """The turn's number (0 if the request names none) and how often the assistant has spoken since."""
    messages = messages_of(body)
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") == "user" and (found := _TURN.findall(text_of(messages[index]))):
            return int(found[-1]), sum(later.get("role") == "assistant" for later in messages[index:])
    return 0, 0


def messages_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages, in any of the three protocols; in Responses a call stands by itself, as the assistant's."""
    items = body.get("messages") or body.get("input") or []
    told: list[dict[str, Any]] = []
    for item in items:
        if item.get("type") == "function_call":
            if not told or told[-1].get("role") != "assistant":
                told.append({"role": "assistant", "content": ""})
        elif item.get("type") == "function_call_output":
            told.append({"role": "tool", "content": item["output"]})
        else:
            told.append(item)
    return told


def text_of(message: dict[str, Any]) -> str:
    """A message's text, whether it is a string or a list of blocks."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if isinstance(part, dict))


def tools_of(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schemas of the tools on offer, by name."""
    offered = {}
    for tool in body.get("tools") or ():
        function = tool.get("function", tool)
        offered[function["name"]] = function.get("parameters") or function.get("input_schema") or {}
    return offered


def schema_of(body: dict[str, Any]) -> dict[str, Any] | None:
    """The schema the answer is held to, in either protocol."""
    form = (body.get("output_config") or body.get("text") or {}).get("format")
    form = form or (body.get("response_format") or {}).get("json_schema")
    return form.get("schema") if form else None


def smallest(schema: dict[str, Any]) -> Any:
    """The smallest value of a schema: empty lists, empty texts, the first of every choice."""
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return smallest(schema["anyOf"][0])
    kind = schema.get("type", "object")
    kind = kind[-1] if isinstance(kind, list) else kind
    if kind == "object":
        required = schema.get("required", ())
        return {name: smallest(each) for name, each in schema.get("properties", {}).items() if name in required}
    return {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False, "null": None}[kind]


def _first(schema: dict[str, Any]) -> str:
    """The name of a tool's first required argument."""
    names = schema.get("required") or list(schema.get("properties") or {"text": {}})
    return names[0]


def _cap(text: str) -> str:
    return text[0].upper() + text[1:]
