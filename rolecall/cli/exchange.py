"""`rolecall import`: what you have in other tools, taken into the campaign."""

from __future__ import annotations

from pathlib import Path

import click

from rolecall.cli.shared import Bar, counted, game_of, json_option, note, root_of, say, say_json, wait_option


@click.command("import")
@click.argument("names", metavar="FILE...", nargs=-1)
@click.option("--dry-run", "dry", is_flag=True, help="Say what would be made, and make nothing.")
@click.option("--again", is_flag=True, help="Import a file that was imported before once more.")
@click.option("--undo", "back", is_flag=True, help="Take the last import back, or that of the folder named.")
@wait_option
@json_option
@click.pass_context
def import_command(
    ctx: click.Context, names: tuple[str, ...], dry: bool, again: bool, back: bool, wait: float, as_json: bool
) -> None:
    """Import lorebooks, character cards, scenarios, or a folder of Markdown. What a FILE is, is told by what is in it.

    Each entry becomes a file of its kind; the original goes to `imports/`, with a receipt that says what became what.
    Nothing that exists is overwritten. To make a folder of Markdown a campaign in place: `rolecall new --adopt DIR`.
    """
    from rolecall.errors import RoleCallError
    from rolecall.turn import intake
    from rolecall.turn.lifecycle import Listener

    if not names and not back:
        raise click.UsageError("Name a file, or a folder of Markdown.")
    game = game_of(ctx, "import", (), wait)
    if back:
        _take_back(ctx, game, names, as_json)
        return
    done, failed = [], []
    for name in names:
        try:
            with Bar("Importing") as bar:
                taken = intake.take(game, Path(name), Listener(note=note), dry=dry, again=again, progress=bar.show)
            done.append(taken)
        except RoleCallError as error:
            if len(names) == 1:
                raise
            failed.append((name, str(error)))
    if as_json:
        told = [taken.to_json() for taken in done]
        say_json({"imports": told, "failed": [{"file": name, "error": error} for name, error in failed]})
    for taken in () if as_json else done:
        say(taken.summary)
        for line in taken.told():
            note(line)
    for _, error in failed:
        click.secho("Error: ", fg="red", err=True, nl=False)
        note(error)
    ctx.exit(1 if failed else 0)


def _take_back(ctx: click.Context, game, names: tuple[str, ...], as_json: bool) -> None:  # game: a Game
    from rolecall.turn import intake
    from rolecall.turn.lifecycle import Listener

    root_of(ctx)
    undone = [intake.take_back(game, name, Listener(note=note)) for name in names or ("",)]
    if as_json:
        say_json([{"folder": one.folder, "removed": one.removed, "kept": one.kept} for one in undone])
    for one in () if as_json else undone:
        say(f"{one.folder} is taken back: {counted(len(one.removed), 'file')}")
        for path in one.kept:
            note(f"{path} stays: you have changed it since")
