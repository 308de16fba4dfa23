"""Looking things up while writing: `search` and `read`. Neither ever shows what is secret."""

from __future__ import annotations

from rolecall.campaign import views
from rolecall.campaign.kinds import KINDS
from rolecall.tools.entries import find_entry
from rolecall.tools.toolbox import Seen, Table, ToolType, schema, text

LIMIT = 6  # passages a search returns unless it asks for fewer or more
PAGE = 6000  # characters of an entry a `read` returns

_SEARCHABLE = sorted(KINDS - {"dm", "instruction", "prose", "state"})


def _search(table: Table, arguments: dict) -> str:
    query = arguments["query"]
    kinds = (arguments["kind"],) if arguments.get("kind") else None
    hits = table.search.find(query, kinds=kinds, limit=arguments.get("limit", LIMIT), secrets=False)
    if not hits:
        return "Nothing found. If the story needs it, invent it, and keep it from now on."
    lines = []
    for hit in hits:
        when = f", {hit.turn}" if hit.turn else ""
        lines.append(f"- {hit.name} ({hit.kind}{when}): {' '.join(hit.excerpt.split())}")
        table.seen.append(Seen(hit.path, hit.line, "search", f"the narrator searched for {query!r}", hit.excerpt))
    return "\n".join(lines)


def _read(table: Table, arguments: dict) -> str:
    entry = find_entry(table, arguments["name"])
    whole = views.text(table.campaign.document(entry.path))
    shown = whole[:PAGE]
    table.seen.append(Seen(entry.path, 1, "read", "the narrator read it", shown))
    return (
        shown
        if len(whole) <= PAGE
        else shown + f"\n\n(The first {PAGE} of {len(whole)} characters; search for the rest.)"
    )


SEARCH = ToolType(
    "search",
    "Find what the campaign already knows: people, places, things, rules, past turns. Use it before inventing any.",
    schema(
        ["query"],
        query=text("a name or a few telling words"),
        kind={"type": "string", "enum": _SEARCHABLE, "description": "only this kind"},
        limit={"type": "integer", "minimum": 1, "maximum": 12, "description": f"passages, {LIMIT} unless given"},
    ),
    "read",
    _search,
)
READ = ToolType(
    "read",
    "Read one entry in full by its exact name or alias.",
    schema(["name"], name=text("the entry's name or alias")),
    "read",
    _read,
)
TOOLS = (SEARCH, READ)
