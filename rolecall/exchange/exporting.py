"""What an export is made of, for each format: the bytes, and what is to be said about them. Nothing is written here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rolecall.campaign import story
from rolecall.campaign.folder import Campaign
from rolecall.errors import ExchangeError
from rolecall.exchange import (
    bookmaking,
    cardmaking,
    characterbook,
    charx,
    formats,
    png,
    risu,
    selection,
    storybook,
    worldinfo,
)
from rolecall.exchange.held import Held
from rolecall.exchange.importing import FOLDER, Progress
from rolecall.exchange.selection import Item, Person, Stock

BOOKS = {"sillytavern-lorebook": worldinfo, "lorebook-v3": characterbook, "risuai": risu}
CARDS = {"card-v2": 2, "card-v3": 3}
STORIES = ("markdown", "epub")
PLAYER = "player"
FORMATS = (*BOOKS, *CARDS, *STORIES, PLAYER)


@dataclass(frozen=True, slots=True)
class Made:
    """An export: its bytes, in a few words what is in it, and sentences about what is not."""

    data: bytes
    what: str
    notes: tuple[str, ...] = ()


def is_import(name: str) -> bool:
    """Whether a name is that of an import (`imports/eldoria`) and not an entry's."""
    return name.startswith(f"{FOLDER}/")


def lorebook(
    campaign: Campaign, format_: str, chosen: Sequence[str], progress: Progress = lambda done, total: None
) -> Made:
    """A lorebook of what is chosen, paths of entries and `imports/NAME`; of every entry when nothing is."""
    module, stock = BOOKS[format_], selection.stock(campaign)
    imports = [stock.of_import(name) for name in chosen if is_import(name)]
    items = _items(stock, chosen) if chosen else stock.all_items(progress)
    if not items:
        why = f" ({stock.notes[0]})" if stock.notes else ""
        raise ExchangeError(f"there is nothing to export{why}", remedy="`rolecall list` shows the entries")
    if len(imports) == 1 and bookmaking.is_book_of(imports[0], module):
        whole = bookmaking.original(campaign, imports[0])
        mine = {item.path for item in stock.entries_of(imports[0])}
        bookmaking.over(whole, imports[0], [item for item in items if item.path in mine], module)
        if module is characterbook:
            whole = characterbook.as_v3(whole)
        more = [item for item in items if item.path not in mine]
        if more:
            bookmaking.add(_rows_of(whole, module), bookmaking.rows(more, module), module)
            whole.pop("originalData", None)
    elif module is worldinfo:
        title = imports[0].parcel.title if len(imports) == 1 else campaign.settings.name or campaign.root.name
        whole = bookmaking.world(title, items)
    elif module is characterbook:
        whole = bookmaking.v3_book(_said_of_itself(campaign, imports), items)
    else:
        whole = bookmaking.risu_book(campaign, items)
    notes = (*dict.fromkeys(stock.notes), *bookmaking.losses(items, module))
    count = sum(item.now.enabled or module is not risu for item in items)
    return Made(cardmaking.encoded(whole), _count(count, "entry", "entries"), notes)


def card(campaign: Campaign, format_: str, chosen: Sequence[str], *, form: str, picture: Path | None) -> Made:
    """A character card: the first of what is chosen is the character, the others are entries for its book.

    Without a choice it is the one card that was imported. `form` is `json`, `png` (in `picture` or another) or `charx`.
    """
    stock, version = selection.stock(campaign), CARDS[format_]
    path = _character(stock, chosen)
    person = stock.person(path)
    items = stock.entries_of(person.held) if person.held and len(person.held.parcel.cards) == 1 else []
    mine = {path, *(item.path for item in items)}
    more = [item for item in _items(stock, chosen[1:]) if item.path not in mine]
    whole = cardmaking.value(campaign, person, items, more, version)
    count = len(items) + len(more)
    what = f"{person.now.name}, V{version}" + (f", with {_count(count, 'entry', 'entries')}" if count else "")
    notes = list(dict.fromkeys(stock.notes))
    if form == "charx":
        return _charx(campaign, person, whole, picture, what, notes)
    if person.held and " in a PNG" not in person.held.parcel.format and _has_assets(whole):
        notes.append("Its list of pictures and sounds is kept; they themselves stay in the original.")
    if form == "json":
        return Made(cardmaking.encoded(whole), what, tuple(notes))
    if picture is None:
        data, said = cardmaking.picture_of(campaign, person)
        what += f", in {said}"
    else:
        data = _named_picture(picture)
    return Made(cardmaking.in_png(whole, data, picture or format_, version), what, tuple(notes))


def _charx(campaign: Campaign, person: Person, whole: dict, picture: Path | None, what: str, notes: list[str]) -> Made:
    """A card in a zip, with what lay beside it in the zip it came in; a picture that is named, or that it came in, is its icon."""
    source = bookmaking.source(campaign, person.held) if person.held else b""
    icon = _named_picture(picture) if picture else source if source.startswith(png.SIGNATURE) else b""
    data, left = charx.packed(whole, source, icon)
    return Made(data, f"{what}, in a .charx", (*notes, *left))


def _named_picture(picture: Path) -> bytes:
    data = formats.contents(picture)
    if not data.startswith(png.SIGNATURE):
        raise ExchangeError("the picture is no PNG", path=picture, remedy="a card travels with a PNG: convert it first")
    return data


def book(campaign: Campaign, format_: str) -> Made:
    """The story, as Markdown or EPUB."""
    read = storybook.of(campaign)
    what = _count(len(read.chapters), "chapter", "chapters")
    if format_ == "markdown":
        return Made(storybook.markdown(read).encode("utf-8", "replace"), what)
    from rolecall.exchange import epub

    newest = max(os.stat(campaign.root / path).st_mtime for _, path in story.chapters(campaign))
    return Made(epub.made(read, datetime.fromtimestamp(int(newest), UTC)), what)


def _items(stock: Stock, chosen: Sequence[str]) -> list[Item]:
    found: dict[str, Item] = {}
    for name in chosen:
        there = stock.entries_of(stock.of_import(name)) if is_import(name) else [stock.item(name)]
        found |= {item.path: item for item in there if item is not None and item.path not in found}
    return list(found.values())


def _character(stock: Stock, chosen: Sequence[str]) -> str:
    if chosen and not is_import(chosen[0]):
        return chosen[0]
    imports = [stock.of_import(chosen[0])] if chosen else stock.imports
    paths = [one.path(card.at) for one in imports for card in one.parcel.cards]
    paths = [path for path in paths if path and stock.campaign.exists(path)]
    if len(paths) == 1:
        return paths[0]
    what = "which character it shall be is not said" if paths or not chosen else f"{chosen[0]} holds no character"
    raise ExchangeError(what, remedy="name one: `rolecall export card-v2 NAME -o FILE`")


def _said_of_itself(campaign: Campaign, imports: Sequence[Held]) -> dict:
    """What a V3 lorebook says of itself: what the one book said that it is made of, else the campaign's name."""
    books = imports[0].parcel.books if len(imports) == 1 else ()
    if len(books) == 1 and bookmaking.shape_of(imports[0].parcel.format) is characterbook:
        return dict(books[0].raw)
    return {"name": books[0].title if len(books) == 1 else campaign.settings.name or campaign.root.name}


def _rows_of(whole: dict, module: object) -> dict | list:
    if module is worldinfo:
        return whole["entries"]
    if module is characterbook:
        return whole["data"]["entries"]
    return whole["data"] if whole.get("type") == "risu" else whole["module"]["lorebook"]


def _has_assets(whole: dict) -> bool:
    assets = whole["data"].get("assets")
    found = [one.get("uri") for one in assets if isinstance(one, dict)] if isinstance(assets, list) else []
    return any(isinstance(uri, str) and uri.startswith("embeded://") for uri in found)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
