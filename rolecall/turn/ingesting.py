"""Bringing a chat in: the story word for word, its cast, its Chronicles. With a model also what it made of each chunk.

Everything is planned first; the campaign is not touched before the plan is whole and in the record. What is killed before
that leaves nothing but answers that are paid for (`agents/ingest.py`), what is killed after it is finished by the next
command (`turn/ingested.py`).
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rolecall.agents import castentries, ingest, typed
from rolecall.agents.cast import Cast, Said, cast_of
from rolecall.agents.castwords import journal_line, names_pattern, words_of
from rolecall.agents.ingest import Found
from rolecall.campaign import chronicles, commitlines, files, journal, story
from rolecall.campaign.activity import Feed
from rolecall.campaign.effects import Effect
from rolecall.campaign.folder import Campaign
from rolecall.campaign.journal import Line, turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.errors import ExchangeError, ModelSettings, StorageError
from rolecall.exchange import chat_receipt, chat_story, planning
from rolecall.exchange.chat import Chat
from rolecall.exchange.chat_reading import MAX_FILE, read_chat
from rolecall.exchange.chat_story import Chapter, Scene
from rolecall.models.chain import Chain
from rolecall.models.provider import Profile
from rolecall.models.usage import Usage
from rolecall.search.searcher import Search
from rolecall.tools.ledger import Ledger
from rolecall.turn import folding, ingested, telling
from rolecall.turn.game import Game
from rolecall.turn.lifecycle import Listener, next_turn

PHASE = "ingest"
FILLED = 0.8  # of the Journal's fold line: how full a stretch is when it becomes a Chronicle

Estimate = ingest.Estimate
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be brought in, and how: `which` of several conversations (0: the longest), who plays, the budget."""

    file: Path
    which: int = 0
    player: str = ""
    rounds: str = ingest.MODERATE
    model: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """A chat as read from its file: its bytes and their SHA-256, and its scenes."""

    name: str
    data: bytes
    sha256: str
    chat: Chat
    scenes: tuple[Scene, ...]

    @property
    def title(self) -> str:
        """What the story is called: the chat's own title, else the file's name."""
        return self.chat.title or Path(self.name).stem.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Ingested:
    """What was made of it. `first` and `last` are turns; `entries` paths by what happened to them."""

    reading: Reading
    folder: str
    first: int
    last: int
    chapters: tuple[str, ...]
    chronicles: tuple[str, ...]
    recorded: tuple[str, ...]
    updated: tuple[str, ...]
    notes: tuple[str, ...]
    usage: dict[str, Usage] = field(default_factory=dict)

    def to_json(self) -> dict:
        """The object `ingest --json` prints."""
        chat = self.reading.chat
        return {
            "file": self.reading.name,
            "format": chat.format,
            "messages": len(chat.messages),
            "set_aside": [{"at": one.at, "why": one.why} for one in chat.set_aside],
            "turns": [turn_id(self.first), turn_id(self.last)],
            "chapters": list(self.chapters),
            "chronicles": list(self.chronicles),
            "recorded": list(self.recorded),
            "updated": list(self.updated),
            "folder": self.folder,
            "notes": list(self.notes),
            "usage": {
                layer: {"fresh": u.fresh + u.cache_write, "cached": u.cached, "out": u.out}
                for layer, u in self.usage.items()
            },
        }


def read(wish: Wish) -> Reading:
    """The chat of a file. ExchangeError when there is none in it, StorageError when the file cannot be read."""
    data = _bytes(wish.file)
    try:
        chat = read_chat(data, which=wish.which, player=wish.player)
    except ExchangeError as error:
        raise ExchangeError(error.what, path=error.path or wish.file, line=error.line, remedy=error.remedy) from None
    return Reading(wish.file.name, data, files.sha256(data), chat, chat_story.scenes_of(chat))


def _bytes(path: Path) -> bytes:
    try:
        info = os.stat(path)
        if not stat.S_ISREG(info.st_mode):
            raise StorageError("this is not a plain file", path=path, remedy="name a file with a chat in it")
        if info.st_size > MAX_FILE:
            raise ExchangeError(
                f"the file is over {MAX_FILE // 1024 // 1024} MB", path=path, remedy="split it, or export less at once"
            )
        return path.read_bytes()
    except OSError as error:
        raise files.refused(error, path) from None


# -- into a campaign that is played


def take(game: Game, reading: Reading, wish: Wish, listener: Listener, progress: Progress) -> Ingested:
    """Bring a chat in, with the sidecar's model where there is one and the wish does not say otherwise."""
    with game.writing(listener) as (campaign, search):
        chain = _sidecar(game, campaign) if wish.model else None
        done = bring_in(campaign, search, chain, reading, wish, listener.note, progress)
        turns = f"{turn_id(done.first)}-{turn_id(done.last)}"
        game.commit(lambda: commitlines.of_ingest(reading.name, turns), listener)
        return done


def take_back(game: Game, listener: Listener) -> tuple[str, list[str]]:
    """Take the chat that was brought in last back: (its file's name, what stays because you changed it)."""
    with game.writing(listener) as (campaign, _):
        name, clashes = ingested.take_back(campaign)
        game.commit(lambda: commitlines.of_ingest(name), listener)
        return name, clashes


def estimate(game: Game, reading: Reading, wish: Wish) -> tuple[ingest.Estimate, Profile | None]:
    """What bringing a chat in would ask, and of whom; nothing of nobody without a model. No model is asked."""
    campaign = game.campaign()
    chain = typed.helpers_of(_sidecar(game, campaign) if wish.model else None)
    if chain is None:
        return ingest.Estimate(0, 0, 0, 0, 0), None
    chunks = ingest.chunks_of(reading.scenes, wish.rounds)
    return ingest.estimate(campaign, chain, chunks, wish.rounds), chain.profile()


def _sidecar(game: Game, campaign: Campaign) -> Chain | None:
    """The sidecar's chain; None where no model is configured, which is no fault of who only brings a chat in."""
    try:
        return game.chains(campaign)["sidecar"]
    except ModelSettings:
        if game.models or campaign.settings.models:
            raise
        return None


# -- bringing it in


def bring_in(
    campaign: Campaign,
    search: Search,
    chain: Chain | None,
    reading: Reading,
    wish: Wish,
    note: Callable[[str], None],
    progress: Progress = lambda done, total, label: None,
) -> Ingested:
    """Bring a chat in. Holds only under the campaign's lock, after recovery.

    A model that fails on a chunk is said through `note`; that chunk is told without it. KeyboardInterrupt while a model is
    asked leaves the campaign untouched and what was paid for on record.
    """
    begun = time.monotonic()
    if before := ingested.of_same(campaign.root, reading.sha256):
        raise ExchangeError(
            f"this chat was brought in before, as {before}",
            path=reading.name,
            remedy="take that back first with `rolecall ingest --undo`",
        )
    search.refresh()
    if not campaign.exists(STATE_FILE):
        raise StorageError("there is no Campaign State", path=STATE_FILE, remedy="restore it, or copy the template's")
    first = next_turn(campaign, campaign.document(STATE_FILE))
    speech = _speech(reading.scenes, first)
    cast = cast_of(speech)
    table = Ledger(campaign, search, first, campaign.document(STATE_FILE))
    found = Found()
    chain = typed.helpers_of(chain)
    if chain is not None:
        asked = ingest.Asking(campaign, search, chain, table, first, wish.rounds)
        found = asked.all(ingest.chunks_of(reading.scenes, wish.rounds), progress)
        for layer, why in found.degraded:
            note(f"{layer}: {why} → told without a model")
    faults = castentries.put_cast(table, cast.beings, cast.places, words_of([*cast.beings, *cast.places], speech))
    before = folding.close_all(campaign, telling.known_names(search))
    known = [*telling.known_names(search), *(n for b in cast.beings for n in (b.name, *b.aliases))]
    story_ = _Story(campaign, reading, first, cast, known, found)
    effects = [_explained(effect, reading) for effect in (*story_.effects(), *table.effects, *found.arcs)]
    result = _result(reading, story_, effects, faults, before, found)
    receipt = chat_receipt.receipt(reading.name, reading.chat, result.to_json(), [c.name for c in cast.beings])
    folder = result.folder
    effects.append(Effect("brought", f"{folder}/{planning.RECEIPT}", first, receipt, reason="the receipt", phase=PHASE))
    ingested.write(campaign, effects, folder, reading.name, reading.data, reading.sha256, first, note)
    ms = round((time.monotonic() - begun) * 1000)
    Feed(campaign.root).note(
        "remember",
        "post-gen",
        model=found.model or "rolecall",
        reason=f"{reading.name} brought in",
        paths=[folder],
        ms=ms,
    )
    return result


def _speech(scenes: Sequence[Scene], first: int) -> list[Said]:
    return [Said(first + n, who, text) for n, scene in enumerate(scenes) for who, text in scene.said]


def _explained(effect: Effect, reading: Reading) -> Effect:
    return replace(effect, phase=effect.phase or PHASE, reason=effect.reason or f"from {reading.name}, word for word")


@dataclass(slots=True)
class _Story:
    """Chapters, journal lines and Chronicles of a chat, as effects."""

    campaign: Campaign
    reading: Reading
    first: int
    cast: Cast
    known: list[str]
    found: Found
    chapters: tuple[Chapter, ...] = ()
    sealed: list[str] = field(default_factory=list)

    @property
    def last(self) -> int:
        return self.first + len(self.reading.scenes) - 1

    def effects(self) -> list[Effect]:
        """The chapters first, then the Chronicles, then the lines that stay in the Journal."""
        told = story.chapters(self.campaign)
        number = told[-1][0] + 1 if told else 1
        self.chapters = chat_story.chapters_of(self.reading.scenes, self.reading.title, self.first, number)
        effects = [Effect("brought", one.path, one.first, one.text) for one in self.chapters]
        lines = self._lines()
        for stretch, prose in self._stretches(lines):
            path, data = chronicles.compose(stretch, prose or chronicles.own_words(stretch), self.known)
            self.sealed.append(path)
            model = self.found.model if prose else ""
            effects.append(
                Effect("brought", path, stretch.last, data.decode(), reason=f"{stretch.covers} closed", model=model)
            )
        covered = stretch.last if self.sealed else self.first - 1
        effects += [Effect("journal", STATE_FILE, n.turn, n.text, reason="its line") for n in lines if n.turn > covered]
        return effects

    def _lines(self) -> list[Line]:
        pattern = names_pattern(name for b in self.cast.beings for name in (b.name, *b.aliases))
        lines = []
        for turn, scene in enumerate(self.reading.scenes, self.first):
            text = self.found.lines.get(turn) or journal_line(
                [Said(turn, who, text) for who, text in scene.said], pattern
            )
            lines.append(Line(turn, text, f"- {turn_id(turn)} {text}", 0, 0, 0))
        return lines

    def _stretches(self, lines: list[Line]) -> list[tuple[chronicles.Stretch, str]]:
        """(stretch, a model's retelling of it or nothing): all but the lines that may stay in the Journal."""
        memory = self.campaign.settings.memory
        room = int(memory["fold_at"] * FILLED)
        found = chronicles.paths(self.campaign)
        number = found[-1][0] + 1 if found else 1
        keep = lines[-memory["keep_lines"] :] if memory["keep_lines"] else []
        if journal.length(tuple(lines)) <= room:
            return []
        fold = lines[: len(lines) - len(keep)]
        made: list[tuple[chronicles.Stretch, str]] = []
        part: list[Line] = []
        ends = {last: prose for last, prose in self.found.retold.items() if prose}
        held: list[str] = []
        for line in fold:
            part.append(line)
            if line.turn in ends:
                held.append(ends[line.turn])
            full = journal.length(tuple(part)) > room
            if (full and (line.turn in ends or not ends)) or journal.length(tuple(part)) > 2 * room:
                made.append((chronicles.Stretch(number + len(made), tuple(part)), "\n\n".join(held)))
                part, held = [], []
        if part:
            made.append((chronicles.Stretch(number + len(made), tuple(part)), "\n\n".join(held)))
        return made


def _result(
    reading: Reading,
    story_: _Story,
    effects: Sequence[Effect],
    faults: Sequence[str],
    before: folding.Folded | None,
    found: Found,
) -> Ingested:
    made = [e.path for e in effects if e.op == "record"]
    notes = [*reading.chat.notes, *faults, *found.notes]
    if before is not None:
        notes.append(f"The Journal's {before.lines} lines before it were closed into {before.path}.")
    root = story_.campaign.root
    folder = planning.free_folder(reading.title, lambda path: _is_taken(root / path))
    arcs = [e.path for e in found.arcs if e.op == "brought"]
    known = {e.path for e in effects if e.op not in ("brought", "journal", "proposal")} - set(made) - set(arcs)
    return Ingested(
        reading=reading,
        folder=folder,
        first=story_.first,
        last=story_.last,
        chapters=tuple(one.path for one in story_.chapters),
        chronicles=tuple(story_.sealed),
        recorded=tuple(dict.fromkeys([*made, *arcs])),
        updated=tuple(sorted(known)),
        notes=tuple(notes),
        usage=dict(found.usage),
    )


def _is_taken(place: Path) -> bool:
    return os.path.lexists(place) and not (place.is_dir() and not any(place.iterdir()))
