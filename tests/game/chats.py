"""A chat of any length in SillyTavern's form, and a model that answers the three questions about each chunk by its words alone."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

from tests.loopback import storyteller
from tests.loopback.replies import Reply

PEOPLE = ("Sera Vane", "Old Tobin", "Marta", "Captain Varr", "Ilse", "Brannoch", "Deacon Holt", "Wren")
PLACES = ("Greywater", "the Salt Stairs", "the Broken Anchor", "Hollow Ness", "the drowned chapel")
DEEDS = (
    "hides a ledger",
    "asks for the key",
    "swears to come back",
    "lies about the well",
    "laughs and shuts the door",
    "counts nine coins",
)
_CHUNK = re.compile(r"Chunk \d+ of \d+\.")
_SCENE = re.compile(r"^Scene (\d+)$", re.M)


def write(path: Path, messages: int, seed: int = 1) -> list[str]:
    """Write a chat of so many messages; their texts."""
    dice = random.Random(seed)
    lines: list[dict[str, Any]] = [{"user_name": "Kit", "character_name": "The Salt Coast", "chat_metadata": {}}]
    texts = []
    for number in range(messages):
        who, where = dice.choice(PEOPLE), dice.choice(PLACES)
        mine = number % 2 == 0
        if mine:
            text = f"I ask {who} about {where}, for the {storyteller.ordinal(number)} time."
        else:
            others = " ".join(f"{dice.choice(PEOPLE)} {dice.choice(DEEDS)} at {dice.choice(PLACES)}." for _ in range(4))
            text = f"{who} looks up. “You were in {where},” says {who}. {others} That was number {number}."
        when = f"2024-{1 + number // 60 % 12}-{1 + number // 20 % 28}@{10 + number % 10}h{number % 60}m00s"
        name = "Kit" if mine else "The Salt Coast"
        lines.append({"name": name, "is_user": mine, "is_system": False, "send_date": when, "mes": text})
        texts.append(text)
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n", "utf-8")
    return texts


def any_reply(body: dict[str, Any]) -> Reply:
    """What the model says to a question about a chunk; to anything else what the storyteller says."""
    asks_of_chunk = any(_CHUNK.match(storyteller.text_of(message)) for message in body["messages"])
    return reply(body) if asks_of_chunk else storyteller.reply(body)


def reply(body: dict[str, Any]) -> Reply:
    """What the model says: always the same to the same words."""
    messages = body["messages"]
    said = "".join(storyteller.text_of(message) for message in messages if message["role"] == "user")
    scenes = [int(number) for number in _SCENE.findall(said)]
    schema = storyteller.schema_of(body)
    if schema is None:
        return _facts(said, scenes, any(m["role"] == "assistant" for m in messages))
    if "look_up" in schema["properties"]:
        named = [who for who in PEOPLE if who in said]
        return Reply(text=json.dumps({"look_up": named, "reasoning": f"These stand in scenes from {scenes[0]} on."}))
    told = {
        "journal": [{"scene": n, "text": f"Kit asked around, the {storyteller.ordinal(n)} scene."} for n in scenes],
        "retelling": f"From scene {scenes[0]} to scene {scenes[-1]} Kit went from door to door and was told little.",
        "arcs": [
            {
                "arc": "Who poisoned the well" if scenes[0] % 2 else "Where the ledger is",
                "question": "Who did it?",
                "stakes": "The harvest.",
                "scene": scenes[0],
                "text": f"Nobody would say in scene {scenes[0]}.",
                "summary": f"Up to scene {scenes[-1]} it stayed open.",
            }
        ],
        "reasoning": f"The chunk of scene {scenes[0]} is about the well.",
    }
    return Reply(text=json.dumps(told))


def _facts(said: str, scenes: list[int], again: bool) -> Reply:
    if again:
        return Reply(text=f"I kept who was met from scene {scenes[0]} on.")
    calls = []
    for who in [who for who in PEOPLE if f"{who} looks up" in said]:
        source = f"{who} looks up."
        calls.append(
            ("record_character", {"name": who, "text": f"{who} was asked by Kit.", "reason": "met", "source": source})
        )
    calls.append(("record_location", {"name": "Greywater", "type": "town", "reason": "named", "source": ""}))
    return Reply(tools=tuple(calls))


def files(root: Path) -> dict[str, bytes]:
    """Every file of a campaign but the machine's own, by path."""
    found = sorted(p for p in root.rglob("*") if p.is_file())
    return {
        path: place.read_bytes()
        for place in found
        if not (path := place.relative_to(root).as_posix()).startswith(".rolecall/")
    }
