"""`rolecall export`: what the campaign holds, taken to other tools, to a reader, or to a player."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rolecall.cli.shared import Bar, note, reading, search_of, secrets_option

if TYPE_CHECKING:
    from rolecall.campaign.folder import Campaign
    from rolecall.exchange.exporting import Made

FORMATS = ("sillytavern-lorebook", "lorebook-v3", "card-v2", "card-v3", "risuai", "markdown", "epub", "player")


@click.command("export")
@click.argument("format_", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("-o", "output", metavar="PATH", required=True, help="The file to write; `-` for standard output.")
@click.option(
    "--as", "kind", type=click.Choice(("json", "png", "charx")), help="A card as this; else PATH's ending tells."
)
@click.option("--picture", metavar="PNG", type=click.Path(path_type=Path), help="The picture for a card.")
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@secrets_option
@click.pass_context
def export_command(
    ctx: click.Context,
    format_: str,
    names: tuple[str, ...],
    output: str,
    kind: str | None,
    picture: Path | None,
    force: bool,
    secrets: bool,
) -> None:
    """Export lore, a character, the story, or a copy of the campaign for a player. Nothing secret goes out by itself.

    \b
    sillytavern-lorebook   the entries named, or all of them
    lorebook-v3, risuai    the same, as a V3 lorebook or for RisuAI
    card-v2, card-v3       a character; further names are entries for its book
    markdown, epub         the story as a book
    player                 a folder (or .zip) that plays, without secrets

    A NAME is an entry's, or `imports/NAME` for all that came with that import: what you did not change in it goes back
    field for field as it came.
    """
    from rolecall.exchange import outlet
    from rolecall.exchange.exporting import BOOKS, CARDS

    _refuse_usage(format_, names, kind, picture, secrets)
    campaign = reading(ctx)
    to_file = output != "-"
    place = Path(output)
    folder = format_ == "player" and to_file and place.suffix.casefold() != ".zip"
    if to_file:
        outlet.refuse(campaign, place, folder=folder, force=force)
    if format_ == "player":
        _player(campaign, place, folder, to_file, force)
        return
    form = _form(format_, place, to_file, kind, picture) if format_ in CARDS else "json"
    chosen = _chosen(campaign, names, secrets) if format_ in (*BOOKS, *CARDS) else []
    made = _made(campaign, format_, chosen, secrets, form=form, picture=picture)
    if not to_file:
        _to_stdout(made.data, binary=form != "json" or format_ == "epub")
    else:
        outlet.write(place, made.data, force=force)
    note(f"{output if to_file else format_}: {made.what}")
    for line in made.notes:
        note(line)


def _refuse_usage(format_: str, names: tuple[str, ...], kind: str | None, picture: Path | None, secrets: bool) -> None:
    if format_ in ("markdown", "epub", "player") and names:
        raise click.UsageError(f"`{format_}` takes no names: it is the whole of it.")
    if not format_.startswith("card-") and (kind or picture):
        raise click.UsageError("`--as` and `--picture` are for cards.")
    if kind == "json" and picture:
        raise click.UsageError("A card as JSON has no picture.")
    if format_ == "player" and secrets:
        raise click.UsageError("A player's copy has no secrets; copy the folder itself for that.")


def _form(format_: str, place: Path, to_file: bool, kind: str | None, picture: Path | None) -> str:
    """How a card travels (json, png, charx): as is said, else by the file's ending."""
    form = kind or (place.suffix.casefold()[1:] if to_file else "png" if picture else "json")
    if form not in ("json", "png", "charx"):
        raise click.UsageError(f"{place.name} ends in none of .json, .png, .charx; say which with `--as`.")
    if form == "json" and picture:
        raise click.UsageError("A card as JSON has no picture.")
    if form == "charx" and format_ != "card-v3":
        raise click.UsageError("A .charx holds a V3 card: export `card-v3`.")
    return form


def _chosen(campaign: Campaign, names: tuple[str, ...], secrets: bool) -> list[str]:
    """The paths of what is named, and `imports/NAME` as it is."""
    from rolecall.exchange.exporting import is_import
    from rolecall.play import views

    wanted = [name.rstrip("/") for name in names]
    if all(map(is_import, wanted)):
        return wanted
    search = search_of(campaign)
    return [n if is_import(n) else views.find(search, n, with_secrets=secrets).path for n in wanted]


def _made(
    campaign: Campaign, format_: str, chosen: list[str], secrets: bool, *, form: str, picture: Path | None
) -> Made:
    from rolecall.campaign.redaction import players
    from rolecall.exchange import exporting

    seen = campaign if secrets else players(campaign)
    if format_ in exporting.BOOKS:
        with Bar("Reading") as bar:
            return exporting.lorebook(seen, format_, chosen, bar.show)
    if format_ in exporting.CARDS:
        return exporting.card(seen, format_, chosen, form=form, picture=picture)
    return exporting.book(seen, format_)


def _player(campaign: Campaign, place: Path, folder: bool, to_file: bool, force: bool) -> None:
    from rolecall.exchange import outlet, playerscopy

    copy = playerscopy.of(campaign)
    if folder:
        with Bar("Copying") as bar:
            playerscopy.write(copy, place, bar.show)
    elif to_file:
        outlet.write(place, playerscopy.zipped(copy), force=force)
    else:
        _to_stdout(playerscopy.zipped(copy), binary=True)
    note(f"{place if to_file else 'player'}: {len(copy.files):,} files, nothing secret")
    for line in copy.notes:
        note(line)


def _to_stdout(data: bytes, *, binary: bool) -> None:
    if binary and sys.stdout.isatty():
        raise click.UsageError("This is no text for a terminal; name a file, or send it into a pipe.")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
