"""`rolecall status`, `show` and `list`: reading the campaign."""

from __future__ import annotations

import click

from rolecall.cli.shared import json_option, printable, reading, say, say_json, search_of, secrets_option


@click.command("status")
@secrets_option
@json_option
@click.pass_context
def status_command(ctx: click.Context, secrets: bool, as_json: bool) -> None:
    """Where the story stands: scene, party, fight, resources, promises, arcs, and what needs attention."""
    from rolecall.play import views

    campaign = reading(ctx)
    search = search_of(campaign)
    if as_json:
        say_json(views.status(campaign, search, with_secrets=secrets))
        return
    for line in views.status_lines(campaign, search, with_secrets=secrets):
        say(line)


@click.command("show")
@click.argument("name")
@secrets_option
@json_option
@click.pass_context
def show_command(ctx: click.Context, name: str, secrets: bool, as_json: bool) -> None:
    """Read the entry that goes by NAME (a name, an alias or a path)."""
    from rolecall.play import page, views

    campaign = reading(ctx)
    entry = views.find(search_of(campaign), name, with_secrets=secrets)
    shown = views.entry_json(campaign, entry, with_secrets=secrets)
    if as_json:
        say_json(shown)
    else:
        page.show(printable(shown["text"]))


@click.command("list")
@click.argument("kind", required=False)
@click.option("--where", multiple=True, metavar="FIELD=VALUE", help="Only entries whose field has that value.")
@secrets_option
@json_option
@click.pass_context
def list_command(ctx: click.Context, kind: str | None, where: tuple[str, ...], secrets: bool, as_json: bool) -> None:
    """List entries: all of them, or those of one KIND (character, location, item, arc, ...); quests are arcs."""
    from rolecall.play import views

    campaign = reading(ctx)
    conditions = [_condition(text) for text in where]
    rows = views.rows(campaign, search_of(campaign), _kind(kind), conditions, with_secrets=secrets)
    if as_json:
        say_json(rows)
        return
    for row in rows:
        say(f"{row['kind']:<13} {row['name']}  ({row['path']})")
    if not rows:
        click.echo("Nothing of that kind." if kind or where else "No entries yet.", err=True)


def _kind(kind: str | None) -> str | None:
    """A kind by its name or its folder (`character`, `characters`); a usage error with a suggestion otherwise."""
    from difflib import get_close_matches

    from rolecall.campaign.kinds import ENTRY_KINDS, KINDS

    if kind is None:
        return None
    plural = {k.folder: k.name for k in ENTRY_KINDS.values()} | {f"{k}s": k for k in KINDS}
    found = kind.casefold() if kind.casefold() in KINDS else plural.get(kind.casefold())
    if found is None:
        near = get_close_matches(kind.casefold(), sorted(KINDS), 1)
        hint = f"Did you mean `{near[0]}`?" if near else f"There are {', '.join(sorted(KINDS))}."
        raise click.UsageError(f"`{kind}` is not a kind. {hint}")
    return found


def _condition(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise click.UsageError(f"`--where {text}` is not FIELD=VALUE.")
    return key.strip(), value.strip()
