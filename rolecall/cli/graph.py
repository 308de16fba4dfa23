"""`rolecall graph` and `rolecall snapshot`: who is tied to whom, and where they all stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

import click

from rolecall.cli.shared import json_option, note, reading, say, say_json, search_of, secrets_option

if TYPE_CHECKING:
    from rolecall.campaign.folder import Campaign
    from rolecall.play.graph import Graph

FORMATS = ("mermaid", "dot", "json", "html")


@click.command("graph")
@click.option("--format", "format_", type=click.Choice(FORMATS), help="How to draw it.  [default: mermaid]")
@click.option("--around", metavar="NAME", help="Only what is near this entry.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="How many steps from it.  [default: 1]")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.File("w", encoding="utf-8", lazy=True, atomic=True),
    help="Into a file, instead of to standard output; in a `.md` file Mermaid is fenced.",
)
@secrets_option
@json_option
@click.pass_context
def graph_command(
    ctx: click.Context,
    format_: str | None,
    around: str | None,
    depth: int | None,
    output: TextIO | None,
    secrets: bool,
    as_json: bool,
) -> None:
    """Draw who is tied to whom: entries and arcs, their fields and wikilinks.

    \b
    rolecall graph --format html -o graph.html     a page to look around in
    rolecall graph --around Marta --depth 2        Mermaid, for a Markdown file
    rolecall graph --format dot | dot -Tsvg        with Graphviz
    """
    from rolecall.play import graph, views

    if as_json and format_ not in (None, "json"):
        raise click.UsageError(f"`--json` is one format and `--format {format_}` another.")
    if depth and not around:
        raise click.UsageError("`--depth` counts from an entry: add `--around NAME`.")
    campaign = reading(ctx)
    _spare_the_campaign(campaign, output)
    search = search_of(campaign)
    drawn = graph.of(campaign, search, with_secrets=secrets)
    if around:
        drawn = graph.around(drawn, views.find(search, around, with_secrets=secrets).path, depth or 1)
    text = _text(drawn, "json" if as_json else format_ or "mermaid", output.name if output else "")
    if output is None:
        click.echo(text, nl=False)
        return
    output.write(text)
    note(f"{output.name}: {len(drawn.nodes)} entries, {len(drawn.edges)} ties")


def _text(drawn: Graph, format_: str, name: str) -> str:
    """The graph in one of the formats, ending with a newline."""
    from rolecall.campaign.text import json_text
    from rolecall.play import drawings

    if format_ == "json":
        return json_text(drawings.as_json(drawn), indent=2) + "\n"
    text = getattr(drawings, format_)(drawn)
    if format_ == "mermaid":
        if drawings.mermaid_is_large(drawn, text):
            note("Mermaid draws no more than 500 arrows unless told to; `--around NAME` or `--format html` shows more.")
        return drawings.fenced(text) if name.casefold().endswith(".md") else text
    return text


def _spare_the_campaign(campaign: Campaign, output: TextIO | None) -> None:
    """A drawing never takes the place of a file that the campaign is made of."""
    from pathlib import Path

    from rolecall.errors import StorageError
    from rolecall.exchange import outlet

    if output is None or output.name == "-":
        return
    place = Path(output.name).resolve()
    inside = outlet.below(campaign, place)
    if inside is None or not place.is_file():
        return
    if inside.suffix in (".md", ".yaml", ".yml") or {".rolecall", ".git"} & {*inside.parts}:
        if place.read_bytes().startswith(b"```mermaid\nflowchart "):
            return  # an earlier drawing
        remedy = "name another file for the drawing"
        raise StorageError("this is a file of the campaign", path=output.name, remedy=remedy)


@click.command("snapshot")
@secrets_option
@json_option
@click.pass_context
def snapshot_command(ctx: click.Context, secrets: bool, as_json: bool) -> None:
    """The game master's digest: threats, open arcs, promises, who is where and how, who strains against whom.

    About 500 tokens however large the campaign is: what was touched last, what is at hand and what is tied to much
    comes first.
    """
    from rolecall.agents import snapshot

    campaign = reading(ctx)
    shown = snapshot.of(campaign, search_of(campaign), with_secrets=secrets)
    if as_json:
        say_json({"tokens": shown.tokens, "text": shown.text, "sections": shown.sections})
        return
    for line in shown.text.splitlines():
        say(line)
    if not shown.text:
        note("Nothing to tell yet.")
