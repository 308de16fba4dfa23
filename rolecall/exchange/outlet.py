"""Where an export goes: a file that is named, whole or not at all, never over another unless that is asked for."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from rolecall.campaign import files
from rolecall.campaign.folder import MACHINE_FOLDER, Campaign
from rolecall.campaign.settings import SETTINGS_FILE
from rolecall.errors import ExchangeError

_OWN = tuple((name,) for name in (MACHINE_FOLDER, ".git", "imports", "schemas"))
_FORCE = "name another, or replace it with `--force`"


def refuse(campaign: Campaign, place: Path, *, folder: bool = False, force: bool = False) -> None:
    """Refuse a place before any work is done for it: one that is taken, has no folder, or would be the campaign's own."""
    real = Path(os.path.realpath(place))
    if not real.parent.is_dir():
        raise ExchangeError("its folder does not exist", path=place, remedy="make the folder first")
    if (inside := below(campaign, real)) is not None:
        _spare(inside, place, folder)
    if folder:
        return
    if place.is_dir():
        raise ExchangeError("this is a folder", path=place, remedy="name a file in it")
    if os.path.lexists(place):
        if not force:
            raise ExchangeError("there is such a file already", path=place, remedy=_FORCE)
        if os.path.exists(place) and not stat.S_ISREG(os.stat(place).st_mode):
            raise ExchangeError(
                "this is not a plain file", path=place, remedy="name another, or `-` for standard output"
            )


def below(campaign: Campaign, real: Path) -> Path | None:
    """Where a place lies in the campaign, in lower case; None outside. A folder is known by itself: on many disks case is no name."""
    root = campaign.root
    for above in (real, *real.parents):
        if above == root or (above.name.casefold() == root.name.casefold() and above.is_dir() and above.samefile(root)):
            return Path(real.relative_to(above).as_posix().casefold())
    return None


def _spare(inside: Path, place: Path, folder: bool) -> None:
    if folder:
        raise ExchangeError("a copy inside the campaign would become part of it", path=place, remedy="name one outside")
    own = inside.name == SETTINGS_FILE or inside.parts[:1] in _OWN
    if own or inside.suffix == ".md":
        remedy = "name a file outside of it"
        raise ExchangeError("inside the campaign it would become part of it", path=place, remedy=remedy)


def write(place: Path, data: bytes, *, force: bool = False) -> None:
    """Write the file; a Conflict where one of that name has come meanwhile."""
    real = Path(os.path.realpath(place))
    if force:
        files.rewrite(real.parent, real.name, data)
    else:
        files.create(real.parent, real.name, data)
