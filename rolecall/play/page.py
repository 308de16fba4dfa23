"""An entry on a terminal, as a page to read."""

from __future__ import annotations

import re
import sys

import click

from rolecall.campaign.text import clean
from rolecall.play.columns import WIDEST, columns_of, folded


def show(text: str) -> None:
    """Print an entry's text: on a terminal its Markdown rendered, the fields a line each; anywhere else as it is."""
    text = clean(text)
    if not sys.stdout.isatty():
        click.echo(text)
        return
    from html import unescape

    from rich.console import Console
    from rich.markdown import Markdown

    head, _, body = text.partition("\n\n")
    title, *fields = head.splitlines()
    click.secho(title.removeprefix("# "), bold=True)
    for line in fields:
        key, colon, held = folded(line, columns_of(sys.stdout), hang=2).partition(": ")
        click.echo(click.style(key + colon, dim=True) + held)
    if body:
        click.echo()
        # Markdown would make a direction override of `&#8238;`.
        body = re.sub(r"&#?\w+;", lambda found: found[0] if unescape(found[0]).isprintable() else "", body)
        Console(width=min(Console().width, WIDEST)).print(Markdown(body, hyperlinks=False))
