"""`rolecall proposals`: what the models would change in entries that the writer locked."""

from __future__ import annotations

import click

from rolecall.cli.shared import game_of, json_option, note, reading, say, say_json, wait_option


@click.group("proposals", invoke_without_command=True)
@json_option
@click.pass_context
def proposals_command(ctx: click.Context, as_json: bool) -> None:
    """What the models would change in entries you locked: list it, `accept N` or `drop N`.

    A locked entry (`locked: true`) is never changed by a turn. Accepting makes the change as the turn would have; a proposal you
    drop is not made again.
    """
    if ctx.invoked_subcommand is not None:
        return
    from rolecall.campaign import proposals

    found = proposals.listed(reading(ctx).root)
    if as_json:
        say_json([proposal.to_json() for proposal in found])
        return
    for proposal in found:
        shown = proposal.to_json()
        say(f"{proposal.number:>3}  {proposal.line}  ({shown['turn']}, {', '.join(shown['paths'])})")
        for key in ("reason", "source"):
            if shown[key]:
                say(f"     {key}: {shown[key]}")
    if not found:
        note("Nothing is proposed.")


@proposals_command.command("accept")
@click.argument("numbers", metavar="N...", type=click.IntRange(min=1), nargs=-1, required=True)
@wait_option
@click.pass_context
def accept_command(ctx: click.Context, numbers: tuple[int, ...], wait: float) -> None:
    """Make the changes of the proposals N; where git keeps the campaign, each is a commit of its own."""
    from rolecall.turn import deciding
    from rolecall.turn.lifecycle import Listener

    def done(number: int, paths: list[str]) -> None:
        say(f"{number}: {', '.join(paths) if paths else 'it stands so already'}")

    deciding.accept(game_of(ctx, "proposals accept", (), wait), numbers, Listener(note=note), done)


@proposals_command.command("drop")
@click.argument("numbers", metavar="N...", type=click.IntRange(min=1), nargs=-1, required=True)
@wait_option
@click.pass_context
def drop_command(ctx: click.Context, numbers: tuple[int, ...], wait: float) -> None:
    """Close the proposals N without making their changes."""
    from rolecall.turn import deciding
    from rolecall.turn.lifecycle import Listener

    def done(number: int, line: str) -> None:
        say(f"{number}: dropped ({line})")

    deciding.drop(game_of(ctx, "proposals drop", (), wait), numbers, Listener(note=note), done)
