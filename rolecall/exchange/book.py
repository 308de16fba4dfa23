"""A lorebook in neutral words: what every program's lorebooks have in common, with the source's own entry beside it.

`raw` is the entry as it was read, every field of it, known or not: an unchanged entry goes back as exactly that. `rules` are
the conditions and places of a prompt that RoleCall has no use for, under one set of names, so that they can go from one
format to another:

    position  before, after, note top, note bottom, depth, examples top, examples bottom, outlet; or the source's word
    role      system, user, assistant
    logic of secondary keys stands in `Entry.logic`: any, all, not any, not all
    order, priority, weight, depth, probability (percent), scan_depth (messages), search_range (characters),
    case_sensitive, whole_words, sticky, cooldown, delay (messages), group, group_override, group_weight, group_scoring,
    exclude_recursion, prevent_recursion, delay_until_recursion, vectorized, ignore_budget, outlet, automation,
    keys_not (keys that must not be there), characters (only with these), sources (what is searched beside the chat)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rolecall.exchange import jsonfile

MAX_ENTRIES = 20_000  # of one file
MAX_TEXT = 2_000_000  # characters of one entry
MAX_KEYS = 300_000  # of one file
POSITIONS = ("before", "after", "note top", "note bottom", "depth", "examples top", "examples bottom", "outlet")
LOGICS = ("any", "not all", "not any", "all")
ROLES = ("system", "user", "assistant")
# What a rule says when nothing was chosen: not worth a word to a person.
USUAL = {
    "position": ("", "before", "after"), "order": (100, 0), "depth": (4, 0), "probability": (100,), "role": ("system", ""),
    "group_weight": (100,), "priority": (0, 10, 100, 400), "search_range": (1000,), "weight": (0,),
    "scan_depth": (0,), "automation": ("",), "group": ("",), "outlet": ("",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `at` says where it stands in its file (`entries/3`); `keys` are as written, `/regular expressions/` too.

    `secondary` keys are asked together with the first ones in the way `logic` says. `folder` is the source's own
    category, if it has any. `regex` says that all keys are regular expressions, slashes or not.
    """

    at: str
    title: str
    text: str
    keys: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    logic: str = ""
    constant: bool = False
    enabled: bool = True
    folder: str = ""
    regex: bool = False
    rules: Mapping[str, object] = field(default_factory=dict, hash=False)
    raw: Mapping[str, object] = field(default_factory=dict, hash=False)

    def odd_rules(self) -> list[str]:
        """The names of rules that say something out of the ordinary."""
        return [name for name, value in self.rules.items() if not _is_usual(name, value)]


@dataclass(frozen=True, slots=True)
class Refused:
    """A part of a file that was set aside: where it stands, what it is called, and why."""

    at: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Book:
    """A lorebook: its entries in the source's order, those set aside, and the source's own object without them."""

    title: str
    description: str = ""
    entries: tuple[Entry, ...] = ()
    refused: tuple[Refused, ...] = ()
    raw: Mapping[str, object] = field(default_factory=dict, hash=False)


def gather(
    rows: Iterable[tuple[str, object]], read: Callable[[str, dict], Entry]
) -> tuple[tuple[Entry, ...], tuple[Refused, ...]]:
    """Every row read as an entry; one that cannot be is refused alone. `rows` are (where it stands, the row)."""
    entries: list[Entry] = []
    refused: list[Refused] = []
    keys = 0
    for number, (at, row) in enumerate(rows):
        why, entry = _fault(row), None
        if not why and number >= MAX_ENTRIES:
            why = f"a file may hold {MAX_ENTRIES:,} entries"
        if not why:
            entry = read(at, row)
            keys += len(entry.keys) + len(entry.secondary)
            why = _fault_of(entry)
            if keys > MAX_KEYS:
                why = f"a file may hold {MAX_KEYS:,} keys"
        if why:
            title = entry.title if entry else _name_in(row)
            refused.append(Refused(at, title, why))
        else:
            entries.append(entry)
    return tuple(entries), tuple(refused)


def rules(raw: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """The rules a source's fields hold, by a table of {neutral name: the source's}; what is missing or null is left out."""
    return {name: raw[own] for name, own in names.items() if raw.get(own) is not None}


def rules_out(entry: Entry, names: Mapping[str, str]) -> dict[str, object]:
    """The rules of an entry under a source's own names: what `rules` reads."""
    return {own: entry.rules[name] for name, own in names.items() if name in entry.rules}


def position_of(entry: Entry) -> int:
    """The number of an entry's position; of one that only its source knows, whether it is before or after."""
    word = entry.rules.get("position")
    if word in POSITIONS:
        return POSITIONS.index(word)
    return int(isinstance(word, str) and word.startswith("after"))


def role_of(entry: Entry) -> int:
    """The number of the role that speaks an entry; 0 (system) where none is said."""
    word = entry.rules.get("role")
    return ROLES.index(word) if word in ROLES else 0


def nth(words: tuple[str, ...], value: object) -> str:
    """The word a number stands for; the value itself where it is a word already."""
    if isinstance(value, int) and 0 <= value < len(words):
        return words[value]
    return value if isinstance(value, str) else ""


def _fault(row: object) -> str:
    if not isinstance(row, dict):
        return "it is no object"
    doubled = jsonfile.twice(row)
    return f"its key `{doubled}` stands there twice, and which one counts is unknown" if doubled else ""


def _fault_of(entry: Entry) -> str:
    if not entry.text.strip():
        return "it has no text"
    return f"its text is longer than {MAX_TEXT:,} characters" if len(entry.text) > MAX_TEXT else ""


def _name_in(row: object) -> str:
    for key in ("comment", "name", "displayName", "title") if isinstance(row, dict) else ():
        if isinstance(row.get(key), str):
            return row[key]
    return ""


def _is_usual(name: str, value: object) -> bool:
    if name in ("position", "order"):  # where in a prompt, and in which order: told once for a whole book
        return True
    return value in (None, False, [], {}) or value in USUAL.get(name, ())
