"""The kinds of entry: their folders, their fields, and which kind a file is.

A folder is a habit: `kind:` in the front matter wins over it, and a folder of Markdown that RoleCall does not know is lore.
A field's type says how its value is read: `text` one line, `number`, `flag`, `names` a list of names, `name` one name
of another entry, `items` a list of mappings merged by their first key. A `state` field says how things stand now and may be
overwritten when the story changes it; of any other the writer's words stay. What is `COUNTED` is changed by directives.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from rolecall.campaign.frontmatter import Value

TRUE = {"true", "yes", "on", "1"}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: its folder, what it is for, its own fields beside `COMMON`, and which of them are state."""

    name: str
    folder: str
    about: str
    fields: dict[str, str]
    state: frozenset[str] = frozenset()


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
STATUS = "status"  # how an entry of any kind stands now: always state
COUNTED = frozenset({"affinity", "hit_points", "inventory", "discovered"})  # the game's numbers

# The keys of the mappings in a field of items, the one they are merged by first.
ITEM_KEYS = {
    "relationships": ("with", "nature", "status"),
    "connections": ("to", "way", "days"),
    "inventory": ("item", "count", "worn"),
}
# Of these mappings the game's own numbers, which directives change.
ITEM_NUMBERS = {"relationships": ("affinity",)}

_KINDS = (
    Kind("character", "characters", "a person, or whoever acts like one", {
        "role": "text", "location": "name", "pronouns": "text", "age": "text", "species": "text", "occupation": "text",
        "home": "name", "appearance": "text", "personality": "text", "voice": "text", "abilities": "text", "goals": "text",
        "affinity": "number", "hit_points": "text", "inventory": "items", "relationships": "items",
        "organizations": "names", "knows": "names",
    }, frozenset({"location", "relationships"})),
    Kind("location", "locations", "a place: a country, a town, a house, a room", {
        "type": "text", "region": "name", "within": "name", "connections": "items", "inhabitants": "names",
        "atmosphere": "text", "owner": "name",
    }, frozenset({"owner"})),
    Kind("organization", "organizations", "people who act as one: a guild, a crew, a court, a family", {
        "type": "text", "leader": "name", "headquarters": "name", "members": "names", "goals": "text", "allies": "names",
        "enemies": "names", "relationships": "items",
    }, frozenset({"leader", "headquarters", "relationships"})),
    Kind("item", "items", "a thing that matters and can change hands, a vessel too", {
        "type": "text", "holder": "name", "owner": "name", "location": "name", "properties": "text", "origin": "text",
        "value": "text",
    }, frozenset({"holder", "owner", "location"})),
    Kind("power", "powers", "magic, a gift, a technique, a technology", {
        "type": "text", "source_of_power": "text", "cost": "text", "limits": "text", "wielders": "names",
    }),
    Kind("creature", "creatures", "a sort of beast or monster, or a single one without a person's mind", {
        "type": "text", "habitat": "name", "location": "name", "behaviour": "text", "threat_level": "text",
        "weakness": "text", "hit_points": "text",
    }, frozenset({"location"})),
    Kind("culture", "cultures", "a people, a faith, a language, their ways", {
        "region": "name", "language": "text", "customs": "text", "beliefs": "text", "taboos": "text",
    }),
    Kind("rule", "rules", "a law of the world or of the game that binds everyone", {"scope": "text", "exceptions": "text"}),
    Kind("event", "events", "something that happened, or will happen, on a date", {
        "date": "text", "location": "name", "participants": "names", "outcome": "text", "causes": "names",
    }),
    Kind("threat", "threats", "a danger under way that gets worse when nobody acts", {
        "type": "text", "target": "name", "agent": "name", "deadline": "text", "severity": "text", "stage": "text",
    }, frozenset({"severity", "stage"})),
    Kind("lore", "lore", "whatever else is known of the world", {}),
)  # fmt: skip

# What a field holds, for whoever fills it; a field whose name says it all has none.
FIELD_NOTES = {
    "name": "the full name, without title or epithet where it has one",
    "aliases": "other names it goes by",
    "keys": "words that call it to mind",
    "status": "how it stands now, in a few words",
    "role": "its part in the story or the town",
    "location": "the name of the place where it is now",
    "home": "the name of the place where they live",
    "voice": "how they speak",
    "goals": "what is wanted",
    "relationships": "ties to others: with (a name), nature (one word or a few), status (how it stands now)",
    "organizations": "names of the organizations they belong to",
    "knows": "names of the entries they know of",
    "type": "what sort",
    "region": "the name of the land or quarter it belongs to",
    "within": "the name of the place that contains it",
    "connections": "ways from here: to (a place's name), way (how), days (how long it takes)",
    "inhabitants": "names of those who live or stay there",
    "owner": "the name of its owner now",
    "leader": "the name of its leader now",
    "headquarters": "the name of the place it is led from",
    "members": "names of its members",
    "allies": "names",
    "enemies": "names",
    "holder": "the name of who has it now",
    "source_of_power": "where it comes from",
    "wielders": "names of those who have it",
    "habitat": "the name of the place it lives in",
    "scope": "where and for whom it holds",
    "date": "in the campaign's own calendar",
    "participants": "names of those who took part",
    "causes": "names of what or who brought it about",
    "target": "the name of what it threatens",
    "agent": "the name of who or what drives it",
    "stage": "how far it has come",
}

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


def type_of(kind: str, key: str) -> str:
    """The type of a kind's field; empty for one that neither the kind nor `COMMON` knows."""
    own = ENTRY_KINDS[kind].fields if kind in ENTRY_KINDS else {}
    return own.get(key) or COMMON.get(key, "")


def is_state(kind: str, key: str) -> bool:
    """Whether a field says how things stand now, so that the story may change it."""
    return key == STATUS or (kind in ENTRY_KINDS and key in ENTRY_KINDS[kind].state)


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
