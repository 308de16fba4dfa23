"""What the commands share: finding the campaign, options, and how things are printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from rolecall.campaign.folder import Campaign
    from rolecall.search.searcher import Search
    from rolecall.turn.aside import Rest
    from rolecall.turn.lifecycle import Listener

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document.")
secrets_option = click.option("--secrets", is_flag=True, help="The writer's view: with what is secret.")
model_option = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="[ROLE=]SPEC",
    help="A model for this session; may be given several times.",
)
wait_option = click.option(
    "--wait",
    type=click.FloatRange(0, 86_400),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="For another command to end.",
)


def root_of(ctx: click.Context) -> Path:
    """The campaign's root: `-C DIR` itself, else the nearest parent of here with a `rolecall.yaml`."""
    from rolecall.campaign.folder import find_root, open_campaign

    if ctx.obj is not None:
        return open_campaign(ctx.obj, here_only=True).root
    return find_root(Path.cwd())


def reading(ctx: click.Context) -> Campaign:
    """The campaign for a command that reads; what an interrupted command left is put right first, if nobody is at it."""
    from rolecall.campaign.folder import open_campaign

    campaign = open_campaign(root_of(ctx), here_only=True)
    put_right(campaign)
    return campaign


def put_right(campaign: Campaign) -> None:
    """Recover under the lock; a campaign that cannot be written, is being written or is broken is read as it is."""
    from rolecall.campaign import commits, lock
    from rolecall.errors import Conflict, DocumentError, Locked, StorageError
    from rolecall.turn import unfinished

    if not unfinished.is_left(campaign):
        return
    from rolecall.turn import recovery

    try:
        with lock.hold(campaign.root, "recovery", wait=0.1), commits.keeping(campaign):
            for done in recovery.recover(campaign, search_of(campaign)):
                note(done.what)
    except (Locked, StorageError):
        return
    except (DocumentError, Conflict) as error:  # a turn would stop here; who only reads is told, and reads on
        note(f"An interrupted turn cannot be finished yet: {error}")


def search_of(campaign: Campaign, *, progress: bool = True) -> Search:
    """A search whose index is up to date, with a progress bar on a terminal when that takes long."""
    from rolecall.search.searcher import Search

    search = Search(campaign)
    with Bar("Indexing") if progress else Bar("") as bar:
        search.refresh(bar.show)
    if search.partial:
        note(f"The index cannot be used ({search.trouble}); names and words are looked up in the files.")
    return search


class Bar:
    """A progress bar on stderr that appears only on a terminal, and only for work of some length."""

    MANY = 200  # steps below which nothing is shown

    def __init__(self, label: str) -> None:
        self._label, self._bar, self._done = label, None, 0

    def __enter__(self) -> Bar:
        return self

    def show(self, done: int, total: int) -> None:
        """Progress: so many of so many."""
        if self._bar is None and self._label and total >= self.MANY and sys.stderr.isatty():
            self._bar = click.progressbar(length=total, label=self._label, file=sys.stderr)
            self._bar.__enter__()
        if self._bar is not None:
            self._bar.update(done - self._done)
            self._done = done

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)


def note(text: str) -> None:
    """One quiet line on stderr."""
    click.secho(fitting(text, sys.stderr), dim=True, err=True)


def say(text: str) -> None:
    """A line of data on stdout, safe for a terminal and broken between words to fit it; in a pipe it stays one line."""
    click.echo(fitting(text, sys.stdout))


def fitting(text: str, stream: TextIO) -> str:
    """A text as it is printed to a stream."""
    from rolecall.play.columns import columns_of, folded

    return folded(printable(text), columns_of(stream))


def say_json(document: object) -> None:
    """One JSON document on stdout; text of any script as it is."""
    from rolecall.campaign.text import json_text

    click.echo(json_text(document, indent=2))


def counted(number: int, one: str, many: str = "") -> str:
    """`1 turn`, `2,160 turns`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def printable(text: str) -> str:
    """Text without terminal escapes and control characters: what a file or model says never drives the terminal."""
    from rolecall.campaign.text import clean

    return clean(text)


def game_of(ctx: click.Context, command: str, models: tuple[str, ...], wait: float):  # -> Game
    """The game for a command that plays."""
    from rolecall.turn.game import Game

    return Game(root_of(ctx), command=f"rolecall {command}", models=models, environ=dict(os.environ), wait=wait)


def show_told(ctx: click.Context, begin: Callable[[Listener], Rest], as_json: bool) -> None:
    """Tell a turn, its prose on stdout as it is written (or one JSON document), what was degraded on stderr.

    The last word is there before the afterwork is done.

    Exit code 1 when stdout would not take the prose; the turn is told all the same.
    """
    from rolecall.play.stream import Stream
    from rolecall.play.waiting import Waiting

    stream = Stream(sys.stdout)
    with Waiting(sys.stdout) as waiting:
        try:
            rest = begin(waiting.before((lambda _: None) if as_json else stream.write, note))
        finally:
            stream.end()
    result = rest.result()
    if as_json:
        say_json(result.to_json())
        return
    for degraded in result.degraded:
        note(f"{degraded.layer}: {degraded.reason} → {degraded.fallback}")
    if stream.failed:
        note(f"The prose could not be shown ({stream.failed.strerror}); it is told in the story.")
        ctx.exit(1)
