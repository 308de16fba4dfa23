"""Whether something that is about to be recorded is in the campaign already.

By its name first, then by a slip of the pen in it, then by what is said about it; only among kinds that go together,
and never two events of two dates. It calls no model and writes nothing: whoever asks makes an update of the twin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rolecall.search import titles
from rolecall.search.known import Candidate, Content, Piece, Thing, Twins, all_names, pieces_of, together
from rolecall.search.likeness import (
    ALIAS,
    GIVEN,
    SAME,
    belongs_elsewhere,
    beside_differs,
    is_first_name,
    miswritten,
    one_name,
    parallel,
    parts,
    slips,
    told_apart,
)
from rolecall.search.readings import Reading, folded, read_name, title_of
from rolecall.search.wording import alike, texts_apart, trigrams

__all__ = ["Candidate", "Content", "Near", "Twin", "Twins", "near_names", "twin_of"]

# How alike texts must be (Dice's coefficient of their trigrams) where the names have a word in common, and where they
# have none. Tuned on one half of tests/search/twins/pairs.yaml; `tests/benchmarks/twins.py` prints the other half too.
RELATED, UNRELATED = 0.65, 0.90

_LIVING = frozenset({"character", "creature"})


@dataclass(frozen=True, slots=True)
class Twin:
    """The entry a candidate is one with, why, and how sure that is (0 to 1; 1 for one and the same name)."""

    path: str
    why: str
    score: float


@dataclass(frozen=True, slots=True)
class Near:
    """A known name that an unknown word is close to. `name` is its spelling there."""

    path: str
    name: str
    score: float


def twin_of(candidate: Candidate, known: Twins) -> Twin | None:
    """The entry that a candidate is one with, or None when it is something new."""
    return _by_name(candidate, known) or _by_spelling(candidate, known) or _by_text(candidate, known)


# -- kinds and dates


def _living(a: str, b: str) -> bool:
    return bool({a, b} & _LIVING)


def dates_differ(a: str, b: str) -> bool:
    """Whether two dates as written are two dates: neither says only less than the other (`12 Frostmoon`, with year)."""
    mine, theirs = _date_parts(a), _date_parts(b)
    if len(mine) == len(theirs) and all(map(str.isdigit, mine + theirs)):
        return mine != theirs
    for numbers in (True, False):
        some, others = (Counter(part for part in date if part.isdigit() == numbers) for date in (mine, theirs))
        if some and others and not (some <= others or others <= some):
            return True
    return False


def _date_parts(date: str) -> list[str]:
    parts = (read_name(word, False).key.lstrip("#") for word in folded(date[:100]).split() if word not in titles.LINKS)
    return [part.lstrip("0") or "0" for part in parts if part not in titles.ARTICLES]


def _other_day(candidate: Candidate, thing: Thing, known: Twins) -> bool:
    if "event" not in (candidate.kind, thing.kind) or not candidate.date:
        return False
    return dates_differ(candidate.date, known.content(thing).date)


# -- by name


def _by_name(candidate: Candidate, known: Twins) -> Twin | None:
    own = all_names((candidate.name, *candidate.aliases))
    found: list[tuple[float, int, str, str]] = []
    for thing in known.sharing(own):
        if not together(candidate.kind, thing.kind) or _other_day(candidate, thing, known):
            continue
        best = _best_name(candidate, own, thing)
        if best:
            score, why = best
            found.append((score, 2 * (thing.kind == candidate.kind) - thing.withheld, thing.path, why))
    if not found:
        return None
    found.sort(key=lambda row: (-row[0], -row[1], row[2]))
    score, rank, path, why = found[0]
    if score < SAME and sum(row[:2] == (score, rank) for row in found) > 1:
        return None  # `Varr` where there are a Captain and a Lady Varr: which of them is meant is unknown
    return Twin(path, why, score)


def _best_name(candidate: Candidate, own: list[str], thing: Thing) -> tuple[float, str] | None:
    living = _living(candidate.kind, thing.kind)
    places = "location" in (candidate.kind, thing.kind)
    apart = told_apart(read_name(candidate.name, living), read_name(thing.names[0], living))
    best: tuple[float, str] | None = None
    for mine in own:
        for theirs in all_names(thing.names):
            aliased = (mine != candidate.name) + (theirs != thing.names[0])
            if aliased == 2 and (apart or _only_titles(mine)):
                continue
            a, b = read_name(mine, living), read_name(theirs, living)
            score, why = one_name(a, b, living, places)
            people = candidate.kind == thing.kind == "character" and aliased < 2
            if not score and people and (is_first_name(a, b) or is_first_name(b, a)):
                score, why = GIVEN, "the only one of that name"
            if score and aliased:
                score, why = min(score, ALIAS), f"known as {theirs}"
            if score and (best is None or score > best[0]):
                best = (score, why)
    return best


def _only_titles(name: str) -> bool:
    """An alias such as `the Captain`, which many may bear."""
    return all(title_of(word) for word in read_name(name, False).core)


# -- by spelling


def _by_spelling(candidate: Candidate, known: Twins) -> Twin | None:
    found: list[tuple[float, str, str]] = []
    for mine in (candidate.name, *candidate.aliases):
        for thing, score in known.spelled_like(mine, 0.8):
            if not together(candidate.kind, thing.kind) or _other_day(candidate, thing, known):
                continue
            living = _living(candidate.kind, thing.kind)
            if told_apart(read_name(candidate.name, living), read_name(thing.names[0], living)):
                continue
            for theirs in thing.names:
                a, b = read_name(mine, living), read_name(theirs, living)
                if slips(a.core, b.core, living) and not told_apart(a, b) and not beside_differs(a, b, living):
                    found.append((round(0.9 * score, 3), thing.path, f"written almost as {theirs}"))
    if not found:
        return None
    score, path, why = min(found, key=lambda row: (-row[0], row[1]))
    return Twin(path, why, score)


# -- by what is said


def _by_text(candidate: Candidate, known: Twins) -> Twin | None:
    best: Twin | None = None
    for own in pieces_of(candidate.name, candidate.text)[:1]:
        runs = trigrams(f"{own.name} {own.text}")
        for thing, piece in _sharing_runs(own, candidate.kind, known):
            score = alike(runs, trigrams(f"{piece.name} {piece.text}"))
            if score < RELATED or (best and score <= best.score):
                continue
            if score >= _needed(candidate, thing, own.text, piece.text) and not _other_time(candidate, thing, known):
                best = Twin(thing.path, "says the same", round(score, 3))
    return best


def _sharing_runs(own: Piece, kind: str, known: Twins) -> Iterator[tuple[Thing, Piece]]:
    """The texts that may be alike enough; the signature may be a little off, so that some slack is left."""
    least = (RELATED - 0.05) / 2
    bits, count = own.bits, own.count
    for thing in known.of_kinds(kind):
        for piece in known.pieces(thing):
            if (bits & piece.bits).bit_count() >= least * (count + piece.count):
                yield thing, piece


def _needed(candidate: Candidate, thing: Thing, own: str, other: str) -> float:
    """How alike the texts must be to be of one thing; above 1 for never."""
    living = _living(candidate.kind, thing.kind)
    a, b = read_name(candidate.name, living), read_name(thing.names[0], living)
    if told_apart(a, b) or parallel(a, b) or belongs_elsewhere(a, b) or texts_apart(own, other):
        return 2.0
    if living:
        described = _described(candidate.name) or _described(thing.names[0])
        return 2.0 if not described and a.key != b.key else UNRELATED if a.key == b.key else RELATED
    if a.key == b.key:  # and yet not one by name: two remarks in parentheses
        return UNRELATED
    return RELATED if _begin_alike(a, b) or _share_characters(a.key, b.key) else UNRELATED


def _begin_alike(a: Reading, b: Reading) -> bool:
    """Whether the names have a word in common, or two of one stem: `The Smugglers of Carrow`, `Smuggling Ring`."""
    mine, theirs = parts(a.core), parts(b.core)
    return bool(mine & theirs or {w[:5] for w in mine if len(w) > 4} & {w[:5] for w in theirs if len(w) > 4})


def _described(name: str) -> bool:
    """A name that describes (`The One-Eyed Smuggler`) rather than one that is given."""
    words = folded(name).split()
    return len(words) > 1 and words[0] in titles.ARTICLES


def _share_characters(a: str, b: str) -> bool:
    """In scripts without spaces: whether the names have two neighbouring characters in common."""
    return not a.isascii() and any(a[at : at + 2] in b for at in range(len(a) - 1))


def _other_time(candidate: Candidate, thing: Thing, known: Twins) -> bool:
    """Two events, unless both have the same date or neither has one."""
    if candidate.kind != "event":
        return False
    date = known.content(thing).date
    return bool(candidate.date) != bool(date) or dates_differ(candidate.date, date)


# -- for the continuity check


def near_names(word: str, known: Twins) -> list[Near]:
    """The known names that an unknown proper noun is close to, the closest first; none when it is known itself.

    A name is looked at whole and by its words. Whoever reports a slip does so when all are of exactly one path.
    """
    said = read_name(word, True)
    core = said.core
    if said.owner and core:  # Varr's, the Varrs'
        core = (*core[:-1], core[-1].removesuffix("s"))
    wanted, written = "".join(core), known.written()
    if not {wanted, said.key, said.key.removesuffix("s")}.isdisjoint(written):
        return []
    found: dict[tuple[str, str], float] = {}
    for option, score in known.like(wanted, written, 0.75):
        for thing, name, options in written[option]:
            if any(miswritten(core, o) for o in options if "".join(o) == option) and not _apart_as_names(said, name):
                found.setdefault((thing.path, name), round(score, 3))
    return [Near(path, name, score) for (path, name), score in sorted(found.items(), key=lambda row: (-row[1], row[0]))]


def _apart_as_names(said: Reading, name: str) -> bool:
    return said.marks != () and said.marks != read_name(name, True).marks
