"""What a model says in a call, cleaned, before it may come near a file: one line, no marks that structure a note.

Names are never paths. A line that is to stand in a list loses what would read as a box, a dash, a heading or a turn's
bracket, so that nobody can write a second line, another turn's mark or a link out of the campaign by a value.
"""

from __future__ import annotations

import re

from rolecall.campaign.checklists import Item, find
from rolecall.campaign.journal import turn_number
from rolecall.campaign.text import clean_line, fold
from rolecall.tools.entries import find_entry
from rolecall.tools.ledger import clean_name
from rolecall.tools.toolbox import Table, ToolFault, text

LINE = 300  # characters of a line in one of the DM's lists
NAME = 80
_LEADING = re.compile(r"^(?:[-*+>|=~`_#]+|\[[ xX-]?\]|\d{1,9}[.)](?=\s)|T\d{4,9}\b[:.]?|\s)+")
_BRACKET = re.compile(r"\s*\((?:[^\W\d_]+ )?T\d{4,9}[^()]*\)\s*$")
WHO = text("an entry's exact name", NAME)


def said(given: dict, key: str = "text", limit: int = LINE) -> str:
    """One of the arguments as a line; ToolFault when it says nothing."""
    line = one_line(given.get(key, ""), limit)
    if not any(char.isalnum() for char in line):
        raise ToolFault(f"`{key}` says nothing.")
    return line


def one_line(words: str, limit: int = LINE) -> str:
    """Words as one plain line, without what would read as structure in front of or behind them."""
    line = clean_line(words, 4 * limit)
    while (bare := _BRACKET.sub("", _LEADING.sub("", line))) != line:
        line = bare
    return clean_line(line, limit)


def note(words: str) -> str:
    """Words that are to stand inside a bracket: no brackets, no turn of their own."""
    return clean_line(re.sub(r"\bT\d{4,9}\b", "", re.sub(r"[()\[\]]", "", words)), 120).strip(" ,;")


def one_of(items: tuple[Item, ...], words: str, what: str) -> Item:
    """The one open item that has, or holds, these words; ToolFault, with those that stand, otherwise."""
    standing = tuple(one for one in items if one.open)
    wanted = one_line(words)
    found = find(standing, wanted) if wanted else []
    if len(found) == 1:
        return found[0]
    listed = "; ".join(one.words for one in standing[:12]) or "none"
    raise ToolFault(f"{'More than one' if found else 'No'} {what} has these words. Standing: {listed}.")


def somebody(table: Table, name: str) -> str:
    """A name in its entry's spelling. One that no entry bears is taken as it is, unless it is nearly one that does."""
    bare = clean_name(name)
    try:
        return find_entry(table, bare).name
    except ToolFault as fault:
        if "Near names" in str(fault) or "entries" in str(fault):
            raise
        return bare


def is_standing(items: tuple[Item, ...], words: str) -> bool:
    """Whether an open item says just that."""
    return any(one.open and fold(one.words) == fold(words) for one in items)


def turn_in(given: str) -> int:
    """The number of a turn as a model writes it: `T0042`, `42`; 0 for anything else."""
    bare = given.strip().upper()
    return turn_number(bare) or (int(bare) if bare.isdecimal() and len(bare) < 10 else 0)
