"""Chapters: the DM closes one when a stretch of the story is over, and gives it its name."""

from __future__ import annotations

from rolecall.campaign import story
from rolecall.campaign.journal import turn_id
from rolecall.tools.saying import NAME, one_line
from rolecall.tools.toolbox import Table, ToolFault, ToolType, schema, text


def _title(given: dict, key: str) -> str:
    title = one_line(given[key], NAME)
    if not any(char.isalnum() for char in title):
        raise ToolFault("A chapter's name says something.")
    return title


def _close(table: Table, given: dict) -> str:
    path, _ = story.place(table.campaign, table.turn, story.title_from(table.campaign, table.state))
    document = table.now(path)
    if document is not None and document.text(story.CLOSED).strip():
        raise ToolFault("This chapter is closed already.")
    said = {story.CLOSED: turn_id(table.turn)} | ({story.NEXT: _title(given, "next")} if given.get("next") else {})
    table.effects += [table.replacing(path, key, words, reason="the chapter ended") for key, words in said.items()]
    return "The chapter ends with this turn; the next one begins a new file."


def _name(table: Table, given: dict) -> str:
    path, new = story.place(table.campaign, table.turn, story.title_from(table.campaign, table.state))
    title = _title(given, "name")
    table.effects.append(table.replacing(path, "name", title, reason="the chapter was named", made_with=new))
    return f"The chapter is called {title}."


CLOSE_CHAPTER = ToolType(
    "close_chapter",
    "End the story's chapter with this turn.",
    schema(next=text("the next chapter's name", NAME)),
    "mutation",
    _close,
)
NAME_CHAPTER = ToolType(
    "name_chapter",
    "Name the chapter that is being told.",
    schema(["name"], name=text("its name, without a number", NAME)),
    "mutation",
    _name,
)
TOOLS = (CLOSE_CHAPTER, NAME_CHAPTER)
