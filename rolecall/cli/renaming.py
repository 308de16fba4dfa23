"""`rolecall rename`: an entry under another name, across the campaign."""

from __future__ import annotations

import click

from rolecall.cli.shared import game_of, json_option, note, reading, say, say_json, wait_option


@click.command("rename")
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option("--dry-run", is_flag=True, help="Show every line that would change, and change nothing.")
@click.option("--undo", is_flag=True, help="Take the last renaming back; what you changed since stays.")
@wait_option
@json_option
@click.pass_context
def rename_command(
    ctx: click.Context, old: str | None, new: str | None, dry_run: bool, undo: bool, wait: float, as_json: bool
) -> None:
    """Call the entry OLD by the name NEW: in its own file and the file's name, in fields and links of every other.

    OLD is a name or a file. It stays as an alias, so that what the story told still leads there: story, Chronicles and the Journal's
    lines are never rewritten.
    """
    from rolecall.campaign import renaming
    from rolecall.turn.lifecycle import Listener

    if undo:
        if old or dry_run:
            raise click.UsageError("--undo takes the last renaming back; it needs no names.")
        one, clashes = game_of(ctx, "rename", (), wait).unrename(Listener(note=note))
        say(f"{one.new} is {one.old} again.")
        for clash in clashes:
            note(clash)
        ctx.exit(1 if clashes else 0)
    if not old or not new:
        raise click.UsageError("name the entry as it is called and as it is to be called.")
    if dry_run:
        plan = renaming.plan(reading(ctx), old, new)
    else:
        plan = game_of(ctx, "rename", (), wait).rename(old, new, Listener(note=note))
    if as_json:
        say_json(plan.to_json())
        return
    for change in plan.changes:
        if not dry_run:
            say(f"{change.path}: {len(change.lines)} line{'s' if len(change.lines) != 1 else ''}")
        for number, before, after in change.lines if dry_run else ():
            say(f"{change.path}:{number}: {before.strip() or '(nothing)'} → {after.strip() or '(nothing)'}")
    one = plan.renaming
    if one.target != one.path:
        say(f"{one.path} → {one.target}")
    for left in plan.left:
        note(f"Left as it is: {left}")
