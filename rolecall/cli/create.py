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
@click.option("--no-git", is_flag=True, help="Make no git repository of it.")
@click.option("--adopt", is_flag=True, help="Make an existing folder of Markdown a campaign, changing no file of it.")
def new_command(folder: Path, name: str, no_git: bool, adopt: bool) -> None:
    """Make a campaign in DIR: a folder of Markdown, ready to be played and edited.

    Where git is installed and no repository above would have DIR, it becomes one, and each turn a commit (`git: auto` in rolecall.yaml).
    """
    from rolecall.campaign import git, template

    campaign = template.adopt(folder, name) if adopt else template.new(folder, name, repository=not no_git)
    click.echo(printable(f"{campaign.settings.name or folder}: a campaign in {folder}"), err=True)
    if campaign.settings.git == "auto":
        click.echo("Each turn becomes a commit in its git repository.", err=True)
    elif adopt and git.is_below_one(campaign.root):
        told = "Git is left to you (`git: off` in rolecall.yaml; with `auto` each turn becomes a commit)."
        click.echo(told, err=True)
    elif not adopt and not no_git:
        click.echo(printable(f"Without git: {git.init(campaign.root)}"), err=True)
    click.echo(printable(f"Play it:  rolecall -C {shlex.quote(str(folder))} play"), err=True)
