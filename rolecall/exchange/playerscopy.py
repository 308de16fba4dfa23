"""A campaign as a player may have it: a folder that opens and plays by itself, with nothing secret in it.

Left out are secret files and parts, `dm/`, what the layers that know secrets are told (the packaged instructions stand in),
`imports/`, `.rolecall/`, broken files, and whatever is no Markdown of the campaign.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rolecall.campaign import files, instructions, lock, schemas
from rolecall.campaign.documents import parse
from rolecall.campaign.folder import CONFLICT_COPY, Campaign
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.redaction import open_bytes
from rolecall.campaign.settings import SETTINGS_FILE
from rolecall.errors import DocumentError, ExchangeError

_KNOWING = ("dm", "turn_dm")  # layers whose instructions may speak of what is hidden
_PLACES = (instructions.INSTRUCTIONS, instructions.PROSE)
_GIT = re.compile(rb"(?m)^git:[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Copy:
    """The files of the copy by path, and sentences about what was left out that is not secret."""

    files: dict[str, bytes]
    notes: tuple[str, ...]


def of(campaign: Campaign) -> Copy:
    """The copy of a campaign. An error when the Campaign State is broken: without it there is no game."""
    made: dict[str, bytes] = {}
    notes: list[str] = []
    taken = set(campaign.stat())
    for path in campaign.names():
        top = path.split("/")[0].casefold()
        if (path not in taken and top not in _PLACES) or CONFLICT_COPY.search(path.rsplit("/", 1)[-1]):
            continue
        try:
            document = parse(campaign.read(path), path)
            data = open_bytes(document)
        except DocumentError as error:
            if path == STATE_FILE:
                raise
            notes.append(f"{path} is left out: {error.what}")
            continue
        told = document.text("layer").strip().casefold()
        if data is not None and not (top == instructions.INSTRUCTIONS and told in _KNOWING):
            made[path] = data
    if STATE_FILE not in made:
        raise ExchangeError("there is no Campaign State that is not secret", path=STATE_FILE, remedy="restore it")
    made |= schemas.files()
    settings, count = _GIT.subn(b"git: off", campaign.read(SETTINGS_FILE))
    made[SETTINGS_FILE] = settings if count else settings.rstrip() + b"\ngit: off\n"
    return Copy(made, tuple(notes))


def write(copy: Copy, place: Path, progress: Callable[[int, int], None] = lambda done, total: None) -> None:
    """Make the copy in a new or empty folder; the settings last, so that half a copy is no campaign.

    Its files are not waited for on the disk, one by one: the campaign has it all, and it can be made again.
    """
    try:
        place.mkdir(exist_ok=True)
        if next(place.iterdir(), None) is not None:
            remedy = "name a new or empty folder: a copy beside older files might keep what is secret now"
            raise ExchangeError("the folder is not empty", path=place, remedy=remedy)
    except OSError as error:
        raise files.refused(error, place) from None
    for number, (path, data) in enumerate(copy.files.items(), 1):
        if path != SETTINGS_FILE:
            files.rewrite(place, path, data, durable=False)
        progress(number, len(copy.files))
    files.create(place, SETTINGS_FILE, copy.files[SETTINGS_FILE])
    lock.prepare(place)


def zipped(copy: Copy) -> bytes:
    """The copy as a zip; the same campaign gives the same bytes."""
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(copy.files):
            info = zipfile.ZipInfo(path)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, copy.files[path])
    return place.getvalue()
