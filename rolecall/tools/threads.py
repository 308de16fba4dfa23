"""Story Arcs as the narrator may touch them: one line forward, never an answer."""

from __future__ import annotations

from rolecall.campaign import arcs
from rolecall.campaign.effects import Effect
from rolecall.campaign.text import clean_line
from rolecall.tools.entries import document_of, find_entry, refuse_locked
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema, text


def _move_arc(table: Table, arguments: dict) -> str:
    entry = find_entry(table, arguments["arc"], kinds=("arc", "quest"))
    arc = arcs.read(document_of(table, entry))
    if not arc.open:
        raise ToolFault(f"The arc {arc.name!r} is {arc.status}; it does not move any more.")
    refuse_locked(table, entry)
    if any(e.op == "arc" and e.path == entry.path for e in table.effects):
        raise ToolFault(f"The arc {arc.name!r} has its line for this turn already.")
    line = clean_line(arguments["text"])
    if not line:
        raise ToolFault("The line says nothing.")
    table.effects.append(Effect("arc", entry.path, table.turn, line))
    return f"The arc {arc.name!r} moves on."


MOVE_ARC = ToolType(
    "move_arc",
    "Move an open arc on by one line: what this turn changed in it.",
    schema(
        ["arc", "text"], arc=text("the arc's exact name"), text=text("one sentence, what is known or at stake now", 500)
    ),
    "mutation",
    _move_arc,
)
TOOLS = (MOVE_ARC,)
