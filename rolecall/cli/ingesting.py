"""`rolecall ingest`: a chat from another program becomes story, cast and Chronicles."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rolecall.cli.shared import counted, game_of, json_option, model_option, note, say, say_json, wait_option

if TYPE_CHECKING:
    from rolecall.turn.game import Game
    from rolecall.turn.ingesting import Ingested, Progress, Reading, Wish


class PerMillion(click.ParamType):
    """`3/15`: what a million tokens of prompts, and of answers, cost."""

    name = "price"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        """Both numbers."""
        if isinstance(value, tuple):
            return value
        try:
            fresh, out = (float(part) for part in str(value).split("/"))
        except ValueError:
            self.fail("write it as IN/OUT, such as 3/15", param, ctx)
        if not (0 <= fresh < 1e6 and 0 <= out < 1e6):
            self.fail("a price lies between 0 and a million", param, ctx)
        return fresh, out


@click.command("ingest")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--player", metavar="NAME", default="", help="Who plays, where the chat does not say so.")
@click.option(
    "--chat", "which", type=click.IntRange(1), metavar="N", help="One of several conversations; else the longest."
)
@click.option(
    "--rounds",
    type=click.Choice(["coarse", "moderate", "detailed"]),
    default="moderate",
    show_default=True,
    help="How closely a model reads it.",
)
@click.option("--no-model", is_flag=True, help="Ask no model: story, cast and Chronicles in the chat's own words.")
@click.option("--dry-run", is_flag=True, help="Say what it would take, and change nothing.")
@click.option(
    "--price", type=PerMillion(), metavar="IN/OUT", help="Per million tokens; else the price in rolecall.yaml."
)
@click.option("--undo", is_flag=True, help="Take back the chat that was brought in last.")
@model_option
@wait_option
@json_option
@click.pass_context
def ingest_command(
    ctx: click.Context,
    file: Path | None,
    player: str,
    which: int | None,
    rounds: str,
    no_model: bool,
    dry_run: bool,
    price: tuple[float, float] | None,
    undo: bool,
    models: tuple[str, ...],
    wait: float,
    as_json: bool,
) -> None:
    """Bring a chat in: SillyTavern, RisuAI, Agnai, KoboldAI, character.ai, ChatGPT, Talemate, transcripts, plain text.

    The story goes to story/ word for word, the original to imports/ with a receipt. With a model for the sidecar the chat
    is also read in chunks: who and what is in it, and how it went. Interrupted, the same command goes on where it stopped.
    """
    from rolecall.turn import ingesting
    from rolecall.turn.lifecycle import Listener

    game = game_of(ctx, "ingest", models, wait)
    if undo:
        _undo(ctx, game, as_json)
        return
    if file is None:
        raise click.UsageError("Name a file with a chat in it.")
    wish = ingesting.Wish(file, which or 0, player, rounds, not no_model)
    reading = ingesting.read(wish)
    if dry_run:
        _dry_run(game, reading, wish, price, as_json)
        return
    try:
        with _progress() as progress:
            done = ingesting.take(game, reading, wish, Listener(note=note), progress)
    except KeyboardInterrupt:
        note("What a model has answered is kept: the same command goes on where it stopped.")
        raise
    if as_json:
        say_json(done.to_json())
    else:
        from rolecall.campaign.kinds import STATE_FILE

        _tell(done, game.campaign().document(STATE_FILE).text("scene"))


def _undo(ctx: click.Context, game: Game, as_json: bool) -> None:
    from rolecall.turn import ingesting
    from rolecall.turn.lifecycle import Listener

    name, clashes = ingesting.take_back(game, Listener(note=note))
    if as_json:
        say_json({"file": name, "clashes": clashes})
    else:
        say(f"{name} is taken back.")
    for clash in clashes:
        note(clash)
    ctx.exit(1 if clashes else 0)


def _dry_run(game: Game, reading: Reading, wish: Wish, price: tuple[float, float] | None, as_json: bool) -> None:
    from rolecall.models.prices import Price
    from rolecall.models.usage import Usage
    from rolecall.turn import ingesting
    from rolecall.turn.costs import prices_of_settings

    found, profile = ingesting.estimate(game, reading, wish)
    prices = prices_of_settings(game.campaign().settings)
    asked = Usage(fresh=found.prompt, out=found.out)
    if price:
        cost = Price(price[0], price[0], price[0], price[1]).of(asked)
    else:
        cost = prices.cost(profile.spec, asked) if profile else None if found.calls else 0.0
    chat = reading.chat
    if as_json:
        say_json(
            {
                "file": reading.name,
                "format": chat.format,
                "messages": len(chat.messages),
                "set_aside": [{"at": one.at, "why": one.why} for one in chat.set_aside],
                "turns": len(reading.scenes),
                "speakers": list(chat.speakers),
                "model": profile.spec if profile and found.calls else None,
                "chunks": found.chunks,
                "calls": found.calls,
                "paid": found.paid,
                "tokens": {"prompt": found.prompt, "out": found.out},
                "price": cost,
            }
        )
        return
    say(
        f"{reading.name}: {chat.format}, {counted(len(chat.messages), 'message')}, {counted(len(reading.scenes), 'turn')}"
    )
    if chat.set_aside:
        say(f"Set aside: {len(chat.set_aside):,} (the first: {chat.set_aside[0].at}, {chat.set_aside[0].why})")
    if not found.calls:
        say("No model is asked: story, cast and Chronicles in the chat's own words.")
        return
    paid = f", {found.paid} of them answered already" if found.paid else ""
    who = profile.spec if profile else "with a model (none is ready, see `rolecall models`)"
    say(f"{who}: {counted(found.chunks, 'chunk')}, at most {counted(found.calls, 'call')}{paid}")
    say(f"About {found.prompt:,} tokens of prompts and {found.out:,} of answers")
    if cost is None:
        note("Name its price under `prices:` in rolecall.yaml, or give --price IN/OUT, to see what it costs.")
    else:
        say(f"About {prices.said(cost)}" if cost else "It costs nothing.")


def _tell(done: Ingested, scene: str) -> None:
    chat = done.reading.chat
    first, last = f"T{done.first:04d}", f"T{done.last:04d}"
    say(f"{done.reading.name}: {chat.format}, {counted(len(chat.messages), 'message')} → {first}-{last}")
    made = f"{counted(len(done.chapters), 'chapter')}, {counted(len(done.chronicles), 'Chronicle')}, "
    made += counted(len(done.recorded), "new entry", "new entries")
    say(made + (f"; {len(done.updated)} of yours gained something" if done.updated else ""))
    say(f"Original and receipt: {done.folder}/")
    if chat.set_aside:
        note(f"Set aside: {len(chat.set_aside):,}; the receipt says what and why.")
    for line in done.notes:
        note(line)
    if scene:
        note(
            f"The scene is still yours ({scene}). Write into campaign-state.md where the chat leaves off, then play on."
        )


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar with the time left, on a terminal; quiet in a pipe."""
    if not sys.stderr.isatty():
        yield lambda done, total, label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total, label: bar.update(task, completed=done, total=total, description=label or "writing")
