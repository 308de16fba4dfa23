"""A file of another program taken into a campaign that is played: under the lock, after what a crash left is put right."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rolecall.campaign import commitlines, files
from rolecall.campaign.filenames import same_key
from rolecall.campaign.text import fold
from rolecall.errors import ExchangeError
from rolecall.exchange import formats, importing, notes, planning, receipt
from rolecall.exchange.pages import Page
from rolecall.search.known import Candidate, Content, Twins
from rolecall.search.twins import twin_of

if TYPE_CHECKING:
    from rolecall.search.searcher import Search
    from rolecall.turn.game import Game
    from rolecall.turn.lifecycle import Listener

SHOWN = 100  # rows of a dry run on a terminal
MANY = 300  # pages past which twins are looked for by equal names only


@dataclass(frozen=True, slots=True)
class Taken:
    """What an import made, or would make: its plan and, where it was made, the receipt's path.

    There is no plan where an import of the same file had been interrupted, and is finished.
    """

    plan: planning.Plan | None
    receipt: str = ""

    @property
    def summary(self) -> str:
        """One line about it."""
        if self.plan is None:
            return f"{self.receipt.rpartition('/')[0]} is whole: what was interrupted is finished"
        return receipt.summary(self.plan, would=not self.receipt)

    def told(self) -> list[str]:
        """The lines a person is shown beside the summary."""
        if self.plan is None:
            return [f"Receipt: {self.receipt}"]
        aside = [f"Set aside: {one.name or one.at}: {one.why}" for one in self.plan.refused]
        shown = [*aside[:10], *([f"... and {len(aside) - 10} more set aside"] if len(aside) > 10 else [])]
        broken = sum(any(note.endswith(notes.WITHHELD) for note in made.page.notes) for made in self.plan.made)
        if broken:
            who = (
                "1 of them has broken front matter and stays"
                if broken == 1
                else (f"{broken} of them have broken front matter and stay")
            )
            shown.append(f"{who} out of the game until that is mended; `rolecall check` says where.")
        if self.receipt:
            return [*shown, f"Receipt: {self.receipt}"]
        rows = [f"{made.page.name} → {made.path}" for made in self.plan.made]
        more = [f"... and {len(rows) - SHOWN} more"] if len(rows) > SHOWN else []
        return [*shown, *rows[:SHOWN], *more]

    def to_json(self) -> dict:
        """The object `import --json` prints."""
        if self.plan is None:
            return {"folder": self.receipt.rpartition("/")[0], "finished": True, "receipt": self.receipt}
        return {**receipt.to_json(self.plan, dry=not self.receipt), "receipt": self.receipt}


def take(
    game: Game,
    place: Path,
    listener: Listener,
    *,
    dry: bool = False,
    again: bool = False,
    progress: importing.Progress = lambda done, total: None,
) -> Taken:
    """Import a file or a folder; with `dry` only plan it. ExchangeError, with nothing touched, when it cannot be taken."""
    held = _read(game, place)
    if dry:
        return Taken(_plan(game, held, place, again))
    interrupted = {begin["import"] for begin in importing.left(game.root).values()}
    with game.writing(listener):  # which finishes it
        if interrupted and not again and (whole := importing.known(game.root).get(_sha(held))) in interrupted:
            game.commit(lambda: commitlines.of_import(whole, whole), listener)
            return Taken(None, f"{whole}/{importing.RECEIPT}")
        plan = _plan(game, held, place, again)
        told = importing.make(game.root, plan, progress)
        game.commit(lambda: commitlines.of_import(plan.parcel.title, plan.folder), listener)
        return Taken(plan, told)


def take_back(game: Game, name: str, listener: Listener) -> importing.Undone:
    """Take the last import back, or the one in `imports/NAME`."""
    with game.writing(listener):
        undone = importing.undo(game.root, name)
        game.commit(lambda: commitlines.of_import(undone.folder, undone.folder, back=True), listener)
        return undone


def _read(game: Game, place: Path) -> notes.Notes | tuple:
    """What is to be imported, read before anything is locked."""
    if not os.path.lexists(place):
        raise ExchangeError("there is no such file", path=place, remedy="name a file, or a folder of Markdown")
    if not place.is_dir():
        if notes.is_note(place):
            return notes.read_one(place)
        data, parcel = formats.load(place)
        if parcel.count == len(parcel.set_aside):
            why = f": {parcel.set_aside[0].why}" if parcel.set_aside else ""
            raise ExchangeError(f"there is nothing in it to import{why}", path=place, remedy="nothing was made")
        return data, parcel
    here, root = os.path.realpath(place), os.path.realpath(game.root)
    if here == root or here.startswith(root + os.sep) or root.startswith(here.rstrip(os.sep) + os.sep):
        raise ExchangeError(
            "this folder is part of the campaign, or holds it", path=place, remedy="name another folder"
        )
    return notes.read(place)


def _sha(held: notes.Notes | tuple) -> str:
    return held.sha256 if isinstance(held, notes.Notes) else files.sha256(held[0])


def _plan(game: Game, held: notes.Notes | tuple, place: Path, again: bool) -> planning.Plan:
    campaign = game.campaign()
    search = game.search(campaign)
    search.refresh()
    known = None if again else importing.known(campaign.root).get(_sha(held))
    if known:
        what = f"this was imported before ({known})"
        raise ExchangeError(
            what, path=place, remedy="take that back with `--undo`, or import it once more with `--again`"
        )
    taken = _taken(campaign.root, campaign.names())
    if isinstance(held, notes.Notes):
        return notes.plan(held, taken=taken)
    data, parcel = held
    names = [name for entry in search.catalogue.values() for name in (entry.name, *entry.aliases)]
    twins = _twins(search, many=parcel.count > MANY)
    return planning.plan(parcel, place.name, data, taken=taken, names=names, twin=twins)


def _taken(root: Path, names: list[str]):  # -> Callable[[str], bool]
    """Whether a path is in use: on the disk, or by a file whose name differs in case or form alone."""
    used = {same_key(name) for name in names}
    return lambda path: same_key(path) in used or files.exists(root, path)


def _twins(search: Search, *, many: bool) -> planning.Twin:
    """What the campaign has already under a page's name: told, never merged."""
    catalogue = search.catalogue
    exact: dict[str, str] = {}
    for entry in catalogue.values():
        for name in (entry.name, *entry.aliases):
            exact.setdefault(fold(name), entry.path)
    twins = Twins(catalogue, lambda _: Content())

    def find(page: Page) -> tuple[str, str] | None:
        if path := exact.get(fold(page.name)):
            return path, "the same name"
        if many or not catalogue:
            return None
        found = twin_of(Candidate(page.name, tuple(page.fields.get("aliases", ())), page.kind), twins)
        return (found.path, found.why) if found else None

    return find
