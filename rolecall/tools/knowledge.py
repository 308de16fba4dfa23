"""Looking things up: `search`, `read` and `look_back`. What is secret is shown to the DM alone, and noted as seen."""

from __future__ import annotations

from rolecall.campaign import story, views
from rolecall.campaign.kinds import KINDS
from rolecall.campaign.text import clean_line
from rolecall.tools.entries import find_entry
from rolecall.tools.saying import turn_in
from rolecall.tools.toolbox import DM, Seen, Table, ToolFault, ToolType, schema, text

LIMIT = 6  # passages a search returns unless it asks for fewer or more
PAGE = 6000  # characters of an entry a `read` returns

_SEARCHABLE = sorted(KINDS - {"dm", "instruction", "prose", "state"})


def _search(table: Table, arguments: dict) -> str:
    query = arguments["query"]
    kinds = (arguments["kind"],) if arguments.get("kind") else None
    hits = table.search.find(query, kinds=kinds, limit=arguments.get("limit", LIMIT), secrets=table.secrets)
    if not hits:
        return "Nothing found. If the story needs it, invent it, and keep it from now on."
    lines = []
    for hit in hits:
        when = f", {hit.turn}" if hit.turn else ""
        lines.append(f"- {hit.name} ({hit.kind}{when}): {' '.join(hit.excerpt.split())}")
        table.seen.append(Seen(hit.path, hit.line, "search", f"{_layer(table)} searched for {query!r}", hit.excerpt))
    return "\n".join(lines)


def _read(table: Table, arguments: dict) -> str:
    entry = find_entry(table, arguments["name"])
    whole = views.told(table.campaign, entry.path, with_secrets=table.secrets)
    shown = clip(whole)
    table.seen.append(Seen(entry.path, 1, "read", f"{_layer(table)} read it", shown))
    return shown


def _layer(table: Table) -> str:
    return "the DM" if table.layer == DM else "the narrator"


def _look_back(table: Table, arguments: dict) -> str:
    wanted = turn_in(arguments["turn"])
    for _, path in reversed(story.chapters(table.campaign)) if wanted else ():
        for told in story.turns_of(table.campaign.document(path)):
            if told.turn == wanted:
                shown = clip(f"> {told.action}\n\n{told.prose}" if told.action else told.prose)
                table.seen.append(Seen(path, told.line, "look_back", f"{_layer(table)} looked back", shown))
                return shown
    raise ToolFault(f"The story tells no turn {clean_line(arguments['turn'], 20)!r}; give one as `T0012`.")


def clip(whole: str) -> str:
    """As much of a text as one look-up shows."""
    if len(whole) <= PAGE:
        return whole
    return whole[:PAGE] + f"\n\n(The first {PAGE} of {len(whole)} characters; search for the rest.)"


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
LOOK_BACK = ToolType(
    "look_back",
    "Read a past turn word for word.",
    schema(["turn"], turn=text("its number, as T0012", 20)),
    "read",
    _look_back,
)
TOOLS = (SEARCH, READ, LOOK_BACK)
