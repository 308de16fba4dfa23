"""`rolecall swipe` and `rolecall undo`: another answer, an earlier one, or none."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from rolecall.cli.shared import (
    game_of,
    json_option,
    model_option,
    note,
    reading,
    say,
    say_json,
    secrets_option,
    show_told,
    wait_option,
)

if TYPE_CHECKING:
    from rolecall.campaign.folder import Campaign
    from rolecall.campaign.reversal import Clash


@click.command("swipe")
@click.option(
    "--to", "wanted", type=click.IntRange(1), metavar="N", help="Switch to an answer had before; asks no model."
)
@click.option("--list", "listing", is_flag=True, help="The answers to the last turn.")
@click.option("--reroll", is_flag=True, help="Roll the turn's dice anew; else they fall as they fell before.")
@model_option
@wait_option
@json_option
@click.pass_context
def swipe_command(
    ctx: click.Context,
    wanted: int | None,
    listing: bool,
    reroll: bool,
    models: tuple[str, ...],
    wait: float,
    as_json: bool,
) -> None:
    """Another answer to the last turn. What you changed by hand since stays."""
    from rolecall.turn.lifecycle import Listener

    if listing:
        _list(ctx, as_json)
        return
    if reroll and wanted is not None:
        raise click.UsageError("--reroll is for a new answer; --to switches to one that was told already.")
    game = game_of(ctx, "swipe", models, wait)
    if wanted is not None:
        turn = game.switch(wanted, Listener(note=note))
        if as_json:
            say_json({"turn": f"T{turn:04d}", "swipe": wanted})
        else:
            _show_current(ctx, turn)
        return
    show_told(ctx, partial(game.begin_swipe, reroll=reroll), as_json)


def _list(ctx: click.Context, as_json: bool) -> None:
    from rolecall.turn import swipes

    rows = swipes.listed(reading(ctx))
    if as_json:
        say_json(rows)
        return
    for row in rows:
        say(f"{'*' if row['current'] else ' '} {row['swipe']}  {row['journal']}  ({row['model'] or 'no model'})")


def _show_current(ctx: click.Context, turn: int) -> None:
    from rolecall.campaign import story

    told = story.recent(reading(ctx), 1)
    if told and told[0].turn == turn:
        say(told[0].prose)


@click.command("undo")
@click.argument("count", type=click.IntRange(1), default=1, metavar="[N]")
@click.option("--turn", metavar="T0042", help="Take back this turn; later ones stay.")
@wait_option
@secrets_option
@click.pass_context
def undo_command(ctx: click.Context, count: int, turn: str | None, wait: float, secrets: bool) -> None:
    """Take back the last N turns (one unless you say). What you changed by hand since stays.

    Exit code 1 when you changed the very lines a turn had changed: yours stay, and it is said where.
    """
    from rolecall.campaign.journal import turn_number
    from rolecall.turn.lifecycle import Listener

    number = turn_number(turn) if turn else 0
    if number is None:
        raise click.UsageError(f"`{turn}` is not a turn; write it as T0042.")
    clashes = 0
    game = game_of(ctx, "undo", (), wait)
    for undone in game.undo(Listener(note=note), count=count, turn=number):
        say(f"T{undone.turn:04d} is taken back: {undone.action.splitlines()[0] if undone.action else ''}")
        for line in undone.notes:
            note(line)
        for path, clash in undone.clashes:
            clashes += 1
            before = "(secret)" if not secrets and _is_secret(game.campaign(), path, clash) else clash.before
            note(
                f"{path}:{clash.line}: you changed this too; your words stay. Before the turn: {before or '(nothing)'}"
            )
    ctx.exit(1 if clashes else 0)


def _is_secret(campaign: Campaign, path: str, clash: Clash) -> bool:
    """Whether the player may not see where a clash is; so it is where nobody can tell any more."""
    from rolecall.errors import RoleCallError
    from rolecall.turn.provenance import secret_lines

    try:
        return clash.line in secret_lines(campaign, path)
    except RoleCallError:
        return True
