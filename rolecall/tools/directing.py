"""Game tools: a call becomes a fragment of a directive, and what the files will say after it is the answer.

A tool only says what it wants in the shape of `campaign/game`; everything on the table is resolved together against the
campaign, so that the second blow of a turn finds the hit points the first one left. What cannot be is refused in words.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rolecall.campaign.documents import Document
from rolecall.campaign.effects import Effect
from rolecall.campaign.game import directives, resolving
from rolecall.campaign.game.company import LIVING
from rolecall.campaign.game.directives import Directive, Refused
from rolecall.campaign.game.resolving import Resolution
from rolecall.campaign.game.world import Ground
from rolecall.campaign.text import clean_line
from rolecall.errors import RoleCallError
from rolecall.search.ground import ground
from rolecall.tools.ledger import clean_name
from rolecall.tools.saying import NAME, one_line
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema, text

DATE = 120  # characters
_AS = "$comment"  # how a text is cleaned, beside its shape: as a name, as a date; a line otherwise
Fragment = Callable[[dict], dict]


def who(about: str = "exact name") -> dict:
    """A name as an argument."""
    return text(about, NAME, **{_AS: "name"})


def date(about: str = "the date") -> dict:
    """A date, or a time in words, as an argument: cleaned of nothing but what no line holds."""
    return text(about, DATE, **{_AS: "date"})


def number(about: str = "", least: int = 1, most: int = 1_000_000) -> dict:
    """A whole number as an argument."""
    return {"type": "integer", "minimum": least, "maximum": most, **({"description": about} if about else {})}


def game_tool(name: str, about: str, required: list[str], build: Fragment, /, **properties: dict) -> ToolType:
    """A tool whose whole effect is a fragment: `build` makes it of the cleaned arguments."""
    shape = schema(required, **properties)

    def run(table: Table, given: dict) -> str:
        return table.direct(build(cleaned(given, properties)))

    return ToolType(name, about, shape, "mutation", run)


def cleaned(given: dict, properties: dict) -> dict:
    """The arguments with names as names and lines as lines; ToolFault for a name that is none, or a line that says nothing."""
    return {key: _cleaned(key, value, properties[key]) for key, value in given.items()}


def _cleaned(key: str, value: object, shape: dict) -> object:
    if isinstance(value, list):
        return [_cleaned(key, one, shape["items"]) for one in value]
    if isinstance(value, dict):
        return cleaned(value, shape["properties"])
    if not isinstance(value, str) or "enum" in shape or "pattern" in shape:
        return value
    if shape.get(_AS) == "name":
        return clean_name(value)
    line = clean_line(value, DATE) if shape.get(_AS) == "date" else one_line(value, shape["maxLength"])
    if not any(char.isalnum() for char in line):
        raise ToolFault(f"`{key}` says nothing.")
    return line


def part(given: dict, *keys: str, **more: object) -> dict:
    """Of the arguments those that were given; `more` are others, by the name they have in a fragment."""
    kept = {key: given[key] for key in keys if key in given}
    return kept | {key.rstrip("_"): value for key, value in more.items() if value is not None}


# -- what stands after it


def direct(table: Table, fragment: dict) -> str:
    """Add a fragment to the table; what stands now, in words. ToolFault, and nothing added, when it is refused.

    What only the writer's lock stands in the way of is kept: the turn makes a proposal of it.
    """
    directive, wrong = directives.read(fragment, table.layer, table.turn)
    if wrong or directive.is_empty:
        raise ToolFault("; ".join(map(str, wrong)) or "That asks for nothing.")
    before = resolution(table)
    table.fragments.append(directive.data)
    now = resolution(table)
    if now.fault:
        table.fragments.pop()
        raise ToolFault("That could not be worked out.")
    refused = [one for one in now.refused if one not in before.refused]
    locked = {one.about for one in now.locked} - {one.about for one in before.locked}
    if refused and not (locked and all("locked" in one.why for one in refused)):
        table.fragments.pop()
        raise ToolFault(" ".join(_why(table, one) for one in refused))
    said = [line for line in now.said if line not in before.said]
    said += [line for line in now.hidden if line not in before.hidden] if table.secrets else []
    said += [f"{name} is locked by the writer; the change is proposed." for name in sorted(locked)]
    return " ".join(said) or "It stands so already."


def _why(table: Table, refused: Refused) -> str:
    """Why something cannot be, with near names where a name is not known."""
    if refused.secret and not table.secrets:
        return "That cannot be."
    why = refused.why if refused.why.endswith(".") else f"{refused.why}."
    said = _NAMED.search(why)
    near = _near(table, said["name"], (said["kind"],) if said["kind"] else LIVING) if said else []
    return f"{why[:1].upper()}{why[1:]}" + (f" Near names: {', '.join(near)}." if near else "")


def _near(table: Table, name: str, kinds: tuple[str, ...]) -> list[str]:
    """Names like one that nobody bears, of entries of these kinds (`entry`: of any)."""
    catalogue = table.search.catalogue

    def fits(near: str) -> bool:
        bearers = [catalogue[path] for path in table.search.ties.named(near)]
        return any((kinds == ("entry",) or e.kind in kinds) and (table.secrets or not e.secret) for e in bearers)

    return [near for near in table.search.suggestions(name, secrets=table.secrets) if fits(near)]


def resolution(table: Table) -> Resolution:
    """What the directives on a table, and those of the layers before it, come to.

    A fault of ours in working that out costs the directives, never the turn: then it is said and nothing changes.
    """
    asked = (list(table.effects), list(table.fragments), table.beside)
    if table.held.get("asked") != asked:
        mine = [Directive(table.layer, table.turn, data) for data in table.fragments]
        merged = directives.merge([*table.beside, *mine], table.turn)
        try:
            found = resolving.resolve(merged, world(table))
        except RoleCallError:
            raise
        except Exception as error:
            found = Resolution(fault=f"the game's state could not be worked out ({type(error).__name__}: {error})")
        table.held |= {"resolution": found, "asked": asked}
    return table.held["resolution"]


def after(table: Table, path: str) -> Document | None:
    """A file as it will be after everything on the table, directives included."""
    return standing(table).document(path)


def standing(table: Table) -> Ground:
    """The campaign as it will be after everything on the table, directives included."""
    return _ground(table, [*table.effects, *resolution(table).effects])


def world(table: Table) -> Ground:
    """The campaign as the rules of the game look at it: with the effects of a table laid over it, the Campaign State as the

    turn found it. Files are read once for as long as the table's effects stay the same.
    """
    if table.held.get("over") != table.effects:
        table.held |= {"world": _ground(table, list(table.effects)), "over": list(table.effects)}
    return table.held["world"]


def _ground(table: Table, effects: list[Effect]) -> Ground:
    made = ground(table.search, table.turn, seed=table.seed, effects=effects)
    on_disk = made.read
    made.read = lambda path: table.state.data if path == table.state.path else on_disk(path)
    return made


_NAMED = re.compile(r"""(?:\bno (?P<kind>\w+)\b.*?)?\bnamed (?P<mark>['"])(?P<name>.*?)(?P=mark)""", re.I)
