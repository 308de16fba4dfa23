"""Values as other programs write them: numbers as text, flags as 0 and 1, lists as one line with commas.

Nothing here raises: what cannot be read as the wanted type is empty, and the source's own value stays beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_TRUE = {"true", "yes", "on", "1"}
_REGEX = re.compile(r"/.+/[a-zA-Z]*", re.S)
# One key of a comma list; a /regular expression/ may hold commas.
_KEY = re.compile(r"\s*(/(?:[^/\\\n]|\\.)+/[a-zA-Z]*(?=\s*(?:,|\Z))|[^,]*)(?:,|\Z)")
MAX_LIST = 1_000_000  # characters of a comma list that are looked at


def text(value: object) -> str:
    """The text a value holds; a list of texts by line; empty for what is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return "\n".join(filter(None, map(text, value)))
    return ""


def flag(value: object, default: bool = False) -> bool:
    """Whether a flag is set, however it is written; the default where it is missing."""
    if isinstance(value, str):
        return value.strip().casefold() in _TRUE
    return bool(value) if isinstance(value, bool | int | float) else default


def number(value: object) -> int | None:
    """A whole number, however it is written; None for what is none."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    try:
        return int(float(value)) if isinstance(value, str | float) else None
    except (ValueError, OverflowError):
        return None


def words(value: object) -> tuple[str, ...]:
    """A list of words: a list as it is, one line split at its commas; what is empty is left out."""
    if isinstance(value, str):
        found = [match[1] for match in _KEY.finditer(value[:MAX_LIST])]
    elif isinstance(value, list):
        found = [text(one) for one in value]
    else:
        found = [text(value)]
    return tuple(stripped for one in found if (stripped := one.strip()))


def put(raw: dict, name: str, keys: Sequence[str]) -> None:
    """Write keys where a source holds them: as one line with commas if it wrote one and no key holds a comma."""
    held = raw.get(name)
    plain = all("," not in key or is_regex(key) for key in keys)
    raw[name] = ", ".join(keys) if isinstance(held, str) and plain else list(keys)


def slashed(key: str) -> str:
    """A regular expression with the slashes that say so."""
    return key if is_regex(key) else f"/{key}/"


def mapping(value: object) -> dict:
    """The object a value is; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def rows(value: object) -> list:
    """The list a value is; an empty one for anything else."""
    return value if isinstance(value, list) else []


def is_regex(key: str) -> bool:
    """Whether a key is a regular expression, written `/like this/i`. It is never compiled."""
    return bool(_REGEX.fullmatch(key))
