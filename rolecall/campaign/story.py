"""The story itself: a file per chapter, a section per turn, readable as a book.

A section is `## T0042`, the player's action as a quote, and the prose. A chapter ends where its front matter says so
(`closed: T0041`, `next:` the next one's title), else at fifty turns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rolecall.campaign import documents
from rolecall.campaign.chronicles import numbered
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.frontmatter import scalar
from rolecall.campaign.journal import turn_id, turn_number
from rolecall.campaign.text import slug

FOLDER = "story"
CHAPTER_TURNS = 50
CLOSED, NEXT = "closed", "next"  # fields of a chapter: the last turn in it, the title of the one after it


@dataclass(frozen=True, slots=True)
class Told:
    """A turn as the story tells it; `line` is its heading's in the file, from 1."""

    path: str
    line: int
    turn: int
    action: str
    prose: str


def chapters(campaign: Campaign) -> list[tuple[int, str]]:
    """(number, path) of every chapter, in order."""
    return numbered(campaign, FOLDER)


def turns_of(document: Document) -> tuple[Told, ...]:
    """The turns a chapter tells, in the order they stand in."""
    told = []
    for section in document.sections:
        number = turn_number(section.heading) if section.level == 2 else None
        if number is not None:
            action, prose = split(section.text)
            told.append(Told(document.path, section.line, number, action, prose))
    return tuple(told)


def split(text: str) -> tuple[str, str]:
    """(action, prose) of a section's text: the quote it begins with, and the rest."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    quoted = 0
    while quoted < len(lines) and lines[quoted].startswith(">"):
        quoted += 1
    action = "\n".join(line[1:].removeprefix(" ") for line in lines[:quoted])
    return action.strip(), "\n".join(lines[quoted:]).strip()


def recent(campaign: Campaign, count: int) -> tuple[Told, ...]:
    """The last `count` turns of the story, oldest first; reads only the chapters it needs."""
    found: tuple[Told, ...] = ()
    for _, path in reversed(chapters(campaign)):
        found = turns_of(campaign.document(path)) + found
        if len(found) >= count:
            break
    return found[-count:] if count else ()


def section(turn: int, action: str, prose: str) -> str:
    """The Markdown of one turn, without a final newline. Prose that begins with a quote gets an empty action above it."""
    quote = "\n".join(f"> {line}".rstrip() for line in action.split("\n"))
    return (
        f"## {turn_id(turn)}\n\n{quote}\n\n{prose}"
        if action or prose.startswith(">")
        else f"## {turn_id(turn)}\n\n{prose}"
    )


def place(campaign: Campaign, turn: int, title: str) -> tuple[str, str]:
    """(path, title) of the chapter in which a turn is told: the last one while it is open and has room, else a new one."""
    found = chapters(campaign)
    if found:
        number, path = found[-1]
        document = campaign.document(path)
        told = turns_of(document)
        room = len(told) < CHAPTER_TURNS and not is_closed(document, turn)
        if room or any(t.turn == turn for t in told):
            return path, ""
        number += 1
        title = document.text(NEXT) or title
    else:
        number = 1
    title = title.strip() or f"Chapter {number}"
    return f"{FOLDER}/{number:03d}-{slug(title, 'chapter')}.md", title


def title_from(campaign: Campaign, state: Document) -> str:
    """What a chapter that begins now is called: the scene, else the place, else the campaign."""
    return state.text("scene") or state.text("location") or campaign.settings.name


def is_closed(document: Document, turn: int) -> bool:
    """Whether a chapter was closed before a turn; a `closed:` that names no turn counts as before all of them."""
    said = document.text(CLOSED).strip()
    return bool(said) and said.casefold() not in ("no", "false") and (turn_number(said) or 0) < turn


def add(data: bytes | None, path: str, title: str, turn: int, action: str, prose: str) -> bytes:
    """The chapter with one turn more (a new chapter for None); the same bytes when it tells that turn already."""
    text = section(turn, action, prose)
    if data is None:
        number = int(re.match(r"\d*", path.rsplit("/", 1)[-1])[0] or 1)
        return f"---\nname: {scalar(title)}\nkind: story\nchapter: {number}\n---\n\n{text}\n".encode()
    document = documents.parse(data, path)
    if any(told.turn == turn for told in turns_of(document)):
        return data
    blank = "" if not data.strip() or data.endswith((b"\n\n", b"\n\r\n")) else "\n"
    return data + documents.append(data, blank + text, document.newline)
