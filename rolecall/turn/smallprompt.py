"""The prompt of a very small model: the story told so far as a conversation, and a few plain lines about who is there.

A model of a hundred million weights takes headings and lists for something to imitate; it goes on with a story when it is
shown one. So the same sources as in `context` are said in its way: instruction, cast and the Campaign State in sentences,
then action and prose in turns.
"""

from __future__ import annotations

import re
from dataclasses import replace

from rolecall.campaign import facts, journal, secrets
from rolecall.campaign.documents import Document
from rolecall.campaign.effects import promises_of
from rolecall.models import tokens
from rolecall.models.messages import Message, Request, Text
from rolecall.turn.budget import Priced

ANSWER = 280  # tokens
CAST = 6  # entries that get a line
LINE = 220  # characters of such a line
TURNS = 2  # recent turns shown, newest last
EARLIER = 700  # characters of journal lines
ROOM = 0.92  # of the budget: the chat template adds tokens of its own
_HEADING = re.compile(r"^#+ (.*?) \(\w+\)$")


def assemble(
    instruction: str,
    state: Document,
    told: tuple,
    passages: list[Priced],
    action: str,
    budget: int,
    directive: str = "",
) -> tuple[Request, list[Priced]]:
    """The request within `budget` tokens, and the passages with their verdicts and true prices.

    `directive` is told where there is room for it: after the newest turn, before anything older.
    """
    cast = [replace(p, text=line, tokens=tokens.estimate(line)) for p in passages if (line := _cast_line(p.text))]
    lines = sorted((p for p in cast if p.owner in ("pinned", "active")), key=_importance)[:CAST]
    shown = list(told[-TURNS:])
    earlier = EARLIER
    while True:
        request = _request(instruction, state, lines, shown, action, earlier, directive)
        if tokens.estimate_request(request) <= budget * ROOM:
            break
        if len(shown) > 1:
            shown = shown[1:]
        elif lines and lines[-1].owner != "pinned":
            lines = lines[:-1]
        elif earlier > 0:
            earlier -= 100
        elif directive:
            directive = ""
        elif shown:
            shown = []
        else:
            break  # the state's own head is never cut
    kept = {p.path for p in lines}
    return request, [replace(p, kept=p.path in kept) for p in cast]


def _importance(passage: Priced) -> tuple[bool, bool, int]:
    """The pinned first, then people, then the rest by rank."""
    return passage.owner != "pinned", passage.position != "beside a character", passage.rank


def _request(
    instruction: str,
    state: Document,
    lines: list[Priced],
    shown: list,
    action: str,
    earlier: int,
    directive: str,
) -> Request:
    cast, next_ = "\n".join(p.text for p in lines), f"What comes next: {directive}" if directive else ""
    system = "\n\n".join(part for part in (instruction, cast, _state(state, earlier), next_) if part)
    messages = [Message("user", (Text("Begin the story."),)), Message("assistant", (Text(_opening(state)),))]
    if shown:
        messages = []
    for turn in shown:
        messages += [_move(turn.action), Message("assistant", (Text(turn.prose),))]
    return Request((Text(system, cache=True),), (*messages, _move(action)), (), ANSWER)


def _move(action: str) -> Message:
    return Message("user", (Text(f"{_you(action) or 'Go on.'}\nContinue the story."),))


def _you(action: str) -> str:
    """The action told to the player's character: `I climb down` becomes `You climb down` (English; others stay)."""
    text = re.sub(r"\bI am\b|\bI'm\b", "you are", action)
    text = re.sub(r"\bI\b", "you", text)
    text = re.sub(r"\bmy\b", "your", text)
    text = re.sub(r"\b(?:me|myself)\b", "you", text)
    return text[:1].upper() + text[1:]


def _cast_line(text: str) -> str:
    """An entry in one line: its name, role and status, and the first sentences of its prose."""
    head, _, body = text.partition("\n\n")
    first, *fields = head.split("\n")
    match = _HEADING.match(first)
    if not match:
        return ""
    known = dict(field.split(": ", 1) for field in fields if ": " in field)
    said = ", ".join(known[key] for key in ("role", "type", "status") if known.get(key))
    prose = re.sub(r"^#+ .*$|\[\[|\]\]", "", body, flags=re.M)
    line = f"{match[1]}: {said}. " if said else f"{match[1]}: "
    for sentence in facts.sentences(prose):
        if len(line) + len(sentence) > LINE:
            break
        line += sentence + " "
    return line.strip()


def _state(state: Document, earlier: int) -> str:
    """The Campaign State in sentences: where, when, who, what is promised, and the newest journal lines that fit."""
    parts = [
        f"{name}: {state.text(key)}."
        for name, key in (("Place", "location"), ("Time", "date"), ("Scene", "scene"))
        if state.text(key)
    ]
    party = state.section("Party")
    if party and party.text.strip():
        members = [
            line.strip("-* ").replace("[[", "").replace("]]", "") for line in party.text.splitlines() if line.strip()
        ]
        parts.append(f"With you: {'; '.join(members)}.")
    standing = [p.words for p in promises_of(state) if not p.kept]
    if standing:
        parts.append(f"Promises: {'; '.join(standing)}.")
    lines: list[str] = []
    for line in reversed(journal.lines_of(state)):
        earlier -= len(line.text)
        if earlier < 0:
            break
        lines.append(line.text)
    if lines:
        parts.append("Earlier: " + " ".join(reversed(lines)))
    return "\n".join(parts)


def _opening(state: Document) -> str:
    """The opening scene: the state's own prose, or a sentence made of its fields."""
    prose = secrets.open_sections(state)[0].text.strip() if state.sections else ""
    prose = " ".join(re.sub(r"\[\[|\]\]", "", prose).split())
    return prose or f"You are at {state.text('location') or 'the beginning'}. {state.text('scene')}".strip()
