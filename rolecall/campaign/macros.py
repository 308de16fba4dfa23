"""Names in texts that were written for other programs: `{{user}}` is whom the player plays, `{{char}}` whom a text is about.

Files keep the macros as they came, and so does an export. Where a model or a person reads the text, the names stand there.
Other macros (`{{random}}`, `{{roll}}`, `{{// note}}`) are data and stay: dice are thrown by the game alone.
"""

from __future__ import annotations

import re

from rolecall.campaign import kinds
from rolecall.campaign.folder import Campaign
from rolecall.campaign.game import company
from rolecall.campaign.text import clean_line
from rolecall.errors import CampaignError

NOBODY = "the player"  # where the campaign does not say whom the player plays
CARD = "card"  # the field that names whose card an entry of a book came with
_SCANNED = 200  # character files that are looked through where the party is empty
_NAME = 160  # characters
_USER = re.compile(r"\{\{\s*user\s*\}\}|<user>", re.I)
_CHAR = re.compile(r"\{\{\s*char\s*\}\}|<(?:bot|char)>", re.I)
_PLAYED = re.compile(r"(?:the )?player(?:['’]s)?(?: character)?|pc", re.I)


def read(campaign: Campaign, path: str, text: str) -> str:
    """A text out of the file at `path` with the names in the place of its macros."""
    if not holds(text):
        return text
    return named(text, player=player(campaign) if _USER.search(text) else "", char=_subject(campaign, path))


def holds(text: str) -> bool:
    """Whether a name is to be put into a text."""
    return ("{{" in text or "<" in text) and bool(_USER.search(text) or _CHAR.search(text))


def holds_char(text: str) -> bool:
    """Whether a text speaks of its character by the macro."""
    return bool(_CHAR.search(text))


def named(text: str, *, player: str, char: str) -> str:
    """The text with these names; an empty one leaves its macro."""
    if player:
        text = _USER.sub(lambda _: player, text)
    return _CHAR.sub(lambda _: char, text) if char else text


def player(campaign: Campaign) -> str:
    """Whom the player plays: the first of the party, else who has `role: player character`, else `NOBODY`."""
    try:
        party = company.members(campaign.document(kinds.STATE_FILE))
        found = party[0][0] if party else _by_role(campaign)
    except CampaignError:
        found = ""
    return clean_line(found, _NAME) or NOBODY


def _by_role(campaign: Campaign) -> str:
    folder = kinds.ENTRY_KINDS["character"].folder
    if not (campaign.root / folder).is_dir():
        return ""
    for path in campaign.names(folder)[:_SCANNED]:
        try:
            fields = campaign.document(path).fields
        except CampaignError:
            continue
        role = fields.get("role", "")
        if isinstance(role, str) and _PLAYED.fullmatch(role.strip()):
            return kinds.name_of(path, fields)
    return ""


def _subject(campaign: Campaign, path: str) -> str:
    """Whom a file's `{{char}}` means: the card its entry came with, else the entry itself; in a text of the game nobody."""
    try:
        fields = campaign.document(path).fields
    except CampaignError:
        return ""
    if kinds.kind_of(path, fields) not in kinds.ENTRY_KINDS:
        return ""
    card = fields.get(CARD, "")
    return clean_line(card if isinstance(card, str) and card.strip() else kinds.name_of(path, fields), _NAME)
