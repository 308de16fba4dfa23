"""Entries by their names, and the dated line that is added to one. A write needs an exact name, never a near one."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.campaign import documents, proposals
from rolecall.campaign import kinds as kinds_
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect
from rolecall.campaign.text import clean_line
from rolecall.search.catalogue import Entry
from rolecall.tools.toolbox import Table, ToolFault, ToolType, patiently, schema, text

_NOT_ENTRIES = {"story", "chronicle", "state", "dm"}


def find_entry(table: Table, name: str, *, kinds: tuple[str, ...] = ()) -> Entry:
    """The one entry that goes by a name or alias; ToolFault, with near names, when there is none or are several.

    What is withheld or forgotten does not exist for a model, and what is secret only for the DM.
    """
    wanted = name.strip().removeprefix("[[").removesuffix("]]").split("|")[0]
    borne = map(table.search.catalogue.get, table.search.ties.named(wanted))
    found = [e for e in borne if not e.withheld and (table.secrets or not e.secret)]
    found = [e for e in found if e.kind in kinds] if kinds else [e for e in found if e.kind not in _NOT_ENTRIES]
    if len(found) == 1:
        return found[0]
    if found:
        raise ToolFault(f"{wanted!r} is the name of {len(found)} entries: {', '.join(e.path for e in found)}.")
    near = table.search.suggestions(wanted, secrets=table.secrets)[:5]
    hint = f" Near names: {', '.join(near)}." if near else " Use `search` to find what there is."
    raise ToolFault(f"No entry is named {wanted!r}.{hint}")


def document_of(table: Table, entry: Entry) -> Document:
    """The entry as its file stands, with a moment's patience for an editor that is just saving it."""
    return documents.parse(patiently(table.campaign, entry.path), entry.path)


def refuse_locked(table: Table, entry: Entry) -> None:
    """ToolFault for an entry the writer marked `locked: true`: models write nothing there."""
    if kinds_.flag(document_of(table, entry).fields, "locked"):
        raise ToolFault(f"{entry.name} is locked by the writer; nothing was written.")


def propose(table: Table, about: str, effects: Sequence[Effect], line: str) -> str:
    """Leave a change to the writer, as a proposal; ToolFault when it lies there already, or was dropped."""
    root = table.campaign.root
    state = proposals.known(root, effects)
    number = proposals.next_number(root) + sum(e.op == "proposal" for e in table.effects)
    made = proposals.of(number, effects, f"{about}: {line}")
    if state or any(proposals.same(made, effect) for effect in table.effects):
        end = " and dropped." if state == proposals.DROPPED else "."
        raise ToolFault(f"{about} is the writer's to change; that was proposed already{end}")
    table.effects.append(made)
    return f"{about} is locked by the writer; the change was proposed."


def _append_history(table: Table, arguments: dict) -> str:
    entry = find_entry(table, arguments["entry"])
    line = clean_line(arguments["text"])
    if not line:
        raise ToolFault("The line says nothing.")
    effect = Effect("history", entry.path, table.turn, line)
    if kinds_.flag(document_of(table, entry).fields, "locked"):
        return propose(table, entry.name, [effect], line)
    table.effects.append(effect)
    return f"Noted for {entry.name}."


APPEND_HISTORY = ToolType(
    "append_history",
    "Add one dated line to an entry's History: something that is true of it from now on.",
    schema(["entry", "text"], entry=text("the entry's exact name or alias"), text=text("one sentence", 500)),
    "mutation",
    _append_history,
)
TOOLS = (APPEND_HISTORY,)
