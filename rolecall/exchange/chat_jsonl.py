"""SillyTavern's chats: JSON lines, a header first (newer ones say "unused" for the names, some have none).

The text is `mes`, whatever `swipes` says. `is_system` marks the program's own notices and also messages that the user
hid from the model: a hidden message of somebody who speaks is part of the story. Blank and broken lines occur.
"""

from __future__ import annotations

import json

from rolecall.exchange.chat import PLAYER, STORY, Chat, Gathered
from rolecall.exchange.chat_dates import read_date

FORMAT = "SillyTavern chat"
LONGEST_LINE = 8 * 1024 * 1024  # characters; what is longer is no message
_NOTICES = {
    "help", "welcome", "empty", "generic", "slash_commands", "formatting", "hotkeys", "macros", "welcome_prompt",
    "assistant_note", "assistant_message", "group_generate", "comment",
}  # fmt: skip


def is_chat(data: str) -> bool:
    """Whether one of the first lines is a message or the header of a SillyTavern chat."""
    for line in data.split("\n", 20)[:20]:
        given = _object(line)
        if given and ("mes" in given or "chat_metadata" in given or {"user_name", "character_name"} <= set(given)):
            return True
    return False


def read(data: str) -> Chat:
    """The chat in a file's text."""
    rows, gathered, broken = [], Gathered(), 0
    for at, line in enumerate(data.split("\n"), 1):
        if not line.strip(" \t\r\0"):
            continue
        given = _object(line)
        if given is None:
            gathered.leave(at, "the line is no JSON object")
            broken += 1
        else:
            rows.append((at, given))
    head = next((row for _, row in rows[:1] if "mes" not in row), {})
    talk = [(at, row) for at, row in rows if row is not head]
    visible = {row.get("name") for _, row in talk if not row.get("is_system") and isinstance(row.get("name"), str)}
    named = (head.get("user_name"), head.get("character_name"))
    visible |= {name for name in named if isinstance(name, str) and name not in ("unused", "")}
    swipes = 0
    for at, row in talk:
        swipes += _take(gathered, at, row, visible, head)
    notes = [f"{swipes} other answers (swipes) stand in the original only."] if swipes else []
    return gathered.chat(FORMAT, _title(head), notes)


def _take(gathered: Gathered, at: int, row: dict, visible: set, head: dict) -> int:
    """Take one message; how many other answers stand beside it."""
    text, extra = _text(row.get("mes")), row.get("extra") if isinstance(row.get("extra"), dict) else {}
    if "mes" not in row:
        gathered.leave(at, "it is no message")
        return 0
    sort = extra.get("type") if isinstance(extra.get("type"), str) else ""
    if sort in _NOTICES or extra.get("isSmallSys") or extra.get("tool_invocations"):
        gathered.leave(at, "a notice of the program")
        return 0
    name = row.get("name") if isinstance(row.get("name"), str) else ""
    if row.get("is_system") and sort != "narrator" and name not in visible:
        gathered.leave(at, "a notice of the program")
        return 0
    if sort == "narrator":
        name = ""
    is_user = row.get("is_user") in (True, "true", 1)
    if not name and is_user:
        name = head.get("user_name") if head.get("user_name") != "unused" else "You"
    swipes = row.get("swipes") if isinstance(row.get("swipes"), list) else []
    others = max(0, len([one for one in swipes if _text(one)]) - 1)
    gathered.add(name, text, PLAYER if is_user else STORY, at, read_date(row.get("send_date")), others)
    return others


def _text(given: object) -> str:
    """A message's text; Chub nests it in objects."""
    for _ in range(4):
        if not isinstance(given, dict):
            break
        given = given.get("message", given.get("mes", ""))
    return given if isinstance(given, str) else ""


def _title(head: dict) -> str:
    name = head.get("character_name")
    return name if isinstance(name, str) and name != "unused" else ""


def _object(line: str) -> dict | None:
    if len(line) > LONGEST_LINE:
        return None
    try:
        given = json.loads(line.strip().strip("\0\ufeff"))
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None
