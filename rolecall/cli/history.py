"""`rolecall why` and `rolecall activity`: where a line comes from, and what the helpers did."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rolecall.cli.shared import json_option, reading, root_of, say, say_json, secrets_option

if TYPE_CHECKING:
    from rolecall.campaign.folder import Campaign

_COLOURS = {
    "remember": "green",
    "update": "green",
    "forget": "red",
    "continuity": "yellow",
    "fold": "cyan",
    "summary": "cyan",
}


@click.command("why")
@click.argument("place", metavar="PATH[:LINE]")
@secrets_option
@json_option
@click.pass_context
def why_command(ctx: click.Context, place: str, secrets: bool, as_json: bool) -> None:
    """Where a line comes from: turn, phase, model, reason and the sentence behind it, or "written by hand".

    Without a line, every line of the file.
    """
    from rolecall.turn import provenance

    campaign = reading(ctx)
    found = re.fullmatch(r"(.+?):(\d{1,9})", place)
    path, line = (found[1], int(found[2])) if found else (place, None)
    origins = provenance.why(campaign, _inside(campaign, path), line, with_secrets=secrets)
    if as_json:
        say_json([origin.to_json() for origin in origins])
        return
    for origin in origins:
        where = " · ".join(part for part in (origin.turn, origin.phase, origin.by, origin.reason) if part)
        say(f"{origin.line:>4}  {where}")
        say(f"      {origin.text}")
        if origin.source:
            say(f"      from: {origin.source}")


def _inside(campaign: Campaign, path: str) -> str:
    """A path as the campaign spells it, also when it was typed from the current folder, or as only this system takes it."""
    from rolecall.campaign.filenames import same_key

    place = campaign.root / path
    place = place if place.exists() else Path(path).resolve()
    try:
        inside = place.relative_to(campaign.root).as_posix()
    except ValueError:
        return path
    alike = [one for one in campaign.names() if same_key(one) == same_key(inside)] if place.exists() else []
    return next((one for one in alike if (campaign.root / one).samefile(place)), inside)


@click.command("activity")
@click.option("--follow", is_flag=True, help="Go on as things happen, until Ctrl-C.")
@click.option("--phase", "phases", multiple=True, help="Only this phase (pre-gen, during-gen, post-gen, summary).")
@click.option("--type", "types", multiple=True, help="Only this type (search, remember, update, forget, fold, ...).")
@click.option("--limit", type=click.IntRange(1, 200), default=30, show_default=True, help="The newest so many.")
@secrets_option
@json_option
@click.pass_context
def activity_command(
    ctx: click.Context,
    follow: bool,
    phases: tuple[str, ...],
    types: tuple[str, ...],
    limit: int,
    secrets: bool,
    as_json: bool,
) -> None:
    """What the helpers did, and why."""
    from dataclasses import asdict

    from rolecall.campaign.activity import PHASES, TYPES, Feed

    _known(phases, PHASES, "phase")
    _known(types, TYPES, "type")
    feed = Feed(root_of(ctx))
    found = feed.read(limit=limit, types=types, phases=phases, with_secrets=secrets)
    if as_json:
        say_json([asdict(op) for op in found])
        return
    for op in found:
        _line(op)
    if follow:
        for op in feed.follow(types=types, phases=phases, with_secrets=secrets):
            _line(op)
    elif not found:
        click.echo("Nothing yet.", err=True)


def _known(given: tuple[str, ...], known: tuple[str, ...], what: str) -> None:
    from difflib import get_close_matches

    for one in given:
        if one not in known:
            near = get_close_matches(one, known, 1)
            raise click.UsageError(f"`{one}` is not a {what}." + (f" Did you mean `{near[0]}`?" if near else ""))


def _line(op) -> None:  # op: campaign.activity.Operation
    from rolecall.campaign.text import clean_line
    from rolecall.cli.shared import fitting

    at, kind = clean_line(op.at[11:]), clean_line(op.type)
    head = f"{at} {kind:<11} "
    cost = " ".join(
        part for part in (f"{op.tokens:,} tokens" if op.tokens else "", f"{op.ms:,} ms" if op.ms else "") if part
    )
    tail = " · ".join(part for part in (op.turn, op.phase, op.model, op.reason, ", ".join(op.paths), cost) if part)
    text = fitting(" " * len(head) + tail, sys.stdout)[len(head) :]
    click.echo(f"{at} " + click.style(f"{kind:<11} ", fg=_COLOURS.get(kind), bold=True) + text)
