"""The people of a prose: who is named in it, who does something there, and whether the dead do."""

from __future__ import annotations

from collections.abc import Iterator

from rolecall.agents import cues
from rolecall.agents.roster import LIVING
from rolecall.agents.scene import Finding, Scene
from rolecall.agents.strangers import strangers
from rolecall.campaign.narration import BLANK
from rolecall.campaign.text import fold


def dead(scene: Scene) -> Iterator[Finding]:
    """The dead acting or speaking. To be remembered, dreamt of, mourned or carried is no deed."""
    told: set[str] = set()
    for start, end, name, path in people(scene):
        if path in told or name in told:
            continue
        if path and not scene.once(("dead", path), lambda p=path: scene.standing.is_dead(p, scene.fallen)):
            continue
        if not acts(scene, start, end) or not_now(scene, start):
            continue
        told.update({path or name})
        turn = scene.fallen.get(fold(name))
        known = scene.standing.said(path, "status") if path and not turn else f"died in T{turn:04d}" if turn else "dead"
        yield Finding("dead", "error", f"{name} is dead ({known})", scene.sentence_at(start).text, path, known, "acts")


def people(scene: Scene) -> list[tuple[int, int, str, str]]:
    """(start, end, name, path) of every being named in the prose; an empty path for a dead one the Journal alone knows."""
    return scene.once("people", lambda: list(_people(scene)))


def _people(scene: Scene) -> Iterator[tuple[int, int, str, str]]:
    for mention in scene.mentions:
        entry = scene.standing.open_entry(mention.path)
        if entry is not None and entry.kind in LIVING and scene.is_proper(mention):
            yield mention.start, mention.end, mention.name, mention.path
    for stranger in strangers(scene):
        name = stranger.text(scene.prose)
        if fold(name) in scene.fallen and not scene.standing.names.named(name):
            yield stranger.start, stranger.start + len(name), name, ""


def acts(scene: Scene, start: int, end: int) -> bool:
    """Whether the told text goes on (or began) with a deed of the one named."""
    if BLANK in scene.told[start:end] or scene.prose[start:end].endswith(("'s", "’s", "'", "’")):
        return False
    after, before = scene.told[end : end + 80], scene.told[max(0, start - 60) : start]
    return bool(cues.ACTS.match(after) or cues.ACTS_CJK.match(after) or (cues.SPOKEN_BY.search(before)))


def not_now(scene: Scene, start: int) -> bool:
    """Whether the sentence, or one beside it, says that this is memory, dream or what is left of somebody."""
    at = scene.number_at(start)
    if any(scene.says(number, cues.NOT_NOW) for number in (at - 1, at, at + 1)) or scene.says(at, cues.NOT_TRULY):
        return True
    return came_back(scene)


def came_back(scene: Scene) -> bool:
    """Whether the prose speaks of somebody who is alive after all, or not quite dead."""
    return scene.once("came back", lambda: bool(cues.BACK_AGAIN.search(scene.prose)))
