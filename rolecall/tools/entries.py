"""Entries by their names, and the dated line that is added to one. A write needs an exact name, never a near one."""

from __future__ import annotations

from rolecall.campaign import kinds as kinds_
from rolecall.campaign.effects import Effect
from rolecall.campaign.text import clean_line
from rolecall.search.catalogue import Entry
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema, text

_NOT_ENTRIES = {"story", "chronicle", "state", "dm"}


def find_entry(table: Table, name: str, *, kinds: tuple[str, ...] = ()) -> Entry:
    """The one entry that goes by a name or alias; ToolFault, with near names, when there is none or are several.

    What is secret, withheld or forgotten does not exist for a model.
    """
    wanted = name.strip().removeprefix("[[").removesuffix("]]").split("|")[0]
    found = [e for e in map(table.search.catalogue.get, table.search.ties.named(wanted)) if not (e.secret or e.withheld)]
    found = [e for e in found if e.kind in kinds] if kinds else [e for e in found if e.kind not in _NOT_ENTRIES]
    if len(found) == 1:
        return found[0]
    if found:
        raise ToolFault(f"{wanted!r} is the name of {len(found)} entries: {', '.join(e.path for e in found)}.")
    near = table.search.suggestions(wanted)[:5]
    hint = f" Near names: {', '.join(near)}." if near else " Use `search` to find what there is."
    raise ToolFault(f"No entry is named {wanted!r}.{hint}")


def refuse_locked(table: Table, entry: Entry) -> None:
    """ToolFault for an entry the writer marked `locked: true`: models write nothing there."""
    if kinds_.flag(table.campaign.document(entry.path).fields, "locked"):
        raise ToolFault(f"{entry.name} is locked by the writer; nothing was written.")


def _append_history(table: Table, arguments: dict) -> str:
    entry = find_entry(table, arguments["entry"])
    refuse_locked(table, entry)
    line = clean_line(arguments["text"])
    if not line:
        raise ToolFault("The line says nothing.")
    table.effects.append(Effect("history", entry.path, table.turn, line))
    return f"Noted for {entry.name}."


APPEND_HISTORY = ToolType(
    "append_history",
    "Add one dated line to an entry's History: something that is true of it from now on.",
    schema(["entry", "text"], entry=text("the entry's exact name or alias"), text=text("one sentence", 500)),
    "mutation",
    _append_history,
)
TOOLS = (APPEND_HISTORY,)
