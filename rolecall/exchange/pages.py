"""What is made of an entry or a character: a Markdown file with front matter. Pure.

Front matter holds what RoleCall uses and a person wants to read: name, kind, aliases, keys, pinned, where it is from. A text
stays word for word, macros such as `{{char}}` and HTML included: they are data (`campaign/macros.py` reads them). Only what no file should hold is taken
out (control characters, terminal escapes, lone surrogates), and that is said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rolecall.campaign.documents import parse
from rolecall.campaign.frontmatter import flow, scalar
from rolecall.campaign.macros import CARD
from rolecall.campaign.text import blemishes, clean, clean_line, fold
from rolecall.errors import ExchangeError, Malformed
from rolecall.exchange import loose, sorting
from rolecall.exchange.book import Entry
from rolecall.exchange.card import Card

MAX_KEYS = 200  # in front matter; with more of them nobody would read it
MAX_KEY = 200  # characters
MAX_NAME = 160  # characters
OFF = "switched off where it comes from"
SECTIONS = (
    ("personality", "Personality"), ("scenario", "Scenario"), ("first_message", "First message"),
    ("greetings", "Other greetings"), ("group_greetings", "Greetings in a group"), ("examples", "Example dialogue"),
)  # fmt: skip
_MACRO = re.compile(r"\{\{[^{}\n]{1,80}\}\}|<(?:USER|BOT|user|char)>")
_BEFORE_PATTERN = re.compile(r"[^|#()\[\]{}*+?^$\\\\]+")
_SURE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[ '-][A-Za-z0-9]+)*")
_FLAGS = {"pinned"}  # written bare: `true`
_TYPED = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


@dataclass(frozen=True, slots=True)
class Page:
    """A file to be made, but for its place: kind, name, fields and body; `at` says which part of the source it is.

    `notes` are sentences for the receipt; `fields` are in the order in which they are written.
    """

    at: str
    kind: str
    name: str
    fields: dict[str, str | list[str]]
    body: str
    notes: tuple[str, ...] = ()

    def of_card_named(self, name: str) -> Page:
        """The page with the name of the card it came with, whom its text calls `{{char}}`."""
        return replace(self, fields={**self.fields, CARD: clean_line(name, MAX_NAME) or "Unnamed"})

    def data(self, path: str, source: str) -> bytes:
        """The bytes of the file; `source` is what its `source` field says."""
        fields = {**self.fields, "source": clean_line(source, 300)}
        lines = ["---"]
        for key, value in fields.items():
            if isinstance(value, str):
                lines.append(f"{key}: {value if key in _FLAGS else _plain(value)}")
            else:
                lines += [f"{key}:", *(f"  - {_plain(item)}" for item in value)]
        body = self.body if not self.body or self.body.endswith("\n") else self.body + "\n"
        data = ("\n".join([*lines, "---", ""]) + body).encode("utf-8", "replace")
        try:
            kept = parse(data, path).fields == fields
        except Malformed:
            kept = False
        if not kept:
            raise ExchangeError("the names in it cannot be written as front matter", path=path)
        return data


def of_entry(entry: Entry, number: int, lonely: set[str], pinned: bool, taken: set[str]) -> Page:
    """The page of a lorebook's entry. `lonely` are the keys that no other entry has, `taken` names that others bear."""
    name = title_of(entry, number)
    kind = sorting.kind_of(name, entry.text, entry.folder)
    aliases, keys, patterns, left = keys_of(entry, name, kind, lonely, taken)
    fields: dict[str, str | list[str]] = {"name": name, "kind": kind}
    fields |= {key: value for key, value in (("aliases", aliases), ("keys", keys), ("keys_regex", patterns)) if value}
    if entry.logic:
        fields["keys_when"] = clean_line(f"{entry.logic} of: {', '.join(entry.secondary)}")
    if folder := clean_line(entry.folder, MAX_KEY):
        fields["tags"] = [folder]
    if pinned:
        fields["pinned"] = "true"
    if not entry.enabled:
        fields["forgotten"] = OFF
    notes = [f"{left:,} of its keys stand in `entries.json` only"] if left else []
    return Page(entry.at, kind, name, fields, body_of(entry.text), (*notes, *_cleaned(entry.title, entry.text)))


def of_card(card: Card, taken: set[str]) -> Page:
    """The page of a character: the description, then a section for each other text that it has."""
    name = clean_line(card.name, MAX_NAME) or "Unnamed"
    fields: dict[str, str | list[str]] = {"name": name, "kind": "character"}
    nickname = clean_line(card.nickname, MAX_NAME)
    if nickname and fold(nickname) != fold(name) and fold(nickname) not in taken:
        fields["aliases"] = [nickname]
    if tags := [tag for one in card.tags[:MAX_KEYS] if (tag := clean_line(one, MAX_KEY))]:
        fields["tags"] = tags
    if card.is_player:
        fields["role"] = "the player's character"
    if creator := clean_line(card.creator, MAX_KEY):
        fields["creator"] = creator
    parts = [body_of(card.description)] if card.description.strip() else []
    if card.attributes:
        told = "\n".join(
            f"- {clean_line(label, MAX_KEY)}: {clean_line(text, 20_000)}" for label, text in card.attributes
        )
        parts.append(f"## Attributes\n\n{told}")
    for field, heading in SECTIONS:
        if text := body_of(joined(getattr(card, field))):
            parts.append(f"## {heading}\n\n{text}")
    body = "\n\n".join(part.strip("\n") for part in parts)
    texts = (card.name, card.description, card.personality, card.scenario, card.first_message, *card.greetings)
    notes = [f"its {', '.join(card.kept)} stay with the original"] if card.kept else []
    return Page(card.at, "character", name, fields, body, (*notes, *_cleaned(*texts, card.examples)))


def title_of(entry: Entry, number: int) -> str:
    """An entry's name: its title, else its first key, else the beginning of its text, else its number.

    A title that is only the keys in a row, as some programs make one, gives its first; so does a key that is a pattern of
    several words (`Varr|the captain#[t=5]`).
    """
    row = [part.strip() for part in entry.title.split(",")]
    listed = len(row) > 1 and {fold(part) for part in row} <= {fold(key) for key in entry.keys}
    first = _BEFORE_PATTERN.match(entry.keys[0]) if entry.keys and not loose.is_regex(entry.keys[0]) else None
    for said in (row[0] if listed else entry.title, first[0] if first else ""):
        if name := clean_line(said, MAX_NAME):
            return name
    return clean_line(entry.text[:400].lstrip("[({<*#- \n"), 48) or f"Entry {number}"


def body_of(text: str) -> str:
    """A text as it stands in a file: cleaned, without blank space at its end; an import and an export agree on it."""
    return clean(text).rstrip()


def macros(text: str) -> int:
    """How many macros a text holds."""
    return len(_MACRO.findall(text))


def keys_of(
    entry: Entry, name: str, kind: str, lonely: set[str], taken: set[str]
) -> tuple[list[str], list[str], list[str], int]:
    """(aliases, keys, regular expressions, how many are too many or too long) of an entry."""
    aliases: list[str] = []
    keys: list[str] = []
    patterns: list[str] = []
    seen, left = {fold(name)}, 0
    for key in entry.keys:
        line = clean_line(key, MAX_KEY + 1)
        folded = fold(line)
        if not line or folded in seen:
            continue
        seen.add(folded)
        if len(line) > MAX_KEY or len(aliases) + len(keys) + len(patterns) >= MAX_KEYS:
            left += 1
        elif entry.regex or loose.is_regex(key):
            patterns.append(line)
        elif (
            len(aliases) < sorting.MAX_ALIASES
            and folded in lonely
            and folded not in taken
            and sorting.is_name(line, name, entry.text, kind)
        ):
            aliases.append(line)
        else:
            keys.append(line)
    return aliases, keys, patterns, left


def joined(value: str | tuple[str, ...]) -> str:
    """One text; several with a rule between them."""
    return value if isinstance(value, str) else "\n\n***\n\n".join(one.strip() for one in value)


def _cleaned(*texts: str) -> list[str]:
    found = list(dict.fromkeys(word for text in texts for word in blemishes(text)))
    return [f"taken out of its text: {', '.join(found)}"] if found else []


def _plain(value: str) -> str:
    """A value on one line; plain words need not ask the YAML parser."""
    if _SURE.fullmatch(value) and value.casefold() not in _TYPED:
        return value
    return flow(value) if value else scalar(value)
