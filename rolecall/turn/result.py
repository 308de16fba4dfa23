"""What a turn came to, as `turn --json` says it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from rolecall.agents.afterwork import Mentioned
from rolecall.models.usage import Usage


@dataclass(frozen=True, slots=True)
class Degraded:
    """A layer that did not do its work, why, and what was done instead."""

    layer: str
    reason: str
    fallback: str


@dataclass(frozen=True, slots=True)
class Result:
    """A told turn. Times in milliseconds; usage in tokens, per layer."""

    turn: str
    prose: str
    journal: str
    suggestions: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()  # names of what was in the scene, those without an entry behind those with one
    mentioned: tuple[Mentioned, ...] = ()
    scene_changed: bool = False
    music: str = ""
    writes: tuple[tuple[str, str], ...] = ()
    degraded: tuple[Degraded, ...] = ()
    usage: dict[str, Usage] = field(default_factory=dict)
    totals: dict[str, dict] = field(default_factory=dict)  # of the turn and the session, as `costs.total` says them
    timings_ms: dict[str, int] = field(default_factory=dict)
    pulse: str = ""  # what TV did, in a line for the player

    def to_json(self) -> dict:
        """The document `turn --json` prints."""
        return {
            "turn": self.turn,
            "prose": self.prose,
            "journal": self.journal,
            "suggestions": list(self.suggestions),
            "entities": list(self.entities),
            "mentioned": [asdict(one) for one in self.mentioned],
            "scene_changed": self.scene_changed,
            "music": self.music,
            "writes": [{"path": path, "op": op} for path, op in self.writes],
            "degraded": [{"layer": d.layer, "reason": d.reason, "fallback": d.fallback} for d in self.degraded],
            "usage": {
                layer: {"fresh": u.fresh + u.cache_write, "cached": u.cached, "out": u.out}
                for layer, u in self.usage.items()
            },
            "totals": self.totals,
            "timings_ms": self.timings_ms,
        }
