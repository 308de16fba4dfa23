"""An answer that was taken back, written down again from its record.

What it does to a number is added to what stands there by now: the number may have been set since, or counted anew by an undo. All
else is written as it was planned. What will be written is noted first, so that an interrupted run is finished and counts nothing twice.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rolecall.campaign import documents, files, records, shares
from rolecall.campaign.effects import Effect, decode, edit_of, encode, laid_over
from rolecall.campaign.folder import Campaign
from rolecall.campaign.game import edits
from rolecall.campaign.journal import turn_id
from rolecall.campaign.records import Record
from rolecall.campaign.shares import Place, Share
from rolecall.errors import DocumentError
from rolecall.turn import renamed, telling
from rolecall.turn.taking import Shares, counted_line, last_shares

_FAR = 10**6  # no number of a game: a line with it in the place of its own shows where that stands


def rewind(campaign: Campaign, turn: int, *, restoring: bool = False) -> list[str]:
    """Write the effects of the turn's record again after they were taken out; what was left out, in words.

    `restoring`: it was not to go after all, so a number is put back to what was taken out, and left where nothing was.
    """
    folder = f"{records.TURNS}/{turn_id(turn)}"
    record = Record(campaign.root, folder)
    stood = last_shares(campaign.root, folder) if restoring else None
    rows = records.lines(campaign.root, folder)
    effects, counted = _anew(campaign.root, _first_planned(rows), stood)
    record.note("reopened", effects=[encode(effect) for effect in effects], counted=counted)
    faults = telling.apply(campaign, record, effects)
    record.note("told", again=True)
    record.note("closed", again=True)
    return faults


def planned(rows: list[dict]) -> list[Effect]:
    """The effects that the lines of a record say are to be written: as it was written down last, else as it was planned."""
    again = next((row for row in reversed(rows) if row["do"] == "reopened"), {})
    if "effects" in again:
        return [decode(effect) for effect in again["effects"]]
    return _first_planned(rows)


def _first_planned(rows: list[dict]) -> list[Effect]:
    return [decode(effect) for row in rows if row["do"] == "plan" for effect in row["effects"]]


def _anew(root: Path, effects: list[Effect], stood: Shares | None) -> tuple[list[Effect], list[dict]]:
    """(the effects as they are to be written on what stands now, the shares that their bytes will not tell)."""
    found: list[Effect] = []
    counted: list[dict] = []
    for effect in effects:
        if not files.exists(root, effect.path):
            effect = replace(effect, path=renamed.moved(root, effect.path))
        data = files.read(root, effect.path) if files.exists(root, effect.path) else None
        added = _added(laid_over(data, found, effect.path), effect, stood)
        if added is None:
            found.append(effect)
            continue
        effect, place, share = added
        found += [effect] if effect.was != effect.text else []
        counted.append(counted_line(place, share))
    return found, counted


def _added(data: bytes | None, effect: Effect, stood: Shares | None) -> tuple[Effect, Place, Share] | None:
    """An effect that counts on from another number than the one that stands: on from that. None for any other effect."""
    number = shares.one_number(effect.was.encode(), effect.text.encode()) if effect.was and effect.text else None
    if data is None or number is None or effect.op not in ("value", "row", "item"):
        return None
    at, was, text = number
    place = Place(effect.path, shares.frame_of(effect.was.encode(), at), at)
    try:
        there = [one for one in _texts(data, effect) if shares.frame_of(one.encode(), at) == place.line]
        if len(there) != 1 or (there[0] == effect.was and stood is None):
            return None
        probe = replace(effect, was=there[0], text=place.line.replace(shares.HOLE, b"%d" % _FAR).decode())
        found = shares.of_change(effect.path, data, edit_of(probe)(data))
    except (DocumentError, UnicodeError):
        return None
    if found is None or found[1].was is None:
        return None
    where, line = found[0], found[1].was
    share = Share(line, shares.added(line, text - was, where), text - was)
    put = share.put
    if stood is not None and where in stood:
        share = stood[where]
        put = share.put if line == share.was else line
    words = place.line.replace(shares.HOLE, b"%d" % shares.number_of(put, where.at)).decode()
    return replace(effect, was=there[0], text=words), where, share


def _texts(data: bytes, effect: Effect) -> list[str]:
    """What stands where an effect is to change something."""
    document = documents.parse(data, effect.path)
    if effect.op == "row":
        return document.lines(effect.key) if effect.key else document.body.decode("utf-8", "replace").splitlines()
    value = document.fields.get(edits.held_key(document, effect.key), "")
    if effect.op == "value":
        return [value] if isinstance(value, str) else []
    return [edits.item_text(item) for item in value] if isinstance(value, list) else []
