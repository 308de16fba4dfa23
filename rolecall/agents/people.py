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
        if path in told or name in told or not acts(scene, start, end) or not_now(scene, start):
            continue
        if path and not scene.standing.is_dead(path, scene.fallen):
            continue
        if not path and fold(name) not in scene.fallen:
            continue
        told.update({path or name})
        turn = scene.fallen.get(fold(name))
        known = scene.standing.said(path, "status") if path and not turn else f"died in T{turn:04d}" if turn else "dead"
        yield Finding("dead", "error", f"{name} is dead ({known})", scene.sentence_at(start).text, path, known, "acts")


def people(scene: Scene) -> Iterator[tuple[int, int, str, str]]:
    """(start, end, name, path) of every being named in the prose; an empty path for one the Journal alone knows."""
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
    at = next((n for n, s in enumerate(scene.sentences) if s.start <= start < s.end), 0)
    near = scene.sentences[max(0, at - 1) : at + 2]
    if any(cues.NOT_NOW.search(sentence.told) for sentence in near) or cues.BACK_AGAIN.search(scene.prose):
        return True
    return bool(cues.NOT_TRULY.search(scene.sentences[at].told))
