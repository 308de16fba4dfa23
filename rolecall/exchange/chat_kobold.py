"""KoboldAI saves: one running text in pieces. Who speaks is marked by the mode: instruct tags, names, or `> ` actions."""

from __future__ import annotations

import re

from rolecall.exchange.chat import PLAYER, STORY, Chat, Gathered
from rolecall.exchange.transcripts import labelled

FORMAT = "KoboldAI save"
_TAG = re.compile(r"\s*(\{\{\[INPUT\]\}\}|\{\{\[OUTPUT\]\}\}|\{\{\[INPUT_END\]\}\}|\{\{\[OUTPUT_END\]\}\})\s*")


def read(given: dict) -> Chat:
    """The story of a save: the prompt and every action after it."""
    gathered = Gathered()
    parts = [given.get("prompt", ""), *given["actions"]]
    for at, part in enumerate(parts):
        if not isinstance(part, str):
            gathered.leave(at, "it is no text")
    texts = [part for part in parts if isinstance(part, str)]
    whole = "".join(texts)
    settings = given.get("savedsettings") if isinstance(given.get("savedsettings"), dict) else {}
    names = _names(settings)
    if _TAG.search(whole):
        _tagged(gathered, whole, names)
    elif names and any(f"\n{name}:" in f"\n{whole}" for name in names):
        for at, (name, said) in enumerate(labelled(whole, set(names)), 1):
            gathered.add(name, said, PLAYER if name == names[0] else STORY, at)
    else:
        for at, text in enumerate(texts):
            _adventure(gathered, text, at)
    return gathered.chat(FORMAT)


def _names(settings: dict) -> list[str]:
    """The player's name and those of the others, as the chat mode knows them."""
    mine, others = settings.get("chatname"), settings.get("chatopponent")
    found = [mine] if isinstance(mine, str) and mine.strip() else ["You"]
    if isinstance(others, str):
        found += [name.strip() for name in others.split("||$||") if name.strip()]
    return [name.strip() for name in found]


def _tagged(gathered: Gathered, whole: str, names: list[str]) -> None:
    player, at = False, 0
    for part in _TAG.split(whole):
        tag = part.strip()
        if tag.startswith("{{[") and tag.endswith("]}}"):
            player = tag == "{{[INPUT]}}"
        elif tag:
            at += 1
            gathered.add(names[0] if player else "", tag, PLAYER if player else STORY, at)


def _adventure(gathered: Gathered, text: str, at: int) -> None:
    """A piece of text in which lines that begin with `> ` are what the player does."""
    held: list[str] = []
    for line in text.split("\n"):
        if line.startswith(">"):
            if "".join(held).strip():
                gathered.add("", "\n".join(held), STORY, at)
            held = []
            gathered.add("You", line[1:], PLAYER, at)
        else:
            held.append(line)
    if "".join(held).strip():
        gathered.add("", "\n".join(held), STORY, at)
