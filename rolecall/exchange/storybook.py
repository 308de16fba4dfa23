"""The story as a book: chapters out of `story/`, each a list of passages, and the book as one Markdown text. Pure.

Turn numbers, comments and link marks are the campaign's; a reader gets the player's action as a quote, the prose, and a rule
between two turns. Headings a writer has put into a chapter stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from rolecall.campaign import kinds, story
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import turn_number
from rolecall.campaign.text import clean, clean_line, uncommented
from rolecall.errors import ExchangeError
from rolecall.exchange.selection import unlinked

BREAK = "* * *"


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: its number, its title, and its Markdown without the title."""

    number: int
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Storybook:
    """The whole story; `language` as in the settings."""

    title: str
    language: str
    chapters: tuple[Chapter, ...]


def of(campaign: Campaign) -> Storybook:
    """The story of a campaign as it is read; ExchangeError when there is none."""
    found = []
    for _, path in story.chapters(campaign):
        document = campaign.document(path)
        text = _text(document)
        if text:
            found.append(Chapter(len(found) + 1, clean_line(kinds.name_of(path, document.fields), 200), text))
    if not found:
        raise ExchangeError("there is no story yet", path=f"{story.FOLDER}/", remedy="play a turn, or ingest a chat")
    title = clean_line(campaign.settings.name, 200) or campaign.root.name
    return Storybook(title, campaign.settings.language, tuple(found))


def markdown(book: Storybook) -> str:
    """The book as Markdown: its title, a heading a chapter."""
    parts = [f"# {book.title}"]
    for chapter in book.chapters:
        parts += [f"## {chapter.title}", chapter.text]
    return "\n\n".join(parts) + "\n"


def _text(document: Document) -> str:
    parts: list[str] = []
    told = False
    for section in document.sections:
        action, prose = story.split(plain(section.text))
        turn = section.level == 2 and turn_number(section.heading) is not None
        if turn and told:
            parts.append(BREAK)
        told = told or turn
        if section.level and not turn:
            parts.append(f"{'#' * max(3, section.level)} {plain(section.heading)}")
        if action:
            parts.append("\n".join(f"> {line}".rstrip() for line in action.split("\n")))
        if prose:
            parts.append(prose)
    return "\n\n".join(parts)


def plain(text: str) -> str:
    """A text without comments, link marks, and what no file should hold."""
    return uncommented(unlinked(clean(text))).strip("\n")
