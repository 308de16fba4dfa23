"""What a field that refers to entries says: the names in it, and what is said of each.

A name stands plain or in double brackets: `Marta`, `[[Marta]]`, `[[characters/marta.md|the landlady]]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rolecall.campaign.frontmatter import Value

_REFERENCE = re.compile(r"\[\[([^\[\]|#^]+)[^\[\]|]*(?:\|([^\[\]]*))?\]\]")


def names_in(text: str) -> list[str]:
    """The names a reference holds: those in double brackets, else the text itself."""
    linked = [_name(found[1]) for found in _REFERENCE.finditer(text)]
    return linked or [" ".join(text.split())] if text.strip() else []


def names_of(value: Value) -> list[str]:
    """The names in a field: of a text, of each item of a list, of the first value of a mapping."""
    if isinstance(value, dict):
        return names_of(next(iter(value.values()), ""))
    if isinstance(value, list):
        return [name for item in value for name in names_of(item)]
    return names_in(value)


def natures(value: Value) -> Iterator[tuple[str, str, dict[str, Value]]]:
    """(name, what is said of it, the item) for each item of a list field such as `relationships`.

    What is said is the item's `nature`, else its first value after the name; empty for an item that is only a name.
    """
    for item in value if isinstance(value, list) else [value]:
        fields = item if isinstance(item, dict) else {}
        rest = [held for held in list(fields.values())[1:] if isinstance(held, str) and held.strip()]
        nature = fields.get("nature")
        said = nature if isinstance(nature, str) and nature.strip() else (rest[0] if rest else "")
        for name in names_of(item):
            yield name, " ".join(said.split()), fields


def plain(text: str) -> str:
    """A text on one line as a reader sees it: a reference by its label or name, without brackets."""
    return " ".join(_REFERENCE.sub(lambda found: found[2] or _name(found[1]), text).split())


def _name(target: str) -> str:
    return " ".join(target.strip().rsplit("/", 1)[-1].removesuffix(".md").split())
