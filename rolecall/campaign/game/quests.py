"""Quests: arcs with `kind: quest`, a `stage`, a `status`, and `## Objectives` to be ticked off."""

from __future__ import annotations

from rolecall.campaign import arcs
from rolecall.campaign.frontmatter import scalar
from rolecall.campaign.game.directives import Merged, Move
from rolecall.campaign.game.rows import Row, bullet, name_in, rows_of, same_name
from rolecall.campaign.game.sheet import No, Sheet
from rolecall.campaign.journal import turn_id
from rolecall.campaign.merging import key_of
from rolecall.campaign.text import slug

HEADING = "Objectives"
DONE, FAILED = "completed", "failed"


def resolve_quests(sheet: Sheet, merged: Merged) -> None:
    """Quests begun, moved on, brought to their end, in that order."""
    verbs = {
        "start": _start, "objective": _objective, "complete": _complete, "stage": _stage, "finish": _finish, "fail": _finish,
    }  # fmt: skip
    for verb, change in verbs.items():
        for move in merged.of("quests", verb):
            what = move.args.get("name") or move.args["quest"]
            sheet.attempt(f"quests.{verb}", what, move.layer, lambda move=move, change=change: change(sheet, move))


def objective_of(row: Row) -> tuple[str, bool]:
    """(an objective's words without the turn it was done in, whether it is done)."""
    words = row.text.strip()
    if words.endswith(")") and " (T" in words:
        words = words[: words.rindex(" (T")]
    return words, row.box not in ("", " ")


def _start(sheet: Sheet, move: Move) -> None:
    args = move.args
    name = name_in(args["name"])
    if not any(c.isalnum() for c in name):
        raise No(f"{name!r} is no name")
    there = sheet.look(name, move.layer, "quest", "arc") or _fresh(sheet, name)
    if there:
        raise No(f"there is a quest or an arc of that name already ({there})")
    path = sheet.free(f"{arcs.FOLDER}/{slug(name, 'quest')}.md")
    fields = {"name": name, "kind": "quest", "question": args.get("question", ""), "stakes": args.get("stakes", "")}
    fields |= {"status": "open", "stage": args.get("stage", ""), "source": turn_id(sheet.turn)}
    lines = ["---", *(f"{key}: {scalar(value, quote_types=True)}" for key, value in fields.items() if value), "---"]
    goals = list(dict.fromkeys(args.get("objectives", ())))
    lines += ["", f"## {HEADING}", "", *(f"- [ ] {goal}" for goal in goals)] if goals else []
    sheet.put("made", path, text="\n".join(lines) + "\n", reason="a quest began")
    sheet.say(f"The quest {name} is open.", path)


def _quest(sheet: Sheet, move: Move) -> str:
    """The path of a quest that is under way."""
    path = sheet.look(move.args["quest"], move.layer, "quest") or _fresh(sheet, move.args["quest"])
    if path is None:
        raise No(f"no quest is named {name_in(move.args['quest'])!r}")
    quest = arcs.read(sheet.doc(path))
    if not quest.open:
        raise No(f"the quest {quest.name} is over ({quest.status})")
    return path


def _fresh(sheet: Sheet, name: str) -> str | None:
    """A quest that was begun in this very turn."""
    made = [
        effect.path for effect in sheet.effects if effect.op == "made" and effect.path.startswith(f"{arcs.FOLDER}/")
    ]
    return next((path for path in made if same_name(sheet.name(path), name)), None)


def _objective(sheet: Sheet, move: Move) -> None:
    path, goal = _quest(sheet, move), move.args["objective"]
    document = sheet.doc(path)
    if any(key_of(objective_of(row)[0]) == key_of(goal) for row in rows_of(document, HEADING)):
        raise No("that is one of its objectives already")
    sheet.put("row", path, HEADING, "", f"{bullet(document, HEADING)}[ ] {goal}", reason="one thing more to do")
    sheet.say(f"{sheet.name(path)}: still to do: {goal}.", path)


def _complete(sheet: Sheet, move: Move) -> None:
    path, wanted = _quest(sheet, move), key_of(move.args["objective"])
    rows = rows_of(sheet.doc(path), HEADING)
    named = [(row, *objective_of(row)) for row in rows if row.box]
    found = [one for one in named if key_of(one[1]) == wanted] or [
        one for one in named if key_of(one[1]).startswith(wanted)
    ]
    if len(found) != 1:
        left = "; ".join(words for _, words, done in named if not done) or "none"
        raise No(f"it has {len(found) or 'no'} such objective{'s' if found else ''} (open: {left})")
    row, words, done = found[0]
    if done:
        raise No("that is done already")
    new = row.with_text(f"{row.text.rstrip()} ({turn_id(sheet.turn)})").replace(f"[{row.box}]", "[x]", 1)
    sheet.put("row", path, HEADING, row.raw, new, reason="done")
    left = sum(not done for _, _, done in named) - 1
    sheet.say(f"{sheet.name(path)}: done: {words}; {left} left to do.", path)


def _stage(sheet: Sheet, move: Move) -> None:
    path = _quest(sheet, move)
    sheet.value(path, "stage", move.args["stage"], noted=True, reason="the quest moved on")
    sheet.say(f"{sheet.name(path)}: {move.args['stage']}.", path)


def _finish(sheet: Sheet, move: Move) -> None:
    path = _quest(sheet, move)
    status = DONE if move.verb == "finish" else FAILED
    if "text" in move.args:
        sheet.put("arc", path, text=move.args["text"], reason="how it ended")
    sheet.value(path, "status", status, noted=True, reason="the quest is over")
    sheet.say(f"The quest {sheet.name(path)} is {status}.", path)
