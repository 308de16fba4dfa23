"""The world of the game's rules by the files alone, every one of them read: what the one with an index is held against."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.campaign import kinds
from rolecall.campaign.effects import Effect
from rolecall.campaign.folder import Campaign
from rolecall.campaign.game.world import Ground, Known, is_secret
from rolecall.campaign.merging import key_of
from rolecall.errors import RoleCallError


def of_folder(campaign: Campaign, turn: int, *, seed: str = "", effects: Sequence[Effect] = ()) -> Ground:
    """The world as a folder's files give it, every one of them read. What has an index uses that (`search/ground.py`)."""
    names: dict[str, list[Known]] = {}
    placed: dict[str, list[str]] = {}
    for path in campaign.stat():
        try:
            document = campaign.document(path)
        except RoleCallError:
            continue
        known = Known(path, kinds.kind_of(path, document.fields), is_secret(document))
        placed.setdefault(known.kind, []).append(path)
        if known.kind in (*kinds.ENTRY_KINDS, "arc", "quest") and not document.text("forgotten").strip():
            every = (kinds.name_of(path, document.fields), *kinds.names_in(document.fields, "aliases"))
            for name in dict.fromkeys(map(key_of, every)):
                names.setdefault(name, []).append(known)

    def read(path: str) -> bytes | None:
        return campaign.read(path) if campaign.exists(path) else None

    def having(wanted: tuple[str, ...], words: tuple[bytes, ...]) -> list[str]:
        every = [path for kind in wanted for path in placed.get(kind, ())]
        return [path for path in every if any(word in campaign.read(path) for word in words)]

    return Ground(turn, read, lambda name: names.get(key_of(name), ()), having, seed=seed, effects=effects)
