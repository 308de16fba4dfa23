"""What goes on behind the scene: agendas, deeds off-screen, who knows what, and the DM's plan. Dated lines under `dm/`."""

from __future__ import annotations

from rolecall.campaign import plans
from rolecall.campaign.effects import Effect
from rolecall.campaign.journal import turn_id
from rolecall.campaign.plans import Dated
from rolecall.campaign.text import fold
from rolecall.tools.saying import LINE, NAME, WHO, one_line, said, somebody
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema, text

SHOWN = 12  # lines a look-up gives


def dated(table: Table, path: str) -> tuple[Dated, ...]:
    """The dated lines of one of the DM's files as they stand after what is on the table."""
    document = table.now(path)
    return plans.dated_of(document) if document else ()


def _add(table: Table, path: str, words: str) -> None:
    if any(line.turn == table.turn and fold(_words(line)) == fold(words) for line in dated(table, path)):
        raise ToolFault("This turn has said that already.")
    table.put(Effect(plans.DATED, path, table.turn, words))


def _words(line: Dated) -> str:
    return f"{line.who}: {line.text}" if line.who else line.text


def _shown(lines: tuple[Dated, ...] | list[Dated]) -> str:
    return "\n".join(f"- {turn_id(line.turn) + ' ' if line.turn else ''}{_words(line)}" for line in lines[-SHOWN:])


def _set_agenda(table: Table, given: dict) -> str:
    who, wants = somebody(table, given["who"]), said(given, "wants")
    step = f"; next: {said(given, 'next')}" if given.get("next") else ""
    _add(table, plans.AGENDAS, f"{who}: wants {wants.removeprefix('wants ')}{step}")
    return f"{who} wants {wants.removeprefix('wants ')}{step}."


def _advance_agenda(table: Table, given: dict) -> str:
    who, did = somebody(table, given["who"]), said(given, "did")
    if not plans.about(dated(table, plans.AGENDAS), who):
        raise ToolFault(f"{who} has no agenda yet; use `set_agenda`.")
    step = f"; next: {said(given, 'next')}" if given.get("next") else ""
    _add(table, plans.AGENDAS, f"{who}: {did}{step}")
    return f"{who} moves on{step}."


def _agendas(table: Table, given: dict) -> str:
    lines = dated(table, plans.AGENDAS)
    if given.get("who"):
        who = somebody(table, given["who"])
        return _shown(plans.about(lines, who)) or f"{who} has no agenda."
    newest = {fold(line.who): line for line in lines if line.who}
    return _shown(sorted(newest.values(), key=lambda line: line.turn)) or "Nobody has an agenda."


def _act(table: Table, given: dict) -> str:
    who, did = somebody(table, given["who"]), said(given, "did")
    when = f" ({said(given, 'date', NAME)})" if given.get("date") else ""
    _add(table, plans.SHADOW, f"{who}: {did}{when}")
    return f"Unseen, {who}: {did}{when}."


def _offscreen(table: Table, given: dict) -> str:
    lines = dated(table, plans.SHADOW)
    if given.get("who"):
        lines = plans.about(lines, somebody(table, given["who"]))
    return _shown(lines) or "Nothing has happened off-screen."


def _let_know(table: Table, given: dict) -> str:
    who, what = somebody(table, given["who"]), said(given, "what")
    if any(fold(line.text) == fold(what) for line in plans.about(dated(table, plans.KNOWLEDGE), who)):
        raise ToolFault(f"{who} knows that already.")
    _add(table, plans.KNOWLEDGE, f"{who}: {what}")
    return f"{who} knows it now."


def _who_knows(table: Table, given: dict) -> str:
    wanted = [word for word in fold(one_line(given["what"])).split() if len(word) > 2]
    if not wanted:
        raise ToolFault("Name a person, or a few telling words of the matter.")
    found = [line for line in dated(table, plans.KNOWLEDGE) if all(word in fold(_words(line)) for word in wanted)]
    return _shown(found) or "Nobody is noted as knowing that."


def _note_plan(table: Table, given: dict) -> str:
    _add(table, plans.PLAN, said(given))
    return "Noted in the plan."


_NEXT = text("the next step", LINE)
_DID = text("what they did, in a sentence without the name", LINE)

SET_AGENDA = ToolType(
    "set_agenda",
    "Say what somebody wants and will do next.",
    schema(["who", "wants"], who=WHO, wants=text("what they want", LINE), next=_NEXT),
    "mutation",
    _set_agenda,
)
ADVANCE_AGENDA = ToolType(
    "advance_agenda",
    "Say that somebody has taken a step of their agenda.",
    schema(["who", "did"], who=WHO, did=_DID, next=_NEXT),
    "mutation",
    _advance_agenda,
)
AGENDAS = ToolType("agendas", "What everybody wants next, or one's agenda so far.", schema(who=WHO), "read", _agendas)
ACT_OFFSCREEN = ToolType(
    "act_offscreen",
    "Let somebody act where the player cannot see it.",
    schema(["who", "did"], who=WHO, did=_DID, date=text("the date, if it is another day", NAME)),
    "mutation",
    _act,
)
OFFSCREEN = ToolType("offscreen", "What happened off-screen lately.", schema(who=WHO), "read", _offscreen)
LET_KNOW = ToolType(
    "let_know",
    "Note that somebody has learned something not everybody knows.",
    schema(["who", "what"], who=WHO, what=text("the fact, in a sentence", LINE)),
    "mutation",
    _let_know,
)
WHO_KNOWS = ToolType(
    "who_knows",
    "Look up who knows of a matter, or what a person knows.",
    schema(["what"], what=text("a name or a few telling words", 120)),
    "read",
    _who_knows,
)
NOTE_PLAN = ToolType(
    "note_plan",
    "Add a dated line to your own plan.",
    schema(["text"], text=text("what is to come of it, in a sentence", LINE)),
    "mutation",
    _note_plan,
)
TOOLS = (SET_AGENDA, ADVANCE_AGENDA, AGENDAS, ACT_OFFSCREEN, OFFSCREEN, LET_KNOW, WHO_KNOWS, NOTE_PLAN)
