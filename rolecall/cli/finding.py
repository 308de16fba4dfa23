"""`rolecall search` and `rolecall context`: what the campaign knows, and what a model would be told of it."""

from __future__ import annotations

import click

from rolecall.cli.shared import (
    game_of,
    json_option,
    model_option,
    note,
    reading,
    say,
    say_json,
    search_of,
    secrets_option,
)


@click.command("search")
@click.argument("query")
@click.option("--kind", "kinds", multiple=True, help="Only this kind; may be given several times.")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Passages.")
@secrets_option
@json_option
@click.pass_context
def search_command(
    ctx: click.Context, query: str, kinds: tuple[str, ...], limit: int, secrets: bool, as_json: bool
) -> None:
    """Find passages: by a name, a few words, or a question in plain words."""
    from rolecall.campaign.journal import turn_id
    from rolecall.cli.reading import _kind
    from rolecall.play import views

    search = search_of(reading(ctx))
    wanted = [_kind(kind) for kind in kinds] or None
    hits = search.find(query, kinds=wanted, limit=limit, secrets=secrets, withheld=secrets)
    if as_json:
        keys = ("path", "line", "kind", "name", "score", "excerpt")
        say_json(
            [{k: getattr(h, k) for k in keys} | {"turn": turn_id(h.turn) if h.turn is not None else ""} for h in hits]
        )
        return
    for line in views.hit_lines(hits):
        say(line)
    if not hits:
        note("Nothing found.")


@click.command("context")
@click.argument("action", required=False)
@click.option("--last", is_flag=True, help="The exact prompts of the last turn.")
@secrets_option
@model_option
@json_option
@click.pass_context
def context_command(
    ctx: click.Context, action: str | None, last: bool, secrets: bool, models: tuple[str, ...], as_json: bool
) -> None:
    """Show the prompts that ACTION would send, and who put which passage there, why, and for how many tokens.

    No model is asked, so what one layer would have from another's answer is missing. --last shows every prompt of the
    last turn word for word, with what it used. The DM's layers, which know what is secret, need --secrets.
    """
    from rolecall.turn import preview

    campaign = reading(ctx)
    if last == bool(action):
        raise click.UsageError("Say what to show: an ACTION, or --last.")
    if last:
        document = preview.last(campaign, with_secrets=secrets)
    else:
        game = game_of(ctx, "context", models, 0)
        document = preview.of(game, campaign, search_of(campaign), action, with_secrets=secrets)
    if as_json:
        say_json(document)
        return
    for line in preview.lines(document):
        say(line)
