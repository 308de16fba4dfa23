"""What of a campaign goes into a lorebook or a card: its entries in neutral words, imported ones with what they were.

The campaign is read as it is handed in: for a player's export that is a `PlayersCampaign`, in which nothing is secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rolecall.campaign import kinds, views
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign, counts
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.errors import DocumentError, ExchangeError
from rolecall.exchange import held as ways_back
from rolecall.exchange import pages
from rolecall.exchange.book import Entry
from rolecall.exchange.card import Card
from rolecall.exchange.held import Held
from rolecall.exchange.importing import FOLDER, Progress

_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]\n]*)\]\]")


@dataclass(frozen=True, slots=True)
class Item:
    """An entry that goes out. `old` is it as it was imported, `held` the import; None for the campaign's own."""

    path: str
    now: Entry
    old: Entry | None = None
    held: Held | None = None

    @property
    def format(self) -> str:
        """What it was imported from; empty for the campaign's own."""
        return self.held.parcel.format if self.held else ""


@dataclass(frozen=True, slots=True)
class Person:
    """A character that goes out, as `Item` is for an entry, and the import it came with."""

    path: str
    now: Card
    old: Card | None = None
    held: Held | None = None


@dataclass(slots=True)
class Stock:
    """What a campaign has to give, read once: imports by folder, and what each file was imported as."""

    campaign: Campaign
    imports: tuple[Held, ...] = ()
    origins: Mapping[str, tuple[Held, Entry | Card]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def of_import(self, name: str) -> Held:
        """The import in a folder of that name; ExchangeError when there is none that can be read again."""
        wanted = f"{FOLDER}/{name.strip('/').removeprefix(f'{FOLDER}/')}"
        found = next((one for one in self.imports if one.folder == wanted), None)
        if found is None:
            near = ", ".join(one.folder for one in self.imports) or "none"
            raise ExchangeError(f"no import {wanted!r} can be read again", remedy=f"those that can: {near}")
        return found

    def entries_of(self, held: Held) -> list[Item]:
        """The entries of an import that are still there, in its own order."""
        paths = [held.path(entry.at) for book in held.parcel.books for entry in book.entries]
        there = [path for path in paths if path and self.campaign.exists(path)]
        if gone := len(paths) - len(there):  # a secret one is not named
            said = "of its entries is gone or secret, and" if gone == 1 else "of its entries are gone or secret, and"
            self.notes.append(f"{gone:,} {said} left out.")
        return [item for path in there if (item := self.item(path)) is not None]

    def item(self, path: str, document: Document | None = None) -> Item | None:
        """The entry in a file (as it has been read); None where it is gone or secret, with a note where it is broken or empty."""
        held, old = self.origins.get(path, (None, None))
        try:
            if document is None and not self.campaign.exists(path):
                return None
            if isinstance(old, Entry):
                now = ways_back.entry_now(self.campaign, held, old)
                item = Item(path, now, old, held)
            else:
                item = Item(path, entry_of(document or self.campaign.document(path)))
        except DocumentError as error:
            return self._without(path, error.what)
        return item if item.now.text.strip() else self._without(path, "there is no text in it")

    def person(self, path: str) -> Person:
        """The character in a file; an error when it is none."""
        held, old = self.origins.get(path, (None, None))
        document = self.campaign.document(path)
        if isinstance(old, Card):
            return Person(path, ways_back.card_now(self.campaign, held, old), old, held)
        if kinds.kind_of(path, document.fields) != "character":
            raise ExchangeError("this is no character", path=path, remedy="a card is made of a character")
        return Person(path, card_of(document))

    def all_items(self, progress: Progress = lambda done, total: None) -> list[Item]:
        """Every entry of the campaign that there is a kind for, in the order of their paths."""
        found = []
        paths = [path for path in Campaign.names(self.campaign) if counts(path)]
        for number, path in enumerate(paths, 1):
            progress(number, len(paths))
            if not self.campaign.exists(path):
                continue  # secret
            try:
                document = self.campaign.document(path)
            except DocumentError as error:
                self._without(path, error.what)
                continue
            if kinds.kind_of(path, document.fields) in ENTRY_KINDS and (item := self.item(path, document)) is not None:
                found.append(item)
        return found

    def _without(self, path: str, why: str) -> None:
        self.notes.append(f"{path} is left out: {why}")


def stock(campaign: Campaign) -> Stock:
    """What there is to export."""
    imports = ways_back.imports(campaign)
    origins: dict[str, tuple[Held, Entry | Card]] = {}
    for held in imports:
        parts: Iterable[Entry | Card] = (*held.parcel.cards, *(e for b in held.parcel.books for e in b.entries))
        origins |= {held.path(part.at): (held, part) for part in parts if held.path(part.at)}
    return Stock(campaign, imports, origins)


def entry_of(document: Document) -> Entry:
    """An entry of the campaign's own: its fields as lines above its text; name, aliases and keys are its keys."""
    fields = document.fields
    name = kinds.name_of(document.path, fields)
    words = [name, *(word for part in ("aliases", "keys") for word in kinds.names_in(fields, part))]
    keys = list(dict.fromkeys(words)) + list(ways_back.listed(document, "keys_regex"))
    text = unlinked(views.text(document, with_secrets=True).partition("\n")[2]).strip()
    return Entry(
        at=document.path,
        title=name,
        text=pages.body_of(text),
        keys=tuple(keys),
        constant=kinds.flag(fields, "pinned"),
        enabled=not document.text("forgotten").strip(),
    )


def card_of(document: Document) -> Card:
    """A character of the campaign's own as a card: texts under the headings an import writes go to their fields, the rest,
    front matter as lines, is the description.
    """
    own = {heading.casefold(): field for field, heading in pages.SECTIONS}
    said: dict[str, list[str]] = {}
    lines = views.text(document, with_secrets=True).split("\n\n", 1)[0].split("\n")[1:]
    rest = ["\n".join(line for line in lines if not line.startswith("personality: "))]
    where = ""
    for section in document.sections:
        text, heading = section.text.strip(), section.heading
        if section.level <= 2:
            where = own.get(heading.casefold(), "") if section.level == 2 else ""
        if where and section.level == 2:
            said[where] = [text]
        elif text:
            shown = f"{'#' * section.level} {heading}\n\n{text}" if section.level else text
            (said[where] if where else rest).append(shown)
    texts = {field: unlinked("\n\n".join(filter(None, parts))) for field, parts in said.items()}
    several = {
        field: tuple(one.strip() for one in ways_back.BETWEEN.split(texts.pop(field, "")) if one.strip())
        for field in ("greetings", "group_greetings")
    }
    texts.setdefault("personality", unlinked(document.text("personality")))
    return Card(
        at=document.path,
        name=kinds.name_of(document.path, document.fields),
        description=unlinked("\n\n".join(filter(None, rest))),
        tags=kinds.names_in(document.fields, "tags"),
        creator=document.text("creator"),
        **several,
        **texts,
    )


def unlinked(text: str) -> str:
    """Text with `[[Sera]]` and `[[sera|the smuggler]]` as the words that are read."""
    return _LINK.sub(r"\1", text)
