"""`rolecall fold`, `check`, `index` and `watch`: keeping memory and index in order."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from rolecall.cli.shared import (
    Bar,
    counted,
    game_of,
    json_option,
    model_option,
    note,
    put_right,
    reading,
    root_of,
    say,
    say_json,
    wait_option,
)

if TYPE_CHECKING:
    from rolecall.campaign.folder import Campaign
    from rolecall.campaign.problems import Problem

SLICE = 0.5  # seconds between two looks at how the watcher fares; on Windows a wait without end does not hear Ctrl-C


@click.command("fold")
@model_option
@wait_option
@json_option
@click.pass_context
def fold_command(ctx: click.Context, models: tuple[str, ...], wait: float, as_json: bool) -> None:
    """Close the Journal's oldest lines into a Chronicle now; the newest `keep_lines` stay."""
    from rolecall.turn.lifecycle import Listener

    folded = game_of(ctx, "fold", models, wait).fold(listener=Listener(note=note))
    if as_json:
        say_json({"path": folded.path, "covers": folded.covers, "lines": folded.lines} if folded else None)
    elif folded is None:
        note("The Journal is short; there is nothing to fold.")
    else:
        say(f"{folded.path}: {counted(folded.lines, 'line')}, {folded.covers}")
        if folded.by_hand:
            note(f"Retold from the journal's own lines: {folded.by_hand}")


@click.command("check")
@click.option(
    "--strict", is_flag=True, help="Count what may be meant so, too: links to pages not written yet and the like."
)
@click.option("--fix", is_flag=True, help="Mend what is certain, on record; then look again.")
@click.option("--dry-run", is_flag=True, help="With --fix: say what would be mended.")
@click.option("--undo", is_flag=True, help="Take the last fixes back; what you changed since stays.")
@json_option
@click.pass_context
def check_command(ctx: click.Context, strict: bool, fix: bool, dry_run: bool, undo: bool, as_json: bool) -> None:
    """Look for problems in every file: names, links, fields, turns, seals, secrets, leftovers. Exit code 1 when there are any."""
    from rolecall.campaign import checks

    if (dry_run and not fix) or (fix and undo):
        raise click.UsageError("--dry-run goes with --fix; --undo stands alone.")
    if fix or undo:
        _mend(ctx, dry_run, undo)
    campaign = reading(ctx)
    found = [*_named(campaign), *checks.look(campaign)]
    problems = [problem for problem in found if strict or not problem.note]
    if as_json:
        say_json([problem.to_json() for problem in problems])
    for problem in () if as_json else problems:
        say(f"{problem} [{problem.rule}]")
    if not problems and not as_json:
        note("No problems.")
    if left := len(found) - len(problems):
        note(f"{left} more may be meant so (`rolecall check --strict` lists them).")
    ctx.exit(1 if problems else 0)


def _named(campaign: Campaign) -> list[Problem]:
    """The names in the settings that are no model's, or are of a file no settings may name."""
    from rolecall.campaign.problems import Problem
    from rolecall.turn import modelnames

    return [Problem(one.path, one.line, "no-model", one.what, one.remedy) for one in modelnames.faults(campaign)]


def _mend(ctx: click.Context, dry_run: bool, undo: bool) -> None:
    from rolecall.turn import mending
    from rolecall.turn.lifecycle import Listener

    if dry_run:
        done, left = [one.said for one in mending.plan(reading(ctx))], []
    else:
        done, left = game_of(ctx, "check", (), 10.0).mend(Listener(note=note), back=undo)
    verb = "Would be mended" if dry_run else "Taken back" if undo else "Mended"
    for line in (*(f"{verb}: {one}" for one in done), *left):
        note(line)


@click.command("index")
@click.option("--rebuild", is_flag=True, help="Throw it away and build it from nothing.")
@json_option
@click.pass_context
def index_command(ctx: click.Context, rebuild: bool, as_json: bool) -> None:
    """Bring the search index up to date. It lies in your cache folder and may be deleted at any time."""
    from rolecall.search.searcher import Search

    search = Search(reading(ctx))
    with Bar("Indexing") as bar:
        changed = search.rebuild(bar.show) or True if rebuild else search.refresh(bar.show)
    broken = {path: entry.broken for path, entry in search.catalogue.items() if entry.broken}
    if as_json:
        say_json(
            {"files": len(search.catalogue), "changed": bool(changed), "withheld": broken, "partial": search.partial}
        )
        return
    say(f"{len(search.catalogue):,} files{'' if changed else ', nothing had changed'}")
    for path, reason in sorted(broken.items()):
        note(f"Withheld from the models: {path}: {reason}")
    if search.partial:
        note(f"The index cannot be used: {search.trouble}")


@click.command("watch")
@click.pass_context
def watch_command(ctx: click.Context) -> None:
    """Keep the search index current while you edit, until Ctrl-C. Turns need no watcher; it only saves them time."""
    from rolecall.campaign.folder import open_campaign
    from rolecall.search.searcher import Search
    from rolecall.search.watcher import Watcher

    campaign = open_campaign(root_of(ctx), here_only=True)
    put_right(campaign)
    search = Search(campaign)
    watcher = Watcher(search, on_update=lambda: note(f"Index updated: {len(search.catalogue):,} files"))
    watcher.start()
    note(f"Watching {campaign.root} ({len(search.catalogue):,} files). Ctrl-C ends it.")
    said = ""
    try:
        while True:
            if (now := watcher.trouble or watcher.hint) != said:
                said = now
                note(now or "Watching again.")
            time.sleep(SLICE)
    except KeyboardInterrupt:
        note("Stopped watching.")
    finally:
        watcher.stop()
