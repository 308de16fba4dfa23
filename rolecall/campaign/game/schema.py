"""What a directive may say, as JSON Schema (draft 7): one small object for each thing that can be done.

A directive has parts (`combat`, `map`); most parts have verbs (`damage`, `move`) with a list of such objects each. They
are kept apart here, since a directive is held against them one by one: what is wrong is left out, the rest stays.
"""

from __future__ import annotations

MOST = 1_000_000  # the largest number a directive may name
NAME, LINE = 80, 300  # characters of a name; of a line of text
MANY = 40  # things in one list

Shape = dict


def _name(about: str) -> Shape:
    return {"type": "string", "minLength": 1, "maxLength": NAME, "description": about}


def _line(about: str) -> Shape:
    return {"type": "string", "minLength": 1, "maxLength": LINE, "description": about}


def _number(about: str, least: int = 0, most: int = MOST) -> Shape:
    return {"type": "integer", "minimum": least, "maximum": most, "description": about}


def _object(required: tuple[str, ...], /, **properties: Shape) -> Shape:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_WHO = _name("name of a character or creature")
_PLACE = _name("name of a place")
_QUEST = _name("name of a quest")
_EVENT = _name("name of an event")
_ITEM = _name("what it is, in the singular")
_COUNT = _number("how many; 1 if left out", 1)
_WHY = _line("why, in a few words")
_COMBATANT = _object(
    ("name",),
    name=_WHO,
    initiative=_number("its place in the order, higher first; rolled if left out", -100, 1000),
    hit_points={
        "type": "string",
        "pattern": "^[0-9]{1,6}(/[0-9]{1,6})?$",
        "description": "`7/7`, for one that has no entry of its own",
    },
)
_LASTS = {
    "turns": _number("how many turns it lasts from now", 1, 1000),
    "rounds": _number("how many rounds of the fight it lasts", 1, 1000),
    "until": _line("the date on which it is over"),
}
_HURT = _object(("who", "amount"), who=_WHO, amount=_number("hit points", 1), by=_name("who does it"))

# part -> verb -> shape of one thing; a verb whose shape is in `SINGLE` holds one thing, the others a list of them.
PARTS: dict[str, dict[str, Shape]] = {
    "combat": {
        "start": _object(("combatants",), combatants={"type": "array", "items": _COMBATANT, "minItems": 1, "maxItems": MANY}),
        "join": _COMBATANT,
        "leave": _object(("name",), name=_WHO, why=_WHY),
        "initiative": _object(("name", "initiative"), name=_WHO, initiative=_number("its new place", -100, 1000)),
        "damage": _HURT,
        "heal": _HURT,
        "hit_points": _object(("who", "to"), who=_WHO, to=_number("hit points from now on", -MOST)),
        "round": _number("the round it is now", 1, 1000),
        "next": _number("by how many the turn passes on", 1, 100),
        "end": _object((), outcome=_line("how it ended, in a sentence")),
    },
    "relationships": {
        "": _object(
            ("who",),
            who=_name("whose feeling it is: any entry's name"),
            **{"with": _name("towards whom; the party if left out")},
            change=_number("by how much the affinity changes", -1000, 1000),
            set=_number("the affinity from now on", -1000, 1000),
            nature=_line("what ties them: one word or a few"),
            status=_line("how it stands now"),
        ),
    },
    "resources": {
        "": _object(
            ("name",),
            name=_name("what is counted: silver, rations, arrows"),
            change=_number("by how much it changes", -MOST),
            set=_number("how much there is"),
            bound=_number("how much there can be"),
        ),
    },
    "effects": {
        "add": _object(("who", "effect"), who=_WHO, effect=_line("the condition: poisoned, blessed by Ansa"), **_LASTS),
        "extend": _object(("who", "effect"), who=_WHO, effect=_line("the condition, as it stands"), **_LASTS),
        "remove": _object(("who", "effect"), who=_WHO, effect=_line("the condition, as it stands"), why=_WHY),
    },
    "map": {
        "discover": _object(("place",), place=_PLACE),
        "connect": _object(
            ("from", "to"),
            **{"from": _PLACE},
            to=_PLACE,
            way=_line("how one gets there: a footpath over the ridge"),
            days=_number("how many days it takes", 0, 10_000),
            one_way={"type": "boolean", "description": "true when there is no way back"},
        ),
        "move": _object(("who", "to"), who=_name("name of a character, or `party`"), to=_PLACE),
    },
    "quests": {
        "start": _object(
            ("name",),
            name=_QUEST,
            question=_line("what is to be found out or done, as a question"),
            stakes=_line("what hangs on it"),
            stage=_line("how far it has come"),
            objectives={"type": "array", "items": _line("one thing to do"), "maxItems": MANY},
        ),
        "stage": _object(("quest", "stage"), quest=_QUEST, stage=_line("how far it has come now")),
        "objective": _object(("quest", "objective"), quest=_QUEST, objective=_line("one thing more to do")),
        "complete": _object(("quest", "objective"), quest=_QUEST, objective=_line("what is done, in its words")),
        "finish": _object(("quest",), quest=_QUEST, text=_line("how it ended, in a sentence")),
        "fail": _object(("quest",), quest=_QUEST, text=_line("how it came to nothing, in a sentence")),
    },
    "inventory": {
        "give": _object(("who", "item"), who=_WHO, item=_ITEM, count=_COUNT),
        "take": _object(("who", "item"), who=_WHO, item=_ITEM, count=_COUNT),
        "transfer": _object(("from", "to", "item"), **{"from": _WHO}, to=_WHO, item=_ITEM, count=_COUNT),
        "equip": _object(("who", "item"), who=_WHO, item=_ITEM, where=_name("where it is worn: hand, head, back")),
        "unequip": _object(("who", "item"), who=_WHO, item=_ITEM),
    },
    "calendar": {
        "advance": _object(
            (),
            minutes=_number("minutes that pass", 0, 100_000),
            hours=_number("hours that pass", 0, 10_000),
            days=_number("days that pass", 0, 100_000),
            weeks=_number("weeks that pass", 0, 10_000),
            months=_number("months that pass", 0, 10_000),
        ),
        "date": _line("the date it is now"),
        "time": _line("the time of day: 14:30, or in words"),
        "weather": _line("the weather, in a few words"),
        "schedule": _object(
            ("event", "date"),
            event=_EVENT,
            date=_line("when"),
            text=_line("what will happen"),
            hidden={"type": "boolean", "description": "true where only the DM may know"},
        ),
        "reschedule": _object(("event", "date"), event=_EVENT, date=_line("the new date")),
        "cancel": _object(("event",), event=_EVENT, why=_WHY),
    },
    "party": {
        "join": _object(("who",), who=_WHO, note=_line("what is said of them beside the name")),
        "leave": _object(("who",), who=_WHO, why=_WHY),
    },
    "status": {
        "": _object(("who", "status"), who=_name("any entry's name"), status=_line("how they stand: injured, dead")),
    },
}  # fmt: skip

# Verbs that hold one thing and no list, since there is one of it: the fight, the date, the hour.
SINGLE = {
    ("combat", "start"), ("combat", "round"), ("combat", "next"), ("combat", "end"),
    ("calendar", "advance"), ("calendar", "date"), ("calendar", "time"), ("calendar", "weather"),
}  # fmt: skip

_ABOUT = {
    "combat": "a fight: who takes part, turn order, hit points (these also outside of a fight)",
    "relationships": "what people think of each other or of the party",
    "resources": "what the party has and counts: money, provisions, ammunition",
    "effects": "conditions that last: poisoned, blessed",
    "map": "places found, ways between them, who goes where",
    "quests": "what was undertaken, step by step",
    "inventory": "who carries and wears what",
    "calendar": "time, weather, events to come",
    "party": "who travels with the player",
    "status": "how somebody or something stands",
}


def whole() -> Shape:
    """The schema of one fragment, as a model is shown it."""
    parts = {}
    for part, verbs in PARTS.items():
        shaped = {
            verb: shape if (part, verb) in SINGLE else {"type": "array", "items": shape, "maxItems": MANY}
            for verb, shape in verbs.items()
        }
        parts[part] = {**(shaped[""] if "" in shaped else _object((), **shaped)), "description": _ABOUT[part]}
    return _object((), **parts)
