"""Directives: what a layer wants changed of the game's state, held against the schema, and merged into one.

    directive, refused = read({"resources": [{"name": "silver", "change": -3}]}, "narrator", 42)
    merged = merge([directive, ...])

Layers in the order in which they are heard: the narrator, whose prose the player reads, then the DM, then the TurnDM.
Lists concatenate in that order, objects merge, and of two values for the same thing the first heard counts. The order in which
directives are handed over never matters, except that those of one layer stay in the order in which they were given.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from rolecall.campaign import references
from rolecall.campaign.game import schema
from rolecall.campaign.text import clean_line

SCHEMA = schema.whole()
LAYERS = ("narrator", "dm", "turn_dm")  # the first heard first
NOTE = "directive"  # the kind of a record's line that says that a directive was applied
_MARKS = str.maketrans(dict.fromkeys("[]|#^{}<>`*\\/", " "))
_SUMMED = {("calendar", "advance"), ("combat", "next")}  # one layer's add up; of several layers the first heard counts


@dataclass(frozen=True, slots=True)
class Refused:
    """What was left out: the part of the directive, what it was about, and why. `secret`: only the DM may hear it."""

    part: str
    what: str
    why: str
    layer: str = ""
    secret: bool = False

    def __str__(self) -> str:
        return f"{self.part}: {self.what}: {self.why}" if self.what else f"{self.part}: {self.why}"


@dataclass(frozen=True, slots=True)
class Directive:
    """A sound directive of a layer. `turn` is the one it was made for, `data` a fragment as `SCHEMA` has it."""

    layer: str
    turn: int
    data: dict = field(hash=False)

    @property
    def digest(self) -> str:
        """SHA-256 of all it says: by this it is known again."""
        return _digest([self.layer, self.turn, self.data])

    @property
    def is_empty(self) -> bool:
        """Whether it asks for nothing."""
        return not self.data


@dataclass(frozen=True, slots=True)
class Move:
    """One thing to be done: `args` as the schema of its part and verb has it (a number or text for some)."""

    layer: str
    part: str
    verb: str
    args: object = field(hash=False)


@dataclass(frozen=True, slots=True)
class Merged:
    """What all layers want, in the order in which it is heard."""

    turn: int
    moves: tuple[Move, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of all it says."""
        return _digest([self.turn, [[m.layer, m.part, m.verb, m.args] for m in self.moves]])

    @property
    def data(self) -> dict:
        """The moves as one fragment."""
        return _fragment(self.moves)

    def of(self, part: str, *verbs: str) -> tuple[Move, ...]:
        """The moves of a part, of these verbs if any are given."""
        return tuple(m for m in self.moves if m.part == part and (not verbs or m.verb in verbs))


def read(data: object, layer: str, turn: int) -> tuple[Directive, tuple[Refused, ...]]:
    """(the sound part of a fragment, the first 40 things left out of it and why). Raises nothing, whatever `data` is."""
    if not isinstance(data, dict):
        return Directive(layer, turn, {}), (Refused("directive", "", "it is no object", layer),)
    refused: list[Refused] = []
    moves = list(_moves(data, layer, refused))
    return Directive(layer, turn, _fragment(moves)), tuple(refused[: schema.MANY])


def merge(directives: Sequence[Directive], turn: int = 0) -> Merged:
    """All directives as one. `turn` is the one it is applied in; else the latest they were made for."""
    heard = sorted(directives, key=lambda d: LAYERS.index(d.layer) if d.layer in LAYERS else len(LAYERS))
    moves: list[Move] = []
    single: dict[tuple[str, str], int] = {}
    for directive in heard:
        for move in _moves(directive.data, directive.layer, []):
            at = single.get((move.part, move.verb))
            if at is not None:
                moves[at] = _joined(moves[at], move)
            else:
                if (move.part, move.verb) in schema.SINGLE:
                    single[move.part, move.verb] = len(moves)
                moves.append(move)
    turn = turn or max((d.turn for d in directives), default=0)
    return Merged(turn, tuple(moves))


def twice(merged: Merged, noted: Collection[str]) -> Refused | None:
    """The refusal of a merged directive that was applied before, by the digests noted in the records; else None."""
    if merged.moves and merged.digest in noted:
        return Refused("directive", "", "it was applied already")
    return None


def noted_in(lines: Sequence[dict]) -> set[str]:
    """The digests of directives that a record's lines say were applied."""
    return {line["digest"] for line in lines if line.get("do") == NOTE}


def _joined(first: Move, later: Move) -> Move:
    """One move for two of a thing there is one of: the first heard stands; objects take what it leaves open."""
    key = (first.part, first.verb)
    if key in _SUMMED:
        if first.layer != later.layer:
            return first
        return Move(first.layer, *key, _sum(first.args, later.args, key))
    if key == ("combat", "start"):
        return Move(first.layer, *key, {"combatants": [*first.args["combatants"], *later.args["combatants"]]})
    if isinstance(first.args, dict):
        return Move(
            first.layer,
            *key,
            {**later.args, **first.args} if first.layer != later.layer else {**first.args, **later.args},
        )
    return first if first.layer != later.layer else later


def _sum(one: object, other: object, key: tuple[str, str]) -> object:
    if isinstance(one, dict):
        most = {k: v["maximum"] for k, v in schema.PARTS[key[0]][key[1]]["properties"].items()}
        return {k: min(one.get(k, 0) + other.get(k, 0), most[k]) for k in most if k in one or k in other}
    return min(one + other, schema.PARTS[key[0]][key[1]]["maximum"])


def _fragment(moves: Sequence[Move]) -> dict:
    data: dict = {}
    for move in moves:
        if move.verb == "":
            data.setdefault(move.part, []).append(move.args)
        elif (move.part, move.verb) in schema.SINGLE:
            data.setdefault(move.part, {})[move.verb] = move.args
        else:
            data.setdefault(move.part, {}).setdefault(move.verb, []).append(move.args)
    return data


# -- reading


def _moves(data: dict, layer: str, refused: list[Refused]) -> Iterator[Move]:
    for part, said in data.items():
        verbs = schema.PARTS.get(part) if isinstance(part, str) else None
        if verbs is None:
            refused.append(Refused("directive", _shown(part), "there is no such part", layer))
        elif said in (None, [], {}):
            continue
        elif "" in verbs:
            yield from _list(part, "", said, layer, refused)
        elif not isinstance(said, dict):
            refused.append(Refused(part, "", f"it is no object with {', '.join(verbs)}", layer))
        else:
            for verb, things in said.items():
                if verb not in verbs:
                    refused.append(
                        Refused(part, _shown(verb), f"there is no such verb; it has {', '.join(verbs)}", layer)
                    )
                elif things is None:
                    continue
                elif (part, verb) in schema.SINGLE:
                    yield from _one(part, verb, things, layer, refused)
                else:
                    yield from _list(part, verb, things, layer, refused)


def _list(part: str, verb: str, said: object, layer: str, refused: list[Refused]) -> Iterator[Move]:
    if isinstance(said, dict):  # one thing without its brackets
        said = [said]
    if not isinstance(said, list):
        refused.append(Refused(_place(part, verb), "", "it is no list", layer))
        return
    if len(said) > schema.MANY:
        refused.append(Refused(_place(part, verb), "", f"only the first {schema.MANY} are looked at", layer))
    for thing in said[: schema.MANY]:
        yield from _one(part, verb, thing, layer, refused)


def _one(part: str, verb: str, thing: object, layer: str, refused: list[Refused]) -> Iterator[Move]:
    import fastjsonschema

    shape = schema.PARTS[part][verb]
    thing = _tidy(thing, shape)
    try:
        _validator(part, verb)(thing)
    except fastjsonschema.JsonSchemaValueException as error:
        said = " ".join(error.message.replace("data.", "").replace("data", "it").split())
        refused.append(Refused(_place(part, verb), _shown(thing), said[:200], layer))
        return
    yield Move(layer, part, verb, thing)


@cache
def _validator(part: str, verb: str) -> Callable:
    import fastjsonschema

    return fastjsonschema.compile(schema.PARTS[part][verb])


def _tidy(thing: object, shape: dict) -> object:
    """The thing with its texts cleaned and its numbers as numbers, where the shape leaves no doubt what is meant."""
    kind = shape.get("type")
    if kind == "object" and isinstance(thing, dict):
        known = shape["properties"]
        return {k: _tidy(v, known[k]) if k in known else v for k, v in thing.items() if v is not None and v != ""}
    if kind == "array" and isinstance(thing, list):
        return [_tidy(one, shape["items"]) for one in thing[: schema.MANY]]
    if kind == "string" and isinstance(thing, str):
        return _name(thing) if shape.get("maxLength") == schema.NAME else clean_line(thing, schema.LINE)
    if kind == "string" and type(thing) is int and abs(thing) <= schema.MOST:
        return str(thing)
    if kind == "integer":
        return _whole(thing)
    return thing


def _name(text: str) -> str:
    """A plain name, out of its brackets and without marks that mean something to a link, a row or a path."""
    named = references.names_in(clean_line(text, schema.LINE))
    return " ".join((named[0] if named else "").translate(_MARKS).split()).strip(" -")


def _whole(thing: object) -> object:
    if isinstance(thing, float) and thing.is_integer() and abs(thing) <= schema.MOST:
        return int(thing)
    if isinstance(thing, str):
        text = thing.strip().replace("−", "-")
        digits = text[1:] if text[:1] in "+-" else text
        if digits.isascii() and digits.isdigit() and len(digits) <= 9:
            return int(text)
    return thing


def _place(part: str, verb: str) -> str:
    return f"{part}.{verb}" if verb else part


def _shown(thing: object) -> str:
    """A thing in a few words: the names it holds, or its beginning."""
    if isinstance(thing, dict):
        named = [v for v in thing.values() if isinstance(v, str)][:2]
        return clean_line(", ".join(v[:60] for v in named), 80)
    return clean_line(str(thing)[:200] if isinstance(thing, (str, int, float, bool)) else type(thing).__name__, 60)


def _digest(what: object) -> str:
    text = json.dumps(what, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
