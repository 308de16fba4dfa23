"""Story Arcs: open questions. The narrator may move one on by a line; the DM opens, closes and sharpens them."""

from __future__ import annotations

from rolecall.campaign import arcs, kinds
from rolecall.campaign.arcs import Arc
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect
from rolecall.campaign.text import slug
from rolecall.errors import RoleCallError
from rolecall.search.catalogue import Entry
from rolecall.tools.entries import find_entry, refuse_locked
from rolecall.tools.ledger import clean_name
from rolecall.tools.saying import NAME, said
from rolecall.tools.toolbox import Seen, Table, ToolFault, ToolType, schema, text

KINDS = ("arc", "quest")
LINE = 500  # characters of an arc's line


def arcs_of(table: Table) -> list[tuple[Entry, Document]]:
    """The arcs and quests that exist for this layer, by path, each as it stands after what is on the table."""
    found = []
    for entry in table.search.catalogue.of_kinds(*KINDS):
        if not entry.withheld and (table.secrets or not entry.secret):
            try:
                document = table.now(entry.path)
            except RoleCallError:
                continue
            if document is not None:
                found.append((entry, document))
    return found


def _arc(table: Table, name: str, *, open_: bool = True) -> tuple[Entry, Arc]:
    entry = find_entry(table, name, kinds=KINDS)
    refuse_locked(table, entry)
    arc = arcs.read(table.now(entry.path))
    if arc.open != open_:
        raise ToolFault(f"The arc {arc.name!r} is {arc.status}" + ("; it does not move any more." if open_ else "."))
    return entry, arc


def _line(table: Table, entry: Entry, line: str) -> Effect:
    if any(e.op == "arc" and e.path == entry.path for e in table.effects):
        raise ToolFault(f"The arc {entry.name!r} has its line for this turn already.")
    return Effect("arc", entry.path, table.turn, line)


def _move(table: Table, given: dict) -> str:
    entry, arc = _arc(table, given["arc"])
    table.put(_line(table, entry, said(given, limit=LINE)))
    return f"The arc {arc.name!r} moves on."


def _open(table: Table, given: dict) -> str:
    name = clean_name(given["name"])
    bearers = [p for p in table.search.ties.named(name) if table.search.catalogue[p].kind in KINDS]
    if bearers or any(e.op == "arc_opened" and e.key.casefold() == name.casefold() for e in table.effects):
        raise ToolFault(f"An arc of the name {name!r} is there already; use `move_arc` or `reopen_arc`.")
    facts = {key: said(given, key, LINE) for key in ("question", "stakes", "truth") if given.get(key)}
    stem, number = slug(name, "arc"), 1
    path = f"{arcs.FOLDER}/{stem}.md"
    while table.campaign.exists(path) or any(e.path == path for e in table.effects):
        number += 1
        path = f"{arcs.FOLDER}/{stem}-{number}.md"
    first = said(given, limit=LINE) if given.get("text") else ""
    table.put(Effect("arc_opened", path, table.turn, first, key=name, facts=facts))
    return f"The arc {name!r} is open."


def _close(table: Table, given: dict) -> str:
    entry, arc = _arc(table, given["arc"])
    how = given.get("how", "resolved")
    line = _line(table, entry, said(given, limit=LINE))
    table.put(line, table.replacing(entry.path, kinds.STATUS, how, reason="the arc was closed"))
    return f"The arc {arc.name!r} is {how}."


def _reopen(table: Table, given: dict) -> str:
    entry, arc = _arc(table, given["arc"], open_=False)
    line = _line(table, entry, said(given, limit=LINE))
    table.put(line, table.replacing(entry.path, kinds.STATUS, "open", reason="the arc was opened again"))
    return f"The arc {arc.name!r} is open again."


def _raise(table: Table, given: dict) -> str:
    entry, arc = _arc(table, given["arc"])
    stakes = said(given, "stakes", LINE)
    before = f" (before: {arc.stakes})" if arc.stakes else ""
    table.put(
        _line(table, entry, f"The stakes rise: {stakes}{before}"),
        table.replacing(entry.path, "stakes", stakes, reason="the stakes rose"),
    )
    return f"At stake in {arc.name!r} now: {stakes}"


def _list(table: Table, given: dict) -> str:
    lines = []
    for entry, document in arcs_of(table):
        arc = arcs.read(document)
        if not arc.open:
            continue
        parts = [arc.name, arc.question, f"at stake: {arc.stakes}" if arc.stakes else "", arc.stage, arc.latest]
        if table.secrets and (truth := document.text("truth")):
            parts.append(f"hidden: {truth}")
            table.seen.append(Seen(entry.path, 1, "arcs", "its truth was looked up", truth))
        lines.append("- " + " · ".join(part for part in parts if part))
    return "\n".join(lines) or "No arc is open."


_ARC = text("the arc's exact name", NAME)

MOVE_ARC = ToolType(
    "move_arc",
    "Move an open arc on by one line: what this turn changed in it.",
    schema(["arc", "text"], arc=_ARC, text=text("one sentence, what is known or at stake now", LINE)),
    "mutation",
    _move,
)
OPEN_ARC = ToolType(
    "open_arc",
    "Open an arc: a question that the story will take long to answer.",
    schema(
        ["name", "question"],
        name=text("a short name", NAME),
        question=text("the question", LINE),
        stakes=text("what hangs on it", LINE),
        truth=text("the answer, which only you know", LINE),
        text=text("how it begins, in a sentence", LINE),
    ),
    "mutation",
    _open,
)
CLOSE_ARC = ToolType(
    "close_arc",
    "Close an arc whose question the story has answered, or will not answer any more.",
    schema(
        ["arc", "text"],
        arc=_ARC,
        text=text("how it ended, in a sentence", LINE),
        how={"type": "string", "enum": ["resolved", "failed", "abandoned"]},
    ),
    "mutation",
    _close,
)
REOPEN_ARC = ToolType(
    "reopen_arc",
    "Open a closed arc again.",
    schema(["arc", "text"], arc=_ARC, text=text("what opens it, in a sentence", LINE)),
    "mutation",
    _reopen,
)
RAISE_STAKES = ToolType(
    "raise_stakes",
    "Put more at stake in an open arc.",
    schema(["arc", "stakes"], arc=_ARC, stakes=text("what hangs on it now", LINE)),
    "mutation",
    _raise,
)
LIST_ARCS = ToolType("list_arcs", "The open arcs with question, stakes and latest line.", schema(), "read", _list)
TOOLS = (MOVE_ARC, OPEN_ARC, CLOSE_ARC, REOPEN_ARC, RAISE_STAKES, LIST_ARCS)
