"""The Bell Road: the campaign the adventure of fifty turns begins in, and the file its scripted models answer from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from rolecall.campaign import template
from rolecall.campaign.journal import turn_id
from tests.game.adventure import TURNS, Turn

SETTINGS = """\
format: 1
name: The Bell Road
language: en
timeouts: {turn_dm: 60, dm: 60, sidecar: 60, narrator: 60}
memory: {fold_at: 1250, keep_lines: 4, historian_every: 20}
git: off
"""
FILES = {
    "campaign-state.md": """\
---
name: Campaign State
date: Millday, 17 Reaping 311   # by the Ford's own reckoning
time: "08:00"
weather: clear
scene: Market day
location: Hallow Ford
---
The writer's opening, which nobody changes.

## Party

- [[Ilka Thorn]], sell-sword
- [[Bram Oster]]: her oldest friend

## Resources

- silver: 60
- rations: 6/10

## Promises

## Journal
""",
    "rules/the-reckoning-of-the-ford.md": """\
---
name: The Reckoning of the Ford
kind: rule
months: [Sowing 20, Reaping 20, Rime 15]
weekdays: [Ashday, Millday, Fairday, Saltday, Restday]
seasons: [Spring from Sowing, Autumn from Reaping, Winter from Rime]
weekday_on: 1 Sowing 300 = Ashday
affinity_lowest: -5
affinity_highest: 5
---
Three months, five days to the week.
""",
    "characters/ilka-thorn.md": """\
---
name: Ilka Thorn
kind: character
aliases: [Ilka]
location: Hallow Ford
hit_points: 14/14
inventory:
  - {item: sword, worn: hand}   # her father's
  - {item: torch, count: 2}
---
The player's own.
""",
    "characters/bram-oster.md": """\
---
name: Bram Oster
kind: character
aliases: [Bram]
status: cheerful
location: Hallow Ford
hit_points: 10/10
affinity: 4
relationships:
  - {with: Ilka Thorn, nature: friends, status: loyal, affinity: 4}
---
A carter with a good laugh.
""",
    "characters/sister-maud.md": """\
---
name: Sister Maud
kind: character
aliases: [Maud]
location: Hallow Ford
hit_points: 8/8
affinity: 1
inventory: [The Bell Key, 2 bandages]
---
A healer from over the pass.
""",
    "characters/osk-varn.md": """\
---
name: Osk Varn
kind: character
role: toll lord
status: in his hall
location: Varn's Keep
hit_points: 16/16
---
He counts everything twice.
""",
    "characters/nan-pell.md": "---\nname: Nan Pell\nkind: character\nlocation: Hallow Ford\naffinity: 0\n---\nSells rope and news.\n",
    "locations/hallow-ford.md": """\
---
name: Hallow Ford
kind: location
discovered: T0000
connections:
  - {to: The High Pass, way: the old road, days: 3}
---
A market at a river.
""",
    "locations/the-high-pass.md": """\
---
name: The High Pass
kind: location
connections:
  - {to: Hallow Ford, way: the old road, days: 3}
---
Wind and stone.
""",
    "locations/winter-abbey.md": "---\nname: Winter Abbey\nkind: location\n---\nA house without a bell.\n",
    "locations/the-crypt.md": "---\nname: The Crypt\nkind: location\nwithin: Winter Abbey\n---\nUnder the abbey.\n",
    "locations/varns-keep.md": "---\nname: Varn's Keep\nkind: location\n---\nA toll gate with towers.\n",
    "items/the-bell-key.md": "---\nname: The Bell Key\nkind: item\nholder: Sister Maud\n---\nIt opens the abbey's belfry.\n",
    "arcs/who-holds-the-pass.md": """\
---
name: Who holds the pass
kind: arc
question: Whose is the High Pass?
stakes: the price of salt
status: open
---

## Trail

## Summaries
""",
    "dm/plan.md": "---\nname: Plan\n---\nThe writer's plan: somebody is false.\n",
}  # fmt: skip
_REPLACED = ("arcs", "characters", "dm", "items", "locations", "rules")  # folders of the template with its own story


def make(place: Path) -> Path:
    """The campaign in a new folder: the template's instructions, prose modules and schemas, and the files above."""
    root = template.new(place, "The Bell Road").root
    for folder in _REPLACED:
        shutil.rmtree(root / folder)
    for path, text in {**FILES, "rolecall.yaml": SETTINGS}.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


# -- what the models say


def script(place: Path) -> str:
    """Write the answers of every layer to a file; the spec of the model that gives them."""
    answers = [answer for number, turn in enumerate(TURNS, 1) for answer in _answers(turn_id(number), number, turn)]
    retold = {
        "role": "sidecar",
        "when": "The journal lines, T",
        "text": "So the road went on, and they with it, over the pass and through the snow, as it is told here.",
    }
    place.write_text(json.dumps([*answers, *[retold] * 12]), encoding="utf-8")  # JSON is YAML, and quick to read
    return f"scripted:{place}"


def _answers(turn: str, number: int, told: Turn) -> list[dict[str, Any]]:
    def line(role: str, when: str = "", **more: Any) -> dict[str, Any]:
        return {"turn": turn, "role": role, **({"when": when} if when else {}), **more}

    found = [line("turn_dm", text=json.dumps(_choice(told)))]
    found += [line("dm", tools=_calls(one)) for one in told.plans]
    directed = {"narrator": told.directive, **({"immersion": told.immersion} if told.immersion else {})}
    if told.in_words:
        found.append(line("dm", text=f"```json\n{json.dumps(directed)}\n```"))
    else:
        found.append(line("dm", tools=_calls((("direct", directed),))))
    picks = {"active": ["Ilka Thorn"], "anticipatory": ["The Bell Key"], "enrichment": [], "wild": []}
    found.append(line("sidecar", "# The action", text=json.dumps(picks)))
    found += [line("narrator", tools=_calls(one)) for one in told.looks]
    found.append(line("narrator", text=told.prose, tools=_calls((*told.does, ("append_journal", {"text": told.line})))))
    kept = [(name, {**given, "reason": "told so", "source": told.prose}) for name, given in told.keeps]
    found.append(line("sidecar", "Its journal line:", **({"tools": _calls(kept)} if kept else {"text": "Nothing."})))
    if number % 20 == 0:
        summed = {"summaries": [{"arc": "Who holds the pass", "text": f"Up to {turn} the pass was disputed."}]}
        found.append(line("sidecar", "# What happened", text=json.dumps(summed)))
    left = {
        "entities": [],
        "suggestions": ["I look at the sky.", "I ask Maud.", "I walk on."],
        "scene_changed": False,
    }
    found.append(line("afterwork", text=json.dumps(left)))
    return found


def _calls(calls: Any) -> list[dict[str, Any]]:
    return [{"name": name, "arguments": given} for name, given in calls]


def _choice(told: Turn) -> dict[str, Any]:
    """What the TurnDM says: names that are known, a module of prose, and what it intends."""
    intends = {"add": [], "withdraw": [], "fulfil": [], **told.intends}
    return {
        "entries": [{"name": "Ilka Thorn", "place": "before"}, {"name": "Hallow Ford", "place": "after"}],
        "prose": [{"module": "Plain and close", "place": "middle"}],
        "guidance": {"goals": ["let the weather be felt"], "introduce": [], "threads": []},
        "hints": {"tone": "dry", "beats": [], "stress": [], "avoid": []},
        "intentions": intends,
    }
