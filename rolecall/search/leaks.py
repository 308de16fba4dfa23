"""Hidden truth in a text: which of its sentences give away what only the DM may know.

A sentence is given away when the text repeats six words of it in a row, or when two adjacent sentences hold all its names
and a third of its content words. What the open part of the campaign says already is no secret any more.

`given_away` looks so at prose, where a false alarm costs more than a near miss. `exposed` is for what leaves the DM: each
run of words is judged by itself, and short truths count whole.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

from rolecall.campaign import facts, macros
from rolecall.campaign.documents import parse
from rolecall.campaign.files import sha256
from rolecall.campaign.narration import Sentence, sentences
from rolecall.errors import CampaignError
from rolecall.search.analysis import fold, words
from rolecall.search.disguise import Squeezed
from rolecall.search.passages import passages_of
from rolecall.search.searcher import Search
from rolecall.search.wordruns import RUN, Runs, Turned, carries, run_together, spelled_runs

SHARE = 1 / 3  # of a hidden sentence's content words
_CAPITAL = re.compile(r"\b(?=[^\W\d_a-z])\w+")
LEAST = 2  # content words, however short the hidden sentence is


@dataclass(frozen=True, slots=True)
class Leak:
    """A sentence of the text and the hidden text (or the secret name) it gives away. The second is for the DM's eyes only."""

    sentence: Sentence
    hidden: str


@dataclass(frozen=True, slots=True)
class _Said:
    """A hidden sentence as its words alone tell: runs of them, and those that carry meaning, names among them."""

    text: str
    runs: frozenset[tuple[str, ...]]
    words: frozenset[str]
    least: float  # of them that a pair of sentences must have at the very least


@dataclass(frozen=True, slots=True)
class _Secret:
    """A hidden sentence, read: runs of its words, the entries and other names in it, and its content words."""

    text: str
    runs: frozenset[tuple[str, ...]]
    paths: frozenset[str]
    names: frozenset[str]
    content: frozenset[str]


def given_away(text: str, hidden: Iterable[str], search: Search, known: str = "") -> list[Leak]:
    """What a text gives away of the hidden texts, and the secret entries it names; one leak at most for each sentence.

    `known` is text that is open to everybody beside the campaign's entries (the Campaign State). A hidden text that
    begins with its entry's name (`Valen. He sold her.`) is found without it too.
    """
    if not text.strip():
        return []
    said = _Text(_nfc(text), search)
    found = {leak.sentence.start: leak for leak in _named(said, search)}
    for one in hidden:
        if not any(said.may_hold(part) for part in _said(one)):
            continue
        for secret in _secrets(one, search):
            at = said.place(secret)
            if at is not None and said.sentences[at].start not in found and not _open(secret, search, known):
                found[said.sentences[at].start] = Leak(said.sentences[at], secret.text)
    return [found[start] for start in sorted(found)]


class _Text:
    """A text ready to be asked: its runs of words, and each pair of neighbouring sentences with its names and words."""

    def __init__(self, text: str, search: Search) -> None:
        self.text = text
        self.sentences = sentences(text)
        starts = [part.start for part in self.sentences]
        self.mentions = search.mentions(text, secrets=True)
        named_at = [(m.start, m.end) for m in self.mentions]
        self.runs = {run: max(0, bisect_right(starts, at) - 1) for run, at in reversed(_runs(text, named_at))}
        named: list[set[str]] = [set() for _ in starts]
        for mention in self.mentions:
            named[max(0, bisect_right(starts, mention.start) - 1)].add(mention.path)
        bags = [facts.content_words(part.text) for part in self.sentences]
        self._alone = list(zip(named, bags, strict=True))
        self._named = [a | b for a, b in zip(named, [*named[1:], set()], strict=True)]
        self._bags = [a | b for a, b in zip(bags, [*bags[1:], set()], strict=True)]
        self._words = set().union(*bags)

    def sentence_at(self, position: int) -> Sentence:
        """The sentence in which a character stands."""
        starts = [part.start for part in self.sentences]
        return self.sentences[max(0, bisect_right(starts, position) - 1)]

    def words_at(self, number: int) -> set[str]:
        """The content words of a sentence and the next."""
        return self._bags[number]

    @property
    def pairs(self) -> Iterator[tuple[set[str], set[str]]]:
        """(paths named, content words) of each sentence with the next."""
        return zip(self._named, self._bags, strict=True)

    def may_hold(self, said: _Said) -> bool:
        """Whether it is worth a closer look, which costs more."""
        if not said.runs.isdisjoint(self.runs):
            return True
        shared = said.words & self._words
        return len(shared) >= said.least and any(len(shared & bag) >= said.least for bag in self._bags)

    def place(self, secret: _Secret) -> int | None:
        """The sentence that gives a secret away, by number."""
        at = min((self.runs[run] for run in secret.runs if run in self.runs), default=None)
        return self.retold_at(secret) if at is None else at

    def told_at(self, secret: _Secret) -> tuple[int, ...]:
        """The sentence that tells a secret in other words by itself; failing that, the first two that do together.

        Who is tied to whom needs one word beside the names: `Marta is Sera's twin`.
        """
        names = len(secret.paths) + len(secret.names)
        if not names or not secret.content:
            return ()
        needed = 1 if names > 1 and len(secret.content) == 1 else _needed(secret)
        for at, (named, bag) in enumerate(self._alone):
            if secret.paths <= named and secret.names <= bag and len(secret.content & bag) >= needed:
                return (at,)
        at = self.retold_at(secret)
        return () if at is None else (at, at + 1) if at + 1 < len(self.sentences) else (at,)

    def retold_at(self, secret: _Secret) -> int | None:
        """The first of two sentences that tell a secret in other words."""
        if not (secret.paths or secret.names) or len(secret.content) < LEAST:
            return None
        needed = _needed(secret)
        for at, (named, bag) in enumerate(zip(self._named, self._bags, strict=True)):
            if secret.paths <= named and secret.names <= bag and len(secret.content & bag) >= needed:
                return at
        return None


def _needed(secret: _Secret) -> float:
    """Content words of a secret that tell it."""
    return max(LEAST, len(secret.content) * SHARE)


def _runs(text: str, names: Iterable[tuple[int, int]] = ()) -> list[tuple[tuple[str, ...], int]]:
    """Every run of `RUN` words of a text that says something, and where it begins.

    Two words in it carry meaning beside the names that stand there: `the floor of the Broken Anchor` is no secret.
    """
    spelled = list(words(text))
    length = 2 * RUN if sum(word.unspaced for word in spelled) * 2 > len(spelled) else RUN
    taken = {at for start, end in names for at in range(start, end)}
    telling = [word.start not in taken and carries(word.text) for word in spelled]
    return [
        (tuple(word.text for word in spelled[at : at + length]), spelled[at].start)
        for at in range(len(spelled) - length + 1)
        if length > RUN or sum(telling[at : at + length]) >= 2
    ]


@lru_cache(maxsize=2_000)
def _said(hidden: str) -> tuple[_Said, ...]:
    """The sentences of a hidden text, read once for a whole session."""
    found = []
    for part in sentences(_nfc(hidden)):
        plain = len(facts.content_words(_CAPITAL.sub("", part.text))) - 2  # an alias may be two common words
        found.append(
            _Said(
                part.text,
                frozenset(run for run, _ in _runs(part.text)),
                frozenset(facts.content_words(part.text)),
                max(LEAST, plain * SHARE),
            )
        )
    return tuple(found)


def _secrets(hidden: str, search: Search) -> list[_Secret]:
    """The same with the names in them; the entry's name before the first sentence counts for all."""
    found, subject = [], frozenset()
    for part in _said(hidden):
        mentions = [m for m in search.mentions(part.text, secrets=True) if not m.path.startswith("arcs/")]
        paths, rest = frozenset(m.path for m in mentions), part.text
        for mention in reversed(mentions):
            rest = rest[: mention.start] + " · " + rest[mention.end :]
        if not found and not subject and paths and not facts.content_words(rest):
            subject = paths
            continue
        names = frozenset().union(*(facts.content_words(name) for name in facts.names_in(rest)))
        content = frozenset(facts.content_words(rest)) - names
        found.append(_Secret(part.text, part.runs, paths | subject, names, content))
    return found


def _open(secret: _Secret, search: Search, known: str) -> bool:
    """Whether the open part of the campaign says it too."""
    if known and _Text(_nfc(known), search).place(secret) is not None:
        return True
    return any(_Text(_nfc(hit.text), search).place(secret) is not None for hit in search.find(secret.text, limit=6))


# -- for what leaves the DM ---------------------------------------------------------------------------------------------


def exposed(text: str, truths: Iterable[str], plans: Iterable[str], search: Search, known: str = "") -> list[Leak]:
    """What a text exposes of what is hidden; one leak at most for each sentence, in their order.

    Any six words in a row of a hidden text are a leak where no open text has the same six; a hidden sentence of fewer
    words counts whole. Of `truths` two adjacent sentences that hold all the names and a third of the words are one as
    well; `plans` are there to be carried out, so they may be told in other words. Names that only a secret entry bears
    are leaks too.
    """
    if not text.strip():
        return []
    text = _nfc(text)
    said, runs = _Text(text, search), Runs(text)
    squeezed, turned = Squeezed(text), Turned(text)
    found = {leak.sentence.start: leak for leak in _named(said, search)}
    told = Runs(_nfc(known)) if known else None
    truths = list(dict.fromkeys(truths))
    for one in dict.fromkeys((*truths, *plans)):
        for part, spelled in spelled_runs(one):
            for run, at in (*runs.shared(spelled), *turned.shared(spelled), *run_together(squeezed, spelled)):
                start = said.sentence_at(at).start
                if start in found or (told and told.has(run)) or _is_name(run, search) or _told_openly(run, search):
                    continue
                found[start] = Leak(said.sentence_at(at), part)
    for one in truths:
        if not any(said.may_hold(part) for part in _said(one)):
            continue
        for secret in _secrets(one, search):
            places = said.told_at(secret)
            if places and not _says_openly(secret, said, places[0], search, known):
                for at in places:
                    sentence = said.sentences[at]
                    found.setdefault(sentence.start, Leak(sentence, secret.text))
    return [found[start] for start in sorted(found)]


def _is_name(run: tuple[str, ...], search: Search) -> bool:
    """Whether these few words are an open name and nothing beside."""
    if len(run) >= RUN:
        return False
    text = " ".join(run)
    return any((m.start, m.end) == (0, len(text)) for m in search.mentions(text))


def _told_openly(run: tuple[str, ...], search: Search) -> bool:
    """Whether an open text of the campaign has these words in a row."""
    return any(Runs(_nfc(hit.text)).has(run) for hit in search.find(" ".join(run), limit=6))


def _says_openly(secret: _Secret, said: _Text, at: int, search: Search, known: str) -> bool:
    """Whether one open text holds the names, and all the words that these two sentences share with the hidden one."""
    shared = said.words_at(at) & secret.content
    for text in (known, *(hit.text for hit in search.find(secret.text, limit=6))):
        if text and any(
            secret.paths <= named and secret.names <= bag and shared <= bag
            for named, bag in _Text(_nfc(text), search).pairs
        ):
            return True
    return False


def _named(said: _Text, search: Search) -> Iterator[Leak]:
    """The sentences in which a name stands that only a secret entry bears, as it is written there.

    A name that the open part of the campaign uses too is no secret.
    """
    catalogue = search.catalogue
    secret = [m for m in said.mentions if m.path in catalogue and catalogue[m.path].secret]
    opened = {(m.start, m.end) for m in search.mentions(said.text)} if secret else set()
    for mention in secret:
        first = said.text[mention.start]
        if (mention.start, mention.end) in opened or (first.upper() != first.lower() and not first.isupper()):
            continue
        if not any(fold(mention.name) in fold(hit.text) for hit in search.find(mention.name, limit=3)):
            sentence = next(part for part in said.sentences if part.start <= mention.start < part.end)
            yield Leak(sentence, mention.name)


def hidden_near(text: str, search: Search) -> list[str]:
    """The hidden texts that a text may give away, each begun with its entry's name (an arc's with its question).

    Those of the entries it names, of what these are tied to, of every arc, and of the DM's own files; each file is read
    once for as long as it stays the same. Hand in the prose with the Campaign State, so that who is about counts as named.
    What is given back is for the DM's eyes, and for `given_away`.
    """
    return [one for texts in hidden_by_file(text, search).values() for one in texts]


def hidden_by_file(text: str, search: Search) -> dict[str, tuple[str, ...]]:
    """The same by the file each stands in; files that hide nothing are not in it."""
    named = dict.fromkeys(m.path for m in search.mentions(_nfc(text), secrets=True))
    near = dict.fromkeys(other for path in named for other in search.neighbours(path, secrets=True))
    return hidden_of((*named, *search.catalogue.below("arcs", "dm"), *near), search)


def hidden_of(paths: Iterable[str], search: Search) -> dict[str, tuple[str, ...]]:
    """What is hidden in these files, by path; files that hide nothing, or are broken, are not in it."""
    kept, found = _READ.setdefault(search, {}), {}
    for path in dict.fromkeys(paths):
        entry = search.catalogue.get(path)
        if entry is None or entry.broken:
            continue
        held = kept.get(path)
        if held is None or held[0] != entry.sha256:
            held = kept[path] = _hidden_in(path, search)
        if held[1]:
            found[path] = tuple(macros.read(search.campaign, path, text) for text in held[1])
    return found


_READ: WeakKeyDictionary[Search, dict[str, tuple[str, tuple[str, ...]]]] = WeakKeyDictionary()


# What no file without a secret lacks, however it is written: most files are passed over without being parsed. Behind a
# backslash YAML may hide any letter, and the long s is an s to a case-blind eye.
_MAY_HIDE = re.compile(rb"secret|truth|gm|\\|\xc5\xbf", re.I)


def _hidden_in(path: str, search: Search) -> tuple[str, tuple[str, ...]]:
    """(the hash of the bytes as they are by now, what is hidden in them)."""
    sha = ""
    try:
        data = search.campaign.read(path)
        sha = sha256(data)
        if not (path.casefold().startswith("dm/") or _MAY_HIDE.search(data)):
            return sha, ()
        about, question = passages_of(path, data), parse(data, path).text("question")
    except CampaignError:
        return sha, ()
    subject = question.rstrip("?？ ") + ":" if question else "" if about.kind == "dm" else f"{about.name}."
    bodies = [passage.body for passage in about.passages if passage.secret and passage.body.strip()]
    return sha, tuple(f"{subject} {body}".strip() for body in bodies)


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
