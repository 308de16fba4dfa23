"""Quests: what was undertaken, step by step."""

from __future__ import annotations

from rolecall.tools.directing import game_tool, who
from rolecall.tools.toolbox import text

_QUEST = who("the quest's exact name")

START_QUEST = game_tool(
    "start_quest",
    "The party takes on a quest.",
    ["name"],
    lambda given: {"quests": {"start": [given]}},
    name=who("a short name"),
    question=text("what is to be done, as a question"),
    stakes=text("what hangs on it"),
    stage=text("how far it has come", 120),
    objectives={"type": "array", "maxItems": 12, "items": text("one thing to do")},
)
ADVANCE_QUEST = game_tool(
    "advance_quest",
    "A quest comes to its next stage.",
    ["quest", "stage"],
    lambda given: {"quests": {"stage": [given]}},
    quest=_QUEST,
    stage=text("how far it has come now", 120),
)
ADD_OBJECTIVE = game_tool(
    "add_objective",
    "One thing more is to be done for a quest.",
    ["quest", "objective"],
    lambda given: {"quests": {"objective": [given]}},
    quest=_QUEST,
    objective=text("what"),
)
COMPLETE_OBJECTIVE = game_tool(
    "complete_objective",
    "One thing of a quest is done.",
    ["quest", "objective"],
    lambda given: {"quests": {"complete": [given]}},
    quest=_QUEST,
    objective=text("its words as they stand"),
)
FINISH_QUEST = game_tool(
    "finish_quest",
    "A quest is done.",
    ["quest"],
    lambda given: {"quests": {"finish": [given]}},
    quest=_QUEST,
    text=text("how it ended, in a sentence"),
)
FAIL_QUEST = game_tool(
    "fail_quest",
    "A quest has come to nothing.",
    ["quest"],
    lambda given: {"quests": {"fail": [given]}},
    quest=_QUEST,
    text=text("how, in a sentence"),
)
TOOLS = (START_QUEST, ADVANCE_QUEST, ADD_OBJECTIVE, COMPLETE_OBJECTIVE, FINISH_QUEST, FAIL_QUEST)
