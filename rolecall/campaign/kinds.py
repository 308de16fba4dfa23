"""The kinds of entry: their folders, their fields, and which kind a file is.

A folder is a habit: `kind:` in the front matter wins over it, and a folder of Markdown that RoleCall does not know is lore.
A field's type says how its value is read: `text` one line, `number`, `flag`, `names` a list of names, `name` one name
of another entry, `items` a list of mappings merged by their first key.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from rolecall.campaign.frontmatter import Value

TRUE = {"true", "yes", "on", "1"}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: its folder and its own fields beside `COMMON`."""

    name: str
    folder: str
    fields: dict[str, str]


# What every entry may carry.
COMMON = {
    "name": "text",
    "kind": "text",
    "aliases": "names",
    "keys": "names",
    "tags": "names",
    "pinned": "flag",
    "locked": "flag",
    "forgotten": "text",
    "visibility": "text",
    "source": "text",
    "secret": "text",
    "status": "text",
    "discovered": "text",
}

_KINDS = (
    Kind("character", "characters", {
        "role": "text", "location": "name", "pronouns": "text", "age": "text", "occupation": "text", "appearance": "text",
        "personality": "text", "voice": "text", "goals": "text", "affinity": "number", "hit_points": "text",
        "inventory": "items", "relationships": "items", "organizations": "names", "knows": "names",
    }),
    Kind("location", "locations", {
        "type": "text", "region": "name", "within": "name", "connections": "items", "inhabitants": "names",
        "atmosphere": "text", "owner": "name",
    }),
    Kind("organization", "organizations", {
        "type": "text", "leader": "name", "headquarters": "name", "members": "names", "goals": "text", "allies": "names",
        "enemies": "names", "relationships": "items",
    }),
    Kind("item", "items", {
        "type": "text", "holder": "name", "location": "name", "properties": "text", "origin": "text", "value": "text",
    }),
    Kind("power", "powers", {"type": "text", "source_of_power": "text", "cost": "text", "limits": "text", "wielders": "names"}),
    Kind("creature", "creatures", {
        "type": "text", "habitat": "name", "behaviour": "text", "threat_level": "text", "weakness": "text", "hit_points": "text",
    }),
    Kind("culture", "cultures", {
        "region": "name", "language": "text", "customs": "text", "beliefs": "text", "taboos": "text",
    }),
    Kind("rule", "rules", {"scope": "text", "exceptions": "text"}),
    Kind("event", "events", {
        "date": "text", "location": "name", "participants": "names", "outcome": "text", "causes": "names",
    }),
    Kind("threat", "threats", {
        "type": "text", "target": "name", "agent": "name", "deadline": "text", "severity": "text", "stage": "text",
    }),
    Kind("lore", "lore", {}),
)  # fmt: skip

ENTRY_KINDS: dict[str, Kind] = {kind.name: kind for kind in _KINDS}

ARC_FIELDS = {"question": "text", "stakes": "text", "latest": "text", "truth": "text", "stage": "text"}

# Folders and files that are not entries, and what they are.
_FOLDERS = {
    "chronicles": "chronicle", "arcs": "arc", "story": "story", "dm": "dm", "instructions": "instruction", "prose": "prose",
    **{kind.folder: kind.name for kind in _KINDS},
}  # fmt: skip
STATE_FILE = "campaign-state.md"
KINDS = {*ENTRY_KINDS, "arc", "quest", "chronicle", "story", "state", "dm", "instruction", "prose"}
_PLACED = {"chronicle", "story", "dm", "instruction", "prose"}  # these folders decide; `kind:` cannot lead out of them


def kind_of(path: str, fields: dict[str, Value]) -> str:
    """The kind of the file at a campaign path: by its `kind:`, else by its folder, else `lore`."""
    if path == STATE_FILE:
        return "state"
    parts = PurePosixPath(path).parts
    placed = _FOLDERS.get(parts[0].casefold(), "lore") if len(parts) > 1 else "lore"
    if placed in _PLACED:
        return placed
    said = fields.get("kind", "")
    said = said.strip().casefold() if isinstance(said, str) else ""
    return said if said in ENTRY_KINDS or said in ("arc", "quest") else placed


def name_of(path: str, fields: dict[str, Value]) -> str:
    """An entry's name: its `name:`, else `title:`, else its file's stem."""
    for key in ("name", "title"):
        value = fields.get(key)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return PurePosixPath(path).stem


def names_in(fields: dict[str, Value], key: str) -> tuple[str, ...]:
    """A list-of-names field (`aliases`, `keys`, `tags`); a single value or a comma list counts as a list."""
    value = fields.get(key, "")
    if isinstance(value, str):
        value = value.split(",") if value else []
    if isinstance(value, dict):
        value = list(value)
    return tuple(" ".join(item.split()) for item in value if isinstance(item, str) and item.strip())


def flag(fields: dict[str, Value], key: str) -> bool:
    """Whether a flag such as `pinned` is set (`true`, `yes`, `on`, `1`)."""
    value = fields.get(key, "")
    return isinstance(value, str) and value.strip().casefold() in TRUE
