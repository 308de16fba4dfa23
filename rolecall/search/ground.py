"""The campaign as the game's rules look at it (`campaign/game/world.py`), names and kinds by the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from weakref import WeakKeyDictionary

from rolecall.campaign import references
from rolecall.campaign.effects import Effect
from rolecall.campaign.game.world import Ground, Known
from rolecall.campaign.kinds import ENTRY_KINDS
from rolecall.errors import RoleCallError
from rolecall.search.searcher import Search

_KINDS = {*ENTRY_KINDS, "arc", "quest"}
_LOCK = Lock()
# Which files hold which words, by the state in which they were read: a turn changes a few of thousands.
_READ: WeakKeyDictionary[Search, dict[tuple[str, bytes], tuple[str, bool]]] = WeakKeyDictionary()


def ground(search: Search, turn: int, *, seed: str = "", effects: Sequence[Effect] = ()) -> Ground:
    """The world of a turn. `effects` are what it has on the table but for those of its directives."""
    campaign = search.campaign

    def read(path: str) -> bytes | None:
        try:
            return campaign.read(path) if campaign.exists(path) else None
        except RoleCallError:
            return None

    def named(name: str) -> Iterable[Known]:
        bare = references.names_in(name)
        found = [search.catalogue[path] for path in search.ties.named(bare[0] if bare else name)]
        return [Known(one.path, one.kind, one.secret) for one in found if one.kind in _KINDS and not one.withheld]

    def having(wanted: tuple[str, ...], words: tuple[bytes, ...]) -> list[str]:
        return [path for path in _of_kinds(search, wanted) if any(_holds(search, path, word, read) for word in words)]

    return Ground(turn, read, named, having, seed=seed, effects=effects)


def prepare(search: Search) -> None:
    """Look up now what the first turn of a session would have to: which files say how time and numbers are counted."""
    ready = ground(search, 0)
    ready.calendar(), ready.rules(), ready.scheduled()


def _of_kinds(search: Search, wanted: tuple[str, ...]) -> list[str]:
    return [entry.path for entry in search.catalogue.of_kinds(*wanted) if not entry.withheld]


def _holds(search: Search, path: str, word: bytes, read: Callable[[str], bytes | None]) -> bool:
    sha = search.catalogue[path].sha256
    with _LOCK:
        known = _READ.setdefault(search, {})
        held = known.get((path, word))
    if held is None or held[0] != sha:
        held = (sha, word in (read(path) or b""))
        with _LOCK:
            known[path, word] = held
    return held[1]
