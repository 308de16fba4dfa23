"""`rolecall branch` and `rolecall timeline`: other courses of the story, kept in git."""

from __future__ import annotations

from pathlib import Path

import click

from rolecall.cli.shared import game_of, json_option, note, reading, say, say_json, secrets_option, wait_option


@click.command("branch")
@click.argument("name")
@click.option("--at", metavar="T0042", help="Begin right after this turn; else where the story stands now.")
@wait_option
@click.pass_context
def branch_command(ctx: click.Context, name: str, at: str | None, wait: float) -> None:
    """Begin another timeline, a git branch called NAME, and go there. The one you leave stays as it is.

    What you changed by hand is committed first. `rolecall timeline NAME` goes back.
    """
    from rolecall.campaign.journal import turn_number
    from rolecall.turn.lifecycle import Listener

    turn = turn_number(at) if at else None
    if at and not turn:
        raise click.UsageError(f"`{at}` is not a turn; write it as T0042.")
    game_of(ctx, "branch", (), wait).branch(name, Listener(note=note), at=turn)
    note(f"You are in the timeline {name}.")


@click.command("timeline")
@click.argument("name", required=False)
@wait_option
@secrets_option
@json_option
@click.pass_context
def timeline_command(ctx: click.Context, name: str | None, wait: float, secrets: bool, as_json: bool) -> None:
    """List the timelines with their last turn, or go to the one called NAME.

    A commit that tells no turn (`By hand before T0042: ...`) may name what is secret: with --secrets its subject is shown, too.

    What you changed by hand is committed before you leave. Swipe, undo and search know the timeline you are in.
    """
    from rolecall.campaign import timelines
    from rolecall.turn.lifecycle import Listener

    if name is not None:
        moved = game_of(ctx, "timeline", (), wait).go(name, Listener(note=note))
        note(f"You are in the timeline {name}." if moved else f"You were in the timeline {name} already.")
        return
    found = timelines.listed(reading(ctx), with_secrets=secrets)
    if as_json:
        say_json([timeline.to_json() for timeline in found])
        return
    width = max((len(timeline.name) for timeline in found), default=0)
    for timeline in found:
        mark = "*" if timeline.current else " "
        say(
            f"{mark} {timeline.name:<{width}}  {timeline.turn or '-':<5}  {timeline.date[:10]}  {timeline.subject or timeline.journal}"
        )
    if found and not any(timeline.current for timeline in found):
        note("You are in none of them: HEAD is on no branch.")


@click.command("join")
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("path")
@click.pass_context
def join_command(ctx: click.Context, base: Path, ours: Path, theirs: Path, path: str) -> None:
    """Join two timelines' Campaign State or chapter: git calls this in a merge, as `rolecall join %O %A %B %P`.

    OURS gets the lines and sections of both, whole. Exit code 1 where the rest clashes; that stands between git's markers.
    """
    from rolecall.campaign import files, joining

    versions = [files.read(place.resolve().parent, place.name) for place in (base, ours, theirs)]
    data, clean = joining.joined(*versions, path)
    files.rewrite(ours.resolve().parent, ours.name, data)
    ctx.exit(0 if clean else 1)
