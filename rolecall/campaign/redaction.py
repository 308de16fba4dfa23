"""A campaign as a player may have it: every file without its secrets, secret files not there at all.

What `secrets` calls secret is cut out of the bytes: sections whole, fields at any depth. A block of front matter that holds a
secret field, or a comment (a player's view never shows one), is written anew from its open fields; every other byte stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rolecall.campaign import chronicles, documents, kinds, secrets
from rolecall.campaign.documents import Document, parse
from rolecall.campaign.folder import Campaign, Stamp
from rolecall.campaign.frontmatter import BOM, Value, flow, scalar
from rolecall.errors import DocumentError, Malformed, StorageError


@dataclass(frozen=True, slots=True)
class PlayersCampaign(Campaign):
    """A campaign read through the player's eyes; whatever reads a `Campaign` reads this one. Nothing is written by it.

    Each file is read once: this is the campaign at one moment, for one export.
    """

    _opened: dict[str, bytes | DocumentError | None] = field(default_factory=dict, compare=False, repr=False)

    def walk(self, folder: str = "") -> list[tuple[str, Stamp]]:
        """The Markdown files that are not secret. A broken one is among them, and whoever reads it is refused."""
        return [(path, stamp) for path, stamp in Campaign.walk(self, folder) if self._is_open(path)]

    def names(self, folder: str = "") -> list[str]:
        """The paths of `walk` alone."""
        return [path for path in Campaign.names(self, folder) if self._is_open(path)]

    def read(self, path: str) -> bytes:
        """A file without its secrets; StorageError for one that is secret, Malformed for a broken one."""
        if not path.casefold().endswith(".md"):
            return Campaign.read(self, path)
        opened = self._open(path)
        if isinstance(opened, DocumentError):
            raise opened
        if opened is None:
            raise StorageError("this file is secret", path=path, remedy="`--secrets` is the writer's view")
        return opened

    def exists(self, path: str) -> bool:
        """Whether there is such a file and it is not secret."""
        return Campaign.exists(self, path) and (not path.casefold().endswith(".md") or self._is_open(path))

    def _is_open(self, path: str) -> bool:
        return self._open(path) is not None  # of a broken file nobody is told what is in it, but that it is there

    def _open(self, path: str) -> bytes | DocumentError | None:
        if path not in self._opened:
            data = Campaign.read(self, path)
            try:
                self._opened[path] = open_bytes(parse(data, path))
            except DocumentError as error:
                self._opened[path] = error
        return self._opened[path]


def players(campaign: Campaign) -> PlayersCampaign:
    """The same campaign as a player may see it."""
    return PlayersCampaign(campaign.root, campaign.settings)


def open_bytes(document: Document) -> bytes | None:
    """The file without its secrets, the same bytes where it has none; None when the whole file is secret.

    A Chronicle of which a section was cut is sealed anew. Malformed when a secret cannot be taken out cleanly.
    """
    if secrets.is_secret_path(document.path, document.fields):
        return None
    data = document.data
    left = document
    while spans := _secret_spans(left):
        for start, end in reversed(spans):
            data = data[:start] + data[end:]
        left = parse(data, document.path)
    if left is not document and document.text("seal") and kinds.kind_of(document.path, document.fields) == "chronicle":
        data = documents.set_field(data, document.path, "seal", chronicles.seal_of(left))
        left = parse(data, document.path)
    return _open_block(left)


def _secret_spans(document: Document) -> list[tuple[int, int]]:
    """Where secret sections stand, in order, none inside another."""
    found: list[tuple[int, int]] = []
    for section in document.sections:
        if (
            section.level
            and secrets.is_secret_heading(section.heading)
            and (not found or section.start >= found[-1][1])
        ):
            found.append((section.start, section.end))
    return found


def _open_block(document: Document) -> bytes:
    if document.block is None:
        return document.data
    fields = secrets.open_fields(document.fields)
    if fields == document.fields and "#" not in document.block.text:
        return document.data
    mark, end = BOM if document.data.startswith(BOM) else b"", document.newline
    lines = [line for key, value in fields.items() for line in _lines(key, value)]
    data = mark + "".join(f"{line}{end}" for line in ("---", *lines, "---")).encode() + document.body
    try:
        kept = parse(data, document.path).fields == fields
    except DocumentError:
        kept = False
    if not kept:
        remedy = "write the front matter more plainly"
        raise Malformed("its secrets cannot be taken out of the front matter", path=document.path, remedy=remedy)
    return data


def _lines(key: str, value: Value) -> list[str]:
    name = scalar(key)
    if isinstance(value, str):
        return [f"{name}: {scalar(value, '[[')}" if value else f"{name}:"]
    if isinstance(value, dict) or not value:
        return [f"{name}: {flow(value)}"]
    return [f"{name}:", *(f"  - {flow(item)}" for item in value)]
