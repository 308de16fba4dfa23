"""The receipt of a chat: in plain sentences what became of it, what was set aside and why, and where the original lies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rolecall.campaign.text import clean_line
from rolecall.exchange.chat import Chat
from rolecall.exchange.planning import safe_name

LISTED = 500  # rows of one list


def receipt(file: str, chat: Chat, made: dict, cast: Sequence[str]) -> str:
    """The receipt as Markdown. `made` is what `ingest --json` prints."""
    first, last = made["turns"]
    said = Counter(m.speaker for m in chat.messages)
    parts = [
        f"# {clean_line(chat.title or file, 160)}",
        "",
        f"`{clean_line(file, 200)}` is a {chat.format}. Its {len(chat.messages):,} messages became the turns {first} to {last} "
        f"of this campaign, word for word; {len(chat.set_aside):,} parts of it were set aside.",
        "",
    ]
    parts += _list("Who speaks", [f"{name or 'a narrator'}: {count:,}" for name, count in said.most_common()])
    parts += _list("The story", [_link(path) for path in made["chapters"]])
    parts += _list("Chronicles", [_link(path) for path in made["chronicles"]])
    parts += _list("New entries", [_link(path) for path in made["recorded"]])
    parts += _list("Entries that gained something", [_link(path) for path in made["updated"]])
    parts += _list("Set aside", [f"{one['at']}: {one['why']}." for one in made["set_aside"]])
    parts += _list("What to know", [clean_line(note) for note in made["notes"]])
    parts += [
        "## Where it is",
        "",
        f"- The original, byte for byte: `{safe_name(file)}` beside this receipt.",
        "- Headings, rules and code fences in the chat stand escaped in the story, so that they cannot be taken for its own.",
        "- `rolecall ingest --undo` takes it back as long as no turn was told after it.",
    ]
    return "\n".join(parts).rstrip() + "\n"


def _link(path: str) -> str:
    return f"[{path}](../../{path.replace(' ', '%20')})"


def _list(heading: str, rows: Sequence[str]) -> list[str]:
    if not rows:
        return []
    more = [f"- … and {len(rows) - LISTED:,} more."] if len(rows) > LISTED else []
    return [f"## {heading}", "", *(f"- {row}" for row in rows[:LISTED]), *more, ""]
