"""A folder of Markdown, an Obsidian vault or any other: every note is copied as it is, byte for byte.

What a note's front matter says is read with python-frontmatter, after RoleCall's own reader has found it sound (that one
stops at aliases, at deep nesting and at keys that stand twice). A note with a broken block is copied all the same, and
withheld from the models until it is mended. Only a note that says it is constant or switched off gets a line more.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath

from rolecall.campaign import documents
from rolecall.campaign.filenames import is_fit
from rolecall.campaign.files import refused
from rolecall.campaign.folder import CONFLICT_COPY, is_junk
from rolecall.campaign.kinds import ENTRY_KINDS, name_of
from rolecall.campaign.text import clean_line, slug
from rolecall.errors import DocumentError, ExchangeError
from rolecall.exchange import loose, sorting
from rolecall.exchange.book import Refused
from rolecall.exchange.card import Parcel
from rolecall.exchange.formats import contents
from rolecall.exchange.pages import OFF, Page
from rolecall.exchange.planning import Made, Places, Plan, free_folder

WITHHELD = "it is withheld from the models until that is mended"
FORMAT = "a folder of Markdown"
VAULT = "an Obsidian vault"
ONE = "a Markdown note"
MAX_NOTES = 20_000
MAX_NOTE = 4 * 1024 * 1024  # bytes
MAX_TOTAL = 24 * 1024 * 1024  # bytes of all notes
MAX_DEPTH = 16  # folders in folders
ENDINGS = (".md", ".markdown")
_ALWAYS, _NEVER = "lorebook-always", "lorebook-never"


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes of a folder: (path in it, bytes), what was set aside, and how many other files of which sort it has."""

    title: str
    files: tuple[tuple[str, bytes], ...]
    refused: tuple[Refused, ...]
    others: tuple[tuple[str, int], ...]
    is_vault: bool

    @property
    def sha256(self) -> str:
        """One sum for all of them."""
        whole = sha256()
        for path, data in self.files:
            whole.update(f"{path}\0{sha256(data).hexdigest()}\n".encode("utf-8", "replace"))
        return whole.hexdigest()


def read(place: Path) -> Notes:
    """The notes below a folder; ExchangeError when there are none, or more than can be taken."""
    found: list[tuple[str, bytes]] = []
    aside: list[Refused] = []
    others: Counter[str] = Counter()
    total = 0
    for path, what in _walk(place, "", 0):
        if what:
            aside.append(Refused(path, "", what))
        elif not is_note(Path(path)):
            others[PurePosixPath(path).suffix.casefold() or PurePosixPath(path).name] += 1
        else:
            try:
                data = contents(place / path, MAX_NOTE)
            except ExchangeError as error:
                aside.append(Refused(path, "", error.what))
                continue
            found.append((path, data))
            total += len(data)
        if len(found) > MAX_NOTES or total > MAX_TOTAL:
            what = f"the folder holds more than {MAX_NOTES:,} notes or {MAX_TOTAL // 1024 // 1024} MiB of them"
            raise ExchangeError(what, path=place, remedy="make it a campaign in place: `rolecall new --adopt DIR`")
    if not found:
        raise ExchangeError(
            "there is no Markdown in this folder", path=place, remedy="name the folder that holds your notes"
        )
    is_vault = (place / ".obsidian").is_dir()
    title = clean_line(place.resolve().name, 80) or "Notes"
    return Notes(title, tuple(found), tuple(aside), tuple(sorted(others.items())), is_vault)


def read_one(place: Path) -> Notes:
    """One note by itself."""
    data = contents(place, MAX_NOTE)
    return Notes(clean_line(place.stem, 80) or "Note", ((place.name, data),), (), (), False)


def is_note(place: Path) -> bool:
    """Whether a file's name says that it is Markdown."""
    return place.suffix.casefold() in ENDINGS


def plan(notes: Notes, *, taken: Callable[[str], bool]) -> Plan:
    """Where each note goes: into its kind's folder, under the folder's name, at its own path there."""
    folder = free_folder(notes.title, taken)
    stem = folder.rsplit("/", 1)[-1]
    free, originals = Places(taken), Places(taken)
    made, kept = [], []
    for path, data in notes.files:
        page, new = _page(path, data)
        head, ending = os.path.splitext(_safe(path))
        made.append(Made(free.place(f"{ENTRY_KINDS[page.kind].folder}/{stem}/{head}"), page, new, None))
        kept.append((originals.place(f"{folder}/files/{head}", ending), data))
    left = (
        [f"Left where they are: {', '.join(f'{count} {kind}' for kind, count in notes.others)}."]
        if notes.others
        else []
    )
    what = VAULT if notes.is_vault else FORMAT if len(notes.files) > 1 else ONE
    parcel = Parcel(what, notes.title, refused=notes.refused, left=tuple(left))
    return Plan(parcel, notes.title, folder, tuple(kept), tuple(made), notes.refused, (), notes.sha256)


def _walk(place: Path, folder: str, depth: int) -> Iterator[tuple[str, str]]:
    """(path, why it is set aside) of every file below a folder, in order; what is hidden is passed over."""
    try:
        with os.scandir(place / folder if folder else place) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        raise refused(error, folder or place) from None
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        if is_junk(entry.name):
            continue
        if entry.is_symlink():
            yield path, "it is a link; links are not followed"
        elif entry.is_dir(follow_symlinks=False):
            if depth < MAX_DEPTH:
                yield from _walk(place, path, depth + 1)
            else:
                yield path, f"it lies deeper than {MAX_DEPTH} folders"
        elif not _is_utf8(entry.name):
            yield path.encode("utf-8", "replace").decode(), "its name is not UTF-8"
        else:
            yield path, ""


def _page(path: str, data: bytes) -> tuple[Page, bytes]:
    """A note's page for the receipt, and its bytes, with a line more where it says that it is constant or off."""
    notes = (
        ["a copy that a synchroniser made in a conflict; it is kept out of play"] if CONFLICT_COPY.search(path) else []
    )
    name = clean_line(PurePosixPath(path).stem, 160)
    try:
        document = documents.parse(data, path)
    except DocumentError as error:
        where = f"line {error.line}: " if error.line else ""
        notes.append(f"its front matter is broken ({where}{error.what}); {WITHHELD}")
        return Page(path, _kind(path, name, "", []), name, {}, "", tuple(notes)), data
    said = {**document.fields, **_front(data)}
    tags = [tag.lstrip("#") for tag in loose.words(said.get("tags"))]
    name = clean_line(name_of(path, document.fields), 160)
    body = document.body.decode("utf-8", "replace")
    kind = _kind(path, name, body, [*loose.words(said.get("type")), *loose.words(said.get("kind")), *tags])
    fields: dict[str, str | list[str]] = {}
    if (loose.flag(said.get("constant")) or _ALWAYS in tags) and "pinned" not in document.fields:
        fields["pinned"] = "true"
    if (not loose.flag(said.get("enabled"), True) or _NEVER in tags) and "forgotten" not in document.fields:
        fields["forgotten"] = OFF
    try:
        for key, value in fields.items():
            data = documents.set_field(data, path, key, value, typed=True)
    except DocumentError as error:
        notes.append(f"`{key}` could not be added ({error.what})")
    return Page(path, kind, name, fields, "", tuple(notes)), data


def _front(data: bytes) -> dict:
    """A note's front matter with values as YAML types them; empty where that cannot be told."""
    import frontmatter
    import yaml

    try:
        return frontmatter.loads(data.decode("utf-8-sig", "replace")).metadata
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, AttributeError):
        return {}


def _kind(path: str, name: str, text: str, said: list[str]) -> str:
    """By what it says of its type (`type/location/manor`), then its folders, then its other tags, then its text."""
    typed = [one for one in said if "/" not in one or one.casefold().startswith(("type/", "kind/"))]
    rest = [one for one in said if one not in typed]
    folders = [PurePosixPath(path).parts[:-1][::-1]]
    for levels in (*(one.split("/")[:3] for one in typed), *folders, *(one.split("/")[:2] for one in rest)):
        for level in levels:
            if (kind := sorting.kind_of("", "", level.split("-")[-1])) != "lore":
                return kind
    plain = "\n".join(
        line for line in text.split("\n") if line.strip() and not line.lstrip().startswith(("#", "<", "|"))
    )
    return sorting.kind_of(name, plain)


def _safe(path: str) -> str:
    """A note's path as it may stand in a campaign: its own, but for parts that no file should be called."""
    parts = [unicodedata.normalize("NFC", part) for part in path.split("/")]
    return "/".join(part if _is_harmless(part) else _renamed(part) for part in parts)


def _renamed(part: str) -> str:
    stem, dot, ending = part.rpartition(".")
    return (
        f"{slug(stem or part, 'note')}{dot}{ending}"
        if ending.casefold() in ("md", "markdown")
        else slug(part, "folder")
    )


def _is_harmless(part: str) -> bool:
    return part.isprintable() and is_fit(part) and len(part.encode()) <= 200 and part == part.strip()


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
