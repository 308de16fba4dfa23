"""Chronicles: closed stretches of the Journal, retold, sealed, never changed again.

A fold makes one. Its order is law: the Chronicle is written durably and read back before a line leaves the Journal, so
a crash between the two leaves the lines in both places, and the next opening takes them off the top.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from rolecall.campaign import documents, facts, files, journal
from rolecall.campaign.documents import Document
from rolecall.campaign.folder import Campaign, counts
from rolecall.campaign.frontmatter import scalar
from rolecall.campaign.journal import Line, turn_id
from rolecall.campaign.kinds import STATE_FILE
from rolecall.campaign.text import clean_prose
from rolecall.errors import DocumentError, Malformed, StorageError

FOLDER = "chronicles"
_COVERS = re.compile(r"T(\d{4,9})\s*[-–]\s*T(\d{4,9})$|T(\d{4,9})$")


@dataclass(frozen=True, slots=True)
class Chronicle:
    """A Chronicle as read: its number, the turns it covers, its seal, and the seal its bytes ask for."""

    path: str
    number: int
    first: int
    last: int
    seal: str
    true_seal: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """The oldest lines of the Journal that a fold would close, and the Chronicle's number."""

    number: int
    lines: tuple[Line, ...]

    @property
    def covers(self) -> str:
        """`T0001-T0031`."""
        return f"{turn_id(self.first)}-{turn_id(self.last)}"

    @property
    def first(self) -> int:
        """The lowest turn, wherever it stands."""
        return min(line.turn for line in self.lines)

    @property
    def last(self) -> int:
        """The highest turn."""
        return max(line.turn for line in self.lines)


def paths(campaign: Campaign) -> list[tuple[int, str]]:
    """(number, path) of every Chronicle, oldest first."""
    return numbered(campaign, FOLDER)


def numbered(campaign: Campaign, folder: str) -> list[tuple[int, str]]:
    """(number, path) of the Markdown files of a folder whose names begin with a number, in that order; no conflict copies."""
    listed = campaign.names(folder) if (campaign.root / folder).is_dir() else []
    named = [(re.match(r"\d{1,9}(?!\d)", path.rpartition("/")[2]), path) for path in listed if counts(path)]
    return sorted((int(match[0]), path) for match, path in named if match)


def read(campaign: Campaign, path: str) -> Chronicle:
    """One Chronicle; Malformed when its `covers` cannot be read."""
    document = campaign.document(path)
    first, last = covers_of(document)
    number = int(re.match(r"\d{1,9}(?!\d)", PurePosixPath(path).name)[0])
    return Chronicle(path, number, first, last, document.text("seal"), seal_of(document), _lines(document))


def _lines(document: Document) -> tuple[Line, ...]:
    return journal.lines_of(document, sealed=True)


def covers_of(document: Document) -> tuple[int, int]:
    """(first, last) turn of a Chronicle's `covers: T0001-T0031`; Malformed when it says something else."""
    match = _COVERS.match(document.text("covers").strip())
    if not match:
        line = document.block.line_of("covers") if document.block else 1
        raise Malformed(
            "`covers` is not a stretch of turns", path=document.path, line=line, remedy="write `T0001-T0031`"
        )
    return (int(match[1]), int(match[2])) if match[1] else (int(match[3]), int(match[3]))


def seal_of(document: Document) -> str:
    """The seal a Chronicle's bytes ask for: SHA-256 of everything after the front matter.

    Lines count as they were written, ending in a newline: git may have ended them otherwise on their way to this disk.
    """
    return _seal(document.body)


def _seal(body: bytes) -> str:
    return files.sha256(body.replace(b"\r\n", b"\n"))


def last_covered(campaign: Campaign) -> int:
    """The last turn of the newest Chronicle; 0 when there is none."""
    found = paths(campaign)
    return read(campaign, found[-1][1]).last if found else 0


def plan_fold(
    state: Document, chronicles: list[tuple[int, str]], memory: dict, *, asked: bool = False
) -> Stretch | None:
    """The stretch to fold now, or None.

    Automatic when the Journal passes its fold line and a stretch worth a Chronicle would go (two lines, or any past
    the Journal's limit); `asked` folds whatever is older than the newest `keep_lines`.
    """
    lines = journal.lines_of(state)
    stretch = lines[: -memory["keep_lines"]]
    total = journal.length(lines)
    if total > memory["journal_limit"] and not stretch:
        stretch = lines[:-1]
    if not stretch:
        return None
    if not asked and (total <= memory["fold_at"] or (len(stretch) < 2 and total <= memory["journal_limit"])):
        return None
    return Stretch(chronicles[-1][0] + 1 if chronicles else 1, stretch)


def own_words(stretch: Stretch) -> str:
    """The stretch as prose made of the journal's own lines: the retelling that needs no model."""
    texts = [_sentence(line.text) for line in stretch.lines]
    paragraphs = [" ".join(texts[i : i + 6]) for i in range(0, len(texts), 6)]
    return clean_prose("\n\n".join(paragraphs))


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…", "”", '"', "。", "！", "？")) else text + "."


def compose(stretch: Stretch, prose: str, known: list[str], promised: set[int] = frozenset()) -> tuple[str, bytes]:
    """(path, bytes) of the Chronicle of a stretch retold as `prose`.

    `known` are the campaign's names for the completeness check, `promised` the turns that `## Promises` refers to: their
    lines become facts whatever the prose says. A fact is a journal line; the notes under it stand in `## Journal` alone.
    """
    prose = clean_prose(prose)
    wanting = set(facts.missing([line.text for line in stretch.lines], prose, known))
    kept = [line for n, line in enumerate(stretch.lines) if n in wanting or line.turn in promised]
    parts = ["", prose, "", "## Facts", ""]
    parts += [line.raw.split("\n")[0] for line in kept] or ["All of it is told above."]
    parts += ["", f"## {journal.HEADING}", "", *(line.raw for line in stretch.lines), ""]
    body = "\n".join(parts).encode("utf-8", "surrogateescape")
    name = f"Chronicle {stretch.number}, {stretch.covers}"
    head = f"---\nname: {scalar(name)}\nkind: chronicle\ncovers: {stretch.covers}\nseal: {_seal(body)}\n---\n"
    return f"{FOLDER}/{stretch.number:04d}-{stretch.covers.casefold()}.md", head.encode() + body


def holds(data: bytes, path: str, stretch: Stretch) -> bool:
    """Whether a Chronicle read back covers exactly the stretch: its seal, its `covers`, and every line word for word."""
    document = documents.parse(data, path)
    lines = _lines(document)
    return (
        document.text("seal") == seal_of(document)
        and covers_of(document) == (stretch.first, stretch.last)
        and [line.raw for line in lines] == [line.raw for line in stretch.lines]
    )


def without(data: bytes, told: tuple[Line, ...]) -> bytes:
    """The Campaign State without those of its journal lines that a Chronicle holds word for word.

    A line the writer changed meanwhile is not in the Chronicle as it stands, so it stays.
    """
    document = documents.parse(data, STATE_FILE)
    gone = {line.raw for line in told}
    spans = [(line.start, line.end) for line in journal.lines_of(document) if line.raw in gone]
    return documents.cut(data, STATE_FILE, spans) if spans else data


def unfinished(campaign: Campaign) -> tuple[str, tuple[Line, ...]] | None:
    """(Chronicle, its lines) when the newest Chronicle's lines still stand in the Journal as well; None otherwise."""
    found = paths(campaign)
    if not found or not campaign.exists(STATE_FILE):
        return None
    path = found[-1][1]
    try:
        lines = journal.lines_of(campaign.document(path))
        standing = {line.raw for line in journal.lines_of(campaign.document(STATE_FILE))}
    except (DocumentError, StorageError):
        return None  # `check` tells of it; nothing is taken from a Journal on a doubt
    return (path, lines) if lines and any(line.raw in standing for line in lines) else None
