"""Making a campaign: from the packaged template, or by adopting a folder of Markdown without changing a file of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from rolecall.campaign import commits, files, git, lock
from rolecall.campaign.folder import Campaign, open_campaign
from rolecall.campaign.frontmatter import scalar
from rolecall.campaign.instructions import template_folder
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.settings import SETTINGS_FILE
from rolecall.campaign.text import clean_line
from rolecall.errors import CampaignError, StorageError


def new(place: Path, name: str = "", *, repository: bool = False) -> Campaign:
    """A campaign from the template in a new or empty folder; CampaignError when something stands there already.

    With `repository` it is one of git's, where that is possible: then its settings say `git: auto`, else `git: off`.
    `rolecall.yaml` is written last, so that a folder half made by a crash is no campaign and can be made again.
    """
    _refuse_taken(place)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise files.refused(error, place) from None
    root = Path(os.path.realpath(place))
    source = template_folder()
    settings = (source / SETTINGS_FILE).read_bytes()
    if name:
        settings = re.sub(
            rb"(?m)^name:[^\r\n]*",
            b"name: " + scalar(clean_line(name)).encode().replace(b"\\", rb"\\"),
            settings,
            count=1,
        )
    with lock.hold(root, "new"):
        lock.put_right(root)
        for path in sorted(p for p in source.rglob("*") if p.is_file()):
            relative = path.relative_to(source).as_posix()
            if relative != SETTINGS_FILE and not files.exists(root, relative):
                files.create(root, relative, path.read_bytes())
        if not repository or git.init(root):
            settings = re.sub(rb"(?m)^git: auto\b", b"git: off ", settings, count=1)
        files.create(root, SETTINGS_FILE, settings)
        campaign = open_campaign(root, here_only=True)
        if campaign.settings.git == "auto":
            commits.begin(campaign)  # where that fails, the first turn commits it
    return campaign


def adopt(place: Path, name: str = "") -> Campaign:
    """Make an existing folder of Markdown a campaign: adds `rolecall.yaml` and a Campaign State, changes no file of it."""
    if not place.is_dir():
        raise StorageError("there is no such folder", path=place, remedy="name the folder that holds your Markdown")
    root = Path(os.path.realpath(place))
    if files.exists(root, SETTINGS_FILE):
        raise CampaignError(
            "this folder is a campaign already", path=place, remedy=f"play it with `rolecall -C {place} play`"
        )
    title = clean_line(name or root.name)
    if not files.exists(root, STATE_FILE):
        state = "---\nname: Campaign State\ndate:\nscene:\nlocation:\n---\n\n## Party\n\n## Promises\n\n## Journal\n"
        files.create(root, STATE_FILE, state.encode())
    files.create(root, SETTINGS_FILE, f"format: 1\nname: {scalar(title)}\nlanguage: en\ngit: off\n".encode())
    lock.prepare(root)
    return open_campaign(root, here_only=True)


def _refuse_taken(place: Path) -> None:
    if not os.path.lexists(place):
        return
    if not place.is_dir():
        raise CampaignError("a file of that name stands there", path=place, remedy="choose another name")
    names = {p.name for p in place.iterdir()}
    if SETTINGS_FILE in names:
        raise CampaignError(
            "this folder is a campaign already", path=place, remedy=f"play it with `rolecall -C {place} play`"
        )
    template = {p.name for p in template_folder().iterdir()} | {".git", ".gitignore", ".rolecall"}
    if strange := sorted(name for name in names - template if not files.is_temp(name)):
        raise CampaignError(
            f"the folder is not empty (it holds {strange[0]})",
            path=place,
            remedy="choose another, or use `rolecall new --adopt`",
        )
