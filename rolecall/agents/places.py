"""The places of a prose: the scene's own under another name, and people who are in two of them."""

from __future__ import annotations

from collections.abc import Iterator

from rolecall.agents import cues
from rolecall.agents.people import acts, not_now, people
from rolecall.agents.scene import Finding, Scene
from rolecall.agents.strangers import Stranger, near_phrase, strangers, told_before
from rolecall.campaign.narration import BLANK


def renamed(scene: Scene) -> Iterator[Finding]:
    """The place of the scene under a name that no entry bears."""
    place = scene.standing.open_entry(scene.place) if scene.place else None
    if place is None or cues.GOES.search(scene.action):
        return
    sort = cues.sort_of(scene.standing.said(place.path, "type")) or cues.sort_of(place.name)
    if not sort or any(m.path == place.path and scene.is_proper(m) for m in scene.mentions):
        return
    for stranger in strangers(scene):
        name = stranger.text(scene.prose)
        if not _may_be_place(scene, stranger, sort) or near_phrase(scene, stranger) or scene.standing.names.named(name):
            continue
        if cues.INTRODUCED.search(scene.prose[max(0, stranger.start - 60) : stranger.start]) or told_before(
            scene, name
        ):
            continue
        yield Finding(
            rule="renamed",
            severity="error",
            text=f"the scene is at “{place.name}”, not at “{name}”",
            sentence=scene.sentence_at(stranger.start).text,
            path=place.path,
            expected=place.name,
            found=name,
        )
        return


def _may_be_place(scene: Scene, stranger: Stranger, sort: str) -> bool:
    """Whether an unknown name is used as that of the place we are in."""
    name, sentence = stranger.text(scene.prose), scene.sentence_at(stranger.start)
    lead, ahead = scene.told[sentence.start : stranger.start], scene.told[stranger.start + len(name) :]
    own, articled = cues.sort_of(name), bool(cues.ARTICLED.search(lead))
    if BLANK in scene.told[stranger.start : stranger.end] or not articled or (len(stranger.words) < 2 and not own):
        return False
    if (own or sort) != sort or not (own or sort in cues.FREELY_NAMED) or cues.NO_PLACE.search(name):
        return False
    if cues.TRAVEL.search(scene.told[: stranger.start]) or cues.AWAY.search(sentence.told):
        return False
    if cues.STATIC_HERE.match(ahead) or cues.PART_OF.search(lead):
        return True
    at = scene.sentences.index(sentence)
    around = " ".join(s.told for s in scene.sentences[max(0, at - 1) : at + 2])
    furnished = own == sort or bool(cues.FURNISHED[sort].search(around))
    alone = not lead.strip(' "“*_').casefold().removesuffix("the")
    return furnished and bool(cues.INSIDE.search(lead) or (alone and cues.QUIET.match(ahead)))


def two_places(scene: Scene) -> Iterator[Finding]:
    """Somebody in two places: by what the prose itself says, or by the prose and the entry."""
    stated = list(_stated(scene))
    told: set[str] = set()
    for path, name, place, start in stated:
        other = next(
            ((p, s) for who, _, p, s in stated if who == path and s < start and not scene.standing.nested(p, place)),
            None,
        )
        if other and path not in told and not cues.TRAVEL.search(scene.told[other[1] : start]):
            told.add(path)
            yield _elsewhere(scene, path, name, other[0], place, start, "error")
    named = {m.path for m in scene.mentions} | {m.path for m in scene.search.mentions(scene.action)}
    places = [p for p in named if (e := scene.standing.open_entry(p)) and e.kind == "location"]
    for start, end, name, path in people(scene):
        if not path or path in told or path == scene.player:
            continue
        home = _home(scene, path)
        here = next((place for who, _, place, at in stated if who == path and at == start), "")
        if not here and scene.place and acts(scene, start, end):
            here = scene.place
        if not home or not here or _moved(scene, start, path):
            continue
        if not scene.standing.apart(home, here) or any(not scene.standing.apart(home, place) for place in places):
            continue
        if not cues.AWAY.search(scene.sentence_at(start).told) and not not_now(scene, start):
            told.add(path)
            yield _elsewhere(scene, path, name, home, here, start, "warning")


def _stated(scene: Scene) -> Iterator[tuple[str, str, str, int]]:
    """(who, name, place, position) of every told `NAME stands at PLACE`."""
    places = [m for m in scene.mentions if (e := scene.standing.open_entry(m.path)) and e.kind == "location"]
    for start, end, name, path in people(scene):
        sentence = scene.sentence_at(start)
        for place in places:
            between = scene.told[end : place.start]
            if path and end <= place.start < sentence.end and len(between) < 60 and cues.IS_IN.fullmatch(between):
                if not cues.AWAY.search(sentence.told):
                    yield path, name, place.path, start
                break


def _home(scene: Scene, path: str) -> str:
    """Where the campaign says that somebody is: by the party's line, else by the entry."""
    if path in scene.party:
        return scene.party[path] or scene.place
    return scene.standing.place_of(path)


def _moved(scene: Scene, start: int, path: str) -> bool:
    """Whether the prose or the action tells of coming and going, of this one or of the scene."""
    if cues.GOES.search(scene.action) or cues.BACK_AGAIN.search(scene.prose):
        return True
    for mention in scene.mentions:
        if mention.path == path:
            sentence = scene.sentence_at(mention.start)
            if cues.TRAVEL.search(sentence.told):
                return True
    sentence = scene.sentence_at(start)
    before = scene.told[max(0, sentence.start - 400) : sentence.start]
    return bool(cues.TRAVEL.search(before) or cues.DOOR.search(before + sentence.told))


def _elsewhere(scene: Scene, path: str, name: str, home: str, here: str, start: int, severity: str) -> Finding:
    there, place = scene.standing.catalogue[home].name, scene.standing.catalogue[here].name
    return Finding(
        "two-places",
        severity,
        f"{name} is at {there}, not at {place}",
        scene.sentence_at(start).text,
        path,
        there,
        place,
    )
