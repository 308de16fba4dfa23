"""Dice: rolled by code under the turn's seed, and kept in the story as one italic line. The DM's own rolls stay unseen."""

from __future__ import annotations

from rolecall.campaign.game import dice
from rolecall.campaign.game.dice import Roll
from rolecall.tools.directing import number
from rolecall.tools.saying import one_line, said
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema, text

WHAT = 80  # characters of what a roll is for


def _thrown(table: Table, expression: str) -> Roll:
    try:
        rolled = dice.roll(expression, f"{table.seed}/{table.layer}", table.rolled + 1)
    except dice.NoDice as error:
        raise ToolFault(f"{error}.") from None
    table.rolled += 1
    return rolled


def _d20(bonus: int, edge: str = "") -> str:
    return "d20" + (f" {edge}" if edge else "") + (f"{bonus:+d}" if bonus else "")


def _kept(table: Table, line: str) -> str:
    """Keep a roll for the story; what the model is told of it."""
    if not table.secrets:
        table.rolls.append(line)
    return line.strip("*")


def _what(given: dict, key: str = "what") -> str:
    return one_line(said(given, key, WHAT).replace("*", ""), WHAT)


def _roll(table: Table, given: dict) -> str:
    return _kept(table, _thrown(table, given["dice"]).line(_what(given) if given.get("what") else ""))


def _check(table: Table, given: dict) -> str:
    what, needed = _what(given), given["difficulty"]
    rolled = _thrown(table, _d20(given.get("bonus", 0), given.get("edge", "")))
    came = "success" if rolled.total >= needed else "failure"
    return _kept(table, f"{rolled.line(what)[:-1]}, against {needed}: {came}*")


def _opposed(table: Table, given: dict) -> str:
    one, other = _what(given, "who"), _what(given, "against")
    first = _thrown(table, _d20(given.get("bonus", 0)))
    second = _thrown(table, _d20(given.get("their_bonus", 0)))
    winner = one if first.total > second.total else other  # a draw leaves things as they were
    line = (
        f"*{one}, {first.expression}: {first.words}; {other}, {second.expression}: {second.words}; {winner} prevails*"
    )
    return _kept(table, line)


def _choose(table: Table, given: dict) -> str:
    options = [one_line(option.replace("*", ""), WHAT) for option in given["options"]]
    if not all(any(char.isalnum() for char in option) for option in options):
        raise ToolFault("An option says nothing.")
    rolled = _thrown(table, f"d{len(options)}")
    about = f"{_what(given)}: " if given.get("what") else ""
    return _kept(table, f"*{about}{options[rolled.total - 1]} (d{len(options)}: {rolled.total})*")


_BONUS = number("", -100, 100)

ROLL = ToolType(
    "roll",
    "Roll dice: d20+3, 2d6, 4d6kh3, d20 adv.",
    schema(["dice"], dice=text("the dice", 80), what=text("what for", WHAT)),
    "mutation",
    _roll,
    awaited=True,
)
CHECK = ToolType(
    "check",
    "Roll a d20 against a difficulty when an action may fail; tell what comes of it.",
    schema(
        ["what", "difficulty"],
        what=text("what is tried, in a word or two", WHAT),
        difficulty=number("5 easy, 10, 15 hard, 20", 1, 100),
        bonus=_BONUS,
        edge={"type": "string", "enum": ["adv", "dis"]},
    ),
    "mutation",
    _check,
    awaited=True,
)
OPPOSED_ROLL = ToolType(
    "opposed_roll",
    "Two roll a d20 against each other.",
    schema(
        ["who", "against"], who=text("one", WHAT), against=text("the other", WHAT), bonus=_BONUS, their_bonus=_BONUS
    ),
    "mutation",
    _opposed,
    awaited=True,
)
CHOOSE = ToolType(
    "choose",
    "Let chance choose one of several.",
    schema(
        ["options"],
        options={"type": "array", "minItems": 2, "maxItems": 20, "items": text("", WHAT)},
        what=text("what for", WHAT),
    ),
    "mutation",
    _choose,
    awaited=True,
)
TOOLS = (CHECK, ROLL, OPPOSED_ROLL, CHOOSE)
