"""A card written as `.charx`: a zip of `card.json` and its assets, the same bytes for the same card.

What lay beside the card in the zip it came in goes along, but for RisuAI's module: that holds a copy of the lorebook, which
would bring back what was changed or is secret by now.
"""

from __future__ import annotations

import io
import zipfile

from rolecall.exchange import cardmaking, zips

ICON = "assets/icon/images/main.png"
_BEGUN = (1980, 1, 1, 0, 0, 0)  # a zip's first day: when it was packed is no part of a card


def packed(whole: dict, source: bytes, icon: bytes) -> tuple[bytes, list[str]]:
    """(the zip, what is to be said) of a card. `source` is the file it came in, or empty; `icon` a PNG, or empty."""
    beside, left = _beside(source)
    if icon and _takes(whole["data"]):
        beside[ICON] = icon
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {zips.CARD: cardmaking.encoded(whole), **beside}.items():
            member = zipfile.ZipInfo(name, _BEGUN)
            member.compress_type = zipfile.ZIP_DEFLATED if name == zips.CARD else zipfile.ZIP_STORED
            archive.writestr(member, data)
    return place.getvalue(), left


def _beside(source: bytes) -> tuple[dict[str, bytes], list[str]]:
    """The other members of the zip that a card came in. It was looked through when it was read: nothing points outside."""
    if not zips.is_zip(source):
        return {}, []
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        names = [m.filename for m in archive.infolist() if not m.is_dir() and m.filename.casefold() != zips.CARD]
        found = {name: archive.read(name) for name in names if name != zips.MODULE}
    return found, ["Its RisuAI module stays in the original."] if zips.MODULE in names else []


def _takes(data: dict) -> bool:
    """Whether the card has room for an icon: its list of assets then names it."""
    assets = data.get("assets")
    assets = assets if isinstance(assets, list) else []
    icons = [one for one in assets if isinstance(one, dict) and one.get("type") == "icon"]
    mine = next((one for one in icons if str(one.get("uri", "")).startswith("ccdefault:")), None)
    if mine is None and icons:
        return False  # it has its own
    said = {"type": "icon", "uri": f"embeded://{ICON}", "name": "main", "ext": "png"}
    data["assets"] = [{**one, **said} if one is mine else one for one in assets] + ([] if mine else [said])
    return True
