"""An entry as its readers see it: the player and most layers without its secrets, the writer and the DM with them."""

from __future__ import annotations

from rolecall.campaign import kinds, macros, secrets
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.frontmatter import Value

_HIDDEN = {"name", "kind", "keys", "pinned", "locked", "forgotten", "visibility", "source", "tags", "seal"}


def text(document: Document, *, with_secrets: bool = False) -> str:
    """A file as plain text: its name and kind, a line per field, then its sections; secrets left out unless asked for.

    A file that is secret as a whole gives the empty string.
    """
    fields = document.fields
    if not with_secrets and secrets.is_secret_path(document.path, fields):
        return ""
    name, kind = kinds.name_of(document.path, fields), kinds.kind_of(document.path, fields)
    lines = [f"# {name} ({kind})"]
    shown = fields if with_secrets else secrets.open_fields(fields)
    lines += [
        f"{key}: {value(held)}" for key, held in shown.items() if key.casefold() not in _HIDDEN and held not in ("", [])
    ]
    parts = ["\n".join(lines)]
    for section in document.sections if with_secrets else secrets.open_sections(document):
        body = section.text.strip()
        if section.level and body:
            parts.append(f"{'#' * section.level} {section.heading}\n\n{body}")
        elif body:
            parts.append(body)
    return "\n\n".join(parts)


def told(campaign: Campaign, path: str, *, with_secrets: bool = False) -> str:
    """A campaign file's `text` as people and models read it: names stand in the place of `{{user}}` and `{{char}}`."""
    return macros.read(campaign, path, text(campaign.document(path), with_secrets=with_secrets))


def value(held: Value) -> str:
    """A field's value on one line."""
    if isinstance(held, dict):
        return ", ".join(f"{k}: {value(v)}" for k, v in held.items() if v not in ("", []))
    if isinstance(held, list):
        mapped = any(isinstance(item, dict) for item in held)
        return ("; " if mapped else ", ").join(value(item) for item in held)
    return held
