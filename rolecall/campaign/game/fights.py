"""Fights: who takes part, whose turn it is, and hit points, which are lost and won outside of a fight too."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.campaign.game import combat, dice, edits, numbers
from rolecall.campaign.game.combat import HEADING, Fight, Fighter
from rolecall.campaign.game.company import LIVING
from rolecall.campaign.game.directives import Merged, Move
from rolecall.campaign.game.rows import bullet, name_in, same_name
from rolecall.campaign.game.sheet import No, Sheet
from rolecall.campaign.journal import turn_id
from rolecall.campaign.kinds import STATE_FILE

POINTS = "hit_points"


def resolve_fight(sheet: Sheet, merged: Merged) -> None:
    """All of a fight but its end."""
    for move in merged.of("combat", "start"):
        names = ", ".join(one["name"] for one in move.args["combatants"])[:80]
        sheet.attempt("combat.start", names, move.layer, lambda move=move: _start(sheet, move))
    for move in merged.of("combat", "join"):
        sheet.attempt("combat.join", move.args["name"], move.layer, lambda move=move: _join(sheet, move.args))
    for move in merged.of("combat", "initiative"):
        sheet.attempt("combat.initiative", move.args["name"], move.layer, lambda move=move: _initiative(sheet, move))
    _resolve_points(sheet, merged)
    for move in merged.of("combat", "leave"):
        sheet.attempt("combat.leave", move.args["name"], move.layer, lambda move=move: _leave(sheet, move))
    for move in merged.of("combat", "round"):
        sheet.attempt("combat.round", str(move.args), move.layer, lambda move=move: _round(sheet, move))
    for move in merged.of("combat", "next"):
        sheet.attempt("combat.next", "", move.layer, lambda move=move: _next(sheet, move.args))


def fight_of(sheet: Sheet) -> Fight:
    """The fight under way; No when there is none."""
    fight = combat.read(sheet.state)
    if fight is None:
        raise No("there is no fight")
    return fight


def _start(sheet: Sheet, move: Move) -> None:
    if combat.read(sheet.state) is not None:
        raise No("a fight is under way already; more combatants join it")
    fresh: list[dict] = []
    for one in move.args["combatants"]:
        if not any(same_name(one["name"], other["name"]) for other in fresh):
            fresh.append(one)
    rows = [(_entered(sheet, one), one) for one in fresh]
    rows.sort(key=lambda pair: -pair[0][1])
    sheet.put("row", STATE_FILE, HEADING, "", "- round: 1", reason="a fight began")
    sheet.put("row", STATE_FILE, HEADING, "", f"- turn: {rows[0][0][0]}", reason="a fight began")
    for (name, initiative), one in rows:
        _add(sheet, name, initiative, one)
    sheet.say(f"A fight: {', '.join(f'{name} ({initiative})' for (name, initiative), _ in rows)}.")


def _join(sheet: Sheet, one: dict) -> None:
    fight = fight_of(sheet)
    name, initiative = _entered(sheet, one)
    if fight.fighter(name):
        raise No(f"{name} is in the fight already")
    _add(sheet, name, initiative, one)
    sheet.say(f"{name} joins the fight at {initiative}.")


def _entered(sheet: Sheet, one: dict) -> tuple[str, int]:
    """(the combatant's name, its initiative, rolled where it is not given)."""
    path = sheet.look(one["name"], "", *LIVING)
    name = sheet.name(path) if path else name_in(one["name"])
    if path:
        sheet.alive(path)
    if any(mark in name for mark in ":,#") or not any(c.isalnum() for c in name):
        raise No(f"{name!r} is no name for a combatant")
    if "initiative" in one:
        return name, one["initiative"]
    expression = sheet.world.rules().initiative
    try:
        return name, dice.roll(expression, f"{sheet.world.seed}/initiative/{sheet.turn}/{name.casefold()}").total
    except dice.NoDice as wrong:
        raise No(f"a rule says `initiative: {expression}`: {wrong}") from None


def _add(sheet: Sheet, name: str, initiative: int, one: dict) -> None:
    path = sheet.look(name, "", *LIVING)
    own = sheet.doc(path).fields.get(edits.held_key(sheet.doc(path), POINTS), "") if path else ""
    points = "" if own else one.get("hit_points", "")
    if points and "/" not in points:
        points = f"{points}/{points}"
    if points and numbers.read(points).value > numbers.read(points).bound:
        raise No(f"{name} cannot have {points} hit points")
    text = bullet(sheet.state, HEADING) + combat.row_of(name, initiative, points)
    sheet.put("row", STATE_FILE, HEADING, "", text, reason="joined the fight")


def _initiative(sheet: Sheet, move: Move) -> None:
    fighter = _fighter(sheet, move.args["name"])
    text = fighter.with_initiative(move.args["initiative"])
    sheet.put("row", STATE_FILE, HEADING, fighter.row.raw, text, reason="initiative")
    sheet.say(f"{fighter.name} acts at {move.args['initiative']}.")


def _fighter(sheet: Sheet, name: str) -> Fighter:
    found = _one_of(fight_of(sheet), name, sheet, sheet.look(name, "", *LIVING))
    if found is None:
        raise No(f"{name_in(name)} is not in the fight")
    return found


def _one_of(fight: Fight, name: str, sheet: Sheet, path: str | None) -> Fighter | None:
    """The combatant of a name, or of the name of the entry that bears it; No where two are called so."""
    found = fight.named(name_in(name)) or (fight.named(sheet.name(path)) if path else [])
    if len(found) > 1:
        raise No(f"{len(found)} in the fight are named {found[0].name}: give each a name of its own")
    return found[0] if found else None


def _leave(sheet: Sheet, move: Move) -> None:
    fighter = _fighter(sheet, move.args["name"])
    fight = fight_of(sheet)
    if same_name(fight.turn, fighter.name) and len(fight.fighters) > 1:
        _next(sheet, 1, quiet=True)
    path = sheet.look(fighter.name, "", *LIVING)
    why = f": {move.args['why']}" if "why" in move.args else ""
    line = f"Left the fight in round {fight.round}{why}" + _wounds(fighter)
    sheet.keep(path, fighter.name, f"{line}.", "left the fight")
    sheet.put("row", STATE_FILE, HEADING, fighter.row.raw, "", reason="left the fight")
    sheet.say(f"{fighter.name} is out of the fight.")


def _wounds(fighter: Fighter) -> str:
    return f", {fighter.hit_points.words} hit points" if fighter.hit_points else ""


def _round(sheet: Sheet, move: Move) -> None:
    fight = fight_of(sheet)
    if move.args < fight.round:
        raise No(f"it is round {fight.round} already")
    _set_round(sheet, fight, move.args)
    sheet.say(f"Round {move.args}.")


def _set_round(sheet: Sheet, fight: Fight, number: int) -> None:
    if fight.round_row is None:
        sheet.put(
            "row", STATE_FILE, HEADING, "", f"{bullet(sheet.state, HEADING)}round: {number}", reason="a new round"
        )
    elif number != fight.round:
        text = fight.round_row.text
        new = fight.round_row.with_text(text[: text.rindex(str(fight.round))] + str(number))
        sheet.put("row", STATE_FILE, HEADING, fight.round_row.raw, new, reason="a new round")


def _next(sheet: Sheet, steps: int, *, quiet: bool = False) -> None:
    fight = fight_of(sheet)
    if not any(_can_act(sheet, one) for one in fight.fighters):
        if quiet:
            return
        raise No("nobody in the fight can act")
    name, number = fight.after(steps, lambda one: _can_act(sheet, one))
    if number != fight.round:
        _set_round(sheet, fight, number)
    if fight.turn_row is None:
        sheet.put(
            "row", STATE_FILE, HEADING, "", f"{bullet(sheet.state, HEADING)}turn: {name}", reason="the turn passed on"
        )
    else:
        text = fight.turn_row.text
        at = text.rindex(fight.turn) if fight.turn and fight.turn in text else len(text)
        sheet.put(
            "row", STATE_FILE, HEADING, fight.turn_row.raw,
            fight.turn_row.with_text(text[:at] + name + text[at + len(fight.turn) :]), reason="the turn passed on",
        )  # fmt: skip
    if not quiet:
        sheet.say(f"It is {name}'s turn, round {number}.")


def _can_act(sheet: Sheet, fighter: Fighter) -> bool:
    """Whether a combatant can act: it lives and has a hit point left, as far as anybody wrote that down."""
    path = sheet.look(fighter.name, "", *LIVING)
    number = fighter.hit_points or (numbers.read(sheet.doc(path).text(POINTS)) if path else None)
    return not (path and sheet.is_dead(path)) and (number is None or number.value > 0)


# -- hit points


def _resolve_points(sheet: Sheet, merged: Merged) -> None:
    """Hit points: of each target all that was asked for at once: first what it is set to, then the sum of its changes."""
    asked: dict[str, list[Move]] = {}
    for move in merged.of("combat", "damage", "heal", "hit_points"):
        if sheet.attempt(f"combat.{move.verb}", move.args["who"], move.layer, lambda move=move: _may_act(sheet, move)):
            asked.setdefault(_target(sheet, move), []).append(move)
    for moves in asked.values():
        who, layer = moves[0].args["who"], moves[0].layer
        verbs = "/".join(dict.fromkeys(move.verb for move in moves))
        sheet.attempt(f"combat.{verbs}", who, layer, lambda moves=moves: _points(sheet, moves))


def _may_act(sheet: Sheet, move: Move) -> None:
    if by := sheet.look(move.args.get("by", ""), move.layer, *LIVING) if "by" in move.args else None:
        sheet.alive(by)


def _target(sheet: Sheet, move: Move) -> str:
    path = sheet.look(move.args["who"], move.layer, *LIVING)
    return path or name_in(move.args["who"]).casefold()


def _points(sheet: Sheet, moves: Sequence[Move]) -> None:
    who, layer = moves[0].args["who"], moves[0].layer
    path = sheet.look(who, layer, *LIVING)
    fight = combat.read(sheet.state)
    fighter = _one_of(fight, who, sheet, path) if fight else None
    if path:
        sheet.alive(path)
    here = fighter.hit_points if fighter else None
    text = sheet.doc(path).fields.get(edits.held_key(sheet.doc(path), POINTS), "") if path and not here else ""
    now = here or (numbers.read(text) if isinstance(text, str) else None)
    if not path and not fighter:
        raise No(f"nobody is named {name_in(who)!r}")
    set_to = _set_to(moves)
    if now is None and (text or set_to is None):
        raise No(f"{name_in(who)} has no hit points" + (f" that can be read: {text!r}" if text else ""))
    value = _bounded(sheet, moves, now, set_to)
    name = sheet.name(path) if path else fighter.name
    if here or not path:
        sheet.put("row", STATE_FILE, HEADING, fighter.row.raw, _with_points(fighter, value), reason="hit points")
    else:
        sheet.value(path, POINTS, now.changed(value) if now else str(value), reason="hit points")
    words = f"{value} of {now.bound}" if now and now.bound is not None else str(value)
    sheet.say(f"{name} {'is down at' if value <= 0 else 'has'} {words} hit points.", path or "")


def _set_to(moves: Sequence[Move]) -> int | None:
    """What the points are set to: by the first layer heard that sets them, in its last word."""
    sets = [move for move in moves if move.verb == "hit_points"]
    return [move for move in sets if move.layer == sets[0].layer][-1].args["to"] if sets else None


def _bounded(sheet: Sheet, moves: Sequence[Move], now: numbers.Number | None, set_to: int | None) -> int:
    signs = {"heal": 1, "damage": -1, "hit_points": 0}
    change = sum(signs[move.verb] * move.args.get("amount", 0) for move in moves)
    rules = sheet.world.rules()
    most = None
    if now and now.bound is not None and rules.hit_points_over is not None:
        most = now.bound + rules.hit_points_over
    from_ = set_to if set_to is not None else now.value
    was = now.value if now and set_to is None else None
    return numbers.bounded(from_ + change, rules.hit_points_lowest, most, was)


def _with_points(fighter: Fighter, value: int) -> str:
    if fighter.hit_points:
        return fighter.with_points(value)
    text = fighter.row.text
    return fighter.row.with_text(f"{text}{',' if ':' in text else ':'} hit points {value}")


# -- the end


def resolve_end(sheet: Sheet, merged: Merged) -> None:
    """The end of a fight: what matters goes to those who took part, then the section goes."""
    for move in merged.of("combat", "end"):
        lines: list[tuple[str, str]] = []
        if sheet.attempt("combat.end", "", move.layer, lambda move=move, lines=lines: _end(sheet, move, lines)):
            for path, line in lines:
                sheet.attempt(
                    "combat.end",
                    sheet.name(path),
                    move.layer,
                    lambda p=path, t=line: sheet.history(p, t, reason="the fight is over"),
                )
            sheet.guarded("combat.end", lambda: _clear(sheet))


def _end(sheet: Sheet, move: Move, lines: list[tuple[str, str]]) -> None:
    fight = fight_of(sheet)
    names = [one.name for one in fight.fighters]
    down = [one.name for one in fight.fighters if not _can_act(sheet, one)]
    place = sheet.state.text("location").strip()
    line = f"Fought{' at ' + name_in(place) if place else ''} ({', '.join(names)}), {fight.round} round{'s' if fight.round != 1 else ''}"
    line += f"; fell: {', '.join(down)}" if down else "; nobody fell"
    hurt = [f"{one.name} {one.hit_points.words}" for one in fight.fighters if one.hit_points]
    line += f"; hit points left: {', '.join(hurt)}" if hurt else ""
    line += f". {move.args['outcome']}" if "outcome" in move.args else "."
    paths = [path for one in fight.fighters if (path := sheet.look(one.name, "", *LIVING))]
    lines += [(path, line) for path in dict.fromkeys(paths)]
    if not lines:
        sheet.remark(line, reason="the fight is over")
    sheet.say(
        f"The fight is over after {fight.round} round{'s' if fight.round != 1 else ''}; {'fell: ' + ', '.join(down) if down else 'nobody fell'}."
    )


def _clear(sheet: Sheet) -> None:
    """Take the fight out of the Campaign State; what the writer noted there stays, under its heading."""
    sheet.withdraw(STATE_FILE, "row", HEADING)
    state = sheet.state
    fight = combat.read(state)
    if fight is None:
        return  # it began and ended in this very turn

    def go() -> None:
        if not fight.notes:
            sheet.put("gone", STATE_FILE, HEADING, edits.section_text(state, HEADING), "", reason="the fight is over")
            return
        rows = [fight.round_row, fight.turn_row, *(one.row for one in fight.fighters)]
        for row in (row for row in rows if row):
            sheet.put("row", STATE_FILE, HEADING, row.raw, "", reason="the fight is over")

    sheet.attempt("combat.end", turn_id(sheet.turn), "", go)
