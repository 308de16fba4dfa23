"""Words that RoleCall reads and that are nearly written: kinds, fields, what is to be hidden. For `rolecall check`.

Keys and kinds of the writer's own are welcome and left alone; a key one slip away from one that RoleCall reads was meant as that
one, and what a writer marked as hidden in words RoleCall does not know is shown to the player.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rolecall.campaign import kinds
from rolecall.campaign.connections import is_loose
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import counts
from rolecall.campaign.problems import Problem, near

_ENTRY_KINDS = (*kinds.ENTRY_KINDS, "arc", "quest")
# Beside a kind's own fields: keys of the files themselves, and those other programs write that are one slip away from ours.
_ALSO = frozenset(
    {"sources", "date", "dates", "stats", "states", "tag", "title", "truth", "question", "stakes", "latest", "stage", "power", "value",
     "values", "rules", "scene", "hidden"}
)  # fmt: skip
_HIDING_HEADING = re.compile(
    r"(?:(?:dm|gm)(?:'?s)? (?:only|notes?|secrets?|eyes only|info|information)|for (?:the )?(?:dm|gm)(?: only)?|"
    r"hidden(?: truth)?|(?:the )?truth|secret (?:notes?|truth|info|information)|spoilers?)"
)
_HIDING_FIELD = frozenset(
    {"secrets", "truths", "gm_notes", "dm_notes", "gm_only", "dm_only", "gm notes", "dm notes", "gm only", "dm only"}
)
_HIDING_VISIBILITY = frozenset({"hidden", "gm", "dm", "gm only", "dm only", "private", "secrets", "gm-only", "dm-only"})


def problems(document: Document) -> Iterator[Problem]:
    """What of one file is nearly what RoleCall reads."""
    if not counts(document.path) or document.path.casefold().startswith(("story/", "chronicles/")):
        return
    if document.block:
        yield from _kind(document)
        yield from _keys(document)
    if not document.path.casefold().startswith("dm/") and document.text("visibility").strip().casefold() != "secret":
        yield from _shown(document)


def _kind(document: Document) -> Iterator[Problem]:
    said = document.text("kind").strip()
    if not said or said.casefold() in kinds.KINDS:
        return
    meant = near(said, _ENTRY_KINDS)
    placed = kinds.kind_of(document.path, {})
    message = f"`{said}` is no kind; the file counts as {placed}"
    remedy = f"did you mean `{meant}`?" if meant else f"write one of {', '.join(_ENTRY_KINDS)}, or another key"
    loose = is_loose(document.path, {}) and not meant
    yield Problem(document.path, document.block.line_of("kind"), "unknown-kind", message, remedy, loose)


def _keys(document: Document) -> Iterator[Problem]:
    kind = kinds.kind_of(document.path, document.fields)
    if kind not in _ENTRY_KINDS:
        return
    own = kinds.ENTRY_KINDS[kind].fields if kind in kinds.ENTRY_KINDS else kinds.ARC_FIELDS
    known = {*own, *kinds.COMMON}
    loose = is_loose(document.path, document.fields)
    for key, _ in document.block.pairs():
        word = key.value.strip()
        if word.casefold() in known | _ALSO | _HIDING_FIELD:
            continue
        meant = near(word, known)
        if meant and meant not in {k.casefold() for k in document.fields}:
            message = f"`{word}` is no field of {_article(kind)}"
            yield Problem(document.path, key.line + 2, "unknown-field", message, f"did you mean `{meant}`?", loose)


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}" if kind != "lore" else "lore"


def _shown(document: Document) -> Iterator[Problem]:
    """What is marked as hidden in words that hide nothing."""
    kind = kinds.kind_of(document.path, document.fields)
    if kind not in (*_ENTRY_KINDS, "state"):
        return
    loose = is_loose(document.path, document.fields)
    for section in document.sections:
        words = " ".join("".join(c if c.isalnum() or c in "'’" else " " for c in section.heading).casefold().split())
        if section.level and _HIDING_HEADING.fullmatch(words.replace("’", "'")):
            message = f"the section `{section.heading}` is shown to the player"
            remedy = "head it `Secret`, `Secrets` or `GM only` to hide it"
            yield Problem(document.path, section.line, "secret-shown", message, remedy, loose)
    for key, _ in document.block.pairs() if document.block else ():
        if key.value.strip().casefold() in _HIDING_FIELD:
            message = f"the field `{key.value}` is shown to the player"
            remedy = "name it `secret` or `truth` to hide it"
            yield Problem(document.path, key.line + 2, "secret-shown", message, remedy, loose)
    said = document.text("visibility").strip()
    if said.casefold() in _HIDING_VISIBILITY:
        message = f"`visibility: {said}` hides nothing"
        yield Problem(
            document.path,
            document.block.line_of("visibility"),
            "secret-shown",
            message,
            "write `visibility: secret`",
            loose,
        )
