"""What the DM's layers tell the narrator for one turn: the directive, guidance and hints, and the style they chose."""

from __future__ import annotations

from dataclasses import dataclass

from rolecall.campaign import facts
from rolecall.campaign.instructions import ProseModule

SMALL = 260  # characters a very small model is told of a directive


@dataclass(frozen=True, slots=True)
class Direction:
    """All of it has passed the curtain. `told` are lines by code: what is due by date, what has run out.

    `styles` are (place, module) and replace the default at their places.
    """

    directive: str = ""
    guidance: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    styles: tuple[tuple[str, ProseModule], ...] = ()

    @property
    def text(self) -> str:
        """The directive, guidance and hints as a part of the prompt; empty where there are none."""
        parts = [self.directive] if self.directive else []
        for lines in (self.told, self.guidance, self.hints):
            if lines:
                parts.append("\n".join(f"- {line}" for line in lines))
        return "\n\n".join(parts)

    @property
    def small(self) -> str:
        """The first sentences of the directive, for a model that has little room."""
        said = ""
        for sentence in facts.sentences(self.directive):
            if len(said) + len(sentence) > SMALL:
                break
            said = f"{said} {sentence}".strip()
        return said

    def style(self, modules: tuple[ProseModule, ...]) -> tuple[tuple[str, ProseModule], ...]:
        """(place, module) in the order of the places: what was chosen, and the defaults where nothing was."""
        chosen = dict(self.styles)
        found = [(m.place, m) for m in modules if m.default and m.place not in chosen]
        return tuple(sorted([*chosen.items(), *found], key=lambda pair: _rank(pair[0])))


def _rank(place: str) -> int:
    places = ("opening", "middle", "closing")
    return places.index(place) if place in places else len(places)
