"""The continuity check: what a narration says against what the campaign knows, without a model.

It reads the prose sentence by sentence, keeps what is told apart from what somebody says, and asks eight narrow questions.
A false alarm costs the writer more than a slip that passes, so a rule that cannot be sure keeps silent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rolecall.agents import cues
from rolecall.agents.people import dead
from rolecall.agents.places import renamed, two_places
from rolecall.agents.roster import LIVING
from rolecall.agents.scene import Finding, Scene
from rolecall.agents.standing import standing
from rolecall.agents.strangers import misspelt
from rolecall.campaign import dates
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign
from rolecall.campaign.narration import BLANK
from rolecall.errors import RoleCallError
from rolecall.search import leaks
from rolecall.search.names import Mention
from rolecall.search.searcher import Search

__all__ = ["RULES", "Finding", "findings", "prepare", "repair_request"]

RULES = ("misspelt", "near-name", "renamed", "dead", "two-places", "two-owners", "date", "hidden")


def findings(
    prose: str, state: Document, search: Search, campaign: Campaign, action: str = "", hidden: Iterable[str] = ()
) -> list[Finding]:
    """What is at odds in the prose of a turn that is not yet in the story, in the order of the prose.

    `state` is the Campaign State as the turn began (or with the scene's change put in), `hidden` the texts that only the
    DM may know; one that begins with its entry's name (`Valen. He sold her.`) is recognised by that name too.
    The search must be up to date (`refresh`). Nothing is written; what cannot be read is passed over.
    """
    if not prose.strip():
        return []
    scene = Scene.of(prose, state, search, campaign, action, list(hidden))
    found: list[Finding] = []
    for rule in (misspelt, renamed, dead, two_places, two_owners, date, given_away):
        try:
            found += rule(scene)
        except RoleCallError:
            continue  # a file that cannot be read: the other rules still hold
    return sorted(dict.fromkeys(found), key=lambda finding: scene.prose.find(finding.sentence))


def prepare(campaign: Campaign, search: Search) -> None:
    """Make ready what the check asks of the campaign, for moments when a model is awaited: then it takes milliseconds."""
    import rapidfuzz.distance
    import rapidfuzz.process  # noqa: F401 - loaded now rather than at the first name

    cues.prepare()
    standing(campaign, search)


def repair_request(found: Iterable[Finding]) -> str:
    """What the narrator is told for its one repair round; empty when there is nothing to repair. Holds no secret.

    Whoever asks leaves out what is not worth a second telling (`severity` `warning`).
    """
    lines = []
    for one in found:
        if one.secret:
            lines.append(f"- Leave out what the sentence beginning “{_beginning(one.sentence)}” gives away.")
        else:
            lines.append(f"- “{_beginning(one.sentence)}”: {one.text}.")
    if not lines:
        return ""
    return (
        "Some of this is at odds with what is already true in the story:\n\n"
        + "\n".join(dict.fromkeys(lines))
        + "\n\nWrite the whole scene again with only this put right. Keep everything else word for word."
    )


def _beginning(sentence: str, limit: int = 60) -> str:
    line = " ".join(sentence.split()).strip('"“”„«»* ')
    return line if len(line) <= limit else line[:limit].rsplit(" ", 1)[0] + "…"


# -- what people have


def two_owners(scene: Scene) -> Iterator[Finding]:
    """A thing that one person holds and another has: `Sera's Blind Penny`, `Sera draws the Blind Penny`."""
    told: set[str] = set()
    for start, _, path, name in _things(scene):
        if path in told or not scene.once(("single", path), lambda p=path: scene.standing.is_single(p)):
            continue
        holder = scene.once(("holder", path), lambda p=path: scene.standing.holder_of(p))
        user = _user(scene, start, path) if holder else None
        if not user or user[0] == holder or _changes_hands(scene, start, path):
            continue
        told.add(path)
        owner = scene.standing.catalogue[holder].name
        yield Finding(
            "two-owners",
            user[2],
            f"{owner} has {name}, not {user[1]}",
            scene.sentence_at(start).text,
            path,
            owner,
            user[1],
        )


def _things(scene: Scene) -> list[tuple[int, int, str, str]]:
    """(start, end, path, name) of every thing named in told text, also where a name stands there without its article."""
    return scene.once("things", lambda: list(_named_things(scene)))


def _named_things(scene: Scene) -> Iterator[tuple[int, int, str, str]]:
    items = [(m.start, m.end, m.path) for m in scene.mentions] + _without_article(scene)
    for start, end, path in sorted(set(items)):
        entry = scene.standing.open_entry(path)
        if entry is not None and entry.kind == "item" and BLANK not in scene.told[start:end]:
            yield start, end, path, entry.name


def _without_article(scene: Scene) -> list[tuple[int, int, str]]:
    """(start, end, path) of names that begin with an article and are said without it: `Marta's Tally Ledger`."""
    taken = {at for m in scene.mentions if scene.is_proper(m) for at in range(m.start, m.end)}
    spelled = [w for w in scene.words if w.start not in taken]
    found = []
    for at, word in enumerate(spelled):
        if not scene.prose[word.start].isupper():
            continue
        for size in (4, 3, 2, 1):
            last = spelled[min(at + size, len(spelled)) - 1]
            paths = scene.standing.names.named(scene.prose[word.start : last.end])
            if len(paths) == 1:
                found.append((word.start, last.end, paths[0]))
                break
    return found


def _user(scene: Scene, start: int, path: str) -> tuple[str, str, str] | None:
    """(path, name, severity) of the one who has the thing that stands here, by a possessive or a deed."""
    sentence = scene.number_at(start)
    if any(scene.says(sentence, cue) for cue in (cues.AWAY, cues.NOT_NOW, cues.NOT_TRULY)):
        return None
    before: Mention | None = None
    for mention in scene.mentions:
        if scene.sentences[sentence].start <= mention.start and mention.end <= start:
            entry = scene.standing.open_entry(mention.path)
            before = mention if entry and entry.kind in LIVING and scene.is_proper(mention) else before
    if before is None or BLANK in scene.told[before.start : before.end]:
        return None
    between = scene.told[before.end : start]
    possessive = scene.prose[before.start : before.end].endswith(("'s", "’s"))
    if possessive and not between.strip():
        document = scene.standing.document(path)
        named = {m.path for m in scene.search.mentions(document.data.decode("utf-8", "replace"))} if document else set()
        return None if before.path in named else (before.path, before.name, "warning")
    if not possessive and cues.WIELDS.fullmatch(between):
        return before.path, before.name, "error"
    return None


def _changes_hands(scene: Scene, start: int, path: str) -> bool:
    """Whether the prose, where it speaks of the thing or right before, or the action tells how it came to another."""
    if cues.TRANSFER.search(scene.action):
        return True
    at = scene.number_at(start)
    near = {*range(max(0, at - 2), at + 1), *(scene.number_at(b) for b, _, other, _ in _things(scene) if other == path)}
    return any(cues.TRANSFER.search(scene.sentences[number].text) for number in near)


# -- the date


def date(scene: Scene) -> Iterator[Finding]:
    """A day of the scene that lies before the day it is."""
    now = next(iter(dates.in_text(scene.state.text("date"))), None)
    if now is None:
        return
    latest = now
    for sentence in scene.sentences:
        day = dates.own_day(sentence.told)
        if day is None:
            continue
        if dates.earlier(day, latest):
            text = f"it is {latest.text} already, not {day.text}"
            yield Finding("date", "error", text, sentence.text, scene.state.path, latest.text, day.text)
            return
        if dates.earlier(latest, day):
            latest = day


# -- hidden truth


def given_away(scene: Scene) -> Iterator[Finding]:
    """Hidden truth in the prose. The finding quotes the narrator's own words and nothing else."""
    for leak in leaks.given_away(scene.prose, scene.hidden, scene.search, scene.open_state()):
        yield Finding("hidden", "error", "the sentence gives away what is hidden", leak.sentence.text, secret=True)
