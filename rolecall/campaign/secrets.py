"""What is secret, and a file without it.

Secret are the fields `truth` and `secret`, a section headed `Secret`, `Secrets` or `GM only` down to the next heading of
its level, a file with `visibility: secret`, and everything under `dm/`. Only the DM's own layer and the writer's
`--secrets` view are given these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rolecall.campaign.frontmatter import Value
from rolecall.campaign.sections import Section

if TYPE_CHECKING:  # the document layer asks here which headings are secret
    from rolecall.campaign.notes import Document

SECRET_FIELDS = ("truth", "secret")
_HEADINGS = {"secret", "secrets", "gm only"}


def is_secret_field(key: str) -> bool:
    """Whether a field of that name is secret, however it is capitalised."""
    return key.strip().casefold() in SECRET_FIELDS


def is_secret_heading(heading: str) -> bool:
    """Whether a section of that heading is secret: decoration around the words (`**Secret:**`, `GM-only`) does not count."""
    words = "".join(c if c.isalnum() else " " for c in heading).casefold().split()
    return " ".join(words) in _HEADINGS


def is_secret_path(path: str, fields: dict[str, Value]) -> bool:
    """Whether the whole file is secret: by its folder `dm/` or by `visibility: secret`."""
    if path.casefold().startswith("dm/"):
        return True
    said = next((v for k, v in fields.items() if k.casefold() == "visibility"), "")
    return isinstance(said, str) and said.strip().casefold() == "secret"


def open_fields(fields: dict[str, Value]) -> dict[str, Value]:
    """The fields without the secret ones, at any depth."""
    return {k: _open(v) for k, v in fields.items() if not is_secret_field(k)}


def _open(value: Value) -> Value:
    if isinstance(value, dict):
        return open_fields(value)
    if isinstance(value, list):
        return [_open(item) for item in value]
    return value


def is_open(section: Section, all_sections: tuple[Section, ...]) -> bool:
    """Whether a section lies under no secret heading, its own included."""
    return not any(s.start <= section.start < s.end and s.level and is_secret_heading(s.heading) for s in all_sections)


def open_sections(document: Document) -> tuple[Section, ...]:
    """The sections of a document that are not secret, in order."""
    hidden = [(s.start, s.end) for s in document.sections if s.level and is_secret_heading(s.heading)]
    found, behind, at = [], 0, 0  # the furthest end of the secret sections that begin here or above
    for section in document.sections:  # in order of their starts, as the secret ones are
        while at < len(hidden) and hidden[at][0] <= section.start:
            behind = max(behind, hidden[at][1])
            at += 1
        if section.start >= behind:
            found.append(section)
    return tuple(found)
