"""What the story told before, found again for an action: by the sentence, in the chapters and the Chronicles' lines.

Search ranks turns with their neighbours, which is right for a question about what went on; it is too coarse for "the mule
that Della never paid for", when both stand in a tenth of all turns and only once in one sentence. So the words of the
action are looked up in the story itself, most of it kept in memory between turns: first the turns that hold most of
them, then, in those, the sentences. An entry named in any way counts as one word, whichever of its names is written. Rare words
count more, as in BM25; a word that hardly ever stood anywhere says no more than one that stood a few times.

No model and no index is asked. The same files and the same action always give the same.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from weakref import WeakKeyDictionary

from rolecall.campaign import facts, journal, secrets, story
from rolecall.campaign.documents import Document
from rolecall.campaign.files import sha256
from rolecall.campaign.folder import Campaign
from rolecall.campaign.text import clean_line, fold
from rolecall.errors import DocumentError, StorageError
from rolecall.search.catalogue import Entry
from rolecall.search.searcher import Search

LOOKED_AT = 50  # turns whose sentences are weighed
NEAR = 0.3  # what a word counts for a sentence when it stands in the one before or after
LISTED = 1.2  # a line of the Journal says in one sentence what its turn was about
COMMON = 0.4  # of the turns: a word that stands in more tells nothing (a name may)
FEW = 12  # turns, at most: a word that stands in fewer counts as if it stood in so many
FEW_SHARE = 0.012  # of the turns: the same in a short story
WORDS = 16  # words of an action that are looked up, the longest first
ENOUGH = 0.5  # of the best score: what is below says little about the action
LEAST = 3.5  # an action of one word asks for nothing if more than every thirtieth turn has it
LEAST_SHARE = 0.9  # of what a word of one turn says: the same in a short story
KEPT = 256  # stems whose turns are kept, for each page
ALIKE = 2  # pieces that tell the same sentence (`I wait.`)

_HEADING = re.compile(r"## T(\d{4,9})\b[^\n]*\n")  # where a line begins; looked for without `^`, many times as fast
_STRUCTURE = re.compile(r"^ {0,3}(?:#{1,6}(?:\s|$)|=+[ \t]*$|-+[ \t]*$|```|~~~)", re.M)
_BEGINNINGS = ("\n ", "\n-", "\n=", "\n```", "\n~~~")  # of any line of structure but a `#`
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_QUOTE = re.compile(r"^> ?", re.M)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing an action speaks of: the beginnings of words by which it is recognised."""

    stems: tuple[str, ...]
    entry: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A place that speaks of what is wanted. `parts` are the sentences of its turn (one for a line), `at` the telling one."""

    turn: int
    path: str
    line: int
    listed: bool
    parts: tuple[str, ...]
    at: int
    score: float


class Rows:
    """Folded texts in a row, and which of them hold a word. A text is known by its place in the row.

    What was looked for is kept: a story speaks of the same people and things from turn to turn.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._whole = "\n".join(texts)
        self._starts = list(accumulate((len(text) + 1 for text in texts[:-1]), initial=0))
        self._kept: dict[str, tuple[int, ...]] = {}

    def having(self, stem: str) -> tuple[int, ...]:
        """The texts with a word that begins with a stem, in order."""
        found = self._kept.get(stem)
        if found is None:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            found = self._kept[stem] = tuple(self._looked_for(stem))
        return found

    def _looked_for(self, stem: str) -> Iterator[int]:
        whole, starts, last = self._whole, self._starts, len(self._starts) - 1
        at = whole.find(stem)
        while at >= 0:
            if _is_word(whole, at, stem):
                row = bisect_right(starts, at) - 1
                yield row
                at = whole.find(stem, starts[row + 1]) if row < last else -1  # one is enough
            else:
                at = whole.find(stem, at + 1)


@dataclass(frozen=True, slots=True)
class _Page:
    """A file as read: the fingerprint of its bytes, and of each turn its number, its text, its line; `words` are their words."""

    path: str
    sha256: str
    listed: bool
    turns: tuple[int, ...]
    texts: tuple[str, ...]
    lines: tuple[int, ...]
    words: Rows = field(compare=False)


class _Book:
    """Pages one after another: their turns in a row, and the words in them."""

    def __init__(self, pages: dict[str, _Page]) -> None:
        self.pages = pages
        self.rows = [(page, at) for page in pages.values() for at in range(len(page.turns))]
        self.turns = [page.turns[at] for page, at in self.rows]

    def holding(self, stems: Iterable[str], *, most: int) -> set[int]:
        """The turns with a word that begins with one of the stems; none for a stem that stands in more than `most` of them."""
        return set().union(*(rows for stem in stems if len(rows := self._having(stem, most)) <= most))

    def _having(self, stem: str, most: int) -> list[int]:
        """The turns with a word that begins with a stem; looked for no further than the page on which they are too many."""
        found: list[int] = []
        first = 0
        for page in self.pages.values():
            if rows := page.words.having(stem):
                found += [first + row for row in rows]
                if len(found) > most:
                    break
            first += len(page.turns)
        return found


_books: WeakKeyDictionary[Search, _Book] = WeakKeyDictionary()


# -- what is wanted ---------------------------------------------------------------------------------------------------


def wanted(text: str, named: Sequence[Sequence[Entry]], shared: Container[str] = ()) -> list[Wanted]:
    """The things a text speaks of: each entry named, under all its names, then each content word.

    Entries of one group are those that one name in the text may mean. `shared` are words that stand in the names of several
    entries and so do not tell which is meant.
    """
    found: list[Wanted] = []
    taken: set[str] = set()
    for group in named:
        words = {word for entry in group for name in (entry.name, *entry.aliases) for word in stems(name)}
        taken |= words
        own = {word for word in words if len(group) > 1 or word not in shared} or words
        if own:
            found.append(Wanted(tuple(sorted(own)), entry=True))
    rest = stems(text) - taken
    found += [Wanted((word,)) for word in sorted(rest, key=lambda w: (-len(w), w))[:WORDS]]
    return found


def stems(text: str) -> set[str]:
    """The beginnings by which the content words of a text are known again: six letters, no plural; pairs in unspaced scripts."""
    found: set[str] = set()
    for word in _WORD.findall(fold(text)):
        parts = facts.content_words(word)
        if len(parts) == 1 and not _is_caseless(word):
            word = re.sub(r"['’]s$", "", word)
            found.add((word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word)[:6])
        else:
            found |= parts
    return found


# -- looking ----------------------------------------------------------------------------------------------------------


def recall(
    search: Search, wants: Sequence[Wanted], without: Iterable[int] = (), also: Iterable[int] = ()
) -> list[Piece]:
    """The pieces that speak most of what is wanted, best first; of a turn at most its story and its line.

    `without` are turns that the prompt tells anyway, `also` turns that are looked at and given whatever they hold. What is
    secret or withheld is not read.
    """
    book = _book(search)
    total = len(book.rows) or 1
    common = max(FEW, int(COMMON * total))
    holds = [book.holding(want.stems, most=total if want.entry else common) for want in wants]
    worth = [_rarity(len(rows), total) for rows in holds]
    scores: dict[int, float] = {}
    for rows, value in zip(holds, worth, strict=True):
        for row in rows:
            scores[row] = scores.get(row, 0.0) + value * (LISTED if book.rows[row][0].listed else 1.0)
    alone = sum(value > 0 for value in worth) < 2
    if alone and sum(worth) < min(LEAST, LEAST_SHARE * _rarity(1, total)):
        return []
    barred, asked = set(without), set(also)
    likely = [row for row in scores if book.turns[row] not in barred]
    likely = sorted(likely, key=lambda row: (-round(scores[row], 9), -book.turns[row], row))[:LOOKED_AT]
    chosen = {*likely, *(row for row, turn in enumerate(book.turns) if turn in asked and turn not in barred)}
    pieces = []
    for row in chosen:
        here = [(want, value) for want, value, rows in zip(wants, worth, holds, strict=True) if row in rows]
        pieces.append(_piece(*book.rows[row], here))
    pieces.sort(key=lambda p: (-round(p.score, 9), -p.turn, p.listed, p.path, p.line))
    enough = ENOUGH * pieces[0].score if pieces else 0.0
    # What stands near one single word has nothing to do with it; near several it may be the answer to a question.
    return _unalike(p for p in pieces if p.score >= enough or (p.turn in asked and (p.score or not alone)))


def prepare(search: Search) -> None:
    """Read what is new in the story, for moments when nobody waits."""
    _book(search)


def _unalike(pieces: Iterable[Piece]) -> list[Piece]:
    told: Counter[str] = Counter()
    found = []
    for piece in pieces:
        sentence = piece.parts[piece.at] if piece.parts else ""
        told[sentence] += 1
        if told[sentence] <= ALIKE:
            found.append(piece)
    return found


def _rarity(count: int, total: int) -> float:
    """Robertson and Walker's inverse document frequency, over turns; one that few turns hold is not told from the next."""
    few = max(1.0, min(FEW, FEW_SHARE * total))
    return math.log(1 + (total - count + 0.5) / (max(count, few) + 0.5)) if count else 0.0


def _piece(page: _Page, at: int, wants: list[tuple[Wanted, float]]) -> Piece:
    """A turn of a page with the sentence that holds most of what is wanted, its neighbours counting a little."""
    text = page.texts[at]
    parts = [text.strip()] if page.listed else facts.sentences(_QUOTE.sub("", text))
    folded = [fold(part) for part in parts]
    scores = [0.0] * len(parts)
    for want, value in wants:
        inside = [any(_stands(part, stem) for stem in want.stems) for part in folded]
        for number in range(len(parts)):
            if inside[number]:
                scores[number] += value
            elif True in inside[max(0, number - 1) : number + 2]:
                scores[number] += NEAR * value
    best = max(range(len(parts)), key=lambda n: (scores[n], -n), default=0)
    score = (scores[best] if parts else 0.0) * (LISTED if page.listed else 1.0)
    return Piece(page.turns[at], page.path, page.lines[at], page.listed, tuple(parts), best, score)


def around(piece: Piece, length: int) -> str:
    """The telling sentence of a piece with as many before and after it as `length` characters hold; cuts are marked `…`."""
    first = last = piece.at
    size = len(piece.parts[piece.at]) if piece.parts else 0
    grown = True
    while grown:
        grown = False
        for step in (last + 1, first - 1):
            if 0 <= step < len(piece.parts) and size + len(piece.parts[step]) + 1 <= length:
                size += len(piece.parts[step]) + 1
                first, last, grown = min(first, step), max(last, step), True
    text = clean_line(" ".join(piece.parts[first : last + 1]), 2 * length)  # a sentence may be endless
    if piece.listed:
        return text
    before, after = "… " if first else "", " …" if last + 1 < len(piece.parts) else ""
    return f"{journal.turn_id(piece.turn)}: {before}{text}{after}"


# -- words in a text --------------------------------------------------------------------------------------------------


def _stands(folded: str, stem: str) -> bool:
    at = folded.find(stem)
    while at >= 0:
        if _is_word(folded, at, stem):
            return True
        at = folded.find(stem, at + 1)
    return False


def _is_word(folded: str, at: int, stem: str) -> bool:
    """Whether a word begins at a place; a short one must also end there, but for a plural. Thai, Chinese and their like: always."""
    if _is_caseless(stem):
        return True  # words may follow each other without a space, or begin with an article
    if at and folded[at - 1].isalnum():
        return False
    if len(stem) > 4:
        return True
    end = at + len(stem)
    end += folded[end : end + 1] == "s"
    return not folded[end : end + 1].isalnum()


def _is_caseless(word: str) -> bool:
    return not word.isascii() and word[0].lower() == word[0].upper()


# -- pages ------------------------------------------------------------------------------------------------------------


def _book(search: Search) -> _Book:
    """The chapters and Chronicles as of the last `refresh`; those that have not changed since are not read anew."""
    held = _books.get(search)
    old = held.pages if held is not None else {}
    pages: dict[str, _Page] = {}
    for entry in search.catalogue.of_kinds("story", "chronicle"):
        if not (entry.secret or entry.withheld):
            path = entry.path
            page = old.get(path)
            if page is None or not entry.sha256 or page.sha256 != entry.sha256:
                page = _page(search.campaign, path, listed=entry.kind == "chronicle")
            if page is not None:
                pages[path] = page
    if held is None or pages != old:
        held = _books[search] = _Book(pages)
    return held


def _page(campaign: Campaign, path: str, *, listed: bool) -> _Page | None:
    try:
        document = campaign.document(path)
        if secrets.is_secret_path(path, document.fields):
            return None
        return _lines(document) if listed else _chapter(document)
    except (DocumentError, StorageError):
        return None  # broken or gone since the files were reconciled: withheld


def _lines(document: Document) -> _Page:
    section = document.section(journal.HEADING)
    opened = section is not None and secrets.is_open(section, document.sections)
    lines = journal.lines_of(document, sealed=True) if opened else ()
    rows = [(line.turn, line.raw.removeprefix("- "), line.line) for line in lines]
    return _made(document, rows, listed=True)


def _chapter(document: Document) -> _Page:
    """A chapter by its turns. One that holds nothing but turns is cut by their headings alone, ten times as fast."""
    text = document.body.decode("utf-8", "replace").replace("\r\n", "\n")
    heads = [head for head in _HEADING.finditer(text) if not head.start() or text[head.start() - 1] == "\n"]
    if not _is_turns(text, len(heads)):
        told = [t for t in story.turns_of(document) if _is_open(document, t.line)]
        return _made(
            document, [(t.turn, story.section(t.turn, t.action, t.prose).partition("\n")[2], t.line) for t in told]
        )
    above = document.data.count(b"\n") - document.body.count(b"\n")
    ends = [*(head.start() for head in heads[1:]), len(text)][: len(heads)]
    rows, line, before = [], above + 1, 0
    for head, end in zip(heads, ends, strict=True):
        line += text.count("\n", before, head.start())
        before = head.start()
        rows.append((int(head[1]), text[head.end() : end], line))
    return _made(document, rows)


def _is_turns(text: str, heads: int) -> bool:
    """Whether a text has no structure but the headings of its turns."""
    begun = "\n" + text
    is_plain = text.count("#") == 2 * heads and not any(one in begun for one in _BEGINNINGS)
    return is_plain or len(_STRUCTURE.findall(text)) == heads


def _is_open(document: Document, line: int) -> bool:
    section = next(s for s in document.sections if s.line == line)
    return secrets.is_open(section, document.sections)


def _made(document: Document, rows: Sequence[tuple[int, str, int]], *, listed: bool = False) -> _Page:
    """A page of (turn, text, line) rows."""
    turns, texts, lines = zip(*rows, strict=True) if rows else ((), (), ())
    # Of a text only its words are looked for: its spaces and line ends may stay as they are.
    words = Rows([text.casefold() if text.isascii() else fold(text) for text in texts])
    return _Page(document.path, sha256(document.data), listed, turns, texts, lines, words)
