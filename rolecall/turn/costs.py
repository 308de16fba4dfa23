"""What turns cost: kept in their records, added up for a turn, a session and the whole campaign, as `--json` prints it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from rolecall.agents.purse import Purse, Tally
from rolecall.campaign import records, spending
from rolecall.campaign.folder import Campaign
from rolecall.campaign.records import Record
from rolecall.campaign.settings import Settings
from rolecall.models.prices import Prices, prices_of
from rolecall.models.usage import Usage

FOLD = "sidecar"  # the layer that retells
Row = tuple[str, str, Usage]  # layer, model, what it used


def purse_for(campaign: Campaign, held: Purse | None) -> Purse:
    """The purse of a session, its prices and ceiling as the settings have them now; a new one knows the last turn."""
    settings = campaign.settings
    if held is None:
        held = Purse(prices_of_settings(settings), settings.ceiling)
        if settings.ceiling:
            for folder in records.folders(campaign.root)[-1:]:
                for line in spending.usage_lines(campaign.root, folder):
                    without = {d["layer"]: Tally(d["money"], d["tokens"]) for d in line.get("dropped", ())}
                    held.remember(_rows(line["layers"]), without)
    held.prices, held.ceiling = prices_of_settings(settings), settings.ceiling
    return held


def prices_of_settings(settings: Settings) -> Prices:
    """The price table of a campaign's settings."""
    return prices_of(settings.prices, settings.currency)


def note(record: Record, purse: Purse) -> None:
    """Keep in a turn's record what it used, per layer and model, and which layers went without.

    A fold has a record of its own, which holds its calls.
    """
    if purse.turn or purse.dropped:
        layers = [
            {
                "layer": layer,
                "model": model,
                "fresh": u.fresh,
                "cached": u.cached,
                "written": u.cache_write,
                "out": u.out,
            }
            for (layer, model), u in purse.turn.items()
            if layer != FOLD
        ]
        dropped = [{"layer": slot, **asdict(purse.expected(slot))} for slot in purse.dropped]
        record.jot("usage", layers=layers, dropped=dropped)


def rows_of(purse: Purse, scope: str) -> list[Row]:
    """What the turn or the session has used, as rows."""
    spent = purse.turn if scope == "turn" else purse.session
    return [(layer, model, usage) for (layer, model), usage in list(spent.items())]  # a helper may be adding to it


def total(rows: Iterable[Row], prices: Prices) -> dict:
    """`{fresh, cached, out, cost, unpriced[]}`: tokens, and money where the table names a price (`cost` is null without)."""
    rows = list(rows)
    usage = sum((used for _, _, used in rows), Usage())
    cost, unpriced = prices.total((model, used) for _, model, used in rows)
    return {
        "fresh": usage.fresh + usage.cache_write,
        "cached": usage.cached,
        "out": usage.out,
        "cost": None if cost is None else round(cost, 6),
        "unpriced": list(unpriced) if prices.table else [],
    }


def of_campaign(campaign: Campaign) -> dict:
    """What the campaign's records hold: `{turns, fresh, cached, out, cost, unpriced[], currency, layers{LAYER: {…}}}`."""
    turns, found = spending.of_campaign(campaign.root)
    prices, rows = prices_of_settings(campaign.settings), list(_rows(found))
    by_layer = {layer: [row for row in rows if row[0] == layer] for layer in dict.fromkeys(row[0] for row in rows)}
    return {
        "turns": turns,
        **total(rows, prices),
        "currency": prices.currency,
        "layers": {layer: total(mine, prices) for layer, mine in by_layer.items()},
    }


def in_words(counted: dict, prices: Prices) -> str:
    """A total in a line: `12,400 tokens in (9,800 cached), 1,200 out, $0.0432`."""
    cached = f" ({counted['cached']:,} from the cache)" if counted["cached"] else ""
    money = prices.said(counted["cost"]) if prices.table else ""
    without = f" without {', '.join(counted['unpriced'])}" if counted["unpriced"] and money else ""
    said = f"{counted['fresh'] + counted['cached']:,} tokens in{cached}, {counted['out']:,} out"
    return said + (f", {money}{without}" if money else "")


def _rows(found: Iterable[dict]) -> Iterable[Row]:
    for row in found:
        used = Usage(row["fresh"], row["written"], row["cached"], row["out"])
        yield row["layer"], row["model"], used
