"""`rolecall models` and `rolecall models pull`: which model plays which role, and the embedded one's weights."""

from __future__ import annotations

import os
from dataclasses import asdict

import click

from rolecall.cli.shared import json_option, model_option, printable, say, say_json

_DOES = {
    "narrator": "tells the story",
    "turn_dm": "picks what a scene needs",
    "dm": "plans where the story goes",
    "sidecar": "looks things up, and writes down what has become true",
}


@click.group("models", invoke_without_command=True)
@model_option
@json_option
@click.pass_context
def models_command(ctx: click.Context, models: tuple[str, ...], as_json: bool) -> None:
    """Each role, its chain, and which of its models would answer now. Never shows a key."""
    if ctx.invoked_subcommand is not None:
        return
    from rolecall.errors import NoCampaign
    from rolecall.models import roles

    try:
        setting = _settings(ctx)
    except NoCampaign:
        if ctx.obj is not None:
            raise
        setting = {}  # outside a campaign the defaults are shown
    found = roles.describe(setting, models, dict(os.environ))
    if as_json:
        say_json([asdict(role) for role in found])
        return
    for role in found:
        how = " (off)" if role.off else "" if role.chosen else " (found, nothing is configured)"
        say(f"{role.role}: {_DOES[role.role]}{how}")
        for link in role.links:
            if link.ready and link.idle:
                say(f"  {link.spec}: too small for it; code does this part")
                continue
            mark = click.style("ready", fg="green") if link.ready else click.style("not ready", fg="yellow")
            click.echo(printable(f"  {link.spec}: ") + mark + printable(f", {link.reason}" if link.reason else ""))


def _settings(ctx: click.Context) -> dict:
    from rolecall.campaign.folder import open_campaign
    from rolecall.cli.shared import root_of
    from rolecall.turn import modelnames

    campaign = open_campaign(root_of(ctx), here_only=True)
    modelnames.refuse(campaign)
    return modelnames.rooted(campaign)


@models_command.command("pull")
def pull_command() -> None:
    """Fetch the embedded model's weights (93 MB, once), so that play needs no network later."""
    from rolecall.models import weights

    say(str(weights.pull(weights.KNOWN["smollm2"], weights.folder())))
