"""`rolecall new`: a campaign from the template, or an existing folder of Markdown made one."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from rolecall.cli.main import folder_of
from rolecall.cli.shared import printable


@click.command("new")
@click.argument("folder", metavar="DIR", callback=folder_of)
@click.option("--name", default="", help="The campaign's name.")
@click.option("--adopt", is_flag=True, help="Make an existing folder of Markdown a campaign, changing no file of it.")
def new_command(folder: Path, name: str, adopt: bool) -> None:
    """Make a campaign in DIR: a folder of Markdown, ready to be played and edited."""
    from rolecall.campaign import template

    campaign = template.adopt(folder, name) if adopt else template.new(folder, name)
    click.echo(printable(f"{campaign.settings.name or folder}: a campaign in {folder}"), err=True)
    click.echo(printable(f"Play it:  rolecall -C {shlex.quote(str(folder))} play"), err=True)
