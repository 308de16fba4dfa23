"""The places of a prose: the scene's own under another name, and people who are in two of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from rolecall.agents import cues
from rolecall.agents.people import acts, came_back, not_now, people
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
    lead, ahead = (
        scene.told[sentence.start : stranger.start],
        scene.told[stranger.start + len(name) : stranger.end + 80],
    )
    own, articled = cues.sort_of(name), bool(cues.ARTICLED.search(lead))
    if BLANK in scene.told[stranger.start : stranger.end] or not articled or (len(stranger.words) < 2 and not own):
        return False
    if (own or sort) != sort or not (own or sort in cues.FREELY_NAMED) or cues.NO_PLACE.search(name):
        return False
    if _travelled(scene, stranger) or cues.AWAY.search(sentence.told):
        return False
    if cues.STATIC_HERE.match(ahead) or cues.PART_OF.search(lead):
        return True
    at = scene.number_at(stranger.start)
    around = " ".join(s.told for s in scene.sentences[max(0, at - 1) : at + 2])
    furnished = own == sort or bool(cues.FURNISHED[sort].search(around))
    alone = not lead.strip(' "“*_').casefold().removesuffix("the")
    return furnished and bool(cues.INSIDE.search(lead) or (alone and cues.QUIET.match(ahead)))


def _travelled(scene: Scene, stranger: Stranger) -> bool:
    """Whether the prose has told of coming or going before a name."""
    at = scene.number_at(stranger.start)
    lead = scene.told[scene.sentences[at].start : stranger.start]
    return any(scene.says(number, cues.TRAVEL) for number in range(at)) or bool(cues.TRAVEL.search(lead))


def two_places(scene: Scene) -> Iterator[Finding]:
    """Somebody in two places: by what the prose itself says, or by the prose and the entry."""
    stated = list(_stated(scene))
    told: set[str] = set()
    for number, (path, name, place, start) in enumerate(stated):
        other = next(
            ((p, s) for who, _, p, s in stated[:number] if who == path and not scene.standing.nested(p, place)), None
        )
        if other and path not in told and not cues.TRAVEL.search(scene.told[other[1] : start]):
            told.add(path)
            yield _elsewhere(scene, path, name, other[0], place, start, "error")
    named = {m.path for m in scene.mentions} | {m.path for m in scene.search.mentions(scene.action)}
    places = [p for p in named if (e := scene.standing.open_entry(p)) and e.kind == "location"]
    for start, end, name, path in people(scene):
        if not path or path in told or path == scene.player:
            continue
        home = scene.once(("home", path), lambda p=path: _home(scene, p))
        if not home or not _far(scene, home, places):
            continue
        here = next((place for who, _, place, at in stated if who == path and at == start), "")
        if not here and scene.place and acts(scene, start, end):
            here = scene.place
        if not here or not scene.standing.apart(home, here) or _moved(scene, start, path):
            continue
        if not scene.says(scene.number_at(start), cues.AWAY) and not not_now(scene, start):
            told.add(path)
            yield _elsewhere(scene, path, name, home, here, start, "warning")


def _far(scene: Scene, home: str, places: list[str]) -> bool:
    """Whether a place has nothing to do with any that the prose or the action names."""
    return scene.once(("far", home), lambda: all(scene.standing.apart(home, place) for place in places))


def _stated(scene: Scene) -> Iterator[tuple[str, str, str, int]]:
    """(who, name, place, position) of every told `NAME stands at PLACE`."""
    places = [m for m in scene.mentions if (e := scene.standing.open_entry(m.path)) and e.kind == "location"]
    starts = [place.start for place in places]
    for start, end, name, path in people(scene):
        number = bisect_left(starts, end)
        if not path or number == len(places) or places[number].start - end >= 60:
            continue
        place, sentence = places[number], scene.number_at(start)
        inside = place.start < scene.sentences[sentence].end and cues.IS_IN.fullmatch(scene.told[end : place.start])
        if inside and not scene.says(sentence, cues.AWAY):
            yield path, name, place.path, start


def _home(scene: Scene, path: str) -> str:
    """Where the campaign says that somebody is: by the party's line, else by the entry."""
    if path in scene.party:
        return scene.party[path] or scene.place
    return scene.standing.place_of(path)


def _moved(scene: Scene, start: int, path: str) -> bool:
    """Whether the prose or the action tells of coming and going, of this one or of the scene."""
    if cues.GOES.search(scene.action) or came_back(scene):
        return True
    named = scene.once("named in", lambda: _named_in(scene))
    at = scene.number_at(start)
    if any(scene.says(number, cues.TRAVEL) for number in named.get(path, ())):
        return True
    before = range(max(0, at - 5), at)
    return any(scene.says(n, cues.TRAVEL) for n in before) or any(scene.says(n, cues.DOOR) for n in (*before, at))


def _named_in(scene: Scene) -> dict[str, set[int]]:
    """The sentences in which each entry is named, by number."""
    found: dict[str, set[int]] = {}
    for mention in scene.mentions:
        found.setdefault(mention.path, set()).add(scene.number_at(mention.start))
    return found


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
