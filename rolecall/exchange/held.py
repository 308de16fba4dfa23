"""What was imported, as the campaign holds it now: the way back to an export.

The original is read again by the module that read it first; `entries.json` beside it says which part became which file. A
part whose file is as it was made is unchanged, and goes back as its own `raw`, field for field. Of a file that was changed
only what differs counts: `changed` names it. Text that the game has added under headings of its own (`## History`) is the
campaign's, not the card's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from rolecall.campaign import files, kinds, records
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.text import clean_line, fold
from rolecall.errors import CampaignError, ExchangeError
from rolecall.exchange import formats, pages
from rolecall.exchange.book import Entry
from rolecall.exchange.card import Card, Parcel
from rolecall.exchange.importing import FOLDER, MAP

BETWEEN = re.compile(r"\n+\*\*\*\n+")
_HEADING = re.compile(r"^## (.+?)[ \t]*$", re.M)


@dataclass(frozen=True, slots=True)
class Held:
    """One import: its folder, the original's path, what the original holds, and the row of `entries.json` for each part."""

    folder: str
    original: str
    parcel: Parcel
    rows: Mapping[str, dict] = field(default_factory=dict, hash=False)

    def path(self, at: str) -> str:
        """The campaign file that a part became; empty for one that was set aside."""
        return str(self.rows.get(at, {}).get("path", ""))


def imports(campaign: Campaign) -> tuple[Held, ...]:
    """Every import of a file whose original and map can be read again, by folder. Folders of Markdown have no way back."""
    found = []
    place = campaign.root / FOLDER
    for name in sorted(p.name for p in place.iterdir()) if place.is_dir() else []:
        if (held := _held(campaign, f"{FOLDER}/{name}")) is not None:
            found.append(held)
    return tuple(found)


def entry_now(campaign: Campaign, held: Held, entry: Entry) -> Entry | None:
    """An imported entry with what was changed in its file; itself where nothing was; None where the file is gone."""
    document = _document(campaign, held, entry.at)
    if document is None or files.sha256(document.data) == held.rows[entry.at].get("sha256"):
        return entry if document is not None else None
    row = held.rows[entry.at]
    new: dict[str, object] = {}
    name = clean_line(kinds.name_of(document.path, document.fields), pages.MAX_NAME)
    if name != row.get("name"):
        new["title"] = name
    text = pages.body_of(document.body.decode("utf-8", "replace"))
    if text != pages.body_of(entry.text):
        new["text"] = text
    if (keys := _keys_now(document, entry, str(row.get("name", "")))) != entry.keys:
        new["keys"] = keys
    pinned = kinds.flag(document.fields, "pinned")
    if pinned != bool(row.get("pinned")):
        new["constant"] = pinned
    if (not document.text("forgotten").strip()) != entry.enabled:
        new["enabled"] = not entry.enabled
    return replace(entry, **new) if new else entry


def card_now(campaign: Campaign, held: Held, card: Card) -> Card | None:
    """An imported character with what was changed in its file; itself where nothing was; None where the file is gone."""
    document = _document(campaign, held, card.at)
    if document is None or files.sha256(document.data) == held.rows[card.at].get("sha256"):
        return card if document is not None else None
    new: dict[str, object] = {}
    name = clean_line(kinds.name_of(document.path, document.fields), pages.MAX_NAME)
    if name != held.rows[card.at].get("name"):
        new["name"] = name
    parts = _parts(document.body.decode("utf-8", "replace").replace("\r\n", "\n"))
    for own, heading in (("description", ""), *pages.SECTIONS):
        old = getattr(card, own)
        said = parts.get(heading, "").strip()
        if said != pages.body_of(pages.joined(old)).strip():
            several = tuple(one.strip() for one in BETWEEN.split(said) if one.strip())
            new[own] = several if isinstance(old, tuple) else said
    tags = tuple(kinds.names_in(document.fields, "tags"))
    if [fold(tag) for tag in tags] != [fold(clean_line(tag, pages.MAX_KEY)) for tag in card.tags if tag.strip()]:
        new["tags"] = tags
    return replace(card, **new) if new else card


def changed(old: Entry | Card, new: Entry | Card) -> frozenset[str]:
    """The names of the fields that differ."""
    return frozenset(one.name for one in fields(old) if getattr(old, one.name) != getattr(new, one.name))


def _held(campaign: Campaign, folder: str) -> Held | None:
    try:
        told = json.loads(records.plain(campaign.root, f"{folder}/{MAP}") or b"{}")
        original = f"{folder}/{told['original'][0]}"
        if len(told["original"]) != 1 or "/" in told["original"][0] or not campaign.exists(original):
            return None
        place = files.locate(campaign.root, original)
        parcel = formats.load(place)[1]
        rows = {row["at"]: row for row in told["made"]}
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, ExchangeError, CampaignError):
        return None  # a folder of notes, or one that somebody has changed
    return Held(folder, original, replace(parcel, title=str(told.get("title") or parcel.title)), rows)


def _document(campaign: Campaign, held: Held, at: str) -> Document | None:
    path = held.path(at)
    return campaign.document(path) if path and campaign.exists(path) else None


def _keys_now(document: Document, entry: Entry, name: str) -> tuple[str, ...]:
    """The entry's keys without those that were taken out of its file, and with those that were put in."""
    now = [key for part in ("aliases", "keys", "keys_regex") for key in listed(document, part)]
    aliases, keys, patterns, _ = pages.keys_of(entry, name, "lore", set(), set())
    shown = {fold(key) for key in (*aliases, *keys, *patterns)}
    standing = {fold(key) for key in now}
    gone = shown - standing
    kept = [key for key in entry.keys if fold(clean_line(key, pages.MAX_KEY + 1)) not in gone]
    return (*kept, *(key for key in now if fold(key) not in shown))


def listed(document: Document, key: str) -> tuple[str, ...]:
    """A list field's texts, each whole: a regular expression may hold a comma."""
    value = document.fields.get(key, "")
    if isinstance(value, str):
        return (value,) if value.strip() and key == "keys_regex" else kinds.names_in(document.fields, key)
    return tuple(" ".join(item.split()) for item in value if isinstance(item, str) and item.strip())


def _parts(body: str) -> dict[str, str]:
    """The text under each of the headings an import writes, the text above them under none. Other headings are left out
    where they stand behind one of those; above them they belong to the description.
    """
    ours = {heading for _, heading in pages.SECTIONS} | {"Attributes"}
    marks = list(_HEADING.finditer(body))
    first = next((number for number, mark in enumerate(marks) if mark[1] in ours or mark[1] == "History"), len(marks))
    found = {"": body[: marks[first].start()] if first < len(marks) else body}
    last = ""
    for number, mark in enumerate(marks[first:], first):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(body)
        if mark[1] in ours and mark[1] not in found:
            last = mark[1]
            found[last] = body[mark.end() : end]
        elif mark[1] in ours or mark[1] == "History":
            last = ""
        elif last:
            found[last] += body[mark.start() : end]
    return found
