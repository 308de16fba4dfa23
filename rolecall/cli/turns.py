"""`rolecall play` and `rolecall turn`: playing."""

from __future__ import annotations

import sys

import click

from rolecall.cli.shared import game_of, json_option, model_option, reading, show_told, wait_option


@click.command("turn")
@click.argument("action", required=False)
@click.option(
    "--replay", metavar="T0042", help="Tell a turn again from its record (or a record's folder); no model is asked."
)
@model_option
@wait_option
@json_option
@click.pass_context
def turn_command(
    ctx: click.Context, action: str | None, replay: str | None, models: tuple[str, ...], wait: float, as_json: bool
) -> None:
    """Tell one turn: ACTION is what your character does or says (`-` reads it from standard input).

    The prose goes to stdout as it is written; one quiet line on stderr says what was degraded.
    """
    if bool(action) == bool(replay) and action != "":
        raise click.UsageError("Say what your character does, or `--replay` a turn.")
    seed = ""
    if replay:
        from rolecall.turn import replay as replaying

        again = replaying.of(reading(ctx), replay)
        action, seed, models = again.action, again.seed, (again.spec,)
    elif action == "-":
        action = sys.stdin.read()
    game = game_of(ctx, "turn", models, wait)
    show_told(ctx, lambda listener: game.begin(action or "", listener, seed=seed), as_json)


@click.command("play")
@model_option
@wait_option
@click.pass_context
def play_command(ctx: click.Context, models: tuple[str, ...], wait: float) -> None:
    """Play, line by line: type what your character does, /help for the rest, Ctrl-D to leave.

    In a pipe one action is read a line, until the end of the file.
    """
    from rolecall.play.player import Player

    code = Player(game_of(ctx, "play", models, wait)).run()
    ctx.exit(code)
