"""What the party has and counts, and what is done with money. The sums are done by code, and never go below nothing."""

from __future__ import annotations

from rolecall.campaign.effects import Effect
from rolecall.campaign.kinds import flag
from rolecall.tools.directing import cleaned, game_tool, number, part, who
from rolecall.tools.entries import document_of, find_entry
from rolecall.tools.toolbox import Table, ToolType, schema, text

_NAME = who("what is counted: silver, rations")
_COIN = who("the coin: silver")


def _changed(name: str, change: int) -> dict:
    return {"resources": [{"name": name, "change": change}]}


SET_RESOURCE = game_tool(
    "set_resource",
    "Say how much the party has of something it counts.",
    ["name", "amount"],
    lambda given: {"resources": [part(given, "name", "bound", set=given["amount"])]},
    name=_NAME,
    amount=number("", 0),
    bound=number("how much there can be", 0),
)
GAIN = game_tool(
    "gain",
    "The party gets more of something it counts.",
    ["name", "amount"],
    lambda given: _changed(given["name"], given["amount"]),
    name=_NAME,
    amount=number(),
)
SPEND = game_tool(
    "spend",
    "The party uses something up.",
    ["name", "amount"],
    lambda given: _changed(given["name"], -given["amount"]),
    name=_NAME,
    amount=number(),
)


def _trade(name: str, about: str, sign: int, other: str, line: str) -> ToolType:
    """A payment: the sum, and a dated line for the one on the other side, where that is an open entry."""
    properties = {"coin": _COIN, "amount": number(), other: who("an entry's exact name"), "for": text("for what")}

    def run(table: Table, given: dict) -> str:
        clean = cleaned(given, properties)
        told = None
        if clean.get(other):
            entry = find_entry(table, clean[other])
            what = f" for {clean['for'].removeprefix('for ').rstrip('.')}" if clean.get("for") else ""
            told = Effect(
                "history", entry.path, table.turn, line.format(f"{clean['amount']} {clean['coin']}") + what + "."
            )
            told = None if flag(document_of(table, entry).fields, "locked") else told
        said = table.direct(_changed(clean["coin"], sign * clean["amount"]))
        if told:
            table.put(told)
        return said

    return ToolType(name, about, schema(["coin", "amount"], **properties), "mutation", run)


PAY = _trade("pay", "The party pays somebody.", -1, "to", "Was paid {}")
EARN = _trade("earn", "The party is paid, or finds money.", 1, "from", "Paid the party {}")


def _deal(given: dict, verb: str, sign: int) -> dict:
    money = _changed(given["coin"], sign * given["price"]) if given["price"] else {}
    return money | {"inventory": {verb: [part(given, "who", "item", "count")]}}


_DEAL = {
    "who": who("who carries it"),
    "item": who("what, in the singular"),
    "price": number("for all of it", 0),
    "coin": _COIN,
    "count": number("1 if left out", 1, 10_000),
}
BUY = game_tool(
    "buy",
    "The party buys something.",
    ["who", "item", "price", "coin"],
    lambda given: _deal(given, "give", -1),
    **_DEAL,
)
SELL = game_tool(
    "sell",
    "The party sells something.",
    ["who", "item", "price", "coin"],
    lambda given: _deal(given, "take", 1),
    **_DEAL,
)
TOOLS = (SPEND, GAIN, SET_RESOURCE)
MONEY = (PAY, EARN, BUY, SELL)
